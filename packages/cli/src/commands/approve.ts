// The room of `rondo approve` and `rondo deny`: a call that waits gets its answer, and the run goes on.

import type { CallView, Session } from "@rondo/core";
import { Failure, UsageError } from "../console/failure.ts";
import { plainText } from "../console/plain-text.ts";
import type { Command } from "../line/command.ts";
import { goOn, goOnOptions } from "../runs/goes-on.ts";
import { callName } from "../summary.ts";
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
        throw new UsageError(`--${option} says how long leave holds: give --always with it`);
    if (always !== undefined && edited !== undefined)
      throw new UsageError(
        "--always and --args exclude each other: what the model will ask for again are its own arguments",
      );
    return goOn(args.words[0], args, console, (session) => {
      const call = callName(waiting(session, args.words[1]));
      if (edited !== undefined) return session.edit(call, edited);
      return session.approve(call, always === undefined ? {} : { always });
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
    return goOn(run, args, console, (session) =>
      session.deny(callName(waiting(session, call)), reason.length === 0 ? undefined : reason.join(" "), {
        stop: args.has("stop"),
      }),
    );
  },
};

/** The call that is meant: by its key or its id, or the only one. */
function waiting(session: Session, given: string | undefined): CallView {
  const { pending } = session;
  const [only] = pending;
  const list = pending.map((call) => `${callName(call)} (${plainText(call.name)})`).join(", ");
  if (only === undefined)
    throw new Failure(
      `no call of run ${session.id} waits for an approval; go on with it by rondo resume ${session.id}`,
    );
  if (given === undefined) {
    if (pending.length === 1) return only;
    throw new UsageError(`several calls wait: ${list}; say which one`);
  }
  const meant = pending.find((call) => callName(call) === given || call.id === given);
  if (meant !== undefined) return meant;
  throw new Failure(
    `no call ${JSON.stringify(plainText(given))} waits in run ${session.id}; there ${pending.length === 1 ? "waits" : "wait"} ${list}`,
  );
}
