// The room of the example's agent: a bookkeeper who enters two amounts and strikes the balance.
//
// An agent as anywhere else: nothing in it knows of machines. Its mind is scripted, so that it needs no key and does the
// same wherever it goes on; its tools take the time that real ones take, so that a kill finds them at work. Its world is
// a folder with a file per session, where every entry that was really made is one line.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as work } from "node:timers/promises";
import { Agent, type Message, maxSteps, type Tool, type ToolContext, tool } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";

/** What the agent is called. */
export const agentName = "bookkeeper";
/** Calls of the tool that writes, in each session. */
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

/** A call's key begins with its session. */
const sessionOf = ({ idempotencyKey }: ToolContext): string =>
  idempotencyKey.slice(0, idempotencyKey.lastIndexOf(":"));

/** What it does, answer by answer. */
const turns = ["look", "enter", "enter", "look", "enter"] as const;

/** @param working told when a tool of a session begins, for whoever wants to know where it goes on */
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
