// The room of pieces: each message's JSON text, made once, and put in the order that the wire requires.
//
// Shared by the two protocols of the family (Messages and Converse). A piece is kept by its message's identity for as long
// as the message lives; its warnings are kept with it and emitted with every request.

import {
  type AssistantMessage,
  type ContentPart,
  isSameOrigin,
  type Message,
  parsedJson,
  type SystemMessage,
} from "@rondo/core";
import type { Target } from "../../codec.ts";
import { jsonOf, objectIn } from "../../json-values.ts";
import { type Beginning, type BodyParts, bodyOf, KeptText } from "../../kept-text.ts";
import { goOn, noted } from "../bridges.ts";
import type { Warn, Warning, WarningCode } from "../warn.ts";
import { isBlank } from "./blank-text.ts";
import type { Block } from "./blocks.ts";
import type { Marked } from "./cache.ts";
import { type Laid, pairServerTools, type Waiting } from "./server-tools.ts";
import type { Answered, Turn } from "./turns.ts";

/** How the two protocols differ. */
export interface Dialect {
  /** @param place the turn's place in the history, if `namesFiles`; else the empty string */
  user(content: readonly ContentPart[], warn: Warn, place: string): Block[];
  assistant(message: AssistantMessage, calls: readonly Answered[], warn: Warn): Block[];
  /** The result block, and blocks of the same result that follow all results. */
  result(answered: Answered, message: AssistantMessage, warn: Warn): Block[];
  text(text: string): string;
  /** Blocks as a JSON list, with their cache marks: their own, or those of a message, by block index. */
  list(blocks: readonly Block[], marks?: ReadonlyMap<number, string>): string;
  /** Roles must alternate: neighbours of the same role are merged. */
  alternate: boolean;
  /** Files have names, which may not come twice in a request. Default: false. */
  namesFiles?: boolean;
  /** Whether a block (a call or a result) may not share a message with other kinds. Absent: all may. */
  standsAlone?(block: Block): boolean;
}

export interface WireMessage extends Marked {
  /** The same array in every request as long as nothing in it changed: its text is cached by it. */
  blocks: readonly Block[];
  hasResults: boolean;
  /** The index of the first turn in it; absent for a message that we added. */
  turn?: number;
}

/** A request's messages: the text of those that no longer change, and the others. */
export interface Conversation {
  before: Beginning;
  messages: WireMessage[];
}

interface Piece {
  /** The call ids with which it was made, or the place for which. */
  ids: string;
  blocks: Block[];
  warnings: Warning[];
}

/** The beginning of a history as it was last laid out; later messages cannot change it. */
interface Frozen {
  /** How many turns it holds. */
  length: number;
  /** The texts of its messages, each followed by a comma. */
  text: KeptText;
  warnings: [code: WarningCode, message: string][];
}

const nothing: Beginning = { text: "", bytes: undefined, rest: "" };

/** Makes wire messages from turns, and remembers the text of every message. */
export class Pieces {
  readonly #target: Target;
  readonly #dialect: Dialect;
  readonly #known = new WeakMap<Message, Piece>();
  readonly #joined = new WeakMap<AssistantMessage, { pieces: Block[][]; blocks: Block[] }>();
  readonly #texts = new WeakMap<readonly Block[], string>();

  /** By the history's turns, so that several histories can use one encoder alternately. */
  readonly #frozen = new WeakMap<readonly Turn[], Frozen>();

  constructor(target: Target, dialect: Dialect) {
    this.#target = target;
    this.#dialect = dialect;
  }

