// The room of what a run leaves out of its requests because it was refused: parts of the history, settings.

import type { RefusableSetting, Repair } from "../errors.ts";
import type { Message } from "../message.ts";
import type { Settings } from "../model.ts";

/** What is left out of messages. */
type PartRepair = "reasoning" | "files";
type SettingRepair = Exclude<Repair, PartRepair>;

export const settingOf = (repair: SettingRepair): RefusableSetting =>
  repair.slice("settings.".length) as RefusableSetting;

/** The repairs that make other messages. */
export function ofParts(dropped: readonly Repair[]): PartRepair[] {
  return dropped.filter((what) => what === "reasoning" || what === "files");
}

/** The same settings without those that were refused. */
export function withoutSettings(dropped: readonly Repair[], settings: Settings): Settings {
  let left = settings;
  for (const what of dropped) {
    if (what === "reasoning" || what === "files") continue;
    const { [settingOf(what)]: _, ...rest } = left;
    left = rest;
  }
  return left;
}

const copies: { readonly [what in PartRepair]: WeakMap<Message, Message | null> } = {
  reasoning: new WeakMap(),
  files: new WeakMap(),
};

/** The same messages without what was refused; an answer that was nothing else is left out. Each is copied once, so that it stays the same object. */
export function without(what: PartRepair, messages: Iterable<Message>): Message[] {
  const kept: Message[] = [];
  for (const message of messages) {
    let copy = copies[what].get(message);
    if (copy === undefined) {
      copy = what === "reasoning" ? unreasoned(message) : unfiled(message);
      copies[what].set(message, copy);
    }
    if (copy !== null) kept.push(copy);
  }
  return kept;
}

function unreasoned(message: Message): Message | null {
  if (message.role !== "assistant") return message;
  const content = message.content.filter((part) => part.type !== "reasoning");
  if (content.length === message.content.length) return message;
  return content.length === 0 ? null : { ...message, content };
}

/** Each file as a word that it was there. */
function unfiled(message: Message): Message {
  if (!message.content.some((part) => part.type === "file")) return message;
  const content = message.content.map((part) =>
    part.type === "file"
      ? { type: "text" as const, text: `[${part.name ?? part.mediaType} left out]` }
      : part,
  );
  return { ...message, content } as Message;
}
