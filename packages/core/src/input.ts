// The room of input: what a run may be started with, converted to messages.

import { foreignWord } from "./checks/other-words.ts";
import { repairHistory } from "./context/repair.ts";
import { invalidRequest, messageOf, type RondoError } from "./errors.ts";
import { unwrapped } from "./input/file-content.ts";
import { sanitizedResult } from "./input/sanitize.ts";
import { base64, isBytes } from "./json/base64.ts";
import { jsonCopy } from "./json/copy.ts";
import { classOf, isObject } from "./json/object.ts";
import {
  type AssistantMessage,
  type BlobRef,
  type ContentPart,
  type FilePart,
  holdsFile,
  isRole,
  type JsonObject,
  type Message,
  type Part,
  type TextPart,
  type ToolMessage,
  type UserMessage,
  userText,
} from "./message.ts";

/** A file whose data may also be bytes. */
export type FileInput = Omit<FilePart, "data"> & { data?: string | Uint8Array | BlobRef };

/**
 * A message of a given history. `content` may be a string instead of one text part, files of a user may be bytes, and
 * members that only Rondo's own messages have may be left out.
 */
export type MessageInput =
  | Message
  // The row of a chat as most programs keep it: one type for all roles.
  | { role: "system" | "user" | "assistant"; content: string }
  | { role: "user"; content: (TextPart | FileInput)[] }
  | (Omit<Partial<AssistantMessage>, "content" | "role"> & { role: "assistant"; content: string | Part[] })
  | (Omit<ToolMessage, "content" | "isError"> & { content: string | ContentPart[]; isError?: boolean });

/** What `run` and `send` take: a string, parts of one user message, or a whole history of messages. */
export type Input = string | readonly (TextPart | FileInput)[] | readonly MessageInput[];

/** What a run starts with: new messages, or a history that replaces the session's. */
export interface Start {
  input: Message[];
  history?: Message[];
}

/**
 * Converts input to messages.
 * @throws RondoError `invalid_request` if it is empty
 */
export function readInput(given: Input): Start {
  if (isHistory(given)) return { input: [], history: readHistory(given) };
  return { input: [messageOfUser(given, "the task", "give a text, a list of parts, or a list of messages")] };
}

/**
 * Converts a string or parts to one user message.
 * @throws RondoError `invalid_request` if it is empty, or a history
 */
export function readMessage(given: string | readonly (TextPart | FileInput)[]): UserMessage {
  const forms = "give a text, or the parts of one message";
  if (isHistory(given)) throw invalidRequest(`the message is a list of messages: ${forms}`);
  return messageOfUser(given, "the message", forms);
}

function isHistory(given: Input): given is readonly MessageInput[] {
  return (
    Array.isArray(given) &&
    given.length > 0 &&
    given.every((one) => typeof one === "object" && one !== null && "role" in one)
  );
}

function readHistory(given: readonly MessageInput[]): Message[] {
  const own = given.map((message, at) => {
    refuseForeign(message, at);
    // Repair supplies what is missing in it.
    return ownPart(inText(message as Message), `message ${at}`);
  });
  const history = repairHistory(own).map((message) =>
    message.role === "tool" ? sanitizedResult(message) : message,
  );
  if (history.length === 0) throw invalidRequest("the history is empty: none of its messages says anything");
  return history;
}

/** @param what names the value in errors; `forms`: its valid forms */
function messageOfUser(given: unknown, what: string, forms: string): UserMessage {
  const empty = (): RondoError => invalidRequest(`${what} is empty: ${forms}`);
  if (typeof given === "string") {
    if (given.trim() === "") throw empty();
    return userText(given.toWellFormed());
  }
  if (given === undefined || given === null) throw empty();
  if (!Array.isArray(given))
    throw invalidRequest(`${what} is ${shownOf(given)}: ${forms}${insteadOf(given)}`);
  const content = (given as (TextPart | FileInput)[]).map(readPart);
  if (content.every((part) => part.type === "text" && part.text.trim() === "")) throw empty();
  return { role: "user", content };
}

/** What of an object is meant: other libraries take `{ prompt }` or `{ messages }`. */
function insteadOf(given: unknown): string {
  if (!isObject(given)) return "";
  if ("role" in given) return "; put it in [ ]";
  const held = ["prompt", "messages", "input"].find((name) => name in given);
  return held === undefined ? "" : `; give its ${held} alone`;
}

function shownOf(given: unknown): string {
  if (typeof given === "function") return "a function";
  if (typeof given === "string") return JSON.stringify(given);
  if (typeof given !== "object" || given === null) return String(given);
  const kind = classOf(given);
  return kind === "Object" ? "an object" : `an object of the kind ${kind}`;
}

const partTypes: readonly string[] = [
  "text",
  "reasoning",
  "tool_call",
  "file",
  "refusal",
  "native",
] satisfies Part["type"][];
const partForms = 'is { type: "text", text }, or { type: "file", mediaType } with data or a url';
const callForm =
  'a call is a part { type: "tool_call", id, name, args, rawArgs }, and its result a message { role: "tool", callId, name, content }';

