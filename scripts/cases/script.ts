// The room of the script: which response comes next.

import type { Case, Wire } from "./format.ts";
import { filler, type Protocol, plainAnswer, type Served, served } from "./wire.ts";

/** Serves a case's responses in order; when they are used up, a plain last answer. */
export class Script {
  readonly #one: Case;
  readonly #protocol: Protocol;
  readonly #persist: boolean;
  #count = 0;

  /** @param persist serve the first response for ever, to see whether what follows it has a bound */
  constructor(one: Case, protocol: Protocol, persist: boolean) {
    this.#one = one;
    this.#protocol = protocol;
    this.#persist = persist;
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
    if (at === 0) return wire === null || isStored(wire) ? undefined : wire;
    return (
      [...turns, ...turns_after][at - 1]?.wire ??
      (at > turns.length + turns_after.length ? final_wire : undefined)
    );
  }

  next(request: { body: unknown }): Served {
    const wire = this.peek();
    this.#count += 1;
    return wire === undefined ? plainAnswer(this.#protocol) : served(wire, filler(this.#count, request.body));
  }
}

/** A wire that is no response: what a session's file held before the play. */
const isStored = (wire: Wire): boolean =>
  wire.session_file_text !== undefined && Object.keys(wire).length === 1;
