// The room of the last look at an answer's calls: every call gets an id of its own, and a call without a name is marked, so
// that it gets an error result and is never stored as if it could run (F052, F053, F066).

import type { AssistantMessage, Part } from "@rondo/core";
import { namelessFault } from "../../answer/blocks.ts";
import { freshId, nameTable } from "./names.ts";
import { unwrapped } from "./wrapped-calls.ts";

export function settle(message: AssistantMessage): AssistantMessage {
  if (!message.content.some((part) => part.type === "tool_call")) return message;
  const seen = new Set<string>();
  const names = nameTable(message.origin);
  const parts = message.content.flatMap((part): readonly Part[] =>
    part.type === "tool_call" ? unwrapped(part, names) : [part],
  );
  const content = parts.map((part): Part => {
    if (part.type !== "tool_call") return part;
    const id = part.id === "" || seen.has(part.id) ? freshId() : part.id;
    seen.add(id);
    if (part.name !== "") return id === part.id ? part : { ...part, id };
    return {
      ...part,
      id,
      args: {},
      argsError: part.argsError ?? namelessFault,
    };
  });
  return { ...message, content };
}
