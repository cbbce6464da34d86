// The room of encoding one message for Chat Completions: a canonical message in, a piece of JSON out.
//
// A piece depends only on its message (and the target), never on its neighbours, so it is made once and kept. Images of a
// tool result cannot be in a tool message, and nothing may come between the results of one turn: they are kept apart as
// `files`, and the caller places them after the last result (F117).

import {
  type AssistantMessage,
  type ContentPart,
  isSameOrigin,
  type Json,
  type JsonObject,
  type Message,
  type ToolCallPart,
  type ToolMessage,
} from "@rondo/core";
import type { Target } from "../../codec.ts";
import { jsonOf, listIn, objectIn, parseJson, textIn, wellFormedJson } from "../../json-values.ts";
import { neutralisedMessage } from "../../prompted/control-tokens.ts";
import { textOfFile } from "../files.ts";
import { answeredNote, soundFormat, type WireFile, wireFile } from "../openai/files.ts";
import { type IdForm, wireId, wireName } from "../openai/names.ts";
import { withSpeltRefs } from "../spelt-refs.ts";
import { foreignSignature } from "../thought-signatures.ts";
import type { Warning } from "../warn.ts";
import type { OpenaiChatCompat } from "./compat.ts";

export interface ChatPiece {
  role: "system" | "user" | "assistant" | "tool";
  json: string;
  /** A user message's content as parts, so that neighbours can be merged if roles must alternate. */
  parts?: JsonObject[];
  /** Content parts that must follow the results of the turn. */
  files?: JsonObject[];
  /** Of a result: the id of its call. */
  callId?: string;
  /** If a message may have only one call: all calls but the first, by their ids; each goes before its result. */
  later?: ReadonlyMap<string, ChatPiece>;
}

export interface ChatRoom {
  target: Target;
  compat: OpenaiChatCompat;
  ids: IdForm;
  warn(warning: Warning): void;
}

/** The piece of a message; undefined if nothing of it may be sent. */
export function chatPiece(given: Message, room: ChatRoom, first: boolean): ChatPiece | undefined {
  const message = room.compat.breakTokens && given.role !== "system" ? neutralisedMessage(given) : given;
  switch (message.role) {
    case "system": {
      const text = message.content.map((part) => part.text).join("\n");
      return text.trim() === "" ? undefined : systemPiece(text, room, first);
    }
    case "user":
      return userPiece(message.content.flatMap((part) => userPart(part, room)));
    case "assistant":
      return assistantPiece(message, room);
    case "tool":
      return toolPiece(message, room);
  }
}

export function systemPiece(text: string, room: ChatRoom, first: boolean): ChatPiece {
  const role = room.compat.systemRole;
  if (role === "user" || (!first && room.compat.systemFirstOnly)) return userPiece([textPart(text)]);
  return { role: "system", json: jsonOf({ role, content: text }) };
}

/** Text alone is sent as a string: many servers take no list (F124). */
export function userPiece(parts: JsonObject[]): ChatPiece {
  const kept = parts.filter((part) => part.type !== "text" || String(part.text).trim() !== "");
  if (kept.length === 0) kept.push(textPart("(no text)"));
  const flat = kept.every((part) => part.type === "text");
  const content: Json = flat ? kept.map((part) => part.text).join("\n") : kept;
  return { role: "user", json: jsonOf({ role: "user", content }), parts: kept };
}

function textPart(text: string): JsonObject {
  return { type: "text", text };
}

function userPart(part: ContentPart, room: ChatRoom): JsonObject[] {
  if (part.type === "text") return [textPart(part.text)];
  const file = wireFile(part, room.target);
  if ("note" in file) {
    room.warn({ code: file.code, message: file.note });
    return [textPart(file.note)];
  }
  const detail = objectIn(part.opaque)?.detail;
  return [filePart(file, room, typeof detail === "string" ? detail : undefined)];
}

function filePart(file: WireFile, room: ChatRoom, detail?: string): JsonObject {
  if (file.kind === "image")
    return { type: "image_url", image_url: { url: file.url, ...(detail === undefined ? {} : { detail }) } };
  const { audioFormats, audioUrls, videos } = room.compat;
  if (file.kind === "video" && videos === "video_url")
    return { type: "video_url", video_url: { url: file.url } };
  if (file.data === undefined) {
    const note = `[${file.name} (${file.mediaType}) is at ${file.url}]`;
    room.warn({ code: "unsupported_file", message: `${note}: only images can be sent by address here` });
    return textPart(note);
  }
  if (file.kind === "video" && videos === "none") return leftOut(file, "videos are not taken here", room);
  if (file.kind === "audio") {
    const format = soundFormat(file.mediaType);
    if (audioFormats.includes(format))
      return { type: "input_audio", input_audio: { data: audioUrls ? file.url : file.data, format } };
    return leftOut(file, `only ${audioFormats.join(", ")} are taken here`, room);
  }
  if (file.kind === "text") return textPart(`${file.name}:\n${textOfFile(file.data)}`);
  return { type: "file", file: { filename: file.name, file_data: file.url } };
}

