// The room of the preset's conformance suite: what any preset must do, whoever makes it.
//
// A preset sets options and does nothing else, and whatever it sets, every stored call has its one result (P1): after
// every way in which a run can end, and in every state that the model checker finds.

import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import {
  Agent,
  type AgentOptions,
  emptyState,
  isPaired,
  type LogRecord,
  type Model,
  memoryJournal,
  reduce,
  resolve,
  type State,
  type Tool,
  tool,
} from "@rondo/core";
import { callable, count, isPromise, needed, object, text } from "@rondo/core/checks";
import { differences } from "../matchers/difference.ts";
import { modelCheck } from "../modelcheck/model-check.ts";
import { badArgs, call, calls, cut, empty, fail, refuse, say, stall, stop } from "../scripted/turns.ts";
import { type Script, scripted } from "../scripted.ts";
import { type Check, checkGave, checksOf, mustBe, type RegisterTest, subjectCheck } from "./check.ts";

export interface PresetUnderTest {
  /** Prefix of every check's name. */
  name: string;
  /** The preset: the options of an agent with this model and these tools. */
  preset(model: Model, tools: readonly Tool[]): AgentOptions;
  /** The options that it must return, as far as they are named here: the preset's table. They are compared as they are: `maxSteps(20)` among its `rules` is no `maxSteps: 20`. */
  table?: Partial<AgentOptions>;
  /** How many states the model checker visits. Default: 2,000. */
  states?: number;
}

const checkSubject = subjectCheck<PresetUnderTest>(
  "testPreset",
  { name: text, preset: callable, table: object, states: count },
  ["name", "preset"],
);

/**
 * What a preset must do, check by check.
 *
 *     testPreset({ name: "mine", preset: (model, tools) => mine({ model, tools }), table: { retry: null } }, test);
 *
 * @param test the runner's `test` function: also registers the checks
 * @throws RondoError `invalid_request` for an invalid subject
 */
export function testPreset(subject: PresetUnderTest, test?: RegisterTest): Check[] {
  checkSubject(subject);
  const checks = [
    ...demands,
    ...(subject.table === undefined ? [] : [tableHolds]),
    ...endings.map(pairedAfter),
    modelChecked,
  ].map(([name, body]): [string, () => Promise<void>] => [name, () => body(subject)]);
  return checksOf(subject.name, checks, test);
}

type Demand = readonly [name: string, body: (subject: PresetUnderTest) => Promise<void>];

/** Every option there is: kept whole by the types. */
const optionNames: { readonly [name in keyof Required<AgentOptions>]: true } = {
  model: true,
  fallback: true,
  models: true,
  system: true,
  tools: true,
  adapt: true,
  rules: true,
  continueRule: true,
  maxSteps: true,
  onLimit: true,
  landing: true,
  budget: true,
  maxSubAgents: true,
  retry: true,
  clocks: true,
  argumentErrors: true,
  disallowedCalls: true,
  coerce: true,
  unknownKeys: true,
  toolErrors: true,
  dependencies: true,
  toolTimeoutMs: true,
  maxConcurrentTools: true,
  maxCallsPerTurn: true,
  toolOrder: true,
  steering: true,
  followUps: true,
  onInterrupted: true,
  onChanged: true,
  abortGraceMs: true,
  onTruncated: true,
  maxTruncations: true,
  malformedRetries: true,
  pauseResumes: true,
  emptyNudges: true,
  refusals: true,
  repairs: true,
  degenerateRetries: true,
  repeats: true,
  output: true,
  decodeRetries: true,
  outputWay: true,
  outputTools: true,
  outputRequest: true,
  outputReading: true,
  autoExecuteTools: true,
  throwOnError: true,
  context: true,
  blobs: true,
  settings: true,
  toolChoice: true,
  hooks: true,
  texts: true,
  logger: true,
  about: true,
  redact: true,
  journal: true,
  lease: true,
  clock: true,
};

const look = tool({
  name: "look",
  description: "Looks",
  inputSchema: { type: "object", properties: { at: { type: "string" } } },
  effect: "read",
  execute: ({ at }) => {
    if (at === "nowhere") throw new Error("there is nothing");
    return `saw ${String(at)}`;
  },
});
const press = tool({
  name: "press",
  description: "Presses",
  inputSchema: { type: "object", properties: {} },
  permission: "ask",
  execute: () => "pressed",
});
const wait = tool({
  name: "wait",
  description: "Waits until it is aborted",
  inputSchema: { type: "object", properties: {} },
  effect: "read",
  execute: (_, { signal }) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve("aborted"), { once: true })),
});
const tools = [look, press, wait];

const agentOptions = needed(
  "an object of an agent's options, { model, tools, … },",
  (value) => object(value) === undefined && !isPromise(value),
);

/** @param given a list of its own, so that what one check lets it do to the list is no other's */
function optionsOf(
  subject: PresetUnderTest,
  model: Model = scripted([]),
  given: readonly Tool[] = [...tools],
): AgentOptions {
  const options = subject.preset(model, given);
  checkGave("testPreset", "preset", agentOptions, options);
  return options;
}