/**
 * A message in another library's format is refused, not repaired: repair would drop what it does not understand, such as all
 * calls of a conversation.
 */
function refuseForeign(message: MessageInput, at: number): void {
  const { role, content, ...rest } = message as unknown as Readonly<Record<string, unknown>>;
  const wrong = (why: string): RondoError => invalidRequest(`message ${at} cannot be used: ${why}`);
  if (typeof role === "string" && !isRole(role))
    throw wrong(`its role is ${JSON.stringify(role)}, and system, user, assistant or tool is needed`);
  if (content === undefined && Array.isArray(rest.parts)) throw wrong("it has parts, and content is needed");
  if (Array.isArray(rest.tool_calls) && rest.tool_calls.length > 0)
    throw wrong(`its calls are in tool_calls; ${callForm}`);
  const parts: unknown[] = Array.isArray(content) ? content : [];
  for (const part of parts) {
    const { type } = Object(part) as { type?: unknown };
    if (typeof type === "string" && !partTypes.includes(type))
      throw wrong(
        `a part of type ${JSON.stringify(type)} is not one of ${partTypes.join(", ")}; ${role === "user" ? `a user's ${partForms}` : callForm}`,
      );
    if (type === "file" && !isFile(part) && holdsMore(part as FileInput))
      throw wrong(`a part of it ${partForms} (${lackOf(part)})`);
    const foreign = role === "user" ? foreignWord(Object(part)) : undefined;
    if (foreign !== undefined) throw wrong(foreign);
  }
  if (role === "tool" && rest.callId === undefined && (rest.tool_call_id ?? rest.toolCallId) !== undefined)
    throw wrong(`its callId is missing; ${callForm}`);
}

/** Refuses invalid parts: stored in the history, one would make every later request fail. */
export function readPart(part: TextPart | FileInput, at: number): ContentPart {
  const foreign = foreignWord(Object(part));
  if (foreign !== undefined) throw invalidRequest(`part ${at} of the message cannot be used: ${foreign}`);
  if (part?.type === "text" && typeof part.text === "string")
    // Half a character makes a whole request invalid.
    return { ...ownPart(part, `part ${at}`), text: part.text.toWellFormed() };
  if (isFile(part)) return ownPart(fileInText(part), `part ${at}`);
  throw invalidRequest(`part ${at} of the message cannot be used: one ${partForms} (${lackOf(part)})`);
}

const isFile = (part: unknown): part is FileInput => {
  const { type, mediaType, ...held } = Object(part) as { [Name in keyof FileInput]?: unknown };
  return type === "file" && typeof mediaType === "string" && holdsFile(held);
};

/** Whether a file has content in another form. A file without content is left out. */
const holdsMore = (part: FileInput): boolean => Object(part.data) === part.data || holdsFile(part);

/** Why a value is not a part. */
function lackOf(part: unknown): string {
  const { type, mediaType, data, url } = Object(part) as { [Name in keyof FileInput]?: unknown };
  const is = (name: string, value: unknown): string => `its ${name} is ${shownOf(value)}`;
  if (typeof part !== "object" || part === null) return `it is ${shownOf(part)}`;
  if (type === "text") return is("text", (part as Partial<TextPart>).text);
  if (type !== "file" || typeof mediaType !== "string")
    return type === "file" ? is("mediaType", mediaType) : is("type", type);
  if (data !== undefined && data !== null) return `${is("data", data)}: base64 or a Uint8Array is needed`;
  return is("url", url);
}

/** A message from elsewhere, with its files as base64. */
export function inText(message: Message): Message {
  const { content } = message as { content: unknown };
  if (!Array.isArray(content) || !content.some(isUnread)) return message;
  return {
    ...message,
    content: content.map((part) => (isUnread(part) ? fileInText(part) : part)),
  } as Message;
}

const isUnread = (part: Partial<FileInput> | null): part is FileInput =>
  part?.type === "file" && (isBytes(part.data) || unwrapped(part) !== part);

function fileInText(given: FileInput): FilePart {
  const { data, ...part } = unwrapped(given);
  // Other programs use null where there is no value.
  if (data === undefined || data === null) return part;
  return { ...part, data: isBytes(data) ? base64(data) : data };
}

/**
 * Arguments that a caller gives a call in place of its own.
 * @throws RondoError `invalid_request` if they are invalid: no journal could store them, and the run could not continue
 */
export function readArgs(given: JsonObject): JsonObject {
  const wrong = (why: string): RondoError =>
    invalidRequest(`edit: the arguments must be an object of plain JSON: ${why}`);
  let args: JsonObject | undefined;
  try {
    args = jsonCopy(given, "args");
  } catch (thrown) {
    throw wrong(messageOf(thrown));
  }
  if (!isObject(args)) throw wrong(`not ${JSON.stringify(args)}`);
  return args;
}

/**
 * A copy of the given value: what JSON cannot hold is left out. @throws RondoError `invalid_request` for a value that no
 * journal could store
 */
function ownPart<Part>(part: Part, where: string): Part {
  try {
    return jsonCopy(part, "", "lenient");
  } catch (thrown) {
    throw invalidRequest(`${where} cannot be used: ${messageOf(thrown)}`);
  }
}
