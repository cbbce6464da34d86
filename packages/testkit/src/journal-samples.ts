// The room of what journals are tried with: records that are hard to keep, and how it is looked at what came of them.

import { ok, rejects, strictEqual } from "node:assert/strict";
import {
  type ErrorKind,
  formatVersion,
  type Journal,
  type LogRecord,
  RondoError,
  userText,
} from "@rondo/core";

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

export type Body = (journal: Journal, again: () => Promise<Journal>, patienceMs: number) => Promise<void>;

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
  const model = JSON.parse('{"__proto__":{"polluted":true},"constructor":1,"":[null,1e-7,-0.5,"x"]}');
  records.push({ type: "output_checked", ok: true, value: model, seq: texts.length, at: 1, rand: 0 });
  records.push({
    type: "run_started",
    format: formatVersion,
    input: [],
    seq: texts.length + 1,
    at: 2,
    rand: 0,
  });
  return records;
}

/** Compared as JSON text: deepStrictEqual does not tell an own `__proto__` from the real one in its message. */
export function sameRecords(got: readonly LogRecord[], wanted: readonly LogRecord[]): void {
  strictEqual(got.length, wanted.length);
  for (const [i, record] of wanted.entries())
    ok(JSON.stringify(got[i]) === JSON.stringify(record), `record ${i} (${record.type}) came back changed`);
  strictEqual(({} as { polluted?: boolean }).polluted, undefined);
}

/** It throws or rejects with an error of that kind, and the message holds `naming`. */
export async function refused(
  attempt: () => unknown,
  naming: string,
  kind: ErrorKind = "invalid_request",
): Promise<void> {
  await rejects(
    async () => {
      await attempt();
    },
    (thrown) => {
      ok(thrown instanceof RondoError, `expected a RondoError, got ${String(thrown)}`);
      strictEqual(thrown.kind, kind);
      ok(thrown.message.includes(naming), `the message does not name ${naming}: ${thrown.message}`);
      return true;
    },
  );
}
