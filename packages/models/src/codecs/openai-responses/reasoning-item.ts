// The room of a reasoning item as it goes back: what the server takes of it, and under which id.

import type { JsonObject } from "@rondo/core";
import { listIn, textIn } from "../../json-values.ts";
import type { OpenaiResponsesCompat } from "./settings.ts";

/** Whether the server can read it without having kept it. */
export const isEncrypted = (item: JsonObject | undefined): boolean =>
  typeof item?.encrypted_content === "string";

/** The reasoning item, as far as the server takes it back; undefined if nothing is left of it. */
export function reasoningTold(
  item: JsonObject | undefined,
  { plainReasoning, readableReasoning }: OpenaiResponsesCompat,
  stored: boolean,
): JsonObject | undefined {
  if (!isEncrypted(item) && !stored && !(plainReasoning && readableReasoning)) return undefined;
  if (item === undefined || readableReasoning) return item;
  const { content: _, ...closed } = item;
  return closed;
}

/**
 * A reasoning item as a request needs it. Gateways put into answers what OpenAI refuses to take back (a status, an id of
 * their own), leave out what it requires, and write null for what is absent, which xAI refuses. Encrypted reasoning needs
 * no id, but keeps one that is longer than OpenAI's, like Copilot's.
 */
export function reasoningItem({ status: _, ...item }: JsonObject): JsonObject {
  const sent: JsonObject = {};
  for (const [member, value] of Object.entries(item)) if (value !== null) sent[member] = value;
  const id = textIn(item.id) ?? "";
  if (isEncrypted(item) && id.length <= 64 && form(id, "rs") === undefined) delete sent.id;
  return { ...sent, summary: listIn(item.summary) };
}

/** The id, if the API accepts it for an item of this kind. */
export function form(id: string | undefined, prefix: string): string | undefined {
  return id?.startsWith(prefix) && /^[\w-]{1,64}$/.test(id) ? id : undefined;
}
