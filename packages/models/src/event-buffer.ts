// The room of the event buffer: a list that is filled and emptied again and again.
//
// It keeps its memory: a stream of some thousand pieces, a few at a time, would leave as many lists behind.

export interface EventBuffer<T> {
  /** Needs no `this`: whoever makes events may be given it as it is. */
  readonly push: (item: T) => void;
  /**
   * Hands over what is there, in order, and is empty then: also when `take` throws, and what was left is lost.
   * @param take is told of each item whether another one follows
   * @returns whether there was anything
   */
  empty(take: (item: T, more: boolean) => void): boolean;
}

export function eventBuffer<T>(): EventBuffer<T> {
  const items: (T | undefined)[] = [];
  let count = 0;
  const push = (item: T): void => {
    items[count] = item;
    count += 1;
  };
  const empty = (take: (item: T, more: boolean) => void): boolean => {
    const end = count;
    count = 0;
    for (let at = 0; at < end; at += 1) {
      const item = items[at] as T;
      items[at] = undefined;
      take(item, at + 1 < end);
    }
    return end > 0;
  };
  return { push, empty };
}
