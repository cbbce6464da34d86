// The room of Google's turns: messages become `contents`, each encoded once.
//
// The wire's rules: roles are user and model, and the first turn is the user's. A turn with calls is followed at once by
// one user turn with its functionResponses and nothing else, one for each call in the same order; anything else the user
// says goes into a turn of its own. No part is empty, unless it has a signature. A response is an object. Opaque data goes
// back to its own origin only; for other calls Gemini 3 requires the documented sentinel on the first call of a turn.
// Pieces are cached by identity, so that a conversation's prefix keeps its bytes.

import {
  type AssistantMessage,
  callsOf,
  type FilePart,
  isSameOrigin,
  type JsonObject,
  type Message,
  type MessageList,
  type Part,
  type TextPart,
  type ToolCallPart,
  type ToolMessage,
  type UserMessage,
} from "@rondo/core";
import type { Target } from "../../codec.ts";
import { jsonOf, objectIn, textIn } from "../../json-values.ts";
import { argsJson } from "../args-json.ts";
import { noted } from "../bridges.ts";
import { isAccepted, whyLeftOut } from "../files.ts";
import { knownType, typeOfFile } from "../media-types.ts";
import { withSpeltRefs } from "../spelt-refs.ts";
import { foreignSignature } from "../thought-signatures.ts";
import type { Warn } from "../warn.ts";
import { wireName } from "./names.ts";
import type { GoogleTraits } from "./target.ts";
import { nativeParts } from "./wire.ts";

/** Added if the wire requires a user turn and the conversation has none. */
const continueText = "Continue.";

interface ToolPiece {
  call: ToolCallPart;
  response: string;
  /** Parts for a user turn after the results: media that may not be in a functionResponse here. */
  media: string[];
}

/** A conversation encoded up to some message. */
interface Progress {
  /** Index of the first message that is not in it. */
  readonly next: number;
  /** JSON texts, joined. */
  readonly turns: string;
  readonly system: readonly string[];
  readonly lastIsModel: boolean;
}

const start: Progress = { next: 0, turns: "", system: [], lastIsModel: false };

function grown(progress: Progress, turn: string): Progress {
  return {
    ...progress,
    turns: progress.turns === "" ? turn : `${progress.turns},${turn}`,
    lastIsModel: false,
  };
}

export class GoogleTurns {
  readonly #target: Target;
  readonly #traits: GoogleTraits;
  /** The messages in `#progress`. */
  #seen: Message[] = [];
  /** The last encoding without its last unit, which may still have been growing. */
  #progress: Progress = start;
  readonly #turns = new WeakMap<Message, string>();
  readonly #results = new WeakMap<ToolMessage, ToolPiece>();
  /** Calls whose id an earlier call of the same answer had: Gemini itself repeats ids, and refuses a turn with two of one. */
  readonly #repeated = new WeakSet<ToolCallPart>();
  /** Warnings are given when a message is first encoded, not again with every step. */
  #warn: Warn = () => {};

  constructor(target: Target, traits: GoogleTraits) {
    this.#target = target;
    this.#traits = traits;
  }

  /**
   * The turns as the inside of a JSON array, and the system texts before the first of them.
   * @param length how many of the messages are meant
   */
  encode(messages: MessageList, length: number, warn: Warn): { turns: string; system: readonly string[] } {
    this.#warn = warn;
    // Usually the conversation only grew: all but its last unit stays as it was.
    let progress = this.#resumed(messages, length);
    let lastUnit = progress;
    while (progress.next < length) {
      lastUnit = progress;
      progress = this.#unit(messages, progress);
    }
    for (let i = this.#seen.length; i < lastUnit.next; i++) this.#seen.push(messages.at(i)!);
    this.#progress = lastUnit;
    // Google does not answer a conversation that ends with the model's turn, nor an empty one.
    const { turns, system } =
      progress.turns === "" || progress.lastIsModel
        ? grown(progress, userTurn([textPart(continueText)]))
        : progress;
    return { turns, system };
  }

  /** The last encoding, as far as its messages are the same; the start if they are not. */
  #resumed(messages: MessageList, length: number): Progress {
    const seen = this.#seen.length;
    let same = 0;
    if (seen <= length) while (same < seen && messages.at(same) === this.#seen[same]) same++;
    if (same === seen) return this.#progress;
    this.#seen = [];
    return start;
  }

  /** A message, or an assistant message with calls and all their results: what is encoded together. */
  #unit(messages: MessageList, before: Progress): Progress {
    const message = messages.at(before.next)!;
    let progress: Progress = { ...before, next: before.next + 1 };
    if (message.role === "system" && progress.turns === "") {
      const texts = message.content.map((part) => part.text).filter((text) => text !== "");
      return { ...progress, system: [...progress.system, ...texts] };
    }
    if (message.role === "tool") {
      this.#warn(
        "orphan_result",
        `the result of call ${message.callId} has no call before it and was left out`,
      );
      return progress;
    }
    const turn = this.#turn(message);
    if (turn !== "") {
      // The model never speaks first, nor twice in a row.
      if (message.role === "assistant" && (progress.turns === "" || progress.lastIsModel))
        progress = grown(progress, userTurn([textPart(continueText)]));
      else if (message.role !== "assistant") progress = this.#bridged(progress);
      progress = { ...grown(progress, turn), lastIsModel: message.role === "assistant" };
    }
    if (message.role !== "assistant" || !message.content.some((part) => part.type === "tool_call"))
      return progress;
    const results: ToolMessage[] = [];
    let { next } = progress;
    for (let result = messages.at(next); result?.role === "tool"; result = messages.at(++next))
      results.push(result);
    for (const one of this.#responses(message, results)) progress = grown(this.#bridged(progress), one);
    return { ...progress, next, lastIsModel: false };
  }

