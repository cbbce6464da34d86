// The room of the transcript: a part of the history as one text for a summariser.
//
// Calls and results become words: nothing needs pairing, no provider can refuse it, and no model takes it for its own turn.
// Results lose their middle; a message that is still too large is left out and named. A line that looks like one of our
// headings is indented by a blank, because text from a tool must not pass for the user's, nor end a section.

import type { AssistantMessage, FilePart, JsonObject, Message, NativePart } from "../../message.ts";
import { headOf, tailOf } from "../../text/size.ts";

/**
 * One message as text; empty if it has nothing to read.
 * @param resultCharacters the most of one tool result; null: all of it
 * @param open its calls have no results, and are left out
 */
export function messageText(
  message: Message,
  resultCharacters: number | null,
  open: boolean = false,
): string {
  switch (message.role) {
    case "system":
      return "";
    case "user":
      return headed("user", bodyOf(message, null));
    case "tool": {
      const what = `${message.isError ? "error" : "result"} of ${message.name} (${message.callId})`;
      return `[${what}]\n${bodyOf(message, resultCharacters)}`;
    }
    case "assistant":
      return assistantText(message, resultCharacters, open);
  }
}

function assistantText(message: AssistantMessage, resultCharacters: number | null, open: boolean): string {
  const limit = resultCharacters === null ? null : Math.max(200, resultCharacters / 4);
  const pieces: string[] = [];
  const spoken: string[] = [];
  for (const part of message.content) {
    if (part.type === "text" || part.type === "refusal") spoken.push(plain(part.text));
    else if (part.type === "file") spoken.push(fileText(part));
    else if (part.type === "native")
      pieces.push(`[assistant: ${part.kind} of the provider]\n${plain(cutMiddle(nativeText(part), limit))}`);
    else if (part.type === "tool_call" && !open)
      pieces.push(
        `[assistant calls ${part.name} (${part.id})]\n${plain(cutMiddle(argsText(part.args, part.rawArgs), limit))}`,
      );
  }
  const text = headed("assistant", spoken.join(""));
  return [...(text === "" ? [] : [text]), ...pieces].join("\n\n");
}

const argsText = (args: JsonObject, rawArgs: string): string =>
  Object.keys(args).length > 0 ? JSON.stringify(args) : rawArgs;

/** What the provider itself ran, and its result, without encrypted content and images. */
const nativeText = ({ opaque }: NativePart): string =>
  JSON.stringify(opaque, (_key, value: unknown) =>
    typeof value === "string" && sealed.test(value) ? "…" : value,
  );

/** No readable text is this long without a space. */
const sealed = /^[\w+/:;,=-]{200,}$/;

const headed = (who: string, text: string): string => (text.trim() === "" ? "" : `[${who}]\n${text}`);

function bodyOf(message: Exclude<Message, AssistantMessage>, limit: number | null): string {
  const texts = message.content.map((part) =>
    part.type === "file" ? fileText(part) : cutMiddle(part.text, limit),
  );
  return plain(cutMiddle(texts.join("\n"), limit));
}

const fileText = (part: FilePart): string =>
  `[file: ${part.mediaType}${part.name === undefined ? "" : `, ${part.name}`}]`;

/** Texts in brackets at the start of our own lines, in the transcript and around it. */
const headings =
  /^\[(?=(?:user|assistant|result of|error of|Large |start of the|end of the|summary of part|record of what|kept beside)\b)/gm;

const plain = (text: string): string => text.replace(headings, " [").toWellFormed();

/** A text without its middle, if it is longer than so many characters. */
export function cutMiddle(text: string, limit: number | null): string {
  if (limit === null || text.length <= limit) return text;
  const head = Math.floor(limit * 0.7);
  const tail = Math.floor(limit * 0.25);
  const left = text.length - head - tail;
  return `${headOf(text, head)}\n[... ${left} characters left out ...]\n${tailOf(text, tail)}`;
}

/** The text in place of a message that is too large for any summariser. @param tokens as estimated */
export function omittedText(message: Message, tokens: number): string {
  return `[Large ${message.role} (~${Math.round(tokens / 1000)}K tokens) omitted from summary]`;
}
