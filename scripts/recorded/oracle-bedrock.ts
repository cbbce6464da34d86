// The room of AWS's own client. Its stream yields events, which are combined here by block.

import { Readable } from "node:stream";
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
} from "@aws-sdk/client-bedrock-runtime";
import { isObject, type Loose, type Recording } from "./corpus.ts";
import { counted, type Said } from "./said.ts";

export async function bedrockSaid(recording: Recording): Promise<Said> {
  const client = new BedrockRuntimeClient({
    region: "us-east-1",
    credentials: { accessKeyId: "none", secretAccessKey: "none" },
    maxAttempts: 1,
    requestHandler: {
      handle: async () => ({
        response: {
          statusCode: 200,
          headers: { "content-type": recording.contentType },
          body: Readable.from(recording.frames.map((frame) => Buffer.from(frame))),
        },
      }),
    } as never,
  });
  const ask = { modelId: "m", messages: [{ role: "user" as const, content: [{ text: "x" }] }] };
  if (recording.whole) {
    const body = (await client.send(new ConverseCommand(ask))) as unknown as Loose;
    const message = (body.output as Loose).message as Loose;
    return saidOf((message.content ?? []) as Loose[], body.stopReason, body.usage);
  }
  const { stream } = await client.send(new ConverseStreamCommand(ask));
  const blocks = new Map<number, { text: string; reasoning: string; name?: string; input: string }>();
  let stop: unknown;
  let usage: unknown;
  for await (const event of (stream ?? []) as AsyncIterable<Loose>) {
    const inner = Object.values(event).find(isObject) ?? {};
    if (isObject(event.messageStop)) stop = event.messageStop.stopReason;
    if (isObject(event.metadata)) usage = event.metadata.usage;
    if (typeof inner.contentBlockIndex !== "number") continue;
    const block = blocks.get(inner.contentBlockIndex) ?? { text: "", reasoning: "", input: "" };
    blocks.set(inner.contentBlockIndex, block);
    const start = isObject(inner.start) ? inner.start : {};
    if (isObject(start.toolUse)) block.name = start.toolUse.name as string;
    const delta = isObject(inner.delta) ? inner.delta : {};
    if (typeof delta.text === "string") block.text += delta.text;
    if (isObject(delta.reasoningContent))
      block.reasoning += (delta.reasoningContent.text as string | undefined) ?? "";
    if (isObject(delta.toolUse)) block.input += (delta.toolUse.input as string | undefined) ?? "";
  }
  const content = [...blocks]
    .sort(([a], [b]) => a - b)
    .map(
      ([, block]): Loose => ({
        text: block.text,
        reasoningContent: { reasoningText: { text: block.reasoning } },
        ...(block.name === undefined
          ? {}
          : { toolUse: { name: block.name, input: JSON.parse(block.input === "" ? "{}" : block.input) } }),
      }),
    );
  return saidOf(content, stop, usage);
}

function saidOf(content: readonly Loose[], stop: unknown, usage: unknown): Said {
  const tokens = isObject(usage) ? usage : {};
  const read = tokens.cacheReadInputTokens;
  const written = tokens.cacheWriteInputTokens;
  return {
    text: content.map((block) => (block.text as string | undefined) ?? "").join(""),
    reasoning: content
      .map((block) => {
        const reasoning = isObject(block.reasoningContent) ? block.reasoningContent.reasoningText : undefined;
        return isObject(reasoning) ? ((reasoning.text as string | undefined) ?? "") : "";
      })
      .join(""),
    calls: content.flatMap((block) =>
      isObject(block.toolUse)
        ? [{ name: block.toolUse.name as string, args: block.toolUse.input ?? {} }]
        : [],
    ),
    stop: stop as string | undefined,
    usage: counted({
      inputTokens: (tokens.inputTokens as number) + Number(read ?? 0) + Number(written ?? 0),
      outputTokens: tokens.outputTokens,
      cachedInputTokens: read,
      cacheWriteTokens: written,
    }),
  };
}
