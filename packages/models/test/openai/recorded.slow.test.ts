import { readFileSync } from "node:fs";
import type { AssistantMessage, Json, Usage } from "@rondo/core";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { responsesCalls } from "../../../../scripts/recorded/said.ts";
import type { Codec } from "../../src/codec.ts";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { itemOfPicture } from "../../src/codecs/openai-responses/pictures.ts";
import { openaiResponses } from "../../src/codecs/openai-responses.ts";
import {
  type Chunking,
  chatRecordings,
  corpus,
  decodeStream,
  type Recording,
  responsesRecordings,
  sseOf,
  target,
} from "./corpus.ts";

/** An answer as both sides can say it. */
interface Said {
  text: string;
  reasoning: string;
  calls: { name: string; args: unknown }[];
  word: string | undefined;
  usage: Usage;
}

function said(message: AssistantMessage): Said {
  const of = (type: "text" | "reasoning"): string =>
    message.content.map((part) => (part.type === type ? part.text : "")).join("");
  return {
    text: of("text"),
    reasoning: of("reasoning"),
    calls: message.content.flatMap((part) =>
      part.type === "tool_call" ? [{ name: part.name, args: part.args }] : [],
    ),
    word: message.stop.raw,
    usage: message.usage ?? {},
  };
}

/** What does not depend on the run: a call that came without an id gets a random one. */
function stable(message: AssistantMessage): AssistantMessage {
  return {
    ...message,
    content: message.content.map((part) => (part.type === "tool_call" ? { ...part, id: "" } : part)),
  };
}

function sdk(body: string, type: string): OpenAI {
  return new OpenAI({
    apiKey: "none",
    maxRetries: 0,
    fetch: async () => new Response(body, { headers: { "content-type": type } }),
  });
}

const streams = (list: Recording[]): Recording[] => list.filter((one) => !one.whole);
const wholes = (list: Recording[]): Recording[] => list.filter((one) => one.whole);
const isError = (recording: Recording): boolean => /error/.test(recording.name);
// The recording itself is broken: its lines are not JSON each.
const isBroken = (recording: Recording): boolean => /parallel-tool-call-wrapper.*chunks/.test(recording.name);

function sameInAnyChunking(codec: Codec, recording: Recording, protocol: "chat" | "responses"): void {
  const sse = sseOf(recording, protocol);
  const outcome = (how: Chunking): { message: AssistantMessage; events: number } => {
    const { message, events } = decodeStream(codec, target(codec.api), sse, how);
    return { message: stable(message), events: events.length };
  };
  const frames = outcome("frames");
  expect(outcome("bytes")).toEqual(frames);
  expect(outcome("whole")).toEqual(frames);
}

describe.skipIf(corpus === undefined)("recorded Chat Completions (RONDO_CORPUS)", () => {
  test("there is something recorded", () => {
    expect(chatRecordings.length).toBeGreaterThan(30);
    expect(responsesRecordings.length).toBeGreaterThan(60);
  });

  test.each(streams(chatRecordings))("$name reads the same in any chunking", (recording) => {
    sameInAnyChunking(openaiChat, recording, "chat");
  });

  test.each(streams(chatRecordings))("$name reads as the official client reads it", async (recording) => {
    const sse = sseOf(recording, "chat");
    const ours = said(decodeStream(openaiChat, target("openai-chat"), sse).message);
    expect(ours).toEqual(await oracleChatStream(sse));
  });

  test.each(wholes(chatRecordings).filter((one) => !isError(one)))(
    "$name, whole, reads as the official client reads it",
    async (recording) => {
      const body = readFileSync(recording.path, "utf8");
      const ours = openaiChat.decodeWhole(JSON.parse(body) as Json, target("openai-chat"), () => {});
      const theirs = await sdk(body, "application/json").chat.completions.create({
        model: "m",
        messages: [],
      });
      const choice = theirs.choices[0]!;
      expect(said(ours)).toEqual(
        chatSaid(choice.message as unknown as Loose, choice.finish_reason, theirs.usage as unknown as Loose),
      );
    },
  );

  test.each([...chatRecordings, ...responsesRecordings].filter((one) => isError(one) && one.whole))(
    "$name is an error and no answer",
    (recording) => {
      const body = JSON.parse(readFileSync(recording.path, "utf8")) as Json;
      for (const codec of [openaiChat, openaiResponses])
        expect(() => codec.decodeWhole(body, target(codec.api), () => {})).toThrow(
          /unsupported|not supported|quota/i,
        );
    },
  );
});

