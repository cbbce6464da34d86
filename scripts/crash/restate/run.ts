// The room of one run on Restate: starts it, answers its questions, and asks again when nobody responds.

import type { RunResult } from "@rondo/core";
import { messageOf } from "@rondo/core";
import { type RestateSession, restateClient } from "@rondo/restate";
import { task, verdictOn } from "../scene.ts";
import { patienceMs, until } from "./until.ts";
import { agentOf } from "./world.ts";

/** @returns the last error, if it did not come to its end */
export async function toTheEnd(
  ingress: readonly string[],
  slot: number,
  id: string,
): Promise<string | undefined> {
  const session = restateClient({ ingress, agent: agentOf(slot), patienceMs }).session(id);
  let last = "";
  let sent = false;
  const ended = await until(async () => {
    try {
      // If it is unknown whether the request was received, look at the session instead of sending it again.
      let result = sent ? await session.settled() : undefined;
      sent = true;
      result ??= await session.send(task);
      while (result.parked !== undefined) result = await answered(session, result);
      return true;
    } catch (thrown) {
      last = messageOf(thrown);
      throw thrown;
    }
  });
  return ended ? undefined : `it did not come to its end in ${patienceMs} ms: ${last}`;
}

/** Answers the first waiting call as a person would. */
async function answered(session: RestateSession, { parked }: RunResult): Promise<RunResult> {
  const [waiting] = parked?.pending ?? [];
  if (waiting === undefined) throw new Error("the run is parked and waits for nobody");
  const verdict = verdictOn(waiting.args);
  if (verdict.answer === "edit") return session.edit(waiting.key, verdict.args);
  if (verdict.answer === "deny") return session.deny(waiting.key, "not yet");
  return session.approve(waiting.key);
}
