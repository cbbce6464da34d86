// What comes of a run is what a simple model of the loop predicts: its end, its text, its output, how many model calls and steps
// it took, what the history has. Whatever the model answers, and whichever limits, retries, fallbacks and kinds of output there are.

import {
  Agent,
  type AgentOptions,
  type Message,
  memoryJournal,
  type Rule,
  type RunResult,
  textOf,
  tool,
} from "@rondo/core";
import { call, fail, refuse, type SeenRequest, say, scripted, stop, type Turn, usage } from "@rondo/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Answer,
  kindAt,
  numbered,
  type Predicted,
  predict,
  type Trial,
  used,
} from "./predicted/model.ts";
import { hastyClock } from "./programs/gates.ts";

const anyTrial: fc.Arbitrary<Trial> = fc.record({
  answers: fc.array(
    fc.constantFrom<Answer>(
      ...([
        "look",
        "boom",
        "misfit",
        "unknown",
        "cut call",
        "text",
        "json",
        "output",
        "json",
        "output",
      ] as const),
      ...(["bad json", "empty", "overloaded", "auth", "broken", "refuse", "cut", "pause"] as const),
    ),
    { minLength: 1, maxLength: 12 },
  ),
  tools: fc.boolean(),
  way: fc.constantFrom("none", "auto", "native", "tool", "prompted"),
  stored: fc.boolean(),
  decodeRetries: fc.oneof(fc.nat(2), fc.record({ afterTools: fc.nat(2) })),
  attempts: fc.nat(3),
  fallbacks: fc.nat(2),
  maxSteps: fc.integer({ min: 1, max: 7 }),
  onLimit: fc.constantFrom("land", "error", "refuse_tools", "stop"),
  tokens: fc.oneof(fc.constant(1e6), fc.integer({ min: 1, max: 90 })),
  modelCalls: fc.oneof(fc.constant(1e6), fc.integer({ min: 1, max: 9 })),
  turnsDown: fc.boolean(),
  keepsOut: fc.boolean(),
});

function turnOf(kind: Answer, n: number, { tools }: SeenRequest): Turn {
  const { inputTokens, outputTokens } = used;
  switch (kind) {
    case "look":
    case "boom":
      return call(kind, { k: n });
    case "misfit":
      return call("look", { k: "none" });
    case "unknown":
      return call("nobody", { k: n });
    case "cut call":
      return [call("look", { k: n }), stop("max_tokens")];
    case "output":
      return tools.some(({ name }) => name === "final_output")
        ? call("final_output", { n })
        : say(numbered(n));
    case "json":
      return say(numbered(n));
    case "bad json":
      return say('{"n":"none"}');
    case "text":
      return say(`text ${n}`);
    case "empty":
      return [];
    case "overloaded":
    case "auth":
      return fail(kind);
    case "broken":
      return fail("stream_truncated", { usage: { inputTokens, outputTokens } });
    case "refuse":
      return refuse(`refused ${n}`);
    case "cut":
      return [say(`cut ${n}`), stop("max_tokens")];
    case "pause":
      return [say(`pause ${n}`), stop("pause")];
  }
}

/** Turns every third answer without calls down. */
const turnsDown: Rule = {
  name: "turns_down",
  version: 1,
  judge: (_memory, { run }) =>
    run?.turn?.calls.length === 0 && run.modelCalls % 3 === 1
      ? { follows: { do: "ask_again", note: "No." }, evidence: {} }
      : undefined,
};

function optionsOf(trial: Trial): AgentOptions {
  let calls = 0;
  const model = (id: string): ReturnType<typeof scripted> =>
    scripted(
      (request) => {
        const n = calls++;
        return [turnOf(kindAt(trial, n), n, request), usage(used)];
      },
      { id },
    );
  const schema = (name: string) =>
    ({ type: "object", properties: { [name]: { type: "integer" } }, required: [name] }) as const;
  const reading = (name: string, execute: () => string) =>
    tool({ name, description: name, inputSchema: schema("k"), effect: "read", execute });
  const boom = (): never => {
    throw new Error("boom");
  };
  const { way, stored, decodeRetries, attempts, fallbacks, maxSteps, onLimit, tokens, modelCalls } = trial;
  return {
    model: model("first"),
    fallback: Array.from({ length: fallbacks }, (_, at) => model(`fallback ${at}`)),
    ...(trial.tools ? { tools: [reading("look", () => "seen"), reading("boom", boom)] } : {}),
    ...(way === "none" ? {} : { output: schema("n"), outputWay: way }),
    decodeRetries,
    outputRequest: stored ? "stored" : "noted",
    retry: attempts === 0 ? null : { attempts, baseMs: 1 },
    maxSteps,
    onLimit,
    budget: { tokens, modelCalls },
    rules: trial.turnsDown ? [turnsDown] : [],
    landing: { store: !trial.keepsOut },
    repeats: null,
    journal: memoryJournal(),
    clock: hastyClock(),
  };
}

const shortly = (message: Message): string => {
  if (message.role === "tool") return "result";
  if (message.role === "user") return textOf(message) === "go" ? "go" : "asked";
  return message.content.some(({ type }) => type === "tool_call") ? "call" : textOf(message);
};

function whatCame({
  end,
  output,
  text,
  steps,
  modelCalls,
  toolCalls,
  usage: told,
  messages,
}: RunResult): Predicted {
  const { inputTokens = 0, outputTokens = 0 } = told;
  return {
    reason: end?.reason ?? "none",
    landed: end?.landed ?? false,
    failed: end?.error !== undefined,
    output,
    text,
    steps,
    modelCalls,
    toolCalls,
    tokens: inputTokens + outputTokens,
    history: messages.map(shortly),
  };
}

test("a run is what it must be, whatever its model answers", async () => {
  const reasons = new Set<string>();
  await fc.assert(
    fc.asyncProperty(anyTrial, async (trial) => {
      const came = whatCame(await new Agent(optionsOf(trial)).run("go"));
      expect(came).toEqual(predict(trial));
      reasons.add(came.reason);
    }),
    { numRuns: 200 },
  );
  expect(reasons.size).toBeGreaterThan(7);
}, 60_000);
