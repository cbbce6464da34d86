// The room of quotations: whether what an answer says has been said before, by a tool or by a user.
//
// Whoever has a file or a page read out must not run what stands in it (F240). Spaces do not count: a model sets them anew.

import type { ModelRequest } from "@rondo/core";

/** Words before a mark that speak of it: it stands behind a blank, a colon or a quote. */
export const introduces: RegExp = /[^\S\n]$|[:=('"`“«[]\s*$/;

/** How often an answer is compared with the conversation: whatever else it holds that looks like a call is taken for a quotation. */
const mostCompared = 32;

/** Whether a tool or a user has said something, spaces aside. */
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

/** Whether somebody other than the model wrote some mark in the conversation. */
export function isSpokenOf(mark: string, { system, messages }: ModelRequest): boolean {
  if (system?.includes(mark)) return true;
  for (const { role, content } of messages)
    if (role !== "assistant" && content.some((part) => part.type === "text" && part.text.includes(mark)))
      return true;
  return false;
}

const squeezed = (text: string): string => text.replace(/\s+/g, "");
