// The room of frames without a JSON object that are not errors: pings, and the end sentinel.
//
// Gateways keep a connection alive with events of a name of their own and any text, or with empty data lines (F148).
// OpenAI's `[DONE]` is appended to other protocols as well, and not always spelled that way.

import type { Json } from "@rondo/core";
import type { Frame } from "../codec.ts";
import { objectEnd, objectIn, parseJson } from "../json-values.ts";

const signOfLife: RegExp = /^(?:ping|heart[ _-]?beat|keep[ _-]?alive)$/i;
const end: RegExp = /^"?\[?done\]?"?$/i;

/** Whether a frame says nothing. @param data its trimmed data, which does not begin with a brace */
export function isSilent({ event }: Pick<Frame, "event">, data: string): boolean {
  if (isErrorEvent(event)) return false;
  if (data === "" || data === "null" || data.startsWith(":")) return true;
  return event === undefined ? signOfLife.test(data) : signOfLife.test(event);
}

/** Whether a frame's data is the end sentinel of a stream. */
export const isEndWord = (data: string): boolean => end.test(data);

/** Whether an event's name says that it is an error. */
export const isErrorEvent = (event: string | undefined): boolean =>
  event !== undefined && /^(?:error|exception)$/i.test(event);

/** The error of an event that is one by its name but has no object: its text, or that it has none. Undefined for any other frame. */
export function bareError(
  { event }: Pick<Frame, "event">,
  data: string,
): { error: { message: string } } | undefined {
  if (!isErrorEvent(event)) return undefined;
  const value: Json | undefined = parseJson(data);
  const words = typeof value === "string" ? value : data === "null" ? "" : data;
  return { error: { message: words.trim() || "an error event came without an explanation" } };
}

/** The objects in a frame that holds a list of them, or several in a row. Undefined for any other frame. */
export const piecesIn = (value: Json | undefined, data: string): readonly string[] | undefined =>
  Array.isArray(value) && value.length > 0 && value.every((one) => objectIn(one) !== undefined)
    ? value.map((one) => JSON.stringify(one))
    : gluedIn(data);

/** Objects, and the end sentinel, in a row within one frame: a proxy lost the separators. Undefined for any other frame. */
export function gluedIn(data: string): readonly string[] | undefined {
  const pieces: string[] = [];
  let from = 0;
  while (from < data.length) {
    const end = data[from] === "{" ? objectEnd(data, from) : -1;
    const piece = data.slice(from, end === -1 ? undefined : end);
    if (end === -1 && !isEndWord(piece)) return undefined;
    pieces.push(piece);
    from +=
      piece.length +
      (between.exec(data.slice(from + piece.length, from + piece.length + 40))?.[0].length ?? 0);
  }
  return pieces.length > 1 && pieces.every((piece) => isEndWord(piece) || parseJson(piece) !== undefined)
    ? pieces
    : undefined;
}

const between: RegExp = /^\s*(?:data:)?\s*/;
