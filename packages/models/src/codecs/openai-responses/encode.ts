// The room of a whole Responses request: settings, then the input items joined.
//
// As in Chat Completions the input comes last and pieces are made once, so that each step's body begins like the last
// one's.

import type { JsonObject, Message, ModelRequest } from "@rondo/core";
import type { Encoder, Target, WireRequest } from "../../codec.ts";
import { jsonOf } from "../../json-values.ts";
import { type Beginning, bodyOf, KeptText } from "../../kept-text.ts";
import { noted } from "../bridges.ts";
import { History } from "../history.ts";
import { hiddenOf, nothingTold, type Told, tell, tellsInPlace } from "../in-place.ts";
import { nameTable, responsesIds, withSigned } from "../openai/names.ts";
import { bodyHead, jsonHeaders } from "../openai/settings.ts";
import type { Warning } from "../warn.ts";
import {
  calledResult,
  customResult,
  type ResponsesPiece,
  type ResponsesRoom,
  responsesPiece,
  systemItem,
  userItem,
} from "./items.ts";
import { isStored, ResponsesTools, responsesBody, responsesCompat } from "./settings.ts";

type Pieces = WeakMap<Message, { piece: ResponsesPiece | undefined }>;

/** Items joined so far, separated by commas. */
interface Joined extends Told {
  items: KeptText;
  begun: boolean;
  /** The role of the last item. */
  last: Message["role"] | undefined;
  /** Ids of calls that were sent as custom tool calls. */
  custom: Set<string>;
  /** By call id: the caller of the last answer's calls, if that was a program. */
  callers: Map<string, JsonObject>;
  /** Files that must follow the last result of their turn. */
  files: JsonObject[];
  /** If roles must alternate: the content of the user's last message, to which more may be added. */
  open: JsonObject[];
  /** The ids of all items: a router may number those of each answer anew, and a second item of one id is refused. */
  ids: Set<string>;
}

function append(joined: Joined, json: string): void {
  joined.items.append(joined.begun ? `,${json}` : json);
  joined.begun = true;
}

/** Ends the user's last message. */
function close(joined: Joined): void {
  if (joined.open.length > 0) append(joined, userItem(joined.open).json);
  joined.open = [];
}

/** A result in the form that corresponds to its call. */
function asItsCall(callId: string, json: string, { custom, callers }: Joined): string {
  const caller = callers.get(callId);
  const called = caller === undefined ? json : calledResult(json, caller);
  return custom.has(callId) ? customResult(called) : called;
}

const onward: ResponsesPiece = userItem([{ type: "input_text", text: "Continue." }]);
/** Between results and a user, if nobody may speak there but the assistant. */
const bridge: ResponsesPiece = {
  role: "assistant",
  json: jsonOf({ type: "message", role: "assistant", content: noted }),
};

