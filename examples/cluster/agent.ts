// The room of the example's agent: a bookkeeper who enters two amounts and strikes the balance.
//
// An ordinary agent: nothing in it knows of machines. Its model is scripted, so that it needs no key and behaves the same
// on every worker; its tools take as long as real ones, so that a kill hits them at work. Its world is a folder
// with one file per session, in which each entry really made is one line.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as work } from "node:timers/promises";
import { Agent, type Message, maxSteps, type Tool, type ToolContext, tool } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";

/** The agent's name. */
export const agentName = "bookkeeper";
/** Number of calls of the writing tool in each session. */
export const writesPerSession = 3;

const inputSchema = {
  type: "object",
  properties: { entry: { type: "string" } },
  required: ["entry"],
} as const;

/** What was really entered in a session's book: the keys of the calls, in order. */
export function entriesIn(folder: string, session: string): string[] {
  const file = bookOf(folder, session);
  return existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => line.split(" ")[0] ?? "")
    : [];
}

const bookOf = (folder: string, session: string): string => join(folder, `${session}.book`);

/** A call's idempotency key begins with its session. */
const sessionOf = ({ idempotencyKey }: ToolContext): string =>
  idempotencyKey.slice(0, idempotencyKey.lastIndexOf(":"));

/** What it does, answer by answer. */
const turns = ["look", "enter", "enter", "look", "enter"] as const;

/** @param working called when a tool of a session starts, to show which worker has the session */
export function bookkeeper(folder: string, working: (session: string) => void): Agent {
  const tools: Tool[] = [
    tool({
      name: "look",
      description: "Looks at the receipts",
      inputSchema,
      effect: "read",
      execute: async ({ entry }, context) => {
        working(sessionOf(context));
        await work(15);
        return `receipt ${entry}: 42.00`;
      },
    }),
    tool({
      name: "enter",
      description: "Enters an amount in the book",
      inputSchema,
      effect: "write",
      execute: async ({ entry }, context) => {
        working(sessionOf(context));
        await work(10);
        appendFileSync(bookOf(folder, sessionOf(context)), `${context.idempotencyKey} ${entry}\n`);
        await work(10);
        return `entered ${entry}`;
      },
    }),
  ];
  const model = scripted(
    ({ messages }) => {
      const step = messages.filter((message: Message) => message.role === "assistant").length;
      const name = turns[step];
      return name === undefined
        ? say("The books are balanced.")
        : [say(`Entry ${step + 1}.`), call(name, { entry: `${step + 1}` }, { id: `call_${step + 1}` })];
    },
    { id: "bookkeeper", keepRequests: false },
  );
  return new Agent({
    model,
    system: "You keep the books.",
    tools,
    rules: [maxSteps(turns.length + 1)],
  });
}
