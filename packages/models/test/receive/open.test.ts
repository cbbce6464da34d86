// A server that leaves its connection open behind the finish signal has answered all the same: Gemini has no sentinel, and
// proxies forget theirs (F158, F161).

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type AssistantMessage, type ModelEvent, type ModelIo, userText } from "@rondo/core";
import { eventStreamMessage } from "@rondo/testkit/wire";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { anthropic, bedrock, google, openai, type ProviderOptions } from "../../src/index.ts";

const sse = (...data: object[]): string[] => data.map((one) => `data: ${JSON.stringify(one)}\n\n`);
const chunk = (delta: object, finish_reason: string | null): object => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const aws = (event: string, payload: object): Buffer =>
  Buffer.from(eventStreamMessage({ event, data: JSON.stringify(payload) }));

const answers = {
  google: {
    make: google,
    type: "text/event-stream",
    text: sse({ candidates: [{ content: { parts: [{ text: "hi" }] } }] }),
    end: sse({ candidates: [{ finishReason: "STOP" }] }),
  },
  "openai-chat": {
    make: openai.chat,
    type: "text/event-stream",
    text: sse(chunk({ content: "hi" }, null)),
    end: sse(chunk({}, "stop")),
  },
  anthropic: {
    make: anthropic,
    type: "text/event-stream",
    text: sse(
      { type: "message_start", message: { id: "m", usage: { input_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } },
    ),
    end: sse({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } }),
  },
  bedrock: {
    make: bedrock,
    type: "application/vnd.amazon.eventstream",
    text: [aws("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "hi" } })],
    end: [aws("messageStop", { stopReason: "end_turn" })],
  },
} as const;

afterEach(() => {
  vi.useRealTimers();
});

describe.each(Object.entries(answers))("an answer of %s", (_, { make, type, text, end }) => {
  async function asked(
    pieces: readonly (string | Buffer)[],
    more: ProviderOptions = {},
    clocks: ModelIo["clocks"] = {},
  ): Promise<{ answer: Promise<AssistantMessage>; heard: ModelEvent["type"][] }> {
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-type": type });
      for (const piece of pieces) response.write(piece);
    });
    onTestFinished(() => server.closeAllConnections());
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const model = make("m", { apiKey: "k", baseURL: `http://127.0.0.1:${port}`, ...more });
    const controller = new AbortController();
    onTestFinished(() => controller.abort());
    let begun = (): void => {};
    const begins = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const heard: ModelEvent["type"][] = [];
    const emit = (event: ModelEvent): void => {
      heard.push(event.type);
      if (event.type === "text_delta") begun();
    };
    const answer = model.call(
      { messages: [userText("go")], tools: [], toolChoice: "auto", settings: {} },
      { signal: controller.signal, emit, clocks: { connectMs: 0, firstByteMs: 0, ...clocks } },
    );
    answer.catch(() => {});
    await begins;
    return { answer, heard };
  }

  it.each([
    ["Node's client", {}],
    ["fetch", { fetch: globalThis.fetch }],
    ["a client that keeps the raw frames", { keepRaw: true }],
  ])("that ended, on a connection that stays open, is complete: %s", async (_name, more) => {
    const { answer } = await asked([...text, ...end], more);
    while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(10_000);
    expect((await answer).content).toEqual([{ type: "text", text: "hi" }]);
  });

  it("that ended is complete before the idle timeout, however short that is", async () => {
    const { answer } = await asked([...text, ...end], {}, { idleMs: 400 });
    while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(200);
    expect((await answer).content).toEqual([{ type: "text", text: "hi" }]);
  });

  it("that ends resets an idle timeout that is about to pass", async () => {
    const { answer, heard } = await asked([...text, ...end]);
    while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(heard.slice(heard.lastIndexOf("text_delta"))).toEqual(["text_delta", "progress"]);
    vi.advanceTimersByTime(10_000);
    await answer;
  });

  it("that did not end is waited for", async () => {
    const { answer } = await asked(text);
    let over = false;
    answer.then(
      () => {
        over = true;
      },
      () => {
        over = true;
      },
    );
    vi.advanceTimersByTime(60_000);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(over).toBe(false);
  });
});
