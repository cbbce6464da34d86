// The room of cues: when an action of a case is due.
//
// `frame:6`, `request:2` (arrived, not yet answered), `event:1`, `tool_started`, `tool_started:2` (the second time), `tool_started+50ms`, `backoff_started+50ms`,
// `compaction_started`, `sub_agent_started`, `start`, `settled`, `later`, `end`.
// Each action runs once, at the first occurrence of its cue. An action due some time after a frame does not delay the next frame.

import { usualTime } from "./action-names.ts";
import { type CaseAction, Unsupported } from "./format.ts";
import type { VirtualClock } from "./virtual-clock.ts";

interface Cue {
  word: string;
  number: number | undefined;
  delayMs: number;
  action: CaseAction;
  done: boolean;
}

const words = new Set([
  "start",
  "frame",
  "request",
  "event",
  "tool_started",
  "tool_finished",
  "backoff_started",
  "approval_requested",
  "compaction_started",
  "compaction_finished",
  "sub_agent_started",
  "settled",
  "later",
  "end",
]);

/** Cues that are counted; without a number the first is meant. */
const counted: ReadonlySet<string> = new Set(["frame", "request", "event"]);

/** Synonyms for the arrival of the next request. */
const answered: ReadonlySet<string> = new Set(["after_response", "after_turn", "response", "turn_end"]);

export class Cues {
  readonly #cues: Cue[];
  readonly #clock: VirtualClock;
  readonly #act: (action: CaseAction) => Promise<void>;
  readonly #later: (acting: Promise<void>) => void;
  /** How often each word occurred whose occurrences are not numbered. */
  readonly #times = new Map<string, number>();

  /**
   * @param later registers work that must finish before the play ends
   * @throws Unsupported naming an unknown cue
   */
  constructor(
    actions: readonly CaseAction[],
    clock: VirtualClock,
    act: (action: CaseAction) => Promise<void>,
    later: (acting: Promise<void>) => void,
  ) {
    this.#cues = actions.map(readCue);
    this.#clock = clock;
    this.#act = act;
    this.#later = later;
  }

  has(word: string): boolean {
    return this.#cues.some((cue) => cue.word === word);
  }

  /** The actions due at this cue, if any, as a function that performs them. */
  at(word: string, number?: number): (() => Promise<void>) | undefined {
    const times = (this.#times.get(word) ?? 0) + 1;
    this.#times.set(word, times);
    const isNow = (cue: Cue): boolean =>
      cue.number === number || (number === undefined && cue.number === times);
    const due = this.#cues.filter((cue) => !cue.done && cue.word === word && isNow(cue));
    if (due.length === 0) return undefined;
    for (const cue of due) cue.done = true;
    if (word !== "frame" || due.every(({ delayMs }) => delayMs === 0)) return () => this.#perform(due);
    return async () => this.#later(this.#perform(due));
  }

  /** Performs what is due now, in order. Undefined when nothing is. */
  reached(word: string, number?: number): Promise<void> | undefined {
    return this.at(word, number)?.();
  }

  /** The cues that have not occurred yet. */
  get left(): string[] {
    return this.#cues.filter((cue) => !cue.done).map((cue) => cue.action.at);
  }

  async #perform(due: readonly Cue[]): Promise<void> {
    for (const { delayMs, action } of due) {
      if (delayMs > 0) await this.#clock.sleep(delayMs);
      await this.#act(action);
    }
  }
}

function readCue(action: CaseAction): Cue {
  const read = /^([a-z_]+)(?::(\d+))?(?:\+(\d+)ms)?$/.exec(action.at);
  const [, given = "", place, delay] = read ?? [];
  // A turn after the first one begins with its request.
  const count = Number(place ?? 1);
  const word = usualTime(given);
  const first = counted.has(word) ? 1 : undefined;
  const number = answered.has(given) ? count + 1 : given === "turn" ? Math.max(2, count) : (place ?? first);
  if (!words.has(word)) throw new Unsupported(`actions[].at ${JSON.stringify(action.at)} is not known`);
  for (const member of Object.keys(action))
    if (!["at", "do", "text", "ms", "reason", "path", "content", "fs", "arguments", "note"].includes(member))
      throw new Unsupported(`unknown member actions[].${member}`);
  return {
    word,
    number: number === undefined ? undefined : Number(number),
    delayMs: Number(delay ?? 0),
    action,
    done: false,
  };
}
