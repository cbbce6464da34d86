import Anthropic from "@anthropic-ai/sdk";
import type { AssistantMessage, Json, JsonObject, NativePart, Part } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { checkAnthropicRequest } from "../../../testkit/src/wire/rules/anthropic.ts";
import { anthropicMessages } from "../../src/codecs/anthropic-messages.ts";
import { decodeEveryWay, hasCorpus, readRecorded, recorded, sse, targetOf } from "./feeding.ts";

const target = targetOf("anthropic-messages", "anthropic", "claude-sonnet-4-5");

/** A recording as its events, one list a response: some files hold several responses of one run. */
function responsesOf(name: string): Json[][] {
  const responses: Json[][] = [];
  for (const line of readRecorded("anthropic", name).split("\n")) {
    if (line.trim() === "") continue;
    const event = JSON.parse(line) as JsonObject;
    const before = responses.at(-1);
    const ended = (before?.at(-1) as JsonObject | undefined)?.type === "message_stop";
    if (before === undefined || (event.type === "message_start" && ended)) responses.push([event]);
    else before.push(event);
  }
  return responses;
}

/** What the official SDK's streaming helper makes of the same bytes. */
async function oracle(body: string): Promise<Anthropic.Beta.BetaMessage> {
  const client = new Anthropic({
    apiKey: "none",
    maxRetries: 0,
    fetch: async () => new Response(body, { headers: { "content-type": "text/event-stream" } }),
  });
  const stream = client.beta.messages.stream({
    model: "any",
    max_tokens: 1,
    messages: [{ role: "user", content: "x" }],
  });
  return await stream.finalMessage();
}

const isContainer = (part: Part): part is NativePart => part.type === "native" && part.kind === "container";

/** Either side in one shape. Citations, signatures and whole native blocks included; a container is no block. */
function ours(message: AssistantMessage): Json {
  const parts: Part[] = message.content.filter((part) => !isContainer(part));
  const content = parts.map((part): Json => {
    switch (part.type) {
      case "text":
        return { type: "text", text: part.text, citations: part.citations ?? [] };
      case "reasoning":
        return part.opaque?.redacted === undefined
          ? { type: "thinking", thinking: part.text, signature: part.opaque?.signature ?? "" }
          : { type: "redacted_thinking", data: part.opaque.redacted };
      case "tool_call":
        return { type: "tool_use", id: part.id, name: part.name, input: part.args };
      case "native":
        return part.opaque;
      default:
        throw new Error(`unexpected part ${part.type}`);
    }
  });
  return {
    content,
    container: message.content.find(isContainer)?.opaque ?? null,
    stop: message.stop.raw ?? null,
    usage: { ...message.usage },
  };
}

function theirs(message: Anthropic.Beta.BetaMessage): Json {
  const content = message.content.map((block): Json => {
    switch (block.type) {
      case "text":
        return {
          type: "text",
          text: block.text,
          citations: JSON.parse(JSON.stringify(block.citations ?? [])) as Json,
        };
      case "thinking":
        return { type: "thinking", thinking: block.thinking, signature: block.signature ?? "" };
      case "tool_use":
        return { type: "tool_use", id: block.id, name: block.name, input: block.input as Json };
      default:
        return JSON.parse(JSON.stringify(block)) as Json;
    }
  });
  const { usage } = message;
  const cached = usage.cache_read_input_tokens;
  const written = usage.cache_creation_input_tokens;
  const reasoning = usage.output_tokens_details?.thinking_tokens;
  // What the totals leave out, by Anthropic's own word.
  const beside = (usage.iterations ?? []).filter(({ type }) => /^(?:compaction|advisor_message)$/.test(type));
  const cost = (name: "input_tokens" | "output_tokens"): number =>
    beside.reduce((sum, { [name]: count }) => sum + count, usage[name]);
  return {
    content: content.filter((block) => !(isText(block) && block.text === "")),
    container: JSON.parse(JSON.stringify(message.container ?? null)) as Json,
    stop: message.stop_reason,
    usage: {
      inputTokens: cost("input_tokens") + (cached ?? 0) + (written ?? 0),
      outputTokens: cost("output_tokens"),
      ...(typeof cached === "number" ? { cachedInputTokens: cached } : {}),
      ...(typeof written === "number" ? { cacheWriteTokens: written } : {}),
      ...(typeof reasoning === "number" ? { reasoningTokens: reasoning } : {}),
    },
  };
}

