// The room of `rondo allow` and `rondo revoke`: gives and revokes grants for future calls of one run.
//
// Neither drives the run, so that the grants can be checked first; `rondo resume` continues it.

import {
  type ArgsPattern,
  type Grant,
  type HeldGrant,
  isLiveGrant,
  messageOf,
  type Session,
} from "@rondo/core";
import { hintAt } from "@rondo/core/checks";
import { parseArgsJson } from "../console/ask.ts";
import type { Console } from "../console/console.ts";
import { Failure, UsageError } from "../console/failure.ts";
import { jsonLine, plainText, visibleText } from "../console/plain-text.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { Arguments, OptionSpecs } from "../line/arguments.ts";
import { type Command, journalOption } from "../line/command.ts";
import { rondo } from "../line/command-name.ts";
import { grantText } from "../render/grant.ts";
import { withJournal } from "../runs/find-run.ts";
import { modelOptions, withRun } from "../runs/reopen.ts";
import { stateOf } from "../summary.ts";

const holdOptions: OptionSpecs = {
  uses: { type: "string", value: "N", does: "For this many calls. Default: any number" },
  until: {
    type: "string",
    value: "TIME",
    does: "For a duration (90s, 5m, 1h), or until a time (2026-12-24T18:00). Default: for the whole run",
  },
};

const options: OptionSpecs = {
  json: { type: "boolean", does: "Print one JSON object per line" },
  ...modelOptions,
  ...journalOption,
};

export const allow: Command = {
  name: "allow",
  words: "RUN [TOOL]",
  does: "Let future calls of a tool run without asking; without TOOL, list what is allowed in the run",
  maxWords: 2,
  options: {
    args: { type: "string", value: "JSON", does: "Only calls with exactly these arguments. Default: any" },
    like: {
      type: "string",
      value: "JSON",
      does: 'With arguments like these: the same keys, texts matched as globs, e.g. {"path":"notes/*"}; in a shell command a wildcard is never another command',
    },
    ...holdOptions,
    ...options,
  },
  act(args, console) {
    const [run, tool] = args.words;
    if (tool === undefined) return list(run, args, console);
    const pattern = patternOf(args);
    const held = holdOf(args);
    return withRun(run, args, console, async ({ session, tools, flag }) => {
      const names = tools.map((one) => one.name);
      if (!names.includes(tool)) throw new UsageError(noTool(tool, names));
      const grant = await session.allow({
        tool,
        ...(pattern === undefined ? {} : { args: pattern }),
        ...held,
      });
      console.line(args.has("json") ? jsonLine(grant) : `allowed: ${visibleText(grantText(grant))}`);
      goesOn(session, flag, console);
      return exitCodes.completed;
    });
  },
};

export const revoke: Command = {
  name: "revoke",
  words: "RUN GRANT",
  does: "Revoke a grant; calls that it already allowed continue",
  maxWords: 2,
  options,
  act(args, console) {
    const [run, id] = args.words;
    if (run !== undefined && id === undefined)
      throw new UsageError(`which grant? Give its id; \`${rondo} allow RUN\` lists them`);
    return withRun(run, args, console, async ({ session, flag }) => {
      const grant = session.state.grants.find((one) => one.id === id);
      if (id === undefined || grant === undefined) throw new Failure(noGrant(session, id, flag));
      if (grant.revoked !== true) await session.revoke(id);
      console.line(
        args.has("json") ? jsonLine({ revoked: id }) : `revoked: ${visibleText(grantText(grant))}`,
      );
      return exitCodes.completed;
    });
  },
};

/** The number of calls and the expiry of a grant, from the options. */
export function holdOf(args: Arguments): Pick<Grant, "uses" | "until"> {
  const uses = args.wholeNumber("uses");
  const until = args.time("until", Date.now());
  return { ...(uses === undefined ? {} : { uses }), ...(until === undefined ? {} : { until }) };
}

function patternOf(args: Arguments): ArgsPattern | undefined {
  const [exact, like] = [args.text("args"), args.text("like")];
  if (exact !== undefined && like !== undefined)
    throw new UsageError("--args and --like exclude each other; give one");
  if (exact !== undefined) return { exact: readJson("args", exact) };
  return like === undefined ? undefined : { like: readJson("like", like) };
}

export function readJson(option: string, text: string): ReturnType<typeof parseArgsJson> {
  try {
    return parseArgsJson(text);
  } catch (thrown) {
    throw new UsageError(`--${option} cannot be used: ${messageOf(thrown)}`, { cause: thrown });
  }
}

/** The grants in force, from the records alone. */
async function list(given: string | undefined, args: Arguments, console: Console): Promise<ExitCode> {
  for (const option of ["args", "like", "uses", "until"])
    if (args.has(option)) throw new UsageError(`--${option} says which calls of a tool: name the TOOL`);
  return withJournal(args, console, "to read", async ({ find }) => {
    const { id, records } = await find(given);
    const now = Date.now();
    const grants = stateOf(records).grants.filter((grant) => isLiveGrant(grant, now));
    for (const grant of grants) console.line(args.has("json") ? jsonLine(grant) : heldText(grant));
    if (grants.length === 0 && !args.has("json")) console.errorLine(`nothing is allowed in run ${id}`);
    return exitCodes.completed;
  });
}

const heldText = (grant: HeldGrant): string => `${visibleText(grantText(grant))}, used ${grant.used}×`;

function goesOn(session: Session, flag: string, console: Console): void {
  if (session.status !== "idle")
    console.errorLine(`run ${session.id} is open; go on with: ${rondo} resume ${session.id}${flag}`);
}

const noTool = (tool: string, names: readonly string[]): string =>
  `there is no tool ${JSON.stringify(plainText(tool))}.${hintAt(tool, names)} There are ${names.join(", ")}`;

function noGrant({ grants, id: run }: Session, id: string | undefined, flag: string): string {
  const known = grants.map((grant) => plainText(grant.id)).join(", ");
  return `no grant ${JSON.stringify(plainText(id ?? ""))} was given in run ${run}; ${known === "" ? "nothing is allowed there" : `there is ${known}: see ${rondo} allow ${run}${flag}`}`;
}
