// The room of making room: what is done so that the next request fits into the window.
//
// Room is made rarely and then for several steps, so that the provider's cache stays valid in between. Trimming and
// compaction change the history for good, as a record.

import { isFull, limitOf, missingLimit } from "../../context/compact/threshold.ts";
import { cutLongest } from "../../context/last-resort.ts";
import { sumOf } from "../../context/stage.ts";
import { trim } from "../../context/trim.ts";
import type { ErrorData } from "../../errors.ts";
import type { JsonObject } from "../../message.ts";
import type { Rules } from "../../rules/rule.ts";
import { type Action, record } from "../action.ts";
import { besideOf } from "../request/notes.ts";
import { frontOf, sizeOf, windowFacts, windowOf } from "../request/window.ts";
import { shaped } from "../request.ts";
import { modelInUse, type RunState, transformedOf } from "../state.ts";
import { end, endUnanswered } from "./ending.ts";

/** Cuts the oldest results for good if all of them together are over their budget. */
export function trimmed(state: RunState): Action | undefined {
  const settings = state.options.context?.trim;
  if (settings === undefined || state.run.paused) return undefined;
  const { edits, note } = trim(state.history, settings, windowFacts(state));
  return note && record({ type: "trimmed", edits: [...edits], ...note });
}

/** Decides to compact if the history fills its share of the window. */
export function compactionDue(state: RunState, rules: Pick<Rules, "estimator">): Action | undefined {
  const { context, models } = state.options;
  const settings = context?.compaction;
  if (settings === undefined || !settings.auto || !mayCompact(state)) return undefined;
  if (settings.format === "tagged") {
    // Without the provider's count there is nothing to compare with the limit, known or not.
    if (state.lastTokens === undefined) return undefined;
    // The count of an earlier run was checked when that run ended.
    if (settings.atEnd && state.run.steps === 0) return undefined;
  }
  // The provider outranks every count: the answer ended because the window was full, and the next has less room.
  if (settings.format !== "tagged" && filledWindow(state))
    return compacting("compaction", { stop: "context_overflow" });
  const limit = limitOf(settings, windowFacts(state));
  if (limit === undefined) {
    if (settings.withoutLimit === "skip") return undefined;
    const { provider, model } = models[modelInUse(state.run)]?.origin ?? { provider: "", model: "" };
    const message = missingLimit(`${provider}/${model}`);
    const error = { kind: "capability" as const, message, retryable: false };
    return end(state, { reason: "error", rule: "compaction", evidence: {}, error });
  }
  // The tagged format uses the last count, whatever it was for; the structured one an estimate of the next request.
  const tokens = settings.format === "tagged" ? state.lastTokens : sizeOf(state, rules);
  if (tokens === undefined || !isFull(settings, tokens, limit)) return undefined;
  return compacting("compaction", { tokens, limit, at: settings.at });
}

/** Whether the last answer ended because the window was full. */
function filledWindow({ history }: RunState): boolean {
  for (let at = history.length - 1; at >= 0; at -= 1) {
    const message = history.at(at);
    if (message?.role === "assistant") return message.stop.kind === "context_overflow";
  }
  return false;
}

/** Prevents that a request is sent that cannot fit, or one that was refused as too large is sent again unchanged. */
export function guarded(state: RunState, rules: Rules): Action | undefined {
  const guard = state.options.context?.guard;
  const { reduced, paused } = state.run;
  // A paused answer must be sent back unchanged for the model to continue it.
  if (paused) return undefined;
  if (reduced !== undefined && !reduced.helped) return smallerAfterRefusal(state, rules, reduced.error);
  const window = guard?.results === "cut" ? windowOf(state) : undefined;
  if (window === undefined) return undefined;
  const tokens = sizeOf(state, rules) + besideOf(state, rules);
  if (tokens <= window) return undefined;
  const evidence: JsonObject = { tokens, window };
  if (mayCompact(state)) return compacting("guard", evidence);
  const goal = roomForMessages(window, tokens, state, rules);
  const cut = cutLongest(state.history, goal, rules.estimator);
  // If cutting alone is not enough, compact even if the last compaction did not help.
  if ((cut?.note.after ?? Infinity) > goal && mustCompact(state)) return compacting("guard", evidence);
  if (cut !== undefined) return record({ type: "trimmed", edits: cut.edits, ...cut.note });
  // The last request was refused, and what has made it smaller since was not enough.
  if (reduced !== undefined)
    return endUnanswered(state, rules, { rule: "guard", evidence, error: reduced.error });
  const message = `the request takes about ${tokens} tokens and the window is ${window}: nothing in it can be made smaller`;
  return overflowed(state, rules, message, evidence);
}

