// The room of `rondo approve`, `deny` and `answer`: a call that waits gets its answer, and the run goes on.

import {
  type CallView,
  type JsonObject,
  type RunResult,
  type Session,
  type Tool,
  toolResult,
} from "@rondo/core";
import { awaitingApproval } from "@rondo/core/driving";
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
  does: "Let a call run that waits for it, and go on; CALL may be left out when one waits",
  maxWords: 2,
  options: {
    args: { type: "string", value: "JSON", does: "Run it with these arguments instead" },
    always: {
      type: "boolean",
      does: "And every later call of the tool with the same arguments in this run; rondo revoke takes it back",
    },
    uses: { type: "string", value: "N", does: "With --always: for so many later calls" },
    until: { type: "string", value: "TIME", does: "With --always: for so long (5m), or until a time" },
    ...goOnOptions,
  },
  act: async (args, console) => {
    const other = args.text("args");
    const edited = other === undefined ? undefined : readJson("args", other);
    const always = args.has("always") ? holdOf(args) : undefined;
    for (const option of ["uses", "until"])
      if (always === undefined && args.has(option))
        throw new UsageError(`--${option} says how long a grant holds: give --always with it`);
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
  does: "Deny a call that waits, and go on; the model reads the reason",
  maxWords: Number.POSITIVE_INFINITY,
  options: {
    stop: { type: "boolean", does: "End the run as well" },
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
  does: "Give a call that waits its result in place of running it, and go on",
  maxWords: Number.POSITIVE_INFINITY,
  options: {
    error: { type: "boolean", does: "The result is an error" },
    ...goOnOptions,
  },
  act: async (args, console) => {
    const [run, call, ...words] = args.words;
    if (words.length === 0)
      throw new UsageError("a result is missing: name the run, the call, and say what came of it");
    const result = toolResult(words.join(" "), { isError: args.has("error") });
    return answerCall(run, call, args, console, (session, name) => session.answer(name, result));
  },
};

/** @throws UsageError when other arguments do not fit the schema of the call's tool: it still waits */
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

/** Answers the call that is meant. Which one that is is seen from the records: whoever misspells it has changed nothing. */
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

/** The call that is meant: by its key or its id, or the only one. */
function waiting({ id: run, records }: FoundRun, given: string | undefined, flag: string): CallView {
  const pending = awaitingApproval(stateOf(records));
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
