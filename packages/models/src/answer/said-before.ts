// The room of quotations: whether text in an answer was said before, by a tool or a user.
//
// A model asked to read out a file or a page must not run the calls in it (F240). White space is ignored: models change it.

import type { ModelRequest } from "@rondo/core";

/** Text before a token that introduces it: the token follows a space, a colon, a bracket or a quote. */
export const introduces: RegExp = /[^\S\n]$|[:=('"`“«[]\s*$/;

/** How many texts are compared with the conversation; any more that look like calls count as quotations. */
const mostCompared = 32;

/** Returns a test for whether a tool or a user has said a text, ignoring white space. */
export function saidBefore({ messages }: ModelRequest): (written: string) => boolean {
  let said: string | undefined;
  let compared = 0;
  return (written) => {
    said ??= Array.from(messages, ({ role, content }) =>
      role === "user" || role === "tool"
        ? content.map((part) => (part.type === "text" ? squeezed(part.text) : "")).join("\n")
        : "",
    ).join("\n");
    compared += 1;
    return compared > mostCompared || said.includes(squeezed(written));
  };
}

/** Whether anybody other than the model wrote a token in the conversation. */
export function isSpokenOf(mark: string, { system, messages }: ModelRequest): boolean {
  if (system?.includes(mark)) return true;
  for (const { role, content } of messages)
    if (role !== "assistant" && content.some((part) => part.type === "text" && part.text.includes(mark)))
      return true;
  return false;
}

const squeezed = (text: string): string => text.replace(/\s+/g, "");
