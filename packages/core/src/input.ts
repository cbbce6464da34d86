// The room of input: what a run may be started with, as messages.

import { repairHistory } from "./context/repair.ts";
import { RondoError } from "./errors.ts";
import { harmlessResult } from "./harmless.ts";
import type { BlobRef, ContentPart, FilePart, Message, TextPart, UserMessage } from "./message.ts";
import { userText } from "./message.ts";

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
    return { input: [userText(given)] };
  }
  if (!Array.isArray(given) || given.length === 0)
    throw new RondoError("invalid_request", "the task is empty: give a text, parts, or messages");
  if (isHistory(given)) {
    const history = [...repairHistory(given)].map((message) =>
      message.role === "tool" ? harmlessResult(message) : message,
    );
    if (history.length === 0)
      throw new RondoError("invalid_request", "the history is empty: none of its messages says anything");
    return { input: [], history };
  }
  return { input: [{ role: "user", content: (given as (TextPart | FileInput)[]).map(readPart) }] };
}

/** A text or parts as one user message. */
export function readMessage(given: string | readonly (TextPart | FileInput)[]): UserMessage {
  return readInput(given).input[0] as UserMessage;
}

function isHistory(given: readonly (Message | TextPart | FileInput)[]): given is readonly Message[] {
  return given.every((one) => "role" in one);
}

function readPart(part: TextPart | FileInput): ContentPart {
  if (part.type === "text" || !(part.data instanceof Uint8Array)) return part as ContentPart;
  return { ...part, data: base64(part.data) };
}

/** Bytes as base64, in pieces: a call with a million arguments would overflow the stack. */
export function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}
