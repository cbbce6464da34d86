// The room of answers that one model began and another finished.
//
// A block of its own marks where the provider switched models. The first model's thinking and calls do not count: the calls
// must not run, and sent back they are refused. Its text stays, and so do tools whose result is there.

import type { AssistantMessage, JsonObject, Part } from "@rondo/core";
import { textIn } from "../../json-values.ts";

export const fallbackType = "fallback";

/** The parts of an answer that may be sent back; the same answer if one model wrote all of it. */
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
