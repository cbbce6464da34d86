import {
  type AssistantMessage,
  isPaired,
  type Message,
  type Part,
  repairHistory,
  textOf,
  userText,
} from "@rondo/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { repairPolicy } from "../src/repair/policies.ts";
import { problemsIn, providers, requestFor } from "./accepting.ts";

const words = fc.constantFrom("hello", "find it", "  spaced  ", "ünï😀", "done", "cut \ud83d", "{}");
const origins = fc.constantFrom(
  { api: "anthropic-messages", provider: "anthropic", model: "m" },
  { api: "openai-chat", provider: "openai", model: "m" },
  { api: "elsewhere", provider: "x", model: "y" },
);
const ids = fc.constantFrom("call_0", "toolu_1", "", "a|b|c", "x".repeat(70), "call_1", "9");

/** A turn of the model with its results: in order, as a program would have stored it. */
const turn = fc
  .record({
    said: fc.option(words, { nil: undefined }),
    thought: fc.option(words, { nil: undefined }),
    calls: fc.array(fc.tuple(ids, words), { maxLength: 3 }),
    origin: origins,
    failed: fc.constantFrom("no", "no", "no", "error", "aborted"),
  })
  .map(({ said, thought, calls, origin, failed }): Message[] => {
    const content: Part[] = [
      ...(thought === undefined ? [] : [{ type: "reasoning", text: thought } as const]),
      ...(said === undefined ? [] : [{ type: "text", text: said } as const]),
      ...calls.map(
        ([id]): Part => ({ type: "tool_call", id, name: "look", args: { at: "x" }, rawArgs: '{"at":"x"}' }),
      ),
    ];
    const kind = failed !== "no" ? (failed as "error") : calls.length > 0 ? "tool_use" : "end_turn";
    const message: AssistantMessage = { role: "assistant", content, origin, stop: { kind, wire: kind } };
    return [
      message,
      ...calls.map(
        ([callId, text]): Message => ({
          role: "tool",
          callId,
          name: "look",
          content: [{ type: "text", text }],
          isError: false,
        }),
      ),
    ];
  });

const conversation = fc
  .array(
    fc.oneof(
      turn,
      words.map((text): Message[] => [userText(text)]),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((turns) => [userText("begin"), ...turns.flat()]);

type Damage = { kind: string; at: number; to: number };
const damage: fc.Arbitrary<Damage[]> = fc.array(
  fc.record({
    kind: fc.constantFrom("drop", "double", "move", "blank", "name", "args", "id", "null", "text"),
    at: fc.nat(30),
    to: fc.nat(30),
  }),
  { maxLength: 4 },
);

function damaged(history: readonly Message[], all: readonly Damage[]): Message[] {
  const out: Message[] = structuredClone([...history]);
  for (const { kind, at, to } of all) {
    const index = at % Math.max(1, out.length);
    const message = out[index];
    if (message === undefined) break;
    const loose = message as { content?: unknown; callId?: unknown; name?: unknown };
    if (kind === "drop" && message.role !== "user") out.splice(index, 1);
    else if (kind === "double") out.splice(index, 0, message);
    else if (kind === "move") out.splice(to % out.length, 0, ...out.splice(index, 1));
    else if (kind === "blank")
      out.splice(index, 0, { ...message, content: [{ type: "text", text: " " }] } as Message);
    else if (kind === "null" && message.role === "tool") loose.content = null;
    else if (kind === "id" && message.role === "tool") loose.callId = undefined;
    else if (kind === "name" && message.role === "tool") loose.name = "";
    else if (kind === "text" && message.role === "user" && Array.isArray(message.content))
      loose.content = textOf(message);
    else if (message.role === "assistant")
      for (const part of message.content)
        if (part.type === "tool_call") {
          if (kind === "args") (part as { args?: unknown }).args = null;
          if (kind === "name") part.name = to % 2 === 0 ? "" : "no such / name";
          if (kind === "id") (part as { id?: unknown }).id = undefined;
        }
  }
  return out;
}

const said = (messages: readonly Message[]): string[] =>
  messages
    .filter((one) => one.role === "user" || one.role === "assistant")
    .map((one) => (typeof one.content === "string" ? (one.content as string) : textOf(one)))
    .filter((text) => text.trim() !== "")
    .map((text) => text.toWellFormed());

describe.each(Object.keys(providers))("any damaged history, repaired, for %s", (name) => {
  it("is accepted by the provider", () => {
    fc.assert(
      fc.property(conversation, damage, (history, all) => {
        const repaired = repairHistory(damaged(history, all));
        expect(isPaired(repaired)).toBe(true);
        expect(problemsIn(name, requestFor(repaired))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it("is accepted by the provider with the table's policies too", () => {
    fc.assert(
      fc.property(conversation, damage, (history, all) => {
        const repaired = repairHistory(damaged(history, all), repairPolicy(name));
        expect(isPaired(repaired)).toBe(true);
        expect(problemsIn(name, requestFor(repaired))).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});

describe("any damaged history, repaired", () => {
  it("keeps what every user and the model wrote, in order", () => {
    fc.assert(
      fc.property(conversation, damage, (history, all) => {
        const before = damaged(history, all);
        expect(said(repairHistory(before))).toEqual(said(before));
      }),
      { numRuns: 1000 },
    );
  });

  it("is valid: repairing it again returns the same array", () => {
    fc.assert(
      fc.property(conversation, damage, (history, all) => {
        const once = repairHistory(damaged(history, all));
        expect(repairHistory(once)).toBe(once);
      }),
      { numRuns: 1000 },
    );
  });

  it("does not change the given messages", () => {
    fc.assert(
      fc.property(conversation, damage, (history, all) => {
        const before = damaged(history, all);
        const copy = structuredClone(before);
        repairHistory(before, { neighbours: "merge", userFirst: true, maxPartChars: 50 });
        expect(before).toEqual(copy);
      }),
      { numRuns: 300 },
    );
  });
});
