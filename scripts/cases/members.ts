// The room of members: what an expectation may assert, one entry each.

import { isDeepStrictEqual } from "node:util";
import { textOf } from "@rondo/core";
import { pattern, shown } from "./ask.ts";
import { endKind, endOf, givenTexts, type Subject } from "./followed.ts";
import {
  type Assertion,
  type Data,
  demandKnown,
  type ExpectedCall,
  type RetryLimits,
  Unsupported,
} from "./format.ts";
import type { SeenResponse } from "./observation.ts";
import { judgeOutcome, mayEnd } from "./outcomes.ts";
import { callsListed, errorWords, rawStop, readingsOf, strangers, textsOf } from "./readings.ts";
import {
  about,
  atLeast,
  atMost,
  compactions,
  endedUnasked,
  exactly,
  executed,
  keptPairs,
  lastAssistant,
  type Member,
  matchesCall,
  measureOf,
  modelCalls,
  none,
  pairInvariants,
  requestChecks,
  retryLimits,
  settledIn,
  structuredFailed,
  wasRetried,
} from "./subject-facts.ts";
import { toldMembers, toldNames } from "./told-members.ts";

const members: { readonly [member: string]: Member } = {
  ...toldMembers,

  loop_outcome: (value, subject) => (value === null ? undefined : judgeOutcome(String(value), subject)),

  stop_reason: (value, subject) => {
    if (value === null) return undefined;
    if (subject.response === undefined) return value === endedUnasked(subject) ? undefined : none;
    const readings = readingsOf(subject.seen, subject.response);
    return readings.some((reading) => reading.stop === value)
      ? undefined
      : `must be ${shown(value)}; got ${shown(readings)} (${shown(subject.response.message?.stop ?? subject.response.failure)})`;
  },

  error_kind: (value, subject) => {
    const { response, seen, expect, run, whole } = subject;
    if (response === undefined && endedUnasked(subject) !== "error") return value === null ? undefined : none;
    if (whole || response === undefined)
      return endKind(run) === value ? undefined : `must be ${shown(value)}; ${endOf(run)}`;
    const fits = (stop: string): boolean =>
      typeof expect.stop_reason !== "string" || expect.stop_reason === stop;
    const readings = readingsOf(seen, response).filter((reading) => fits(reading.stop));
    if (expect.error_kind === "structured_output" && structuredFailed(subject)) return undefined;
    return readings.some((reading) => reading.error === value)
      ? undefined
      : `must be ${shown(value)}; got ${shown(readingsOf(seen, response))}: ${errorWords(seen, response).slice(0, 300)}`;
  },

  text: (value, subject) => {
    if (value === null) return undefined;
    if (subject.response === undefined)
      return value === "" && endedUnasked(subject) !== undefined ? undefined : none;
    const texts = textsOf(subject.seen, subject.response);
    return texts.includes(String(value)) ? undefined : `must be ${shown(value)}; got ${shown(texts)}`;
  },

  tool_calls: (value, subject) => {
    if (value === null) return undefined;
    const expected = value as ExpectedCall[];
    if (subject.response === undefined) return expected.length === 0 ? undefined : none;
    const lists = callsListed(subject.response);
    const ids = subject.seen.responses.flatMap((one) => one.calls.map((call) => call.id));
    if (new Set(ids).size !== ids.length) return `ids of calls repeat: ${shown(ids)}`;
    const fits = lists.some(
      (calls) =>
        calls.length === expected.length && expected.every((one, at) => matchesCall(one, calls[at]!)),
    );
    return fits
      ? undefined
      : `must be ${shown(expected)}; got ${shown(lists[0]?.map(({ id, name, args }) => ({ id, name, arguments: args })))}`;
  },

  retry(value, subject) {
    if (value === null) return undefined;
    if (subject.response === undefined) return value === false ? undefined : none;
    if (value === false) return wasRetried(subject) ? "it must not be tried again, and was" : undefined;
    if (value === true)
      return wasRetried(subject) ? undefined : `it must be tried again; ${endOf(subject.run)}`;
    return retryLimits(value as RetryLimits, subject);
  },

  this_request_must: about((assertions: Assertion[], response, { seen }) =>
    requestChecks(assertions, response, seen.responses[seen.responses.indexOf(response) - 1]),
  ),

  next_request_must(value, subject) {
    const assertions = value as Assertion[];
    if (assertions.length === 0) return undefined;
    const { seen, response, expect } = subject;
    if (response === undefined) return none;
    // What a stored session is followed by is the first request there is.
    const isLoaded = expect === subject.one.expect && subject.one.wire?.session_file_text !== undefined;
    const next = seen.responses[isLoaded ? 0 : seen.responses.indexOf(response) + 1];
    if (next !== undefined) return requestChecks(assertions, next, response);
    return typeof expect.loop_outcome === "string" && mayEnd(expect.loop_outcome)
      ? undefined
      : `there was no next request; ${endOf(subject.run)}`;
  },

  raw_stop_reason: about((value: string, response) =>
    (rawStop(response) ?? null) === value
      ? undefined
      : `must be ${shown(value)}; got ${shown(rawStop(response))}`,
  ),

  usage: about((value: Record<string, number | null>, response) => {
    const names: { [name: string]: keyof NonNullable<SeenResponse["usage"]> } = {
      input_tokens: "inputTokens",
      output_tokens: "outputTokens",
      cached_input_tokens: "cachedInputTokens",
      cache_read_tokens: "cachedInputTokens",
      cached_tokens: "cachedInputTokens",
      cache_read_input_tokens: "cachedInputTokens",
      cache_write_tokens: "cacheWriteTokens",
      cache_creation_input_tokens: "cacheWriteTokens",
      reasoning_tokens: "reasoningTokens",
      prompt_tokens: "inputTokens",
      completion_tokens: "outputTokens",
      cached_prompt_tokens: "cachedInputTokens",
      cache_write_input_tokens: "cacheWriteTokens",
    };
    const wrong = Object.entries(value ?? {}).filter(([name, count]) => {
      const own = names[name];
      if (own === undefined) throw new Unsupported(`unknown member usage.${name}`);
      return (response.usage?.[own] ?? null) !== count;
    });
    if (value === null)
      return response.usage === undefined ? undefined : `must be unknown; got ${shown(response.usage)}`;
    return wrong.length === 0 ? undefined : `must be ${shown(value)}; got ${shown(response.usage)}`;
  }),

  model_calls: (value, subject) => exactly("model calls", modelCalls(subject), value),
  max_model_calls: (value, subject) => atMost("model calls", modelCalls(subject), value),
  tools_executed: (value, subject) =>
    Array.isArray(value)
      ? toldMembers.tools_executed_names?.(value, subject)
      : exactly("tools run", executed(subject), value),
  min_model_calls: (value, subject) => atLeast("model calls", modelCalls(subject), value),
  tools_executed_min: (value, subject) => atLeast("tools run", executed(subject), value),
  tools_executed_max: (value, subject) => atMost("tools run", executed(subject), value),
  tool_calls_length: about((value: number, response) => exactly("calls", response.calls.length, value)),
  compactions: (value, subject) => exactly("compactions", compactions(subject), value),
  max_compactions: (value, subject) => atMost("compactions", compactions(subject), value),

  max_nudges: (value, { seen }) =>
    atMost(
      "nudges",
      seen.responses.filter(
        (one) => one.judged?.follows.do === "ask_again" && one.judged.follows.note !== undefined,
      ).length,
      value,
    ),
  persisted_nudges: (value, { one, seen }) =>
    exactly("nudges kept", strangers(seen, givenTexts(one)).length, value),

  error_message_contains: about((value: string, response, { seen }) =>
    errorWords(seen, response).includes(value)
      ? undefined
      : `must contain ${shown(value)}; got ${shown(errorWords(seen, response))}`,
  ),
  error_message_not_contains: about((value: string, response, { seen }) =>
    errorWords(seen, response).includes(value)
      ? `must not contain ${shown(value)}; got ${shown(errorWords(seen, response))}`
      : undefined,
  ),

  refusal: about((value: string | Record<string, string>, response, { seen }) => {
    const said = [response.message?.stop.detail ?? "", ...textsOf(seen, response)].join("\n");
    const words = typeof value === "string" ? [value] : Object.values(value ?? {});
    const wrong = words.filter((word) => !said.includes(word));
    return wrong.length === 0 ? undefined : `must say ${shown(wrong)}; got ${shown(said)}`;
  }),

  terminal_events: (value, { run }) => exactly("terminal events", run?.terminalEvents ?? 0, value),
  must_not_emit_tool_call_id: about((value: string, response) =>
    response.toldCalls.includes(value) ? `the call ${shown(value)} was told to watchers` : undefined,
  ),

  settles_within_ms: (value, subject) => {
    const ms = settledIn(subject);
    if (ms === undefined) return `it did not settle; ${endOf(subject.run)}`;
    return ms <= Number(value)
      ? undefined
      : `must settle within ${shown(value)} ms of waiting; it took ${ms}`;
  },
  tool_settles_within_ms: about((value: number, response) => {
    const slow = response.calls.filter((call) => call.realMs === undefined || call.realMs > value);
    return slow.length === 0 && response.calls.length > 0
      ? undefined
      : `tools must settle within ${value} ms; got ${shown(slow)}`;
  }),
  connection_closed: about((value: boolean, response) =>
    response.closedByClient === value || (value && response.sentAtOnce)
      ? undefined
      : `the connection was ${response.closedByClient ? "" : "not "}closed by the client`,
  ),

  history_invariant: (value, { seen, run }) => {
    if (!pairInvariants.has(value)) throw new Unsupported(`unknown history_invariant ${shown(value)}`);
    return keptPairs(run?.history ?? []) ?? keptPairs(seen.history);
  },
  history_last_assistant: (value, subject) => {
    const last = lastAssistant(subject.response?.historyAfter ?? subject.seen.history);
    return isDeepStrictEqual(last, value) ? undefined : `must be ${shown(value)}; got ${shown(last)}`;
  },
  history_assistant_messages: about((value: number, response) =>
    exactly(
      "assistant messages",
      response.historyAfter.filter((message) => message.role === "assistant").length,
      value,
    ),
  ),
  history_contains: (value, { seen }) =>
    JSON.stringify(seen.history).includes(String(value))
      ? undefined
      : `must contain ${shown(value)}; got ${shown(seen.history)}`,
  history_not_contains: (value, { seen }) =>
    JSON.stringify(seen.history).includes(String(value))
      ? `must not contain ${shown(value)}; got ${shown(seen.history)}`
      : undefined,
  history_interleaved(value, { seen }) {
    const texts = seen.history.filter((message) => message.role === "user").map(textOf);
    const second = seen.second.map((one) => one.text).filter((text) => texts.includes(text));
    const roles = seen.history.map((message) => message.role);
    const twice = roles.some((role, at) => role === "user" && roles[at + 1] === "user");
    const interleaved = second.length > 0 && twice;
    return interleaved === value
      ? undefined
      : `history_interleaved is ${interleaved}: ${shown(seen.history)}`;
  },
  after_abort(value, { run }) {
    const history = run?.history ?? [];
    const { history_invariant, result_is_error, ...rest } = value as Record<string, unknown>;
    if (Object.keys(rest).length > 0)
      throw new Unsupported(`unknown member after_abort.${Object.keys(rest)[0]}`);
    if (run?.end?.reason !== "aborted") return endOf(run);
    const wrong =
      history_invariant === undefined
        ? undefined
        : members.history_invariant?.(history_invariant, { run, seen: { history } } as Subject);
    if (wrong !== undefined || result_is_error === undefined) return wrong;
    const results = history.filter((message) => message.role === "tool");
    const last = results.at(-1);
    return last !== undefined && last.isError === result_is_error
      ? undefined
      : `the last result must ${result_is_error === true ? "" : "not "}be an error; got ${shown(last)}`;
  },

  role: about((value: string, response) => {
    if (value !== "compaction_summary") throw new Unsupported(`unknown role ${shown(value)}`);
    return response.compaction ? undefined : "no compaction asked for it";
  }),

  structured(value, { run }) {
    const output = run?.output ?? null;
    return isDeepStrictEqual(output, value)
      ? undefined
      : `must be ${shown(value)}; got ${shown(output)}; ${endOf(run)}`;
  },

  process(value, { seen }) {
    const { process } = seen;
    if (process === undefined) return "the process was not measured";
    const wrong = Object.entries(value as Record<string, unknown>).filter(([name, wanted]) => {
      const own = measureOf(name);
      if (own === undefined) throw new Unsupported(`unknown member process.${name}`);
      return !isDeepStrictEqual(process[own], wanted);
    });
    return wrong.length === 0
      ? undefined
      : `must be ${shown(Object.fromEntries(wrong))}; got ${shown(process)}`;
  },
  max_cpu_ms: (value, { seen }) =>
    seen.process === undefined
      ? "CPU time was not measured"
      : atMost("ms of CPU", Math.round(seen.process.cpuMs), value),
  max_heap_growth_mb: (value, { seen }) =>
    seen.process === undefined
      ? "memory was not measured"
      : atMost("MB", Math.round(seen.process.heapGrowthMb), value),

  sinks_must_not_contain: (value, { seen }) => {
    const found = seen.sinks.filter((sink) => sink.includes(String(value)));
    return found.length === 0 ? undefined : `it stands in ${shown(found[0])}`;
  },

  files_after(value, { seen }) {
    const wrong = Object.entries(
      value as Record<string, { contains?: string[]; lines?: number; eq?: string }>,
    ).flatMap(([name, wants]) => {
      const { contains = [], lines, eq, ...rest } = wants;
      if (Object.keys(rest).length > 0)
        throw new Unsupported(`unknown member files_after.${Object.keys(rest)[0]}`);
      const text = seen.files[name];
      if (text === undefined) return [`${name} is not there`];
      const count = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
      return [
        ...contains.filter((one) => !text.includes(one)).map((one) => `${name} lacks ${shown(one)}`),
        ...(lines === undefined || lines === count ? [] : [`${name} has ${count} lines, not ${lines}`]),
        ...(eq === undefined || eq === text ? [] : [`${name} is ${shown(text)}`]),
      ];
    });
    return wrong.length === 0 ? undefined : wrong.join("; ");
  },

  visible_text: (value, { seen: { shown: texts = [] } }) =>
    value === null || value === texts.join("") || value === (texts.at(-1) ?? "")
      ? undefined
      : `must be ${shown(value)}; a reader has ${shown(texts)}`,
  attempt_resets: (value, { seen: { resets = 0 } }) =>
    exactly("resets", typeof value === "boolean" ? Math.min(resets, 1) : resets, Number(value)),

  tool_results: about((value: Data[], response) => {
    const got = response.calls.map((call) => ({ id: call.id, name: call.name, ...call.result }));
    const fits = (wanted: Data, at: number): boolean => {
      demandKnown("tool_results[]", wanted, "id name is_error text contains matches note");
      const own = got[at];
      const text = own?.text ?? "";
      return (
        own?.text !== undefined &&
        (wanted.id === undefined || wanted.id === "*" || wanted.id === own.id) &&
        (wanted.name === undefined || wanted.name === own.name) &&
        (wanted.is_error === undefined || wanted.is_error === own.isError) &&
        (wanted.text === undefined || wanted.text === text) &&
        (wanted.contains === undefined || text.includes(String(wanted.contains))) &&
        (wanted.matches === undefined || pattern(wanted.matches).test(text))
      );
    };
    return value.length === got.length && value.every(fits)
      ? undefined
      : `must be ${shown(value)}; got ${shown(got)}`;
  }),

  prototype_polluted: (value, { seen }) =>
    seen.polluted === value ? undefined : `must be ${shown(value)}; it is ${shown(seen.polluted)}`,

  max_agents: (value, { seen }) => atMost("agents", seen.agents ?? 0, value),
  stale_lock_recovered: (value, { seen }) =>
    seen.opener?.recovered === value ? undefined : `must be ${shown(value)}; got ${shown(seen.opener)}`,
};

