// The room of paths into a request that a refusal names: `messages.8.content.0.image…`, `input[3].content[1]`,
// `messages.1.member.content.2.member.image`.
//
// A place is looked up in the request as it was sent, and what stands there is known again by its bytes or its address:
// how messages became a request need not be told backwards. Where the words name no place, or one with several files, all
// files are meant.

import { type FilePart, type MessageList, type Repair, repairOfFile } from "@rondo/core";
import { complaintOf } from "./complaint.ts";

/** Up to the last item of a list: what is wrong within it (its format, say) is no file. */
const place: RegExp = /\b(messages|contents|input)((?:(?:\.[a-z_]\w*)*(?:\.\d+|\[\d+\]))+)/gi;

/**
 * The repair that leaves out the one file which a refusal's words name by its place in the request; all files where they
 * name none. Undefined where one was left out there already: whatever is refused there now, it is no file.
 */
export function refusedFile(words: string, sent: string, messages: MessageList): Repair | undefined {
  let body: unknown;
  for (const [, root = "", path = ""] of complaintOf(words).matchAll(place)) {
    body ??= JSON.parse(sent);
    const thing = thingAt(member(body, root), path);
    const found = filesAt(thing, messages);
    if (found.size === 1) return [...found][0];
    if (found.size === 0 && leftOut.test(JSON.stringify(thing) ?? "")) return undefined;
  }
  return "files";
}

/** The words that stand in a file's place. */
const leftOut: RegExp = /:"\[[^"]{1,200} left out\]"/;

/** What stands at a path, as deep as it leads: some name what a block is, which is no member of it. */
function thingAt(root: unknown, path: string): unknown {
  // AWS counts the items of its lists from one, and says so by this word; the models behind it count from zero.
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

/** The file's bytes as they are or in an address of their own, or its address. */
function holds(text: string, { data, url }: FilePart): boolean {
  if (typeof data !== "string" || data === "") return url !== undefined && text === url;
  return text.endsWith(data) && (text.length === data.length || text.at(-data.length - 1) === ",");
}
