// The room of the journal's place: where runs are kept on this machine.
//
// Not in the working folder: a run must leave nothing there that was not asked for. Conversations are private,
// so the folder is accessible to its owner only.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Journal, messageOf } from "@rondo/core";
import { jsonlJournal, sqliteJournal } from "@rondo/journal";
import type { Console } from "../console/console.ts";
import { Failure, UsageError } from "../console/failure.ts";
import type { Arguments } from "../line/arguments.ts";
import { rondo } from "../line/command-name.ts";

type Environment = { readonly [name: string]: string | undefined };

/** An open journal, to be closed. */
export type OpenJournal = Journal & Required<Pick<Journal, "close" | "delete">>;

export interface JournalPlace {
  /** A SQLite file, or the folder of a JSONL journal, absolute; for Restate, the URL of its ingress. */
  file: string;
  kind: "sqlite" | "jsonl" | "restate";
  /** Where the name came from. */
  named: "option" | "environment" | "default";
}

/** Where the journal is: `--journal`, else RONDO_JOURNAL, else a file in the user's state folder. */
export function journalPlace(args: Arguments, env: Environment): JournalPlace {
  const option = args.text("journal");
  if (option !== undefined) {
    if (option.trim() === "") throw new UsageError("--journal needs the name of a file, or jsonl:DIR");
    return { ...placeNamed(option), named: "option" };
  }
  // A variable set to an empty text counts as not set.
  const named = env.RONDO_JOURNAL ?? "";
  if (named.trim() !== "") return { ...placeNamed(named), named: "environment" };
  return { file: join(stateFolder(env), "rondo", "runs.db"), kind: "sqlite", named: "default" };
}

const jsonl = "jsonl:";
const sqlite = "sqlite:";
const restate = "restate:";

/** Parses a name: `jsonl:DIR` is a folder of text files, `restate:URL` a server's ingress, anything else (or `sqlite:FILE`) a SQLite file. A path may be a `file://` URL. */
export function placeNamed(name: string): Pick<JournalPlace, "file" | "kind"> {
  if (name.startsWith(restate)) {
    const url = name.slice(restate.length);
    if (!/^https?:\/\//.test(url) || !URL.canParse(url))
      throw new UsageError("restate: names no address; write restate:http://127.0.0.1:8080");
    return { file: url, kind: "restate" };
  }
  if (name.startsWith(sqlite)) {
    const file = name.slice(sqlite.length);
    if (file.trim() === "") throw new UsageError("sqlite: names no file; write sqlite:FILE");
    return { file: pathOf(file), kind: "sqlite" };
  }
  if (!name.startsWith(jsonl)) return { file: pathOf(name), kind: "sqlite" };
  const folder = name.slice(jsonl.length);
  if (folder.trim() === "") throw new UsageError("jsonl: names no folder; write jsonl:DIR");
  return { file: pathOf(folder), kind: "jsonl" };
}

/** The path that is meant. Other URLs are refused: as a path they would create a folder called `http:`. */
function pathOf(name: string): string {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(name)) return resolve(name);
  if (/^https?:/i.test(name))
    throw new UsageError(
      `${JSON.stringify(name)} names no file; write restate:${name} for a server of Restate`,
    );
  if (!/^file:/i.test(name))
    throw new UsageError(
      `${JSON.stringify(name)} names no journal: a SQLite file, jsonl:DIR and restate:URL can be used`,
    );
  try {
    return fileURLToPath(name);
  } catch (thrown) {
    throw new UsageError(`${JSON.stringify(name)} names no file: ${messageOf(thrown)}`, { cause: thrown });
  }
}

/** The place as `--journal` names it. */
export const placeName = ({ file, kind }: JournalPlace): string =>
  kind === "sqlite" ? file : `${kind}:${file}`;

/** The option that selects this journal, as this system's shells read it; nothing for the default one. */
export function journalFlag(place: JournalPlace, platform: string = process.platform): string {
  if (place.named !== "option") return "";
  const name = placeName(place);
  // Both of Windows' shells know double quotes, which no file's name there has; a backslash is nothing special.
  if (platform === "win32") return ` --journal ${/^[\w@+=:./\\-]+$/.test(name) ? name : `"${name}"`}`;
  return ` --journal ${/^[\w@%+=:,./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`}`;
}

function stateFolder(env: Environment): string {
  // The XDG rules say to ignore a relative path.
  if (env.XDG_STATE_HOME && isAbsolute(env.XDG_STATE_HOME)) return env.XDG_STATE_HOME;
  if (process.platform === "win32" && env.LOCALAPPDATA) return env.LOCALAPPDATA;
  return join(home(), ".local", "state");
}

/** A container may have no home: a user id without an account, and no HOME. An empty or relative HOME does not count. */
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

/** Why no journal can be created at a place, or undefined when it can. Nothing is created to find out. */
export function whyNotWritable({ file }: JournalPlace): string | undefined {
  try {
    const folder = knownFolder(dirname(file));
    if (!statSync(folder).isDirectory()) return `${folder} is not a folder`;
    accessSync(folder, constants.W_OK | constants.X_OK);
    if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
    return undefined;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

/** The folder, or the nearest existing one above it. */
function knownFolder(folder: string): string {
  const above = dirname(folder);
  return above === folder || existsSync(folder) ? folder : knownFolder(above);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Opening it reports the reason.
    return false;
  }
}

/** Receives warnings. */
type Hearer = Pick<Console, "warn">;

/** What a journal is opened for: a command that only reads works on a full disk too. */
export type Purpose = "to read" | "to write";

/** Opens the journal, creating it and its folder if necessary. @throws RondoError that names the file */
export async function openJournal(
  { file, kind }: JournalPlace,
  hearer: Hearer,
  purpose: Purpose = "to write",
): Promise<OpenJournal> {
  const readOnly = purpose === "to read";
  const warn = (message: string): void => hearer.warn(message);
  if (kind === "sqlite") {
    if (isFolder(file))
      throw new Failure(
        `${file} is a folder; write jsonl:${file} for a journal of text files, or name a file`,
      );
    return sqliteJournal(file, { readOnly });
  }
  if (kind === "restate") return onRestate(file, warn);
  if (existsSync(file) && !isFolder(file))
    throw new Failure(`${file} is not a folder; write ${file} alone for a SQLite file, or name a folder`);
  return jsonlJournal(file, { readOnly, warn });
}

/** A non-default namespace follows the URL: `restate:http://127.0.0.1:8080/shop`. */
async function onRestate(address: string, warn: Hearer["warn"]): Promise<OpenJournal> {
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
  return face.restateJournal({ ingress: origin, warn, ...(namespace === "" ? {} : { namespace }) });
}

/** Opens an existing journal. @throws Failure when it does not exist; RondoError when it is not a journal */
export async function openKnownJournal(
  place: JournalPlace,
  hearer: Hearer,
  purpose: Purpose,
): Promise<OpenJournal> {
  if (place.kind === "restate" || existsSync(place.file)) return openJournal(place, hearer, purpose);
  throw noJournal(place);
}

/** The failure that a journal does not exist, and what to do. */
export function noJournal({ file, named }: Omit<JournalPlace, "kind">): Failure {
  const where = {
    option: "name another with --journal",
    environment: "RONDO_JOURNAL names it",
    default: `\`${rondo} run\` makes it, or name another with --journal`,
  }[named];
  return new Failure(`there is no journal ${file}; ${where}`);
}
