// The room of what a message of Anthropic's family holds: its blocks, however they are written.

import type { JsonObject } from "@rondo/core";
import { objectsIn } from "../../json.ts";

/** The blocks of a message; a string is one of text. */
export function contentOf(message: JsonObject | undefined): JsonObject[] {
  return typeof message?.content === "string"
    ? [{ type: "text", text: message.content }]
    : objectsIn(message?.content);
}
