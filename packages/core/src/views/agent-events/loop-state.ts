// The room of the loop state for a watcher: how far a session's last run is, and which calls it made.
//
// It is folded from the journal alone; a new run begins from zero.

import { digest } from "../../json/digest.ts";
import type { LogRecord } from "../../loop/records.ts";
import { callsOf, type ToolCallPart } from "../../message.ts";

export interface ToolCallRecord {
  name: string;
  /** Hash of the arguments as the model wrote them, so the order of keys matters. */
  inputHash: string;
  /** Milliseconds since 1970. */
  timestamp: number;
}

export type LoopPhase =
  | { phase: "toolUse" }
  /** The output is asked for; `retryCount` times again so far. */
  | { phase: "finalOutput"; retryCount: number }
  | { phase: "completed" };

/** A record of a call that was allowed to run. */
export function toolCallRecord(
  call: Pick<ToolCallPart, "name" | "rawArgs">,
  timestamp: number,
): ToolCallRecord {
  return { name: call.name, inputHash: digest(call.rawArgs), timestamp };
}

/** Whether two calls are the same: by name and arguments, not by time. */
export function sameCall(one: ToolCallRecord, other: ToolCallRecord): boolean {
  return one.name === other.name && one.inputHash === other.inputHash;
}

/** The state of a session's last run. */
export class LoopState {
  readonly maxSteps: number;
  /** The number of the newest answer, complete or not, from 1; 0 before the first. */
  readonly currentStep: number;
  readonly phase: LoopPhase;
  /** Calls that were allowed to run, in order. */
  readonly history: readonly ToolCallRecord[];

  /** @param records of the session, e.g. from its journal; `maxSteps`: the run's limit, 10 by default */
  constructor(records: Iterable<LogRecord>, maxSteps: number = 10) {
    let step = 0;
    let phase: LoopPhase = { phase: "toolUse" };
    let history: ToolCallRecord[] = [];
    let asked: ToolCallPart[] = [];
    for (const record of records)
      switch (record.type) {
        case "run_started":
          [step, phase, history] = [0, { phase: "toolUse" }, []];
          break;
        case "model_started":
          step = record.step;
          break;
        case "model_finished":
          asked = callsOf(record.message);
          break;
        case "turn_judged":
          if (record.follows.do === "act")
            for (const call of asked) history.push(toolCallRecord(call, record.at));
          asked = [];
          break;
        case "mode":
          if (record.mode === "output") phase = { phase: "finalOutput", retryCount: record.attempt };
          break;
        case "delivered":
          phase = { phase: "toolUse" };
          break;
        case "run_ended":
          phase = { phase: "completed" };
          break;
      }
    this.maxSteps = maxSteps;
    this.currentStep = step;
    this.phase = phase;
    this.history = history;
  }

  get remainingSteps(): number {
    return Math.max(0, this.maxSteps - this.currentStep);
  }

  get isAtLimit(): boolean {
    return this.currentStep >= this.maxSteps;
  }

  get canContinue(): boolean {
    return this.phase.phase !== "completed" && this.currentStep < this.maxSteps;
  }

  get lastToolCall(): ToolCallRecord | undefined {
    return this.history.at(-1);
  }

  /** How many calls of a tool there were, with any arguments. */
  countToolCalls(name: string): number {
    return this.history.filter((one) => one.name === name).length;
  }

  /** How many calls were equal to this one. */
  countDuplicateToolCalls(call: ToolCallRecord): number {
    return this.history.filter((one) => sameCall(one, call)).length;
  }

  /** How many calls at the end, in a row, are equal to the last one. */
  countConsecutiveSameToolCalls(): number {
    const last = this.lastToolCall;
    if (last === undefined) return 0;
    const other = this.history.findLastIndex((one) => !sameCall(one, last));
    return this.history.length - 1 - other;
  }
}
