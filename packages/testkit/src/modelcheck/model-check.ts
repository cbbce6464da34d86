// The room of the model checker's API: the loop with your rules and tools, in a world that may answer anything.
//
// No model, tool or clock runs. In every state the checker lists what the world could answer (the model, tools, people, the
// clock, a crash) and follows all of it; in each state the promises must hold.

import {
  type AgentOptions,
  type JsonObject,
  type LogRecord,
  type RunOptions,
  resolve,
  type State,
  type Tool,
} from "@rondo/core";
import {
  anything,
  type Check,
  callable,
  checkGiven,
  count,
  either,
  listOf,
  membersOf,
  object,
  real,
  recordOf,
  whole,
} from "@rondo/core/checks";
import { checkTurn, isAct } from "../scripted/check-script.ts";
import type { Turn } from "../scripted/turns.ts";
import { scripted } from "../scripted.ts";
import { madeTool } from "../suites/check.ts";
import { type CheckedTool, checkedTool, worldOf } from "./answers.ts";
import type { Fuel } from "./disturbances.ts";
import { explore, type Finding, type Subject } from "./explore.ts";
import { shrunk } from "./shrink.ts";

export interface ModelCheckOptions {
  /** Rules, or stop functions, as an agent takes them. */
  rules?: NonNullable<AgentOptions["rules"]>;
  /** Tools, each with arguments a model may call it with. Default arguments: what its schema requires. None is executed. */
  tools?: readonly (Tool | { tool: Tool; examples: readonly JsonObject[] })[];
  /** Other options of the agent, e.g. a preset's. Default: `maxSteps: 4`, `retry: { attempts: 2 }`. */
  agent?: Partial<AgentOptions>;
  /** Answers of the model beyond those made from the tools, as turns of the scripted model. */
  answers?: readonly Turn[];
  /** How often each may happen on one path. Default: one abort, one message while it works, one after it, one crash. */
  disturbances?: Partial<Fuel>;
  /**
   * What must hold besides the loop's own promises: called for every record, with the states before and after it.
   *
   *     { "deploy never runs before test": ({ before, record }) => … }
   */
  promises?: {
    readonly [name: string]: (transition: { before: State; record: LogRecord; after: State }) => boolean;
  };
  /** Stop after this many distinct states. Default: 20,000, which takes a few seconds. */
  states?: number;
  /** Seed of the order in which they are visited. Default: 1. */
  seed?: number;
}

const modelCheckOptions: Check = membersOf<ModelCheckOptions>({
  // The agent has the word on these.
  rules: anything,
  agent: anything,
  tools: listOf(
    either(
      madeTool,
      membersOf<CheckedTool>({ tool: madeTool, examples: listOf(object) }, ["tool", "examples"]),
    ),
  ),
  answers: listOf(anything),
  disturbances: membersOf<Fuel>({
    abort: whole,
    steer: whole,
    followUp: whole,
    crash: whole,
    grant: whole,
    compact: whole,
    withdraw: whole,
  }),
  promises: recordOf(callable),
  states: count,
  seed: real,
});

/** A promise that is broken. */
export interface BrokenPromise {
  /** The promise, or what is broken about it. */
  promise: string;
  /** A minimal sequence of events that breaks it. */
  steps: string[];
  /** The same as text. */
  story: string;
}

export interface ModelCheck {
  /** Distinct states visited. */
  states: number;
  transitions: number;
  broken: BrokenPromise[];
  /** What was reached, and how often: end reasons, rules that decided something, tools that started. */
  reached: {
    ends: { [reason: string]: number };
    rules: { [name: string]: number };
    tools: { [name: string]: number };
  };
  /** Your rules and tools that were never reached, and so not checked. */
  unreached: string[];
  /** The whole report as text, including the stories of broken promises. */
  text: string;
}

/**
 * Visits the states that an agent's loop can reach, whatever the world answers, and checks the promises in each: those of
 * the loop (P1, P2, P4 to P6, P8, and for P3 the rules' memories; see docs/concepts/promises.md) and yours.
 *
 *     const { broken, text } = modelCheck({ rules: [mine], tools: [deploy] });
 *     assert.deepEqual(broken, [], text);
 *
 * Pure and synchronous; the same options and seed give the same report.
 * @throws RondoError `invalid_request` for options that cannot be used, and for arguments that a tool does not take
 */
