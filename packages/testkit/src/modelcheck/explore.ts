// The room of exploration: follows every answer of the world, from every state, until enough states were visited.
//
// A worklist of states, taken in a seeded random order so that it goes wide and deep at once. No state is gone on from
// twice (`state-key.ts`).

import {
  type Action,
  decide,
  emptyState,
  type Fact,
  formatVersion,
  type Lane,
  type LogRecord,
  messageOf,
  phaseOf,
  type Row,
  type Rules,
  type RunOptions,
  reduce,
  reduceAll,
  type State,
  type Table,
  table,
  userText,
} from "@rondo/core";
import { frozen } from "@rondo/core/driving";
import type { World } from "./answers.ts";
import { type Fuel, spend } from "./disturbances.ts";
import { heldFast, told } from "./memories.ts";
import {
  brokenByDecision,
  brokenByRecord,
  brokenByTable,
  callOf,
  noShadow,
  type Shadow,
  shadowAfter,
  twoDecisions,
} from "./promises.ts";
import { keyOf } from "./state-key.ts";
import { worldAnswers } from "./world.ts";

/** What is explored: a loop under some options and rules. Parts may be replaced by broken ones, to see that it shows. */
export interface Subject {
  name: string;
  options: RunOptions;
  rules: Rules;
  fuel: Fuel;
  /** What the run is for, when it is for one thing alone. */
  only?: "compaction" | "clearing";
  /** It goes on without a new message, and this waits for it: steered, to be done after it. */
  waiting?: readonly Lane[];
  table?: Table;
  reduce?: typeof reduce;
  /** What the model may answer. Default: that of the loop's own check. */
  world?: World;
  /** Promises beyond the loop's own, by name. */
  promises?: { readonly [name: string]: Promised };
  /** Fold some paths again from their first record, and decide in the first states again at the end: the same must come of it. */
  asksAgain?: boolean;
  /** Rules of which each memory is another state that differs at all. Default: none; what are times and ids in them is made relative. */
  toTheLetter?: ReadonlySet<string>;
}

/** One record, and the states around it. */
export interface Transition {
  before: State;
  record: LogRecord;
  after: State;
}

/** Whether something holds. What it throws is a break too. */
export type Promised = (transition: Transition) => boolean;

export interface Finding {
  subject: string;
  broken: string;
  /** What the world answered and the loop did on the way. */
  path: string[];
}

export interface Report {
  states: number;
  transitions: number;
  findings: Finding[];
  /** Rows of the table that decided at least once. */
  rows: Set<Row>;
  /** How often each of these stood in a record: reasons of ends, rules that spoke, tools that started. */
  reached: { ends: Map<string, number>; rules: Map<string, number>; tools: Map<string, number> };
}

/** In so many of the first states it is decided again at the end. */
const mostAsked = 1_000;

/** A report with nothing in it. */
export function emptyReport(): Report {
  const reached = { ends: new Map(), rules: new Map(), tools: new Map() };
  return { states: 0, transitions: 0, findings: [], rows: new Set(), reached };
}

/** A state, and the way to it. */
export interface Node {
  state: State;
  shadow: Shadow;
  fuel: Fuel;
  path: Path | undefined;
}

interface Path {
  /** How many steps led here. */
  depth: number;
  step: string;
  records: LogRecord[];
  before: Path | undefined;
}

/** Something that may happen in a state. `loop`: the loop does it by itself. */
export interface Move {
  step: string;
  loop: boolean;
  /** What comes of it; nothing when a rule failed to fold it. */
  take(): Node | undefined;
}

/**
 * Explores a subject until `atLeast` distinct states were visited, or there are no more.
 * @param limits.findings stop at so many; default 20
 * @param limits.shallow states near the start have a share of their own: for small looks. Default false
 */
export function explore(
  subject: Subject,
  atLeast: number,
  limits: { seed?: number; findings?: number; shallow?: boolean } = {},
): Report {
  const { seed = 1, findings = 20 } = limits;
  const seen = new Set<string>();
  const report = emptyReport();
  const random = randomFrom(seed);
  const work: Node[] = [startOf(subject, report)];
  const asked: { node: Node; decided: string }[] = [];
  while (work.length > 0 && report.states < atLeast && report.findings.length < findings) {
    const at =
      limits.shallow === true && random() < 0.2 ? shallowest(work, random) : newestOrAny(work, random);
    const node = work[at] as Node;
    work[at] = work.at(-1) as Node;
    work.pop();
    report.states += 1;
    if (subject.asksAgain === true) {
      if (report.states % 16 === 0) complain(brokenByRefold(node, subject), node, subject, report);
      if (asked.length < mostAsked) asked.push({ node, decided: decisionOf(node, subject) });
    }
    const nodes = movesOf(node, subject, report).flatMap((move) => move.take() ?? []);
    for (const next of shuffled(nodes, random)) {
      report.transitions += 1;
      const key = keyOf(next, subject);
      if (seen.has(key)) continue;
      seen.add(key);
      work.push(next);
    }
  }
  // Behind all else, and of the first states: what a rule keeps in a variable of its own has changed since.
  for (const { node, decided } of asked)
    if (decisionOf(node, subject) !== decided) complain([twoDecisions], node, subject, report);
  return report;
}