  /**
   * The messages of a request: the text of those that cannot change any more, and the rest. Neighbours are merged if the
   * protocol requires it, no message is empty, and the first and last are the user's, except for a paused answer.
   */
  lay(
    turns: readonly Turn[],
    warn: Warn,
    waiting: Waiting = { runs: false, inContainer: true },
  ): Conversation {
    const frozen = this.#frozen.get(turns);
    const before = frozen?.text.now() ?? nothing;
    const from = frozen?.length ?? 0;
    for (const [code, message] of frozen?.warnings ?? []) warn(code, message);
    const said: [turn: number, code: WarningCode, message: string][] = [];
    const laid: Laid[] = [];
    for (let at = from; at < turns.length; at++) {
      const turn = turns[at] as Turn;
      const noted: Warn = (code, message) => {
        said.push([at, code, message]);
        warn(code, message);
      };
      const blocks = this.#blocks(turn, at, noted);
      const reaches = blocks.some(
        (block) => (block.mark ?? block.opens ?? block.closes ?? block.calledBy) !== undefined,
      );
      laid.push({ turn, at, blocks, reaches });
    }
    if (laid.some(({ reaches }) => reaches))
      pairServerTools(laid, (one) => this.#isPaused(one), waiting, warn);

    const messages: WireMessage[] = [];
    laid.forEach((one, nth) => {
      this.#place(one, laid[nth + 1], messages);
    });
    if (frozen === undefined && messages[0]?.role === "assistant")
      messages.unshift(this.#madeUp("user", "(The beginning of this conversation is not shown.)"));
    this.#freeze(turns, frozen, messages, laid, said);
    const last = messages.at(-1);
    const end = laid.at(-1);
    if (last?.role === "assistant" && end !== undefined && this.#isPaused(end))
      last.blocks = trimmed(last.blocks);
    else if (last?.role !== "user") messages.push(this.#madeUp("user", goOn));
    return { before, messages };
  }

  #isPaused({ turn, blocks }: Laid): boolean {
    return (
      turn.kind === "assistant" &&
      turn.message.stop.kind === "pause" &&
      this.#target.compat?.resumesPauses !== false &&
      isSameOrigin(turn.message.origin, this.#target.origin) &&
      // An answer of thinking alone could not be continued.
      withoutLastThoughts(blocks).length > 0
    );
  }

  #place(one: Laid, next: Laid | undefined, messages: WireMessage[]): void {
    const { turn } = one;
    const isAnswer = turn.kind === "assistant";
    // A paused answer is sent as it came; any other answer may not end in thinking.
    const goesOn = (next === undefined || next.turn.kind === "assistant") && this.#isPaused(one);
    const blocks = isAnswer && !goesOn ? withoutLastThoughts(one.blocks) : one.blocks;
    if (blocks.length === 0) return;
    this.#apart(blocks).forEach((some, nth) => {
      const hasResults = turn.kind === "results" && nth === 0;
      const message: WireMessage = {
        role: isAnswer ? "assistant" : "user",
        blocks: some,
        hasResults,
        marks: new Map(),
        ...(nth === 0 ? { turn: one.at } : {}),
      };
      this.#put(message, turn.kind === "user", messages);
    });
  }

  /** The blocks grouped so that each group may be one message: calls or results, and what comes before or after them. */
  #apart(blocks: readonly Block[]): (readonly Block[])[] {
    const { standsAlone } = this.#dialect;
    const alone = standsAlone === undefined ? [] : blocks.filter(standsAlone);
    if (alone.length === 0 || alone.length === blocks.length) return [blocks];
    const others = blocks.filter((block) => !alone.includes(block));
    return others.some((block) => block.behind) ? [alone, others] : [others, alone];
  }

