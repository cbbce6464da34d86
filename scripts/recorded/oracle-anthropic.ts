// The room of Anthropic's own client.

import Anthropic from "@anthropic-ai/sdk";
import { isObject, type Loose, type Recording } from "./corpus.ts";
import { fetchOf } from "./fetch-of.ts";
import { counted, type Said } from "./said.ts";

export async function anthropicSaid(recording: Recording): Promise<Said> {
  const client = new Anthropic({ apiKey: "none", maxRetries: 0, fetch: fetchOf(recording) });
  const ask = { model: "m", max_tokens: 100, messages: [{ role: "user" as const, content: "x" }] };
  const message = (recording.whole
    ? await client.beta.messages.create(ask)
    : await client.beta.messages.stream(ask).finalMessage()) as unknown as Loose;
  const content = (message.content as unknown[]).filter(isObject);
  const of = (type: string, member: string): string =>
    content.map((block) => (block.type === type ? String(block[member]) : "")).join("");
  const usage = isObject(message.usage) ? message.usage : {};
  const read = usage.cache_read_input_tokens;
  const written = usage.cache_creation_input_tokens;
  // Excluded from the totals, according to Anthropic's documentation.
  const beside = (Array.isArray(usage.iterations) ? usage.iterations : [])
    .filter(isObject)
    .filter(({ type }) => type === "compaction" || type === "advisor_message");
  const cost = (name: string): number =>
    beside.reduce((sum, { [name]: count }) => sum + Number(count ?? 0), usage[name] as number);
  return {
    text: of("text", "text"),
    reasoning: of("thinking", "thinking"),
    calls: content.flatMap((block) =>
      block.type === "tool_use" ? [{ name: block.name as string, args: block.input }] : [],
    ),
    stop: (message.stop_reason ?? undefined) as string | undefined,
    usage: counted({
      inputTokens: cost("input_tokens") + Number(read ?? 0) + Number(written ?? 0),
      outputTokens: cost("output_tokens"),
      cachedInputTokens: read,
      cacheWriteTokens: written,
      reasoningTokens: isObject(usage.output_tokens_details)
        ? usage.output_tokens_details.thinking_tokens
        : undefined,
    }),
  };
}
