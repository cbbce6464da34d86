// The room of the drivers' conformance suite: a run is the same, whatever drives it.
//
// Every case plays a script twice: in a session of core on a journal in memory, and under the tested driver. The records
// must be the same, apart from times and random numbers, and so must the events.

import { ok } from "node:assert/strict";
import { type Agent, type Json, type LogRecord, memoryJournal, type RondoEvent } from "@rondo/core";
import { callable, text } from "@rondo/core/checks";
import { type Check, checksOf, mustBe, type RegisterTest, subjectCheck } from "./check.ts";
import { coreSession, type DrivenSession } from "./drivers/driven-session.ts";
import { type DriverScript, driverScripts } from "./drivers/scripts.ts";

export interface DriverUnderTest {
  /** Prefix of every case's name. */
  name: string;
  /** A new session of the agent, of that id, and how to let go of it. */
  open(
    agent: Agent,
    id: string,
  ): Promise<{
    session: DrivenSession;
    close(): void | Promise<void>;
    /** All live events of the session so far, in their order. Absent: they are not compared. */
    events?(): RondoEvent[] | Promise<RondoEvent[]>;
  }>;
}

const checkSubject = subjectCheck<DriverUnderTest>("testDriver", { name: text, open: callable }, [
  "name",
  "open",
]);

/**
 * What a driver must do, script by script.
 *
 *     for (const { name, run } of testDriver({ name: "restate", open })) test(name, run);
 *
 * @param test the runner's `test` function: also registers the checks
 * @throws RondoError `invalid_request` for an invalid subject
 */
export function testDriver(subject: DriverUnderTest, test?: RegisterTest): Check[] {
  checkSubject(subject);
  const checks = driverScripts.map((script, at): [string, () => Promise<void>] => [
    script.name,
    async () => {
      const id = `case-${at}`;
      const wanted = await played(script, id, core);
      const got = await played(script, id, subject.open);
      mustBe(
        got.records.map(({ type }) => type),
        wanted.records.map(({ type }) => type),
        "the types of its records, in their order",
      );
      for (const [seq, record] of wanted.records.entries())
        mustBe(got.records[seq], record, `record ${seq} (${record.type})`);
      if (got.events !== undefined) mustTellTheSame(got.events, wanted.events ?? []);
    },
  ]);
  return checksOf(subject.name, checks, test);
}

/** Of a sub-agent that is no longer wanted one driver may tell more than another: its last words. */
function mustTellTheSame(got: readonly RondoEvent[], wanted: readonly RondoEvent[]): void {
  const [own, below] = parted(wanted);
  const [ownGot, belowGot] = parted(got);
  for (const [at, event] of own.entries()) mustBe(ownGot[at], event, `event ${at} (${event.type})`);
  mustBe(ownGot.length, own.length, "the number of its events");
  for (const [at, event] of below.entries()) mustBe(belowGot[at], event, `event ${at} of its sub-agents`);
}

const parted = (events: readonly RondoEvent[]): [own: RondoEvent[], below: RondoEvent[]] => [
  events.filter(({ type }) => type !== "child"),
  events.filter(({ type }) => type === "child"),
];

async function played(
  { agent, play }: DriverScript,
  id: string,
  open: DriverUnderTest["open"],
): Promise<{ records: LogRecord[]; events: RondoEvent[] | undefined }> {
  const scene = agent();
  const { session, close, events } = await open(scene.agent, id);
  scene.session = session;
  try {
    await play(session, scene);
    const records = await session.records();
    ok(records.length > 0, "the session has no records");
    return { records: records.map(withoutTimes), events: (await events?.())?.map(withoutTimes) };
  } finally {
    await close();
  }
}

/** What is left when times and chance are taken out. */
function withoutTimes<What extends LogRecord | RondoEvent>(what: What): What {
  const text = JSON.stringify(what, (key, value: Json) =>
    timely.has(key) && typeof value === "number" ? 0 : value,
  );
  return JSON.parse(text) as What;
}

const timely: ReadonlySet<string> = new Set([
  "at",
  "rand",
  "until",
  "wait",
  "waitMs",
  "elapsedMs",
  "delayMs",
  "ms",
]);

/** Core's own driver. */
const core: DriverUnderTest["open"] = async (agent, id) => {
  const journal = memoryJournal();
  const session = await agent.open(id, { journal });
  const events: RondoEvent[] = [];
  session.subscribe((event) => void events.push(event));
  return { session: coreSession(session, () => journal.read(id)), close: () => {}, events: () => events };
};
