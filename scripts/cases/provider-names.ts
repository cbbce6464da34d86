// The room of provider names: which protocol a case is played in when it says `claude`, or only its frames tell.
//
// One server may speak several protocols (Azure, Copilot, gateways), and a case with provider `any` has the frames of one.
// If the name determines the protocol, the name counts: a server may send frames of a foreign protocol.

import { type Case, Unsupported, type Wire } from "./format.ts";
import type { Protocol } from "./wire.ts";

const aliases: { readonly [name: string]: string } = {
  all: "any",
  "anthropic-bedrock": "bedrock",
  "anthropic-messages": "anthropic",
  "anthropic-vertex": "vertex-anthropic",
  "aws-bedrock": "bedrock",
  "amazon-bedrock": "bedrock",
  "azure-openai": "azure",
  "azure-openai-responses": "azure-responses",
  "bedrock-anthropic": "bedrock",
  "bedrock-converse": "bedrock",
  "chat-completions": "openai-chat",
  claude: "anthropic",
  "gemini-api": "gemini",
  "google-generative-ai": "gemini",
  "google-vertex": "vertex",
  "ollama-chat": "ollama-native",
  "openai-completions": "openai-chat",
  responses: "openai-responses",
  "vertex-gemini": "vertex",
};

/** Protocols in which no case can be played. */
const unknown: ReadonlySet<string> = new Set(["gemini-interactions", "interactions", "cohere"]);

/** Names that determine a protocol. For all others the frames decide. */
const settled: ReadonlySet<string> = new Set([
  "ollama-native",
  "anthropic",
  "azure-responses",
  "bedrock",
  "gemini",
  "google",
  "openai-chat",
  "openai-responses",
  "vertex",
  "vertex-anthropic",
]);

const own: { readonly [protocol in Protocol]: string } = {
  anthropic: "anthropic",
  bedrock: "bedrock",
  google: "gemini",
  ollama: "ollama-native",
  "openai-chat": "openai-chat",
  "openai-responses": "openai-responses",
};

/** Features found only in answers of that protocol; errors look alike. Chat comes first, as its choices have a `stop_reason` too. */
const marks: readonly (readonly [Protocol, RegExp])[] = [
  ["openai-chat", /"choices":\s*\[/],
  ["openai-responses", /"type":\s*"response\.|"object":\s*"response"/],
  ["google", /"candidates":\s*\[/],
  ["ollama", /"message":\s*\{.*"done":\s*(?:true|false)/s],
  ["bedrock", /"stopReason":/],
  ["anthropic", /"type":\s*"(message_start|content_block_start)"|"stop_reason":/],
];

/**
 * The provider name a case is played with.
 * @throws Unsupported naming a protocol in which no case can be played
 */
export function playedAs(one: Case): string {
  const name = one.provider.toLowerCase();
  const provider = aliases[name] ?? name;
  if (unknown.has(provider)) throw new Unsupported(`the protocol of ${provider}`);
  if (settled.has(provider)) return provider;
  const spoken = spokenIn(one);
  if (spoken === undefined || spoken === "openai-chat") return provider;
  return provider === "azure" && spoken === "openai-responses" ? "azure-responses" : own[spoken];
}

function spokenIn(one: Case): Protocol | undefined {
  const turns = [...(one.turns ?? []), ...(one.turns_after ?? [])].map((turn) => turn.wire);
  for (const wire of [one.wire, ...(one.wire_sequence ?? []), one.final_wire, ...turns]) {
    const text = textOf(wire ?? {});
    // Quotes inside an answer are escaped, so quoted text does not match.
    const found = marks.find(([, mark]) => mark.test(text));
    if (found !== undefined) return found[0];
    // Bytes are Amazon's event stream, if they are not said to be something else.
    const type = Object.entries(wire?.headers ?? {}).find(([name]) => /^content-type$/i.test(name))?.[1];
    if (wire?.body_b64 !== undefined && /eventstream/i.test(type ?? "eventstream")) return "bedrock";
  }
  return undefined;
}

function textOf({ sse, body, body_text }: Wire): string {
  return sse?.join("") ?? body_text ?? (body === undefined ? "" : JSON.stringify(body));
}