/** The note that replaces a file that cannot be sent, with a warning. */
function leftOut(file: WireFile, why: string, room: ChatRoom): JsonObject {
  const note = `[${file.name} (${file.mediaType}) is left out: ${why}]`;
  room.warn({ code: "unsupported_file", message: note });
  return textPart(note);
}

function toolPiece(message: ToolMessage, room: ChatRoom): ChatPiece {
  const id = wireId(message.callId, room.ids);
  const spelt = (text: string): string => (room.compat.spellRefs ? withSpeltRefs(text) : text);
  const texts: string[] = [];
  const files: JsonObject[] = [];
  for (const part of message.content.flatMap((one) => userPart(one, room)))
    if (part.type === "text") texts.push(spelt(String(part.text)));
    else files.push(part);
  const inPlace = room.compat.toolImages && files.length > 0;
  if (files.length > 0 && !inPlace)
    texts.push(
      `[${files.length === 1 ? "a file" : `${files.length} files`} of this result: in the message after the results]`,
    );
  const text = texts.join("\n");
  const content: Json = inPlace
    ? [...texts.map(textPart), ...files]
    : text.trim() === ""
      ? "(no output)"
      : text;
  const name = room.compat.toolNames ? { name: wireName(message.name) } : {};
  const json = jsonOf({ role: "tool", tool_call_id: id, ...name, content });
  if (files.length === 0 || inPlace) return { role: "tool", json, callId: id };
  return {
    role: "tool",
    json,
    callId: id,
    files: [textPart(`Of the result of ${wireName(message.name)} (${id}):`), ...files],
  };
}

/** An assistant message, divided as this protocol requires. */
interface Said {
  text: string;
  calls: JsonObject[];
  reasoning: string;
  details: Json[];
  /** Claude's thinking blocks, as LiteLLM sent them. */
  blocks: Json[];
  /** Claude's thinking as parts of the content, as Databricks sent them. */
  parts: Json[];
  opaque: Json | undefined;
  audio: Json | undefined;
}

/** OpenAI's models make more calls at once than OpenAI takes back in one message. */
const mostCalls = 128;

function assistantPiece(message: AssistantMessage, room: ChatRoom): ChatPiece | undefined {
  const { compat } = room;
  const said = saidIn(message, room);
  const { calls, audio } = said;
  const text = sentText(said, room);
  const blank = text.trim() === "";
  // A blank message says nothing, and many servers refuse it (F122, F123).
  if (blank && calls.length === 0 && audio === undefined) return undefined;
  const thought = thoughtTags(said, compat);
  const nothing = compat.nullContent ? null : "";
  const most = compat.singleCalls ? 1 : mostCalls;
  const together = calls.slice(0, most);
  const json = jsonOf({
    role: "assistant",
    content: contentOf(
      [...thoughtParts(said, compat), ...said.parts],
      blank && thought === "" ? nothing : thought + text,
    ),
    ...(audio === undefined ? {} : { audio: { id: audio } }),
    ...(calls.length === 0 ? {} : { tool_calls: together }),
    // Only the server that sent them gets them back.
    ...(said.blocks.length === 0 ? {} : { thinking_blocks: said.blocks }),
    ...echoed(said, compat),
  });
  if (together.length === calls.length) return { role: "assistant", json };
  const fill = echoed({ ...said, reasoning: "", details: [], opaque: undefined }, compat);
  const later = new Map<string, ChatPiece>();
  for (let at = most; at < calls.length; at += most) {
    const some = { role: "assistant", content: nothing, tool_calls: calls.slice(at, at + most), ...fill };
    later.set(String(calls[at]?.id), { role: "assistant", json: jsonOf(some) });
  }
  return { role: "assistant", json, later };
}

/** A text, behind the parts that have to be before it. */
const contentOf = (parts: readonly Json[], text: string | null): Json =>
  parts.length === 0 ? text : [...parts, ...(text ? [textPart(text)] : [])];

