// The room of shrinking: how the history becomes smaller, and how a compaction ends.
//
// The history is only replaced by an edit in a record, so folding the records again gives the same history.

import { parseSummary } from "../../context/compact/parse.ts";
import { applyEdit } from "../../context/edit.ts";
import type { Replacement } from "../../context/stage.ts";
import type { ErrorData } from "../../errors.ts";
import { type AssistantMessage, answerTextOf, hasText, type Message, tokensOf } from "../../message.ts";
import { repeated } from "../../rules/degenerate.ts";
import { Log } from "../log.ts";
import type { Because, LogRecord, RecordOf } from "../records.ts";
import { type Compacting, isForced, type Run, type State, summariserOf, withRun } from "../state.ts";
import { settleCancel } from "./cancelled.ts";
import { spendMore } from "./spend.ts";
import { windowsOf } from "./windows.ts";

/** The state of a compaction that has just been decided on. */
export function newCompaction(because: Because): Compacting {
  return { rule: because.rule, evidence: because.evidence, summaries: [], failures: 0 };
}

/** The state with another history: its tokens are not counted yet, and kept texts can now only be read with the reader tools. */
function rewritten(state: State, run: Run, history: readonly Message[], by: string): State {
  const reduced = run.reduced && { ...run.reduced, helped: true };
  return {
    ...state,
    history: Log.of(history),
    asked: state.asked.filter((one) => history.includes(one)),
    counted: undefined,
    rewritten: state.rewritten.includes(by) ? state.rewritten : [...state.rewritten, by],
    run: { ...run, reduced },
    ...(state.outputs.length === 0 ? {} : { readable: true as const }),
  };
}

/** Results or messages were cut for good. */
export function trim(state: State, run: Run, edits: readonly Replacement[], by: string): State {
  const messages = [...state.history];
  for (const { at, message } of edits) messages[at] = message;
  return rewritten(state, run, messages, by);
}

/** A model was called for the next summary. */
export function startSummary(run: Run, at: number): Partial<Run> {
  const { compacting } = run;
  return compacting === undefined ? {} : { compacting: { ...compacting, call: { startedAt: at } } };
}

/** The call for a summary has returned or failed. An answer that must not replace the history is a failure. */
export function endSummary(
  state: State,
  run: Run,
  record: RecordOf<"summary_finished" | "summary_failed">,
): State {
  const { compacting } = run;
  if (compacting?.call === undefined) return state;
  const hasFailed = record.type === "summary_failed";
  const said = hasFailed ? record : record.message;
  const came = outcomeOf(record, state, compacting);
  const summariser = summariserOf(withRun(state));
  const after: Compacting = {
    ...compacting,
    call: undefined,
    ...("error" in came ? failed(compacting, came, record) : summed(compacting, came.text)),
  };
  const next: Run = {
    ...run,
    modelCalls: run.modelCalls + 1,
    spend: spendMore(state, run, said, summariser),
    compacting: after,
  };
  const windows = hasFailed ? windowsOf(state, record.error, summariser) : {};
  return { ...state, ...windows, lastTokens: tokensOf(said.usage), run: settleCancel(next) };
}

/** The outcome of a call for a summary. `cut`: the answer ended at its output limit. */
type Outcome = { text: string } | { error: ErrorData; cut: boolean };

function outcomeOf(
  record: RecordOf<"summary_finished" | "summary_failed">,
  state: State,
  compacting: Compacting,
): Outcome {
  if (record.type === "summary_failed") return { error: record.error, cut: false };
  const { message } = record;
  const cut = message.stop.kind === "max_tokens";
  const error =
    noSummary(message, state) ??
    (cut ? cutShort(state, compacting) : undefined) ??
    hollow(message, state, compacting);
  return error === undefined ? { text: answerTextOf(message) } : { error, cut };
}

/**
 * A summary that its output limit cut off lacks what is left to do, which comes last: it is asked for once more, with a higher
 * limit, if there is one. What is cut off then is better than none.
 */