/** Halves a request that was refused as too large, whatever is known of the window, or ends the run with the refusal. If the agent compacts, that was tried before, and did not help. */
function smallerAfterRefusal(state: RunState, rules: Rules, error: ErrorData): Action {
  const window = windowOf(state);
  const tokens = sizeOf(state, rules) + besideOf(state, rules);
  const half = Math.floor(Math.min(tokens, window ?? tokens) / 2);
  const cut =
    state.options.context?.guard === undefined
      ? undefined
      : cutLongest(state.history, roomForMessages(half, tokens, state, rules), rules.estimator);
  if (cut !== undefined) return record({ type: "trimmed", edits: cut.edits, ...cut.note });
  const evidence: JsonObject = { tokens, ...(window === undefined ? {} : { window }) };
  return endUnanswered(state, rules, { rule: "guard", evidence, error });
}

/** What the history may take of this room, if the whole request takes `tokens`. */
const roomForMessages = (room: number, tokens: number, state: RunState, { estimator }: Rules): number =>
  room - (tokens - state.history.sum(estimator.message));

/** Compacts or ends the run if the request does not fit as the guard or a hook has shaped it for this one time. */
export function tooLarge(state: RunState, rules: Rules): Action | undefined {
  const { overflow, messages } = shaped(state, rules);
  if (overflow === undefined) {
    const hooked = transformedOf(state.run)?.edit !== undefined;
    const window = hooked && state.options.context?.guard ? windowOf(state) : undefined;
    if (window === undefined) return undefined;
    // The hook's messages were not counted by the provider.
    const tokens = frontOf(state, rules) + besideOf(state, rules) + sumOf(messages, rules.estimator.message);
    if (tokens <= window) return undefined;
    const message = `the request that the transformContext hook made takes about ${tokens} tokens and the window is ${window}`;
    return overflowed(state, rules, message, { tokens, window });
  }
  if (mayCompact(state) || mustCompact(state)) return compacting("guard", {});
  return overflowed(state, rules, overflow, {});
}

const overflowed = (state: RunState, rules: Rules, message: string, evidence: JsonObject): Action => {
  const error = { kind: "context_overflow" as const, message, retryable: false };
  return endUnanswered(state, rules, { rule: "guard", evidence, error });
};

/** The decision to compact. */
const compacting = (rule: string, evidence: JsonObject): Action =>
  record({ type: "mode", mode: "compacting", rule, evidence });

/** How many compactions may come after consecutive answers; after that, or after one that did not help, `answersToWait` answers must pass. */
const mostInARow = 3;
const answersToWait = 5;

/**
 * Whether another compaction may help: there was an answer since the last one, and that one helped. If each of the last answers
 * was followed by one, what cannot be compacted is too large, and compacting would never end.
 */
function mayCompact(state: RunState): boolean {
  const { compacted } = state;
  const { landing } = state.run;
  // A run that must end now needs no room.
  if (!compacts(state) || (landing !== undefined && landing.reason !== "max_steps")) return false;
  if (compacted === undefined) return true;
  const since = state.answers - compacted.answers;
  return since >= (compacted.helped && compacted.inARow < mostInARow ? 1 : answersToWait);
}

/**
 * The same if the run would otherwise end: then it does not matter that the last one did not help, if the history has
 * grown since, or if the last one was not forced. A run that must end now gets a note instead of a summary.
 */
function mustCompact(state: RunState): boolean {
  const { compacted } = state;
  if (!compacts(state)) return false;
  if (compacted === undefined) return true;
  if (state.answers > compacted.answers) return compacted.inARow < mostInARow;
  return !compacted.helped && !compacted.forced;
}

const compacts = (state: RunState): boolean =>
  state.options.context?.compaction !== undefined && !state.run.paused;
