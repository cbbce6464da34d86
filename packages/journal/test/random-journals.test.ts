// Random operations on a journal in memory, in JSONL files and in SQLite at once: all three do what a model of a few lines does,
// and refuse with the same kind of error, whatever is opened again, deleted, or left half written by a crash.

import { appendFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Journal,
  type Lease,
  type LogRecord,
  memoryJournal,
  type SessionInfo,
  toRondoError,
} from "@rondo/core";
import { checkJournal, jsonlJournal, sqliteJournal } from "@rondo/journal";
import { sampleRecord } from "@rondo/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";

/** Two sub-agents among them, a name that differs only in case, and one too long for a file's name. */
const ids = ["s", "s:1.0", "s:1.0:2.0", "s:x", "S", "è".repeat(90)];
const owners = ["one", "two"];

const id = fc.constantFrom(...ids);
/** Which of the two objects of a journal. */
const by = fc.nat(1);
const nth = fc.nat(7);

const anyAppend = fc.record({
  do: fc.constant("append" as const),
  id,
  by,
  count: fc.nat(3),
  size: fc.constantFrom(1, 1, 1, 300, 2000),
  off: fc.constantFrom(0, 0, 0, 0, 0, -1, 1),
  wrongSeq: fc.constantFrom(false, false, false, false, true),
  token: fc.constantFrom("none", "newest", "newest", "any"),
  nth,
});
const anyOperation = fc.oneof(
  anyAppend,
  anyAppend,
  anyAppend,
  anyAppend,
  fc.record({ do: fc.constant("read" as const), id, by, from: fc.integer({ min: 0, max: 6 }) }),
  fc.record({ do: fc.constant("list" as const), by }),
  fc.record({
    do: fc.constant("lease" as const),
    id,
    by,
    owner: fc.constantFrom(...owners),
    ttlMs: fc.constantFrom(0, 100, 1000),
    takeOver: fc.boolean(),
  }),
  fc.record({ do: fc.constantFrom("renew" as const, "release" as const), nth }),
  fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(-150, 60, 150, 1000) }),
  fc.record({ do: fc.constant("delete" as const), id, by }),
  fc.record({ do: fc.constant("reopen" as const), by }),
  fc.record({
    do: fc.constant("tear" as const),
    id,
    text: fc.constantFrom("{", '{"seq":0,"records":[', "\0\0\0\0"),
  }),
  fc.record({
    do: fc.constantFrom("put" as const, "get" as const, "forget" as const),
    id,
    by,
    text: fc.constantFrom("", "text", "é\u0000é"),
  }),
);
type Operation = typeof anyOperation extends fc.Arbitrary<infer One> ? One : never;

let now = 0;

/** What every journal must do. */
class Model {
  readonly sessions = new Map<string, { records: LogRecord[]; born: number }>();
  readonly leases = new Map<string, { token: number; owner?: string; until: [number, number] }>();
  readonly texts = new Map<string, Set<string>>();
  highest = 0;
  births = 0;

  isHeld(session: string): boolean {
    const lease = this.leases.get(session);
    return lease?.owner !== undefined && Math.abs(now - lease.until[0]) < lease.until[1];
  }

  append(session: string, at: number, records: LogRecord[], token: number | undefined): string | undefined {
    const lease = this.leases.get(session);
    if (token === undefined ? this.isHeld(session) : lease?.token !== token || lease.owner === undefined)
      return "conflict";
    const held = this.sessions.get(session);
    if ((held?.records.length ?? 0) !== at) return "conflict";
    if (records.some(({ seq }, i) => seq !== at + i)) return "invalid_request";
    if (records.length === 0) return undefined;
    if (held === undefined) this.sessions.set(session, { records, born: this.births++ });
    else held.records.push(...records);
    return undefined;
  }

  delete(session: string): string[] | "conflict" {
    const isBelow = (one: string): boolean =>
      one === session || /^(:\d+\.\d+)+$/.test(one.startsWith(session) ? one.slice(session.length) : "");
    // A text without a session is deleted only by its own name.
    const isKnown = (one: string): boolean =>
      one === session || this.sessions.has(one) || this.leases.has(one);
    const all = ids.filter((one) => isBelow(one) && isKnown(one));
    if (all.some((one) => this.isHeld(one))) return "conflict";
    for (const one of all) {
      this.highest = Math.max(this.highest, this.leases.get(one)?.token ?? 0);
      this.leases.delete(one);
      this.texts.delete(one);
    }
    return all.filter((one) => this.sessions.delete(one)).sort((a, b) => b.length - a.length);
  }
}

