// What a rule is given is looked at as an agent's options are: a limit that is none would be no limit, unheard.

import {
  Agent,
  byContent,
  deadline,
  degenerateAnswers,
  duplicateDetection,
  emptyAnswers,
  loopDetection,
  malformedCalls,
  maxSteps,
  pauses,
  RondoError,
  skipRepeatedFailures,
  standardPolicy,
  stepLimited,
  truncations,
} from "@rondo/core";
import { say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";

/** As somebody gives it who has no types. */
const given = (value: unknown): never => value as never;
const agent = (options: object): Agent => new Agent({ model: scripted([]), ...options });

const refused: readonly (readonly [string, () => unknown, string])[] = [
  [
    "a step limit that is no number",
    () => maxSteps(given("5")),
    'maxSteps: option max: a whole number above 0 is needed, not "5"',
  ],
  [
    "a step limit that is not there",
    () => maxSteps(given(undefined)),
    "maxSteps: option max: a whole number above 0 is needed, not undefined",
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
    () => loopDetection({ window: 5, globalAt: 5, criticalAt: 5, unknownToolAt: 5, warnAt: 6 }),
    "loopDetection: option warnAt: 6 is more than the window of 5 calls can hold: raise window",
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
    "a number of duplicates that is none",
    () => duplicateDetection(standardPolicy, given({ maxDuplicates: "2" })),
    'duplicateDetection: option maxDuplicates: a number of at least 0 is needed, not "2"',
  ],
  [
    "a step of a policy that is none",
    () => stepLimited(standardPolicy, Number.NaN),
    "stepLimited: option max: a whole number of at least 0 is needed, not NaN",
  ],
  [
    "a continue rule that was never made",
    () => agent({ continueRule: byContent }),
    "option continueRule: a rule that judges answers, as byContent() or continueBy(name, policy) gives it, is needed, not a function",
  ],
];

test.each(refused)("%s is refused by name, as an agent's option is", (_what, make, words) => {
  expect(make).toThrow(RondoError);
  expect(make).toThrow(expect.objectContaining({ kind: "invalid_request" }));
  expect(make).toThrow(words);
});

test("what can be used is taken as it was", async () => {
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