function cutShort({ options }: State, { cut = 0, limit }: Compacting): ErrorData | undefined {
  const settings = options?.context?.compaction;
  if (settings?.format !== "structured" || settings.summaryMaxTokens === null) return undefined;
  if (cut > 0 || limit !== undefined) return undefined;
  const message = "the summary was cut off at its output limit";
  return { kind: "structured_output", message, retryable: true };
}

/**
 * A summary in which nothing can be kept, because it is only headings or much too short, is asked for once more. What comes then
 * is taken, and replaces nothing if it is no better.
 */
function hollow(
  message: AssistantMessage,
  { options }: State,
  { failure }: Compacting,
): ErrorData | undefined {
  const settings = options?.context?.compaction;
  if (settings?.format !== "structured" || failure?.kind === "structured_output") return undefined;
  if (parseSummary(answerTextOf(message), settings) !== undefined) return undefined;
  return { kind: "structured_output", message: "the summary had too little in it", retryable: true };
}

const summed = ({ summaries }: Compacting, text: string): Partial<Compacting> => ({
  failures: 0,
  failure: undefined,
  failedAt: undefined,
  cut: undefined,
  summaries: [...summaries, text],
});

const failed = (
  compacting: Compacting,
  { error, cut }: Extract<Outcome, { cut: boolean }>,
  { at, rand }: LogRecord,
): Partial<Compacting> => ({
  cut: (compacting.cut ?? 0) + Number(cut),
  failures: compacting.failures + 1,
  failure: error,
  failedAt: { at, rand },
  ...(error.kind === "context_overflow" ? narrower(compacting) : {}),
  ...(refusesLimit(error) ? { limit: error.maxOutputTokens ?? null, failedAt: undefined } : {}),
});

/** If a part was too long for the summarising model, the plan is made again in smaller parts, without a wait. */
const narrower = ({ narrowed = 0 }: Compacting): Partial<Compacting> => ({
  narrowed: narrowed + 1,
  summaries: [],
  failedAt: undefined,
});

/** Whether a refused request for a summary may be accepted with another output limit, or with none. */
export const refusesLimit = ({ maxOutputTokens, repair }: ErrorData): boolean =>
  maxOutputTokens !== undefined || repair === "settings.maxOutputTokens";

/** Why an answer is not a summary: neither a refusal, an empty text nor one sentence over and over may replace the history. */
function noSummary(message: AssistantMessage, state: State): ErrorData | undefined {
  const { kind } = message.stop;
  if (
    kind === "refusal" ||
    kind === "content_filter" ||
    message.content.some(({ type }) => type === "refusal")
  )
    return { kind: "content_filter", message: "the model refused to sum up", retryable: false };
  const found = repeated(message, state);
  if (found?.part === "text") {
    const said = `the summary repeated ${JSON.stringify(found.unit)} ${found.times} times`;
    return { kind: "loop_detected", message: said, retryable: true };
  }
  if (hasText(message)) return undefined;
  const why = kind === "max_tokens" ? ": its output limit went into reasoning" : "";
  return { kind: "empty_response", message: `the summary had no text in it${why}`, retryable: true };
}

/** The compaction is over: the history is changed by the edit, or stays as it was. */
export function compact(state: State, run: Run, record: RecordOf<"compacted">): State {
  if (run.compacting === undefined) return state;
  const over: Run = { ...run, compacting: undefined };
  const after =
    record.edit === undefined
      ? { ...state, run: over }
      : rewritten(state, over, applyEdit(state.history, record.edit), record.stage);
  const last = state.compacted;
  const inARow = last !== undefined && state.answers - last.answers <= 1 ? last.inARow + 1 : 1;
  const { length } = after.history;
  return {
    ...after,
    compacted: {
      length,
      answers: state.answers,
      helped: record.edit !== undefined,
      forced: isForced(run.compacting),
      inARow,
    },
  };
}
