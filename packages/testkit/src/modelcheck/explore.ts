// The room of exploration: every world answer, from every state, until enough states were seen.
//
// A worklist of states, taken in a seeded random order so that it goes wide and deep at once. Two states are the same
// when they differ only in numbers that nobody decides from.

import {
  type Action,
  decide,
  emptyState,
  type Fact,
  formatVersion,
  type LogRecord,
  phaseOf,
  type Row,
  type Rules,
  type RunOptions,
  reduce,
  type State,
  type Table,
  table,
  textOf,
  userText,
} from "@rondo/core";
import {
  brokenByDecision,
  brokenByRecord,
  brokenByTable,
  noShadow,
  type Shadow,
  shadowAfter,
} from "./promises.ts";
import { type Fuel, spend, type WorldAnswer, worldAnswers } from "./world.ts";

/** What is explored: a loop under some options and rules. Parts may be replaced by broken ones, to see that it shows. */
export interface Subject {
  name: string;
  options: RunOptions;
  rules: Rules;
  fuel: Fuel;
  /** What the run is for, when it is for one thing alone. */
  only?: "compaction";
  table?: Table;
  reduce?: typeof reduce;
}

export interface Finding {
  subject: string;
  broken: string;
  /** What the world answered on the way. */
  path: string[];
}

export interface Report {
  states: number;
  transitions: number;
  findings: Finding[];
  /** Rows of the table that decided at least once. */
  rows: Set<Row>;
}

interface Node {
  state: State;
  shadow: Shadow;
  fuel: Fuel;
  path: Path | undefined;
}

interface Path {
  step: string;
  before: Path | undefined;
}

/**
 * Explores a subject until `atLeast` distinct states were visited, or there are no more.
 * @param limits.findings stop at so many; default 20
 */
export function explore(
  subject: Subject,
  atLeast: number,
  limits: { seed?: number; findings?: number } = {},
): Report {
  const { seed = 1, findings = 20 } = limits;
  const seen = new Set<string>();
  const report: Report = { states: 0, transitions: 0, findings: [], rows: new Set() };
  const random = randomFrom(seed);
  const work: Node[] = [start(subject)];
  while (work.length > 0 && report.states < atLeast && report.findings.length < findings) {
    // Half of the time the newest state, so that paths get long; half of the time any, so that none is forgotten.
    const at = random() < 0.5 ? work.length - 1 : Math.floor(random() * work.length);
    const node = work[at] as Node;
    work[at] = work.at(-1) as Node;
    work.pop();
    report.states += 1;
    for (const next of shuffled(follow(node, subject, report), random)) {
      report.transitions += 1;
      const key = keyOf(next);
      if (seen.has(key)) continue;
      seen.add(key);
      work.push(next);
    }
  }
  return report;
}

function start(subject: Subject): Node {
  const node: Node = { state: emptyState, shadow: noShadow, fuel: subject.fuel, path: undefined };
  const fact: Fact = {
    type: "run_started",
    format: formatVersion,
    input: [userText("task")],
    options: subject.options,
    ...(subject.only === undefined ? {} : { only: subject.only }),
  };
  return append(node, [fact], "start", 1, subject, undefined).node;
}

/** The nodes that follow: by the loop's own action, or by each answer of the world. */
function follow(node: Node, subject: Subject, report: Report): Node[] {
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
  const nodes: Node[] = [];
  const facts = factsOf(action);
  const busy = { ...node, shadow: { ...node.shadow, busy: node.shadow.busy + 1 } };
  if (facts.length > 0) {
    const acted = add(busy, facts, `loop: ${row.does}`, 1, row);
    nodes.push(acted);
    if (keyOf(acted) === keyOf(busy))
      complain(["P2: the loop acted, and nothing changed"], acted, subject, report);
  }
  for (const answer of worldAnswers(node.state, action, node.fuel)) nodes.push(answerOf(node, answer));
  return nodes;

  function answerOf(from: Node, answer: WorldAnswer): Node {
    const rested = { ...from, shadow: { ...from.shadow, busy: 0 }, fuel: spend(from.fuel, answer) };
    return add(rested, answer.facts, answer.name, answer.after ?? 1, undefined);
  }

  function add(from: Node, added: Fact[], step: string, after: number, by: Row | undefined): Node {
    const appended = append(from, added, step, after, subject, by);
    complain(appended.broken, appended.node, subject, report);
    return appended.node;
  }
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
  subject: Subject,
  row: Row | undefined,
): { node: Node; broken: string[] } {
  const fold = subject.reduce ?? reduce;
  const broken: string[] = [];
  let { state, shadow } = node;
  const phase = phaseOf(state);
  for (const fact of facts) {
    const at = state.now + (fact === facts[0] ? after : 0);
    const record: LogRecord = { ...fact, seq: state.seq, at, rand: 0.5 };
    const next = fold(state, record, subject.rules);
    shadow = shadowAfter(shadow, record, state);
    broken.push(...brokenByRecord(record, state, next, shadow));
    state = next;
  }
  if (row !== undefined) broken.push(...brokenByTable(row, phase, state));
  return { node: { state, shadow, fuel: node.fuel, path: { step, before: node.path } }, broken };
}

function complain(broken: string[], node: Node, subject: Subject, report: Report): void {
  for (const one of broken) {
    if (report.findings.some((known) => known.broken === one)) continue;
    report.findings.push({ subject: subject.name, broken: one, path: stepsOf(node.path) });
  }
}

function stepsOf(path: Path | undefined): string[] {
  const steps: string[] = [];
  for (let at = path; at !== undefined; at = at.before) steps.unshift(at.step);
  return steps;
}

/** A state's name: everything something is decided from, with times and sequence numbers made relative. */
function keyOf({ state, shadow, fuel }: Node): string {
  const { history, inbox, run, memories, now, seq, options: _options, ids: _ids, seen: _seen } = state;
  const past = [...history].map((message) => {
    const shape = message.content.map((part) => (part.type === "tool_call" ? part.name : part.type)).join();
    const cut = textOf(message).startsWith("[tool output") ? "~" : "";
    return `${message.role}:${shape}${message.role === "tool" && message.isError ? "!" : ""}${cut}`;
  });
  const age = Math.floor((now - (run?.startedAt ?? now)) / 100);
  const late = (run?.turn?.calls ?? []).map(
    (call) => now - (call.startedAt ?? now) >= (call.tool?.timeoutMs ?? 0),
  );
  const grace = run?.cancelledAt === undefined ? 0 : Math.min(2, Math.ceil((now - run.cancelledAt) / 50));
  // Long chains of the loop's own acts are told apart, so that a circle among them shows.
  const chain = Math.max(0, shadow.busy - 10);
  const rest = [
    chain,
    age,
    late,
    grace,
    state.readable ?? false,
    inbox.map((one) => one.id),
    memories,
    state.grants.map(({ id, used, revoked, until }) => [
      id,
      used,
      revoked,
      until !== undefined && now >= until,
    ]),
    shadow.granted.length,
    fuel,
    shadow.ended,
  ];
  return JSON.stringify([past, run, rest], (name, value: unknown) => {
    if (value instanceof Map) return [...value];
    if (name === "key" || name === "seq" || name === "id" || name === "startedAt")
      return value === undefined ? 0 : 1;
    if (name === "at" || name === "cancelledAt" || name === "notBefore")
      return typeof value === "number" ? value > now : value;
    if (name === "seen") return undefined;
    return value === seq ? 0 : value;
  });
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
