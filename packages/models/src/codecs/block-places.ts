// The room of block places: the key of a block whose index is not unique.
//
// An index belongs to a block until that block is closed. Proxies give all blocks the same index, or none: what starts
// there afterwards, or under another id or of another kind, is another block, so that two calls never become one with both arguments (F068).
// Only a call without a name goes on with an earlier one of its id: vLLM begins a block with each piece of the arguments.

import type { JsonObject } from "@rondo/core";
import { isCallType } from "../answer/call-args.ts";
import { textIn } from "../json-values.ts";

/** Above any index that a provider uses. */
const own = 1_000_000;

export class BlockPlaces {
  readonly #keys = new Map<number, number>();
  readonly #ids = new Map<number, string>();
  readonly #kinds = new Map<number, string>();
  readonly #closed = new Set<number>();
  /** The first call of each id. */
  readonly #calls = new Map<string, number>();

  /** The key of the block that starts at this index. @param block with its own id and its type, if it has them */
  start(index: number, block: JsonObject = {}): number {
    const [id, kind] = [textIn(block.id) ?? "", textIn(block.type) ?? ""];
    const begun = isNamelessCall(block) ? this.#calls.get(id) : undefined;
    if (begun !== undefined) {
      this.#keys.set(index, begun);
      return begun;
    }
    let key = this.at(index);
    const known = this.#ids.get(key) ?? "";
    const isOther = (known !== "" && id !== "" && known !== id) || (this.#kinds.get(key) ?? kind) !== kind;
    if (this.#closed.has(key) || isOther) {
      key = own + this.#keys.size + this.#ids.size;
      this.#keys.set(index, key);
    }
    this.#ids.set(key, id);
    this.#kinds.set(key, kind);
    if (id !== "" && isCallType(kind) && !this.#calls.has(id)) this.#calls.set(id, key);
    return key;
  }

  /** The key of the block that continues at this index. */
  at(index: number): number {
    return this.#keys.size === 0 ? index : (this.#keys.get(index) ?? index);
  }

  close(key: number): void {
    this.#closed.add(key);
  }
}

/** A call that has no name in any form. */
export const isNamelessCall = (block: JsonObject): boolean =>
  isCallType(block.type) && !textIn(block.name)?.trim() && block.function === undefined;
