// The room of pieces: each message's text made once, and the pieces laid in the order the wire wants.
//
// Shared by the two protocols of the family. A piece is kept by its message's identity for as long as the message
// lives; what a message had to be warned about is kept with it and said at every request.

import type { AssistantMessage, ContentPart, Message } from "@rondo/core";
import type { Target, WireRequest } from "../codec.ts";
import { type Block, isSameOrigin, type Warn } from "./anthropic-blocks.ts";
import type { Marked } from "./anthropic-cache.ts";
import { asObject, toJson } from "./anthropic-json.ts";
import type { Answered, Turn } from "./anthropic-turns.ts";

/** What the two protocols write differently. */
export interface Dialect {
  user(content: readonly ContentPart[], warn: Warn): Block[];
  assistant(message: AssistantMessage, calls: readonly Answered[], warn: Warn): Block[];
  result(answered: Answered, message: AssistantMessage, warn: Warn): Block;
  text(text: string): string;
  /** Roles must alternate: neighbours of one role become one message. */
  alternate: boolean;
}

export interface WireMessage extends Marked {
  blocks: Block[];
  hasResults: boolean;
}

interface Piece {
  /** The call ids it was made with. */
  ids: string;
  blocks: Block[];
  warnings: WireRequest["warnings"];
}

/** Makes wire messages from turns, remembering every message it has seen. */
export class Pieces {
  readonly #target: Target;
  readonly #dialect: Dialect;
  readonly #known = new WeakMap<Message, Piece>();
  /** How many messages were made into text so far: what a long session must not repeat. */
  made = 0;

  constructor(target: Target, dialect: Dialect) {
    this.#target = target;
    this.#dialect = dialect;
  }

  /** Neighbours merged where the protocol wants it, nothing empty, a user at both ends but for a pause. */
  lay(turns: readonly Turn[], warn: Warn): WireMessage[] {
    const messages: WireMessage[] = [];
    let endsInPause = false;
    for (const turn of turns) {
      const blocks = this.#blocks(turn, warn);
      if (blocks.length === 0) continue;
      const role = turn.kind === "assistant" ? "assistant" : "user";
      const last = messages.at(-1);
      // What a person says after results stays a message of its own: in the same message it teaches the model to end
      // its turn there. A paused answer and its continuation stay two, so that the first keeps its bytes.
      const merges =
        last?.role === role && (this.#dialect.alternate || (turn.kind === "user" && !last.hasResults));
      if (merges && last !== undefined) last.blocks = [...last.blocks, ...blocks];
      else
        messages.push({ role, blocks: [...blocks], hasResults: turn.kind === "results", marks: new Map() });
      endsInPause =
        turn.kind === "assistant" &&
        turn.message.stop.kind === "pause" &&
        isSameOrigin(turn.message.origin, this.#target);
    }
    pairServerTools(messages, endsInPause, warn);
    if (messages[0]?.role === "assistant")
      messages.unshift(this.#user("(The beginning of this conversation is not shown.)"));
    const last = messages.at(-1);
    if (last === undefined || (last.role === "assistant" && !endsInPause))
      messages.push(this.#user("Continue."));
    else if (last.role === "assistant") last.blocks = trimmed(last.blocks);
    return messages;
  }

  #user(text: string): WireMessage {
    return {
      role: "user",
      blocks: [{ json: this.#dialect.text(text) }],
      hasResults: false,
      marks: new Map(),
    };
  }

  #blocks(turn: Turn, warn: Warn): readonly Block[] {
    const dialect = this.#dialect;
    switch (turn.kind) {
      case "user":
        return this.#keep(turn.message, "", warn, (warning) => dialect.user(turn.message.content, warning));
      case "assistant":
        return this.#keep(turn.message, turn.calls.map((call) => call.id).join(" "), warn, (warning) =>
          dialect.assistant(turn.message, turn.calls, warning),
        );
      case "results":
        return turn.calls.flatMap((answered) => {
          const make = (warning: Warn): Block[] => [dialect.result(answered, turn.message, warning)];
          if (answered.result !== undefined) return this.#keep(answered.result, answered.id, warn, make);
          warn(
            "call_without_result",
            `call ${answered.id} (${answered.call.name}) had no result: an error stands in`,
          );
          return make(warn);
        });
    }
  }

  #keep(message: Message, ids: string, warn: Warn, make: (warn: Warn) => Block[]): Block[] {
    let piece = this.#known.get(message);
    if (piece === undefined || piece.ids !== ids) {
      const warnings: Piece["warnings"] = [];
      piece = { ids, warnings, blocks: make((code, text) => void warnings.push({ code, message: text })) };
      this.#known.set(message, piece);
      this.made++;
    }
    for (const warning of piece.warnings) warn(warning.code, warning.message);
    return piece.blocks;
  }
}

/** A request may not end in white space of the assistant's. */
function trimmed(blocks: Block[]): Block[] {
  const last = blocks.at(-1);
  const block = last === undefined ? undefined : asObject(JSON.parse(last.json));
  const text = block?.text;
  if (last === undefined || typeof text !== "string" || text.trimEnd() === text) return blocks;
  return [...blocks.slice(0, -1), { ...last, json: toJson({ ...block, text: text.trimEnd() }) }];
}

/**
 * A tool that the provider ran and its result stay together, over a pause too. One without the other is left out,
 * but for a pause that is about to go on, and for code that still waits for a client's call.
 */
function pairServerTools(messages: WireMessage[], endsInPause: boolean, warn: Warn): void {
  const opened = new Set<string>();
  const closed = new Set<string>();
  for (const { blocks } of messages)
    for (const block of blocks) {
      if (block.opens !== undefined) opened.add(block.opens);
      for (const id of [block.closes, block.waitsIn]) if (id !== undefined) closed.add(id);
    }
  if (opened.size === 0 && closed.size === 0) return;
  for (const [at, message] of messages.entries()) {
    const waits = endsInPause && at === messages.length - 1;
    const kept = message.blocks.filter(
      (block) =>
        (block.opens === undefined || waits || closed.has(block.opens)) &&
        (block.closes === undefined || opened.has(block.closes)),
    );
    if (kept.length === message.blocks.length) continue;
    warn(
      "server_tool_unpaired",
      "a tool that the provider ran lacks its call or its result: what is left of it was left out",
    );
    message.blocks = kept;
  }
  for (let at = messages.length - 1; at >= 0; at--)
    if (messages[at]?.blocks.length === 0) messages.splice(at, 1);
}
