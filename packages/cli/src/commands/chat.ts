// The room of `rondo chat`: several turns with one agent, on a plain terminal.

import { type Journal, memoryJournal } from "@rondo/core";
import { Conversation, type Talked } from "../chat/conversation.ts";
import type { Console } from "../console/console.ts";
import { UsageError } from "../console/failure.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { Invocation } from "../invocation.ts";
import type { Arguments } from "../line/arguments.ts";
import type { Command } from "../line/command.ts";
import { makeAgent } from "../runs/agent.ts";
import { findRun } from "../runs/find-run.ts";
import { journalFlag, journalPlace, openKnownJournal } from "../runs/journal-place.ts";
import { chooseModel } from "../runs/models.ts";
import { checkStart } from "../runs/reopen.ts";
import { keeping, newId, startedBy, startOptions, tellModel } from "../runs/starting.ts";

export const chat: Command = {
  name: "chat",
  words: '["MESSAGE"]',
  does: "Chat with an agent; what you type while it works is delivered at its next step",
  maxWords: Number.POSITIVE_INFINITY,
  options: {
    resume: { type: "string", value: "RUN", does: "Continue this run" },
    force: { type: "boolean", does: "Take the run over although another process seems to drive it" },
    ...startOptions,
  },
  act,
};

interface Begun {
  journal: Journal & { close?(): void | Promise<void> };
  journalOption: string | undefined;
  id: string;
  invocation: Invocation;
}

async function act(args: Arguments, console: Console): Promise<ExitCode> {
  const given = args.text("resume");
  const begun = given === undefined ? await fresh(args, console) : await resumed(given, args, console);
  const { journal, journalOption, id, invocation } = begun;
  try {
    const talk = async (name: string, take: boolean): Promise<Talked> => {
      const chosen = await chooseModel(name, console.env);
      const own = { ...invocation, model: chosen.name };
      const { agent, tools } = makeAgent({ invocation: own, model: chosen.model, journal });
      return { session: await agent.open(id, { takeOver: take }), tools, model: chosen.model.id };
    };
    const talked = await talk(invocation.model, args.has("force"));
    if (console.isTerminal)
      console.aside(`chat with ${talked.model} in ${invocation.root}; /help lists the commands`);
    const parts = { talked, console, journalOption, withModel: (name: string) => talk(name, false) };
    const first = args.words.join(" ").trim();
    return await new Conversation(parts).hold(first === "" ? undefined : first);
  } finally {
    await journal.close?.();
  }
}

async function fresh(args: Arguments, console: Console): Promise<Begun> {
  const chosen = await chooseModel(args.text("model"), console.env);
  const invocation = startedBy(args, chosen);
  const kept = await keeping(args, console);
  tellModel(chosen, console);
  const journal = kept?.journal ?? memoryJournal();
  return { journal, journalOption: kept?.flag, id: await newId(kept?.journal), invocation };
}

const fixed = [
  "root",
  "system",
  "max-steps",
  "budget-usd",
  "budget-tokens",
  "session-usd",
  "session-tokens",
  "timeout",
  "no-journal",
];

async function resumed(given: string, args: Arguments, console: Console): Promise<Begun> {
  for (const option of fixed)
    if (args.has(option))
      throw new UsageError(`--${option} and --resume exclude each other: a run goes on as it was started`);
  const place = journalPlace(args, console.env);
  const journal = await openKnownJournal(place, console, "to write");
  try {
    const found = await findRun(given, journal, place);
    const started = checkStart(found, args.has("force"));
    const model = args.text("model") ?? started.model;
    const allowed = {
      yes: started.yes || args.has("yes"),
      allow: [...started.allow, ...args.texts("allow")],
      deny: [...started.deny, ...args.texts("deny")],
    };
    const invocation = { ...started, ...allowed, model };
    return { journal, journalOption: journalFlag(place), id: found.id, invocation };
  } catch (thrown) {
    await journal.close();
    throw thrown;
  }
}
