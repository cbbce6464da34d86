// The room of further members: assertions about what was said, stored and waited for, used by some cases only.

import { isDeepStrictEqual } from "node:util";
import { textOf } from "@rondo/core";
import { pattern, shown } from "./ask.ts";
import { errorWords, textsOf } from "./readings.ts";
import { about, atLeast, atMost, exactly, type Member, wasRetried } from "./subject-facts.ts";

type Told = { readonly [member: string]: Member };

const textList = (value: unknown): string[] => (Array.isArray(value) ? value : [value]).map(String);

/** How often a response of the case led to the same request again. */
const retries: (subject: Parameters<Member>[1]) => number = (subject) =>
  subject.seen.responses.filter((response) => wasRetried({ ...subject, response })).length;

const startedNames = ({ seen }: Parameters<Member>[1]): string[] =>
  seen.responses.flatMap(({ calls }) =>
    calls.flatMap(({ name, started }) => Array<string>(started).fill(name)),
  );

const saysAll =
  (whether: boolean) =>
  (value: unknown, texts: readonly string[], what: string): string | undefined => {
    const wrong = textList(value).filter((word) => texts.some((text) => text.includes(word)) !== whether);
    return wrong.length === 0
      ? undefined
      : `${what} must ${whether ? "" : "not "}contain ${shown(wrong)}; got ${shown(texts)}`;
  };
const holds = saysAll(true);
const lacks = saysAll(false);

const equal = (what: string, got: unknown, wanted: unknown): string | undefined =>
  isDeepStrictEqual(got, wanted) ? undefined : `${what} must be ${shown(wanted)}; got ${shown(got)}`;

export const toldMembers: Told = {
  reasoning: about((value: string | null, { message, partial }) => {
    const parts = (message ?? partial)?.content ?? [];
    const said = parts.map((part) => (part.type === "reasoning" ? part.text : "")).join("");
    return value === null || said === value ? undefined : `must be ${shown(value)}; got ${shown(said)}`;
  }),
  text_contains: about((value, response, { seen }) => holds(value, textsOf(seen, response), "the text")),
  text_not_contains: about((value, response, { seen }) => lacks(value, textsOf(seen, response), "the text")),
  text_matches: about((value: unknown, response, { seen }) =>
    textsOf(seen, response).some((text) => pattern(value).test(text))
      ? undefined
      : `the text must match ${shown(value)}; got ${shown(textsOf(seen, response))}`,
  ),
  finish_missing: about((value, { message }) =>
    equal("whether the finish is missing", message?.stop.detail === "finish_missing", value),
  ),
  stop_detail: about((value, { message }) =>
    value === null ? undefined : holds(value, [message?.stop.detail ?? ""], "the stop's detail"),
  ),
  /** What an answer is marked with: the detail of its stop, and the warnings of the run. */
  flags: about((value, { message }, { run }) =>
    holds(
      value ?? [],
      [message?.stop.detail ?? "", ...(run?.warnings ?? []).map(({ code }) => code)],
      "the marks",
    ),
  ),
  end_reason: (value, { run }) => equal("why it ended", run?.end?.reason, value),
  resumable: (value, { run }) => equal("whether it can be resumed", run?.end?.resumable, value),
  final_text: (value, { run }) => equal("the run's text", run?.text, value),

  error_message_matches: about((value: unknown, response, { seen }) =>
    pattern(value).test(errorWords(seen, response))
      ? undefined
      : `must match ${shown(value)}; got ${shown(errorWords(seen, response))}`,
  ),
  error_status: about((value, { failure }) => equal("the error's status", failure?.status, value)),
  error_retryable: about((value, { failure }) => equal("retryable", failure?.retryable, value)),
  retry_after_ms: about((value, { failure }) => equal("the wait asked for", failure?.retryAfterMs, value)),
  retries: (value, subject) => exactly("retries", retries(subject), value),
  max_retries: (value, subject) => atMost("retries", retries(subject), value),
  min_retries: (value, subject) => atLeast("retries", retries(subject), value),

  warnings(value, { run }) {
    const told = run?.warnings ?? [];
    if (typeof value === "number") return exactly("warnings", told.length, value);
    if (typeof value === "boolean") return equal("whether there is a warning", told.length > 0, value);
    return holds(
      value,
      told.map(({ code, message }) => `${code}: ${message}`),
      "the warnings",
    );
  },
  nudges: (value, { seen }) =>
    exactly(
      "nudges",
      seen.responses.filter(
        ({ judged }) => judged?.follows.do === "ask_again" && judged.follows.note !== undefined,
      ).length,
      value,
    ),

  tools_not_executed(value, subject) {
    const ran = startedNames(subject).filter((name) => textList(value).includes(name));
    return ran.length === 0 ? undefined : `these must not run, and did: ${shown(ran)}`;
  },
  tools_executed_names: (value, subject) =>
    typeof value === "number"
      ? exactly("tools run", startedNames(subject).length, value)
      : equal("the tools that ran", startedNames(subject), value),
  no_tool_executed: (value, subject) =>
    equal("whether no tool ran", startedNames(subject).length === 0, value),
  result_is_error: about((value, { calls }) =>
    calls.length > 0 && calls.every(({ result }) => result?.isError === value)
      ? undefined
      : `whether the results are errors must be ${shown(value)}; got ${shown(calls.map((call) => call.result))}`,
  ),
  ids_unique(value, { seen }) {
    const ids = seen.responses.flatMap(({ calls }) => calls.map((call) => call.id));
    return equal("whether the ids of calls are unique", new Set(ids).size === ids.length, value);
  },
  tool_result_contains: about((value, { calls }) =>
    holds(
      value,
      calls.map((call) => call.result?.text ?? ""),
      "a result",
    ),
  ),
  tool_result_not_contains: about((value, { calls }) =>
    lacks(
      value,
      calls.map((call) => call.result?.text ?? ""),
      "a result",
    ),
  ),

  abort_reason: (value, { run }) => equal("why it was aborted", run?.end?.evidence.reason, value),
  history_length: (value, { seen }) => exactly("messages", seen.history.length, value),
  history_roles: (value, { seen }) =>
    equal(
      "the history's roles",
      seen.history.map(({ role }) => role),
      value,
    ),
  history_last_role: (value, { seen }) => equal("the last role", seen.history.at(-1)?.role, value),
  history_last_user(value, { seen }) {
    const last = seen.history.filter(({ role }) => role === "user").at(-1);
    return equal("the last user's text", last && textOf(last), value);
  },

  files_unchanged(value, { one, seen }) {
    const before = one.given?.fs ?? {};
    const names = Array.isArray(value) ? value.map(String) : Object.keys(before);
    const changed = names.filter((name) => seen.files[name] !== before[name]);
    return changed.length > 0 === (value === false)
      ? undefined
      : `changed: ${shown(changed)}, where ${shown(value)} was to be unchanged`;
  },
  files_absent(value, { seen }) {
    const there = textList(value).filter((name) => seen.files[name] !== undefined);
    return there.length === 0 ? undefined : `these must not be there: ${shown(there)}`;
  },
};

