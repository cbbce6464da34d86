// The room of the chat's commands: a line is a message, or a command if it begins with a slash.

import { hintAt } from "@rondo/core/checks";

export type Said =
  | { do: "nothing" }
  | { do: "say"; text: string }
  | { do: "later"; text: string }
  | { do: "model"; name: string | undefined }
  | { do: "help" }
  | { do: "context" }
  | { do: "compact" }
  | { do: "clear" }
  | { do: "abort" }
  | { do: "quit" }
  /** What is wrong with it, and what to do. */
  | { do: "wrong"; why: string };

/** The commands, their arguments, and what they do. */
export const chatCommands: readonly (readonly [name: string, words: string, does: string])[] = [
  ["/help", "", "show this"],
  ["/later", "TEXT", "a task for when the answer is finished"],
  ["/context", "", "what fills the model's window, by source"],
  ["/compact", "", "compact the history now"],
  ["/clear", "", "forget the conversation: the next message starts a new one"],
  ["/model", "[NAME]", "show the model; with a name, switch to it"],
  ["/abort", "", "end what the agent is doing"],
  ["/quit", "", "leave; the agent stops at a safe point"],
];

/** Parses a line. A message that begins with a slash is written with two. */
export function readSaid(line: string): Said {
  const text = line.trim();
  if (text === "") return { do: "nothing" };
  if (text.startsWith("//")) return { do: "say", text: text.slice(1) };
  if (!text.startsWith("/")) return { do: "say", text };
  const [word = "", ...rest] = text.split(/\s+/);
  // A path is not a command.
  if (!/^\/[\w-]*$/.test(word)) return { do: "say", text };
  const after = text.slice(word.length).trim();
  const known = chatCommands.find(([name]) => name === word.toLowerCase());
  if (known === undefined) {
    const names = chatCommands.map(([name]) => name);
    return {
      do: "wrong",
      why: `there is no command ${word}.${hintAt(word, names)} There are ${names.join(", ")}; a message that begins with a slash is written with two`,
    };
  }
  const name = known[0].slice(1) as Exclude<Said["do"], "nothing" | "say" | "wrong">;
  if (name === "later")
    return after === ""
      ? { do: "wrong", why: "/later needs a task: /later TEXT" }
      : { do: name, text: after };
  if (name === "model") {
    if (rest.length > 1) return { do: "wrong", why: "/model takes one name, e.g. /model offline" };
    return { do: name, name: rest[0] };
  }
  return after === ""
    ? { do: name }
    : { do: "wrong", why: `${word} takes no arguments; write ${word} alone` };
}
