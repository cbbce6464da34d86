// The room of the search's thread: a regular expression from a model runs here, where it can be stopped.
//
// The thread tells what it found in batches, and writes the name of the file it is in to shared memory, so that the
// main thread knows where it was when it had to be ended.

import { closeSync, readFileSync, statSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { glob } from "../../paths/glob.ts";
import { Root } from "../../paths/root.ts";
import { type LeftOut, walk } from "../../paths/walk.ts";
import { codeOf, Refusal } from "../../reasons.ts";
import { binaryKind, clip, visible } from "../../text/text-file.ts";
import { utf16Of } from "../../text/text-form.ts";
import { noNews, type SearchNews, type SearchOrder } from "../order.ts";

const order = workerData as SearchOrder;
const port = parentPort!;
const root = new Root(order.root);
const shownWidth = 300;

port.postMessage("begun");
await search();

async function search(): Promise<void> {
  const expression = new RegExp(order.source, order.flags);
  const matchesGlob = order.glob === undefined ? undefined : glob(order.glob);
  const left: LeftOut = { ignored: 0, unreadable: [] };
  const news: SearchNews = { ...noNews, lines: [] };
  let shown = 0;
  let told = Date.now();
  const tell = (): void => {
    port.postMessage({
      ...news,
      unreadable: news.unreadable + left.unreadable.length,
      ignored: left.ignored,
    });
    news.lines = [];
    told = Date.now();
  };

  const place = root.locate(order.path);
  if (place.exists && !statSync(place.real).isDirectory()) searchFile(place.shown, true);
  else {
    const below = place.shown === "." ? 0 : place.shown.length + 1;
    for await (const { path, kind } of walk(
      root,
      place,
      { recursive: true, includeIgnored: order.includeIgnored },
      left,
    )) {
      if (kind !== "file" || (matchesGlob !== undefined && !matchesGlob(path.slice(below)))) continue;
      searchFile(path, false);
      if (Date.now() - told > 100) tell();
    }
  }
  tell();
  port.postMessage("done");

  function searchFile(path: string, alone: boolean): void {
    markFile(path);
    let bytes: Buffer;
    try {
      const { fd, size } = root.openSync(root.locate(path));
      try {
        if (size > order.maxFileBytes) {
          news.large++;
          return;
        }
        bytes = readFileSync(fd);
      } finally {
        closeSync(fd);
      }
    } catch (thrown) {
      if (alone || (codeOf(thrown) === undefined && !(thrown instanceof Refusal))) throw thrown;
      news.unreadable++;
      return;
    }
    const utf16 = utf16Of(bytes.subarray(0, 8192));
    if (bytes.length > 0 && utf16 === undefined && binaryKind(bytes.subarray(0, 8192)) !== undefined) {
      news.binary++;
      return;
    }
    news.searched++;
    const before = news.matches;
    const text = utf16 === undefined ? bytes.toString("utf8") : new TextDecoder(utf16).decode(bytes);
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
    if (news.matches > before) news.files++;
  }
}

/** The line, or of a long line what stands around the match. */
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