class Trial {
  readonly model = new Model();
  readonly folder = mkdtempSync(join(tmpdir(), "rondo-random-"));
  readonly #memory = memoryJournal({ leases: true, now: () => now });
  readonly #make: (() => Journal)[];
  /** Of each kind of journal two objects. */
  readonly objects: [Journal, Journal][];
  /** The leases that were taken, of every kind of journal, and by which object. */
  readonly taken: { id: string; token: number; by: number; each: Lease[] }[] = [];

  constructor(rotateBytes: number | null) {
    this.#make = [
      () => this.#memory,
      () => jsonlJournal(join(this.folder, "jsonl"), { now: () => now, rotateBytes, warn: () => {} }),
      () => sqliteJournal(join(this.folder, "all.db"), { now: () => now }),
    ];
    this.objects = this.#make.map((make) => [make(), make()]);
  }

  reopen(by: number): void {
    for (const [i, make] of this.#make.entries()) {
      const pair = this.objects[i] as [Journal, Journal];
      void pair[by]?.close?.();
      pair[by] = make();
    }
    for (const lease of this.taken.filter((one) => one.by === by))
      this.taken.splice(this.taken.indexOf(lease), 1);
  }

  tear(text: string): void {
    const folder = join(this.folder, "jsonl");
    const newest = readdirSync(folder)
      .filter((name) => name.endsWith(".jsonl"))
      .sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
      .at(-1);
    if (newest !== undefined) appendFileSync(join(folder, newest), text);
  }

  /** What a reader that changes nothing finds, and the check of the files. */
  look(): void {
    const [memory] = this.objects[0] as [Journal, Journal];
    const files = [
      jsonlJournal(join(this.folder, "jsonl"), { readOnly: true }),
      sqliteJournal(join(this.folder, "all.db"), { readOnly: true }),
    ];
    for (const journal of files) {
      expect(journal.list()).toEqual(memory.list());
      for (const session of ids) expect(journal.read(session)).toEqual(memory.read(session));
      journal.close();
    }
    const infos = memory.list() as SessionInfo[];
    const records = infos.reduce((sum, { length }) => sum + length, 0);
    // A folder in which nothing was ever written is not known for a journal.
    for (const name of infos.length > 0 ? ["jsonl", "all.db"] : []) {
      const report = checkJournal(join(this.folder, name));
      expect(report).toMatchObject({ sessions: infos.length, records });
      expect(report.findings.filter(({ what }) => what !== "torn_tail")).toEqual([]);
    }
  }

  close(): void {
    for (const pair of this.objects) for (const one of pair) one.close?.();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** What all three give: a value, or the kind of their error. */
  async all(by: number, act: (journal: Journal, kind: number) => unknown): Promise<unknown> {
    const came: unknown[] = [];
    for (const [kind, pair] of this.objects.entries())
      try {
        came.push({ gave: await act(pair[by] as Journal, kind) });
      } catch (thrown) {
        came.push({ refused: toRondoError(thrown).kind });
      }
    expect(came[1]).toEqual(came[0]);
    expect(came[2]).toEqual(came[0]);
    return came[0];
  }

  async play(operation: Operation): Promise<void> {
    const { model } = this;
    const outcome = (kind: string | undefined, gave?: unknown): unknown =>
      kind === undefined ? { gave } : { refused: kind };
    switch (operation.do) {
      case "append": {
        const { id: session, count, off, size, wrongSeq, token: which, nth: n } = operation;
        const at = (model.sessions.get(session)?.records.length ?? 0) + off;
        const records = Array.from({ length: count }, (_, i) =>
          sampleRecord(at + i + (wrongSeq ? i : 0), "x".repeat(size), now),
        );
        const tokens = this.taken.filter((one) => one.id === session).map(({ token }) => token);
        const token =
          which === "none"
            ? undefined
            : which === "newest"
              ? tokens.at(-1)
              : this.taken[n % this.taken.length]?.token;
        const came = await this.all(
          operation.by,
          (journal) => void journal.append(session, at, records, token),
        );
        expect(came).toEqual(outcome(model.append(session, at, [...records], token)));
        break;
      }
      case "read": {
        const records = model.sessions.get(operation.id)?.records.slice(operation.from) ?? [];
        expect(await this.all(operation.by, (journal) => journal.read(operation.id, operation.from))).toEqual(
          outcome(undefined, records),
        );
        break;
      }
      case "list": {
        const infos = [...model.sessions].map(([session, { records, born }]) => ({
          born,
          id: session,
          length: records.length,
          createdAt: records[0]?.at,
          updatedAt: records.at(-1)?.at ?? 0,
        }));
        infos.sort((a, b) => b.updatedAt - a.updatedAt || b.born - a.born);
        expect(await this.all(operation.by, (journal) => journal.list())).toEqual(
          outcome(
            undefined,
            infos.map(({ born: _, ...info }) => info),
          ),
        );
        break;
      }
      case "lease": {
        const { id: session, owner, ttlMs, takeOver } = operation;
        const each: Lease[] = [];
        const came = await this.all(operation.by, async (journal) => {
          const lease = (await journal.lease?.(session, { owner, ttlMs, takeOver })) as Lease;
          each.push(lease);
          return lease.token;
        });
        const before = model.leases.get(session)?.token ?? model.highest;
        const refused =
          ttlMs === 0 ? "invalid_request" : !takeOver && model.isHeld(session) ? "conflict" : undefined;
        expect(came).toEqual(outcome(refused, before + 1));
        if (refused !== undefined) break;
        model.leases.set(session, { token: before + 1, owner, until: [now, ttlMs] });
        this.taken.push({ id: session, token: before + 1, by: operation.by, each });
        break;
      }
      case "renew":
      case "release": {
        const lease = this.taken[operation.nth % this.taken.length];
        if (lease === undefined) break;
        const came = await this.all(lease.by, (_, kind) => void lease.each[kind]?.[operation.do]());
        const held = model.leases.get(lease.id);
        const isOwn = held?.token === lease.token && held.owner !== undefined;
        expect(came).toEqual(outcome(operation.do === "renew" && !isOwn ? "conflict" : undefined));
        if (!isOwn) break;
        if (operation.do === "renew") held.until[0] = now;
        else delete held.owner;
        break;
      }
      case "pass":
        now += operation.ms;
        break;
      case "delete": {
        const gone = model.delete(operation.id);
        expect(await this.all(operation.by, (journal) => journal.delete?.(operation.id))).toEqual(
          gone === "conflict" ? outcome(gone) : outcome(undefined, gone),
        );
        break;
      }
      case "reopen":
        this.reopen(operation.by);
        break;
      case "tear":
        this.tear(operation.text);
        break;
      case "put": {
        const texts = model.texts.get(operation.id) ?? new Set();
        model.texts.set(operation.id, texts.add(operation.text));
        await this.all(operation.by, (journal) =>
          journal.blobs?.put(operation.id, operation.text, { callId: "c", tool: "t", isError: false }),
        );
        break;
      }
      case "get": {
        const { ref } = memoryPut(operation.text);
        const text = model.texts.get(operation.id)?.has(operation.text) ? operation.text : undefined;
        expect(await this.all(operation.by, (journal) => journal.blobs?.get(operation.id, ref))).toEqual(
          outcome(undefined, text),
        );
        break;
      }
      case "forget":
        model.texts.delete(operation.id);
        await this.all(operation.by, (journal) => journal.blobs?.delete(operation.id));
        break;
    }
  }
}

const memoryPut = (text: string): { ref: string } =>
  memoryJournal().blobs.put("s", text, { callId: "c", tool: "t", isError: false }) as { ref: string };

test("three journals do what the model does, whatever comes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyOperation, { minLength: 5, maxLength: 60, size: "max" }),
      fc.constantFrom(null, 1, 700, 3000),
      async (operations, rotateBytes) => {
        now = 1_000_000;
        const trial = new Trial(rotateBytes);
        try {
          for (const operation of operations) await trial.play(operation);
          await trial.play({ do: "list", by: 0 });
          for (const session of ids) await trial.play({ do: "read", id: session, by: 1, from: 0 });
          trial.look();
        } finally {
          trial.close();
        }
      },
    ),
    { numRuns: 10 },
  );
}, 60_000);
