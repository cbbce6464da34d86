// The room of the client's view: a session's state as a client knows it, folded from the records it has read.
//
// It is as old as the last read. It writes nothing, and uses no rules.

import {
  charEstimator,
  defaultTexts,
  emptyState,
  type LogRecord,
  RecordReader,
  type Rules,
  reduce,
  type State,
} from "@rondo/core";
import { readAll, type Server } from "../reading.ts";
import { type Driven, linesOf } from "../wire.ts";

/** The history does not depend on rules, and what rules remember is not needed here. */
const noRules: Rules = { list: [], texts: defaultTexts, estimator: charEstimator() };

export class Seen {
  readonly #server: Server;
  readonly #id: string;
  #state: State = emptyState;
  #reading: Promise<boolean> | undefined;

  constructor(server: Server, id: string) {
    this.#server = server;
    this.#id = id;
  }

  get state(): State {
    return this.#state;
  }

  /** Reads new records. @returns whether the session is being driven */
  refresh(): Promise<boolean> {
    this.#reading ??= (async () => {
      const { seq } = this.#state;
      let read = await readAll(this.#server, this.#id, seq);
      if (read.length < seq) {
        // It was deleted, and may have begun anew.
        read = await readAll(this.#server, this.#id, 0);
        this.#state = emptyState;
      }
      await this.#add(read.records);
      return read.driven;
    })().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Reads again, even if a read is in progress: that one may miss the newest records. */
  async lookAgain(): Promise<boolean> {
    await this.#reading?.catch(() => {});
    return this.refresh();
  }

  /** Takes the records that came with the end of a drive, and reads those still missing. */
  async take({ seq, from, text }: Driven): Promise<void> {
    if (from === this.#state.seq && text !== undefined) await this.#add(linesOf(text));
    if (this.#state.seq < seq || seq < 0) await this.lookAgain();
  }

  async #add(records: readonly LogRecord[]): Promise<void> {
    const { seq } = this.#state;
    // Records requested before may have been read in the meantime.
    const news = records.filter((record) => record.seq >= seq);
    const journal = { append: () => {}, list: () => [], read: (): LogRecord[] => news };
    // The reader migrates older formats.
    for (const record of await new RecordReader(journal, this.#id, seq).read())
      if (record.seq === this.#state.seq) this.#state = reduce(this.#state, record, noRules);
  }
}