/** What is decided in a state, as a text. */
function decisionOf({ state }: Node, { rules, table: rows = table }: Subject): string {
  try {
    const { action, row } = decide(state, rules, rows);
    return JSON.stringify([row.when, row.does, action]);
  } catch (thrown) {
    return messageOf(thrown);
  }
}

/** Half of the time the newest state, so that paths get long; half of the time any, so that none is forgotten. */
function newestOrAny(work: readonly Node[], random: () => number): number {
  return random() < 0.5 ? work.length - 1 : Math.floor(random() * work.length);
}

/** Of a few the one nearest to the start. */
function shallowest(work: readonly Node[], random: () => number): number {
  const some = Array.from({ length: 20 }, () => Math.floor(random() * work.length));
  const depth = (at: number): number => work[at]?.path?.depth ?? 0;
  return some.reduce((best, at) => (depth(at) < depth(best) ? at : best));
}

/** Where every path begins. */
export function startOf(subject: Subject, report: Report): Node {
  const node: Node = { state: emptyState, shadow: noShadow, fuel: subject.fuel, path: undefined };
  const { options, only, waiting } = subject;
  const queued = (waiting ?? []).map(
    (lane): Fact => ({ type: "queued", id: lane, lane, message: userText(lane) }),
  );
  const begun: Fact = {
    type: "run_started",
    format: formatVersion,
    input: waiting === undefined ? [userText("task")] : [],
    options,
    ...(only === undefined ? {} : { only }),
  };
  return append(node, [...queued, begun], "start", 1, { subject, report }, undefined).node;
}

/** What may happen next: the loop's own action, and each answer of the world. */
export function movesOf(node: Node, subject: Subject, report: Report): Move[] {
  const rows = subject.table ?? table;
  let decided: { action: Action; row: Row };
  try {
    decided = decide(node.state, subject.rules, rows);
    const again = decide(node.state, subject.rules, rows);
    complain(brokenByDecision(node.state, decided, again, node.shadow), node, subject, report);
  } catch (thrown) {
    complain([`P2: ${(thrown as Error).message}`], node, subject, report);
    return [];
  }
  const { action, row } = decided;
  report.rows.add(row);
  const moves: Move[] = [];
  const facts = factsOf(action);
  if (facts.length > 0) {
    const step = `loop: ${row.does}`;
    const busy = { ...node, shadow: { ...node.shadow, busy: node.shadow.busy + 1 } };
    const take = (): Node | undefined => {
      const acted = add(busy, facts, step, 1, row);
      if (acted !== undefined && keyOf(acted, subject) === keyOf(busy, subject))
        complain(["P2: the loop acted, and nothing changed"], acted, subject, report);
      return acted;
    };
    moves.push({ step, loop: true, take });
  }
  for (const answer of worldAnswers(node.state, action, node.fuel, subject.world)) {
    const take = (): Node | undefined => {
      const rested = { ...node, shadow: { ...node.shadow, busy: 0 }, fuel: spend(node.fuel, answer) };
      return add(rested, answer.facts, answer.name, answer.after ?? 1, undefined);
    };
    moves.push({ step: answer.name, loop: false, take });
  }
  return moves;

  function add(
    from: Node,
    added: Fact[],
    step: string,
    after: number,
    by: Row | undefined,
  ): Node | undefined {
    const { broken, node } = append(from, added, step, after, { subject, report }, by);
    const failed = node.state.run?.ruleFailed;
    if (failed === undefined) {
      complain(broken, node, subject, report);
      return node;
    }
    // A rule's fold is somebody's code. What would follow is the end of the run, whatever the rest of it is like.
    const types = [...new Set(added.map(({ type }) => type))].join(", ");
    complain([`P2: folding ${types}: ${failed.error.message}`], node, subject, report);
    return undefined;
  }
}

