// The room of intents: the facts that are recorded before work starts (intent before effect).
//
// Every driver uses them, so that the records are the same wherever a run is driven.

import type { Rules } from "../../rules/rule.ts";
import type { Action } from "../action.ts";
import type { Fact } from "../records.ts";
import { type Prefix, requestName, type Sent } from "../request/prefix.ts";
import type { State } from "../state.ts";
import { nextOrEnd } from "./next-or-end.ts";

/** The fact that a model is called. @param prefix registers the request's front, and finds what broke it */
export function modelStarted(action: Action & { do: "call_model" }, prefix: Prefix): Fact {
  const { request, step, attempt, shape } = action;
  const { digest, broke } = prefix.note(request, shape);
  return {
    type: "model_started",
    step,
    attempt,
    model: action.model,
    digest,
    ...(broke === undefined ? {} : { broke }),
    ...(action.stages === undefined ? {} : { stages: action.stages }),
  };
}

/** The last request that was sent, rebuilt. @param asked the state just before it */
export function sentAt(asked: State, rules: Rules): Sent | undefined {
  const last = nextOrEnd(asked, rules);
  return last.do === "call_model" ? last : undefined;
}

export function summaryStarted({ request, part, of, attempt }: Action & { do: "summarise" }): Fact {
  return { type: "summary_started", part, of, attempt, digest: requestName(request) };
}

/** The facts that calls are started. @param session id of the session of the calls */
export function toolsStarted({ calls, reserved }: Action & { do: "start_tools" }, session: string): Fact[] {
  return calls.map((call): Fact => {
    const idempotencyKey = `${session}:${call}`;
    const given = reserved?.[call];
    // The idempotency key is also the sub-agent's session id: it is the same when the call is started again.
    const child = given === undefined ? {} : { child: idempotencyKey, reserved: given };
    return { type: "tool_started", call, idempotencyKey, ...child };
  });
}
