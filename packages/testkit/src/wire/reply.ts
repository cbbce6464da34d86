// The room of the reply: what a turn says, before any protocol has put it into its own form.
//
// Renderers are pure functions from a reply to frames and a whole body. Ids, signatures and counts that a provider
// would make up are made here from the reply's number, so that the same script always gives the same bytes.

import type { Json, JsonObject, Opaque, StopKind, Usage } from "@rondo/core";

/** The five protocols, by the names of `Origin.api`. */
export type Protocol =
  | "anthropic-messages"
  | "openai-chat"
  | "openai-responses"
  | "google-generative-ai"
  | "bedrock-converse";

export const protocols: readonly Protocol[] = [
  "anthropic-messages",
  "openai-chat",
  "openai-responses",
  "google-generative-ai",
  "bedrock-converse",
];

/** One event of a stream, before framing. */
export interface WireFrame {
  event?: string;
  data: string;
  /** AWS: an exception, of the type that `event` names. */
  exception?: boolean;
  /** SSE: a comment line, which means nothing. */
  comment?: boolean;
}

export type ReplyBlock =
  | { type: "text"; text: string; pieces: string[]; opaque?: Opaque }
  | { type: "reasoning"; text: string; pieces: string[]; opaque?: Opaque }
  | { type: "refusal"; text: string; pieces: string[] }
  | {
      type: "call";
      /** The script's own; else each protocol makes one of its form. */
      id?: string;
      name: string;
      args: JsonObject;
      rawArgs: string;
      /** The arguments are no whole JSON object. */
      broken: boolean;
      pieces: string[];
      opaque?: Opaque;
    }
  /** A block of the protocol's own, sent as it is. */
  | { type: "native"; opaque: Opaque };

export interface Reply {
  /** Counts the replies of a server, from 1. */
  number: number;
  model: string;
  blocks: ReplyBlock[];
  stop: { wire: StopKind; raw?: string; detail?: string };
  usage: Usage;
  /** The stream is to tell its usage where a client must ask for that. */
  tellsUsage: boolean;
}

/** A reply in a protocol's form. `blocks` runs beside the reply's own. */
export interface Rendered {
  head: WireFrame[];
  blocks: WireFrame[][];
  tail: WireFrame[];
  whole: Json;
}

/** Something a script asks for that a protocol has no form for. Answered as 500, and kept in `wire.problems`. */
export class ScriptError extends Error {
  override readonly name: string = "ScriptError";
}

/** The protocol's word for a stop: the script's own, else from the table. */
export function stopWord(
  reply: Reply,
  words: { readonly [K in StopKind]?: string },
  protocol: Protocol,
): string {
  const word = reply.stop.raw ?? words[reply.stop.wire];
  if (word === undefined)
    throw new ScriptError(
      `the script stops with \`${reply.stop.wire}\`, for which ${protocol} has no word: give one, as in stop("${reply.stop.wire}", { raw: "…" })`,
    );
  return word;
}

/** The id of the call in this block. */
export function callId(reply: Reply, index: number, prefix: string): string {
  const block = reply.blocks[index];
  return (block?.type === "call" ? block.id : undefined) ?? `${prefix}${reply.number}_${index}`;
}

/** What a provider signs its reasoning with: the script's own, else made up. */
export function signature(reply: Reply, index: number, opaque: Opaque | undefined, member: string): string {
  const own = opaque?.[member];
  return typeof own === "string" ? own : `sig-${reply.number}-${index}`;
}

/** Counts with the unknown as 0, since a provider's are whole. */
export function counts(usage: Usage): Required<Usage> {
  return {
    inputTokens: usage.inputTokens ?? 0,
    outputTokens: usage.outputTokens ?? 0,
    cachedInputTokens: usage.cachedInputTokens ?? 0,
    cacheWriteTokens: usage.cacheWriteTokens ?? 0,
    cacheWrite1hTokens: usage.cacheWrite1hTokens ?? 0,
    reasoningTokens: usage.reasoningTokens ?? 0,
  };
}

/** A frame of JSON. */
export function frame(event: string | undefined, data: Json): WireFrame {
  return { ...(event === undefined ? {} : { event }), data: JSON.stringify(data) };
}
