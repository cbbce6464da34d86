// The room of the script: which response comes next.
//
// Responses come in order. Where a case says which of them is a summary, those are for whoever asks for one, and the last
// of them for everyone who does so again: how often a loop asks is its own affair.

import type { Case, Turn, Wire } from "./format.ts";
import { filler, type Protocol, plainAnswer, type Served, served } from "./wire.ts";

const isSummary = (turn: Turn): boolean => turn.expect?.role === "compaction_summary";

/** A model in a loop of its own goes on like that, where the case does not say otherwise. */
export const repeatsItself = ({
  expect,
  turns,
  turns_after,
  repeat_wire,
  wire_sequence,
  final_wire,
}: Case): boolean =>
  expect.loop_outcome === "stop_loop_detected" &&
  [turns, turns_after, repeat_wire, wire_sequence, final_wire].every((one) => one === undefined);

/** Serves a case's responses in order; when they are used up, a plain last answer. */
export class Script {
  readonly #one: Case;
  readonly #protocol: Protocol;
  readonly #persist: boolean;
  readonly #summarises: () => boolean;
  #count = 0;
  /** How many turns of either sort were served, where they are told apart. */
  readonly #given = { summaries: 0, others: 0 };

  /**
   * @param persist serve the first response for ever, to see whether what follows it has a bound
   * @param summarises whether the coming request asks for a summary
   */
  constructor(one: Case, protocol: Protocol, persist: boolean, summarises: () => boolean) {
    this.#one = one;
    this.#protocol = protocol;
    this.#persist = persist;
    this.#summarises = summarises;
  }

  /** The turn that the coming request is given, where summaries are told from other turns. */
  #turn(): Turn | undefined {
    const { turns = [], turns_after = [] } = this.#one;
    if (!turns.some(isSummary) || this.#count === 0) return undefined;
    const { summaries, others } = this.#given;
    const all = [...turns, ...turns_after];
    if (!this.#summarises()) return all.filter((turn) => !isSummary(turn))[others];
    const told = all.filter(isSummary);
    return told[Math.min(summaries, told.length - 1)];
  }

  /** The wire of the coming request, or undefined when a plain answer is to come. */
  peek(): Wire | undefined {
    const { wire, turns = [], turns_after = [], repeat_wire, final_wire, wire_sequence } = this.#one;
    const at = this.#count;
    if (this.#persist) return wire ?? undefined;
    if (wire_sequence !== undefined && wire_sequence.length > 0)
      return wire_sequence[at % wire_sequence.length];
    if (repeat_wire === true) return wire ?? undefined;
    if (typeof repeat_wire === "number") return at < repeat_wire ? (wire ?? undefined) : final_wire;
    const first = beginsWith(this.#one);
    if (at < first) return wire === null || isStored(wire) ? undefined : wire;
    if (turns.some(isSummary)) return this.#turn()?.wire;
    return (
      [...turns, ...turns_after][at - first]?.wire ??
      (at >= turns.length + turns_after.length + first ? final_wire : undefined)
    );
  }

  next(request: { body: unknown }): Served {
    const wire = this.peek();
    const turn = this.#turn();
    if (turn !== undefined) this.#given[isSummary(turn) ? "summaries" : "others"] += 1;
    this.#count += 1;
    const answer =
      wire === undefined ? plainAnswer(this.#protocol) : served(wire, filler(this.#count, request.body));
    return turn === undefined ? answer : { ...answer, turn: (this.#one.turns ?? []).indexOf(turn) };
  }
}

/** How many responses come before those of its turns. */
export const beginsWith = ({ wire, turns = [] }: Case): 0 | 1 =>
  wire !== null && isStored(wire) && turns.length > 0 ? 0 : 1;

/** A wire that is no response: what a session's file held before the play. */
const isStored = (wire: Wire): boolean =>
  wire.session_file_text !== undefined && Object.keys(wire).length === 1;
