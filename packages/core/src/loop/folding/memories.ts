// The room of memories: what the rules of a run remember, folded from the records.
//
// Each rule keeps what it must know, so that none scans the history. If a rule throws here, that becomes part of the
// state, because a fold is total.

import type { RondoError } from "../../errors.ts";
import { foldersIn, type Rule, type Rules, ruleFailed } from "../../rules/rule.ts";
import type { LogRecord } from "../records.ts";
import { type State, withRun } from "../state.ts";

/** The rules' memories at the start of a run. */
export function beginMemories(started: State, rules: Rules): State {
  let failed: [Rule, RondoError] | undefined;
  const memories = rules.list.map((rule) => {
    try {
      return rule.init?.(started);
    } catch (thrown) {
      failed ??= [rule, ruleFailed(rule, "init", thrown)];
      return undefined;
    }
  });
  return failed === undefined ? { ...started, memories } : { ...withFailed(started, ...failed), memories };
}

/** The rules' memories after one more record. */
export function remember(folded: State, record: LogRecord, before: State, rules: Rules): State {
  const { run } = folded;
  if (run === undefined || run.ruleFailed !== undefined) return folded;
  let memories = folded.memories as unknown[];
  for (const { rule, fold, place } of foldersIn(rules.list).get(record.type) ?? []) {
    let memory: unknown;
    try {
      memory = fold.call(rule, memories[place], record, before);
    } catch (thrown) {
      return withFailed(folded, rule, ruleFailed(rule, "fold", thrown));
    }
    if (memory === memories[place]) continue;
    if (memories === folded.memories) memories = [...memories];
    memories[place] = memory;
  }
  return memories === folded.memories ? folded : { ...folded, memories };
}

/** A fold is total: that a rule threw becomes part of the state, and `nextOrEnd` ends the run for it. */
function withFailed(state: State, { name }: Rule, failed: RondoError): State {
  return { ...state, run: { ...withRun(state).run, ruleFailed: { rule: name, error: failed.toJSON() } } };
}
