// A preset has a way to take a model's answers and a tool's results: it holds for each of the agent's, not for the one it was given alone.

import { calls, fail, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import {
  Agent,
  type AgentOptions,
  type AssistantMessage,
  type JsonObject,
  type Message,
  type Model,
  type ModelFacts,
  type ModelIo,
  type ModelRequest,
  type Part,
  RondoError,
  type RunResult,
  type Session,
  type Tool,
  textOf,
  toolResult,
} from "../../src/index.ts";
import {
  agentStrategy,
  managedContext,
  steerableSession,
  stepSequence,
  thinkActObserve,
} from "../../src/presets.ts";
import { echo } from "../support.ts";

/** Plays its answers in order, the last one for ever: as odd as they are, which no provider's model would be. */
function odd(
  answers: readonly (Part[] | (() => never))[],
  { api = "odd", facts, before }: { api?: string; facts?: ModelFacts; before?: (io: ModelIo) => void } = {},
): Model & { requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  const origin = { api, provider: "odd", model: "odd" };
  return {
    id: "odd",
    origin,
    ...(facts === undefined ? {} : { facts }),
    requests,
    async call(request, io): Promise<AssistantMessage> {
      const content = answers[Math.min(requests.length, answers.length - 1)] ?? [];
      requests.push(request);
      await null;
      before?.(io);
      if (typeof content === "function") return content();
      const kind = content.some(({ type }) => type === "tool_call") ? "tool_use" : "end_turn";
      return { role: "assistant", content, origin, stop: { kind, wire: kind } };
    },
  };
}

const text = (said: string): Part => ({ type: "text", text: said });
const call = (id: string, name: string, rawArgs: string, args = {}): Part => ({
  type: "tool_call",
  id,
  name,
  args,
  rawArgs,
});
const throwing = (thrown: unknown) => (): never => {
  throw thrown;
};

interface Case {
  /** What differs. */
  of: string;
  model(): ReturnType<typeof odd>;
  preset(model: Model): AgentOptions;
  /** What is looked at besides what came of it: of the requests, of the deltas. */
  look?(model: ReturnType<typeof odd>, deltas: string[]): unknown;
}

const picture: Part = { type: "file", mediaType: "image/png", data: "AAAA" };

const cases: readonly Case[] = [
  {
    of: "stepSequence keeps no empty text and no generated file",
    model: () => odd([[text(""), picture, text("hi")]]),
    preset: (model) => stepSequence({ model }),
  },
  {
    of: "stepSequence takes a Gemini without a candidate for an answer",
    model: () =>
      odd([throwing(new RondoError("empty_response", "nothing"))], { api: "google-generative-ai" }),
    preset: (model) => stepSequence({ model, retry: "disabled" }),
  },
  {
    of: "managedContext takes an empty text for arguments that are no JSON",
    model: () => odd([[call("1", "look", "")], [text("done")]]),
    preset: (model) => managedContext({ model, tools: [echo("look")] }),
  },
  {
    of: "managedContext reads a stranger's error by its name",
    model: () => odd([throwing(new TypeError("fetch failed")), [text("done")]]),
    preset: (model) => managedContext({ model, llmRetry: "by_kind", llmRetryBaseDelayMs: 0 }),
    look: ({ requests }) => requests.length,
  },
  {
    of: "managedContext has no hosted tools in a request without tools",
    model: () => odd([[call("1", "look", "{}")], [text("done")]]),
    preset: (model) =>
      managedContext({
        model,
        hostedTools: [{ type: "web_search" }],
        maxIterations: 1,
        tools: [echo("look")],
      }),
    look: ({ requests }) => requests.at(-1)?.settings.providerOptions,
  },
  {
    of: "agentStrategy leaves out calls that nobody can answer, and counts one told twice once",
    model: () =>
      odd([[call("", "look", "{}"), call("1", "look", "{}"), call("1", "look", "{}")], [text("done")]]),
    preset: (model) => agentStrategy({ model, tools: [echo("look")] }),
  },
  {
    of: "agentStrategy reads arguments in its own words",
    model: () => odd([[call("1", "look", "[1]")], [text("done")]]),
    preset: (model) => agentStrategy({ model, tools: [echo("look")] }),
  },
  {
    of: "agentStrategy tells no deltas where it does not stream",
    model: () =>
      odd([[text("done")]], { before: ({ emit }) => emit({ type: "text_delta", index: 0, text: "do" }) }),
    preset: (model) => agentStrategy({ model, features: [] }),
    look: (_model, deltas) => deltas,
  },
  {
    of: "agentStrategy asks for no more output than fits into the window of the model it asks",
    model: () => odd([[text("done")]], { facts: { contextWindow: 1_000 } }),
    preset: (model) => agentStrategy({ model, settings: { maxOutputTokens: 4_000 } }),
    look: ({ requests }) => (requests[0]?.settings.maxOutputTokens ?? 0) < 1_000,
  },
];

/** A run's outcome, wherever its session had been before it. */
async function came({ model: make, look }: Case, open: (model: Model) => Promise<Session>): Promise<unknown> {
  const model = make();
  const session = await open(model);
  const deltas: string[] = [];
  session.subscribe((event) => {
    if (event.type === "text_delta") deltas.push(event.text);
  });
  const { end } = await session.send("go");
  return { history: since(session.messages), reason: end?.reason, looked: look?.(model, deltas) };
}

/** The messages from the last word of the user's on, without what each session names itself. */
function since(messages: readonly Message[]): unknown {
  const said = messages.map(({ role, content }) => ({ role, content }));
  return said.slice(said.findLastIndex(({ role }) => role === "user"));
}

// Of the same provider as the odd one.
const first = { id: "first", origin: { api: "odd", provider: "odd", model: "first" }, repeatLast: true };
const failing = (): Model => scripted([fail("auth", { status: 401 })], first);
const agreeing = (): Model => scripted([say("yes")], first);

/** A session with a run behind it. */
async function begun(options: AgentOptions): Promise<Session> {
  const session = await new Agent(options).open("s");
  await session.send("before");
  return session;
}

const ways: readonly [string, (preset: Case["preset"], model: Model) => Promise<Session>][] = [
  ["in fallback", (preset, model) => new Agent({ ...preset(failing()), fallback: [model] }).open("s")],
  ["in place of its model", (preset, model) => new Agent({ ...preset(failing()), model }).open("s")],
  ["in a fork", async (preset, model) => (await begun(preset(agreeing()))).fork("f", { model })],
  [
    "in a fork of a fork, as its fall-back",
    async (preset, model) => {
      const fork = await (await begun(preset(agreeing()))).fork("f", { model: failing() });
      return fork.fork("g", { agent: { fallback: [model] } });
    },
  ],
];

describe("a preset wraps every model of its agent in the same way", () => {
  test.each(cases.flatMap((one) => ways.map(([way, open]) => [one.of, way, one, open] as const)))(
    "%s, %s",
    async (_of, _way, one, open) => {
      const alone = await came(one, (model) => new Agent(one.preset(model)).open("s"));
      expect(await came(one, (model) => open(one.preset, model))).toEqual(alone);
    },
  );

  test("a model keeps its identity, so that the records of a session stay valid", async () => {
    const model = odd([[text("hi")]], { facts: { contextWindow: 9_000 } });
    const presets = [managedContext({ model }), stepSequence({ model }), agentStrategy({ model })];
    for (const options of presets) {
      const session = await new Agent({ ...options, fallback: [scripted([])] }).open("s");
      await session.send("go");
      expect(session.state.options?.models[0]).toEqual({
        id: "odd",
        origin: model.origin,
        facts: model.facts,
      });
      expect(session.state.options?.models).toHaveLength(2);
    }
  });
});

interface ToolCase {
  of: string;
  tool: Tool;
  args: JsonObject;
  preset(model: Model, tools: readonly Tool[]): AgentOptions;
  reads: string;
}

const toolCases: readonly ToolCase[] = [
  {
    of: "stepSequence says of an error that it is one",
    tool: echo("look", { execute: () => toolResult("no such file", { isError: true }) }),
    args: {},
    preset: (model, tools) => stepSequence({ model, tools }),
    reads: "Error: no such file",
  },
  {
    of: "managedContext tells null as JSON",
    tool: echo("look", { execute: () => null }),
    args: {},
    preset: (model, tools) => managedContext({ model, tools }),
    reads: "null",
  },
  {
    of: "agentStrategy refuses arguments that the schema does not name",
    tool: echo("look"),
    args: { more: 1 },
    preset: (model, tools) => agentStrategy({ model, tools }),
    reads: "tool arguments validation error",
  },
  {
    of: "thinkActObserve refuses an argument that is none of the function's",
    tool: echo("look"),
    args: { more: 1 },
    preset: (model, tools) => thinkActObserve({ model, tools }),
    reads: 'Error: Invalid arguments for look: unexpected argument "more"',
  },
];

describe("a preset wraps every tool of its agent in the same way", () => {
  test.each(toolCases.map((one) => [one.of, one] as const))(
    "%s",
    async (_of, { tool, args, preset, reads }) => {
      const model = (): Model => scripted([calls([["look", args]]), say("done")]);
      const other = [echo("other")];
      const read = (messages: readonly Message[]): string =>
        messages.flatMap((one) => (one.role === "tool" ? [textOf(one)] : [])).join();
      const own = (await new Agent(preset(model(), [tool])).run("go")).messages;
      expect(read(own)).toContain(reads);
      const ofRun = (await new Agent(preset(model(), other)).run("go", { tools: [tool] })).messages;
      expect(read(ofRun), "a run's own").toBe(read(own));
      const inPlace = (await new Agent({ ...preset(model(), other), tools: [tool] }).run("go")).messages;
      expect(read(inPlace), "in place of its own").toBe(read(own));
      const session = await begun(preset(agreeing(), other));
      const fork = await session.fork("f", { model: model(), agent: { tools: [tool] } });
      await fork.send("go");
      expect(read(fork.messages), "a fork's").toBe(read(own));
    },
  );
});

describe("a return value that is no answer", () => {
  const origin = { api: "odd", provider: "odd", model: "odd" };
  const stop = { kind: "end_turn", wire: "end_turn" };
  const answers: [string, unknown][] = [
    ["a number", 5],
    ["an object of nothing", {}],
    ["a content that is no list", { role: "assistant", content: 5, origin, stop }],
    ["a part that is null", { role: "assistant", content: [null, text("hi")], origin, stop }],
    [
      "a null beside a refusal",
      { role: "assistant", content: [{ type: "refusal", text: "no" }, null], origin, stop },
    ],
    ["no end", { role: "assistant", content: [text("hi")], origin }],
  ];
  const ways: [string, (model: Model) => Promise<RunResult>][] = [
    ["an agent", (model) => new Agent({ model }).run("go")],
    ["one whose refusals are texts", (model) => new Agent({ model, refusals: null }).run("go")],
    ["one with a typed output", (model) => new Agent({ model, output: { type: "array" } }).run("go")],
    ["thinkActObserve", (model) => new Agent(thinkActObserve({ model })).run("go")],
    ["stepSequence", (model) => new Agent(stepSequence({ model, retry: "disabled" })).run("go")],
    ["agentStrategy", (model) => new Agent(agentStrategy({ model })).run("go")],
    ["managedContext", (model) => new Agent(managedContext({ model })).run("go")],
    [
      "steerableSession",
      async (model) => (await steerableSession("s", { model, getSteeringMessages: () => [] })).send("go"),
    ],
  ];
  test.each(ways.flatMap(([way, run]) => answers.map(([what, answer]) => ({ way, run, what, answer }))))(
    "is refused by $way as what it is: $what",
    async ({ run, answer }) => {
      const model: Model = { id: "odd", origin, call: async () => answer as AssistantMessage };
      const error = await run(model).then(
        ({ end }) => end?.error,
        (thrown: RondoError) => thrown,
      );
      expect(error?.kind).toBe("protocol");
      expect(error?.message).toContain("odd: the model returned");
    },
  );
});
