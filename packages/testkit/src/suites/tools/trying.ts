// The room of trying a tool: what its conformance suite runs it with, and what comes of that.

import { fail as failed } from "node:assert/strict";
import { inspect } from "node:util";
import {
  Agent,
  type ArgsCheck,
  type Effect,
  type JsonObject,
  type LogRecord,
  memoryJournal,
  type Provided,
  type Tool,
  type ToolContext,
  textOf,
  toolWith,
} from "@rondo/core";
import { call, say } from "../../scripted/turns.ts";
import { scripted } from "../../scripted.ts";
import { toolContext } from "../../tool-context.ts";
import { mustBe } from "../check.ts";

export interface ToolUnderTest {
  /** Stands before the name of every check. Default: the tool's name. */
  name?: string;
  tool: Tool;
  /** Arguments it takes: each is run for real, several times. At least one. */
  examples: readonly JsonObject[];
  /** Arguments it must refuse. Default: made from its schema (a required member left out, a member of another type). */
  refuses?: readonly JsonObject[];
  /** Arguments that make it fail. */
  fails?: readonly JsonObject[];
  /** Arguments that keep it at work until its signal fires. */
  slow?: JsonObject;
  /** What the tool is meant to do to the world. */
  effect: Effect;
  /**
   * The world it touches, as it is now, or a promise of it: plain data, maps and sets, all of which is compared. `read`
   * leaves it as it was; `idempotent` twice is the same as once.
   */
  world?(): unknown;
  /** Put in order before each check, and after it. */
  before?(): void | Promise<void>;
  after?(): void | Promise<void>;
  /** What is given for keys of the tool. */
  dependencies?: readonly Provided[];
  /** How long an abort may take to be heard, in milliseconds. Default: 2,000. */
  abortWithinMs?: number;
  /** The most a result may leave in a conversation, in bytes. Default: 64 KiB, the default cap and its notice. */
  resultBytes?: number;
}

/** What a tool must do, and how that is tried. */
export interface Demand {
  name: string;
  needs?(subject: ToolUnderTest): boolean;
  body(subject: ToolUnderTest): Promise<void>;
}

export const contextOf = ({ dependencies = [] }: ToolUnderTest, signal?: AbortSignal): ToolContext =>
  toolContext(signal === undefined ? { dependencies } : { dependencies, signal });

/** Runs it as the loop would: checked first, then with what the check made of the arguments. */
export async function run(
  subject: ToolUnderTest,
  args: JsonObject,
  context: ToolContext = contextOf(subject),
): Promise<unknown> {
  return subject.tool.execute(await taken(subject, args), context);
}

/** What its check makes of arguments that it must take. */
export async function taken(subject: ToolUnderTest, args: JsonObject): Promise<never> {
  const checked = await check(subject, args);
  if (!checked.ok)
    failed(`it refuses arguments that are to be taken, ${JSON.stringify(args)}: ${checked.error}`);
  return checked.value as never;
}

export async function check({ tool }: ToolUnderTest, args: JsonObject): Promise<ArgsCheck> {
  return tool.check(structuredClone(args), { coerce: true, unknownKeys: "allow" });
}

/** A thing as it is now, in words: it may change later. */
export function inWords(thing: unknown): string {
  const all = Number.POSITIVE_INFINITY;
  const bounds = { depth: all, maxArrayLength: all, maxStringLength: all, breakLength: all };
  return inspect(thing, { ...bounds, getters: true });
}

/** Does something with arguments, which must be as they were when it is done. */
export async function leaving(args: never, what: string, act: () => unknown): Promise<void> {
  const before = inWords(args);
  await act();
  mustBe(inWords(args), before, `its arguments, after ${what} had them (make a copy of what is to change)`);
}

/** One call by a scripted model, through the whole loop. */
export async function throughTheLoop(
  subject: ToolUnderTest,
  args: JsonObject,
): Promise<{ executed: number; text: string; bytes: number; isError: boolean; code: string | undefined }> {
  let executed = 0;
  const { tool } = subject;
  const counting = toolWith(tool, {
    permission: "allow",
    execute: (given: never, context) => {
      executed += 1;
      return tool.execute(given, context);
    },
  });
  const journal = memoryJournal();
  const agent = new Agent({
    model: scripted([call(tool.name, args), say("done")]),
    tools: [counting],
    journal,
    ...(subject.dependencies === undefined ? {} : { dependencies: subject.dependencies }),
  });
  const { messages } = await agent.run("go", { session: "s" });
  const result = messages.find((message) => message.role === "tool");
  if (result?.role !== "tool") failed("the call has no result");
  const finished = ((await journal.read("s")) as LogRecord[]).find(({ type }) => type === "tool_finished");
  return {
    executed,
    text: textOf(result),
    bytes: Buffer.byteLength(JSON.stringify(result.content)),
    isError: result.isError,
    code: finished?.type === "tool_finished" ? finished.result.code : undefined,
  };
}
