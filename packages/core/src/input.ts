// The room of input: what a run may be started with, as messages.

import { repairHistory } from "./context/repair.ts";
import { copyJson } from "./copy-json.ts";
import { RondoError } from "./errors.ts";
import { harmlessResult } from "./harmless.ts";
import type { BlobRef, ContentPart, FilePart, Message, TextPart, UserMessage } from "./message.ts";
import { holdsFile, userText } from "./message.ts";

/** A file whose data may also be bytes. */
export type FileInput = Omit<FilePart, "data"> & { data?: string | Uint8Array | BlobRef };

/** A text, parts of one user message, or a whole message history. */
export type Input = string | readonly (TextPart | FileInput)[] | readonly Message[];

/** What a run starts with: new messages, or a history that replaces the session's. */
export interface Start {
  input: Message[];
  history?: Message[];
}

/**
 * Input as messages.
 * @throws RondoError `invalid_request` when there is nothing in it
 */
export function readInput(given: Input): Start {
  if (typeof given === "string") {
    if (given.trim() === "") throw new RondoError("invalid_request", "the task is empty: give a text");
    return { input: [userText(given.toWellFormed())] };
  }
  if (!Array.isArray(given) || given.length === 0)
    throw new RondoError("invalid_request", "the task is empty: give a text, parts, or messages");
  if (isHistory(given)) {
    const history = copyJson([...repairHistory(given.map(inText))]).map((message) =>
      message.role === "tool" ? harmlessResult(message) : message,
    );
    if (history.length === 0)
      throw new RondoError("invalid_request", "the history is empty: none of its messages says anything");
    return { input: [], history };
  }
  const content = (given as (TextPart | FileInput)[]).map(readPart);
  if (content.every((part) => part.type === "text" && part.text.trim() === ""))
    throw new RondoError("invalid_request", "the task is empty: none of its parts says anything");
  return { input: [{ role: "user", content }] };
}

/**
 * A text or parts as one user message.
 * @throws RondoError `invalid_request` when there is nothing in it, or when it is a history
 */
export function readMessage(given: string | readonly (TextPart | FileInput)[]): UserMessage {
  const { input, history } = readInput(given);
  if (history !== undefined)
    throw new RondoError(
      "invalid_request",
      "a word to a run is a text, or the parts of one message, not messages",
    );
  return input[0] as UserMessage;
}

function isHistory(given: readonly (Message | TextPart | FileInput)[]): given is readonly Message[] {
  return given.every((one) => typeof one === "object" && one !== null && "role" in one);
}

/** A part that is none would stand in the history for good, and every later request would be refused for it. */
export function readPart(part: TextPart | FileInput, at: number): ContentPart {
  const given = part as Partial<TextPart & Omit<FileInput, "type">> | null | undefined;
  if (part?.type === "text" && typeof given?.text === "string")
    // Half a character makes a whole request invalid.
    return { ...copyJson(part), text: part.text.toWellFormed() };
  if (part?.type === "file" && typeof given?.mediaType === "string" && holdsFile(part)) {
    return copyJson(fileInText(part));
  }
  throw new RondoError(
    "invalid_request",
    `part ${at} of the message cannot be used: give { type: "text", text }, or { type: "file", mediaType } with data or a url`,
  );
}

/** A message from elsewhere, its files as text. */
export function inText(message: Message): Message {
  const { content } = message as { content: unknown };
  if (!Array.isArray(content) || !content.some(isBytes)) return message;
  return { ...message, content: content.map((part) => (isBytes(part) ? fileInText(part) : part)) } as Message;
}

const isBytes = (part: Partial<FileInput> | null): part is FileInput => part?.data instanceof Uint8Array;

function fileInText({ data, ...part }: FileInput): FilePart {
  // Other programs put null where nothing is.
  if (data === undefined || data === null) return part;
  return { ...part, data: data instanceof Uint8Array ? base64(data) : data };
}

/** Bytes as base64, in pieces: a call with a million arguments would overflow the stack. */
export function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}
