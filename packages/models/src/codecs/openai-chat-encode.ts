// The room of a whole Chat Completions request: settings, then the messages' pieces joined.
//
// The messages come last in the body, and a piece once made is never made again: what is sent at one step is a byte
// prefix of what is sent at the next. What stands between messages (files of results, bridges) is decided by the
// neighbours on its left alone, for the same reason.

import type { JsonObject, Message, ModelRequest } from "@rondo/core";
import type { Encoder, Target, WireRequest } from "../codec.ts";
import { chatCompat } from "./openai-chat-compat.ts";
import { type ChatPiece, type ChatRoom, chatPiece, systemPiece, userPiece } from "./openai-chat-messages.ts";
import { ChatTools, chatBody } from "./openai-chat-settings.ts";
import { jsonOf } from "./openai-json.ts";
import { chatIds, mistralIds, nameTable } from "./openai-names.ts";
import { bodyHead, jsonHeaders, type Warning } from "./openai-settings.ts";

const bridge: ChatPiece = { role: "assistant", json: jsonOf({ role: "assistant", content: "Noted." }) };

export class ChatEncoder implements Encoder {
  readonly #room: ChatRoom;
  readonly #tools: ChatTools;
  readonly #pieces = new WeakMap<Message, { piece: ChatPiece | undefined }>();
  #system: { text: string; piece: ChatPiece } | undefined;
  #warnings: Warning[] = [];

  constructor(target: Target) {
    const compat = chatCompat(target);
    this.#room = {
      target,
      compat,
      ids: compat.idForm === "mistral9" ? mistralIds : chatIds,
      warn: (warning) => this.#warnings.push(warning),
    };
    this.#tools = new ChatTools(target, compat, nameTable(target.origin));
  }

  encode(request: ModelRequest): WireRequest {
    const { target, compat } = this.#room;
    const warnings: Warning[] = [];
    this.#warnings = warnings;
    const head = bodyHead(chatBody(request, target, compat, warnings), jsonOf);
    const tools = this.#tools.encode(request, warnings);
    const messages = this.#messages(request).join(",");
    return {
      path: "/chat/completions",
      headers: jsonHeaders(request, target),
      body: `${head}${tools},"messages":[${messages}]}`,
      warnings,
    };
  }

  #messages(request: ModelRequest): string[] {
    const { compat } = this.#room;
    const out: ChatPiece[] = [];
    let files: JsonObject[] = [];
    const add = (piece: ChatPiece): void => {
      const last = out.at(-1);
      if (compat.bridgeToolUser && last?.role === "tool" && piece.role === "user") out.push(bridge);
      if (compat.alternate && last?.role === piece.role) {
        if (piece.role === "user") {
          out[out.length - 1] = userPiece([...(last.parts ?? []), ...(piece.parts ?? [])]);
          return;
        }
        if (piece.role === "assistant") out.push(userPiece([{ type: "text", text: "Continue." }]));
      }
      out.push(piece);
    };
    const flush = (): void => {
      if (files.length > 0) add(userPiece(files));
      files = [];
    };
    if (request.system !== undefined && request.system.trim() !== "") add(this.#systemPiece(request.system));
    for (const message of request.messages) {
      const piece = this.#piece(message, out.length === 0);
      if (piece === undefined) continue;
      if (piece.role !== "tool") flush();
      add(piece);
      if (piece.files !== undefined) files = [...files, ...piece.files];
    }
    flush();
    if (compat.noAssistantLast && out.at(-1)?.role === "assistant")
      out.push(userPiece([{ type: "text", text: "Continue." }]));
    return out.map((piece) => piece.json);
  }

  #systemPiece(text: string): ChatPiece {
    if (this.#system?.text !== text) this.#system = { text, piece: systemPiece(text, this.#room, true) };
    return this.#system.piece;
  }

  #piece(message: Message, first: boolean): ChatPiece | undefined {
    let known = this.#pieces.get(message);
    if (known === undefined) {
      known = { piece: chatPiece(message, this.#room, first) };
      this.#pieces.set(message, known);
    }
    return known.piece;
  }
}
