// npm run -s stop-reasons -- [--check]
//
// Draws what every provider's stop word means into docs/concepts/stop-reasons.md, from the codecs' own tables. `--check`
// writes nothing, and exits with 1 when the page and the code have parted.

import { anthropicStops } from "../packages/models/src/codecs/anthropic/stops.ts";
import { bedrockStops } from "../packages/models/src/codecs/bedrock/stops.ts";
import { googleStops } from "../packages/models/src/codecs/google/stops.ts";
import { openaiChatStops, openaiResponsesStops } from "../packages/models/src/codecs/openai/stops.ts";
import { writeOrCheck } from "./docs/drawn.ts";

const protocols: readonly (readonly [name: string, stops: object])[] = [
  ["anthropic-messages", anthropicStops],
  ["openai-chat", openaiChatStops],
  ["openai-responses", openaiResponsesStops],
  ["google-generative-ai", googleStops],
  ["bedrock-converse", bedrockStops],
];

/** The page as Markdown. */
export function stopReasonsPage(): string {
  const rows = protocols.flatMap(([protocol, stops]) =>
    Object.entries(stops).map(([word, kind]) => `| ${protocol} | \`${word}\` | ${shown(kind)} |`),
  );
  return [
    "# Stop reasons",
    "",
    "What each protocol's own word means (`stop.wire`). The raw word is always kept (`stop.raw`).",
    "",
    "A word that is not among a protocol's own is looked for among those of `openai-chat`, whatever the protocol: gateways put one",
    "house's answers into another's frames and leave the word as it was. There it may be written in any case, with dashes, and with a",
    "detail behind a colon. One that is not there either is `error` if it speaks of a failure (`upstream_error`, `generation_failed`),",
    "else `unknown`, which is no error. Only an answer that `openai-responses` calls incomplete is then `max_tokens`.",
    "",
    "Whether a run goes on is decided from the content together with the word (`stop.kind`). Under `end_turn`, `stop_sequence`,",
    "`tool_use` and `unknown` the content decides: with calls it is `tool_use`, with a refusal `refusal`, and `tool_use` without a call",
    "is `end_turn`. Every other word stands, whatever the answer holds: one that was cut off (`max_tokens`) is cut off with its calls,",
    "and they do not run.",
    "",
    "This page is drawn from the code: `npm run -s stop-reasons`.",
    "",
    "| protocol | word | meaning |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

function shown(kind: unknown): string {
  return typeof kind === "string" ? `\`${kind}\`` : `\`${JSON.stringify(kind)}\``;
}

if (import.meta.main)
  writeOrCheck("stop-reasons", [{ path: "docs/concepts/stop-reasons.md", text: stopReasonsPage() }]);
