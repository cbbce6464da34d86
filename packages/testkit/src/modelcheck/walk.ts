// The room of walks: one path through the world, chosen by numbers.
//
// What `explore` does for all paths, a walk does for one, and keeps every record and state on the way, so that
// properties can be checked of whole runs.

import {
  type Action,
  decide,
  emptyState,
  type Fact,
  formatVersion,
  type LogRecord,
  reduce,
  type State,
  userText,
} from "@rondo/core";
import { type Fuel, spend, type WorldAnswer } from "./disturbances.ts";
import { factsOf, type Subject } from "./explore.ts";
import { worldAnswers } from "./world.ts";

export interface Walk {
  records: LogRecord[];
  /** The state before each record, and the last one. */
  states: State[];
  /** Every decision on the way, with the number of records that led to it; not `taken` when something came between. */
  decisions: { after: number; action: Action; taken: boolean }[];
  /** False when the choices ran out before the run had ended or parked. */
  settled: boolean;
}

/** Where a walk is: made of records alone, so that it can be cut anywhere and gone on with. */
export class Walker {
  readonly subject: Subject;
  state: State = emptyState;
  fuel: Fuel;
  readonly walk: Walk = { records: [], states: [emptyState], decisions: [], settled: false };

  constructor(subject: Subject) {
    this.subject = subject;
    this.fuel = subject.fuel;
  }

  start(): void {
    const { options } = this.subject;
    this.append([{ type: "run_started", format: formatVersion, input: [userText("task")], options }]);
  }

  append(facts: readonly Fact[], after: number = 1): void {
    for (const fact of facts) {
      const at = this.state.now + (fact === facts[0] ? after : 0);
      const record: LogRecord = { ...fact, seq: this.state.seq, at, rand: 0.5 };
      this.state = reduce(this.state, record, this.subject.rules);
      this.walk.records.push(record);
      this.walk.states.push(this.state);
    }
  }

  /** What the loop wants now. */
  decide(): Action {
    const { action } = decide(this.state, this.subject.rules, this.subject.table);
    this.walk.decisions.push({ after: this.walk.records.length, action, taken: false });
    return action;
  }

  /**
   * One step: what the loop does by itself, or an answer of the world picked by `choose`.
   * @returns false when the run has ended, or nobody answers any more
   */
  step(choose: (answers: readonly WorldAnswer[], loopActs: boolean) => WorldAnswer | undefined): boolean {
    const action = this.decide();
    if (action.do === "done") return false;
    const facts = factsOf(action);
    const answer = choose(worldAnswers(this.state, action, this.fuel), facts.length > 0);
    if (answer !== undefined) {
      this.fuel = spend(this.fuel, answer);
      this.append(answer.facts, answer.after ?? 1);
      return true;
    }
    const decision = this.walk.decisions.at(-1);
    if (decision !== undefined) decision.taken = true;
    this.append(facts);
    return facts.length > 0;
  }
}

const disturbing = new Set(["abort", "steer", "follow_up", "crash"]);

/** Walks by numbers: each picks among the world's answers; disturbances also come between the loop's own acts. */
export function walk(subject: Subject, choices: readonly number[]): Walk {
  const walker = new Walker(subject);
  walker.start();
  for (const choice of choices) {
    const going = walker.step((answers, loopActs) => {
      const open = loopActs ? answers.filter((one) => disturbing.has(one.name)) : answers;
      // While the loop acts by itself, one number in eight disturbs it.
      if (loopActs && (choice % 8 !== 0 || open.length === 0)) return undefined;
      return open[Math.floor(choice / 8) % Math.max(1, open.length)];
    });
    if (!going) {
      walker.walk.settled = true;
      break;
    }
  }
  return walker.walk;
}
