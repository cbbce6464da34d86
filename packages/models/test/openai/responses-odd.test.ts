// Responses as gateways misspell them: failures in other places, lists that are one value, arguments that are values.

import { describe, expect, it } from "vitest";
import { openaiResponses } from "../../src/codecs/openai-responses.ts";
import { callsOf, data, outcome, textOf } from "../receive/fed.ts";

const created = { type: "response.created", response: { id: "r", status: "in_progress", output: [] } };
const completed = (more: object = {}): object => ({
  type: "response.completed",
  response: { id: "r", status: "completed", output: [], ...more },
});
const play = (...events: readonly object[]): ReturnType<typeof outcome> =>
  outcome(openaiResponses, data(...events));
const limited = { code: "rate_limit_exceeded", message: "x" };
const said = [{ type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "hi" }];

describe("a failure", () => {
  it.each([
    [
      "in the last error",
      { type: "response.failed", response: { status: "failed", error: null, last_error: limited } },
    ],
    ["beside the response", { type: "response.failed", error: limited }],
    ["with the first event", { type: "response.created", response: { status: "failed", error: limited } }],
    ["of an event of its own", { type: "response.output_text.error", error: limited }],
    ["in a response that calls itself whole", completed({ error: limited })],
    ["in words, in a response that calls itself whole", completed({ error: "rate limit exceeded" })],
  ])("%s", async (_title, event) => {
    expect((await play(created, ...said, event)).error?.kind).toBe("rate_limit");
  });

  it.each(["in_progress", "queued"])("is no answer while it is %s", async (status) => {
    const { error } = await outcome(openaiResponses, [
      JSON.stringify({ object: "response", status, output: [] }),
    ]);
    expect(error).toMatchObject({ kind: "stream_truncated" });
    expect(error?.message).toContain("background");
  });
});

describe("arguments", () => {
  const added = (index: unknown): object => ({
    type: "response.output_item.added",
    output_index: index,
    item: { type: "function_call", call_id: `c${index}`, name: `f${index}`, arguments: "" },
  });
  const more = (index: unknown, delta: unknown): object => ({
    type: "response.function_call_arguments.delta",
    output_index: index,
    delta,
  });

  it("that come as a value are no empty ones", async () => {
    expect(callsOf(await play(created, added(0), more(0, { a: 1 }), completed()))).toEqual([
      ["f0", { a: 1 }],
    ]);
  });

  it.each([
    { type: "response.function_call_arguments.done", output_index: 0, arguments: "{}" },
    {
      type: "response.output_item.done",
      output_index: 0,
      item: { type: "function_call", call_id: "c0", name: "f0", arguments: {} },
    },
  ])("that came in pieces are not made empty by the end: $type", async (done) => {
    expect(callsOf(await play(created, added(0), more(0, '{"a":1}'), done, completed()))).toEqual([
      ["f0", { a: 1 }],
    ]);
  });

  it("under numbers that are texts are kept apart", async () => {
    const told = await play(
      created,
      added("0"),
      added("1"),
      more("0", '{"a":'),
      more("1", '{"b":'),
      more("0", "1}"),
      more("1", "2}"),
      completed(),
    );
    expect(callsOf(told)).toEqual([
      ["f0", { a: 1 }],
      ["f1", { b: 2 }],
    ]);
  });
});

describe("the text", () => {
  const message = { type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] };

  it.each([
    ["of a message whose content is a text", { output: [{ ...message, content: "hi" }] }],
    ["of a message whose content is one part", { output: [{ ...message, content: message.content[0] }] }],
    ["of output that is one item", { output: message }],
    ["that stands alone", { output_text: "hi" }],
  ])("%s", async (_title, response) => {
    expect(textOf(await play(created, completed(response)))).toBe("hi");
  });

  it.each(["data", "response"])("in an envelope called %s", async (name) => {
    const body = { [name]: { object: "response", status: "completed", output: [message] } };
    expect(textOf(await outcome(openaiResponses, [JSON.stringify(body)]))).toBe("hi");
  });

  it("that streamed is not told again by the response", async () => {
    expect(textOf(await play(created, ...said, completed({ output_text: "hi" })))).toBe("hi");
  });
});
