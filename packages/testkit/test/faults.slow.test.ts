// The model checker must see what it is there to see: each fault put into the loop makes it fail.

import {
  type Action,
  type LogRecord,
  type Phase,
  type Row,
  reduce,
  type State,
  type Table,
  table,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import { explore, type Subject } from "../src/modelcheck/explore.ts";
import { subjects } from "../src/modelcheck/subjects.ts";

const named = (name: string): Subject => {
  const subject = subjects().find((one) => one.name === name);
  if (subject === undefined) throw new Error(`there is no subject named ${name}`);
  return subject;
};

/** The table with one phase's rows changed. */
function changed(phase: Phase, change: (rows: readonly Row[]) => readonly Row[]): Table {
  return { ...table, [phase]: change(table[phase]) };
}

/** The table without the row of these words. */
const without = (phase: Phase, when: string): Table =>
  changed(phase, (rows) => {
    const left = rows.filter((row) => row.when !== when);
    if (left.length === rows.length) throw new Error(`there is no row "${when}" in ${phase}`);
    return left;
  });

/** The table with the last row of a phase tried first. */
const lastFirst = (phase: Phase): Table =>
  changed(phase, (rows) => [rows.at(-1) as Row, ...rows.slice(0, -1)]);

/** The fold, deaf to some records. */
const deafTo =
  (deaf: (record: LogRecord) => boolean): typeof reduce =>
  (state, record, rules) =>
    deaf(record) ? { ...state, seq: record.seq + 1, now: record.at } : reduce(state, record, rules);

/** The fold, with something done to the state it gives. */
const bent =
  (bend: (state: State, record: LogRecord, before: State) => State): typeof reduce =>
  (state, record, rules) =>
    bend(reduce(state, record, rules), record, state);

/** A row whose action is changed. */
const acting = (phase: Phase, when: string, act: (action: Action, state: State) => Action): Table =>
  changed(phase, (rows) =>
    rows.map((row) =>
      row.when !== when
        ? row
        : {
            ...row,
            act: (state, rules) => {
              const action = row.act(state, rules);
              return action === undefined ? undefined : act(action, state);
            },
          },
    ),
  );

interface Fault {
  what: string;
  subject: string;
  shows: RegExp;
  table?: Table;
  reduce?: typeof reduce;
}

const faults: Fault[] = [
  {
    what: "the fold forgets that a result was cut",
    subject: "cutting results",
    shows: /the tools that read what was cut/,
    reduce: (state, record, rules) => {
      const { readable: _readable, ...rest } = reduce(state, record, rules);
      return rest;
    },
  },
  {
    what: "the row that delivers steering is removed",
    subject: "spoken to",
    shows: /P8/,
    table: without("ready", "a message came while the run was working"),
  },
  {
    what: "the row that delivers follow-ups is removed",
    subject: "spoken to",
    shows: /P8: the run completed over/,
    table: without("finishing", "follow-ups are queued"),
  },
  {
    what: "the row that answers judged calls is removed",
    subject: "by effect",
    shows: /P6|the table does not know|P2/,
    table: without("acting", "calls were judged not to run"),
  },
  {
    what: "the row that answers interrupted writes is removed",
    subject: "in parallel",
    shows: /P6|P2|P4/,
    table: without("acting", "a write was interrupted by a crash"),
  },
  {
    what: "the row that closes open calls after an abort is removed",
    subject: "aborted",
    shows: /P2|table/,
    table: changed("cancelling", (rows) => rows.slice(0, 1)),
  },
  {
    what: "the model is asked before anything else is looked at",
    subject: "spoken to",
    shows: /P8/,
    table: lastFirst("ready"),
  },
  {
    what: "the run completes before it looks at what is queued",
    subject: "spoken to",
    shows: /P8/,
    table: lastFirst("finishing"),
  },
  {
    what: "a park comes before the calls that may start",
    subject: "by effect",
    shows: /P6: the run parked/,
    table: lastFirst("acting"),
  },
  {
    what: "a cancelled run goes on as if nothing had been said",
    subject: "aborted",
    shows: /P5/,
    table: changed("cancelling", () => table.ready),
  },
  {
    what: "a judgement is forgotten",
    subject: "by effect",
    shows: /P2: the loop acted, and nothing changed/,
    reduce: deafTo((record) => record.type === "turn_judged"),
  },
  {
    what: "an ended run is not seen to have ended",
    subject: "by effect",
    shows: /P2|P6|table/,
    reduce: deafTo((record) => record.type === "run_ended"),
  },
  {
    what: "a delivered message stays in the inbox",
    subject: "spoken to",
    shows: /P8|P2/,
    reduce: bent((state, record, before) =>
      record.type === "delivered" ? { ...state, inbox: before.inbox } : state,
    ),
  },
  {
    what: "a queued message is dropped",
    subject: "spoken to",
    shows: /P8: a queued message was lost/,
    reduce: deafTo((record) => record.type === "queued"),
  },
  {
    what: "an interrupted write is taken for one that never started",
    subject: "by effect",
    shows: /P4/,
    reduce: bent((state, record) => {
      if (record.type !== "opened" || state.run?.turn === undefined) return state;
      const calls = state.run.turn.calls.map((call) => ({ ...call, interrupted: false }));
      return { ...state, run: { ...state.run, turn: { ...state.run.turn, calls } } };
    }),
  },
  {
    what: "an answer enters the history before its results",
    subject: "by effect",
    shows: /P1/,
    reduce: bent((state, record) =>
      record.type === "model_finished" && state.run?.turn !== undefined
        ? { ...state, history: state.history.push(state.run.turn.message) }
        : state,
    ),
  },
  {
    what: "a turn loses one of its results",
    subject: "in parallel",
    shows: /P1/,
    reduce: bent((state, record, before) => {
      if (record.type !== "tool_finished" || state.run?.turn !== undefined) return state;
      if (state.history.length - before.history.length < 3) return state;
      return {
        ...state,
        history: before.history.push(...state.history.slice(before.history.length, state.history.length - 1)),
      };
    }),
  },
  {
    what: "calls are started although their arguments are broken",
    subject: "by effect",
    shows: /arguments were not whole/,
    reduce: bent((state, record) => {
      const turn = state.run?.turn;
      if (record.type !== "model_finished" || state.run === undefined || turn === undefined) return state;
      const check = { ok: true as const, args: {}, keys: null };
      return {
        ...state,
        run: { ...state.run, turn: { ...turn, calls: turn.calls.map((call) => ({ ...call, check })) } },
      };
    }),
    table: acting("judging", "the model answered or failed", (action) =>
      action.do === "record"
        ? {
            ...action,
            facts: action.facts.map((fact) =>
              fact.type === "turn_judged" && fact.follows.do === "act"
                ? { ...fact, verdicts: fact.verdicts.map(() => ({ do: "run" as const })) }
                : fact,
            ),
          }
        : action,
    ),
  },
  {
    what: "a retry waits for a time that has passed",
    subject: "by effect",
    shows: /P2/,
    table: acting(
      "thinking",
      "the answer is in flight",
      (action, state) => ({ ...action, until: state.now }) as Action,
    ),
  },
  {
    what: "a run ends twice",
    subject: "by effect",
    shows: /P6: the run ended twice/,
    table: acting("finishing", "the answer is final", (action) =>
      action.do === "record" ? { ...action, facts: [...action.facts, ...action.facts] } : action,
    ),
  },
  {
    what: "a decision depends on more than the state",
    subject: "by effect",
    shows: /P2: the same state led to two decisions/,
    table: (() => {
      let asked = 0;
      return acting("judging", "the model answered or failed", (action) => {
        asked += 1;
        if (action.do !== "record") return action;
        return {
          ...action,
          facts: action.facts.map((fact) =>
            fact.type === "turn_judged" ? { ...fact, evidence: { ...fact.evidence, asked } } : fact,
          ),
        };
      });
    })(),
  },
];

describe("the model checker finds the fault when", () => {
  test.each(faults)("$what", ({ subject, shows, ...fault }) => {
    const { what: _what, ...parts } = fault;
    const found = (states: number): string =>
      explore({ ...named(subject), ...parts }, states, { findings: 6 })
        .findings.map((finding) => finding.broken)
        .join("\n");
    // Most faults show at once; what takes a rare path is given more of them.
    const sizes = [600, 12_000, 60_000];
    const seen = sizes.find((size) => shows.test(found(size)));
    expect(seen, `nothing that matches ${shows} in ${sizes.at(-1)} states`).toBeDefined();
  });
});
