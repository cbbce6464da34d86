// The room of the hub: publishes what happens in this worker while it happens.
//
// Deltas are no records and never enter Restate: they go from the model directly to the followers. Each entry has a
// number; a follower that reconnects with the last one gets what came since, as long as it is kept. Records are published
// here too, so that a follower gets both in order; what is missed here is still in the journal.

import type { CallView, LogRecord, RondoEvent } from "@rondo/core";

/** What is published. */
export type Live = { record: LogRecord } | { event: RondoEvent };

/** A parent session, and the call there that is the sub-agent. */
export interface Above {
  session: string;
  call: CallView;
}

/** `n`: its number in this hub's list of the session. */
export type Entry = { n: number } & Live;

/** How many entries are kept per session, and for how many sessions. */
const keptEntries = 2_048;
const keptSessions = 2_048;

interface Channel {
  entries: Entry[];
  /** Number of entries before the first one kept. */
  dropped: number;
  /** Records below this seq were published. */
  told: number;
  watchers: Set<(entry: Entry) => void>;
}

export class Hub {
  /** Identifies this hub: entry numbers of another one are meaningless here. */
  readonly id: string;
  readonly #channels = new Map<string, Channel>();

  constructor(id: string) {
    this.id = id;
  }

  /**
   * Publishes a record and its events, once: the replay of an invocation publishes nothing again.
   * @param above the sessions that also get a sub-agent's events, the nearest first
   */
  tellRecord(
    session: string,
    record: LogRecord,
    events: readonly RondoEvent[],
    above: readonly Above[],
  ): boolean {
    const channel = this.#channel(session);
    if (record.seq < channel.told) return false;
    channel.told = record.seq + 1;
    this.#push(channel, { record });
    for (const event of events) this.#tell(channel, event, above);
    return true;
  }

  tell(session: string, event: RondoEvent, above: readonly Above[]): void {
    this.#tell(this.#channel(session), event, above);
  }

  #tell(channel: Channel, event: RondoEvent, above: readonly Above[]): void {
    this.#push(channel, { event });
    let inside = event;
    for (const { session, call } of above) {
      inside = { type: "child", call, event: inside };
      this.#push(this.#channel(session), { event: inside });
    }
  }

  /**
   * Subscribes to a session, and gets what came after an entry.
   * @param after number of the last entry received; -1: everything kept; absent: only what comes from now on
   * @returns how to unsubscribe
   */
  watch(session: string, after: number | undefined, heard: (entry: Entry) => void): () => void {
    const channel = this.#channel(session);
    if (after !== undefined)
      for (const entry of channel.entries.slice(Math.max(0, after + 1 - channel.dropped))) heard(entry);
    channel.watchers.add(heard);
    return () => channel.watchers.delete(heard);
  }

  #channel(session: string): Channel {
    const known = this.#channels.get(session);
    if (known !== undefined) return known;
    const channel: Channel = { entries: [], dropped: 0, told: 0, watchers: new Set() };
    this.#channels.set(session, channel);
    if (this.#channels.size > keptSessions)
      for (const [id, { watchers }] of this.#channels) {
        if (watchers.size > 0 || id === session) continue;
        this.#channels.delete(id);
        break;
      }
    return channel;
  }

  #push(channel: Channel, live: Live): void {
    const { entries, watchers } = channel;
    const entry = { n: channel.dropped + entries.length, ...live };
    entries.push(entry);
    if (entries.length >= 2 * keptEntries) {
      entries.splice(0, keptEntries);
      channel.dropped += keptEntries;
    }
    for (const heard of watchers) heard(entry);
  }
}
