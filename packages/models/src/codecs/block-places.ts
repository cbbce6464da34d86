// The room of block places: under which key a block is kept, when its index is not its own.
//
// An index belongs to a block until the block is closed. Proxies give all blocks the same one, or none at all: what starts
// there afterwards, or under another id, is another block, and two calls are never one with the arguments of both (F068).

/** Above every index a provider gives. */
const own = 1_000_000;

export class BlockPlaces {
  readonly #keys = new Map<number, number>();
  readonly #ids = new Map<number, string>();
  readonly #closed = new Set<number>();

  /** The key of the block that starts at this index. @param id its own, where its kind has one */
  start(index: number, id: string = ""): number {
    let key = this.at(index);
    const known = this.#ids.get(key) ?? "";
    if (this.#closed.has(key) || (known !== "" && id !== "" && known !== id)) {
      key = own + this.#keys.size + this.#ids.size;
      this.#keys.set(index, key);
    }
    this.#ids.set(key, id);
    return key;
  }

  /** The key of the block that goes on at this index. */
  at(index: number): number {
    return this.#keys.size === 0 ? index : (this.#keys.get(index) ?? index);
  }

  close(key: number): void {
    this.#closed.add(key);
  }
}
