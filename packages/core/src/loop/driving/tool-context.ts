// The room of the tool's context: what a tool works with of the run that calls it.
//
// It is made for one start of one call. What a tool tells of its progress once it was given up is told to nobody; what it
// can look up is the session's own.

import type { RondoEvent } from "../../events.ts";
import { jsonCopy } from "../../json/copy.ts";
import { resolver } from "../../tool/dependency.ts";
import type { ChildStart, ToolContext } from "../../tool.ts";
import type { CallKey } from "../records.ts";
import type { Call, State } from "../state.ts";
import { viewOf } from "./announce.ts";
import type { Shell } from "./shell.ts";

/** Who drives, as a tool meets it. */
interface Driving {
  state(): State;
  readonly tell: (event: RondoEvent) => void;
}

/**
 * The context of a call that starts.
 * @param atWork the calls that are waited for: this one is told of as long as it is there under its controller
 * @param child what it is given of its parent, where it is a sub-agent
 */
export function toolContext(
  call: Call,
  controller: AbortController,
  { session, blobs, clock, given }: Pick<Shell, "session" | "blobs" | "clock" | "given">,
  driving: Driving,
  atWork: ReadonlyMap<CallKey, AbortController>,
  child: { child?: ChildStart },
): ToolContext {
  const { key, id } = call;
  return {
    signal: controller.signal,
    idempotencyKey: `${session}:${key}`,
    callId: id,
    update: (progress, details): void => {
      if (atWork.get(key) !== controller) return;
      const more = details === undefined ? {} : { details: jsonCopy(details, "details") };
      driving.tell({ type: "tool_update", call: viewOf(call), progress, ...more });
    },
    now: () => clock.now(),
    deps: given,
    resolve: resolver(given),
    output: async (ref: string): Promise<string | undefined> => blobs?.get(session, ref),
    outputs: () => [...driving.state().outputs],
    ...child,
  };
}

/** The same, and whoever looks at its signal is known to hear of an abort. */
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
