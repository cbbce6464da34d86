// npm run -s stop-reasons -- [--check]
//
// Generates docs/concepts/stop-reasons.md, the meaning of every provider's stop word, from the codecs' own tables. `--check`
// writes nothing, and exits with 1 when the page is out of date.

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
    "What then follows, by `stop.kind`:",
    "",
    "| `stop.kind` | an answer without calls | one with calls |",
    "|---|---|---|",
    "| `end_turn`, `stop_sequence`, `unknown` | the run is `completed` | becomes `tool_use` |",
    "| `tool_use` | becomes `end_turn` | they run |",
    "| `pause` | the model goes on with it, `pauseResumes` (5) times in a row; then `unexpected_stop` | they run |",
    "| `max_tokens`, `context_overflow` | the run ends as `truncated`, with the text so far | none runs, and the model is told: `maxTruncations` (2) times, then `truncated`. After `context_overflow` the history is compacted first |",
    "| `malformed_call` | not stored; asked again `malformedRetries` (2) times, then `error` | the same |",
    "| `refusal`, `content_filter` | the run ends as `refused` | the same; none runs |",
    "| `error`, `aborted` | the run ends so, with `end.error`; not stored | the same; none runs |",
    "",
    "Those are the defaults; each number is an [option](../guide/rules.md#the-ones-there-are), and each end is [told in full](ends.md).",
    "",
    "## Word by word",
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
