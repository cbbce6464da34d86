// The room of block places: the key of a block whose index is not unique.
//
// An index belongs to a block until that block is closed. Proxies give all blocks the same index, or none: what starts
// there afterwards, or under another id, is another block, so that two calls never become one with both arguments (F068).

/** Above any index that a provider uses. */
const own = 1_000_000;

export class BlockPlaces {
  readonly #keys = new Map<number, number>();
  readonly #ids = new Map<number, string>();
  readonly #closed = new Set<number>();

  /** The key of the block that starts at this index. @param id the block's own id, if its kind has one */
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

  /** The key of the block that continues at this index. */
  at(index: number): number {
    return this.#keys.size === 0 ? index : (this.#keys.get(index) ?? index);
  }

  close(key: number): void {
    this.#closed.add(key);
  }
}
