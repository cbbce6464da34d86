// The room of answers that one model began and another finished.
//
// A block of its own marks where the provider handed over. What the first model had thought and asked for is its own
// affair: its calls are not to run, and going back it is refused. Its text stays, and so do tools whose result is there.

import type { AssistantMessage, JsonObject, Part } from "@rondo/core";
import { textIn } from "../../json-values.ts";

export const fallbackType = "fallback";

/** What of an answer may go back; the same answer where one model gave all of it. */
export function withoutDeclined(answer: AssistantMessage): AssistantMessage {
  const { content } = answer;
  const last = content.findLastIndex((part) => typeOf(part) === fallbackType);
  if (last === -1) return answer;
  const answered = new Set(content.map((part) => textIn(opaqueOf(part)?.tool_use_id)));
  return { ...answer, content: content.filter((part, at) => at >= last || !isDeclined(part, answered)) };
}

function isDeclined(part: Part, answered: ReadonlySet<string | undefined>): boolean {
  if (part.type === "reasoning") return true;
  const type = typeOf(part);
  if (type === "connector_text") return true;
  return type?.endsWith("tool_use") === true && !answered.has(textIn(opaqueOf(part)?.id));
}

function opaqueOf(part: Part): JsonObject | undefined {
  return part.type === "native" ? part.opaque : undefined;
}

const typeOf = (part: Part): string | undefined => textIn(opaqueOf(part)?.type);
