// The room of the tool's context: the second argument of `execute`.
//
// It is made for one start of one call. Progress that a tool reports after it was abandoned is dropped. The kept texts that
// it can look up are those of its session.

import type { RondoEvent } from "../../events.ts";
import { jsonCopy, shown } from "../../json/copy.ts";
import { resolver } from "../../tool/dependency.ts";
import type { ChildStart, ToolContext } from "../../tool.ts";
import type { CallKey } from "../records.ts";
import type { Call, State } from "../state.ts";
import { viewOf } from "./announce.ts";
import type { Shell } from "./shell.ts";

/** What this room needs of the driver. */
interface Driving {
  state(): State;
  readonly tell: (event: RondoEvent) => void;
}

/**
 * Makes the context of a call that starts.
 * @param atWork the calls that are waited for: this call's progress is emitted as long as its controller is among them
 * @param child what a sub-agent gets from its parent; absent for other tools
 */
export function toolContext(
  call: Call,
  controller: AbortController,
  { session, blobs, clock, given }: Pick<Shell, "session" | "blobs" | "clock" | "given">,
  driving: Driving,
  ongoing: ReadonlyMap<CallKey, AbortController>,
  child: { child?: ChildStart },
): ToolContext {
  const { key, id, question, startedAs } = call;
  return {
    signal: controller.signal,
    // `startedAs` is set by `tool_started`, before the call runs or is reconciled.
    idempotencyKey: startedAs ?? `${session}:${key}`,
    callId: id,
    session,
    update: (progress, details): void => {
      if (ongoing.get(key) !== controller) return;
      const more = details === undefined ? {} : { details: jsonCopy(details, "details") };
      driving.tell({ type: "tool_update", call: viewOf(call), progress, ...more });
    },
    now: () => clock.now(),
    ...(question === undefined ? {} : { asked: question.asked }),
    deps: given,
    resolve: resolver(given),
    messages: () => shown(driving.state().history),
    output: async (ref: string): Promise<string | undefined> => blobs?.get(session, ref),
    outputs: () => [...driving.state().outputs],
    ...child,
  };
}

/** The same context, which notes when the tool reads its `signal`: then the tool may react to an abort. */
export function noticing(
  context: ToolContext,
  controller: AbortController,
  listening: WeakSet<AbortController>,
): ToolContext {
  return new Proxy(context, {
    get: (target, name) => {
      if (name === "signal") listening.add(controller);
      return Reflect.get(target, name);
    },
  });
}
