// The room of loop detection: repeated calls lead to a warning, and then are blocked.
//
// A rule over a window of the last calls. A warning is a note to the model before its next answer, repeated after every ten
// more. A critical call does not run: it is answered, or the run ends. A blocked call is not counted, so that it stays
// blocked until something else has happened.

import {
  type Check,
  callable,
  checkGiven,
  count,
  listOf,
  membersOf,
  oneOf,
  recordOf,
  rising,
  some,
} from "../../checks.ts";
import { placeIn } from "../../loop/call-key.ts";
import type { Call } from "../../loop/state.ts";
import { onFinished } from "../call-results.ts";
import type { Decision, Judgement, Rule } from "../rule.ts";
import { type DetectorName, detect, detectorNames, type Finding, type Thresholds } from "./detectors.ts";
import { type Entry, entryOf, nameOf, type Window } from "./window.ts";

export interface LoopDetection {
  /** How many of the last calls are considered. Default: 30. */
  window?: number;
  /** How many equal calls, polls without progress, or alternating calls lead to a warning. Default: 10. */
  warnAt?: number;
  /** How many calls in a row of a tool that does not exist are critical. Default: 10. */
  unknownToolAt?: number;
  /** How many of the same, with equal outcomes, are critical. Default: 20. */
  criticalAt?: number;
  /** How many equal calls with equal outcomes of any kind are critical. Default: 30. */
  globalAt?: number;
  /** Which detectors are used. Default: all. */
  detectors?: readonly DetectorName[];
  /** Which calls are polls: they may repeat as long as their outcome changes. Must be pure. Default: `command_status`, and `process` with the action `poll` or `log`. */
  isPoll?: (call: { name: string; args: Call["args"] }) => boolean;
  /** `block`: the call is answered with what was found. `land`, `stop`: the run ends, with or without a last answer. Default: `block`. */
  onCritical?: "block" | "land" | "stop";
}

export interface LoopDetectionMemory {
  readonly window: Window;
  /** The warnings given, by what they were about, and at which count. */
  readonly warned: ReadonlyMap<string, number>;
}

const name = "loop_detection";

/** A further warning after this many more repeats. */
const warnAgainAfter = 10;

/** Detects repeated calls. Off unless it is among the rules. @throws RondoError `invalid_request` naming the invalid option */
export function loopDetection(options: LoopDetection = {}): Rule<LoopDetectionMemory> {
  checkGiven(loopDetectionOptions, options, "loopDetection");
  const { window: size = 30, onCritical = "block", isPoll = isKnownPoll } = options;
  const { warnAt = 10, unknownToolAt = 10, criticalAt = 20, globalAt = 30 } = options;
  const thresholds: Thresholds = { warnAt, unknownToolAt, criticalAt, globalAt };
  const asked = new Set(options.detectors ?? detectorNames);
  checkGiven(within(size), thresholds, "loopDetection");
  const look = ({ window }: LoopDetectionMemory, call: Call): Finding | undefined =>
    detect(window, { call: nameOf(call), tool: call.name, poll: isPoll(call) }, thresholds, asked);
  const blocking = (memory: LoopDetectionMemory, call: Call): Finding | undefined => {
    const found = look(memory, call);
    return found?.level === "critical" ? found : undefined;
  };

  return {
    name,
    version: 1,
    init: () => ({ window: [], warned: new Map() }),
    fold: {
      noted(memory, { rule, evidence: { subject, count } }) {
        if (rule !== name) return memory;
        return { ...memory, warned: new Map(memory.warned).set(String(subject), Number(count)) };
      },
      tool_finished: onFinished((memory, call, result) => {
        if (result.code === "repeated") return memory;
        // Only calls that were tried count: not those that were skipped, refused or cut off before they could run.
        if (call.startedAt === undefined && result.code !== "unknown_tool") return memory;
        return add(memory, entryOf(call, result, isPoll(call)), size);
      }),
    },
    decide(memory): Decision | undefined {
      const newest = memory.window.at(-1);
      if (newest === undefined) return undefined;
      const found = detect(memory.window, newest, thresholds, asked);
      // A critical call is blocked when it is made again; only a tool that does not exist has nothing to block.
      if (found === undefined || (found.level === "critical" && found.detector !== "unknown_tool_repeat"))
        return undefined;
      const { detector, count, level, subject, text } = found;
      const last = memory.warned.get(subject);
      if (last !== undefined && count < last + warnAgainAfter && count >= last) return undefined;
      return { do: "nudge", text, evidence: { detector, level, count, subject, tool: newest.tool } };
    },
    judge(memory, state, texts): Judgement | undefined {
      if (onCritical === "block") return undefined;
      for (const call of state.run?.turn?.calls ?? []) {
        const found = blocking(memory, call);
        if (found === undefined) continue;
        const { detector, count, text } = found;
        return {
          follows: { do: onCritical, reason: "no_progress" },
          evidence: { detector, count, tool: call.name },
          answerAll: {
            code: "repeated",
            text: (other) => (other.key === call.key ? text : texts.notExecuted(other.name)),
          },
        };
      }
      return undefined;
    },
    judgeCall(memory, call) {
      const found = blocking(memory, call);
      if (found === undefined) return undefined;
      const { detector, count, text } = found;
      return { do: "answer", code: "repeated", text, evidence: { detector, count, tool: call.name } };
    },
    judgeStart(memory, call, state) {
      // In sequence a call's turn comes when the one before it has a result; until then there is nothing to check.
      const before = state.run?.turn?.calls[placeIn(call.key) - 1];
      if (state.options?.toolOrder === "sequential" && before !== undefined && before.result === undefined)
        return undefined;
      const found = blocking(memory, call);
      if (found === undefined) return undefined;
      const { detector, count, text } = found;
      return { code: "repeated", text, evidence: { detector, count, tool: call.name } };
    },
  };
}

const loopDetectionOptions: Check = rising(
  membersOf<LoopDetection>({
    window: count,
    warnAt: count,
    unknownToolAt: count,
    criticalAt: count,
    globalAt: count,
    detectors: some(listOf(oneOf(...detectorNames)), "a detector"),
    isPoll: callable,
    onCritical: oneOf("block", "land", "stop"),
  }),
  { warnAt: 10, criticalAt: 20 },
);

/** A threshold above the window's size would never be reached. */
const within = (size: number): Check =>
  recordOf((value) =>
    Number(value) <= size
      ? undefined
      : { at: "", says: `${value} is more than the window of ${size} calls can hold: raise window` },
  );

function add(memory: LoopDetectionMemory, entry: Entry, size: number): LoopDetectionMemory {
  const window = [...memory.window.slice(memory.window.length >= size ? 1 : 0), entry];
  // What has left the window leads to a new warning when it comes back.
  const here = (subject: string): boolean =>
    window.some(({ call, tool }) => subject === tool || isAbout(subject, call));
  return { window, warned: new Map([...memory.warned].filter(([subject]) => here(subject))) };
}

/** Whether a finding was about this call, alone or as one of a pair. */
function isAbout(subject: string, call: string): boolean {
  return subject === call || subject.startsWith(`${call} `) || subject.endsWith(` ${call}`);
}

function isKnownPoll({ name: tool, args }: { name: string; args: Call["args"] }): boolean {
  return (
    tool === "command_status" || (tool === "process" && (args.action === "poll" || args.action === "log"))
  );
}
