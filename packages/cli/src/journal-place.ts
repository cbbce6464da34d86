// The room of the journal's place: where runs are kept on this machine.
//
// Not in the folder that is worked on: a run must leave nothing there that it was not asked for. What was said to an
// agent is private, so the folder is made for its owner alone.

import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { type Journal, messageOf } from "@rondo/core";
import { jsonlJournal, sqliteJournal } from "@rondo/journal";
import type { Arguments } from "./arguments.ts";
import { Failure, UsageError } from "./failure.ts";

type Environment = { readonly [name: string]: string | undefined };

/** A journal that is open, and is to be closed. */
export type OpenJournal = Journal & { close(): void | Promise<void> };

export interface JournalPlace {
  /** A SQLite file, or the folder of a JSONL journal; absolute. For Restate the address of its ingress. */
  file: string;
  kind: "sqlite" | "jsonl" | "restate";
  /** Who named it. */
  named: "option" | "environment" | "default";
}

/** Where the journal is: `--journal`, else RONDO_JOURNAL, else a file in the user's state folder. */
export function journalPlace(args: Arguments, env: Environment): JournalPlace {
  const option = args.text("journal");
  if (option !== undefined) {
    if (option.trim() === "") throw new UsageError("--journal needs the name of a file, or jsonl:DIR");
    return { ...placeNamed(option), named: "option" };
  }
  if (env.RONDO_JOURNAL) return { ...placeNamed(env.RONDO_JOURNAL), named: "environment" };
  return { file: join(stateFolder(env), "rondo", "runs.db"), kind: "sqlite", named: "default" };
}

const jsonl = "jsonl:";
const restate = "restate:";

/** What a name means: `jsonl:DIR` is a folder of text files, `restate:URL` a server's ingress, everything else a SQLite file. */
export function placeNamed(name: string): Pick<JournalPlace, "file" | "kind"> {
  if (name.startsWith(restate)) {
    const url = name.slice(restate.length);
    if (!/^https?:\/\//.test(url) || !URL.canParse(url))
      throw new UsageError("restate: names no address; write restate:http://127.0.0.1:8080");
    return { file: url, kind: "restate" };
  }
  if (!name.startsWith(jsonl)) return { file: resolve(name), kind: "sqlite" };
  const folder = name.slice(jsonl.length);
  if (folder.trim() === "") throw new UsageError("jsonl: names no folder; write jsonl:DIR");
  return { file: resolve(folder), kind: "jsonl" };
}

/** The place as `--journal` names it. */
export const placeName = ({ file, kind }: JournalPlace): string =>
  kind === "sqlite" ? file : `${kind}:${file}`;

function stateFolder(env: Environment): string {
  // As the XDG rules say, a relative path is not one.
  if (env.XDG_STATE_HOME && isAbsolute(env.XDG_STATE_HOME)) return env.XDG_STATE_HOME;
  if (process.platform === "win32" && env.LOCALAPPDATA) return env.LOCALAPPDATA;
  return join(home(), ".local", "state");
}

/** In a container there may be no home: an id that no user has, and no HOME. An empty or relative one is none either. */
function home(): string {
  const known = [homedir, () => userInfo().homedir].map((ask) => {
    try {
      return ask();
    } catch {
      return "";
    }
  });
  const found = known.find(isAbsolute);
  if (found === undefined)
    throw new Failure(
      "there is no home folder to keep runs in: set HOME or XDG_STATE_HOME, or name a journal with --journal",
    );
  return found;
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
export async function openJournal(place: JournalPlace): Promise<OpenJournal> {
  if (place.kind !== "restate" && !existsSync(dirname(place.file)))
    mkdirSync(dirname(place.file), { recursive: true, mode: 0o700 });
  return open(place);
}

async function open({ file, kind }: JournalPlace): Promise<OpenJournal> {
  if (kind === "sqlite") return sqliteJournal(file);
  return kind === "jsonl" ? jsonlJournal(file) : onRestate(file);
}

/** A namespace other than the default stands behind the address: `restate:http://127.0.0.1:8080/shop`. */
async function onRestate(address: string): Promise<OpenJournal> {
  const { origin, pathname } = new URL(address);
  const namespace = pathname.replace(/^\/+|\/+$/g, "");
  let face: typeof import("@rondo/restate");
  try {
    face = await import("@rondo/restate");
  } catch (thrown) {
    throw new Failure(
      `restate: needs the package @rondo/restate, which cannot be loaded: ${messageOf(thrown)}`,
      {
        cause: thrown,
      },
    );
  }
  return face.restateJournal({ ingress: origin, ...(namespace === "" ? {} : { namespace }) });
}

/** Opens a journal that must be there. @throws Failure when it is not; RondoError when it is no journal */
export async function openKnownJournal(place: JournalPlace): Promise<OpenJournal> {
  if (place.kind === "restate" || existsSync(place.file)) return open(place);
  const where =
    place.named === "option"
      ? "name another with --journal"
      : place.named === "environment"
        ? "RONDO_JOURNAL names it"
        : "`rondo run` makes it, or name another with --journal";
  throw new Failure(`there is no journal ${place.file}; ${where}`);
}
