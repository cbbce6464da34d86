// The room of calls that end a run: once one of certain tools has done its work, the model is not asked again.
//
// A call counts once its result is no error, as in mustCall. Only calls of this run count, whatever the conversation held
// before. The other calls of the same answer get their results first.

import { type Check, checkGiven, membersOf, oneOf } from "../checks.ts";
import type { CallResult } from "../loop/records.ts";
import type { Call } from "../loop/state.ts";
import { onResults } from "./call-results.ts";
import { missingTool, toolNames } from "./named-tools.ts";
import type { Decision, Rule } from "./rule.ts";

interface StopAfterOptions {
  /** `stop`: the run ends at once with the text so far. `land`: the model gives a last answer, without tools. Default: `stop`. */
  onLimit?: "land" | "stop";
}

/** The tool that was called with success, once there is one. */
type Memory = string | undefined;

const ownOptions: Check = membersOf<{ tools: string | readonly string[] } & StopAfterOptions>(
  { tools: toolNames, onLimit: oneOf("land", "stop") },
  ["tools"],
);

/**
 * Ends a run once it has called one of these tools with success, as `turn_stopped`; its text is what the model said last.
 * @param tools the name of a tool, or several: any of them ends the run
 * @throws RondoError `invalid_request` for anything else
 */
export function stopAfter(tools: string | readonly string[], options: StopAfterOptions = {}): Rule {
  checkGiven(ownOptions, { ...options, tools }, "stopAfter");
  const { onLimit = "stop" } = options;
  const wanted: ReadonlySet<string> = new Set(typeof tools === "string" ? [tools] : tools);
  const came = (memory: Memory, { name }: Call, { isError }: CallResult): Memory =>
    memory ?? (wanted.has(name) && !isError ? name : undefined);
  const rule: Rule<Memory> = {
    name: "stop_after",
    version: 1,
    verify(options) {
      const missing = missingTool(wanted, options);
      return missing === undefined ? undefined : `stopAfter waits for a call of ${missing}`;
    },
    init: () => undefined,
    fold: onResults(came),
    decide(tool, { run }): Decision | undefined {
      if (tool === undefined) return undefined;
      return { do: onLimit, reason: "turn_stopped", evidence: { tool, steps: run?.steps ?? 0 } };
    },
  };
  return rule as Rule;
}
