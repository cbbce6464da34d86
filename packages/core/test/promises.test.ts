// The promises P1 to P10, each as a property of the pure loop: random walks through everything the world may answer.

import {
  decide,
  isPaired,
  type LogRecord,
  next,
  phaseOf,
  reduceAll,
  requestOf,
  resolve,
  type State,
} from "@rondo/core";
import { scripted } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Subject } from "../../testkit/src/modelcheck/explore.ts";
import { noShadow, shadowAfter } from "../../testkit/src/modelcheck/promises.ts";
import { subjects } from "../../testkit/src/modelcheck/subjects.ts";
import { type Walk, Walker, walk } from "../../testkit/src/modelcheck/walk.ts";
import { Log } from "../src/loop/log.ts";
import { Prefix } from "../src/loop/request/prefix.ts";
import { withRun } from "../src/loop/state.ts";

const named = new Map(subjects().map((subject) => [subject.name, subject]));
const anySubject = fc.constantFrom(...named.keys());
const anyChoices = fc.array(fc.nat(999), { minLength: 10, maxLength: 120 });

function everyWalk(
  check: (walked: Walk, subject: Subject) => void,
  runs: number = 400,
  among: fc.Arbitrary<string> = anySubject,
): void {
  fc.assert(
    fc.property(among, anyChoices, (name, choices) => {
      const subject = named.get(name) as Subject;
      check(walk(subject, choices), subject);
    }),
    { numRuns: runs },
  );
}

