// The room of watching: a folder's files, watched by the system where it can, and looked at now and again anyway.
//
// The system's word is a hint only: it may come before what it is about can be seen, be lost, or not come at all (over
// a network). So a hint is looked into at once and twice more, and without one there is still a look now and again.

import { type FSWatcher, statSync, watch } from "node:fs";
import { checkSessionId, messageOf, Watchers } from "@rondo/core";

/** Who watches sessions of a journal. Its files are watched while there is anybody, until it is closed. */
export class FileWatchers extends Watchers {
  readonly #start: () => () => void;
  #stop: (() => void) | undefined;
  #closed = false;

  /** @param start watches the files, and returns how to stop */
  constructor(start: () => () => void) {
    super();
    this.#start = start;
  }

  override add(session: string, heard: () => void): () => void {
    checkSessionId(session);
    const forget = super.add(session, heard);
    if (!this.#closed) this.#stop ??= this.#start();
    return () => {
      forget();
      if (this.size === 0) this.#end();
    };
  }

  /** Whoever follows hears at once that there is nothing more to come. */
  close(): void {
    this.#closed = true;
    this.#end();
    this.tellAll();
  }

  #end(): void {
    this.#stop?.();
    this.#stop = undefined;
  }
}

/** How often is looked where the system tells, and where it does not, in milliseconds. */
const withHints = 1_000;
const withoutHints = 100;
/** When a hint is looked into. */
const looks = [0, 10, 100];

/**
 * Calls `look` when a file of the folder whose name passes has changed, and now and again.
 * @returns how to stop
 */
export function watchFiles(
  folder: string,
  concerns: (name: string) => boolean,
  look: () => void,
): () => void {
  const timers = new Set<NodeJS.Timeout>();
  let pending = false;
  const hint = (): void => {
    if (pending) return;
    pending = true;
    for (const [i, ms] of looks.entries()) {
      const timer = setTimeout(() => {
        timers.delete(timer);
        // What comes while we look is looked into by the next look, or is a hint of its own.
        if (i === looks.length - 1) pending = false;
        look();
      }, ms);
      timers.add(timer);
    }
  };
  let watcher: FSWatcher | undefined;
  let looking: NodeJS.Timeout;
  const lookEvery = (ms: number): void => {
    clearInterval(looking);
    looking = setInterval(look, ms);
  };
  try {
    watcher = watch(folder, (_event, name) => {
      if (name === null || concerns(name)) hint();
    });
    watcher.on("error", () => {
      watcher?.close();
      lookEvery(withoutHints);
    });
    looking = setInterval(look, withHints);
  } catch {
    looking = setInterval(look, withoutHints);
  }
  return () => {
    watcher?.close();
    clearInterval(looking);
    for (const timer of timers) clearTimeout(timer);
  };
}

/** What a change of a file shows in; where it cannot be looked at, why: whoever reads it hears the same. */
export function looksOf(file: string): string {
  try {
    const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
    return stat === undefined ? "" : `${stat.ino}/${stat.size}/${stat.mtimeNs}`;
  } catch (thrown) {
    return messageOf(thrown);
  }
}
