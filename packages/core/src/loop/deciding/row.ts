// The room of a row: what the table consists of. A row says in words when it applies and what it does, because people read it, and
// names the phases that may follow, because the model checker holds it to them.

import type { Rules } from "../../rules/rule.ts";
import type { Action } from "../action.ts";
import type { Phase } from "../phase.ts";
import type { RunState } from "../state.ts";

/** One row of the table. */
export interface Row {
  /** When this row applies, in words: `rondo explain` shows them. */
  when: string;
  /** What is done then, in words. */
  does: string;
  /** The phases that may follow. */
  to: readonly Phase[];
  /** The action, or undefined when the row does not apply. */
  act(state: RunState, rules: Rules): Action | undefined;
}

export const row = (when: string, does: string, to: readonly Phase[], act: Row["act"]): Row => ({
  when,
  does,
  to,
  act,
});