/** Synonyms of members, these and others. */
export const toldNames: readonly (readonly [RegExp, string])[] = [
  [/^(?:displayed|shown|ui|reader|subscriber|consumer|emitted|streamed)_text$/, "visible_text"],
  [/^(?:attempt_)?resets?$/, "attempt_resets"],
  [/^(?:total_)?(?:requests|model_requests|http_requests|model_calls)$/, "model_calls"],
  [/^max_(?:total_)?(?:requests|model_requests|http_requests|model_calls)$/, "max_model_calls"],
  [/^(?:max_tools_executed|max_tool_executions)$/, "tools_executed_max"],
  [/^(?:min_tools_executed|min_tool_executions)$/, "tools_executed_min"],
  [/^tool_executions$/, "tools_executed"],
  [/^(?:thinking|reasoning_text|reasoning_content|thoughts?)$/, "reasoning"],
  [/^(?:run_text|last_text|answer)$/, "final_text"],
  [/^(?:http_)?status$/, "error_status"],
  [/^retryable$/, "error_retryable"],
  [/^(?:error_)?retry_after(?:_ms)?$/, "retry_after_ms"],
  [/^(?:retry_count|total_retries)$/, "retries"],
  [/^(?:warning|warnings?_contains?|has_warnings?|emits_warning)$/, "warnings"],
  [/^nudge_count$/, "nudges"],
  [/^(?:tools_must_not_execute|must_not_execute|not_executed)$/, "tools_not_executed"],
  [/^(?:executed_tools|tools_run|tools_executed_in_order)$/, "tools_executed_names"],
  [/^tool_results?_contains?$/, "tool_result_contains"],
  [/^tool_results?_not_contains?$/, "tool_result_not_contains"],
  [/^(?:aborted|signal)_reason$/, "abort_reason"],
  [/^(?:history_(?:messages|count|len)|(?:stored|persisted)_messages)$/, "history_length"],
  [/^(?:stored|persisted)_assistant_messages$/, "history_assistant_messages"],
  [/^(?:detail|finish_detail|stop_details)$/, "stop_detail"],
  [/^(?:flag|flagged|marks?|marked)$/, "flags"],
  [/^(?:run_ends?(?:_reason)?|end)$/, "end_reason"],
  [/^(?:no_tools?_(?:executed|run)|nothing_executed)$/, "no_tool_executed"],
  [/^(?:tool_)?results?_(?:is|are)_errors?$/, "result_is_error"],
  [/^(?:(?:tool_)?call_)?ids_(?:are_)?unique$/, "ids_unique"],
  [/^(?:error_message|error_contains|error_text)$/, "error_message_contains"],
  [/^(?:finish_reason|raw_finish_reason|native_stop_reason)$/, "raw_stop_reason"],
  [/^(?:request_count|attempts|model_call_count)$/, "model_calls"],
  [/^(?:tool_calls_count|number_of_tool_calls)$/, "tool_calls_length"],
  [/^history_last_user_(?:text|message)$/, "history_last_user"],
  [/^(?:files|fs)_(?:intact|untouched)$/, "files_unchanged"],
  [/^(?:files_not_created|files_missing|no_files)$/, "files_absent"],
];
