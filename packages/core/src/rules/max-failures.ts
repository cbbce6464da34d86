// The room of tools that keep failing, whatever their errors say.
//
// A tool fails if it throws, takes too long, returns an error, or is called with arguments that do not fit. All calls of it in
// one answer count once, because the model had not read of the first when it made the others; a success among them, or later,
// begins the count anew. A call that was denied, skipped or aborted says nothing about its tool.

import { type Check, checkGiven, count, either, membersOf, recordOf, some } from "../checks.ts";
import { seqIn } from "../loop/call-key.ts";
import type { CallResult, ResultCode } from "../loop/records.ts";
import type { Call } from "../loop/state.ts";
import { onResults } from "./call-results.ts";
import { missingTool } from "./named-tools.ts";
import type { Decision, Rule } from "./rule.ts";

/** Names of tools, and how often in a row each may fail. */
type FailureLimits = Readonly<Record<string, number>>;

/** How often a tool has failed in a row, and in which answer last. */
interface Failing {
  readonly times: number;
  readonly answer: number;
}

type Memory = ReadonlyMap<string, Failing>;

const ownOptions: Check = membersOf<{ max: number | FailureLimits }>(
  { max: either(count, some(recordOf(count), "the name of a tool, and a number")) },
  ["max"],
);

const failures: ReadonlySet<ResultCode | undefined> = new Set([
  undefined,
  "threw",
  "timeout",
  "invalid_args",
]);

/**
 * Lands a run, as `no_progress`, in which so many answers have called a tool that failed each time, with no success of it in between.
 * @param max for each tool, or for single ones by name: `maxFailures({ search: 3 })`
 * @throws RondoError `invalid_request` for anything but whole numbers above 0
 */
export function maxFailures(max: number | FailureLimits): Rule {
  checkGiven(ownOptions, { max }, "maxFailures");
  // A number has no entries.
  const limits = new Map<string, number>(Object.entries(max));
  const limitOf = (tool: string): number =>
    typeof max === "number" ? max : (limits.get(tool) ?? Number.POSITIVE_INFINITY);
  const came = (memory: Memory, { key, name }: Call, result: CallResult): Memory => {
    const before = memory.get(name);
    if (!result.isError) return before === undefined ? memory : without(memory, name);
    const answer = seqIn(key);
    if (!failures.has(result.code) || before?.answer === answer) return memory;
    return new Map(memory).set(name, { times: (before?.times ?? 0) + 1, answer });
  };
  const rule: Rule<Memory> = {
    name: "max_failures",
    version: 1,
    verify(options) {
      const missing = missingTool(limits.keys(), options);
      return missing === undefined ? undefined : `maxFailures limits ${missing}`;
    },
    init: () => new Map(),
    fold: onResults(came),
    decide(memory): Decision | undefined {
      for (const [tool, { times }] of memory) {
        const most = limitOf(tool);
        if (times >= most)
          return { do: "land", reason: "no_progress", evidence: { tool, failures: times, max: most } };
      }
      return undefined;
    },
  };
  return rule as Rule;
}

function without(memory: Memory, tool: string): Memory {
  const left = new Map(memory);
  left.delete(tool);
  return left;
}
