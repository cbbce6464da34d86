// The room of repeats: calls that bring nothing new.
//
// A repeat is the same call with the same outcome, and nothing new in between: any outcome not seen before in the run
// resets the counts, so that polling and re-reading after a change are not repeats, while A-B-A-B is one.
// All calls of a tool with invalid arguments count as one outcome, whatever the arguments: the model was told each time
// what is wrong, and did not learn from it. So do those calls of a tool that their requests did not allow, and calls of tools
// that do not exist, whatever their names.
// The reactions are: a note, then the tool is hidden, then the run lands.
//
// A tool that fails with the same words whatever its arguments are may still have something to find (a search that finds
// nothing fails so in some tools). So that brings a note too, but the tool is not hidden, and the run lands a little later.

import { type Check, checkGiven, count, listOf, membersOf, rising, text } from "../checks.ts";
import { canonical, digest } from "../json/digest.ts";
import { seqIn } from "../loop/call-key.ts";
import { Names } from "../loop/log.ts";
import type { CallResult, ResultCode } from "../loop/records.ts";
import { type Call, type State, withRun } from "../loop/state.ts";
import { onResults } from "./call-results.ts";
import { argsWithoutAsides } from "./repeats/asides.ts";
import { nameOf } from "./repeats/window.ts";
import type { Decision, Rule } from "./rule.ts";

export interface Repeats {
  /** Number of repeats at which the model gets a note, the tool is hidden, the run lands; a reaction with the same number as the next is skipped. A tool that fails alike, whatever its arguments, is not hidden, and the run lands two repeats later. Default: 3, 4, 5. */
  nudgeAt?: number;
  hideAt?: number;
  landAt?: number;
  /** Names of tools that may be repeated without limit, e.g. one that waits. Default: none. */
  exempt?: readonly string[];
}

interface Repeat {
  readonly tool: string;
  /** What the repeated calls have in common: the tool and its arguments, only the tool, that it was not allowed, that it failed, or that it does not exist. */
  readonly call: string;
  readonly times: number;
  /** For calls that were invalid or not allowed, that failed, or of unknown tools: the answer with the last of them. Those of one answer count once. */
  readonly unfitIn: number | undefined;
}

export interface RepeatsMemory {
  /** Every outcome seen in this run. */
  readonly seen: Names;
  /** Outcomes since the last new one. */
  readonly repeats: ReadonlyMap<string, Repeat>;
  readonly nudged: readonly string[];
}

/** Checks the options of `repeats`. */
export const repeatsOptions: Check = rising(
  membersOf<Repeats>({ nudgeAt: count, hideAt: count, landAt: count, exempt: listOf(text) }),
  { nudgeAt: 3, hideAt: 4, landAt: 5 },
);

/** Detects calls that are repeated without bringing anything new. */
export function repeats(options: Repeats = {}): Rule<RepeatsMemory> {
  checkGiven(repeatsOptions, options, "repeats");
  const { nudgeAt = 3, hideAt = 4, landAt = 5, exempt = [] } = options;
  const came = (memory: RepeatsMemory, call: Call, result: CallResult, { run }: State): RepeatsMemory => {
    if (exempt.includes(call.name)) return memory;
    // Several sub-agents may get the same task; their number is limited by the rule `tree`.
    if (call.tool?.agent !== undefined) return memory;
    return counted(memory, call, result, run?.hidden.includes(call.name) === true);
  };
  return {
    name: "repeats",
    version: 6,
    init: () => ({ seen: Names.empty(), repeats: new Map(), nudged: [] }),
    fold: {
      noted: (memory, { rule, evidence }) =>
        rule === "repeats" ? { ...memory, nudged: [...memory.nudged, String(evidence.outcome)] } : memory,
      ...onResults(came),
    },
    decide(memory, state): Decision | undefined {
      const { run } = state;
      for (const [outcome, repeat] of memory.repeats) {
        const { tool, call, times } = repeat;
        const isFailing = call === failed(tool);
        // The same call again and again has a note of its own.
        if (isFailing && hasOther(memory, repeat, nudgeAt)) continue;
        const [hides, lands] = isFailing ? [landAt + later, landAt + later] : [hideAt, landAt];
        const evidence = { tool, times, outcome };
        if (times >= lands)
          return { do: "land", reason: "no_progress", evidence: { ...evidence, landAt: lands } };
        if (times >= hides && call !== anyUnknown && run?.hidden.includes(tool) === false)
          return { do: "hide_tool", tool, evidence };
        if (times >= nudgeAt && times < hides && !memory.nudged.includes(outcome))
          return {
            do: "nudge",
            text: noteOf(repeat, state),
            evidence,
          };
      }
      return undefined;
    },
  };
}

