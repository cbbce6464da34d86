// The room of omissions: parts of the history and settings that requests leave out because they were refused: files in the
// whole session, everything else in the rest of the run.
// (A refused schema instead changes how the output is asked for: `output/ways.ts`.)

import type { RefusableSetting, Repair } from "../../errors.ts";
import { digest } from "../../json/digest.ts";
import type { FilePart, Message } from "../../message.ts";
import type { MessageList, Settings } from "../../model.ts";
import { oncePer } from "../../once-per.ts";
import { Log } from "../log.ts";
import { modelInUse, type RefusedFiles, type RunState } from "../state.ts";

type FileRepair = Extract<Repair, `file.${string}`>;
type OldFilesRepair = Extract<Repair, `files.last.${number}`>;
/** What to leave out of messages. */
type PartRepair = "reasoning" | "files" | FileRepair | OldFilesRepair;
type SettingRepair = Extract<Repair, `settings.${string}`>;

export const settingOf = (repair: SettingRepair): RefusableSetting =>
  repair.slice("settings.".length) as RefusableSetting;

export const isOfOneFile = (repair: Repair): repair is FileRepair => repair.startsWith("file.");

export const isOfOldFiles = (repair: Repair): repair is OldFilesRepair => repair.startsWith("files.last.");

/** How many files stay. */
export const keptFiles = (repair: OldFilesRepair): number => Number(repair.slice("files.last.".length));

/** The repair that leaves out this file, wherever it occurs: it is identified by its content. */
export function repairOfFile({ data, url }: FilePart): FileRepair {
  return `file.${digest(typeof data === "object" ? data.blob : (data ?? url ?? ""))}`;
}

/** What the session knows of files that the model in use refuses; undefined if it refused none. */
export function knownRefusals({ refusedFiles, options, run }: RunState): RefusedFiles | undefined {
  return refusedFiles?.get(modelId({ options, run }));
}

/** The id of the model in use. */
export const modelId = ({ options, run }: Pick<RunState, "options" | "run">): string =>
  options.models[modelInUse(run)]?.id ?? "";

/** How many of the files that are still sent satisfy this. Walks the whole history: only used after a refusal. */
export function countFiles(state: RunState, holds: (file: FilePart) => boolean = () => true): number {
  const refused = knownRefusals(state)?.files;
  let count = 0;
  for (const file of filesIn(state.history))
    if (refused?.has(repairOfFile(file)) !== true && holds(file)) count += 1;
  return count;
}

function* filesIn(messages: Iterable<Message>): Generator<FilePart> {
  for (const { content } of messages) for (const part of content) if (part.type === "file") yield part;
}

export const isOfSetting = (repair: Repair): repair is SettingRepair => repair.startsWith("settings.");

const isOfParts = (repair: Repair): repair is PartRepair => repair === "reasoning" || isOfFiles(repair);

/** Whether a repair leaves out files: one, the oldest, or all. */
export const isOfFiles = (repair: Repair): boolean =>
  repair === "files" || isOfOneFile(repair) || isOfOldFiles(repair);

/** The repairs that change messages. */
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

/** What to leave out of one message; a number: that many of its first files; a set: these files. */
type Cut = Exclude<PartRepair, OldFilesRepair> | number | ReadonlySet<FileRepair>;

const copiesOf = oncePer((_message: Message) => new Map<Cut, Message | null>());

/** The same messages without what was refused; an answer that would be empty is left out. Each copy is cached, so that it stays the same object. */
export function without(what: PartRepair, messages: Iterable<Message>): Message[] {
  if (isOfOldFiles(what)) return withoutOldFiles(keptFiles(what), messages);
  const kept: Message[] = [];
  for (const message of messages) {
    const copy = copyWithout(what, message);
    if (copy !== null) kept.push(copy);
  }
  return kept;
}

/** The same messages without the files that the session knows to be refused; the same list if it has none of them. */
export function withoutRefused(refused: ReadonlySet<FileRepair>, messages: MessageList): MessageList {
  let found = false;
  const left = [...messages].map((message) => {
    const copy = copyWithout(refused, message) as Message;
    found ||= copy !== message;
    return copy;
  });
  return found ? Log.of(left) : messages;
}

/** The files that these repairs leave out. One that is also elsewhere, and stays there, is none of them. */
export function leftOutFiles(messages: Iterable<Message>, dropped: readonly Repair[]): Set<FileRepair> {
  const all = new Set([...filesIn(messages)].map(repairOfFile));
  const sent = ofParts(dropped).reduce<Iterable<Message>>((left, what) => without(what, left), messages);
  for (const file of filesIn(sent)) all.delete(repairOfFile(file));
  return all;
}

/** Keeps the last `kept` files, counted from the last message back. */
function withoutOldFiles(kept: number, messages: Iterable<Message>): Message[] {
  let spare = kept;
  const left = [...messages].reverse().map((message) => {
    const files = message.content.filter(({ type }) => type === "file").length;
    const stays = Math.min(files, spare);
    spare -= stays;
    return copyWithout(files - stays, message) as Message;
  });
  return left.reverse();
}

function copyWithout(what: Cut, message: Message): Message | null {
  const copies = copiesOf(message);
  let copy = copies.get(what);
  if (copy === undefined) {
    copy = what === "reasoning" ? unreasoned(message) : unfiled(what, message);
    copies.set(what, copy);
  }
  return copy;
}

function unreasoned(message: Message): Message | null {
  if (message.role !== "assistant") return message;
  const content = message.content.filter((part) => part.type !== "reasoning");
  if (content.length === message.content.length) return message;
  return content.length === 0 ? null : { ...message, content };
}

/** Replaces all files, one or some of them, or the first few by a text that mentions them. */
function unfiled(what: Exclude<Cut, "reasoning">, message: Message): Message {
  let found = false;
  let seen = 0;
  const content = message.content.map((part) => {
    if (part.type !== "file") return part;
    seen += 1;
    if (!goes(part, seen, what)) return part;
    found = true;
    return { type: "text" as const, text: `[${part.name ?? part.mediaType} left out]` };
  });
  return found ? ({ ...message, content } as Message) : message;
}

function goes(file: FilePart, place: number, what: Exclude<Cut, "reasoning">): boolean {
  if (what === "files") return true;
  if (typeof what === "number") return place <= what;
  const repair = repairOfFile(file);
  return typeof what === "string" ? repair === what : what.has(repair);
}
