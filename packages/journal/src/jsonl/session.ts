// The room of one session's files: a chain of segments, of which only the newest grows.
//
// A segment is sealed before the next one gets its name, when that one is already complete under a temporary name. So a
// session ends at the segment without a seal; a seal without a next file, or a next file without a seal, is damage,
// never a crash. What is cached of a file may be of a deleted predecessor, because systems reuse inode numbers: a
// mismatch is read again from the beginning before it is called damage.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { type LogRecord, RondoError } from "@rondo/core";
import { withKnownFile } from "./files.ts";
import { nameOf, pendingSuffix, segmentName } from "./names.ts";
import { Segment } from "./segment.ts";

/** The newest segment of a session, while its file is open. */
export interface Newest {
  file: number;
  segment: Segment;
  /** Bytes of a torn tail after its last whole line. */
  torn: number;
}

export class SessionFiles {
  readonly #folder: string;
  readonly #session: string;
  readonly #name: string;
  #segments: Segment[] = [];

  constructor(folder: string, session: string) {
    this.#folder = folder;
    this.#session = session;
    this.#name = nameOf(session);
  }

  /** How many records it has. */
  get length(): number {
    return this.#segments.at(-1)?.length ?? 0;
  }

  /** How many bytes of its files count. */
  get size(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.size, 0);
  }

  /** Discards what is known of its files. */
  forget(): void {
    this.#segments = [];
  }

  /** The path of a segment's file. */
  path(segment: number): string {
    return join(this.#folder, segmentName(this.#name, segment));
  }

  /**
   * Reads what was appended since the last time, and acts on the newest segment.
   * @param flags how that one is opened
   * @param finish called when a seal stands but the next file still has its temporary name; without it, nothing happens
   * @returns undefined when there is no file that could grow
   * @throws RondoError like {@link Segment.refresh}; `storage` naming a missing file
   */
  newest<T>(
    flags: "r" | "r+",
    act: (newest: Newest) => T,
    finish?: (segment: number) => void,
  ): T | undefined {
    for (;;) {
      const known = this.#segments.at(-1);
      const segment = known ?? new Segment(this.path(1), this.#session, 1, 0);
      // Checked before the file is read, so that the seal of a concurrent rotation is seen below.
      const followed = existsSync(this.path(segment.number + 1));
      const done = withKnownFile(
        segment.path,
        followed ? "r" : flags,
        (file): { value: T } | "again" | "sealed" => {
          if (segment.isOther(file)) return "again";
          if (known === undefined) this.#segments = [segment];
          const before = segment.size;
          let torn: number;
          try {
            torn = segment.refresh(file);
          } catch (thrown) {
            if (before > 0) return "again";
            throw thrown;
          }
          // Never cut off bytes on the strength of cached knowledge: read anew first.
          if (torn > 0 && before > 0 && flags === "r+") return "again";
          if (segment.sealed) return "sealed";
          if (!followed) return { value: act({ file, segment, torn }) };
          throw new RondoError(
            "storage",
            `the journal ${segment.path} ends without its seal at record ${segment.length} of session ` +
              `${JSON.stringify(this.#session)}, and ${this.path(segment.number + 1)} follows it: its end was lost; ` +
              "restore a copy of the file",
          );
        },
      );
      if (done === undefined && known === undefined) {
        if (followed) throw this.#missing(1);
        return undefined;
      }
      if (done === undefined || done === "again") this.forget();
      else if (done !== "sealed") return done.value;
      else if (!this.#goOn(segment, finish)) return undefined;
    }
  }

  /** The records from a seq on. */
  read(from: number): LogRecord[] {
    const known = this.#segments.length > 0;
    try {
      return this.#read(from);
    } catch (thrown) {
      if (!known) throw thrown;
      this.forget();
      return this.#read(from);
    }
  }

  #read(from: number): LogRecord[] {
    this.newest("r", () => undefined);
    this.checkFormat();
    const records: LogRecord[] = [];
    for (const segment of this.#segments) {
      if (segment.length <= from) continue;
      const read = withKnownFile(segment.path, "r", (file) =>
        segment.isOther(file) ? undefined : segment.read(file, from),
      );
      if (read === undefined) {
        // The next call reads everything anew.
        this.forget();
        throw new RondoError(
          "storage",
          `the journal ${segment.path} was removed or replaced while session ${JSON.stringify(this.#session)} was ` +
            "read; read it again",
          { retryable: true },
        );
      }
      for (const record of read) records.push(record);
    }
    return records;
  }

  /** @throws RondoError `invalid_request` when its records have a newer format */
  checkFormat(): void {
    for (const segment of this.#segments) segment.checkFormat();
  }

  /** Goes to the segment after a seal. @returns whether it has its name */
  #goOn(sealed: Segment, finish: ((segment: number) => void) | undefined): boolean {
    const number = sealed.number + 1;
    const path = this.path(number);
    if (!existsSync(path)) {
      const pending = existsSync(path + pendingSuffix);
      if (pending && finish === undefined) return false;
      if (pending) finish?.(number);
      // Another process may have renamed it between the two checks.
      else if (!existsSync(path)) throw this.#missing(number);
    }
    this.#segments.push(new Segment(path, this.#session, number, sealed.length));
    return true;
  }

  #missing(segment: number): RondoError {
    return new RondoError(
      "storage",
      `the journal ${this.path(segment)} is missing: file ${segment} of session ${JSON.stringify(this.#session)}, ` +
        `whose records before ${this.length} are whole; put it back`,
    );
  }
}