/** What the rules remember along the path, and what they remember when it is folded again. */
export function brokenByRefold({ state, path }: Node, { rules }: Subject): string[] {
  const records: LogRecord[][] = [];
  for (let at = path; at !== undefined; at = at.before) records.unshift(at.records);
  // Before the second folding: a fold that changes what it is given changes it there too.
  const remembered = state.memories.map(told);
  const again = reduceAll(records.flat(), rules);
  return rules.list.flatMap(({ name }, at) =>
    told(again.memories[at]) === remembered[at]
      ? []
      : [`P3: the rule ${name} remembers something else when the same records are folded again`],
  );
}

/** What the driver appends for an action. */
export function factsOf(action: Action): Fact[] {
  switch (action.do) {
    case "record":
      return action.facts;
    case "call_model": {
      const { step, attempt, model } = action;
      return [{ type: "model_started", step, attempt, model, digest: "" }];
    }
    case "summarise": {
      const { part, of, attempt } = action;
      return [{ type: "summary_started", part, of, attempt, digest: "" }];
    }
    case "start_tools":
      return action.calls.map((call) => {
        const reserved = action.reserved?.[call];
        const child = reserved === undefined ? {} : { child: `child of ${call}`, reserved };
        return { type: "tool_started", call, idempotencyKey: call, ...child };
      });
    case "ask":
      return [{ type: "approval_asked", calls: action.calls }];
    default:
      return [];
  }
}

function append(
  node: Node,
  facts: Fact[],
  step: string,
  after: number,
  { subject, report }: { subject: Subject; report: Report },
  row: Row | undefined,
): { node: Node; broken: string[] } {
  const records: LogRecord[] = [];
  const fold = subject.reduce ?? reduce;
  const broken: string[] = [];
  let { state, shadow } = node;
  const phase = phaseOf(state);
  for (const fact of facts) {
    const at = state.now + (fact === facts[0] ? after : 0);
    const record: LogRecord = frozen({ ...fact, seq: state.seq, at, rand: 0.5 });
    // Many ways go on from here: what a rule wrote into the state would show on all of them.
    const next = fold(state, record, subject.rules);
    broken.push(...heldFast(next.memories, subject.rules));
    frozen(next);
    shadow = shadowAfter(shadow, record, state);
    broken.push(...brokenByRecord(record, state, next, shadow));
    broken.push(...brokenPromises(subject, { before: state, record, after: next }));
    tally(report, record, state);
    records.push(record);
    state = next;
  }
  if (row !== undefined) broken.push(...brokenByTable(row, phase, state));
  return { node: { state, shadow, fuel: node.fuel, path: pathOf(step, records, node.path) }, broken };
}

function pathOf(step: string, records: LogRecord[], before: Path | undefined): Path {
  return { depth: (before?.depth ?? 0) + 1, step, records, before };
}

function brokenPromises({ promises = {} }: Subject, transition: Transition): string[] {
  return Object.entries(promises).flatMap(([name, holds]) => {
    try {
      const said: unknown = holds(transition);
      // What is no word at all, a promise among it, would pass for a yes.
      if (said instanceof Promise) said.catch(() => {});
      return said === true ? [] : [said === false ? name : `${name}: it must say true or false, at once`];
    } catch (thrown) {
      return [`${name}: it threw: ${(thrown as Error).message}`];
    }
  });
}

function tally({ reached }: Report, record: LogRecord, before: State): void {
  const count = (map: Map<string, number>, name: string): unknown => map.set(name, (map.get(name) ?? 0) + 1);
  if (record.type === "run_ended") {
    count(reached.ends, record.end.reason);
    count(reached.rules, record.end.rule);
  }
  if ("rule" in record) count(reached.rules, record.rule);
  if (record.type === "turn_judged")
    for (const { rule } of record.verdicts) if (rule !== undefined) count(reached.rules, rule);
  if (record.type !== "tool_started") return;
  const call = callOf(before, record.call);
  if (call !== undefined) count(reached.tools, call.name);
}

function complain(broken: string[], node: Node, subject: Subject, report: Report): void {
  for (const one of broken) {
    if (report.findings.some((known) => known.broken === one)) continue;
    report.findings.push({ subject: subject.name, broken: one, path: stepsOf(node.path) });
  }
}

/** What happened on the way to a node. */
export function stepsOf(path: Path | undefined): string[] {
  const steps: string[] = [];
  for (let at = path; at !== undefined; at = at.before) steps.unshift(at.step);
  return steps;
}

function shuffled<T>(items: T[], random: () => number): T[] {
  for (let last = items.length - 1; last > 0; last -= 1) {
    const at = Math.floor(random() * (last + 1));
    [items[last], items[at]] = [items[at] as T, items[last] as T];
  }
  return items;
}

/** Numbers in [0, 1) from a seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
