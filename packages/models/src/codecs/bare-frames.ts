// The room of frames that hold no JSON object and are no fault: signs of life, and the word for the end.
//
// Gateways keep a connection open with an event of a name of their own and whatever text in it, or with a line of data that
// says nothing (F148). OpenAI's word for the end is put behind other protocols as well, and not always spelled as it is there.

import type { Frame } from "../codec.ts";

const signOfLife: RegExp = /^(?:ping|heart[ _-]?beat|keep[ _-]?alive)$/i;
const end: RegExp = /^"?\[?done\]?"?$/i;

/** Whether a frame says nothing. @param data its data without the blanks around it, which begins with no brace */
export function isSilent({ event }: Pick<Frame, "event">, data: string): boolean {
  if (data === "" || data === "null" || data.startsWith(":")) return true;
  return event === undefined ? signOfLife.test(data) : signOfLife.test(event);
}

/** Whether a frame's data is the word for the end of a stream. */
export const isEndWord = (data: string): boolean => end.test(data);
