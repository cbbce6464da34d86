// The room of calls that must come: a run is not complete before certain tools have done their work.
//
// A call counts once its result is no error, whether its tool ran, a hook answered it in place of running it, or a person did;
// what a hook makes of a result afterwards does not matter. Only an answer that would end the run is held up: at a limit the run
// lands all the same.

import { type Check, checkGiven, membersOf, text, whole } from "../checks.ts";
import type { CallResult } from "../loop/records.ts";
import type { Call, Turn } from "../loop/state.ts";
import { hasText } from "../message.ts";
import { onResults } from "./call-results.ts";
import { missingTool, toolNames } from "./named-tools.ts";
import type { Judgement, Rule } from "./rule.ts";

interface Memory {
  /** The tools that were called with success. */
  readonly called: readonly string[];
  /** How often the model was asked again. */
  readonly asked: number;
}

const noteOf = (missing: readonly string[]): string =>
  `This cannot be the final answer yet: ${missing.join(" and ")} ${missing.length === 1 ? "has" : "have"} not been called with success.`;

/** Whether an answer would end the run. One that its provider reports as failed or broken off is none. */
const isFinal = ({ message, calls }: Turn): boolean =>
  calls.length === 0 && message.stop.kind !== "error" && message.stop.kind !== "aborted";

interface MustCallOptions {
  /** How often the model is asked again in a run. Default: 2 */
  max?: number;
  /** What the model reads then, as a note of that one request. Default: that it cannot be the final answer yet, and what has not been called */
  note?: string;
}

const ownOptions: Check = membersOf<{ tools: string | readonly string[] } & MustCallOptions>(
  { tools: toolNames, max: whole, note: text },
  ["tools"],
);

/**
 * Asks the model again if it would end a run in which it has not called each of these tools with success. Its answer stays in the
 * history. After `max` times the run ends as `no_progress`, with the answer as its text.
 * @param tools the name of a tool, or several: each must be called
 * @throws RondoError `invalid_request` for anything else
 */
export function mustCall(tools: string | readonly string[], options: MustCallOptions = {}): Rule {
  checkGiven(ownOptions, { ...options, tools }, "mustCall");
  const { max = 2, note } = options;
  const wanted = [...new Set(typeof tools === "string" ? [tools] : tools)];
  const came = (memory: Memory, { name }: Call, { isError }: CallResult): Memory =>
    isError || memory.called.includes(name) ? memory : { ...memory, called: [...memory.called, name] };
  const rule: Rule<Memory> = {
    name: "must_call",
    version: 1,
    verify(options) {
      const missing = missingTool(wanted, options);
      return missing === undefined ? undefined : `mustCall waits for a call of ${missing}`;
    },
    init: () => ({ called: [], asked: 0 }),
    fold: {
      ...onResults(came),
      turn_judged: (memory, { rule: by }) =>
        by === "must_call" ? { ...memory, asked: memory.asked + 1 } : memory,
    },
    judge({ called, asked }, state): Judgement | undefined {
      const turn = state.run?.turn;
      if (turn === undefined || !isFinal(turn)) return undefined;
      const missing = wanted.filter((tool) => !called.includes(tool));
      if (missing.length === 0) return undefined;
      const evidence = { missing, asked, max };
      const follows = { do: "ask_again", note: note ?? noteOf(missing) } as const;
      if (asked < max) return { follows, store: hasText(turn.message), evidence };
      return { follows: { do: "stop", reason: "no_progress" }, evidence };
    },
  };
  return rule as Rule;
}
