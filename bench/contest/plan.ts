// The room of the plan: the work of a scenario, turn by turn, and its expected outcome.
//
// A plan is data. The server makes the bytes of each answer from it in advance; the checks derive from it what a subject
// must have heard, done and said. Nothing else defines the work.

/** One answer of the model. */
export interface Turn {
  /** The text deltas. */
  texts: string[];
  /** A tool call; `args` are its argument deltas. */
  call?: { id: string; name: string; args: string[] };
}

/** A tool as each subject declares it. The cell adds its function. */
export interface ToolPlan {
  name: string;
  description: string;
  parameters: object;
}

export interface Plan {
  system: string;
  tools: ToolPlan[];
  /** The turns of one agent. All agents of a scenario have the same. */
  turns: Turn[];
  /** Number of agents running concurrently in one process. */
  agents: number;
  /** Measured from the start of the process, without a warm-up. */
  cold: boolean;
}

/** The expected outcome of one agent's work. */
export interface Expected {
  requests: number;
  /** Characters of all text deltas of all turns. */
  heard: number;
  /** The last answer. */
  text: string;
  /** Number of tool executions. */
  executed: number;
  /** Characters of the arguments as compact JSON, summed over the calls. */
  argued: number;
  /** The tools' results in order, as the last request must contain them. */
  results: string[];
}

/** Frames per write of the server. Providers send a few tokens at a time; the kernel may join writes. */
export const framesPerWrite = 4;

const look: ToolPlan = {
  name: "look",
  description: "Looks at a page of the record.",
  parameters: {
    type: "object",
    properties: {
      page: { type: "number", description: "the page's number" },
      about: { type: "string", description: "what is looked for" },
    },
    required: ["page", "about"],
    additionalProperties: false,
  },
};

const write: ToolPlan = {
  name: "write",
  description: "Writes a file.",
  parameters: {
    type: "object",
    properties: { path: { type: "string" }, content: { type: "string" } },
    required: ["path", "content"],
    additionalProperties: false,
  },
};

/** Similar to those of real agents: a few words, a few members, two of them nested. */
function oneOfMany(number: number): ToolPlan {
  return {
    name: `look_${number}`,
    description: `Looks at shelf ${number} of the archive and gives what stands there. Use it when the question names the shelf, or when another shelf referred to it.`,
    parameters: {
      type: "object",
      properties: {
        page: { type: "number", description: "the page's number, from 1" },
        about: { type: "string", description: "what is looked for, in a few words" },
        order: { type: "string", enum: ["date", "title", "author"], description: "how the hits are sorted" },
        range: {
          type: "object",
          description: "only what was written in this time",
          properties: { from: { type: "string" }, to: { type: "string" } },
          required: [],
          additionalProperties: false,
        },
        tags: { type: "array", items: { type: "string" }, description: "only what carries all of these" },
      },
      required: ["page", "about"],
      additionalProperties: false,
    },
  };
}

const final = ["All ", "pages ", "were ", "read."];

function lookTurn(step: number, name: string): Turn {
  return {
    texts: ["I ", "look ", "at ", "page ", `${step}. `],
    call: {
      id: `call_${String(step).padStart(8, "0")}`,
      name,
      args: [`{"page":${step},`, `"about":"ent`, `ry ${step}"}`],
    },
  };
}

function steps(count: number, nameOf: (step: number) => string = () => look.name): Turn[] {
  const turns = Array.from({ length: count - 1 }, (_, at) => lookTurn(at + 1, nameOf(at + 1)));
  return [...turns, { texts: final }];
}

const system = "You keep the record. Use the tools; answer when you have read enough.";
const plain = { system, tools: [look], agents: 1, cold: false };
const deltas = Array.from({ length: 20_000 }, (_, at) => `word${at % 1000} `);
/** 200 kB of content in pieces of eight characters, some of which need escaping. */
const content = Array.from({ length: 25_000 }, (_, at) => (at % 10 === 9 ? `line ${at % 9}\\n` : "abcdefg "));
const many = Array.from({ length: 100 }, (_, at) => oneOfMany(at));

export const plans: Readonly<Record<string, Plan>> = {
  "50-steps": { ...plain, turns: steps(50) },
  "400-steps": { ...plain, turns: steps(400) },
  "1000-steps": { ...plain, turns: steps(1000) },
  "20000-deltas": { ...plain, turns: [{ texts: deltas }] },
  "200kb-arguments": {
    ...plain,
    tools: [write],
    turns: [
      {
        texts: ["I ", "write."],
        call: { id: "call_00000001", name: "write", args: ['{"path":"a.txt","content":"', ...content, '"}'] },
      },
      { texts: final },
    ],
  },
  "100-tools": { ...plain, tools: many, turns: steps(20, (step) => `look_${(step * 7) % 100}`) },
  "200-agents": { ...plain, turns: steps(10), agents: 200 },
  cold: { ...plain, turns: [{ texts: ["Hello ", "there."] }], cold: true },
};

/** What a subject does before it is measured: a call, its result, and an answer. */
export function warmTurns(plan: Plan): Turn[] {
  const first = plan.tools[0]?.name ?? look.name;
  return first === "write"
    ? [
        {
          texts: ["I ", "write."],
          call: { id: "call_0", name: first, args: ['{"path":"b",', '"content":""}'] },
        },
        { texts: final },
      ]
    : steps(2, () => first);
}

/** A tool's result: derived from its arguments, so that the server can tell whether it really ran. */
export function resultOf(args: { page?: number; content?: string }): string {
  return args.content === undefined
    ? `Page ${args.page}: ${"nothing that was looked for stands here. ".repeat(5)}`
    : `Wrote ${args.content.length} characters.`;
}

export function expectedOf(turns: readonly Turn[]): Expected {
  const calls = turns.flatMap(({ call }) => (call === undefined ? [] : [call.args.join("")]));
  const last = turns.at(-1);
  return {
    requests: turns.length,
    heard: turns.reduce((sum, { texts }) => sum + texts.join("").length, 0),
    text: last?.texts.join("") ?? "",
    executed: calls.length,
    argued: calls.reduce((sum, args) => sum + JSON.stringify(JSON.parse(args)).length, 0),
    results: calls.map((args) => resultOf(JSON.parse(args))),
  };
}