const demands: readonly Demand[] = [
  [
    "it sets options that there are, and nothing else",
    async (subject) => {
      const options = optionsOf(subject);
      const unknown = Object.keys(options).filter((name) => !Object.hasOwn(optionNames, name));
      mustBe(unknown, [], "its members that are no options of an agent");
      ok(
        [Object.prototype, null].includes(Object.getPrototypeOf(options)),
        "it is an object of a class: a plain one is needed, which can be spread",
      );
    },
  ],
  [
    "it keeps the model and the tools it is given",
    async (subject) => {
      const model = scripted([]);
      const given = [...tools];
      const options = optionsOf(subject, model, given);
      mustBe(
        given.map(({ name }) => name),
        tools.map(({ name }) => name),
        "the list of tools it was given, afterwards",
      );
      // It may see to what the model is sent; it does not choose another.
      mustBe((options.model as Model | undefined)?.id, model.id, "the model's id among its options");
      const names = new Set((options.tools ?? []).map(({ name }) => name));
      for (const { name } of tools) ok(names.has(name), `the tool ${name} is gone`);
    },
  ],
  [
    "it does nothing: no model is asked, and the same comes of the same",
    async (subject) => {
      const model = scripted([]);
      const facts = [0, 1].map(() => JSON.stringify(resolve(optionsOf(subject, model)).options));
      mustBe(facts[0], facts[1], "its options, made a second time");
      strictEqual(model.calls, 0, "it asked the model");
    },
  ],
  [
    "what a user sets beside it holds",
    async (subject) => {
      const own = { ...optionsOf(subject), system: "own words", maxConcurrentTools: 3 };
      const { options } = resolve(own);
      mustBe(
        [options.system, options.maxConcurrentTools],
        ["own words", 3],
        "system and maxConcurrentTools, set beside it",
      );
    },
  ],
];

const tableHolds: Demand = [
  "its table holds",
  async (subject) => {
    mustBe(differences(subject.table, optionsOf(subject)), [], "what differs from its table");
  },
];

interface Ending {
  when: string;
  script: Script;
  /** Abort once the tool is at work, or the model. */
  abort?: true;
  options?: Partial<AgentOptions>;
}

/** The ways in which a run ends, or stops. */
const endings: readonly Ending[] = [
  { when: "an answer", script: [call("look", { at: "a" }), say("done")] },
  {
    when: "calls that fail",
    script: [calls([["look", { at: "nowhere" }], ["nothing"], ["look", { at: 1 }]]), say("done")],
  },
  {
    when: "malformed calls",
    script: [badArgs("look", '{"at":'), badArgs("look", "[]"), say("done"), say("done")],
  },
  { when: "a limit of steps", script: () => call("look", { at: "a" }), options: { maxSteps: 2 } },
  {
    when: "the same call again and again",
    script: () => call("look", { at: "a" }),
    options: { maxSteps: 12 },
  },
  { when: "a budget", script: () => [call("look", { at: "a" })], options: { budget: { modelCalls: 2 } } },
  {
    when: "a cut-off answer with calls",
    script: [
      [say("so far"), calls([["look", { at: "a" }], ["look"]]), stop("max_tokens")],
      say("done"),
      say("done"),
    ],
  },
  { when: "a refusal beside a call", script: [[refuse("no"), call("look", { at: "a" })], say("done")] },
  { when: "a pause", script: [[say("working"), stop("pause")], say("done")] },
  { when: "nothing at all", script: () => empty() },
  { when: "a model that fails after a call", script: [call("look", { at: "a" }), fail("invalid_request")] },
  {
    when: "a stream that breaks off",
    script: [call("look", { at: "a" }), [say("half"), cut({ retryable: false })]],
  },
  { when: "an abort while a tool works", script: [calls([["wait"], ["look"]]), say("done")], abort: true },
  {
    when: "an abort while the model answers",
    script: [call("look"), stall({ afterText: "so" })],
    abort: true,
  },
  { when: "a call that waits for approval", script: [calls([["look"], ["press"]]), say("done")] },
  {
    when: "calls that are not run",
    script: [calls([["look"], ["press"]])],
    options: { autoExecuteTools: false },
  },
];

function pairedAfter({ when, script, abort, options }: Ending): Demand {
  return [
    `every call has its one result after ${when}`,
    async (subject) => {
      const journal = memoryJournal();
      const model = scripted(script, { repeatLast: true });
      const preset = optionsOf(subject, model);
      const given = { ...preset, retry: preset.retry === null ? null : { attempts: 1 }, ...options, journal };
      const session = await new Agent({ ...given, throwOnError: false }).open("s");
      session.subscribe((event) => {
        const working = event.type === "tool_start" && event.call.name === "wait" && event.code === undefined;
        if (abort === true && (working || event.type === "text_delta")) session.abort("enough");
      });
      await session.send("go").catch((thrown: unknown) => {
        if (abort !== true) throw thrown;
      });
      ok(isPaired(session.messages), "the conversation has a call without its one result behind it");
      const { rules } = resolve(given);
      const records = (await journal.read("s")) as readonly LogRecord[];
      let state: State = emptyState;
      for (const record of records) {
        state = reduce(state, record, rules);
        ok(isPaired(state.history), `after record ${record.seq} (${record.type}) a call has no result`);
      }
      const ends = records.filter(({ type }) => type === "run_ended").length;
      ok(
        ends === 1 || (ends === 0 && session.status === "parked"),
        `the run ended ${ends} times, and is ${session.status}`,
      );
      ok(model.calls < 200, `the model was asked ${model.calls} times`);
      // A rule that throws ends its run cleanly, and is a defect all the same.
      const error = session.result?.end?.error;
      ok(error?.kind !== "internal", `the run ended by a defect: ${error?.message}`);
    },
  ];
}

const modelChecked: Demand = [
  "the model checker finds nothing broken under it",
  async (subject) => {
    const { model: _, tools: __, ...agent } = optionsOf(subject);
    const examples = tools.map((one) => ({ tool: one, examples: [{}] }));
    const { broken, text } = modelCheck({ agent, tools: examples, states: subject.states ?? 2_000 });
    deepStrictEqual(
      broken.map(({ promise }) => promise),
      [],
      text,
    );
  },
];