const isText = (block: Json): block is { type: "text"; text: string } =>
  (block as JsonObject).type === "text";

describe.skipIf(!hasCorpus)("recorded Anthropic streams", () => {
  const files = recorded("anthropic", ".chunks.txt").filter((name) => !name.startsWith("spliced"));

  it.each(files)("%s decodes the same in every chunking, as the official SDK reads it", async (name) => {
    for (const events of responsesOf(name)) {
      // The SDK does not survive a repeated start; we ignore it.
      const [first, ...rest] = events as [JsonObject, ...JsonObject[]];
      const clean = [first, ...rest.filter((event) => event.type !== "message_start")];
      const { message, error, finished } = decodeEveryWay(anthropicMessages, target, sse(events));
      expect(error).toBeUndefined();
      expect(finished).toBe(true);
      const answer = message as AssistantMessage;
      expect(ours(answer)).toEqual(theirs(await oracle(sse(clean))));
    }
  });

  it.each(files)("%s can be sent back to its own origin and to another", (name) => {
    for (const events of responsesOf(name)) {
      const { message } = decodeEveryWay(anthropicMessages, target, sse(events));
      const answer = message as AssistantMessage;
      for (const model of [target.origin.model, "claude-opus-4-6"]) {
        const other = targetOf("anthropic-messages", "anthropic", model);
        const { body } = anthropicMessages.encoder(other).encode({
          messages: [
            { role: "user", content: [{ type: "text", text: "go" }] },
            answer,
            ...answer.content
              .filter((part) => part.type === "tool_call")
              .map((part) => ({
                role: "tool" as const,
                callId: part.id,
                name: part.name,
                content: [],
                isError: false,
              })),
            { role: "user", content: [{ type: "text", text: "and now?" }] },
          ],
          tools: [],
          toolChoice: "auto",
          settings: {},
        });
        expect(checkAnthropicRequest(JSON.parse(body))).toEqual([]);
      }
    }
  });

  it("spliced-message-start.chunks.txt is a retryable protocol error in every chunking", () => {
    const events = readRecorded("anthropic", "spliced-message-start.chunks.txt")
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => JSON.parse(line) as Json);
    const { error, message, partial } = decodeEveryWay(anthropicMessages, target, sse(events));
    expect(message).toBeUndefined();
    expect(error).toMatchObject({ kind: "protocol", retryable: true });
    expect(partial?.content).toEqual([
      { type: "reasoning", text: "I will call the tool.", opaque: { signature: "sig-first" } },
    ]);
  });

  it.each(recorded("anthropic", ".json"))("%s, a whole answer, decodes to what its blocks say", (name) => {
    const body = JSON.parse(readRecorded("anthropic", name)) as Json;
    const message = anthropicMessages.decodeWhole(body, target, () => {});
    expect(ours(message)).toEqual(theirs(body as unknown as Anthropic.Beta.BetaMessage));
  });

  it.each(
    recorded("anthropic", ".json").filter((name) =>
      recorded("anthropic", ".chunks.txt").includes(name.replace(".json", ".chunks.txt")),
    ),
  )("%s stops as its streamed twin does", (name) => {
    const whole = anthropicMessages.decodeWhole(
      JSON.parse(readRecorded("anthropic", name)) as Json,
      target,
      () => {},
    );
    const events = responsesOf(name.replace(".json", ".chunks.txt")).at(-1) as Json[];
    const { message } = decodeEveryWay(anthropicMessages, target, sse(events));
    // Two runs of a model may differ in words; both must say how they ended.
    expect(whole.stop.wire).not.toBe("unknown");
    expect(message?.stop.wire).not.toBe("unknown");
  });
});
