// The room of the search worker: runs a model's regular expression where it can be stopped.
//
// The thread reports matches in batches, and writes the name of the current file to shared memory, so that the main
// thread knows where it was when it had to be terminated.

import { isUtf8 } from "node:buffer";
import { closeSync, readFileSync, statSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { glob } from "../../paths/glob.ts";
import { Root } from "../../paths/root.ts";
import { type LeftOut, walk } from "../../paths/walk.ts";
import { codeOf, Refusal } from "../../reasons.ts";
import { binaryKind, clip, visible } from "../../text/text-file.ts";
import { utf16Of } from "../../text/text-form.ts";
import { noNews, type SearchNews, type SearchOrder } from "../thread-messages.ts";

const order = workerData as SearchOrder;
const port = parentPort!;
const root = new Root(order.root);
const expression = new RegExp(order.source, order.flags);
// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what this is about
const isAscii = /^[\u0000-\u007f]*$/.test(order.source);
const shownWidth = 300;

const left: LeftOut = { ignored: 0, unreadable: [] };
const news: SearchNews = { ...noNews, lines: [] };
/** Lines reported so far, or about to be. */
let shown = 0;
/** Time of the last report. */
let told = Date.now();

port.postMessage("begun");
await search();

async function search(): Promise<void> {
  const matchesGlob = order.glob === undefined ? undefined : glob(order.glob);
  const place = root.locate(order.path);
  if (place.exists && !statSync(place.real).isDirectory()) searchFile(place.shown, true);
  else {
    const below = place.shown === "." ? 0 : place.shown.length + 1;
    const how = { recursive: true, includeIgnored: order.includeIgnored };
    for await (const { path, kind } of walk(root, place, how, left)) {
      if (kind === "link") news.links++;
      if (kind !== "file" || (matchesGlob !== undefined && !matchesGlob(path.slice(below)))) continue;
      searchFile(path, false);
      if (Date.now() - told > 100) tell();
    }
  }
  tell();
  port.postMessage("done");
}

/** Reports what was found since the last time. */
function tell(): void {
  port.postMessage({
    ...news,
    unreadable: news.unreadable + left.unreadable.length,
    ignored: left.ignored,
  });
  news.lines = [];
  told = Date.now();
}

/** @param alone it is the only file asked for: the reason why it cannot be read is reported */
function searchFile(path: string, alone: boolean): void {
  markFile(path);
  let bytes: Buffer | undefined;
  try {
    bytes = bytesOf(path);
  } catch (thrown) {
    if (alone || (codeOf(thrown) === undefined && !(thrown instanceof Refusal))) throw thrown;
    news.unreadable++;
    return;
  }
  if (bytes === undefined) {
    news.large++;
    return;
  }
  const utf16 = utf16Of(bytes);
  if (utf16 === undefined && binaryKind(bytes) !== undefined) {
    news.binary++;
    return;
  }
  news.searched++;
  const before = news.matches;
  const text = utf16 === undefined ? bytes.toString("utf8") : new TextDecoder(utf16).decode(bytes);
  searchText(path, text);
  if (news.matches > before) news.files++;
  if (news.matches > 0) return;
  if (order.plain !== undefined && text.includes(order.plain)) news.plain++;
  if (!isAscii && utf16 === undefined && !isUtf8(bytes)) news.foreign++;
}

/** The content of a file; undefined if it is too large. */
function bytesOf(path: string): Buffer | undefined {
  const { fd, size } = root.openSync(root.locate(path));
  try {
    return size > order.maxFileBytes ? undefined : readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function searchText(path: string, text: string): void {
  let number = 0;
  for (let from = text.charCodeAt(0) === 0xfeff ? 1 : 0; from < text.length; ) {
    const newline = text.indexOf("\n", from);
    let end = newline < 0 ? text.length : newline;
    if (end > from && text.charCodeAt(end - 1) === 13) end--;
    const line = text.slice(from, end);
    number++;
    const found = expression.exec(line);
    if (found !== null) {
      news.matches++;
      if (shown < order.maxMatches) {
        shown++;
        news.lines.push({ path, line: number, text: around(line, found.index) });
      }
    }
    from = newline < 0 ? text.length : newline + 1;
  }
}

/** The line, or the part of a long line around the match. */
function around(line: string, at: number): string {
  if (line.length <= shownWidth) return visible(line);
  const start = Math.max(0, Math.min(at - 80, line.length - shownWidth));
  return `${start > 0 ? "[...] " : ""}${visible(clip(line, shownWidth, start))}${start + shownWidth < line.length ? " [...]" : ""}`;
}

function markFile(path: string): void {
  const bytes = new Uint8Array(order.at);
  const { written } = new TextEncoder().encodeInto(path, bytes.subarray(4));
  new DataView(order.at).setUint32(0, written);
}
