// The room of the hub: what happens in this worker, for those who watch while it happens.
//
// Deltas are no records and never enter Restate: they go from the model straight to whoever watches. Each entry has a
// number; who comes back with the last one gets what came since, as long as it is kept. Records come here as well, so
// that one who watches sees both in their order; what is missed here stands in the journal.

import type { CallView, LogRecord, RondoEvent } from "@rondo/core";

/** What is told. */
export type Live = { record: LogRecord } | { event: RondoEvent };

/** A session that a sub-agent works for, and the call there that it is. */
export interface Above {
  session: string;
  call: CallView;
}

/** `n`: its number in this worker's memory of the session. */
export type Entry = { n: number } & Live;

/** How much is kept of a session, and of how many. */
const keptEntries = 2_048;
const keptSessions = 2_048;

interface Channel {
  entries: Entry[];
  /** Entries there were before the first kept one. */
  dropped: number;
  /** Records below this number were told. */
  told: number;
  watchers: Set<(entry: Entry) => void>;
}

export class Hub {
  /** Names this memory: numbers of another say nothing here. */
  readonly id: string;
  readonly #channels = new Map<string, Channel>();

  constructor(id: string) {
    this.id = id;
  }

  /**
   * Tells a record and the events made of it, once: a run that is gone through again says nothing new.
   * @param above whoever is told of a sub-agent's events as well, the nearest first
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
   * Hears what comes, and what came after an entry.
   * @param after the number of the last entry that was heard; -1: all that is kept; absent: only what comes
   * @returns how to stop
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
