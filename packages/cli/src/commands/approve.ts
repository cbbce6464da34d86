// The room of `rondo approve`, `deny` and `answer`: answers a waiting call, and continues the run.

import {
  type CallView,
  type JsonObject,
  type RunResult,
  type Session,
  type Tool,
  toolResult,
} from "@rondo/core";
import { pendingIn } from "@rondo/core/driving";
import type { Console } from "../console/console.ts";
import { Failure, UsageError } from "../console/failure.ts";
import { plainText, visibleText } from "../console/plain-text.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { Arguments } from "../line/arguments.ts";
import type { Command } from "../line/command.ts";
import { rondo } from "../line/command-name.ts";
import type { FoundRun } from "../runs/find-run.ts";
import { goOn, goOnOptions } from "../runs/reopen.ts";
import { callName, stateOf } from "../summary.ts";
import { holdOf, readJson } from "./allow.ts";

export const approve: Command = {
  name: "approve",
  words: "RUN [CALL]",
  does: "Approve a waiting call, and continue the run; CALL can be omitted when only one waits",
  maxWords: 2,
  options: {
    args: { type: "string", value: "JSON", does: "Run it with these arguments instead" },
    always: {
      type: "boolean",
      does: "Also allow every later call of the tool with the same arguments in this run; rondo revoke takes it back",
    },
    uses: { type: "string", value: "N", does: "With --always: for this many later calls" },
    until: { type: "string", value: "TIME", does: "With --always: for a duration (5m), or until a time" },
    ...goOnOptions,
  },
  act: async (args, console) => {
    const other = args.text("args");
    const edited = other === undefined ? undefined : readJson("args", other);
    const always = args.has("always") ? holdOf(args) : undefined;
    for (const option of ["uses", "until"])
      if (always === undefined && args.has(option))
        throw new UsageError(`--${option} limits a grant: give --always with it`);
    if (always !== undefined && edited !== undefined)
      throw new UsageError(
        "--always and --args exclude each other: what the model will ask for again are its own arguments",
      );
    const [run, call] = args.words;
    return answerCall(run, call, args, console, async (session, name, tools) => {
      if (edited !== undefined) {
        await checkFit(edited, session, name, tools);
        return session.edit(name, edited);
      }
      return session.approve(name, always === undefined ? {} : { always });
    });
  },
};

export const deny: Command = {
  name: "deny",
  words: 'RUN [CALL ["REASON"]]',
  does: "Deny a waiting call, and continue the run; the model reads the reason",
  maxWords: Number.POSITIVE_INFINITY,
  options: {
    stop: { type: "boolean", does: "Also end the run" },
    ...goOnOptions,
  },
  act: (args, console) => {
    const [run, call, ...reason] = args.words;
    return answerCall(run, call, args, console, (session, name) =>
      session.deny(name, reason.length === 0 ? undefined : reason.join(" "), { stop: args.has("stop") }),
    );
  },
};

export const answer: Command = {
  name: "answer",
  words: 'RUN CALL "RESULT"',
  does: "Give a result for a waiting call instead of running it, and continue the run",
  maxWords: Number.POSITIVE_INFINITY,
  options: {
    error: { type: "boolean", does: "Give the result as an error" },
    ...goOnOptions,
  },
  act: async (args, console) => {
    const [run, call, ...words] = args.words;
    if (words.length === 0)
      throw new UsageError("a result is missing: give the run, the call and its result");
    const result = toolResult(words.join(" "), { isError: args.has("error") });
    return answerCall(run, call, args, console, (session, name) => session.answer(name, result));
  },
};

/** @throws UsageError when the new arguments do not match the tool's schema: the call still waits */
async function checkFit(
  args: JsonObject,
  session: Session,
  call: string,
  tools: readonly Tool[],
): Promise<void> {
  const named = session.pending.find((one) => callName(one) === call)?.name;
  const check = await tools.find(({ name }) => name === named)?.check(args);
  if (check?.ok === false)
    throw new UsageError(`--args do not fit ${named}: ${visibleText(check.error)}; the call still waits`);
}

/** Answers a call. The call is looked up in the records before anything is written, so a typo changes nothing. */
function answerCall(
  run: string | undefined,
  call: string | undefined,
  args: Arguments,
  console: Console,
  act: (session: Session, call: string, tools: readonly Tool[]) => Promise<RunResult>,
): Promise<ExitCode> {
  let name = "";
  const find = (found: FoundRun, flag: string): void => {
    name = callName(waiting(found, call, flag));
  };
  return goOn(run, args, console, (session, tools) => act(session, name, tools), find);
}

/** The waiting call that is meant: by its key or id, or the only one. */
function waiting({ id: run, records }: FoundRun, given: string | undefined, flag: string): CallView {
  const pending = pendingIn(stateOf(records));
  const [only] = pending;
  const list = pending.map((call) => `${callName(call)} (${plainText(call.name)})`).join(", ");
  if (only === undefined)
    throw new Failure(
      `no call of run ${run} waits for an approval; go on with it by ${rondo} resume ${run}${flag}`,
    );
  if (given === undefined) {
    if (pending.length === 1) return only;
    throw new UsageError(`several calls wait: ${list}; say which one`);
  }
  const meant = pending.find((call) => callName(call) === given || call.id === given);
  if (meant !== undefined) return meant;
  throw new Failure(
    `no call ${JSON.stringify(plainText(given))} waits in run ${run}; there ${pending.length === 1 ? "waits" : "wait"} ${list}`,
  );
}
