// What a folder looks like at every instant of a rotation: taken from the calls that the journal really makes.

import fs, { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, join } from "node:path";

/** The session's files by name. */
export type Files = ReadonlyMap<string, Buffer>;

export function filesOf(folder: string): Files {
  const names = readdirSync(folder)
    .filter((name) => /\.jsonl(\.tmp)?$/.test(name))
    .sort();
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
}

/** Makes a folder that holds these files and nothing else. */
export function putFiles(folder: string, files: Files): void {
  fs.rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
}

export interface Watched {
  /** The calls that change a file or make it last, in order. */
  calls: string[];
  /** The files before the first and after each. */
  states: Files[];
}

/**
 * Acts, and looks at the folder after each call of the file system that could matter after a crash.
 * @param failing the number of a call that is not made: the disk is full
 */
export function watchCalls(folder: string, act: () => void, failing?: number): Watched {
  const { openSync, writeSync, fsyncSync, fdatasyncSync, ftruncateSync, renameSync, rmSync } = fs;
  const own = { openSync, writeSync, fsyncSync, fdatasyncSync, ftruncateSync, renameSync, rmSync };
  const calls: string[] = [];
  const states = [filesOf(folder)];
  const names = new Map<number, string>();
  let looking = false;
  const after = <Args extends unknown[], Result>(
    call: (...args: Args) => Result,
    say: (result: Result, ...args: Args) => string | undefined,
  ): ((...args: Args) => Result) => {
    return (...args) => {
      // Opening for reading does not count, and what is known of a call is known behind it.
      const counts = call !== (own.openSync as unknown) || String(args[1]).startsWith("w");
      if (!looking && counts && calls.length === failing) {
        calls.push("the disk is full");
        throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
      }
      const result = call(...args);
      if (looking) return result;
      looking = true;
      const said = say(result, ...args);
      if (said !== undefined) {
        calls.push(said);
        states.push(filesOf(folder));
      }
      looking = false;
      return result;
    };
  };
  const of = (file: number): string => names.get(file) ?? "?";
  Object.assign(fs, {
    openSync: after(
      own.openSync as (path: string, flags: string, mode?: number) => number,
      (file, path, flags) => {
        names.set(file, path === folder ? "folder" : basename(path));
        return flags.startsWith("w") ? `make ${of(file)}` : undefined;
      },
    ),
    writeSync: after(
      own.writeSync as (file: number, ...rest: unknown[]) => number,
      (_, file) => `write ${of(file)}`,
    ),
    fsyncSync: after(own.fsyncSync, (_, file) => `sync ${of(file)}`),
    fdatasyncSync: after(own.fdatasyncSync, (_, file) => `sync ${of(file)}`),
    ftruncateSync: after(own.ftruncateSync, (_, file) => `cut ${of(file)}`),
    renameSync: after(
      own.renameSync,
      (_, from, to) => `rename ${basename(String(from))} to ${basename(String(to))}`,
    ),
    rmSync: after(own.rmSync, (_, path) => `remove ${basename(String(path))}`),
  });
  syncBuiltinESMExports();
  try {
    act();
  } finally {
    Object.assign(fs, own);
    syncBuiltinESMExports();
  }
  return { calls, states };
}

/** The states, and between them every length (or each `step`th) of a file that grew. */
export function everyInstant(states: readonly Files[], step: number): Files[] {
  const all: Files[] = [];
  for (const [i, files] of states.entries()) {
    const before = states[i - 1];
    for (const [name, bytes] of before === undefined ? [] : files) {
      // A file that got its name by a rename did not grow under it.
      const from = (before?.get(name) ?? before?.get(`${name}.tmp`))?.length ?? 0;
      for (let length = from + 1; length < bytes.length; length += 1)
        if (length % step === 0 || length === from + 1 || length === bytes.length - 1)
          all.push(new Map([...files, [name, bytes.subarray(0, length)]]));
    }
    all.push(files);
  }
  return all;
}
