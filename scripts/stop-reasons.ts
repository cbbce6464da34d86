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
    "What each protocol's own word means (`stop.wire`). The raw word is always kept (`stop.raw`). A word that is not in the table is",
    "`unknown`, never an error. Whether a run goes on is decided from the content together with the word (`stop.kind`): an answer with",
    "calls is `tool_use` whatever the word, and `tool_use` without a call is `end_turn`. In OpenAI's protocols, which many servers",
    "speak, a word may be written in any case, with dashes, and with a detail behind a colon.",
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
