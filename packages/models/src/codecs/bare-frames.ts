// The room of frames that hold no JSON object and are no fault: signs of life, and the word for the end.
//
// Gateways keep a connection open with an event of a name of their own and whatever text in it, or with a line of data that
// says nothing (F148). OpenAI's word for the end is put behind other protocols as well, and not always spelled as it is there.

import type { Json } from "@rondo/core";
import type { Frame } from "../codec.ts";
import { objectEnd, objectIn, parseJson } from "../json-values.ts";

const signOfLife: RegExp = /^(?:ping|heart[ _-]?beat|keep[ _-]?alive)$/i;
const end: RegExp = /^"?\[?done\]?"?$/i;

/** Whether a frame says nothing. @param data its data without the blanks around it, which begins with no brace */
export function isSilent({ event }: Pick<Frame, "event">, data: string): boolean {
  if (isErrorEvent(event)) return false;
  if (data === "" || data === "null" || data.startsWith(":")) return true;
  return event === undefined ? signOfLife.test(data) : signOfLife.test(event);
}

/** Whether a frame's data is the word for the end of a stream. */
export const isEndWord = (data: string): boolean => end.test(data);

/** Whether an event is an error by its name, whatever it holds. */
export const isErrorEvent = (event: string | undefined): boolean =>
  event !== undefined && /^(?:error|exception)$/i.test(event);

/** The error of an event that is one by its name and holds no object: its words, or that it has none. Undefined for any other frame. */
export function bareError(
  { event }: Pick<Frame, "event">,
  data: string,
): { error: { message: string } } | undefined {
  if (!isErrorEvent(event)) return undefined;
  const value: Json | undefined = parseJson(data);
  const words = typeof value === "string" ? value : data === "null" ? "" : data;
  return { error: { message: words.trim() || "an error event came without a word of what failed" } };
}

/** What a frame holds that is no object: a list of objects, or several of them one behind another. Undefined for what is neither. */
export const piecesIn = (value: Json | undefined, data: string): readonly string[] | undefined =>
  Array.isArray(value) && value.length > 0 && value.every((one) => objectIn(one) !== undefined)
    ? value.map((one) => JSON.stringify(one))
    : gluedIn(data);

/** Objects, and the word for the end, that one frame holds one behind another: a proxy has lost what stood between. Undefined for what is no such frame. */
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