describe.skipIf(corpus === undefined)("recorded Responses (RONDO_CORPUS)", () => {
  const good = responsesRecordings.filter((one) => !isError(one) && !isBroken(one));

  test.each(streams(good))("$name reads the same in any chunking", (recording) => {
    sameInAnyChunking(openaiResponses, recording, "responses");
  });

  test.each(streams(good))("$name reads as the official client reads it", async (recording) => {
    const sse = sseOf(recording, "responses");
    const { message } = decodeStream(openaiResponses, target("openai-responses"), sse);
    expect(said(message)).toEqual(responsesSaid(await oracleResponse(sse)));
  });

  test.each(wholes(good))("$name, whole, reads as the official client reads it", async (recording) => {
    const body = readFileSync(recording.path, "utf8");
    const ours = openaiResponses.decodeWhole(JSON.parse(body) as Json, target("openai-responses"), () => {});
    const theirs = await sdk(body, "application/json").responses.create({ model: "m", input: "" });
    expect(said(ours)).toEqual(responsesSaid(theirs as unknown as Loose));
  });

  test.each(streams(good))("$name keeps every item that is sent back", (recording) => {
    const sse = sseOf(recording, "responses");
    const { message } = decodeStream(openaiResponses, target("openai-responses"), sse);
    const done = new Map<number, Loose>();
    for (const event of eventsOf(sse))
      if (event.type === "response.output_item.done")
        done.set(event.output_index as number, event.item as Loose);
    const kept = message.content.flatMap((part) => {
      if (part.type === "file") return itemOfPicture(part)?.item ?? [];
      return part.type === "native" || part.type === "reasoning" ? [part.opaque?.item] : [];
    });
    const due = [...done]
      .sort(([a], [b]) => a - b)
      .map(([, item]) => item)
      .filter((item) => !["message", "function_call"].includes(item.type as string))
      // A picture that is there is done: Azure's would not be taken back as it came.
      .map((item) => (item.type === "image_generation_call" ? { ...item, status: "completed" } : item));
    expect(kept).toEqual(due);
  });

  test("a quota error that comes as an event and again as a failed response is one error", () => {
    const recording = responsesRecordings.find((one) => /openai-error.*chunks/.test(one.name))!;
    expect(() =>
      decodeStream(openaiResponses, target("openai-responses"), sseOf(recording, "responses")),
    ).toThrow(expect.objectContaining({ kind: "quota_exhausted", retryable: false }));
  });
});

// What the official client leaves untyped, providers fill.
type Loose = { [member: string]: unknown };

async function oracleChatStream(sse: string): Promise<Said> {
  const stream = await sdk(sse, "text/event-stream").chat.completions.create({
    model: "m",
    messages: [],
    stream: true,
  });
  const message: Loose = { content: "", reasoning: "", tool_calls: [] };
  const calls = new Map<string, { function: { name: string; arguments: string } }>();
  let word: string | null = null;
  let usage: Loose | undefined;
  for await (const chunk of stream) {
    const loose = chunk as unknown as Loose;
    usage = (loose.usage ?? (loose.x_groq as Loose | undefined)?.usage ?? usage) as Loose | undefined;
    const choice = chunk.choices[0];
    if (choice === undefined) continue;
    word = choice.finish_reason ?? word;
    const delta = (choice.delta ?? {}) as unknown as Loose;
    const read = chatSaid({ ...delta, tool_calls: [] }, null, undefined);
    message.content = `${message.content}${read.text}`;
    message.reasoning = `${message.reasoning}${read.reasoning}`;
    for (const call of choice.delta?.tool_calls ?? []) {
      // The client's own helper runs two calls under one index together (Cerebras): the id is asked first.
      const key = (call.id || undefined) ?? [...calls.keys()].at(-1) ?? "";
      const known = calls.get(key) ?? { function: { name: "", arguments: "" } };
      known.function.name ||= call.function?.name ?? "";
      known.function.arguments += call.function?.arguments ?? "";
      calls.set(key, known);
    }
  }
  return chatSaid({ ...message, tool_calls: [...calls.values()] }, word, usage);
}

