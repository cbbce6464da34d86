// The room of ids that are told early: a call has its id in the first event that shows something of it.
//
// Providers repeat ids, or leave them out, and a reader of events joins what belongs to one call by its id. So the id that
// is unique in the session is chosen when the first piece of a call's arguments arrives, and the answer is given the same
// one before it is recorded. Calls of which nothing was shown get theirs where the answer is folded (`folding/turn.ts`).

import { type AssistantMessage, callsOf, type ToolCallPart } from "../../message.ts";
import type { ModelEvent } from "../../model.ts";
import { madeUpId } from "../call-id.ts";
import type { Names } from "../log.ts";

/** A call of which something arrived. */
interface Told {
  readonly index: number;
  /** Its id in events. */
  readonly id: string;
  /** Its id as the model says it; empty: it has said none. */
  wire: string;
  name: string;
}

/** A piece of a call, as a model emits it. */
type Piece = Omit<Extract<ModelEvent, { type: "tool_args_delta" }>, "type">;

export class ToldIds {
  readonly #taken: Names;
  readonly #seq: number;
  readonly #calls = new Map<number, Told>();
  /** Arguments that came before the id and the name of their call, by its index. */
  #early: Map<number, string> | undefined;
  /** What is to be shown before the last piece: arguments that have waited. */
  waited = "";

  /**
   * @param taken the ids of all calls before
   * @param seq a number that no answer before was named by
   */
  constructor(taken: Names, seq: number) {
    this.#taken = taken;
    this.#seq = seq;
  }

  /** The id for events of the call that a piece belongs to. Undefined: the piece waits until the call's id or name has come. */
  of(piece: Piece): string | undefined {
    const { index, id, name } = piece;
    this.waited = "";
    const call = this.#calls.get(index) ?? this.#opened(piece);
    if (call === undefined) return undefined;
    if (id !== "") call.wire = id;
    if (name !== "") call.name = name;
    return call.id;
  }

  #opened({ index, id, name, delta }: Piece): Told | undefined {
    const early = this.#early?.get(index) ?? "";
    if (id === "" && name === "") {
      this.#early ??= new Map();
      this.#early.set(index, early + delta);
      return undefined;
    }
    this.waited = early;
    return this.#begin(index, id);
  }

  #begin(index: number, wire: string): Told {
    const isFree = wire !== "" && !this.#taken.has(wire) && this.#firstWith(wire) === undefined;
    const id = isFree ? wire : madeUpId(wire, this.#seq, this.#calls.size);
    const call: Told = { index, id, wire, name: "" };
    this.#calls.set(index, call);
    return call;
  }

  #firstWith(wire: string): Told | undefined {
    for (const call of this.#calls.values()) if (call.wire === wire) return call;
    return undefined;
  }

  /** The answer, its calls with the ids that were told. */
  named(message: AssistantMessage): AssistantMessage {
    const left = [...this.#calls.values()].sort((one, other) => one.index - other.index);
    if (left.every(({ id, wire }) => id === wire)) return message;
    const said = new Set(callsOf(message).map(({ id }) => id));
    const content = message.content.map((part) => {
      const at = part.type === "tool_call" ? this.#placeOf(part, left, said) : -1;
      // What was told before it is of calls that the answer no longer has.
      const call = left.splice(0, at + 1).at(-1);
      return call === undefined ? part : { ...part, id: call.id };
    });
    return { ...message, content };
  }

  /**
   * Which of the calls that were told this one is: that with its id, or else the next that has none, or shares it with another,
   * for which the protocol made a new one. -1: nothing of it was told.
   */
  #placeOf(part: ToolCallPart, left: readonly Told[], said: ReadonlySet<string>): number {
    const own = left.findIndex(({ wire }) => wire !== "" && wire === part.id);
    if (own >= 0) return own;
    for (const [at, call] of left.entries()) {
      const isFirst = this.#firstWith(call.wire) === call;
      // This one is another call of the answer, and so are those after it.
      if (call.wire !== "" && isFirst && said.has(call.wire)) return -1;
      if ((call.wire === "" || !isFirst) && (call.name === "" || call.name === part.name)) return at;
    }
    return -1;
  }
}
