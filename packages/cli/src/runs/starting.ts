// The room of starting: the settings of a new run or chat, from the command line.

import { isUtf8 } from "node:buffer";
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Journal, messageOf } from "@rondo/core";
import type { Console } from "../console/console.ts";
import { Failure, UsageError } from "../console/failure.ts";
import type { Invocation } from "../invocation.ts";
import type { Arguments, OptionSpecs } from "../line/arguments.ts";
import { journalOption } from "../line/command.ts";
import {
  type JournalPlace,
  journalFlag,
  journalPlace,
  type OpenJournal,
  openJournal,
  whyNotWritable,
} from "./journal-place.ts";
import type { ChosenModel } from "./models.ts";

/** A run's limits and approvals. */
export const limitOptions: OptionSpecs = {
  "max-steps": { type: "string", value: "N", does: "Maximum number of model answers. Default: 100" },
  "budget-usd": { type: "string", value: "AMOUNT", does: "Maximum cost of a run in US dollars" },
  "budget-tokens": { type: "string", value: "N", does: "Maximum tokens of a run, input and output together" },
  "session-usd": { type: "string", value: "AMOUNT", does: "The same for all runs of the session together" },
  "session-tokens": { type: "string", value: "N", does: "The same for all runs of the session together" },
  timeout: { type: "string", value: "TIME", does: "Maximum time: 90 (seconds), 90s, 5m, 1h" },
  yes: { type: "boolean", short: "y", does: "Approve everything that needs an approval" },
  allow: {
    type: "string",
    value: "TOOL",
    multiple: true,
    does: "Approve this tool in advance (may be repeated)",
  },
  deny: { type: "string", value: "TOOL", multiple: true, does: "Never run this tool (may be repeated)" },
};

export const startOptions: OptionSpecs = {
  model: {
    type: "string",
    short: "m",
    value: "NAME",
    does: "A model, e.g. anthropic/claude-sonnet-5 or offline; or a module whose default export is a Model, e.g. ./model.ts",
  },
  root: { type: "string", value: "DIR", does: "The folder to work in. Default: the current one" },
  system: { type: "string", value: "TEXT|@FILE", does: "The system prompt" },
  ...limitOptions,
  ...journalOption,
  "no-journal": { type: "boolean", does: "Keep nothing" },
  redact: {
    type: "boolean",
    does: "Keep secrets from the model and the journal: the values of environment variables named like one (…_KEY, …_TOKEN), and texts that look like one (sk-…)",
  },
};

/** Says on one line which model is used, and why. */
export function tellModel({ model, why }: ChosenModel, console: Console): void {
  const id = model.id === "offline/planner" ? "offline" : model.id;
  console.aside(`model: ${id} (${why})`);
}

/** A text, or the content of the file named by `@FILE`. @param option prefix for error messages: `--system ` */
export function textOrFile(given: string, option: string): string {
  if (!given.startsWith("@")) return given;
  const file = given.slice(1);
  if (file === "") throw new UsageError(`${option}@ names no file; write ${option}@FILE`);
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (thrown) {
    throw new Failure(`${option}${given}: the file cannot be read: ${messageOf(thrown)}`, { cause: thrown });
  }
  // Invalid bytes would silently reach the model as U+FFFD.
  if (!isUtf8(bytes))
    throw new Failure(
      `${option}${given}: the file is not valid UTF-8 text; save it as UTF-8, or name another`,
    );
  return new TextDecoder().decode(bytes);
}

export function systemOf(args: Arguments): string | undefined {
  const given = args.text("system");
  return given === undefined ? undefined : textOrFile(given, "--system ");
}

/** The limits and approvals that were given. */
export function limitsOf(args: Arguments): Partial<Invocation> {
  const maxSteps = args.wholeNumber("max-steps");
  const budgetUsd = args.number("budget-usd");
  const budgetTokens = args.wholeNumber("budget-tokens");
  const sessionUsd = args.number("session-usd");
  const sessionTokens = args.wholeNumber("session-tokens");
  const timeoutMs = args.duration("timeout");
  return {
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
    ...(budgetTokens === undefined ? {} : { budgetTokens }),
    ...(sessionUsd === undefined ? {} : { sessionUsd }),
    ...(sessionTokens === undefined ? {} : { sessionTokens }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(args.has("yes") ? { yes: true } : {}),
    ...(args.has("allow") ? { allow: args.texts("allow") } : {}),
    ...(args.has("deny") ? { deny: args.texts("deny") } : {}),
  };
}

/** How the command line starts a run. */
export function startedBy(args: Arguments, chosen: ChosenModel): Invocation {
  const system = systemOf(args);
  const root = args.text("root") ?? ".";
  // An unset shell variable must not silently mean the current folder.
  if (root.trim() === "") throw new UsageError("--root needs the name of a folder");
  return {
    root: resolve(root),
    model: chosen.name,
    ...(system === undefined ? {} : { system }),
    yes: false,
    allow: [],
    deny: [],
    ...(args.has("redact") ? { redact: true } : {}),
    ...limitsOf(args),
  };
}

export interface Kept {
  journal: OpenJournal;
  flag: string;
}

/** The journal; undefined when nothing is to be kept, or nothing can be kept and no journal was asked for. */
export async function keeping(args: Arguments, console: Console): Promise<Kept | undefined> {
  if (args.has("no-journal")) {
    if (args.has("journal")) throw new UsageError("--journal and --no-journal exclude each other; give one");
    return undefined;
  }
  const place = placeFor(args, console);
  if (place === undefined) return undefined;
  const why = place.named === "default" ? whyNotWritable(place) : undefined;
  if (why !== undefined) {
    console.errorLine(`rondo: this run is not kept: ${why}; name a journal with --journal FILE`);
    return undefined;
  }
  return { journal: await openJournal(place, console), flag: journalFlag(place) };
}

/** Where a new run is kept. Undefined, after printing why, if the default place cannot be used. */
function placeFor(args: Arguments, console: Console): JournalPlace | undefined {
  try {
    return journalPlace(args, console.env);
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    console.errorLine(`rondo: this run is not kept: ${thrown.message}`);
    return undefined;
  }
}

/** A new run's id: short, and with random first letters, so that a few of them identify it. */
export async function newId(journal: Journal | undefined): Promise<string> {
  for (;;) {
    const id = Array.from({ length: 8 }, () => randomInt(36).toString(36)).join("");
    if (journal === undefined || (await journal.read(id)).length === 0) return id;
  }
}
