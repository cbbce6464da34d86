// The room of a whole Responses request: settings, then the input items joined.
//
// As in Chat Completions the input comes last and pieces are made once, so that a step's body begins as the last one did.

import type { JsonObject, Message, ModelRequest } from "@rondo/core";
import type { Encoder, Target, WireRequest } from "../codec.ts";
import { jsonOf } from "./openai-json.ts";
import { nameTable } from "./openai-names.ts";
import {
  customResult,
  type ResponsesPiece,
  type ResponsesRoom,
  responsesPiece,
  userItem,
} from "./openai-responses-items.ts";
import { isStored, ResponsesTools, responsesBody, responsesCompat } from "./openai-responses-settings.ts";
import { bodyHead, jsonHeaders, type Warning } from "./openai-settings.ts";

type Pieces = WeakMap<Message, { piece: ResponsesPiece | undefined }>;

export class ResponsesEncoder implements Encoder {
  readonly #room: ResponsesRoom;
  readonly #tools: ResponsesTools;
  // What reasoning may be sent depends on whether the provider stores items.
  readonly #pieces: { stored: Pieces; stateless: Pieces } = {
    stored: new WeakMap(),
    stateless: new WeakMap(),
  };
  #warnings: Warning[] = [];

  constructor(target: Target) {
    const compat = responsesCompat(target);
    this.#room = {
      target,
      compat,
      warn: (warning) => this.#warnings.push(warning),
    };
    this.#tools = new ResponsesTools(target, compat, nameTable(target.origin));
  }

  encode(request: ModelRequest): WireRequest {
    const { target, compat } = this.#room;
    const warnings: Warning[] = [];
    this.#warnings = warnings;
    const head = bodyHead(responsesBody(request, target, compat, warnings), jsonOf);
    const tools = this.#tools.encode(request);
    const input = this.#input(request).join(",");
    return {
      path: "/responses",
      headers: jsonHeaders(request, target),
      body: `${head}${tools},"input":[${input}]}`,
      warnings,
    };
  }

  #input(request: ModelRequest): string[] {
    const stored = isStored(request, this.#room.target);
    const out: string[] = [];
    const custom = new Set<string>();
    let files: JsonObject[] = [];
    const flush = (): void => {
      if (files.length > 0) out.push(userItem(files).json);
      files = [];
    };
    for (const message of request.messages) {
      const piece = this.#piece(message, stored);
      if (piece === undefined) continue;
      if (piece.role !== "tool") flush();
      for (const id of piece.custom ?? []) custom.add(id);
      out.push(message.role === "tool" && custom.has(message.callId) ? customResult(piece.json) : piece.json);
      if (piece.files !== undefined) files = [...files, ...piece.files];
    }
    flush();
    return out;
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