function saidIn(message: AssistantMessage, room: ChatRoom): Said {
  const own = isSameOrigin(message.origin, room.target.origin);
  const said: Said = {
    text: "",
    calls: [],
    reasoning: "",
    details: [],
    blocks: [],
    parts: [],
    opaque: undefined,
    audio: undefined,
  };
  let spoken: JsonObject | undefined;
  for (const part of message.content) {
    if (part.type === "text" || part.type === "refusal") said.text += part.text;
    else if (part.type === "tool_call") said.calls.push(wireCall(part, own, room));
    else if (part.type === "reasoning" && own) {
      said.reasoning += part.text;
      said.opaque = part.opaque?.reasoning_opaque ?? said.opaque;
      said.details.push(...listIn(part.opaque?.reasoning_details));
      said.blocks.push(...listIn(part.opaque?.thinking_blocks));
      said.parts.push(...listIn(part.opaque?.content_parts));
    } else if (part.type === "file") {
      const { note, code } = answeredNote(part);
      room.warn({ code, message: note });
      said.text += said.text === "" ? note : `\n${note}`;
    } else if (part.type === "native" && part.kind === "audio" && own) spoken = objectIn(part.opaque.audio);
  }
  const transcript = textIn(spoken?.transcript) ?? "";
  if (spoken !== undefined && isLost(spoken, room)) said.text ||= transcript;
  else said.audio = spoken?.id;
  // Its transcript is known by the audio's id.
  if (said.audio !== undefined && said.text === transcript) said.text = "";
  if (room.compat.signCalls && said.calls.every((call) => call.extra_content === undefined))
    for (const call of said.calls) call.extra_content = { google: { thought_signature: foreignSignature } };
  return said;
}

/** Whether the server no longer has the sound of an answer. */
const isLost = ({ id, expires_at: until }: JsonObject, { compat }: ChatRoom): boolean =>
  compat.lostAudio.includes(String(id)) || (typeof until === "number" && until <= compat.audioExpiredAt);

/** The text, if this server takes it beside calls. */
function sentText({ text, calls }: Said, { target, compat, warn }: ChatRoom): string {
  if (compat.textBesideCalls || calls.length === 0 || text.trim() === "") return text;
  warn({
    code: "text_dropped",
    message: `${target.origin.provider} takes no text beside calls: "${text.trim().slice(0, 40)}" is left out`,
  });
  return "";
}

/** Reasoning as the first part of the content, if this server requires it there. Mistral takes one such part, and no second. */
function thoughtParts({ reasoning, calls }: Said, compat: OpenaiChatCompat): Json[] {
  if (compat.echoReasoning !== "thinking_parts" || reasoning === "") return [];
  if (compat.echoReasoningOn !== "all" && calls.length === 0) return [];
  return [{ type: "thinking", thinking: [textPart(reasoning)] }];
}

/** Reasoning as a block at the start of the content, if this server requires it there. */
function thoughtTags({ reasoning, calls }: Said, compat: OpenaiChatCompat): string {
  if (compat.echoReasoning !== "think_tags" || reasoning === "") return "";
  return compat.echoReasoningOn === "all" || calls.length > 0 ? `<think>${reasoning}</think>\n\n` : "";
}

/** Reasoning in the field that this server requires, or nothing: the wrong field is refused (F104, F105). */
function echoed({ reasoning, details, opaque, calls }: Said, compat: OpenaiChatCompat): JsonObject {
  const hasCalls = calls.length > 0;
  const field = compat.echoReasoning;
  if (field === "none" || field === "think_tags" || field === "thinking_parts") return {};
  if (field === "reasoning_details") return details.length === 0 ? {} : { reasoning_details: details };
  if (field === "reasoning_text")
    return opaque === undefined ? {} : { reasoning_text: reasoning, reasoning_opaque: opaque };
  if (!hasCalls && compat.echoReasoningOn !== "all") return {};
  if (reasoning !== "") return { [field]: reasoning };
  return compat.reasoningFill === null ? {} : { [field]: compat.reasoningFill };
}

function wireCall(call: ToolCallPart, own: boolean, room: ChatRoom): JsonObject {
  return {
    ...(own ? call.opaque : {}),
    id: wireId(call.id, room.ids),
    type: "function",
    function: {
      name: wireName(call.name),
      arguments: room.compat.objectArguments ? argumentsObject(call) : argumentsText(call),
    },
  };
}

/**
 * A call's arguments as the text of a JSON object: the model's own text if it is one, because long numbers would not
 * survive parsing (F093), otherwise `{}`, because servers parse the history again (F097). White space at the end is left
 * out: xAI refuses it as trailing characters.
 */
export function argumentsText(call: ToolCallPart): string {
  if (call.argsError !== undefined) return "{}";
  if (call.rawArgs !== "" && objectIn(parseJson(call.rawArgs)) !== undefined)
    return wellFormedJson(call.rawArgs.trim());
  return jsonOf(call.args);
}

/** The same as a value, for servers whose templates iterate over it. Long numbers lose their last digits. */
const argumentsObject = ({ args, argsError }: ToolCallPart): JsonObject =>
  argsError === undefined ? args : {};
