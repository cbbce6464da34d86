// The room of a whole Chat Completions request: settings, then the messages' pieces joined.
//
// The messages come last in the body, and a piece is made only once: the request of one step is a byte prefix of the next
// step's. For the same reason, what goes between messages (files of results, fillers) depends only on the messages before
// it.

import type { JsonObject, Message, ModelRequest } from "@rondo/core";
import type { Encoder, Target, WireRequest } from "../../codec.ts";
import { jsonOf } from "../../json-values.ts";
import { type Beginning, bodyOf, KeptText } from "../../kept-text.ts";
import { goOn, noted } from "../bridges.ts";
import { History } from "../history.ts";
import { hiddenOf, nothingTold, type Told, tell, tellsInPlace } from "../in-place.ts";
import { chatIds, functionIds, mistralIds, nameTable, withSigned } from "../openai/names.ts";
import { bodyHead, jsonHeaders } from "../openai/settings.ts";
import type { Warning } from "../warn.ts";
import { chatCompat } from "./compat.ts";
import { FunctionIds } from "./function-ids.ts";
import { type ChatPiece, type ChatRoom, chatPiece, systemPiece, userPiece } from "./messages.ts";
import { joinedAnswers } from "./neighbours.ts";
import { ChatTools, chatBody } from "./settings.ts";

const bridge: ChatPiece = { role: "assistant", json: jsonOf({ role: "assistant", content: noted }) };
const onward: ChatPiece = userPiece([{ type: "text", text: goOn }]);

/** Messages joined so far, each followed by a comma. The last one stays apart, because the next may be merged into it. */
interface Joined extends Told {
  closed: KeptText;
  last: ChatPiece | undefined;
  /** Files that must follow the last result of their turn. */
  files: JsonObject[];
  /** Calls that are sent in a message of their own, before the result of the first of them: by its id. */
  later: ChatPiece["later"];
  /** A message other than the system's was added. */
  begun: boolean;
  /** There are tool results. */
  results: boolean;
  /** Set if call ids name the function. */
  ids: FunctionIds | undefined;
}

const idForms = { openai: chatIds, mistral9: mistralIds, functions: functionIds };

function push(joined: Joined, piece: ChatPiece): void {
  if (joined.last !== undefined) joined.closed.append(`${joined.last.json},`);
  joined.last = piece;
}

export class ChatEncoder implements Encoder {
  readonly #room: ChatRoom;
  readonly #tools: ChatTools;
  /** Each with whether it was made as the first message. */
  readonly #pieces = new WeakMap<Message, { piece: ChatPiece | undefined; first: boolean }>();
  readonly #history = new History<Joined>();
  #system: { text: string; piece: ChatPiece } | undefined;
  #warnings: Warning[] = [];

