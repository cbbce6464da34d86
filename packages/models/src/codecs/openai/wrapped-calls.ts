// The room of calls in a wrapper: GPT may write several calls as one, of a tool that it was not offered. Each in it is a call.

import type { JsonObject, ToolCallPart } from "@rondo/core";
import { listIn, objectIn, textIn } from "../../json-values.ts";
import type { NameTable } from "./names.ts";

const wrapper: RegExp = /^(?:multi_tool_use[._])?parallel$/;
const prefix = "functions.";

/** The calls in a call, or the call itself, if it is no wrapper of calls alone. */
export function unwrapped(call: ToolCallPart, names: NameTable): ToolCallPart[] {
  const isWrapper = wrapper.test(call.name) && call.argsError === undefined && !names.offers(call.name);
  const uses = isWrapper ? usesIn(call.args) : [];
  if (uses.length === 0) return [call];
  // What is known of the wrapper's own item is not true of its calls, but for what stood before it.
  const after = call.opaque?.after;
  return uses.map(({ name, args }, at) => ({
    type: "tool_call",
    id: call.id === "" ? "" : `${call.id}_${at}`,
    name: names.own(name),
    args,
    rawArgs: JSON.stringify(args),
    ...(after === undefined ? {} : { opaque: { after } }),
  }));
}

/** The calls in a wrapper's arguments; none if anything else is among them. */
function usesIn({ tool_uses }: JsonObject): { name: string; args: JsonObject }[] {
  const uses = listIn(tool_uses).map((given) => {
    const use = objectIn(given);
    const name = textIn(use?.recipient_name) ?? "";
    const args = objectIn(use?.parameters);
    return args === undefined || !name.startsWith(prefix) || name === prefix
      ? undefined
      : { name: name.slice(prefix.length), args };
  });
  const whole = uses.filter((use) => use !== undefined);
  return whole.length === uses.length ? whole : [];
}
