// The room of watching: a folder's files, watched by the system where possible, and polled anyway.
//
// A system event is only a hint: it may come before the change is visible, get lost, or never come (on a network file
// system). So each hint is followed by a look at once and two more, and without hints there is still a slow poll.

import { type FSWatcher, statSync, watch } from "node:fs";
import { checkSessionId, messageOf, Watchers } from "@rondo/core";

/** The watchers of a journal's sessions. Its files are watched while there are any, until it is closed. */
export class FileWatchers extends Watchers {
  readonly #start: () => () => void;
  #stop: (() => void) | undefined;
  #closed = false;

  /** @param start starts watching the files, and returns how to stop */
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

  /** Followers learn at once that nothing more will come. */
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

/** Polling intervals with and without system events, in milliseconds. */
const withHints = 1_000;
const withoutHints = 100;
/** Delays after a hint at which to look, in milliseconds. */
const looks = [0, 10, 100];

/**
 * Calls `look` when a file whose name passes the filter has changed, and at the polling interval.
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
        // A change during this look is seen by the next look, or brings its own hint.
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

/** A value that changes when the file does; the error text if it cannot be examined (whoever reads it gets the same error). */
export function looksOf(file: string): string {
  try {
    const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
    return stat === undefined ? "" : `${stat.ino}/${stat.size}/${stat.mtimeNs}`;
  } catch (thrown) {
    return messageOf(thrown);
  }
}
