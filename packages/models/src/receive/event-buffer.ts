// The room of the event buffer: a list that is filled and emptied again and again.
//
// It reuses its memory: a stream of thousands of events, emptied a few at a time, would otherwise allocate as many arrays.

export interface EventBuffer<T> {
  /** Needs no `this`, so it can be passed on as a callback. */
  readonly push: (item: T) => void;
  /**
   * Hands over all items in order and empties the buffer, even if `take` throws; the remaining items are then lost.
   * @param take gets each item, and whether another one follows
   * @returns whether there were any
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
