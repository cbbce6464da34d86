// The room of the drivers' conformance suite: whoever drives a run, it is the same run.
//
// Every case plays a script twice, once in a session of core's own on a journal in memory, and once under the driver
// that is tried. The records must be the same, apart from times and chance.

import { ok } from "node:assert/strict";
import { type Agent, type LogRecord, memoryJournal } from "@rondo/core";
import { callable, text } from "@rondo/core/checks";
import { type Check, checksOf, mustBe, type RegisterTest, subjectCheck } from "./check.ts";
import { coreSession, type DrivenSession } from "./drivers/driven-session.ts";
import { type DriverScript, driverScripts } from "./drivers/scripts.ts";

export interface DriverUnderTest {
  /** Stands before the name of every case. */
  name: string;
  /** A new session of the agent, of that id, and how to let go of it. */
  open(agent: Agent, id: string): Promise<{ session: DrivenSession; close(): void | Promise<void> }>;
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
 * @param test the runner's: registers the checks as well
 * @throws RondoError `invalid_request` for a subject that cannot be used
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
        got.map(({ type }) => type),
        wanted.map(({ type }) => type),
        "the types of its records, in their order",
      );
      for (const [seq, record] of wanted.entries())
        mustBe(got[seq], record, `record ${seq} (${record.type})`);
    },
  ]);
  return checksOf(subject.name, checks, test);
}

async function played(
  { agent, play }: DriverScript,
  id: string,
  open: DriverUnderTest["open"],
): Promise<LogRecord[]> {
  const scene = agent();
  const { session, close } = await open(scene.agent, id);
  scene.session = session;
  try {
    await play(session, scene);
    const records = await session.records();
    ok(records.length > 0, "the session has no records");
    return records.map(withoutTimes);
  } finally {
    await close();
  }
}

/** What is left when times and chance are taken out. */
function withoutTimes(record: LogRecord): LogRecord {
  const text = JSON.stringify({ ...record, at: 0, rand: 0 }, (key, value: unknown) =>
    timely.has(key) && typeof value === "number" ? 0 : value,
  );
  return JSON.parse(text) as LogRecord;
}

const timely: ReadonlySet<string> = new Set(["until", "wait", "waitMs", "elapsedMs", "ms"]);

/** Core's own driver. */
const core: DriverUnderTest["open"] = async (agent, id) => {
  const journal = memoryJournal();
  const session = await agent.open(id, { journal });
  return { session: coreSession(session, () => journal.read(id)), close: () => {} };
};
