// The room of one life: opens a run's session in whatever state it is, and continues until the run has ended.
//
// It may be killed at any instant. Argument: its orders, as JSON.

import { Agent, type Journal, type RunResult, type Session } from "@rondo/core";
import { dropLastGroup, mistaken } from "./mistakes.ts";
import { digestOf, openJournal, openWorld, recordDigest } from "./place.ts";
import { scene, session as sessionId, task, verdictOn } from "./scene.ts";
import { awaitWord, type LifeOrders, tell } from "./wire.ts";

const orders = JSON.parse(process.argv[2] ?? "") as LifeOrders;
const { mistake, folder } = orders;

function boundary(place: string): void {
  tell({ say: "at", place });
  if (orders.waits) awaitWord();
}

/** The journal, with a boundary before and after every durable action. What is acknowledged is reported before the run continues. */
function watched(journal: Journal): Journal {
  const inner = mistaken(journal, mistake);
  const { blobs } = journal;
  const around = <Result>(
    what: string,
    deed: () => Result,
    done: (result: Result) => void = () => {},
  ): Result => {
    boundary(`${what}: before`);
    const result = deed();
    done(result);
    boundary(`${what}: after`);
    return result;
  };
  return {
    append: (session, seq, records, token) => {
      if (records.length === 0) return inner.append(session, seq, records, token);
      const stored = (): void =>
        tell({
          say: "stored",
          session,
          from: seq,
          digests: records.map(recordDigest),
        });
      const what = `append ${records.map((record) => record.type).join("+")}`;
      around(what, () => void inner.append(session, seq, records, token), stored);
    },
    read: (session, from) => inner.read(session, from),
    list: () => inner.list(),
    lease: (session, request) => {
      const lease = around("lease", () => inner.lease?.(session, request));
      // Both journals are synchronous, and must be driven as such.
      if (lease === undefined || lease instanceof Promise)
        throw new Error("the scene's journals lease at once");
      return {
        token: lease.token,
        renew: () => lease.renew(),
        release: () => around("release", () => lease.release()),
      };
    },
    ...(blobs === undefined
      ? {}
      : {
          blobs: {
            async put(session, text, origin) {
              boundary("keep a text: before");
              const put = await blobs.put(session, text, origin);
              if (put.ok) tell({ say: "kept", session, ref: put.ref, digest: digestOf(text) });
              boundary("keep a text: after");
              return put;
            },
            get: (session, ref) => blobs.get(session, ref),
            delete: (session) => blobs.delete(session),
          },
        }),
  };
}

/** Answers waiting calls until the run has ended. */
async function toTheEnd(session: Session): Promise<RunResult> {
  let result =
    session.status === "idle" ? (session.result ?? (await session.send(task))) : await session.resume();
  while (result.parked !== undefined) {
    const [waiting] = result.parked.pending;
    if (waiting === undefined) throw new Error("the run is parked and waits for nobody");
    const verdict = verdictOn(waiting.args);
    if (verdict.answer === "edit") result = await session.edit(waiting.key, verdict.args);
    else if (verdict.answer === "deny") result = await session.deny(waiting.key, "not yet");
    else result = await session.approve(waiting.key);
  }
  return result;
}

tell({ say: "up" });
const from = performance.now();
if (mistake === "drop_last_group") dropLastGroup(orders.journal, folder);
const journal = openJournal(orders.journal, folder);
let open: Session | undefined;
const opened = (): Session => {
  if (open === undefined) throw new Error("nobody speaks before the session is open");
  return open;
};
const agent = new Agent({
  ...scene(
    openWorld(folder, boundary),
    {
      steer: (text, id) => opened().steer(text, id),
      followUp: (text, id) => opened().followUp(text, id),
    },
    mistake === "write_again" ? { noteEffect: "idempotent" } : {},
  ),
  journal: watched(journal),
});
open = await agent.open(sessionId);
tell({ say: "open", ms: performance.now() - from });
await toTheEnd(open);
tell({ say: "end" });
void journal.close?.();
