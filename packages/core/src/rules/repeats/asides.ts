// The room of asides: arguments in which a model says something about its call, which change nothing of what the call does.
//
// Without them the same call could be made for ever, each time with another explanation. The result must be the same as well,
// so a name that is listed here wrongly makes only such calls equal that brought nothing new.

import type { Call } from "../../loop/state.ts";
import type { JsonObject } from "../../message.ts";

const ofAnyCall: ReadonlySet<string> = new Set([
  "displayname",
  "displaytext",
  "displaytitle",
  "explanation",
  "rationale",
  "reason",
  "reasoning",
  "justification",
  "purpose",
  "intent",
  "thought",
  "thoughts",
  "toolsummary",
  "toolaction",
  "requestid",
  "callid",
  "traceid",
  "correlationid",
  "nonce",
  "timestamp",
]);

/** In a write these may be what is written. */
const ofReads: ReadonlySet<string> = new Set([
  "display",
  "label",
  "title",
  "description",
  "comment",
  "note",
  "message",
  "summary",
]);

/** The arguments of a call without asides; all of them if there are no others. */
export function argsWithoutAsides({ args, tool }: Call): JsonObject {
  const isAside = (name: string): boolean => {
    const plain = name.toLowerCase().replaceAll(/[-_]/g, "");
    return ofAnyCall.has(plain) || (tool?.effect === "read" && ofReads.has(plain));
  };
  const names = Object.keys(args);
  const kept = names.filter((name) => !isAside(name));
  if (kept.length === 0 || kept.length === names.length) return args;
  return Object.fromEntries(kept.map((name) => [name, args[name]!]));
}