  #put(message: WireMessage, isPersons: boolean, messages: WireMessage[]): void {
    const { role, blocks } = message;
    const last = messages.at(-1);
    const { standsAlone } = this.#dialect;
    if (
      last?.role === role &&
      standsAlone !== undefined &&
      [last, message].some((one) => one.blocks.some(standsAlone))
    )
      messages.push(role === "user" ? this.#madeUp("assistant", noted) : this.#madeUp("user", goOn));
    // What a user says after results stays a message of its own: merged with the results it teaches the model to end its
    // turn there. A paused answer and its continuation stay two messages, so that the first keeps its bytes.
    const before = messages.at(-1);
    const merges = before?.role === role && (this.#dialect.alternate || (isPersons && !before.hasResults));
    if (merges && before !== undefined) before.blocks = [...before.blocks, ...blocks];
    else messages.push(message);
  }

  /**
   * Remembers for the next request what no later message can change: all before an answer that follows a user message and
   * is followed by two more. (The newest two user messages may be marked.) A caller's marks and tools that the provider ran
   * have effects over any distance: nothing is remembered if it contains them.
   */
  #freeze(
    turns: readonly Turn[],
    frozen: Frozen | undefined,
    messages: readonly WireMessage[],
    laid: readonly Laid[],
    said: readonly [number, WarningCode, string][],
  ): void {
    let users = 0;
    let end = messages.length - 1;
    for (; end > 0; end--) {
      const message = messages[end] as WireMessage;
      if (message.role === "user") users++;
      else if (users >= 2 && message.turn !== undefined && messages[end - 1]?.role === "user") break;
    }
    const length = messages[end]?.turn;
    if (end <= 0 || length === undefined) return;
    if (laid.some(({ at, reaches }) => at < length && reaches)) return;
    const text = frozen?.text ?? new KeptText();
    for (const message of messages.slice(0, end)) text.append(`${this.#text(message)},`);
    this.#frozen.set(turns, {
      length,
      text,
      warnings: [
        ...(frozen?.warnings ?? []),
        ...said
          .filter(([at]) => at < length)
          .map(([, code, message]): [WarningCode, string] => [code, message]),
      ],
    });
  }

  #madeUp(role: WireMessage["role"], text: string): WireMessage {
    return {
      role,
      blocks: [{ json: this.#dialect.text(text) }],
      hasResults: false,
      marks: new Map(),
    };
  }

  #blocks(turn: Turn, at: number, warn: Warn): readonly Block[] {
    const dialect = this.#dialect;
    switch (turn.kind) {
      case "user": {
        const { content } = turn.message;
        const place = dialect.namesFiles && content.some(({ type }) => type === "file") ? `turn ${at}` : "";
        return this.#keep(turn.message, place, warn, (warning) => dialect.user(content, warning, place));
      }
      case "assistant":
        return this.#keep(turn.message, turn.calls.map((call) => call.id).join(" "), warn, (warning) =>
          dialect.assistant(turn.message, turn.calls, warning),
        );
      case "results":
        return this.#results(turn.message, turn.calls, warn);
    }
  }

  #results(message: AssistantMessage, calls: readonly Answered[], warn: Warn): readonly Block[] {
    const pieces = calls.map((answered) => {
      const make = (warning: Warn): Block[] => this.#dialect.result(answered, message, warning);
      if (answered.result !== undefined) return this.#keep(answered.result, answered.id, warn, make);
      warn("missing_result", `call ${answered.id} (${answered.call.name}) had no result: an error stands in`);
      return make(warn);
    });
    if (pieces.length === 1) return pieces[0] ?? [];
    const known = this.#joined.get(message);
    if (known?.pieces.length === pieces.length && pieces.every((piece, at) => piece === known.pieces[at]))
      return known.blocks;
    const flat = pieces.flat();
    const blocks = flat.some((block) => block.behind)
      ? [...flat.filter((block) => !block.behind), ...flat.filter((block) => block.behind)]
      : flat;
    this.#joined.set(message, { pieces, blocks });
    return blocks;
  }

  /** The system prompt: the request's own, then the system messages at the start of the history. */
  system(own: string | undefined, lead: readonly SystemMessage[], warn: Warn): Block[] {
    const blocks = this.#dialect.user(
      lead.flatMap(({ content }) => content),
      warn,
      "",
    );
    return own === undefined || isBlank(own) ? blocks : [{ json: this.#dialect.text(own) }, ...blocks];
  }

  /** A request's body. @param head the body before its first message */
  body(head: string, { before, messages }: Conversation): { body: string; parts?: BodyParts } {
    return bodyOf(head, before, `${messages.map((message) => this.#text(message)).join(",")}]}`);
  }

  /** The text of a message, cached as long as its blocks stay the same and none of them is marked. */
  #text({ role, blocks, marks }: WireMessage): string {
    let text = marks.size > 0 ? undefined : this.#texts.get(blocks);
    if (text === undefined) {
      text = `{"role":"${role}","content":${this.#dialect.list(blocks, marks)}}`;
      if (marks.size === 0) this.#texts.set(blocks, text);
    }
    return text;
  }

  #keep(message: Message, ids: string, warn: Warn, make: (warn: Warn) => Block[]): Block[] {
    let piece = this.#known.get(message);
    if (piece === undefined || piece.ids !== ids) {
      const warnings: Piece["warnings"] = [];
      piece = { ids, warnings, blocks: make((code, text) => void warnings.push({ code, message: text })) };
      this.#known.set(message, piece);
    }
    for (const warning of piece.warnings) warn(warning.code, warning.message);
    return piece.blocks;
  }
}

/** True if the current turn has a call and began without thinking: older models then refuse a request for thinking. */
export function isThinkingLost(messages: readonly WireMessage[]): boolean {
  const last = messages.at(-1);
  const answer = messages.findLast((message) => message.role === "assistant");
  return last?.hasResults === true && answer?.blocks[0]?.thinking !== true;
}

/** Trims the end: a request may not end in the assistant's white space. */
function trimmed(blocks: readonly Block[]): readonly Block[] {
  const last = blocks.at(-1);
  const block = last === undefined ? undefined : objectIn(parsedJson(last.json));
  const text = block?.text;
  if (last === undefined || typeof text !== "string" || text.trimEnd() === text) return blocks;
  return [...blocks.slice(0, -1), { ...last, json: jsonOf({ ...block, text: text.trimEnd() }) }];
}

function withoutLastThoughts(blocks: readonly Block[]): readonly Block[] {
  const end = blocks.findLastIndex((block) => block.thinking !== true) + 1;
  return end === blocks.length ? blocks : blocks.slice(0, end);
}
