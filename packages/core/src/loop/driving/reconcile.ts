// The room of reconciling: a tool is asked for the outcome of an interrupted call, and its answer becomes a fact.
//
// If the tool throws, returns nothing, or takes longer than a call may take, it has found out nothing: what happens then
// is decided in the loop.

import { type Clock, longestWait } from "../../clock.ts";
import { messageOf } from "../../errors.ts";
import { jsonCopy } from "../../json/copy.ts";
import { renderTold } from "../../tool/render.ts";
import type { Tool, ToolContext } from "../../tool.ts";
import type { CallResult, Fact } from "../records.ts";
import type { Call } from "../state.ts";

type Found = Fact & { type: "reconciled" };

/** What a tool has found out about a call. Never rejects. @param cap cuts the result, if there is one */
export async function reconcileCall(
  tool: Tool | undefined,
  call: Pick<Call, "key" | "name" | "args" | "tool">,
  context: ToolContext,
  clock: Clock,
  cap: (whole: CallResult) => CallResult | Promise<CallResult>,
): Promise<Found> {
  const unknown = (error?: string): Found => ({
    type: "reconciled",
    call: call.key,
    found: "unknown",
    ...(error === undefined ? {} : { error }),
  });
  if (tool?.reconcile === undefined) return unknown(`${call.name} has no way to find out any more`);
  const ms = call.tool?.timeoutMs ?? 0;
  let stop = (): void => {};
  const late = new Promise<string>((resolve) => {
    stop = clock.after(Math.min(ms, longestWait), () => resolve(`${call.name} did not say within ${ms} ms`));
  });
  try {
    const check = await tool.check(jsonCopy(call.args));
    if (!check.ok) return unknown(check.error);
    const said = await Promise.race([
      late,
      Promise.resolve(tool.reconcile(context.idempotencyKey, check.value as never, context)),
    ]);
    if (typeof said === "string") return unknown(said);
    if (said !== undefined && "done" in said) {
      const result = await cap(await renderTold(tool, said.done));
      return { type: "reconciled", call: call.key, found: "done", result: { ...result, code: "reconciled" } };
    }
    if (said?.notDone === true) return { type: "reconciled", call: call.key, found: "not_done" };
    return unknown();
  } catch (thrown) {
    return unknown(messageOf(thrown));
  } finally {
    stop();
  }
}
