// The room of the detectors: five ways in which a run can repeat itself, checked in a fixed order.
//
// Each gets the window and one call, the newest or the next, and returns a finding or nothing. The first finding counts:
// the worse before the milder, the specific before the general.

import { alternation, sameOutcomes, timesOf, unknownInRow, type Window } from "./window.ts";

/** In the order in which they are checked. */
export const detectorNames = [
  "unknown_tool_repeat",
  "global_circuit_breaker",
  "known_poll_no_progress",
  "ping_pong",
  "generic_repeat",
] as const;

export type DetectorName = (typeof detectorNames)[number];

export interface Thresholds {
  warnAt: number;
  unknownToolAt: number;
  criticalAt: number;
  globalAt: number;
}

/** The call that a detector checks. */
export interface Watched {
  call: string;
  tool: string;
  poll: boolean;
}

export interface Finding {
  detector: DetectorName;
  level: "warning" | "critical";
  count: number;
  /** Identifies what it is about: a second finding with the same key is the first one, grown. */
  subject: string;
  /** What the model reads. */
  text: string;
}

type Seen = Omit<Finding, "detector">;
type Detector = (window: Window, watched: Watched, at: Thresholds) => Seen | undefined;

const finding =
  (level: Seen["level"]) =>
  (subject: string, count: number, text: string): Seen => ({
    level,
    count,
    subject,
    text: `${level.toUpperCase()}: ${text}`,
  });
const warning = finding("warning");
const critical = finding("critical");

const detectors: { readonly [name in DetectorName]: Detector } = {
  unknown_tool_repeat(window, { tool }, { unknownToolAt }) {
    const count = unknownInRow(window, tool);
    if (count < unknownToolAt) return undefined;
    return critical(
      tool,
      count,
      `You have called ${tool} ${count} times and there is no such tool. Use the tools that are offered, or report the task as failed.`,
    );
  },

  global_circuit_breaker(window, { call, tool }, { globalAt }) {
    const count = sameOutcomes(window, call);
    if (count < globalAt) return undefined;
    return critical(
      call,
      count,
      `${tool} has had the same outcome ${count} times with identical arguments. It is blocked for as long as nothing else happens.`,
    );
  },

  known_poll_no_progress(window, { call, tool, poll }, { warnAt, criticalAt }) {
    const count = poll ? sameOutcomes(window, call) : 0;
    if (count >= criticalAt)
      return critical(
        call,
        count,
        `${tool} has been polled ${count} times with identical arguments and nothing has changed. It is blocked: report the task as failed.`,
      );
    if (count < warnAt) return undefined;
    return warning(
      call,
      count,
      `You have polled ${tool} ${count} times with identical arguments and nothing has changed. Wait longer between polls, or report the task as failed.`,
    );
  },

  ping_pong(window, { call }, { warnAt, criticalAt }) {
    const turns = alternation(window);
    // The call is the newest one, or the one that would continue the pattern.
    if (turns === undefined || (call !== turns.next && call !== turns.last)) return undefined;
    const { length, last, next, stuck } = turns;
    const pair = [next, last].sort().join(" ");
    if (length >= criticalAt && stuck && call === next)
      return critical(
        pair,
        length,
        `You have alternated between the same two calls ${length} times and nothing has changed. The next one is blocked: report the task as failed.`,
      );
    if (length < warnAt) return undefined;
    return warning(
      pair,
      length,
      `You are alternating between the same two calls (${length} calls in a row). If this is not making progress, stop retrying and report the task as failed.`,
    );
  },

  generic_repeat(window, { call, tool, poll }, { warnAt, criticalAt }) {
    if (poll) return undefined;
    const same = sameOutcomes(window, call);
    if (same >= criticalAt)
      return critical(
        call,
        same,
        `You have called ${tool} ${same} times with identical arguments and identical outcomes. It is blocked: report the task as failed.`,
      );
    const count = timesOf(window, call);
    if (count < warnAt) return undefined;
    return warning(
      call,
      count,
      `You have called ${tool} ${count} times with identical arguments. If this is not making progress, stop retrying and report the task as failed.`,
    );
  },
};

/** The first finding, if any. */
export function detect(
  window: Window,
  watched: Watched,
  thresholds: Thresholds,
  asked: ReadonlySet<DetectorName>,
): Finding | undefined {
  for (const detector of detectorNames) {
    const found = asked.has(detector) ? detectors[detector](window, watched, thresholds) : undefined;
    if (found !== undefined) return { detector, ...found };
  }
  return undefined;
}
