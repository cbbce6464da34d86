// The room of the journal's place: where runs are kept on this machine.
//
// Not in the folder that is worked on: a run must leave nothing there that it was not asked for. What was said to an
// agent is private, so the folder is made for its owner alone.

import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { messageOf } from "@rondo/core";
import { type SqliteJournal, sqliteJournal } from "@rondo/journal";
import type { Arguments } from "./arguments.ts";
import { Failure, UsageError } from "./failure.ts";

type Environment = { readonly [name: string]: string | undefined };

export interface JournalPlace {
  file: string;
  /** Who named it. */
  named: "option" | "environment" | "default";
}

/** Where the journal is: `--journal`, else RONDO_JOURNAL, else a file in the user's state folder. */
export function journalPlace(args: Arguments, env: Environment): JournalPlace {
  const option = args.text("journal");
  if (option !== undefined) {
    if (option.trim() === "") throw new UsageError("--journal needs the name of a file");
    return { file: resolve(option), named: "option" };
  }
  if (env.RONDO_JOURNAL) return { file: resolve(env.RONDO_JOURNAL), named: "environment" };
  return { file: join(stateFolder(env), "rondo", "runs.db"), named: "default" };
}

function stateFolder(env: Environment): string {
  // As the XDG rules say, a relative path is not one.
  if (env.XDG_STATE_HOME && isAbsolute(env.XDG_STATE_HOME)) return env.XDG_STATE_HOME;
  if (process.platform === "win32" && env.LOCALAPPDATA) return env.LOCALAPPDATA;
  return join(homedir(), ".local", "state");
}

/** Why no journal can be made at a place, or undefined when it can. */
export function whyNotWritable({ file }: JournalPlace): string | undefined {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    accessSync(dirname(file), constants.W_OK);
    if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
    return undefined;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

/** Opens the journal, making it if need be. @throws RondoError that names the file */
export function openJournal(place: JournalPlace): SqliteJournal {
  if (!existsSync(dirname(place.file))) mkdirSync(dirname(place.file), { recursive: true, mode: 0o700 });
  return sqliteJournal(place.file);
}

/** Opens a journal that must be there. @throws Failure when it is not; RondoError when it is no journal */
export function openKnownJournal(place: JournalPlace): SqliteJournal {
  if (existsSync(place.file)) return sqliteJournal(place.file);
  const where =
    place.named === "option"
      ? "name another with --journal"
      : place.named === "environment"
        ? "RONDO_JOURNAL names it"
        : "`rondo run` makes it, or name another with --journal";
  throw new Failure(`there is no journal ${place.file}; ${where}`);
}
