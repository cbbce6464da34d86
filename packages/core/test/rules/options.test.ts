// What a rule is given is looked at as an agent's options are: a limit that is none would be no limit, unheard.

import {
  Agent,
  budget,
  byContent,
  contextFacts,
  continueBy,
  deadline,
  degenerateAnswers,
  duplicateDetection,
  emptyAnswers,
  headTailNumbers,
  loopDetection,
  malformedCalls,
  maxSteps,
  pauses,
  RondoError,
  repeats,
  retry,
  skipRepeatedFailures,
  standardPolicy,
  stepLimited,
  truncations,
} from "@rondo/core";
import { say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";

/** As somebody gives it who has no types. */
const given = (value: unknown): never => value as never;
const headTail = (cap: object): Agent => agent({ context: { cap: { mode: "head_tail", ...cap } } });
const agent = (options: object): Agent => new Agent({ model: scripted([]), ...options });

const refused: readonly (readonly [string, () => unknown, string])[] = [
  [
    "a step limit that is no number",
    () => maxSteps(given("5")),
    'maxSteps: option max: a whole number above 0, or 0 where onLimit is error or stop, is needed, not "5"',
  ],
  [
    "a step limit that is not there",
    () => maxSteps(given(undefined)),
    "maxSteps: option max: a whole number above 0, or 0 where onLimit is error or stop, is needed, not undefined",
  ],
  [
    "a misspelt option of it",
    () => maxSteps(5, given({ onlimit: "stop" })),
    "maxSteps: option onlimit: there is no such option; did you mean onLimit?",
  ],
  [
    "a way to end that is none",
    () => maxSteps(5, given({ onLimit: "halt" })),
    'maxSteps: option onLimit: one of land, error, refuse_tools, stop is needed, not "halt"',
  ],
  [
    "a point in time that is none",
    () => deadline(new Date("never")),
    "deadline: option when: a Date, or milliseconds since 1970, is needed, not a Date of no time",
  ],
  [
    "a point in time that is not there",
    () => deadline(given(undefined)),
    "deadline: option when: a Date, or milliseconds since 1970, is needed, not undefined",
  ],
  [
    "a threshold that no window can hold",
    () => loopDetection({ window: 5, globalAt: 6, criticalAt: 5, unknownToolAt: 5, warnAt: 5 }),
    "loopDetection: option globalAt: 6 is more than the window of 5 calls can hold: raise window",
  ],
  [
    "a detector that is none",
    () => loopDetection(given({ detectors: ["all"] })),
    "loopDetection: option detectors[0]: one of ",
  ],
  [
    "a misspelt threshold",
    () => loopDetection(given({ warnat: 3 })),
    "loopDetection: option warnat: there is no such option; did you mean warnAt?",
  ],
  [
    "a share of the window above 1",
    () => agent({ context: { tell: [0.5, 1.5] } }),
    "option context.tell[1]: a number between 0 and 1 is needed, not 1.5",
  ],
  [
    "a share that is no number",
    () => agent({ context: { tell: [Number.NaN] } }),
    "option context.tell[0]: a number between 0 and 1 is needed, not NaN",
  ],
  [
    "resumes that are no number",
    () => pauses(Number.NaN),
    "pauses: option max: a whole number of at least 0 is needed, not NaN",
  ],
  [
    "malformed calls without end",
    () => malformedCalls(Number.POSITIVE_INFINITY),
    "malformedCalls: option max: a whole number of at least 0 is needed, not Infinity",
  ],
  [
    "nudges below none",
    () => emptyAnswers(-1),
    "emptyAnswers: option max: a whole number of at least 0 is needed, not -1",
  ],
  [
    "half a retry",
    () => degenerateAnswers(0.5),
    "degenerateAnswers: option max: a whole number of at least 0 is needed, not 0.5",
  ],
  [
    "a word for cut-off calls that is none",
    () => truncations(given({ onTruncated: "run" })),
    'truncations: option onTruncated: one of fail_calls, run_complete, ignore_calls is needed, not "run"',
  ],
  [
    "a list where parameters are needed",
    () => skipRepeatedFailures(given({ runtimeParameters: { look: [] } })),
    "skipRepeatedFailures: option runtimeParameters.look: an object is needed, not a list",
  ],
  [
    "a continue rule without a policy",
    () => continueBy("mine", given(undefined)),
    "continueBy: options: a function is needed, not undefined",
  ],
  [
    "a number of duplicates that is none",
    () => duplicateDetection(standardPolicy, given({ maxDuplicates: "2" })),
    'duplicateDetection: option maxDuplicates: a whole number of at least 0 is needed, not "2"',
  ],
  [
    "a step of a policy that is none",
    () => stepLimited(standardPolicy, Number.NaN),
    "stepLimited: option max: a whole number of at least 0 is needed, not NaN",
  ],
  [
    "a retry without a first attempt",
    () => retry({ attempts: 0 }),
    "retry: option attempts: a whole number above 0 is needed, not 0",
  ],
  [
    "a first wait above a longest of one's own",
    () => retry({ baseMs: 6, capMs: 5 }),
    "retry: option baseMs: at most 5 (capMs) is needed, not 6",
  ],
  [
    "a first wait without end",
    () => retry({ baseMs: Number.POSITIVE_INFINITY }),
    "retry: option baseMs: a finite number of at least 0 is needed, not Infinity",
  ],
  [
    "a share of a wait without end",
    () => retry({ jitter: Number.POSITIVE_INFINITY }),
    "retry: option jitter: a finite number of at least 0 is needed, not Infinity",
  ],
  [
    "a kind of failure that there is not",
    () => retry(given({ kinds: ["rate_limited"] })),
    "retry: option kinds[0]: one of rate_limit, overloaded,",
  ],
  [
    "a budget of nothing",
    () => budget({}),
    "budget: options: tokens, usd, ms, modelCalls, own or session is needed, and nothing is given",
  ],
  [
    "half a model call",
    () => budget({ modelCalls: 2.5 }),
    "budget: option modelCalls: a whole number above 0 is needed, not 2.5",
  ],
  [
    "a nudge before the first call",
    () => repeats({ nudgeAt: 0 }),
    "repeats: option nudgeAt: a whole number above 0 is needed, not 0",
  ],
  [
    "a nudge behind the landing",
    () => repeats({ nudgeAt: 5, landAt: 3 }),
    "repeats: option nudgeAt: at most 4 (hideAt) is needed, not 5",
  ],
  [
    "a nudge that is behind the landing alone",
    () => repeats({ nudgeAt: 5, hideAt: 5, landAt: 4 }),
    "repeats: option nudgeAt: at most 4 (landAt) is needed, not 5",
  ],
  [
    "a tool that is hidden behind the landing",
    () => repeats({ hideAt: 6 }),
    "repeats: option hideAt: at most 5 (landAt) is needed, not 6",
  ],
  [
    "a warning behind what is critical",
    () => loopDetection({ warnAt: 21 }),
    "loopDetection: option warnAt: at most 20 (criticalAt) is needed, not 21",
  ],
  [
    "a watch that looks for nothing",
    () => loopDetection({ detectors: [] }),
    "loopDetection: option detectors: a detector is needed, and nothing is given",
  ],
  [
    "half a duplicate",
    () => duplicateDetection(standardPolicy, { maxDuplicates: 1.5 }),
    "duplicateDetection: option maxDuplicates: a whole number of at least 0 is needed, not 1.5",
  ],
  [
    "half a call of a tool",
    () => duplicateDetection(standardPolicy, { maxToolCallsPerTool: 0.5 }),
    "duplicateDetection: option maxToolCallsPerTool: a whole number of at least 0 is needed, not 0.5",
  ],
  [
    "a share of what is trimmed above 1",
    () => agent({ context: { trim: { to: 50 } } }),
    "option context.trim.to: a number from 0 to 1 is needed, not 50",
  ],
  [
    "a least budget of results above the most",
    () => agent({ context: { trim: { minTokens: 200_000 } } }),
    "option context.trim.minTokens: at most 100000 (maxTokens) is needed, not 200000",
  ],
  [
    "a window of a model that it does not name",
    () => agent({ context: { trim: { window: given("context_window") } } }),
    'option context.trim.window: one of contextWindow, maxInputTokens is needed, not "context_window"',
  ],
  [
    "a share of the window for one result above 1",
    () => agent({ context: { cap: { mode: "head_tail", share: 30 } } }),
    "option context.cap.share: a number above 0, at most 1, is needed, not 30",
  ],
  [
    "a least text above the most",
    () => agent({ context: { cap: { mode: "head_tail", minKeep: 20_000 } } }),
    "option context.cap.minKeep: at most 16000 (hardCap) is needed, not 20000",
  ],
  [
    "an option of the other way to cap",
    () => agent({ context: { cap: given({ share: 0.1 }) } }),
    'option context.cap.share: it is one of mode: "head_tail"',
  ],
  [
    "an option of whole lines beside another way to cap",
    () => agent({ context: { cap: given({ mode: "head_tail", bytes: 5 }) } }),
    'option context.cap.bytes: it is one of mode: "lines"',
  ],
  [
    "a share of the window that was written as per cent",
    () => agent({ context: { compaction: { at: 80 } } }),
    "option context.compaction.at: a number above 0, at most 1, is needed, not 80",
  ],
  [
    "a share of the history below none",
    () => agent({ context: { compaction: { minGain: -0.1 } } }),
    "option context.compaction.minGain: a number from 0 to 1 is needed, not -0.1",
  ],
  [
    "turns without end",
    () => agent({ context: { compaction: { keepTurns: Number.POSITIVE_INFINITY } } }),
    "option context.compaction.keepTurns: a finite number is needed, not Infinity",
  ],
  [
    "a number of a cap by itself",
    () => headTailNumbers({ charsPerToken: 0 }),
    "cap: option charsPerToken: a finite number above 0 is needed, not 0",
  ],
  [
    "a window of the context by itself",
    () => contextFacts({ window: -1 }),
    "context: option window: a finite number above 0 is needed, not -1",
  ],
  [
    "a continue rule that was never made",
    () => agent({ continueRule: byContent }),
    "option continueRule: a rule that judges answers, as byContent() or continueBy(name, policy) gives it, is needed, not a function",
  ],
];

test.each(refused)("%s is refused by name, like an agent's option", (_what, make, words) => {
  expect(make).toThrow(RondoError);
  expect(make).toThrow(expect.objectContaining({ kind: "invalid_request" }));
  expect(make).toThrow(words);
});

test.each<[string, () => unknown]>([
  ["a landing alone, below what comes before it by default", () => repeats({ landAt: 2 })],
  ["a nudge that is passed over", () => repeats({ nudgeAt: 4 })],
  ["a longest wait alone, below the first by default", () => retry({ capMs: 100 })],
  ["waits of nothing", () => retry({ attempts: 1, baseMs: 0, capMs: 0, jitter: 0, kinds: [] })],
  ["a wait of a provider without end", () => retry({ longestRetryAfterMs: Number.POSITIVE_INFINITY })],
  ["what is critical before the warning by default", () => loopDetection({ criticalAt: 3 })],
  ["a warning where it is critical", () => loopDetection({ warnAt: 20 })],
  ["any number of model calls", () => budget({ modelCalls: Number.POSITIVE_INFINITY })],
  ["a budget of its own alone", () => budget({ own: { usd: 0.5 } })],
  [
    "any number of duplicates",
    () => duplicateDetection(standardPolicy, { maxDuplicates: Number.POSITIVE_INFINITY }),
  ],
  ["no call of any tool", () => duplicateDetection(standardPolicy, { maxToolCallsPerTool: 0 })],
  ["the whole window for one result", () => agent({ context: { cap: { mode: "head_tail", share: 1 } } })],
  ["a notice of more than an excerpt has", () => headTail({ form: "notice", minKeep: 20_000 })],
  ["a most alone, below the least by default", () => headTail({ hardCap: 1_000 })],
  ["a budget of results of none", () => agent({ context: { trim: { budgetTokens: 0, to: 0 } } })],
  ["a most budget alone, below the least by default", () => agent({ context: { trim: { maxTokens: 5 } } })],
  [
    "a compaction at the brim",
    () => agent({ context: { compaction: { at: 1, keepShare: 0, minGain: null } } }),
  ],
])("%s is taken", (_what, make) => {
  expect(make).not.toThrow();
});

test("valid options are used unchanged", async () => {
  const soon = new Date(Date.now() + 60_000);
  const made = agent({
    model: scripted([say("done")]),
    rules: [deadline(soon), maxSteps(1, { onLimit: "error", message: "no more" }), loopDetection() as never],
    context: { tell: [0.5, 0.75] },
    continueRule: byContent(),
  });
  expect((await made.run("go")).end?.reason).toBe("completed");
  expect(deadline(soon).wakeAt?.(undefined, given({}))).toBe(soon.getTime());
});
