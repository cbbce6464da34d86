// The room of what a run leaves out of its requests because it was refused: parts of the history, settings. That a schema
// is left out shows in the way to the output (`output/ways.ts`).

import { digest } from "../digest.ts";
import type { RefusableSetting, Repair } from "../errors.ts";
import type { FilePart, Message } from "../message.ts";
import type { Settings } from "../model.ts";
import type { State } from "./state.ts";

type FileRepair = Extract<Repair, `file.${string}`>;
/** What is left out of messages. */
type PartRepair = "reasoning" | "files" | FileRepair;
type SettingRepair = Extract<Repair, `settings.${string}`>;

export const settingOf = (repair: SettingRepair): RefusableSetting =>
  repair.slice("settings.".length) as RefusableSetting;

export const isOfOneFile = (repair: Repair): repair is FileRepair => repair.startsWith("file.");

/** The repair that leaves out this file, wherever it stands: what is in it tells it from others. */
export function repairOfFile({ data, url }: FilePart): FileRepair {
  return `file.${digest(typeof data === "object" ? data.blob : (data ?? url ?? ""))}`;
}

/** Whether there is a file, of which this holds. Walks the history: for after a refusal. */
export function hasFile({ history }: State, holds: (file: FilePart) => boolean = () => true): boolean {
  for (const { content } of history)
    if (content.some((part) => part.type === "file" && holds(part))) return true;
  return false;
}

export const isOfSetting = (repair: Repair): repair is SettingRepair => repair.startsWith("settings.");

const isOfParts = (repair: Repair): repair is PartRepair =>
  repair === "reasoning" || repair === "files" || isOfOneFile(repair);

/** The repairs that make other messages. */
export function ofParts(dropped: readonly Repair[]): PartRepair[] {
  return dropped.filter(isOfParts);
}

/** The same settings without those that were refused. */
export function withoutSettings(dropped: readonly Repair[], settings: Settings): Settings {
  let left = settings;
  for (const what of dropped) {
    if (!isOfSetting(what)) continue;
    const { [settingOf(what)]: _, ...rest } = left;
    left = rest;
  }
  return left;
}

const copies = new WeakMap<Message, Map<PartRepair, Message | null>>();

/** The same messages without what was refused; an answer that was nothing else is left out. Each is copied once, so that it stays the same object. */
export function without(what: PartRepair, messages: Iterable<Message>): Message[] {
  const kept: Message[] = [];
  for (const message of messages) {
    const copy = copyWithout(what, message);
    if (copy !== null) kept.push(copy);
  }
  return kept;
}

function copyWithout(what: PartRepair, message: Message): Message | null {
  let known = copies.get(message);
  if (known === undefined) {
    known = new Map();
    copies.set(message, known);
  }
  let copy = known.get(what);
  if (copy === undefined) {
    copy = what === "reasoning" ? unreasoned(message) : unfiled(what, message);
    known.set(what, copy);
  }
  return copy;
}

function unreasoned(message: Message): Message | null {
  if (message.role !== "assistant") return message;
  const content = message.content.filter((part) => part.type !== "reasoning");
  if (content.length === message.content.length) return message;
  return content.length === 0 ? null : { ...message, content };
}

/** All files, or the one, as a word that it was there. */
function unfiled(what: "files" | FileRepair, message: Message): Message {
  let found = false;
  const content = message.content.map((part) => {
    if (part.type !== "file" || (what !== "files" && repairOfFile(part) !== what)) return part;
    found = true;
    return { type: "text" as const, text: `[${part.name ?? part.mediaType} left out]` };
  });
  return found ? ({ ...message, content } as Message) : message;
}
