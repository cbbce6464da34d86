// The room of the verdict: compares a journal with the promises and with what really happened.
//
// The records are walked once. In every state the loop is asked, twice, what it would do, and that must come next in
// the journal: so cutting the records anywhere and continuing gives the same. The checks over states are those of the
// model checker; what the world knows and the records do not is added here.

import {
  type Action,
  type Call,
  decide,
  emptyState,
  type Fact,
  type LogRecord,
  phaseOf,
  type Row,
  type Rules,
  reduce,
  replay,
  type State,
} from "@rondo/core";
import { factsOf } from "../../packages/testkit/src/modelcheck/explore.ts";
import {
  brokenByDecision,
  brokenByRecord,
  brokenByTable,
  noShadow,
  type Shadow,
  shadowAfter,
} from "../../packages/testkit/src/modelcheck/promises.ts";
import type { Effects } from "./world.ts";

/** What can be broken: a promise by its number, or anything else. */
export const promises = ["P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "other"] as const;
export type PromiseName = (typeof promises)[number];

export interface Finding {
  promise: PromiseName;
  words: string;
}

/** Totals of a session, for the table. */
export interface Came {
  findings: Finding[];
  /** How each of its runs ended, or `parked`. */
  endings: string[];
  /** Failed model calls, by kind. */
  failures: Record<string, number>;
  records: number;
  answers: number;
  retries: number;
  fallbacks: number;
  /** Answers by a model that was chosen for the step. */
  chosen: number;
  /** Calls whose result was given from outside. */
  brought: number;
  /** Questions of tools that were answered. */
  questions: number;
  tools: number;
  unknown: number;
  compactions: number;
  delivered: number;
  /** How often a process took over an interrupted run. */
  resumed: number;
}

export const emptyCame = (): Came => ({
  findings: [],
  endings: [],
  failures: {},
  records: 0,
  answers: 0,
  retries: 0,
  fallbacks: 0,
  chosen: 0,
  brought: 0,
  questions: 0,
  tools: 0,
  unknown: 0,
  compactions: 0,
  delivered: 0,
  resumed: 0,
});

/** After the grace period, how long a busy machine may take to record that a run has ended. */
const lateMs = 30_000;

export interface Judging {
  id: string;
  records: readonly LogRecord[];
  rules: Rules;
  /** What really happened, by idempotency key. */
  effects: Effects;
  graceMs: number;
  /** Nobody is left to continue it. */
  mayBeOpen: boolean;
  /** What tools really do, whatever the loop was told: their successful calls are among the effects. */
  doers: ReadonlyMap<string, "write" | "idempotent">;
}

export function judge(judging: Judging): Came {
  const came = emptyCame();
  const found = (words: string, promise?: PromiseName): void => {
    const named = promise ?? promises.find((one) => words.startsWith(`${one}:`)) ?? "other";
    if (came.findings.length < 20) came.findings.push({ promise: named, words: `${judging.id}: ${words}` });
  };
  try {
    const last = new Walk(judging, came, found).walk();
    if (last.run !== undefined && last.run.end === undefined) {
      const parked = decide(last, judging.rules).action.do === "park";
      came.endings.push(parked ? "parked" : "open");
      if (!parked && !judging.mayBeOpen) found("the run has neither ended nor parked", "P6");
    }
    const { firstDifference } = replay(judging.records, judging.rules);
    if (firstDifference !== undefined)
      found(`the request of record ${firstDifference.seq} is not what the records make of it`, "P7");
  } catch (thrown) {
    found(`the records do not fold: ${String((thrown as Error)?.stack ?? thrown)}`, "P2");
  }
  return came;
}

type Found = (words: string, promise?: PromiseName) => void;

/** Records that only the loop makes, from the records before them. */
const decided: ReadonlySet<Fact["type"]> = new Set<Fact["type"]>([
  "delivered",
  "noted",
  "turn_judged",
  "trimmed",
  "compacted",
  "run_ended",
  "model_started",
  "summary_started",
  "tool_started",
  "approval_asked",
]);

/** Only valid if texts are kept just because they were cut, as in the model checker: here some agents keep every text. */
const ofCapsAlone = "the tools that read what was cut";

class Walk {
  readonly #judging: Judging;
  readonly #came: Came;
  readonly #found: Found;
  #state: State = emptyState;
  #shadow: Shadow = noShadow;
  /** What remains of a group that the loop wrote at once. */
  #due: readonly Fact[] = [];
  #by: { row: Row; from: ReturnType<typeof phaseOf> } | undefined;
  /** How often each call was started. */
  readonly #starts = new Map<string, number>();
  /** How often the effect of each write may have happened: once, plus once for each permitted repetition. */
  readonly #allowed = new Map<string, number>();
  /** When a process last took the session over. */
  #openedAt = 0;

  constructor(judging: Judging, came: Came, found: Found) {
    this.#judging = judging;
    this.#came = came;
    this.#found = found;
  }

  walk(): State {
    const { records, rules, effects } = this.#judging;
    this.#came.records = records.length;
    records.forEach((record, at) => {
      if (record.seq !== at) this.#found(`record ${at} says that it is ${record.seq}`, "P3");
      this.#expect(record);
      const before = this.#state;
      if (record.type === "run_started") this.#begin(before);
      this.#state = reduce(before, record, rules);
      this.#shadow = shadowAfter(this.#shadow, record, before);
      for (const broken of brokenByRecord(record, before, this.#state, this.#shadow))
        this.#found(`${broken} (record ${at}, ${record.type})`);
      this.#look(record, before);
      if (this.#by !== undefined && this.#due.length === 0) {
        for (const broken of brokenByTable(this.#by.row, this.#by.from, this.#state))
          this.#found(`${broken} (record ${at})`, "P2");
        this.#by = undefined;
      }
    });
    if (this.#due.length > 0) this.#found("the journal ends in the middle of a group", "P3");
    for (const [key, times] of effects) {
      if (!this.#isOwn(key)) continue;
      const starts = this.#starts.get(key) ?? 0;
      if (times > starts)
        this.#found(`${key} happened ${times} times, and was started ${starts} times`, "P4");
      const allowed = this.#allowed.get(key);
      if (allowed !== undefined && times > allowed)
        this.#found(`the write ${key} happened ${times} times, and might ${allowed} times`, "P4");
    }
    return this.#state;
  }

  /** Whether a call is this session's own: a helper's keys have it as a prefix. */
  #isOwn(key: string): boolean {
    const { id } = this.#judging;
    return key.startsWith(`${id}:`) && !key.slice(id.length + 1).includes(":");
  }

  /** What the loop does by itself in this state must be the next record, unless something came from outside first. */
  #expect(record: LogRecord): void {
    const [due, ...rest] = this.#due;
    if (due !== undefined) {
      this.#due = rest;
      if (!isSame(due, record))
        this.#found(`record ${record.seq} is ${record.type} in the middle of a group`, "P3");
      return;
    }
    const { rules } = this.#judging;
    const first = decide(this.#state, rules);
    const again = decide(this.#state, rules);
    for (const broken of brokenByDecision(this.#state, first, again, this.#shadow))
      if (!broken.startsWith(ofCapsAlone)) this.#found(`${broken} (before record ${record.seq})`);
    const [fact, ...more] = factsOf(first.action);
    if (fact !== undefined && isSame(fact, record)) {
      this.#due = more;
      this.#shadow = { ...this.#shadow, busy: this.#shadow.busy + 1 };
      this.#by = { row: first.row, from: phaseOf(this.#state) };
      return;
    }
    this.#shadow = { ...this.#shadow, busy: 0 };
    const isOurs = decided.has(record.type) || (record.type === "mode" && record.rule !== "asked");
    if (isOurs)
      this.#found(
        `record ${record.seq} is ${shown(record)}, and from what is before it follows ${wanted(first.action, fact)}`,
        "P3",
      );
  }

  #begin(before: State): void {
    if (before.run !== undefined && before.run.end === undefined)
      this.#found("a run was started while another was open", "P6");
    this.#shadow = { ...this.#shadow, ended: 0 };
  }

  #look(record: LogRecord, before: State): void {
    const came = this.#came;
    const { run } = before;
    switch (record.type) {
      case "opened": {
        this.#openedAt = record.at;
        if (run === undefined || run.end !== undefined) return;
        came.resumed += 1;
        const after = this.#state.run;
        for (const count of ["steps", "modelCalls", "toolCalls", "failures"] as const)
          if (after?.[count] !== run[count])
            this.#found(`the crash before record ${record.seq} was counted among the ${count}`, "P3");
        return;
      }
      case "delivered":
        came.delivered += record.ids.length;
        if (run?.abort !== undefined) this.#found("a message was delivered after an abort", "P5");
        return;
      case "model_started":
        if (record.attempt > 1) came.retries += 1;
        if (record.model > (before.options?.fallbacks ?? Number.POSITIVE_INFINITY)) came.chosen += 1;
        else if (record.model > 0) came.fallbacks += 1;
        return;
      case "model_finished":
        came.answers += 1;
        return;
      case "model_failed":
        came.failures[record.error.kind] = (came.failures[record.error.kind] ?? 0) + 1;
        return;
      case "compacted":
        came.compactions += 1;
        return;
      case "tool_started":
        came.tools += 1;
        this.#started(record, before);
        return;
      case "reconciled":
        if (record.found === "not_done") this.#allowOnceMore(record.call);
        return;
      case "approval_given":
        if (record.approval.answer !== "deny" && callIn(before, record.call)?.interrupted === true)
          this.#allowOnceMore(record.call);
        return;
      case "tool_answered":
        came.questions += 1;
        return;
      case "tool_finished":
        this.#finished(record, before);
        return;
      case "run_ended": {
        came.endings.push(record.end.reason);
        const asked = run?.abort?.at;
        if (asked === undefined || asked < this.#openedAt) return;
        const tookMs = record.at - asked;
        if (tookMs > this.#judging.graceMs + lateMs)
          this.#found(`it took ${tookMs} ms from the abort to the end`, "P5");
        return;
      }
    }
  }

  #started({ call, idempotencyKey: key }: LogRecord & { type: "tool_started" }, before: State): void {
    this.#starts.set(key, (this.#starts.get(key) ?? 0) + 1);
    const name = callIn(before, call)?.name ?? "";
    if (this.#judging.doers.get(name) === "write" && !this.#allowed.has(key)) this.#allowed.set(key, 1);
  }

  #allowOnceMore(call: string): void {
    const key = `${this.#judging.id}:${call}`;
    const allowed = this.#allowed.get(key);
    if (allowed !== undefined) this.#allowed.set(key, allowed + 1);
  }

  /** What is reported about a call must be what happened to it. */
  #finished(record: LogRecord & { type: "tool_finished" }, before: State): void {
    const call = callIn(before, record.call);
    const { code, isError } = record.result;
    if (code === "outcome_unknown") this.#came.unknown += 1;
    if (code === "answered") this.#came.brought += 1;
    if (call === undefined || call.result !== undefined || !this.#judging.doers.has(call.name)) return;
    const key = `${this.#judging.id}:${record.call}`;
    const happened = this.#judging.effects.has(key);
    if (call.interrupted && code !== "outcome_unknown" && code !== "reconciled" && code !== "answered")
      this.#found(`${call.name} (${record.call}) was cut off, and is told as ${code ?? "done"}`, "P4");
    // A call that began before a crash may be reported as aborted, which means that its effect is unknown.
    const isAdmitted = call.begun === true && code === "aborted";
    if (call.startedAt === undefined && !call.interrupted && !isAdmitted && happened)
      this.#found(`${call.name} (${record.call}) had not started, and happened`, "P4");
    if (call.startedAt !== undefined && code === undefined && !isError && !happened)
      this.#found(`${call.name} (${record.call}) is told to be done, and never happened`, "P4");
    if (code === "threw" && happened && (this.#starts.get(key) ?? 0) === 1)
      this.#found(`${call.name} (${record.call}) is told to have failed, and happened`, "P4");
  }
}

const callIn = ({ run }: State, key: string): Call | undefined =>
  run?.turn?.calls.find((call) => call.key === key);

/** Whether a record is the fact the loop wants to write, as far as the loop determines it. */
function isSame(fact: Fact, { seq: _seq, at: _at, rand: _rand, ...record }: LogRecord): boolean {
  if (fact.type !== record.type) return false;
  if (fact.type === "model_started" && record.type === "model_started")
    return fact.step === record.step && fact.attempt === record.attempt && fact.model === record.model;
  if (fact.type === "summary_started" && record.type === "summary_started")
    return fact.part === record.part && fact.of === record.of && fact.attempt === record.attempt;
  if (fact.type === "tool_started" && record.type === "tool_started")
    return fact.call === record.call && JSON.stringify(fact.reserved) === JSON.stringify(record.reserved);
  return JSON.stringify(fact) === JSON.stringify(record);
}

const shown = (record: Fact): string => JSON.stringify(record).slice(0, 300);

const wanted = (action: Action, fact: Fact | undefined): string =>
  fact === undefined ? action.do : `${action.do} ${shown(fact)}`;
