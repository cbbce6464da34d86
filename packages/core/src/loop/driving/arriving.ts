// The room of the answer that is arriving: what listeners were told of it so far, for whoever comes later.

import type { RondoEvent } from "../../events.ts";
import { isOpen, type Run, type State } from "../state.ts";
import { type Audience, toldOf } from "./think.ts";

/** The last model call for an answer, as the run has it, and its audience. */
export interface AwaitedAnswer {
  readonly call: Run["call"];
  readonly audience: Audience;
}

/** The events so far of the step whose answer is awaited, the deltas of a part joined. None: no answer is. */
export function arrivingIn({ run }: State, answer: AwaitedAnswer | undefined): RondoEvent[] {
  if (!isOpen(run) || run.stepBegun !== true || run.turn !== undefined) return [];
  const deltas = answer !== undefined && answer.call === run.call ? toldOf(answer.audience) : [];
  return [{ type: "step_start", step: run.steps + 1 }, ...deltas];
}
