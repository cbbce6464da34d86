// The room of the scene's tools: what they act on, and how each leaves a trace of what it did.

import { type Tool, type ToolContext, tool } from "@rondo/core";

/** What the scene's tools and model act on: a file that outlives every process. */
export interface World {
  /** A tool has its effect: one line, on disk when this returns. */
  effect(kind: "write" | "idempotent", key: string, what: string): void;
  /** Whether a tool had its effect under this key. */
  happened(key: string): boolean;
  /** Whether this is the first time in this world that it is asked. */
  isFirst(what: string): boolean;
}

/** Messages to the session from outside while a tool works. */
export interface Outside {
  steer(text: string, id: string, session: string): void | Promise<void>;
  followUp(text: string, id: string, session: string): void | Promise<void>;
}

/** Messages sent while the run works, by id: each must be delivered once, in its lane. */
export const said: { readonly [id: string]: { lane: "steer" | "follow_up"; text: string } } = {
  "steer-1": { lane: "steer", text: "Mind the second shelf." },
  "steer-2": { lane: "steer", text: "And the third." },
  "follow-1": { lane: "follow_up", text: "Now tidy up as well." },
};

const inputSchema = { type: "object", properties: {} } as const;

interface Args {
  on?: string;
  at?: string;
  to?: string;
}

const keys = ({ on = "" }: Args): string[] => [on];

const shelf = (at: unknown): string =>
  `On shelf ${String(at)} there are ${"many things, ".repeat(20)}and that is all.`;

/** Lets other tools run, as real work does. */
const work = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What the loop is told about a tool instead of the truth. */
export interface Lies {
  noteEffect?: "idempotent";
}

export const toolsOf = (world: World, outside: Outside, lies: Lies): Tool[] => [
  ...readingTools(outside),
  ...writingTools(world, lies),
];

function readingTools(outside: Outside): Tool[] {
  return [
    tool({
      name: "look",
      description: "looks at a shelf",
      inputSchema,
      effect: "read",
      execute: async ({ at }: Args) => {
        await work();
        return shelf(at);
      },
    }),
    tool({
      name: "listen",
      description: "listens to what is said outside",
      inputSchema,
      effect: "read",
      execute: async ({ to = "" }: Args, { idempotencyKey }) => {
        const word = said[to];
        const [own = ""] = idempotencyKey.split(":");
        // May be sent twice if it is unknown whether it was received: the id identifies it.
        if (word?.lane === "steer") await outside.steer(word.text, to, own);
        else if (word !== undefined) await outside.followUp(word.text, to, own);
        return "listened";
      },
    }),
    tool({
      name: "archive",
      description: "tells what is in the archive",
      inputSchema,
      effect: "read",
      execute: () => Array.from({ length: 200 }, (_, line) => `row ${line}: kept`).join("\n"),
    }),
  ];
}

function writingTools(world: World, lies: Lies): Tool[] {
  const writing =
    (answer: string, kind: "write" | "idempotent" = "write") =>
    async ({ on }: Args, { idempotencyKey }: ToolContext): Promise<string> => {
      world.effect(kind, idempotencyKey, on ?? "");
      await work();
      return `${answer} ${on}`;
    };
  return [
    tool({
      name: "set",
      description: "sets a value",
      inputSchema,
      effect: "idempotent",
      keys,
      execute: writing("set", "idempotent"),
    }),
    tool({
      name: "note",
      description: "writes a note",
      inputSchema,
      effect: lies.noteEffect ?? "write",
      keys,
      execute: writing("noted"),
    }),
    tool({ name: "stamp", description: "puts a stamp", inputSchema, execute: writing("stamped") }),
    tool({
      name: "publish",
      description: "publishes",
      inputSchema,
      keys,
      permission: "ask",
      execute: writing("published"),
    }),
    tool({
      name: "post",
      description: "posts a letter",
      inputSchema,
      keys,
      execute: writing("posted"),
      // The book in which letters are entered tells whether one was sent.
      reconcile: (key, { on }: Args) =>
        world.happened(key) ? { done: `posted ${on}` } : { notDone: true as const },
    }),
  ];
}
