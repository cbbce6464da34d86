// The room of repairs: a request was refused for something in it that can be left out.
//
// It is left out and asked again, once for each kind in a run: a second refusal is the end, or a server that refuses
// everything would be asked for ever. What can be repaired is said by the error's own field, never read from its text.

import type { Repair } from "../errors.ts";
import { settingOf } from "../loop/left-out.ts";
import type { State } from "../loop/state.ts";
import { hasFiles } from "./overflow.ts";
import type { Judgement, Rule } from "./rule.ts";

/** Leaves out what the provider refuses, reasoning or files in a history or a setting, and asks again without it; once in a run. */
export function repairs(): Rule {
  return {
    name: "repairs",
    version: 2,
    judge(_memory, state): Judgement | undefined {
      const { run } = state;
      const repair = run?.failure?.error.repair;
      if (run?.failure === undefined || repair === undefined || run.dropped.includes(repair))
        return undefined;
      if (!changes(repair, state)) return undefined;
      return {
        follows: { do: "ask_again", drop: repair },
        evidence: { kind: run.failure.error.kind, dropped: repair },
      };
    },
  };
}

/** Whether leaving it out makes another request of it. */
function changes(repair: Repair, state: State): boolean {
  if (repair === "reasoning") return hasReasoning(state);
  if (repair === "files") return hasFiles(state);
  const { [settingOf(repair)]: setting } = state.options?.settings ?? {};
  return setting !== undefined;
}

/** Whether leaving reasoning out makes another request of it. Looks at the history, but only after a refusal. */
function hasReasoning({ history, options }: State): boolean {
  const { reasoning = "off" } = options?.settings ?? {};
  if (reasoning !== "off") return true;
  for (const message of history)
    if (message.role === "assistant" && message.content.some((part) => part.type === "reasoning"))
      return true;
  return false;
}
