// The room of the script: which response comes next.
//
// Responses come in order. If a case marks some as summaries, these answer requests for a summary, and the last of them
// is repeated for further ones: how often a loop asks is its own affair.

import type { Case, Turn, Wire } from "./format.ts";
import { filler, type Protocol, plainAnswer, type Served, served } from "./wire.ts";

const isSummary = (turn: Turn): boolean => turn.expect?.role === "compaction_summary";

/** A model caught in a loop keeps repeating itself, unless the case says otherwise. */
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

/** Serves a case's responses in order, and after them a plain last answer. */
export class Script {
  readonly #one: Case;
  readonly #protocol: Protocol;
  readonly #persist: boolean;
  readonly #summarises: () => boolean;
  #count = 0;
  /** How many turns of each kind were served, where they are distinguished. */
  readonly #given = { summaries: 0, others: 0 };

  /**
   * @param persist repeat the first response forever, to test for a limit
   * @param summarises whether the next request asks for a summary
   */
  constructor(one: Case, protocol: Protocol, persist: boolean, summarises: () => boolean) {
    this.#one = one;
    this.#protocol = protocol;
    this.#persist = persist;
    this.#summarises = summarises;
  }

  /** The turn for the next request, where summaries are distinguished. */
  #turn(): Turn | undefined {
    const { turns = [], turns_after = [] } = this.#one;
    if (!turns.some(isSummary) || this.#count === 0) return undefined;
    const { summaries, others } = this.#given;
    const all = [...turns, ...turns_after];
    if (!this.#summarises()) return all.filter((turn) => !isSummary(turn))[others];
    const told = all.filter(isSummary);
    return told[Math.min(summaries, told.length - 1)];
  }

  /** The wire for the next request; undefined when a plain answer follows. */
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
      wire === undefined
        ? plainAnswer(this.#protocol, this.#count > 1 && this.#summarises())
        : served(wire, filler(this.#count, request.body));
    return turn === undefined ? answer : { ...answer, turn: (this.#one.turns ?? []).indexOf(turn) };
  }
}

/** Number of responses before those of its turns. */
export const beginsWith = ({ wire, turns = [] }: Case): 0 | 1 =>
  wire !== null && isStored(wire) && turns.length > 0 ? 0 : 1;

/** A wire that is not a response: the content of a session's file before the play. */
const isStored = (wire: Wire): boolean =>
  wire.session_file_text !== undefined && Object.keys(wire).length === 1;