/** How many more repeats end a run if a tool fails alike whatever its arguments are. */
const later = 2;

/** Whether another repeat of the same tool has come so far. */
const hasOther = ({ repeats }: RepeatsMemory, { tool, call }: Repeat, least: number): boolean =>
  [...repeats.values()].some((one) => one.tool === tool && one.call !== call && one.times >= least);

function noteOf({ tool, call, times, unfitIn }: Repeat, state: State): string {
  if (call === anyUnknown)
    return `${times} answers have called tools that do not exist, ${JSON.stringify(tool)} the last of them. Call one of those there are, or do without.`;
  if (call === notAllowed(tool))
    return `${times} answers have called ${tool}, and their requests did not allow it. Do without it.`;
  if (call === failed(tool))
    return `${times} answers have called ${tool}, and it failed with the same words each time. Calling it again, with these or other arguments, is unlikely to help.`;
  if (unfitIn === undefined)
    return `${tool} has been called ${times} times with the same arguments and the same result. Calling it so again will not change the result.`;
  return `${times} answers have called ${tool} with arguments that do not fit.${schemaOf(tool, state)} Call it with what fits, or do without it.`;
}

function counted(memory: RepeatsMemory, call: Call, result: CallResult, hidden: boolean): RepeatsMemory {
  const isUnknown = result.code === "unknown_tool" && !hidden;
  const isUnfit = isUnknown || result.code === "invalid_args" || result.code === "tool_choice";
  const name = isUnknown ? anyUnknown : isUnfit ? unfitName(call, result) : sameName(call);
  // If a hidden tool is called all the same, its count continues.
  const known = hidden
    ? [...memory.repeats].find(([, one]) => [name, call.name, notAllowed(call.name)].includes(one.call))?.[0]
    : undefined;
  const words = digest(JSON.stringify(result.content));
  const answer = seqIn(call.key);
  const isFailed = result.isError && (result.code === undefined || failures.has(result.code));
  const failing = isFailed && known === undefined ? failed(call.name) : undefined;
  // That the tool failed so before is all that counts as known: other arguments make it no new outcome.
  const first = failing === undefined ? memory : bumped(memory, `${failing}:${words}`, failing, call, answer);
  const outcome = known ?? (isUnfit ? name : `${name}:${words}`);
  return bumped(first, outcome, name, call, isUnfit ? answer : undefined, failing !== undefined);
}

/** The memory after one more call with an outcome. @param unfitIn the answer it counts for, if those of one answer count once. @param isKnown it is no new outcome */
function bumped(
  memory: RepeatsMemory,
  outcome: string,
  name: string,
  { name: tool }: Call,
  unfitIn: number | undefined,
  isKnown: boolean = false,
): RepeatsMemory {
  const before = memory.repeats.get(outcome);
  if (before !== undefined && unfitIn !== undefined && before.unfitIn === unfitIn) return memory;
  const isNew = !memory.seen.has(outcome);
  const times = isNew ? 1 : (before?.times ?? 0) + 1;
  const one: Repeat = { tool, call: before?.call ?? name, times, unfitIn };
  return {
    ...memory,
    seen: isNew ? memory.seen.add(outcome) : memory.seen,
    repeats: new Map(isNew && !isKnown ? [] : memory.repeats).set(outcome, one),
  };
}

/** No tool has such a name. */
const anyUnknown = "(no tool)";
const notAllowed = (tool: string): string => `(not allowed) ${tool}`;
const failed = (tool: string): string => `(failed) ${tool}`;

/** How a call ends that says something about its tool. One that was skipped, or cut off, says nothing. */
const failures: ReadonlySet<ResultCode> = new Set(["threw", "timeout", "denied", "hook_failed"]);

const sameName = (call: Call): string =>
  call.argsError === undefined ? `${call.name}:${digest(canonical(argsWithoutAsides(call)))}` : nameOf(call);

const unfitName = ({ name }: Call, { code }: CallResult): string =>
  code === "tool_choice" ? notAllowed(name) : name;

/** A schema longer than this, in characters, is not repeated in the note: the request contains it anyway. */
const mostSchemaChars = 2_000;

function schemaOf(tool: string, state: State): string {
  const found = withRun(state).options.tools.find(({ definition }) => definition.name === tool);
  const schema = JSON.stringify(found?.definition.inputSchema ?? {});
  return schema.length > mostSchemaChars || found === undefined
    ? ""
    : ` They must fit this schema: ${schema}.`;
}