export function modelCheck(options: ModelCheckOptions): ModelCheck {
  checkGiven(modelCheckOptions, options, "modelCheck");
  for (const [at, turn] of (options.answers ?? []).entries())
    checkTurn(`modelCheck: answers[${at}]`, turn, isAct);
  const { states = 20_000, seed = 1, promises } = options;
  const tools = (options.tools ?? []).map(checkedTool);
  const subject = subjectOf(options, tools);
  const report = explore(subject, states, { seed, shallow: true });
  const broken = report.findings.map((finding) => told(shrunk(subject, finding)));
  const { ends, rules, tools: started } = report.reached;
  const own = ownRules(options);
  const unreached = [
    ...own.filter((name) => !rules.has(name)).map((name) => `rule ${name}`),
    ...tools.filter(({ tool }) => !started.has(tool.name)).map(({ tool }) => `tool ${tool.name}`),
  ];
  const found: ModelCheck = {
    states: report.states,
    transitions: report.transitions,
    broken,
    reached: {
      ends: Object.fromEntries(ends),
      rules: Object.fromEntries(rules),
      tools: Object.fromEntries(started),
    },
    unreached,
    text: "",
  };
  found.text = textOf(found, Object.keys(promises ?? {}).length);
  return found;
}

function subjectOf(options: ModelCheckOptions, tools: readonly CheckedTool[]): Subject {
  const { rules: own, agent = {}, answers = [], disturbances, promises } = options;
  const { options: facts, rules } = resolve({
    maxSteps: 4,
    retry: { attempts: 2 },
    ...agent,
    ...(own === undefined ? {} : { rules: own }),
    ...(tools.length === 0 ? {} : { tools: tools.map(({ tool }) => tool) }),
    model: agent.model ?? scripted([]),
  });
  return {
    name: "yours",
    options: facts,
    rules,
    fuel: { abort: 1, steer: 1, followUp: 1, crash: 1, ...disturbances },
    world: worldOf(tools, answers),
    asksAgain: true,
    toTheLetter: usersRules(facts),
    ...(promises === undefined ? {} : { promises }),
  };
}

/** The names of all rules that an agent does not have by itself: given ones, and a preset's. */
function usersRules({ rules }: RunOptions): Set<string> {
  const { options } = resolve({ model: scripted([]) });
  const byItself = new Set(options.rules.map(({ name }) => name));
  return new Set(rules.flatMap(({ name }) => (byItself.has(name) ? [] : [name])));
}

/** The names that only the given rules bring in. */
function ownRules({ rules = [], agent = {} }: ModelCheckOptions): string[] {
  const namesOf = (list: NonNullable<AgentOptions["rules"]>): string[] =>
    resolve({ ...agent, rules: list, model: scripted([]) }).options.rules.map(({ name }) => name);
  const without = new Set(namesOf([]));
  return namesOf(rules).filter((name) => !without.has(name));
}

function told({ broken, path }: Finding): BrokenPromise {
  return { promise: broken, steps: path, story: storyOf(broken, path) };
}

/** A path as a story: what the world did, and what the loop made of it. */
export function storyOf(broken: string, path: readonly string[]): string {
  const lines = path.map((step, at) => {
    const number = String(at + 1).padStart(4);
    return step.startsWith("loop: ") ? `${number}.   the loop: ${step.slice(6)}` : `${number}. ${step}`;
  });
  const remedy = remedies.find(([sign]) => sign.test(broken));
  return [`broken: ${broken}`, ...lines, ...(remedy === undefined ? [] : [`      ${remedy[1]}`])].join("\n");
}

/** What breaks a promise of the loop is mostly a rule that is not pure. */
const remedies: readonly (readonly [sign: RegExp, remedy: string])[] = [
  [
    /the same state led to two decisions/,
    "A rule may go by its memory and the state alone: not by chance, the clock, or a variable of its own.",
  ],
  [
    /must be plain data/,
    "Two memories that differ there would count as one: remember numbers, texts, plain objects, lists, maps and sets, or give the class a toJSON that tells all of it.",
  ],
  [/remembers something else/, "Its fold may go by its memory, the record and the state alone."],
  [
    /^P\d.*(?:read only|not extensible|Cannot delete property)/,
    "A rule must leave the state, and the memory it is given, as they are: its fold gives another memory.",
  ],
];

function textOf({ states, broken, reached, unreached }: ModelCheck, promises: number): string {
  const list = (counts: { [name: string]: number }): string =>
    Object.entries(counts)
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([name, count]) => `${name} ${count}`)
      .join(", ") || "none";
  return [
    ...broken.map(({ story }) => `${story}\n`),
    `ends: ${list(reached.ends)}`,
    `rules that spoke: ${list(reached.rules)}`,
    `tools that started: ${list(reached.tools)}`,
    ...(unreached.length === 0 ? [] : [`not reached: ${unreached.join(", ")}`]),
    ...(promises === 0 ? [] : [`promises of yours: ${promises}`]),
    `visited ${states} states, ${broken.length} broken`,
  ].join("\n");
}