export class ResponsesEncoder implements Encoder {
  readonly #room: ResponsesRoom;
  readonly #tools: ResponsesTools;
  // Which reasoning may be sent depends on whether the provider stores items.
  readonly #pieces: { stored: Pieces; stateless: Pieces } = {
    stored: new WeakMap(),
    stateless: new WeakMap(),
  };
  readonly #history = new History<Joined>();
  #warnings: Warning[] = [];

  constructor(target: Target) {
    const compat = responsesCompat(target);
    this.#room = {
      target,
      compat,
      ids: compat.signedIds ? withSigned(responsesIds) : responsesIds,
      warn: (warning) => this.#warnings.push(warning),
    };
    this.#tools = new ResponsesTools(target, compat, nameTable(target.origin));
  }

  encode(request: ModelRequest): WireRequest {
    const { target, compat } = this.#room;
    const warnings: Warning[] = [];
    this.#warnings = warnings;
    const head = bodyHead(responsesBody(request, target, compat, warnings));
    const { beginning, tail, told } = this.#input(request);
    const before = `${head}${this.#tools.encode(request, told, warnings)},"input":[`;
    return {
      path: "/responses",
      headers: jsonHeaders(request, target),
      ...bodyOf(before, beginning, `${tail}]}`),
      warnings,
    };
  }

  #input(request: ModelRequest): { beginning: Beginning; tail: string; told: ReadonlySet<string> } {
    const { compat } = this.#room;
    const joined = this.#joined(request, "");
    // A tool that is hidden now must not be told of.
    const hidden = hiddenOf(joined, request);
    const held = hidden.length === 0 ? joined : this.#joined(request, hidden.join(" "));
    const { told } = held;
    const beginning = held.items.now();
    const rest = [...held.open, ...held.files];
    const last = [
      ...(held.telling.length === 0 ? [] : [this.#tools.told(held.telling, this.#warnings)]),
      ...(this.#bridges(held, "user") && held.files.length > 0 ? [bridge.json] : []),
      ...(rest.length === 0 ? [] : [userItem(rest).json]),
    ].join(",");
    // An input without items is refused: all texts may have been blank, or another model's reasoning.
    if (held.last === undefined && last === "")
      return { beginning, tail: held.begun ? `,${onward.json}` : onward.json, told };
    if (compat.noAssistantLast && held.last === "assistant")
      return { beginning, tail: `,${onward.json}`, told };
    return { beginning, tail: held.begun && last !== "" ? `,${last}` : last, told };
  }

  /** The items of a request, as far as they cannot change any more. @param without what makes it differ from usual */
  #joined(request: ModelRequest, without: string): Joined {
    const { target, compat } = this.#room;
    const stored = isStored(request, target);
    const prompt = compat.instructions || request.system?.trim() === "" ? undefined : request.system;
    const fresh = (): Joined => {
      const joined: Joined = {
        items: new KeptText(),
        begun: false,
        last: undefined,
        custom: new Set(),
        callers: new Map(),
        files: [],
        ...nothingTold(),
        open: [],
        ids: new Set(),
      };
      if (prompt !== undefined) this.#append(joined, systemItem(prompt, this.#room));
      return joined;
    };
    const key = `${without}${stored}${prompt === undefined ? "" : ` ${prompt}`}`;
    const places = tellsInPlace(target);
    return this.#history.take(request.messages, key, fresh, (to, message) => {
      this.#add(to, message, stored);
      if (places && message.role === "tool") tell(message, request, to);
    });
  }

  #add(joined: Joined, message: Message, stored: boolean): void {
    let piece = this.#piece(message, stored);
    if (piece?.ids?.some((id) => joined.ids.has(id)))
      piece = responsesPiece(message, this.#room, stored, joined.ids);
    if (piece === undefined) return;
    for (const id of piece.ids ?? []) joined.ids.add(id);
    if (piece.role !== "tool" && joined.telling.length > 0) {
      append(joined, this.#tools.told(joined.telling, this.#warnings));
      joined.telling = [];
    }
    if (this.#bridges(joined, piece.role)) this.#append(joined, bridge);
    if (piece.role !== "tool" && joined.files.length > 0) {
      const files = userItem(joined.files);
      joined.files = [];
      this.#append(joined, files);
    }
    for (const id of piece.custom ?? []) joined.custom.add(id);
    if (piece.role === "assistant") joined.callers = new Map(piece.callers);
    if (this.#room.compat.alternate && piece.role === "assistant" && joined.last === "assistant")
      this.#append(joined, onward);
    joined.last = piece.role;
    const json = message.role === "tool" ? asItsCall(message.callId, piece.json, joined) : piece.json;
    this.#append(joined, { ...piece, json });
    if (piece.files !== undefined) joined.files = [...joined.files, ...piece.files];
  }

  /** Whether a user speaks next, or files do in the user's name, where only the assistant may. */
  #bridges({ last, files }: Joined, next: Message["role"]): boolean {
    if (!this.#room.compat.bridgeToolUser || last !== "tool" || next === "tool") return false;
    return next === "user" || files.length > 0;
  }

  #append(joined: Joined, piece: ResponsesPiece): void {
    if (this.#room.compat.alternate && piece.parts !== undefined) {
      joined.open = [...joined.open, ...piece.parts];
      return;
    }
    close(joined);
    append(joined, piece.json);
  }

  #piece(message: Message, stored: boolean): ResponsesPiece | undefined {
    const pieces = stored ? this.#pieces.stored : this.#pieces.stateless;
    let known = pieces.get(message);
    if (known === undefined) {
      known = { piece: responsesPiece(message, this.#room, stored) };
      pieces.set(message, known);
    }
    return known.piece;
  }
}
