// A model of somebody's own, whose answers and errors are not what they must be: its run ends as an error that says so.

import {
  Agent,
  type AssistantMessage,
  callsOf,
  type Journal,
  type Model,
  memoryJournal,
  RondoError,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import { echo } from "../support.ts";

const circle: { self?: unknown } = {};
circle.self = circle;
const origin = { api: "own", provider: "own", model: "own" };
const ended = { kind: "end_turn", wire: "end_turn" } as const;
const said = (more: object): unknown => ({
  role: "assistant",
  content: [{ type: "text", text: "hi" }],
  origin,
  stop: ended,
  ...more,
});
const called = (args: object): unknown =>
  said({
    content: [{ type: "tool_call", id: "a", name: "look", args, rawArgs: "{}" }],
    stop: { kind: "tool_use", wire: "tool_use" },
  });

/** Answers this, and then in words. */
function own(answer: () => unknown): Model {
  let calls = 0;
  return {
    id: "own-model",
    origin,
    call: async () => {
      calls += 1;
      return (calls === 1 ? answer() : said({})) as AssistantMessage;
    },
  };
}

/** Keeps records as text, as every journal does that lasts. */
function textJournal(): Journal {
  const inner = memoryJournal();
  return {
    ...inner,
    append: (session, seq, records) => inner.append(session, seq, JSON.parse(JSON.stringify(records))),
  };
}

const journals: readonly (readonly [string, () => Journal])[] = [
  ["where records are kept as they are", memoryJournal],
  ["where they are kept as text", textJournal],
];

describe.each(journals)("what a model returns that is not JSON, %s", (_where, journal) => {
  const ask = (answer: () => unknown) =>
    new Agent({ model: own(answer), tools: [echo("look")], retry: null, journal: journal() }).run("go");

  test.each([
    ["a bigint", { at: 1n }, "content[0].args.at is a bigint"],
    ["a circle", { at: circle }, "content[0].args.at.self is a circle"],
    ["a function", { at: [() => 1] }, "content[0].args.at[0] is a function"],
    ["a number that is none", { at: Number.NaN }, "content[0].args.at is NaN"],
    ["a map", { at: new Map() }, "content[0].args.at is a Map"],
  ])("%s ends its run as an error that names the model and the member", async (_what, args, words) => {
    const { end } = await ask(() => called(args));
    const message = `own-model: the model's answer is no JSON: ${words}, and JSON has no such value`;
    expect(end).toMatchObject({ reason: "error", error: { kind: "protocol", message } });
  });

  test("a bigint in a member that nobody reads is named too", async () => {
    const { end } = await ask(() => said({ raw: { id: 7n } }));
    expect(end?.error?.message).toContain("raw.id is a bigint");
  });

  test("a negative zero becomes zero, as a journal would return it", async () => {
    const { messages } = await ask(() => called({ at: -0, in: [-0, new Date(0)] }));
    expect(callsOf(messages[1] as AssistantMessage)[0]?.args).toEqual({
      at: 0,
      in: [0, "1970-01-01T00:00:00.000Z"],
    });
  });

  test("does not hide an error that is thrown with it", async () => {
    const partial = said({ mine: circle }) as AssistantMessage;
    const usage = { inputTokens: 1n } as never;
    const { end, usage: spent } = await ask(() => {
      throw new RondoError("auth", "the key is wrong", { raw: circle as never, partial, usage });
    });
    expect([end?.reason, end?.error, spent]).toEqual([
      "error",
      { kind: "auth", message: "the key is wrong", retryable: false },
      {},
    ]);
  });

  test("is stored in its JSON form if it has one: a date, bytes of a file, a member without a value", async () => {
    const picture = { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2]) };
    const { messages } = await ask(() =>
      said({
        content: [{ type: "text", text: "hi" }, picture],
        at: new Date(0),
        none: undefined,
        raw: [() => 1],
      }),
    );
    expect(messages.at(-1)).toEqual({
      role: "assistant",
      content: [
        { type: "text", text: "hi" },
        { type: "file", mediaType: "image/png", data: "AQI=" },
      ],
      at: "1970-01-01T00:00:00.000Z",
      origin,
      stop: ended,
      raw: [null],
    });
  });
});

test("a member with the name of an inherited one stays data, and deep values are stored in full", async () => {
  let deep: unknown = "at the bottom";
  for (let level = 0; level < 300; level += 1) deep = { deep };
  const args = JSON.parse(`{"__proto__":{"at":1},"in":${JSON.stringify(deep)}}`) as object;
  const { messages } = await new Agent({ model: own(() => called(args)), tools: [echo("look")] }).run("go");
  const asked = messages.find(({ role }) => role === "assistant");
  expect(JSON.stringify(asked)).toContain(JSON.stringify(args).slice(1, -1));
});

test("what a model later changes in its answer has no effect, and is allowed: the history has a copy", async () => {
  const mine = { ...(said({}) as AssistantMessage), content: [{ type: "text" as const, text: "first" }] };
  const model: Model = {
    id: "own-model",
    origin,
    call: async () => {
      (mine.content[0] as { text: string }).text += "!";
      return mine;
    },
  };
  const session = await new Agent({ model }).open("s");
  await session.send("one");
  const { messages } = await session.send("two");
  expect(messages.filter(({ role }) => role === "assistant").map(({ content }) => content)).toEqual([
    [{ type: "text", text: "first!" }],
    [{ type: "text", text: "first!!" }],
  ]);
});

test("an answer without an origin has that of the called model", async () => {
  const { messages } = await new Agent({ model: own(() => said({ origin: undefined })) }).run("go");
  expect(messages.at(-1)).toMatchObject({ origin });
});
