// The room of paths into a request, as a refusal names them: `messages.8.content.0.image…`, `input[3].content[1]`,
// `messages.1.member.content.2.member.image`.
//
// The path is looked up in the request as it was sent, and the file there is recognised by its bytes or its URL, so that
// encoding need not be reversed. If the refusal names no path, or one with several files, all files are meant; or only the
// one whose address it contains, or the only sound or video, if it complains about that.

import { type FilePart, type MessageList, type Repair, repairOfFile } from "@rondo/core";
import { isMisnamed, typeOfFile } from "../codecs/media-types.ts";
import { complaintOf } from "./complaint.ts";
import { refusedKind } from "./files.ts";

/** A path up to the last list item: what is wrong inside that item (its format, say) is not another file. */
const place: RegExp = /\b(messages|contents|input)((?:(?:\.[a-z_]\w*)*(?:\.\d+|\[\d+\]))+)/gi;

/**
 * The repair that leaves out the file at the path in a refusal; all files, or the only one of its kind, if it names none.
 * Undefined if a file was already left out there, or there is none of that kind: what is refused is not a file.
 */
export function refusedFile(words: string, sent: string, messages: MessageList): Repair | undefined {
  let body: unknown;
  const complaint = complaintOf(words);
  for (const [, root = "", path = ""] of complaint.matchAll(place)) {
    body ??= JSON.parse(sent);
    const thing = thingAt(member(body, root), path);
    const found = filesAt(thing, messages);
    if (found.size === 1) return [...found][0];
    if (found.size === 0 && leftOut.test(JSON.stringify(thing) ?? "")) return undefined;
  }
  const named = namedIn(complaint, messages);
  if (named !== undefined) return named;
  const kind = refusedKind(complaint);
  return kind === undefined ? "files" : ofKind(kind, messages);
}

/** The repair that leaves out the only file whose address a refusal contains, or the name at the end of that address. */
function namedIn(complaint: string, messages: MessageList): Repair | undefined {
  const whole = new Set<Repair>();
  const byName = new Set<Repair>();
  for (const { content } of messages)
    for (const part of content) {
      if (part.type !== "file" || part.url === undefined) continue;
      const name =
        part.url
          .replace(/[?#].*$/s, "")
          .split("/")
          .at(-1) ?? "";
      if (complaint.includes(part.url)) whole.add(repairOfFile(part));
      else if (name.length >= leastName && complaint.includes(name)) byName.add(repairOfFile(part));
    }
  const found = whole.size > 0 ? whole : byName;
  return found.size === 1 ? [...found][0] : undefined;
}

/** A shorter name may be a word of the refusal itself. */
const leastName = 8;

/** The repair that leaves out the only file of a kind, or all files if it has several. Undefined if it has none. */
function ofKind(kind: string, messages: MessageList): Repair | undefined {
  const found = new Set<Repair>();
  for (const { content } of messages)
    for (const part of content)
      if (part.type === "file" && typeOfFile(part).startsWith(`${kind}/`)) found.add(repairOfFile(part));
  return found.size > 1 ? "files" : [...found][0];
}

/** The repair that leaves out the first file whose bytes are not what it is called; undefined if there is none. */
export function misnamedFile(messages: MessageList): Repair | undefined {
  for (const { content } of messages)
    for (const part of content) if (part.type === "file" && isMisnamed(part)) return repairOfFile(part);
  return undefined;
}

/** The note that replaces a file that was left out. */
const leftOut: RegExp = /:"\[[^"]{1,200} left out\]"/;

/** What is at a path, as far as it can be followed: some servers add the kind of a block, which is not a member of it. */
function thingAt(root: unknown, path: string): unknown {
  // AWS counts list items from one, which the word `member` shows; the models behind it count from zero.
  const first = path.includes(".member") ? 1 : 0;
  let at = root;
  for (const [step] of path.matchAll(/\w+/g)) {
    if (step === "member") continue;
    const inner = member(at, Array.isArray(at) ? Number(step) - first : step);
    if (inner !== undefined) at = inner;
    else if (Array.isArray(at)) return undefined;
  }
  return at;
}

function member(of: unknown, name: string | number): unknown {
  return typeof of === "object" && of !== null && Object.hasOwn(of, name)
    ? (of as Record<string | number, unknown>)[name]
    : undefined;
}

function filesAt(thing: unknown, messages: MessageList): Set<Repair> {
  const texts = [...textsIn(thing)];
  const found = new Set<Repair>();
  for (const { content } of messages)
    for (const part of content)
      if (part.type === "file" && texts.some((text) => holds(text, part))) found.add(repairOfFile(part));
  return found;
}

function* textsIn(thing: unknown): Generator<string> {
  if (typeof thing === "string") yield thing;
  else if (typeof thing === "object" && thing !== null)
    for (const inner of Object.values(thing)) yield* textsIn(inner);
}

/** Whether a text is the file's bytes, a data URL with them, or its URL. */
function holds(text: string, { data, url }: FilePart): boolean {
  if (typeof data !== "string" || data === "") return url !== undefined && text === url;
  return text.endsWith(data) && (text.length === data.length || text.at(-data.length - 1) === ",");
}
