// The room of the stop reason, as the plain loop reads it: `end_turn` ends the run, whatever else the answer contains.
//
// That needs a provider whose stop word differs between answers with calls and without. Some have one word for both
// (Gemini's STOP, `completed` of OpenAI's Responses, Ollama's stop): for those the content decides.

import { withRun } from "../../loop/state.ts";
import { type AssistantMessage, callsOf, type StopKind } from "../../message.ts";
import type { Rule } from "../../rules/rule.ts";
import { byStopReasonPolicy, continueBy } from "../../rules/stop/policy.ts";

/** Protocols with one stop word for answers with and without calls, and these words, which other protocols may pass on. */
const oneWord: ReadonlySet<string> = new Set(["google-generative-ai", "openai-responses", "ollama-chat"]);
const theWords: ReadonlySet<string | undefined> = new Set(["STOP", "completed"]);

/** The stop reason of an answer, as this system's clients expect it. */
export function stopReasonOf(message: AssistantMessage): StopKind {
  const { wire } = message.stop;
  const silent = oneWord.has(message.origin.api) || theWords.has(message.stop.raw);
  if (wire !== "end_turn" || !silent) return wire;
  return callsOf(message).length > 0 ? "tool_use" : "end_turn";
}

/** The continue rule: `end_turn` ends the run, an answer without calls ends it, everything else runs the calls. */
export function byStopReason(): Rule {
  const rule = continueBy("by_stop_reason", byStopReasonPolicy) as Rule;
  return {
    ...rule,
    judge(memory, state, texts) {
      const { run } = withRun(state);
      const { turn } = run;
      if (turn === undefined) return undefined;
      const { message } = turn;
      const stop = { ...message.stop, wire: stopReasonOf(message) };
      return rule.judge?.(
        memory,
        { ...state, run: { ...run, turn: { ...turn, message: { ...message, stop } } } },
        texts,
      );
    },
  };
}
