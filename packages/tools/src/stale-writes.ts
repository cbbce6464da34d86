// The room of stale writes: refuses to overwrite a file that changed since the model saw it.
//
// A toolset remembers, per real path, the content the model last saw or wrote. A process-wide lock per real path makes
// "compare, write, rename" one step: two calls on one file run one after the other, in whichever toolset.

import { createHash } from "node:crypto";
import type { LedgerEntry } from "@rondo/core";

/** Identifies a content: its hash. */
export type ContentId = string;

const maxRemembered = 10_000;

/** The first and the last line, counted from 1. */
export interface LineRange {
  from: number;
  to: number;
}

interface Sight {
  content: ContentId;
  /** Lines that the model has not been shown, ascending. */
  unseen: readonly LineRange[];
  /** Lines of which it was shown only the beginning, ascending: more of them is never shown. */
  inPart: readonly number[];
}

/** What one toolset has seen. The oldest of more than 10,000 files is forgotten, and must be read again. */
export class Seen {
  readonly #files = new Map<string, Sight>();

  get(real: string): ContentId | undefined {
    return this.#files.get(real)?.content;
  }

  /** The first range not shown, in a file of which other lines were shown. */
  unseen(real: string): LineRange | undefined {
    return this.#files.get(real)?.unseen[0];
  }

  /** The first line shown only in part, in a file of which all lines were shown. */
  inPart(real: string): number | undefined {
    return this.#files.get(real)?.inPart[0];
  }

  /** The whole content was seen, or written. */
  set(real: string, content: ContentId): void {
    this.#keep(real, { content, unseen: [], inPart: [] });
  }

  /**
   * Some lines of a content were seen; ranges of the same content add up.
   * @param inPart those of them of which only the beginning was shown
   */
  saw(
    real: string,
    content: ContentId,
    lines: LineRange & { inPart: readonly number[] },
    total: number,
  ): void {
    const known = this.#files.get(real);
    const before = known?.content === content ? known : { unseen: allLines(total), inPart: [] };
    const others = before.inPart.filter((line) => line < lines.from || line > lines.to);
    this.#keep(real, {
      content,
      unseen: before.unseen.flatMap((range) => without(range, lines)),
      inPart: [...others, ...lines.inPart].sort((a, b) => a - b),
    });
  }

  /** Part of a file was changed: what was unseen before stays unseen. */
  changed(real: string, content: ContentId, before: ContentId, total: number): void {
    const sight = this.#files.get(real);
    const isWhole = sight?.content === before && sight.unseen.length === 0 && sight.inPart.length === 0;
    this.#keep(real, { content, unseen: isWhole ? [] : allLines(total), inPart: [] });
  }

  #keep(real: string, sight: Sight): void {
    this.#files.delete(real);
    this.#files.set(real, sight);
    if (this.#files.size <= maxRemembered) return;
    for (const oldest of this.#files.keys()) {
      this.#files.delete(oldest);
      break;
    }
  }
}

const allLines = (total: number): LineRange[] => (total === 0 ? [] : [{ from: 1, to: total }]);

const without = (range: LineRange, seen: LineRange): LineRange[] =>
  [
    { from: range.from, to: Math.min(range.to, seen.from - 1) },
    { from: Math.max(range.from, seen.to + 1), to: range.to },
  ].filter(({ from, to }) => from <= to);

/** The content id of bytes in memory. */
export function contentIdOf(bytes: Uint8Array): ContentId {
  return createHash("sha256").update(bytes).digest("base64");
}

/** The ledger entry for a file: its path under the root, and the id of its content. */
export function fileEntry(
  kind: "file_read" | "file_written",
  path: string,
  content: ContentId | undefined,
): LedgerEntry {
  const hash =
    content === undefined ? {} : { hash: `sha256:${Buffer.from(content, "base64").toString("hex")}` };
  return { kind, path, ...hash };
}

const locks = new Map<string, Promise<void>>();

/** Runs `work` when no other work on the same real path is running. */
export async function locked<T>(real: string, work: () => Promise<T>): Promise<T> {
  const before = locks.get(real);
  let release = (): void => {};
  const mine = new Promise<void>((resolve) => {
    release = resolve;
  });
  const tail = before === undefined ? mine : before.then(() => mine);
  locks.set(real, tail);
  try {
    await before;
    return await work();
  } finally {
    release();
    if (locks.get(real) === tail) locks.delete(real);
  }
}