describe("over the pure loop", () => {
  test("P1: in every state the stored history has exactly one result after every call", () => {
    everyWalk(({ states }) => {
      for (const state of states) expect(isPaired(state.history)).toBe(true);
    });
  });

  test("P2: every state has exactly one action, always the same", () => {
    everyWalk(({ states }, { rules }) => {
      for (const state of states) expect(next(state, rules)).toEqual(next(state, rules));
    });
  });

  test("P2: between two events from outside the loop makes a limited number of actions", () => {
    everyWalk(({ decisions }) => {
      let own = 0;
      for (const { action, taken } of decisions) {
        if (!taken) continue;
        own = action.do === "record" ? own + 1 : 0;
        expect(own).toBeLessThan(25);
      }
    });
  });

  test("P3: folding the records of any prefix gives the driver's exact state, and the same next action", () => {
    everyWalk(({ records, states }, { rules }) => {
      for (let length = 0; length <= records.length; length += 1) {
        const folded = reduceAll(records.slice(0, length), rules);
        expect(comparable(folded)).toBe(comparable(states[length] as State));
        expect(JSON.stringify(next(folded, rules))).toBe(
          JSON.stringify(next(states[length] as State, rules)),
        );
      }
    }, 60);
  });

  test("P3: a run that is interrupted at any point and continued has the same end, text and conversation", () => {
    const calm = { abort: 0, steer: 0, followUp: 0, crash: 0 };
    // The world answers by what it is asked, so that both runs meet the same one; no write can be in flight at the cut.
    const script = fc.array(
      fc.constantFrom("one call", "two reads", "an unknown tool", "a cut-off call", "nothing"),
      { maxLength: 4 },
    );
    const several = fc.constantFrom("by effect", "in sequence", "in parallel");
    fc.assert(
      fc.property(several, script, fc.nat(30), (name, answers, cut) => {
        const subject = named.get(name) as Subject;
        const through = scriptedRun({ ...subject, fuel: calm }, answers, undefined);
        const cutRun = scriptedRun({ ...subject, fuel: calm }, answers, cut);
        expect(cutRun).toEqual(through);
      }),
      { numRuns: 300 },
    );
  });

  test("P4: a write starts at most once, whatever crashes, and has an unknown outcome if it was interrupted", () => {
    let interrupted = 0;
    everyWalk(({ records, states }) => {
      const ever = new Set<string>();
      const started = new Set<string>();
      records.forEach((record, at) => {
        // A tool that was answered goes on with other code. What was found not to have happened may happen; what a person wants again is theirs to want.
        if (record.type === "tool_answered") started.delete(record.call);
        if (record.type === "reconciled" && record.found === "not_done") started.delete(record.call);
        if (record.type === "approval_given" && record.approval.answer !== "deny") {
          const asked = states[at]?.run?.turn?.calls.find((one) => one.key === record.call);
          if (asked?.interrupted) started.delete(record.call);
        }
        if (record.type !== "tool_started") return;
        const call = states[at]?.run?.turn?.calls.find((one) => one.key === record.call);
        if (call?.tool?.effect !== "write") return;
        expect(started.has(record.call)).toBe(false);
        started.add(record.call);
        ever.add(record.call);
      });
      for (const record of records)
        if (record.type === "tool_finished" && record.result.code === "outcome_unknown") {
          interrupted += 1;
          expect(ever.has(record.call)).toBe(true);
        }
    }, 1500);
    expect(interrupted).toBeGreaterThan(0);
  });

  test("P5: after an abort no model call and no tool starts, queued messages stay queued, and the run settles within its grace", () => {
    let aborts = 0;
    everyWalk(({ records, states, settled }, { options }) => {
      const at = records.findIndex((record) => record.type === "abort_asked");
      if (at < 0 || states[at]?.run?.end !== undefined) return;
      aborts += 1;
      const after = records.slice(at + 1);
      const starts = after.filter((record) =>
        ["model_started", "tool_started", "delivered"].includes(record.type),
      );
      expect(starts).toEqual([]);
      const ended = after.find((record) => record.type === "run_ended");
      if (settled) expect(ended).toBeDefined();
      const asked = records[at] as LogRecord;
      // Sub-agents that were left behind have a second to be ended, and whoever takes the run over has it again.
      const owners = 1 + after.filter(({ type }) => type === "opened").length;
      const forLeft = states.slice(at).some(({ left }) => left !== undefined) ? 1_000 * owners : 0;
      if (ended !== undefined)
        expect(ended.at - asked.at).toBeLessThanOrEqual(
          Math.max(options.abortGraceMs, forLeft) + after.length,
        );
    });
    expect(aborts).toBeGreaterThan(0);
  });

  test("P6: every run ends once, naming a rule, or is parked with a request for approval or a question", () => {
    everyWalk(({ records, states, settled }, { rules }) => {
      const ends = records.filter((record) => record.type === "run_ended");
      expect(ends.length).toBeLessThanOrEqual(1);
      for (const end of ends) expect(end.end.rule).not.toBe("");
      const last = states.at(-1) as State;
      if (settled) expect(["done", "park"]).toContain(next(last, rules).do);
      if (next(last, rules).do === "park" && last.run?.end === undefined)
        expect(last.run?.turn?.calls.some((call) => call.asked || call.question !== undefined)).toBe(true);
    });
  });

  test("P6: whatever state a run is in, ordinary answers bring it to its end", () => {
    everyWalk(({ records }, subject) => {
      const walker = new Walker({ ...subject, fuel: { abort: 0, steer: 0, followUp: 0, crash: 0 } });
      walker.append(records.slice(0, 1));
      for (const record of records.slice(1)) walker.append([record], record.at - walker.state.now);
      let steps = 0;
      while (steps < 300 && walker.step((answers, loopActs) => (loopActs ? undefined : plain(answers))))
        steps += 1;
      expect(walker.state.run?.end).toBeDefined();
    }, 200);
  });

  test("P7: the requests of a replay are those of the run, byte for byte", () => {
    everyWalk(({ records, decisions }, { rules }) => {
      const recorded = new Prefix();
      const replayed = new Prefix();
      for (const { after, action } of decisions) {
        if (action.do !== "call_model") continue;
        const folded = reduceAll(records.slice(0, after), rules);
        expect(JSON.stringify(requestShape(requestOf(withRun(folded), rules)))).toBe(
          JSON.stringify(requestShape(action.request)),
        );
        expect(replayed.note(requestOf(withRun(folded), rules)).digest).toBe(
          recorded.note(action.request).digest,
        );
      }
    }, 150);
  });

  test("P8: steering is delivered once, before the next model call; no queued message is lost, unless it is withdrawn", () => {
    let delivered = 0;
    let withdrawn = 0;
    const check = ({ records, states }: Walk): void => {
      let shadow = noShadow;
      records.forEach((record, at) => {
        const before = states[at] as State;
        const after = states[at + 1] as State;
        shadow = shadowAfter(shadow, record, before);
        if (record.type === "delivered") delivered += record.ids.length;
        if (record.type === "model_started" && !before.run?.paused)
          expect(before.inbox.filter((one) => one.lane === "steer")).toEqual([]);
        expect(new Set(shadow.delivered).size).toBe(shadow.delivered.length);
        const waiting = after.inbox.map((one) => one.id);
        const known = [...shadow.delivered, ...shadow.withdrawn, ...waiting].sort();
        expect(known).toEqual([...shadow.queued].sort());
      });
      withdrawn += shadow.withdrawn.length;
    };
    everyWalk(check);
    // In few of them messages are taken back.
    const few = [...named.values()].filter(({ fuel }) => (fuel.withdraw ?? 0) > 0);
    everyWalk(check, 100, fc.constantFrom(...few.map(({ name }) => name)));
    expect(delivered).toBeGreaterThan(0);
    expect(withdrawn).toBeGreaterThan(0);
  });

  test("P8: a run does not complete while a message is queued", () => {
    everyWalk(({ records, states }) => {
      records.forEach((record, at) => {
        if (record.type === "run_ended" && record.end.reason === "completed")
          expect(states[at]?.inbox).toEqual([]);
      });
    });
  });

  test("P9: the work of folding a record and deciding does not grow with the run", () => {
    const { rules } = resolve({ model: scripted([]), maxSteps: 10_000, repeats: null });
    const subject = {
      ...(named.get("by effect") as Subject),
      rules,
      fuel: { abort: 0, steer: 0, followUp: 0, crash: 0 },
    };
    const answers = fc.constantFrom(
      "one call",
      "two reads",
      "an unknown tool",
      "four calls",
      "malformed arguments",
    );
    fc.assert(
      fc.property(fc.array(answers, { minLength: 5, maxLength: 10 }), (cycle) => {
        const walker = new Walker(subject);
        walker.start();
        // The most looks at history that one turn of the loop took, in the first steps and in the last.
        const most = [0, 0];
        while ((walker.state.run?.steps ?? 0) < 150) {
          const step = walker.state.run?.steps ?? 0;
          const wanted = `model answers ${cycle[step % cycle.length]}`;
          const looks = counted(() =>
            walker.step((given, loopActs) =>
              loopActs ? undefined : (given.find((answer) => answer.name === wanted) ?? plain(given)),
            ),
          );
          if (step < 20) most[0] = Math.max(most[0] ?? 0, looks);
          if (step >= 130) most[1] = Math.max(most[1] ?? 0, looks);
        }
        expect(most[1]).toBe(most[0]);
      }),
      { numRuns: 20 },
    );
  });

  test("P10: the front of a request equals the last one's, byte for byte, or the change is reported", () => {
    let kept = 0;
    let broken = 0;
    everyWalk(({ decisions }) => {
      const prefix = new Prefix();
      let last: string[] = [];
      for (const { action, taken } of decisions) {
        if (action.do !== "call_model" || !taken) continue;
        const { request, shape } = action;
        const { broke } = prefix.note(request, shape);
        const front = [[request.system, request.tools], ...request.messages].map((one) =>
          JSON.stringify(one),
        );
        const isKept = last.every((piece, at) => piece === front[at]);
        expect(broke !== undefined).toBe(!isKept);
        if (last.length > 0 && isKept) kept += 1;
        if (!isKept) broken += 1;
        last = front;
      }
    });
    expect(kept).toBeGreaterThan(0);
    expect(broken).toBeGreaterThan(0);
  });

  test("every decision that ends, lands or judges names its rule and its evidence", () => {
    everyWalk(({ records }) => {
      for (const record of records) {
        if (record.type === "turn_judged" || record.type === "mode" || record.type === "noted") {
          expect(record.rule).not.toBe("");
          expect(record.evidence).toBeTypeOf("object");
        }
      }
    });
  });

  test("the table contains every transition that occurs", () => {
    everyWalk(({ states, decisions }, { rules }) => {
      for (const { after, action, taken } of decisions) {
        if (action.do !== "record" || !taken) continue;
        const before = states[after] as State;
        const { row } = decide(before, rules);
        const then = states[after + action.facts.length];
        if (then === undefined) continue;
        expect([phaseOf(before), ...row.to]).toContain(phaseOf(then));
      }
    });
  });
});

