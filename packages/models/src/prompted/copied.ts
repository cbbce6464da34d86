// The room of calls that a server passed on twice: as calls, and as the text that it read them from (F236).
//
// Left in the history, such a text teaches the model to write its calls there. It goes only if it ends in calls that are all
// among the answer's own, with the same arguments: anything else is what the model said.

import { type AssistantMessage, type Json, type Part, parsedJson, type ToolCallPart } from "@rondo/core";
import { parseArgs } from "../answer/call-args.ts";
import type { WrittenCall } from "./calls.ts";
import { leftOpening } from "./native-calls.ts";
import { readAnswer } from "./read-answer.ts";

/** The answer without texts that its calls were read from; the answer itself if there are none. */
export function withoutCopies(answer: AssistantMessage, known: ReadonlySet<string>): AssistantMessage {
  const called = new Set(answer.content.filter((part) => part.type === "tool_call").map(ownForm));
  let changed = false;
  const content = answer.content.flatMap((part): Part[] => {
    const at = part.type === "text" && part.opaque === undefined ? copyAt(part.text, called, known) : -1;
    if (part.type !== "text" || at === -1) return [part];
    changed = true;
    const text = part.text.slice(0, at).trimEnd();
    return text === "" ? [] : [{ ...part, text }];
  });
  return changed ? { ...answer, content } : answer;
}

/** Where in a text the copies of an answer's calls begin; -1 if it does not end in such. */
function copyAt(text: string, called: ReadonlySet<string>, known: ReadonlySet<string>): number {
  const at = leftOpening.exec(text)?.index ?? -1;
  if (at === -1) return -1;
  const {
    calls,
    text: said,
    malformed,
    warnings,
  } = readAnswer(text.slice(at), {
    known,
    tools: true,
    wire: "end_turn",
  });
  const isCopy = said === "" && malformed === undefined && warnings.length === 0 && calls.length > 0;
  return isCopy && calls.every((call) => called.has(writtenForm(call))) ? at : -1;
}

const ownForm = ({ name, args }: ToolCallPart): string => form(name, args);
const writtenForm = ({ name, args }: WrittenCall): string => form(name, parseArgs(args).args);

/** Some families write every value as text, whatever its type. */
const form = (name: string, args: { [name: string]: Json }): string =>
  JSON.stringify([
    name,
    Object.entries(args)
      .map(([key, value]) => [key, JSON.stringify(plain(value))])
      .sort(),
  ]);

function plain(value: Json): Json {
  if (typeof value !== "string") return value;
  try {
    return parsedJson(value);
  } catch {
    return value.trim();
  }
}