  /** With a turn of the model's at its end, if roles must alternate: a text is not merged into results, which Gemini takes as their end. */
  #bridged(progress: Progress): Progress {
    const isNeeded = this.#traits.alternate && progress.turns !== "" && !progress.lastIsModel;
    return isNeeded ? grown(progress, roleTurn("model", [textPart(noted)])) : progress;
  }

  #turn(message: Exclude<Message, ToolMessage>): string {
    const known = this.#turns.get(message);
    if (known !== undefined) return known;
    const parts =
      message.role === "assistant"
        ? this.#modelParts(message)
        : this.#contentParts((message as UserMessage).content);
    const turn =
      parts.length === 0 ? "" : message.role === "assistant" ? roleTurn("model", parts) : userTurn(parts);
    this.#turns.set(message, turn);
    return turn;
  }

  #modelParts(message: AssistantMessage): string[] {
    const own = isSameOrigin(message.origin, this.#target.origin);
    this.#findRepeated(message);
    const parts: string[] = [];
    let firstCall = true;
    for (const part of message.content) {
      if (part.type === "tool_call") {
        parts.push(this.#callPart(part, own, firstCall));
        firstCall = false;
      } else {
        const text = this.#modelPart(part, own);
        if (text !== undefined) parts.push(text);
      }
    }
    return parts;
  }

  #modelPart(part: Exclude<Part, ToolCallPart>, own: boolean): string | undefined {
    const signs = own && this.#traits.ownSignatures;
    const signature = signs ? signatureOf(part) : undefined;
    switch (part.type) {
      case "text":
      case "refusal":
        return part.text === "" && signature === undefined ? undefined : textPart(part.text, signature);
      case "reasoning":
        if (!signs || (part.text === "" && signature === undefined)) return undefined;
        return jsonOf({ text: part.text, thought: true, ...signature });
      case "native":
        if (!own || !(part.opaque.thought === true || nativeParts.some((kind) => kind in part.opaque)))
          return undefined;
        return jsonOf(signs ? part.opaque : { ...part.opaque, thoughtSignature: undefined });
      case "file": {
        if (!own) return textPart(standIn(part));
        const media = this.#media(part);
        if (typeof media === "string") return textPart(media);
        return jsonOf({
          ...media,
          ...(part.opaque?.thought === true ? { thought: true } : {}),
          ...signature,
        });
      }
    }
  }

  #callPart(call: ToolCallPart, own: boolean, first: boolean): string {
    const signature =
      (own && this.#traits.ownSignatures ? signatureOf(call) : undefined) ??
      (first && this.#traits.needsSignatures ? { thoughtSignature: foreignSignature } : undefined);
    const id = this.#idOf(call, own);
    const head = `${id === undefined ? "" : `"id":${jsonOf(id)},`}"name":${jsonOf(wireName(call.name))}`;
    const tail = signature === undefined ? "" : `,"thoughtSignature":${jsonOf(signature.thoughtSignature)}`;
    return `{"functionCall":{${head},"args":${argsJson(call)}}${tail}}`;
  }

  #findRepeated(message: AssistantMessage): void {
    const seen = new Set<unknown>();
    for (const call of callsOf(message)) {
      const id = call.opaque?.id;
      if (id === undefined) continue;
      if (seen.has(id)) this.#repeated.add(call);
      seen.add(id);
    }
  }

  #idOf(call: ToolCallPart, own: boolean): string | undefined {
    const sent = this.#repeated.has(call) ? call.id : call.opaque?.id;
    const received = own && typeof sent === "string" ? sent : undefined;
    switch (this.#traits.callIds) {
      case "never":
        return undefined;
      case "always":
        return received ?? call.id;
      case "echo":
        return received;
    }
  }

  /** A turn with a response for each call, and a turn for the media that cannot be in it. */
  #responses(message: AssistantMessage, results: readonly ToolMessage[]): string[] {
    const own = isSameOrigin(message.origin, this.#target.origin);
    const left = new Set(results);
    const media: string[] = [];
    const responses = callsOf(message).map((call) => {
      const result = results.find((one) => left.has(one) && one.callId === call.id);
      if (result === undefined) {
        this.#warn(
          "missing_result",
          `call ${call.id} of ${call.name} has no result; an error result was added`,
        );
        return this.#response(call, own, { error: "no result was recorded for this call" }, []);
      }
      left.delete(result);
      const piece = this.#result(result, call, own);
      media.push(...piece.media);
      return piece.response;
    });
    for (const one of left)
      this.#warn("orphan_result", `the result of call ${one.callId} has no call before it and was left out`);
    return media.length === 0 ? [userTurn(responses)] : [userTurn(responses), userTurn(media)];
  }

  #result(result: ToolMessage, call: ToolCallPart, own: boolean): ToolPiece {
    const known = this.#results.get(result);
    if (known !== undefined && known.call === call) return known;
    const texts: string[] = [];
    const inside: JsonObject[] = [];
    const media: string[] = [];
    for (const part of result.content) {
      if (part.type === "text") {
        if (part.text !== "") texts.push(this.#traits.spellRefs ? withSpeltRefs(part.text) : part.text);
        continue;
      }
      const file = this.#media(part);
      if (typeof file === "string") texts.push(file);
      else if (this.#traits.mediaInResults && isTakenInResults(file)) inside.push(file);
      else {
        texts.push(`[${label(part)}: see the next user message]`);
        media.push(textPart(`[${label(part)}, returned by ${result.name}]`), jsonOf(file));
      }
    }
    const words = texts.join("\n") || (inside.length > 0 ? "(see the attached file)" : "(no output)");
    const key = this.#traits.resultKey;
    const response = { [result.isError && key === "output" ? "error" : key]: words };
    const piece = { call, response: this.#response(call, own, response, inside), media };
    this.#results.set(result, piece);
    return piece;
  }

  #response(call: ToolCallPart, own: boolean, response: JsonObject, parts: JsonObject[]): string {
    const id = this.#idOf(call, own);
    return jsonOf({
      functionResponse: {
        ...(id === undefined ? {} : { id }),
        name: wireName(call.name),
        response,
        ...(parts.length === 0 ? {} : { parts }),
      },
    });
  }

  #contentParts(content: readonly (TextPart | FilePart)[]): string[] {
    const parts: string[] = [];
    for (const part of content) {
      if (part.type === "text") {
        if (part.text !== "") parts.push(textPart(part.text));
        continue;
      }
      const media = this.#media(part);
      parts.push(typeof media === "string" ? textPart(media) : jsonOf(media));
    }
    return parts;
  }

  /** A file as inlineData or fileData; as a text note if it cannot be sent. */
  #media(part: FilePart): JsonObject | string {
    const mimeType = googleType(typeOfFile(part));
    if (!isAccepted(part, this.#target) || strangeImage.test(mimeType)) {
      this.#warn("unsupported_file", `${label(part)} was left out: ${whyLeftOut(part, this.#target)}`);
      return standIn(part);
    }
    // Only Vertex takes a name: the Gemini API refuses the member.
    const name = this.#traits.vertex && part.name !== undefined ? { displayName: part.name } : {};
    if (typeof part.data === "string") return { inlineData: { mimeType, data: part.data, ...name } };
    const inline = /^data:([^;,]*)(?:;[^;,]*)*;base64,(.*)$/s.exec(part.url ?? "");
    if (inline !== null)
      return {
        inlineData: {
          mimeType: googleType(knownType(inline[1] || mimeType)),
          data: inline[2] ?? "",
          ...name,
        },
      };
    if (part.url !== undefined) return { fileData: { mimeType, fileUri: part.url, ...name } };
    this.#warn("file_not_loaded", `the bytes of ${label(part)} were not loaded; the file was left out`);
    return standIn(part);
  }
}