/** A state as text, shared growth and all. */
function comparable(state: State): string {
  const { history, ids: _ids, seen: _seen, ...rest } = state;
  return JSON.stringify([[...history], rest], (_name, value: unknown) =>
    value instanceof Map ? [...value] : value,
  );
}

/** How many items of shared lists were looked at while something was done. */
function counted(act: () => void): number {
  const { at, slice } = Log.prototype;
  const iterate = Log.prototype[Symbol.iterator];
  let looks = 0;
  Log.prototype.at = function (index) {
    looks += 1;
    return at.call(this, index);
  };
  Log.prototype.slice = function (from, to) {
    looks += (to ?? this.length) - (from ?? 0);
    return slice.call(this, from, to);
  };
  Log.prototype[Symbol.iterator] = function () {
    looks += this.length;
    return iterate.call(this);
  };
  try {
    act();
  } finally {
    Object.assign(Log.prototype, { at, slice, [Symbol.iterator]: iterate });
  }
  return looks;
}

function requestShape(request: ReturnType<typeof requestOf>): object {
  return { ...request, messages: [...request.messages] };
}

/** The plain answer: text from the model, success from tools, yes from people; time passes only when nothing else can. */
function plain<T extends { name: string }>(answers: readonly T[]): T | undefined {
  const liked = [
    "model answers text",
    "model fails: aborted",
    ": ok",
    ": approve",
    ": nothing",
    ": allow",
    "output fits",
    "time passes",
  ];
  for (const end of liked) {
    const found = answers.find((answer) => answer.name.endsWith(end));
    if (found !== undefined) return found;
  }
  return answers[0];
}

/** A run in a world that answers by the question: the nth step gets the nth answer, every tool succeeds. */
function scriptedRun(subject: Subject, script: readonly string[], cut: number | undefined): object {
  const walker = new Walker(subject);
  walker.start();
  let toCut = cut;
  for (let steps = 0; steps < 200; steps += 1) {
    if (toCut === steps) {
      // The process dies here: only the records are left, and another process folds them.
      walker.state = reduceAll(walker.walk.records, subject.rules);
      walker.append([{ type: "opened", by: "another" }]);
      toCut = undefined;
    }
    const step = walker.state.run?.steps ?? 0;
    const wanted = walker.state.run?.landing === undefined ? (script[step] ?? "text") : "text";
    const going = walker.step((answers, loopActs) =>
      loopActs
        ? undefined
        : (answers.find((answer) => answer.name === `model answers ${wanted}`) ?? plain(answers)),
    );
    if (!going) break;
  }
  const { run, history } = walker.state;
  return {
    end: run?.end,
    text: run?.text,
    steps: run?.steps,
    conversation: [...history].map((message) => [
      message.role,
      message.role === "tool" ? message.isError : "",
      ...message.content.map((part) => (part.type === "text" ? part.text : part.type)),
    ]),
  };
}
