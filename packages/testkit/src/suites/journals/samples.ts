// The room of what journals are tried with: records that are hard to keep, and how it is looked at what came of them.

import { fail, ok } from "node:assert/strict";
import {
  type ErrorKind,
  formatVersion,
  type Journal,
  type LogRecord,
  RondoError,
  userText,
} from "@rondo/core";
import { clipped, commonLength, restFrom } from "../../text.ts";
import { mustBe, thenLetGo, whatRejected } from "../check.ts";

/** A record to try a journal with: a `queued` message holding `text`. */
export function sampleRecord(
  seq: number,
  text: string = `record ${seq}`,
  at: number = 1_000 + seq,
): LogRecord {
  return { type: "queued", id: `m${seq}`, lane: "steer", message: userText(text), seq, at, rand: 0.5 };
}

/** `count` records from `from` on. */
export function sampleRecords(from: number, count: number, text?: string): LogRecord[] {
  return Array.from({ length: count }, (_, i) => sampleRecord(from + i, text));
}

/**
 * @param again closes the journal and opens it again
 * @param beside opens a second one at its place
 */
export type Body = (
  journal: Journal,
  again: () => Promise<Journal>,
  patienceMs: number,
  beside: () => Promise<Journal>,
) => Promise<void>;

/** Tries a second one at the same place. One that lets nobody in while it is open has nothing to be tried with. */
export async function openedBeside(
  beside: () => Promise<Journal>,
  trying: (other: Journal) => Promise<void>,
): Promise<void> {
  let other: Journal;
  try {
    other = await beside();
    await other.read("nobody");
  } catch {
    return;
  }
  await thenLetGo(
    () => trying(other),
    "close() of the second one",
    () => other.close?.(),
  );
}

/** Records that are hard to keep as they are. */
export function hardRecords(): LogRecord[] {
  const texts = [
    "half \ud83d and \udc00 alone",
    "nul \0 in the middle",
    "\u2028\u2029\ufeff\r\n\t\u007f",
    "😀 ä a\u0308 \uffff",
    "é".repeat(1 << 20),
    "",
  ];
  const records = texts.map((text, seq) => sampleRecord(seq, text));
  const model = JSON.parse(
    '{"__proto__":{"polluted":true},"constructor":1,"":[null,1e-7,-0.5,"x"],"z":null,"b":{},"a":[],"n":9007199254740991}',
  );
  // Once it has read the second of these, V8's JSON.parse takes the third one's last key for a backslash: see `parsedJson`.
  for (const value of [model, { a: [], "\\": 0 }, { a: 1, '"': 2 }])
    records.push({ type: "output_checked", ok: true, value, seq: records.length, at: 1, rand: 0 });
  records.push({
    type: "run_started",
    format: formatVersion,
    input: [],
    seq: records.length,
    // As they are in earnest: a small column keeps neither.
    at: 1_795_461_877_123,
    rand: 0.123_456_789_012_3,
  });
  return records;
}

/** Compared as JSON text: deepStrictEqual does not tell an own `__proto__` from the real one in its message. */
export function sameRecords(got: readonly LogRecord[], wanted: readonly LogRecord[]): void {
  mustBe(got.length, wanted.length, "the number of records that came back");
  for (const [i, record] of wanted.entries()) {
    const [came, was] = [String(JSON.stringify(got[i])), JSON.stringify(record)];
    if (came === was) continue;
    const start = Math.max(0, commonLength(came, was) - 40);
    const [is, mustRead] = [came, was].map((side) => clipped(restFrom(side, start), 100));
    fail(
      `record ${i} (${record.type}) came back changed: as JSON it reads …${is} and must read …${mustRead} (the order of members counts: requests are made of them, byte for byte)`,
    );
  }
  mustBe(
    ({} as { polluted?: boolean }).polluted,
    undefined,
    "a member of every object (the record's own __proto__ got out)",
  );
}

/**
 * It throws or rejects with an error of that kind, and the message holds `naming`.
 * @param what was attempted, in words, where a check attempts several things
 */
export async function refused(
  attempt: () => unknown,
  naming: string,
  kind: ErrorKind = "invalid_request",
  what?: string,
): Promise<void> {
  const needed = `a RondoError of kind ${kind} whose message names ${naming}`;
  const trying = async (): Promise<unknown> => attempt();
  const nothing = what === undefined ? "nothing was refused" : `${what} was not refused`;
  const thrown = await whatRejected(trying(), `${nothing}; needed is ${needed}`);
  const it = what ?? "it";
  ok(thrown instanceof RondoError, `${it} was refused with ${String(thrown)}; needed is ${needed}`);
  ok(
    thrown.kind === kind,
    `${it} was refused with an error of kind ${thrown.kind} (${thrown.message}); needed is ${needed}`,
  );
  ok(
    thrown.message.includes(naming),
    `the message does not name ${naming}: ${thrown.message}; needed is ${needed}`,
  );
}
