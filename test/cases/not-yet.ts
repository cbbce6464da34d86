// Cases that do not pass yet, each with what is missing. A case that starts to pass must leave this list.

export const notYet: { readonly [id: string]: string } = {};

/** Expectations that are true of a run in more than one way, so that the other way does not fail the case. */
export const ambiguous: { readonly [what: string]: string } = {
  "F006 expect.error_kind: null":
    "cut-off arguments are both an error of the call and a plain end at the limit",
  "F184 expect.error_kind: null": "an answer to a cut prompt is both an answer and a matter for a warning",
  "F194 expect.loop_outcome: stop_loop_detected":
    "many calls of one answer that come to the same are a loop, too",
  "F221 expect.loop_outcome: aborted": "the play of a run that would hang for ever is ended so",
  "F223 expect.loop_outcome: final": "the run that nobody else could touch comes to its end as well",
  "W722 expect.loop_outcome: final": "the run of the process that is left comes to its end as well",
  "F229 expect.error_kind: null":
    "cut-off output is both an error of the output and a plain end at the limit",
  "B5222 expect.loop_outcome: final": "a session that loads goes on, and its run comes to an end",
  "R005b expect.tool_calls: none": "of a cut-off answer the whole calls may be told, or none",
  "R007-listed expect.tool_calls: none": "of a cut-off answer the calls may be told as they came, or none",
  "R007-listed expect.error_kind: null":
    "cut-off arguments are both an error of the call and a plain end at the limit",
  "R016 expect.loop_outcome: stop_budget": "how often a paused answer is gone on with is a budget, too",
  "R149-permission expect.error_kind: permission":
    "credentials that may not do this are a matter of credentials",
  "R225-between turns[0].loop_outcome: run_tools_then_continue":
    "a real tool that refuses has run, and has come to nothing",
  "R178-deadline expect.loop_outcome: fail": "an end at a limit whose last call failed is an error, too",
  "R184-ollama-native expect.error_kind: null":
    "an answer to a cut prompt is both an answer and a matter for a warning",
  "R185xb expect.error_kind: null":
    "an answer to more than the window holds is both an answer and a matter for a warning",
  "R185-gemini expect.error_kind: null":
    "an answer to more than the window holds is both an answer and a matter for a warning",
  "R221-anthropic expect.loop_outcome: aborted": "the play of a run that would hang for ever is ended so",
  "W720 expect.error_kind: null":
    "an answer to more than the window holds is both an answer and a matter for a warning",
  "W721 expect.error_kind: null":
    "an answer to more than the window holds is both an answer and a matter for a warning",
  "R192-openai_text_repeat expect.loop_outcome: fail":
    "an end by the rule against repetition is an error, too",
  "R192-openai_text_repeat final_expect.loop_outcome: fail":
    "an end by the rule against repetition is an error, too",
  "R192-bang final_expect.loop_outcome: fail": "an end by the rule against repetition is an error, too",
  "R192-ended expect.loop_outcome: fail": "an end by the rule against repetition is an error, too",
  "R192-ended-thoughts expect.loop_outcome: fail": "an end by the rule against repetition is an error, too",
  "R222-turns expect.loop_outcome: final": "a session that was loaded comes to its end as well",
  "R222-page expect.loop_outcome: final": "a session that was loaded comes to its end as well",
  "R222-longer expect.loop_outcome: final": "a session that was loaded comes to its end as well",
  "R222-second-result expect.loop_outcome: final": "a session that was loaded comes to its end as well",
  "R222-lost-call expect.loop_outcome: final": "a session that was loaded comes to its end as well",
  "R225-several turns[0].loop_outcome: run_tools_then_continue":
    "a real tool that refuses has run, and has come to nothing",
  "R222x expect.loop_outcome: final": "a session that was loaded comes to its end as well",
  "R222-chat expect.loop_outcome: final": "a session that was loaded comes to its end as well",
  "R222-claude expect.loop_outcome: final": "a session that was loaded comes to its end as well",
  "R225xb turns[0].loop_outcome: run_tools_then_continue":
    "a real tool that refuses has run, and has come to nothing",
  "R242xe expect.loop_outcome: run_tools_then_continue": "of running and refusing it is the running",
  "R048 expect.loop_outcome: run_tools_then_continue": "it runs its tools, and goes on with the message",
  "R219-second expect.loop_outcome: run_tools_then_continue":
    "it runs its tools, and goes on with the message",
  "W612 expect.error_kind: null": "a call without a name is both malformed and a call of an answer",
  "R218-steer expect.loop_outcome: run_tools_then_continue":
    "it runs its tools, and goes on with the message",
};
