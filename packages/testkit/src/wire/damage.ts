// The room of damage: what is wrong with a plan's wire, put into the plan.

import type { WireAct } from "./faults.ts";
import { frameBytes } from "./framing.ts";
import { type Protocol, ScriptError } from "./reply.ts";
import type { Plan, Step } from "./steps.ts";

/** Words about the wire as a whole. */
export function direct(plan: Plan, act: WireAct): void {
  if (act.wire === "delay") plan.delayMs += act.ms;
  else if (act.wire === "chunks") plan.chunks = act.chunks;
  else if (act.wire === "slow") plan.slow = { bytes: act.bytes, ms: act.ms };
  else if (act.wire === "cut") plan.cut = { at: act.at, how: act.how };
  else if (act.wire === "stall") plan.stall = { at: act.at, pings: act.pings };
  else if (act.wire === "reset") plan.reset = true;
}

/** Words about single frames. */
export function mangle(plan: Plan, wire: readonly WireAct[], protocol: Protocol): void {
  const places = (): number[] => plan.steps.flatMap((step, at) => (step.do === "bytes" ? [at] : []));
  for (const act of wire) {
    if (act.wire === "garbage") {
      const at = places()[act.frames] ?? plan.steps.length;
      plan.steps.splice(at, 0, nonsense(act.text, protocol, plan.array !== undefined));
    } else if (act.wire === "duplicate") {
      const at = places()[act.frame];
      const step = at === undefined ? undefined : plan.steps[at];
      if (at === undefined || step === undefined)
        throw new ScriptError(
          `the script doubles frame ${act.frame}, and the answer has ${places().length}; frames count from 0`,
        );
      plan.steps.splice(at, 0, { ...step });
    }
  }
}

function nonsense(text: string, protocol: Protocol, inArray: boolean): Step {
  const utf8 = new TextEncoder();
  if (inArray) return { do: "bytes", bytes: utf8.encode(text), element: true };
  if (protocol === "bedrock-converse") return { do: "bytes", bytes: utf8.encode(text.padEnd(16, "?")) };
  return { do: "bytes", bytes: frameBytes(protocol, { data: text }) };
}

/** Words about single bytes, of the body as it is sent. */
export function corrupt(plan: Plan, wire: readonly WireAct[]): void {
  for (const act of wire) {
    if (act.wire !== "corrupt") continue;
    let before = 0;
    for (const step of plan.steps) {
      if (step.do !== "bytes") continue;
      const at = act.at - before;
      before += step.bytes.length;
      if (at < 0 || at >= step.bytes.length) continue;
      step.bytes = step.bytes.slice();
      step.bytes[at] = (step.bytes[at] ?? 0) ^ 0x01;
    }
  }
}
