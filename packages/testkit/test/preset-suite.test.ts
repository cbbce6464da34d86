import {
  type AgentOptions,
  type Model,
  type Rule,
  type RunOptions,
  type StopRule,
  type Tool,
  toolWith,
} from "@rondo/core";
import { agentStrategy, managedContext, steerable, stepSequence, thinkActObserve } from "@rondo/core/presets";
import { type PresetUnderTest, testPreset } from "@rondo/testkit";
import { describe, expect, it } from "vitest";

const states = 600;
const subjects: PresetUnderTest[] = [
  { name: "no preset", preset: (model, tools) => ({ model, tools }), states },
  {
    name: "steerable",
    preset: (model, tools) => steerable({ model, tools, ceiling: 20 }),
    table: { retry: null, repeats: null, toolOrder: "sequential", maxCallsPerTurn: 1_000 },
    states,
  },
  { name: "agent strategy", preset: (model, tools) => agentStrategy({ model, tools }), states },
  { name: "managed context", preset: (model, tools) => managedContext({ model, tools }), states },
  { name: "step sequence", preset: (model, tools) => stepSequence({ model, tools }), states },
  { name: "think, act, observe", preset: (model, tools) => thinkActObserve({ model, tools }), states },
];

describe("a preset that is as it should be", () => {
  for (const subject of subjects) testPreset(subject, it);
});

let asked = 0;
const moody: StopRule = () => {
  asked += 1;
  return asked % 2 === 0;
};

/** Asks for another answer, whatever the answer is. */
const endless: Rule = {
  name: "by_content",
  version: 1,
  judge: () => ({ follows: { do: "ask_again" }, store: false, evidence: {} }),
} as unknown as Rule;

type Made = PresetUnderTest["preset"];

const plain: Made = (model, tools) => ({ model, tools });

let made = 0;
const defects: { [defect: string]: [caught: string, preset: Made] } = {
  "sets an option that there is not": [
    "it sets options that there are, and nothing else",
    (model, tools) => ({ model, tools, maxStep: 3 }) as unknown as AgentOptions,
  ],
  "is an object of a class": [
    "it sets options that there are, and nothing else",
    (model, tools) => Object.assign(new (class Preset {})(), { model, tools }),
  ],
  "forgets tools": [
    "it keeps the model and the tools it is given",
    (model, tools) => ({ model, tools: tools.slice(1) }),
  ],
  "adds to the list of tools it was given": [
    "it keeps the model and the tools it is given",
    (model, tools) => {
      (tools as Tool[]).push(toolWith(tools[0] as Tool, { name: "more" }));
      return { model, tools };
    },
  ],
  "is a promise": [
    "it sets options that there are, and nothing else",
    (async (model: Model, tools: readonly Tool[]) => ({ model, tools })) as unknown as Made,
  ],
  "takes another model": [
    "it keeps the model and the tools it is given",
    (model, tools) => ({
      model: { id: "other", origin: model.origin, call: (request, io) => model.call(request, io) },
      tools,
    }),
  ],
  "is another each time": [
    "it does nothing: no model is asked, and the same comes of the same",
    (model, tools) => ({ model, tools, system: `number ${++made}` }),
  ],
  "asks the model": [
    "it does nothing: no model is asked, and the same comes of the same",
    (model, tools) => {
      model
        .call(
          { messages: [], tools: [], toolChoice: "auto", settings: {} },
          { signal: new AbortController().signal, emit: () => {} },
        )
        .catch(() => {});
      return { model, tools };
    },
  ],
  "holds on to what it set": [
    "what a user sets beside it holds",
    (model, tools) => ({
      model,
      tools,
      rules: [
        {
          name: "mine",
          version: 1,
          verify: ({ maxConcurrentTools }: RunOptions) =>
            maxConcurrentTools === 3 ? "not with me" : undefined,
        } as unknown as Rule,
      ],
    }),
  ],
  "is not what its table says": ["its table holds", (model, tools) => ({ model, tools, maxSteps: 7 })],
  "never comes to an end": [
    "every call has its one result after an answer",
    (model, tools) => ({
      model,
      tools,
      continueRule: endless,
      maxSteps: 1_000_000,
      budget: { modelCalls: 300 },
    }),
  ],
  "has tools that break its rules": [
    "every call has its one result after calls that fail",
    (model, tools) => ({
      model,
      tools: tools.map((one) =>
        toolWith(one, {
          keys: () => {
            throw new Error("no keys");
          },
        }),
      ),
      throwOnError: true,
      rules: [
        {
          name: "throws",
          version: 1,
          judge: () => {
            throw new Error("boom");
          },
        } as unknown as Rule,
      ],
    }),
  ],
  "has a rule that says another thing each time": [
    "the model checker finds nothing broken under it",
    (model, tools) => ({ model, tools, rules: [moody] }),
  ],
};

describe("a preset with a defect", () => {
  for (const [defect, [check, preset]] of Object.entries(defects))
    it(`is caught when it ${defect}`, async () => {
      const table = { maxSteps: 5 };
      const one = testPreset({ name: "bad", preset, table, states: 300 }).find(
        ({ name }) => name === `bad: ${check}`,
      );
      expect(one, `there is no check named ${check}`).toBeDefined();
      await expect(one?.run()).rejects.toThrow();
    });

  it("reads which of its members are no options", async () => {
    const [first] = testPreset({
      name: "bad",
      preset: (model, tools) => ({ model, tools, maxStep: 3 }) as unknown as AgentOptions,
    });
    await expect(first?.run()).rejects.toThrow(
      "its members that are no options of an agent: it is [ 'maxStep' ], and must be []",
    );
  });

  it("is compared with its table in part", async () => {
    const checks = testPreset({
      name: "good",
      preset: (model, tools) => ({ ...plain(model, tools), maxSteps: 5, retry: null }),
      table: { maxSteps: 5 },
    });
    await checks.find(({ name }) => name === "good: its table holds")?.run();
    expect(testPreset({ name: "good", preset: plain }).map(({ name }) => name)).not.toContain(
      "good: its table holds",
    );
  });
});