/** Synonyms for whether Object.prototype is unchanged. */
const untouched =
  /^(?:(?:object|global)_?)?prototype_?(?:un(?:changed|touched|polluted)|intact|clean|safe)$|^no_(?:prototype_)?pollution$/i;
const touched = /^(?:(?:object|global)_?)?(?:prototype_?)?(?:polluted|pollution|changed|touched)$/i;

/** What of the process is asserted among the run's members: `orphans`, `process_group_killed`, `no_unhandled_rejections`. */
function leftBehind(name: string): "childProcesses" | "unhandledRejections" | undefined {
  const isGroup = /^process_(?:group|tree)_(?:alive|killed|empty|gone|dead)$/.test(name);
  const own = isGroup ? "childProcesses" : measureOf(name.replace(/^no_/, ""));
  return own === "childProcesses" || own === "unhandledRejections" ? own : undefined;
}

/** Whether a member can be measured only in a process of its own. */
export const isMeasured = (name: string): boolean =>
  ["process", "max_cpu_ms", "max_heap_growth_mb"].includes(name) || leftBehind(name) !== undefined;

export function memberNamed(given: string): Member | undefined {
  if (Object.hasOwn(members, given)) return members[given];
  const name = toldNames.find(([names]) => names.test(given))?.[1] ?? given;
  if (name !== given) return members[name];
  if (touched.test(name)) return members.prototype_polluted;
  const left = leftBehind(name);
  if (left !== undefined)
    return (value, subject) => members.process?.({ [left]: typeof value === "number" ? value : 0 }, subject);
  return untouched.test(name)
    ? (value, subject) => members.prototype_polluted?.(value === false, subject)
    : undefined;
}
