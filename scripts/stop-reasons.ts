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
    "Why a single model answer ended: what each word of each provider protocol means in Rondo (`stop.wire`). The raw word is always kept (`stop.raw`).",
    "",
    "**A word the protocol does not have** is looked up among those of `openai-chat`, because gateways wrap one provider's answers in another's",
    "protocol and leave the word as it was. In this second look-up, case (`maxTokens`), dashes and a detail after a colon do not matter. A word that is not",
    "there either means what it names: `error` for a failure (`upstream_error`, `generation_failed`), `max_tokens` for a limit (`token_limit`,",
    "`max_length`), `context_overflow` (`context_length_exceeded`) or `content_filter` (`blocked`); otherwise it is `unknown`, which is not an",
    "error. (An answer that `openai-responses` marks as incomplete is then `max_tokens`.)",
    "",
    "**`stop.kind`** combines the word's meaning with the answer's content. If the word means `end_turn`, `stop_sequence`, `tool_use` or",
    "`unknown`, the content decides: an answer with calls is `tool_use`, one with a refusal is `refusal`, and `tool_use` without a call",
    "becomes `end_turn`. Any other meaning stands, whatever the answer holds: an answer that was cut off (`max_tokens`) stays cut off even",
    "if it has calls, and they do not run.",
    "",
    "What follows from each `stop.kind`:",
    "",
    "| `stop.kind` | an answer without calls | an answer with calls |",
    "|---|---|---|",
    "| `end_turn`, `stop_sequence`, `unknown` | the run is `completed` | becomes `tool_use` |",
    "| `tool_use` | becomes `end_turn` | they run |",
    "| `pause` | the model is asked to continue, `pauseResumes` (5) times in a row; then `unexpected_stop` | they run |",
    "| `max_tokens`, `context_overflow` | the run ends as `truncated`, with the text so far | none runs, and the model is told: `maxTruncations` (2) times, then `truncated`. After `context_overflow` the history is compacted first |",
    "| `malformed_call` | not stored; asked again `malformedRetries` (2) times, then `error` | the same |",
    "| `refusal`, `content_filter` | the run ends as `refused` | the same; none runs |",
    "| `error`, `aborted` | the run ends with that reason and `end.error`; not stored | the same; none runs |",
    "",
    "The numbers are defaults, each of them an [option](../guide/rules.md#built-in-rules). The run's reasons are explained in [Why a run ends](ends.md).",
    "",
    "## Every word",
    "",
    "This page is generated from the code: `npm run -s stop-reasons`.",
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
