// The room of facts from outside: what a message means for the session at the moment it is taken.
//
// Since it was sent, a run may have ended, a call may have been answered, a sub-agent may have continued: a message
// that has become pointless results in nothing.

import type { Fact, State } from "@rondo/core";
import { pendingIn } from "@rondo/core/driving";
import type { Saying } from "../wire.ts";
import type { Taking } from "./journaled-calls.ts";

/** The fact for a message; undefined: none. */
export async function factOf(
  say: Saying,
  state: State,
  taking: Pick<Taking, "checkEdit" | "brought">,
): Promise<Fact | undefined> {
  const { run } = state;
  const open = run !== undefined && run.end === undefined;
  if (say.type === "mode") return open ? say : undefined;
  if (say.type === "abort_asked") {
    const { of: _of, ...fact } = say;
    return open ? fact : undefined;
  }
  // A child that has stopped since has already reported more than this.
  if (say.type === "child_waits") {
    const call = open ? run.turn?.calls.find(({ key }) => key === say.call) : undefined;
    const known = JSON.stringify(call?.child?.waiting) === JSON.stringify(say.pending);
    return call?.startedAt === undefined || call.result !== undefined || known ? undefined : say;
  }
  return say.type === "answer" ? answered(say, state, taking) : say;
}

/** An answer to a waiting call; for any other call it is ignored. */
async function answered(
  { call, round, said }: Saying & { type: "answer" },
  state: State,
  { checkEdit, brought }: Pick<Taking, "checkEdit" | "brought">,
): Promise<Fact | undefined> {
  const waits = pendingIn(state).find(
    (one) => one.id === call || (one.key === call && one.child === undefined),
  );
  if (waits === undefined) return undefined;
  const { key, id, name, child, question } = waits;
  // It answers an earlier question of the call, or is a decision whether the call runs at all.
  const isLate = round !== undefined && round !== question?.round;
  if (isLate || (question !== undefined && said.answer !== "result")) return undefined;
  if (child !== undefined) {
    const under = state.run?.turn?.calls.find((one) => one.key === key);
    const inside = id.slice((under?.id.length ?? 0) + 1);
    // A grant for future calls holds in one session only, so it is not passed on.
    const passed = said.answer === "approve" ? ({ answer: "approve" } as const) : said;
    const asked = question === undefined ? {} : { round: question.round };
    return { type: "approval_passed", call: key, inside, ...asked, said: passed };
  }
  if (said.answer === "result") {
    const { answer: _answer, ...result } = said;
    return brought(key, result);
  }
  if (said.answer !== "edit") return { type: "approval_given", call: key, approval: said };
  const check = await checkEdit(name, said.args);
  return check && { type: "approval_given", call: key, approval: { ...said, check } };
}
