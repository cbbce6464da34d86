// The room of notes: messages after the history that are part of one request and are not stored.
//
// Rules and modes talk to the model there. Notes take room in the window, so they count when a request is measured.

import { type Message, userText } from "../../message.ts";
import { offersOutput, outputWay } from "../../output/ways.ts";
import type { Rules } from "../../rules/rule.ts";
import type { RunState } from "../state.ts";

/** The notes of rules and modes in this request. */
export function notesOf(state: RunState, rules: Rules): Message[] {
  const { run } = state;
  const notes = run.notes.map(userText);
  const { output } = state.options;
  if (run.output !== undefined && output?.request !== "stored")
    notes.push(userText(rules.texts.finalOutput(run.output.error)));
  if (run.landing !== undefined) notes.push(userText(rules.texts.landing(run.landing.reason)));
  if (output !== undefined && offersOutput(state) && outputWay(state).by === "prompted")
    notes.push(userText(rules.texts.outputSchema(JSON.stringify(output.schema))));
  return notes;
}

/** Estimated tokens of what the request has besides history, system prompt and tools: notes, and the schema of a typed output. */
export function besideOf(state: RunState, rules: Rules): number {
  const { estimator } = rules;
  const { output } = state.options;
  const schema =
    output !== undefined && offersOutput(state) && outputWay(state).by !== "prompted"
      ? estimator.text(JSON.stringify(output.schema))
      : 0;
  return notesOf(state, rules).reduce((sum, note) => sum + estimator.message(note), schema);
}
