// The room of the event buffer: a list that is filled and emptied again and again.
//
// It keeps its memory: a stream of some thousand pieces, a few at a time, would leave as many lists behind.

export class EventBuffer<T> {
  readonly #items: (T | undefined)[] = [];
  #count = 0;

  push(item: T): void {
    this.#items[this.#count] = item;
    this.#count += 1;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Hands over what is there, in order, and is empty then: also when `take` throws, and what was left is lost. */
  empty(take: (item: T) => void): void {
    const items = this.#items;
    const count = this.#count;
    this.#count = 0;
    for (let at = 0; at < count; at += 1) {
      const item = items[at] as T;
      items[at] = undefined;
      take(item);
    }
  }
}
