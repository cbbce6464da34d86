// The room of arguments that end in a mark of the notation that their server parsed them from.
//
// Parsers of streams pass on the beginning of a tag as the end of a value: `ls</｜DSML｜parameter` is no command, and no file
// ends so. Whether the rest of the arguments came whole cannot be known either, so such a call never runs.

import type { Part } from "@rondo/core";
import type { IsSpokenOf } from "./end-tokens.ts";

/** The word in DeepSeek's marks; nothing else is written with it. */
const word = "DSML";
const markAtEnd = /<\/?\s?[|｜‖]{1,2}\s?DSML(?:\s?[|｜‖]{1,2}\s?\w{0,16}>?)?\s*$/;
/** The most characters that a mark has, with white space after it. */
const longest = 48;

const fault =
  "its server left a mark of its own at the end of the arguments, so that they may not be what was meant: make the call again, with all its arguments";

/** The part; a call whose arguments end in a mark must not run, unless somebody spoke of such marks in the conversation. */
export function withoutMarkedArgs(part: Part, isSpokenOf: IsSpokenOf): Part {
  if (part.type !== "tool_call" || part.argsError !== undefined) return part;
  const isMarked = Object.values(part.args).some(
    (value) => typeof value === "string" && markAtEnd.test(value.slice(-longest)),
  );
  return isMarked && !isSpokenOf(word) ? { ...part, args: {}, argsError: fault } : part;
}
