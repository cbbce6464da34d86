// The room of the follower: a session's records as they are written, for readers only.
//
// It needs no lease and slows nobody down. It reads when the journal's `watch` calls back; a journal without `watch` is read
// every quarter of a second. Records are pulled, not pushed, so nothing piles up for a slow reader.

import { abortSignal } from "../checks/ready-made.ts";
import { anything, checkGiven, membersOf } from "../checks.ts";
import { systemClock } from "../clock.ts";
import type { Journal } from "../journal.ts";
import type { LogRecord } from "../loop/records.ts";
import { checkFrom } from "./checks.ts";
import { asked } from "./failure.ts";
import { RecordReader } from "./migrations.ts";

export interface FollowOptions {
  /** The first record that is wanted: those before it must be there. Default: 0, the whole session. */
  from?: number;
  /** Ends it. So does breaking out of the loop. */
  signal?: AbortSignal;
}

const followOptions = membersOf<FollowOptions>({ from: anything, signal: abortSignal });

/** How often a journal without `watch` is read. */
const lookMs = 250;

/** The records of a session from one on, including those to come. It ends when the reader stops iterating, or by its signal. */
export function follow(
  journal: Journal,
  session: string,
  options: FollowOptions = {},
): AsyncIterableIterator<LogRecord> {
  checkGiven(followOptions, options, "follow");
  const { from = 0, signal } = options;
  checkFrom(from);
  const reader = new RecordReader(journal, session, from);
  reader.demandBefore();
  let ready: LogRecord[] = [];
  let taken = 0;
  let news = true;
  let over = signal?.aborted === true;
  let wake: (() => void) | undefined;
  const heard = (): void => {
    news = true;
    wake?.();
  };
  let stopWatching = over ? () => {} : asked("watch", session, () => journal.watch?.(session, heard));
  const finish = (): void => {
    over = true;
    ready = [];
    stopWatching?.();
    stopWatching = () => {};
    signal?.removeEventListener("abort", finish);
    wake?.();
  };
  signal?.addEventListener("abort", finish, { once: true });

  /** Waits for a callback, or for the next time to read. */
  const wait = async (): Promise<void> => {
    let cancel = (): void => {};
    await new Promise<void>((resolve) => {
      wake = resolve;
      if (stopWatching === undefined) cancel = systemClock.after(lookMs, heard);
    });
    wake = undefined;
    cancel();
  };

  const pull = async (): Promise<IteratorResult<LogRecord, undefined>> => {
    try {
      while (!over) {
        const record = ready[taken];
        if (record !== undefined) {
          taken += 1;
          return { done: false, value: record };
        }
        if (news) {
          news = false;
          taken = 0;
          ready = await reader.read();
        } else await wait();
      }
    } catch (thrown) {
      finish();
      throw thrown;
    }
    return { done: true, value: undefined };
  };

  // One pull at a time, in the order of the requests.
  let last: Promise<unknown> = Promise.resolve();
  return {
    next() {
      const result = last.then(pull, pull);
      last = result.catch(() => {});
      return result;
    },
    return() {
      finish();
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