function signatureOf(part: Part): { thoughtSignature: string } | undefined {
  const opaque = "opaque" in part ? part.opaque : undefined;
  const signature = opaque?.thoughtSignature;
  return typeof signature === "string" && signature !== "" ? { thoughtSignature: signature } : undefined;
}

function textPart(text: string, signature?: { thoughtSignature: string }): string {
  return jsonOf({ text, ...signature });
}

function roleTurn(role: "user" | "model", parts: readonly string[]): string {
  return `{"role":"${role}","parts":[${parts.join(",")}]}`;
}

function userTurn(parts: readonly string[]): string {
  return roleTurn("user", parts);
}

function label(part: FilePart): string {
  return part.name === undefined ? `a file of type ${part.mediaType}` : `${part.name} (${part.mediaType})`;
}

/** Google knows some kinds of text; any other is plain text to it. */
const googleType = (type: string): string =>
  type.startsWith("text/") && !/^text\/(?:html|css|csv|xml|rtf|markdown|javascript)$/.test(type)
    ? "text/plain"
    : type;

/** Images of types that no model of Google's takes. The refusal of most names none of them, so that it would come every time. */
const strangeImage: RegExp = /^image\/(?:bmp|x-ms-bmp|tiff|x-icon|vnd\.microsoft\.icon|avif)$/;

/** Whether a functionResponse takes a file of this type. Others are taken in a user's message alone. */
function isTakenInResults({ inlineData, fileData }: JsonObject): boolean {
  const type = textIn(objectIn(inlineData)?.mimeType) ?? textIn(objectIn(fileData)?.mimeType) ?? "";
  return /^(?:image\/(?:png|jpeg|webp)|application\/pdf|text\/plain)$/.test(type);
}

function standIn(part: FilePart): string {
  return `[${label(part)} cannot be shown]`;
}
