// The room of the tools: what the agents use, and how each call goes wrong.
//
// Its arguments determine how a call goes (`roll`, 0 to 999, drawn by the mind), so that the same call goes the same way
// in every process. Waits are real, and short.

import { DoneSignal, RondoError, type Tool, type ToolContext, tool, waitForAnswer } from "@rondo/core";
import type { World } from "./world.ts";

interface Args {
  on?: string;
  roll?: number;
}

const inputSchema = {
  type: "object",
  properties: {
    on: { type: "string", description: "what it is about" },
    roll: { type: "integer", description: "how it goes" },
  },
  required: ["on"],
} as const;

/** Time limit of a call, in milliseconds; some take longer, and some never end. */
const timeoutMs = 300;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Ends with the signal, without leaving anything behind. */
function untilStopped({ signal }: ToolContext): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

/** What happens in a call before its result. */
async function work(roll: number, context: ToolContext): Promise<void> {
  const share = roll % 100;
  if (share < 40) return;
  if (share < 60) return new Promise((resolve) => setImmediate(resolve));
  if (share < 80) return sleep(share - 59);
  if (share < 85) {
    context.update("on its way");
    await sleep(30);
    return context.update("nearly there");
  }
  if (share < 89) throw new Error("the shelf is out of reach");
  if (share === 89) throw new RondoError("capability", "there is no ladder");
  if (share === 90) return Promise.reject("just a word");
  if (share === 91) return Promise.reject(undefined);
  if (share < 94) return untilStopped(context);
  // Ignores its signal.
  if (share === 94) return new Promise(() => {});
  if (share === 95) return sleep(timeoutMs + 200);
  if (share === 96) {
    await sleep(timeoutMs + 200);
    context.update("much too late");
    throw new Error("and in vain");
  }
  await sleep(share);
}

/** Return values that no model can read as they are. */
function oddValue(roll: number): unknown {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  return [undefined, null, 12n, circle, Number.NaN, () => 1, new Map([["a", 1]])][roll % 7];
}

const keys = ({ on = "" }: Args): string[] => [on];

/** What the loop is told about a write instead of the truth. */
interface Lies {
  note?: "idempotent";
}

/** The tools of these names. */
export function toolsOf(world: World, names: readonly string[], lies: Lies = {}): Tool[] {
  const all = [...readingTools(), ...writingTools(world, lies), orderTool(world), postTool(world)];
  return all.filter(({ name }) => names.includes(name));
}

function readingTools(): Tool[] {
  return [
    tool({
      name: "look",
      description: "looks at a shelf",
      inputSchema,
      effect: "read",
      timeoutMs,
      execute: async ({ on, roll = 0 }: Args, context) => {
        await work(roll, context);
        return roll % 50 === 7 ? oddValue(roll) : `On shelf ${on} there are ${1 + (roll % 7)} things.`;
      },
    }),
    tool({
      name: "big",
      description: "reads out a whole shelf",
      inputSchema,
      effect: "read",
      execute: ({ on, roll = 0 }: Args) => {
        const lines = 1 + Math.floor((roll / 1_000) ** 4 * 3_000);
        return Array.from({ length: lines }, (_, line) => `shelf ${on}, thing ${line}: kept`).join("\n");
      },
    }),
    tool({
      name: "done",
      description: "ends the work",
      inputSchema,
      effect: "read",
      execute: ({ roll = 0 }: Args) => (roll < 300 ? new DoneSignal("Done, says the tool.") : "not yet"),
    }),
  ];
}

type Writing = (args: Args, context: ToolContext) => Promise<string>;

/** A write that is entered in the world. */
const writing =
  (world: World, done: string): Writing =>
  async ({ on, roll = 0 }, context) => {
    // A failing call fails before its effect; one that hangs or is late may already have had it.
    const fails = roll % 100 >= 85 && roll % 100 < 92;
    if (fails) await work(roll, context);
    world.effect(context.idempotencyKey, done);
    await work(roll, context).catch(() => {});
    return `${done} ${on}`;
  };

function writingTools(world: World, lies: Lies): Tool[] {
  return [
    tool({
      name: "set",
      description: "sets a value",
      inputSchema,
      effect: "idempotent",
      keys,
      timeoutMs,
      execute: writing(world, "set"),
    }),
    tool({
      name: "note",
      description: "writes a note",
      inputSchema,
      effect: lies.note ?? "write",
      keys,
      timeoutMs,
      execute: writing(world, "noted"),
    }),
    tool({
      name: "stamp",
      description: "puts a stamp",
      inputSchema,
      timeoutMs,
      execute: writing(world, "stamped"),
    }),
    tool({
      name: "publish",
      description: "publishes",
      inputSchema,
      keys,
      permission: "ask",
      timeoutMs,
      execute: writing(world, "published"),
    }),
  ];
}

function orderTool(world: World): Tool {
  const order = writing(world, "ordered");
  return tool({
    name: "order",
    description: "orders something, and asks before it does",
    inputSchema,
    keys,
    timeoutMs,
    execute: ({ on = "", roll = 0 }: Args, context) =>
      roll % 4 === 0 ? order({ on, roll }, context) : waitForAnswer({ on, again: roll % 3 === 0 }),
    resume: ({ on = "", roll = 0 }: Args, answer, context) => {
      const { again } = context.asked as { again: boolean };
      if (again) return waitForAnswer({ on, again: false, after: answer });
      return order({ on, roll }, context);
    },
  });
}

function postTool(world: World): Tool {
  return tool({
    name: "post",
    description: "posts a letter",
    inputSchema,
    keys,
    timeoutMs,
    execute: writing(world, "posted"),
    reconcile: (key, { on, roll = 0 }: Args) => {
      if (roll % 5 === 0) return undefined;
      if (roll % 7 === 0) throw new Error("the book of letters is locked");
      return world.happened(key) ? { done: `posted ${on}` } : { notDone: true as const };
    },
  });
}
