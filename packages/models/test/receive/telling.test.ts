// What a piece of a body brings is told once all of the piece is decoded: nothing of it may be lost by that, or told late.

import type { ModelEvent } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { receive } from "../../src/receive.ts";
import { chunk, data, outcome } from "./fed.ts";

const target = { origin: { api: "openai-chat", provider: "openai", model: "m" }, facts: {} };

const delta = (content: string): string =>
  `data: {"choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`;
const finish = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
const failure = `data: {"error":{"message":"overloaded","type":"server_error"}}\n\n`;

function received(text: string, emit: (event: ModelEvent) => void): Promise<unknown> {
  return receive(
    {
      status: 200,
      header: () => null,
      discard: () => {},
      read: async (sink) => void sink(new TextEncoder().encode(text)),
    },
    openaiChat,
    target,
    { emit },
  );
}

describe("the events of a piece of a body", () => {
  it("are emitted in order, before the answer is there", async () => {
    const order: string[] = [];
    const answer = received(delta("one") + delta("two") + finish, (event) =>
      order.push(event.type === "text_delta" ? event.text : event.type),
    );
    await answer.then(() => order.push("answer"));
    // The end is a sign of life as well.
    expect(order).toEqual(["one", "two", "progress", "answer"]);
  });

  it("have one order, however the bytes were cut: the end at its place, and late ones after it", async () => {
    const frames = data(chunk({ content: "one" }), chunk({}, "stop"), chunk({ content: "late" }), "[DONE]");
    const { events } = await outcome(openaiChat, frames);
    const order = events.map((one) => (one.type === "text_delta" ? one.text : one.type));
    expect(order).toEqual(["one", "progress", "late"]);
  });

  it("are emitted up to a frame that is an error, before that is thrown", async () => {
    const order: string[] = [];
    const answer = received(delta("one") + failure + delta("two"), (event) =>
      order.push(event.type === "text_delta" ? event.text : event.type),
    );
    await answer.catch((error: Error) => order.push(error.message));
    expect(order).toEqual(["one", expect.stringContaining("overloaded")]);
  });

  it.each([
    ["in the middle of it", delta("one") + delta("two")],
    ["behind a whole answer", delta("one") + finish],
  ])("end the call if the listener throws %s", async (_where, body) => {
    const told: string[] = [];
    const answer = received(body, (event) => {
      told.push(event.type);
      throw new Error("the listener has had enough");
    });
    await expect(answer).rejects.toThrow("the listener has had enough");
    expect(told).toEqual(["text_delta"]);
  });
});
