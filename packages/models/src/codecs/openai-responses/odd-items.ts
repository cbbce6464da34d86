// The room of items that gateways translate from another protocol and leave in that one's form: a message without its type,
// a call in a function of its own, or within a message.

import type { Json, JsonObject } from "@rondo/core";
import { argsIn, isCallType } from "../../answer/call-args.ts";
import { listIn, objectIn } from "../../json-values.ts";

/** The item in the protocol's form: a message has its type, and a call its name and arguments. */
export function plainItem(given: Json | undefined): JsonObject | undefined {
  const item = objectIn(given);
  if (item?.type === undefined && item?.role === "assistant") return { ...item, type: "message" };
  if (item === undefined || !isCall(item)) return item;
  const { function: told, ...rest } = item;
  const plain: JsonObject = { ...objectIn(told), ...rest, type: "function_call" };
  if (item.type !== plain.type) plain.call_id = item.call_id ?? item.id ?? null;
  const args = argsIn(plain, "arguments");
  return args === undefined ? plain : { ...plain, arguments: args };
}

/** The items, and behind them the calls within the messages among them. */
export function withInnerCalls(items: readonly Json[]): readonly Json[] {
  return [...items, ...items.flatMap((item) => innerCalls(objectIn(item)))];
}

/** The calls within a message. */
export function innerCalls(message: JsonObject | undefined): JsonObject[] {
  if (message?.type !== "message") return [];
  return [...listIn(message.content), ...listIn(message.tool_calls)].flatMap((given) => {
    const call = objectIn(given);
    const plain = call !== undefined && isCall(call) ? plainItem(call) : undefined;
    return plain?.name ? [plain] : [];
  });
}

/** Whether an item, or a part of a message, is a call. */
export const isCall = ({ type }: JsonObject): boolean => isCallType(type);
