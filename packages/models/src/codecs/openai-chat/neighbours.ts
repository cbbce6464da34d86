// The room of neighbours: two answers in a row become one message, for a server whose template wants the roles to alternate (F128).
//
// An answer that ends in calls is followed by their results, so only one without calls has a neighbour.

import { type Json, type JsonObject, parsedJson } from "@rondo/core";
import { jsonOf } from "../../json-values.ts";
import type { ChatPiece } from "./messages.ts";

/** Both answers in one message; undefined if the first must stay as it is. */
export function joinedAnswers(first: ChatPiece, second: ChatPiece): ChatPiece | undefined {
  const before = parsedJson<JsonObject>(first.json);
  if (before.tool_calls !== undefined || before.audio !== undefined) return undefined;
  const after = parsedJson<JsonObject>(second.json);
  const content = joinedContent(before.content ?? "", after.content ?? "");
  return { ...second, json: jsonOf({ ...before, ...after, content }) };
}

function joinedContent(first: Json, second: Json): Json {
  if (typeof first !== "string" || typeof second !== "string") return [...parts(first), ...parts(second)];
  return first === "" || second === "" ? first + second : `${first}\n${second}`;
}

function parts(content: Json): Json[] {
  if (typeof content !== "string") return content as Json[];
  return content === "" ? [] : [{ type: "text", text: content }];
}