function chatSaid(message: Loose, word: string | null | undefined, usage: Loose | undefined): Said {
  let text = "";
  let reasoning = (message.reasoning_content ?? message.reasoning ?? "") as string;
  if (typeof message.content === "string") text = message.content;
  else
    for (const part of (message.content ?? []) as Loose[]) {
      if (part.type === "text") text += part.text;
      if (part.type === "thinking") for (const piece of part.thinking as Loose[]) reasoning += piece.text;
    }
  return {
    text,
    reasoning,
    calls: ((message.tool_calls ?? []) as { function: { name: string; arguments: string } }[]).map(
      (call) => ({
        name: call.function.name,
        args: JSON.parse(call.function.arguments || "{}"),
      }),
    ),
    word: word ?? undefined,
    usage: chatUsageSaid(usage),
  };
}

function chatUsageSaid(usage: Loose | undefined): Usage {
  if (usage === undefined) return {};
  const input = usage.prompt_tokens as number;
  let output = usage.completion_tokens as number;
  const reasoning = ((usage.completion_tokens_details as Loose | undefined)?.reasoning_tokens ??
    usage.reasoning_tokens) as number | undefined;
  if (reasoning && usage.total_tokens === input + output + reasoning) output += reasoning;
  const cached = ((usage.prompt_tokens_details as Loose | undefined)?.cached_tokens ??
    usage.prompt_cache_hit_tokens ??
    usage.cached_tokens) as number | null | undefined;
  return defined({
    inputTokens: input,
    outputTokens: output,
    cachedInputTokens: cached,
    reasoningTokens: reasoning,
  });
}

function defined(usage: { [K in keyof Usage]: number | null | undefined }): Usage {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => typeof value === "number")) as Usage;
}

function eventsOf(sse: string): Loose[] {
  return sse
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)) as Loose);
}

/** The response as the official client's stream helper has it at the end; where it gives up, as its raw events give it. */
async function oracleResponse(sse: string): Promise<Loose> {
  try {
    const stream = sdk(sse, "text/event-stream").responses.stream({ model: "m", input: "" });
    const response = (await stream.finalResponse()) as unknown as Loose;
    if ((response.output as unknown[]).length > 0) return response;
  } catch {
    // Two recordings hold what the helper does not expect.
  }
  const raw = await sdk(sse, "text/event-stream").responses.create({ model: "m", input: "", stream: true });
  let response: Loose = {};
  const output: Loose[] = [];
  for await (const event of raw) {
    if (event.type === "response.output_item.done")
      output[event.output_index] = event.item as unknown as Loose;
    if (event.type === "response.completed") response = event.response as unknown as Loose;
  }
  return { ...response, output: output.filter((item) => item !== undefined) };
}

function responsesSaid(response: Loose): Said {
  const items = response.output as Loose[];
  const parts = items.flatMap((item) => (item.type === "message" ? (item.content as Loose[]) : []));
  const usage = response.usage as Loose | null | undefined;
  return {
    text: parts.map((part) => (part.type === "output_text" ? part.text : "")).join(""),
    reasoning: items
      .map((item) =>
        item.type === "reasoning"
          ? [...((item.summary ?? []) as Loose[]), ...((item.content ?? []) as Loose[])]
              .map((part) => part.text)
              .filter((text) => text !== "")
              .join("\n\n")
          : "",
      )
      .join(""),
    calls: items.flatMap((item) =>
      item.type === "function_call"
        ? responsesCalls(item.name as string, JSON.parse((item.arguments as string) || "{}"))
        : [],
    ),
    word: response.status as string | undefined,
    usage:
      usage === null || usage === undefined
        ? {}
        : defined({
            inputTokens: usage.input_tokens as number,
            outputTokens: usage.output_tokens as number,
            cachedInputTokens: (usage.input_tokens_details as Loose | undefined)?.cached_tokens as number,
            cacheWriteTokens: (usage.input_tokens_details as Loose | undefined)?.cache_write_tokens as number,
            reasoningTokens: (usage.output_tokens_details as Loose | undefined)?.reasoning_tokens as number,
          }),
  };
}