  constructor(target: Target) {
    const compat = chatCompat(target);
    const ids = idForms[compat.idForm];
    this.#room = {
      target,
      compat,
      ids: compat.signedIds ? withSigned(ids) : ids,
      warn: (warning) => this.#warnings.push(warning),
    };
    this.#tools = new ChatTools(target, compat, nameTable(target.origin));
  }

  encode(request: ModelRequest): WireRequest {
    const { target, compat } = this.#room;
    const warnings: Warning[] = [];
    this.#warnings = warnings;
    const head = bodyHead(chatBody(request, target, compat, warnings));
    const { beginning, tail, results, told } = this.#messages(request);
    const before = `${head}${this.#tools.encode(request, warnings, results, told)},"messages":[`;
    return {
      path: "/chat/completions",
      headers: {
        ...(compat.initiatorHeader ? initiator(request, beginning.text + tail) : {}),
        ...jsonHeaders(request, target),
      },
      ...bodyOf(before, beginning, `${tail}]}`),
      warnings,
    };
  }

  #messages(
    request: ModelRequest,
  ): { beginning: Beginning; tail: string } & Pick<Joined, "results" | "told"> {
    const { compat } = this.#room;
    const whole = this.#joined(request, "");
    // A tool that is hidden now must not be told of.
    const hidden = hiddenOf(whole, request);
    const held = hidden.length === 0 ? whole : this.#joined(request, hidden.join(" "));
    // What only this request contains is joined after the part that it shares with the next one.
    const joined: Joined = { ...held, closed: new KeptText() };
    this.#flush(joined);
    if (compat.noAssistantLast && joined.last?.role === "assistant") this.#add(joined, onward);
    // No server accepts a request without messages: all texts may have been blank, or another model's reasoning.
    if ((compat.needsUser && !joined.begun) || joined.last === undefined) this.#add(joined, onward);
    const { results, told } = joined;
    return {
      beginning: held.closed.now(),
      tail: joined.closed.now().text + (joined.last?.json ?? ""),
      results,
      told,
    };
  }

  /** The messages of a request, as far as they cannot change any more. @param without what makes them differ from usual */
  #joined(request: ModelRequest, without: string): Joined {
    const { target, compat } = this.#room;
    const system = request.system?.trim() === "" ? undefined : request.system;
    const fresh = (): Joined => {
      const closed = new KeptText();
      const joined: Joined = {
        closed,
        last: undefined,
        files: [],
        ...nothingTold(),
        later: undefined,
        begun: false,
        results: false,
        ids: compat.idForm === "functions" ? new FunctionIds() : undefined,
      };
      if (system !== undefined) this.#add(joined, this.#systemPiece(system));
      return joined;
    };
    const places = tellsInPlace(target);
    return this.#history.take(request.messages, `${without}${system ?? ""}`, fresh, (to, message) => {
      this.#addMessage(to, message);
      if (places && message.role === "tool") tell(message, request, to);
    });
  }

  #addMessage(joined: Joined, message: Message): void {
    const piece = this.#piece(joined.ids?.named(message) ?? message, joined.last === undefined);
    if (piece === undefined) return;
    if (piece.role !== "tool") this.#flush(joined);
    if (piece.role !== "system") {
      // At the start, not at the end: there it would move with every step.
      if (this.#room.compat.needsUser && !joined.begun && piece.role !== "user") this.#add(joined, onward);
      joined.begun = true;
    }
    if (piece.role === "tool") joined.results = true;
    if (piece.role === "assistant") joined.later = piece.later;
    const call = piece.callId === undefined ? undefined : joined.later?.get(piece.callId);
    if (call !== undefined) this.#add(joined, call);
    this.#add(joined, piece);
    if (piece.files !== undefined) joined.files = [...joined.files, ...piece.files];
  }

  #flush(joined: Joined): void {
    const { files, telling } = joined;
    joined.files = [];
    joined.telling = [];
    if (telling.length > 0)
      this.#add(joined, { role: "system", json: this.#tools.told(telling, this.#warnings) });
    if (files.length > 0) this.#add(joined, userPiece(files));
  }

  #add(joined: Joined, piece: ChatPiece): void {
    const { compat } = this.#room;
    const { last } = joined;
    if (compat.bridgeToolUser && last?.role === "tool" && piece.role === "user") push(joined, bridge);
    if (compat.alternate && last?.role === piece.role) {
      if (piece.role === "user") {
        joined.last = userPiece([...(last.parts ?? []), ...(piece.parts ?? [])]);
        return;
      }
      const whole = piece.role === "assistant" ? joinedAnswers(last, piece) : undefined;
      if (whole !== undefined) {
        joined.last = whole;
        return;
      }
      if (piece.role === "assistant") push(joined, onward);
    }
    push(joined, piece);
  }

  #systemPiece(text: string): ChatPiece {
    if (this.#system?.text !== text) this.#system = { text, piece: systemPiece(text, this.#room, true) };
    return this.#system.piece;
  }

  #piece(message: Message, first: boolean): ChatPiece | undefined {
    let known = this.#pieces.get(message);
    if (known === undefined || (known.first !== first && message.role === "system")) {
      known = { piece: chatPiece(message, this.#room, first), first };
      this.#pieces.set(message, known);
    }
    return known.piece;
  }
}

/** Who makes the request: a user, or the agent going on by itself. Copilot bills only the former. */
function initiator(request: ModelRequest, messages: string): Record<string, string> {
  const last = request.messages.at(request.messages.length - 1);
  return {
    "x-initiator": last?.role === "user" ? "user" : "agent",
    ...(messages.includes('{"type":"image_url"') ? { "copilot-vision-request": "true" } : {}),
  };
}
