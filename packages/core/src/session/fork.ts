// The room of the fork: a new session from the first records of another, under other options if some are given.
//
// The shared records are copied; the original session is not changed. The fork's first own record says where it comes
// from. In the middle of a run, that record takes the run over as another process would: what was in flight counts as
// interrupted. A result may be replaced only if no shared request contains it: otherwise the shared requests would
// differ from those that were sent.

import { model } from "../checks/ready-made.ts";
import {
  checkGiven,
  count,
  data,
  either,
  flag,
  having,
  listOf,
  membersOf,
  needed,
  object,
  text,
  whole,
} from "../checks.ts";
import type { Clock } from "../clock.ts";
import { invalidRequest } from "../errors.ts";
import { noStep } from "../explain/no-step.ts";
import { type BlobStore, copyBlobs } from "../journal/blobs.ts";
import { checkSessionId } from "../journal/checks.ts";
import { asked, readRecords } from "../journal/failure.ts";
import { RecordReader } from "../journal/migrations.ts";
import type { Journal } from "../journal.ts";
import { jsonCopy } from "../json/copy.ts";
import { type Logger, logEvent } from "../logger.ts";
import type { CallKey, CallResult, Fact, LogRecord, Origins } from "../loop/records.ts";
import { reduce } from "../loop/reduce.ts";
import { callIn, emptyState } from "../loop/state.ts";
import type { JsonObject } from "../message.ts";
import type { Model } from "../model.ts";
import type { AgentOptions } from "../options/agent-options.ts";
import type { Resolved } from "../options/options.ts";
import type { Rules } from "../rules/rule.ts";
import { outputPart } from "../tool/outputs.ts";
import { readable, renderResult } from "../tool/render.ts";

/** Where a fork branches off, and what is changed in it. */
export interface ForkOptions {
  /** The step before which it branches, from 1: everything before it is shared, but not the rules' decisions about the step. Default: the end, or with `edit` the step after the call. */
  at?: number;
  /** The run in which `at` counts, from 1; without `at` the fork branches after that run. Default: the last. */
  run?: number;
  /** How many records to share, instead of `at`. */
  seq?: number;
  /** Replaces the result of a call of the last shared step, given by its id or key. A string is a result without error. */
  edit?: { call: string; result: string | CallResult };
  /** Another model. */
  model?: Model;
  /** Another system prompt. */
  system?: string;
  /** Other options of the agent: rules, limits, tools, settings. If given, even as `{}`, the fork continues under the agent's current options with these changes; otherwise under the recorded options. */
  agent?: Partial<Omit<AgentOptions, "model" | "system" | "journal" | "blobs" | "clock">>;
}

/** What a fork is made with. */
export interface ForkParts {
  from: string;
  journal: Journal;
  blobs?: BlobStore | undefined;
  resolved: Resolved;
  resolveWith(change: Partial<AgentOptions>): Resolved;
  about?: JsonObject | undefined;
  logger?: Logger | undefined;
  clock: Clock;
}

/** Refuses unknown members: if `at` were misspelt, the fork would share everything. */
const forkOptions = membersOf<ForkOptions>({
  at: count,
  run: count,
  seq: whole,
  edit: membersOf<NonNullable<ForkOptions["edit"]>>(
    {
      call: text,
      result: either(text, (value) => data(value) ?? result(value)),
    },
    ["call", "result"],
  ),
  model,
  system: text,
  agent: object,
});

const result = having("a text, or a result with its list of parts (content, isError),", {
  content: listOf(needed("a part", (one) => outputPart(one) !== undefined)),
  isError: flag,
});

/** The new result as it will be recorded: a copy, which the caller cannot change later. */
function ownResult(given: string | CallResult): CallResult {
  if (typeof given === "string") return renderResult(given);
  const { content, spent: _notTheirs, ...rest } = jsonCopy(given);
  return { ...rest, content: readable(content.flatMap((one) => outputPart(one) ?? [])) };
}

/** The options of the agent that a fork changes. */
export function changedBy({ agent, model, system }: ForkOptions): Partial<AgentOptions> {
  return {
    ...agent,
    ...(model === undefined ? {} : { model }),
    ...(system === undefined ? {} : { system }),
  };
}

/**
 * Writes the records of a fork. Resolves with the options under which it continues.
 * @throws RondoError `invalid_request` for a point or a call that does not exist, an id that is taken, or an unknown option
 */
export async function forkInto(id: string, options: ForkOptions, parts: ForkParts): Promise<Resolved> {
  checkGiven(forkOptions, options, "fork");
  const { from, journal, blobs, clock, about, logger } = parts;
  checkSessionId(id);
  const edit = options.edit && { call: options.edit.call, result: ownResult(options.edit.result) };
  const refuseTaken = async (): Promise<void> => {
    if ((await readRecords(journal, id)).length > 0)
      throw invalidRequest(`there is a session ${JSON.stringify(id)} already: give the fork another id`);
  };
  await refuseTaken();
  const change = changedBy(options);
  const changes = options.agent !== undefined || Object.keys(change).length > 0;
  const resolved = changes ? parts.resolveWith(change) : parts.resolved;
  const { redact = (fact: Fact): Fact => fact } = resolved;
  const today = await new RecordReader(journal, from).read();
  const { origin, edited } = planFork(from, today, { ...options, edit }, resolved.rules);
  // The records are copied as they were written, each in its own format.
  const written = (await readRecords(journal, from)).slice(0, origin.seq);
  const shared = written.map((record) => edited(record, redact));
  const opened: Fact = {
    type: "opened",
    by: "fork",
    from: origin,
    ...(about === undefined ? {} : { about }),
    ...(changes ? { options: resolved.options } : {}),
  };
  const stamp = {
    seq: shared.length,
    at: Math.max(clock.now(), shared.at(-1)?.at ?? 0),
    rand: clock.random(),
  };
  // No run is driven, so there is no event for this: the logger gets it.
  const warn = (message: string): void => {
    if (logger !== undefined) logEvent(logger, { type: "warning", code: "blob_store", message });
  };
  if (blobs !== undefined) await copyBlobs(blobs, from, id, shared, warn);
  try {
    await asked("append", id, () => journal.append(id, 0, [...shared, { ...redact(opened), ...stamp }]));
  } catch (thrown) {
    // The id may have been taken meanwhile.
    await refuseTaken();
    throw thrown;
  }
  return resolved;
}

/** The result that replaces a call's own. */
interface ResultEdit {
  call: string;
  result: CallResult;
}

interface ForkPlan {
  origin: Origins;
  /** A shared record as the fork has it. */
  edited(record: LogRecord, redact: (fact: Fact) => Fact): LogRecord;
}

type ForkPoint = Pick<ForkOptions, "at" | "run" | "seq">;

/** Which records are shared, and which of them is changed. */
function planFork(
  session: string,
  records: readonly LogRecord[],
  { edit, ...point }: ForkPoint & { edit: ResultEdit | undefined },
  rules: Rules,
): ForkPlan {
  if (records.length === 0) throw invalidRequest(`there is no session ${JSON.stringify(session)} to fork`);
  checkPoint(session, records, point, edit !== undefined);
  const step = point.at === undefined ? {} : { step: point.at };
  if (edit === undefined) {
    const seq = cutOf(session, records, point, undefined);
    return { origin: { session, seq, ...step }, edited: (record) => record };
  }
  const result = resultAt(session, records, edit.call, rules);
  const seq = cutOf(session, records, point, result.seq);
  checkEdit(records, result, seq, edit.call);
  return {
    origin: { session, seq, ...step, edited: result.key },
    edited: (record, redact) => withResult(record, result, redact, edit.result),
  };
}

/** @throws RondoError `invalid_request` for an invalid point, or if two are given */
function checkPoint(
  session: string,
  records: readonly LogRecord[],
  { at, run, seq }: ForkPoint,
  edits: boolean,
): void {
  if (at !== undefined && seq !== undefined)
    throw invalidRequest("a fork is taken at a step or at a record: give `at` or `seq`");
  if (run !== undefined && at === undefined && (seq !== undefined || edits))
    throw invalidRequest(
      "`run` says in which run `at` counts: give `at` as well, or `run` alone for all up to its end",
    );
  if (seq !== undefined && !(Number.isSafeInteger(seq) && seq >= 1 && seq <= records.length))
    throw invalidRequest(
      `session ${session} has ${records.length} records: it cannot be forked after ${seq} of them`,
    );
}

/** How many records are shared. @param edited the record of the result that is replaced */
function cutOf(
  session: string,
  records: readonly LogRecord[],
  { at, run, seq }: ForkPoint,
  edited: number | undefined,
): number {
  if (seq !== undefined) return seq;
  if (at !== undefined) return cutAtStep(session, records, at, run);
  if (run !== undefined) return runOf(session, records, run).end;
  return defaultCut(records, edited);
}

/** A record as it would be if a call had had another result. */
function withResult(
  record: LogRecord,
  { seq, key }: { seq: number; key: CallKey },
  redact: (fact: Fact) => Fact,
  result: CallResult,
): LogRecord {
  if (record.type === "tool_finished" && record.seq === seq) {
    // The replaced result of a sub-agent does not change what it spent.
    const { spent } = record.result;
    const other = { ...result, ...(spent === undefined ? {} : { spent }) };
    return { ...record, ...redact({ type: "tool_finished", call: key, result: other }) };
  }
  if (record.type !== "hook_answered" || record.hook !== "afterTool" || record.call !== key) return record;
  // The afterTool hook's change to the old result is dropped.
  const { result: _void, ...rest } = record;
  return rest;
}

/** The end of the records; with a replaced result, the position before the first request that contains the old one. */
function defaultCut(records: readonly LogRecord[], edited: number | undefined): number {
  if (edited === undefined) return records.length;
  const asked = records.findIndex((record) => record.seq > edited && asks(record));
  return undecided(records, asked < 0 ? records.length : asked);
}

const asks = (record: LogRecord): boolean =>
  record.type === "model_started" || record.type === "summary_started";

/** A run, by default the last, and which records are its own. */
function runOf(
  session: string,
  records: readonly LogRecord[],
  number: number | undefined,
): { run: number; start: number; end: number } {
  const starts = records.filter((record) => record.type === "run_started");
  const run = number ?? starts.length;
  const start = starts[run - 1];
  if (start === undefined)
    throw invalidRequest(
      `session ${session} has no run ${run}: it has ${starts.length === 1 ? "one" : starts.length}`,
    );
  return { run, start: start.seq, end: starts[run]?.seq ?? records.length };
}

/** How many records come before a step and what was decided about it. */
function cutAtStep(
  session: string,
  records: readonly LogRecord[],
  step: number,
  number: number | undefined,
): number {
  const { run, start, end } = runOf(session, records, number);
  const own = records.slice(start, end);
  const asked = own.find((record) => record.type === "model_started" && record.step === step);
  if (asked !== undefined) return undecided(records, asked.seq);
  const steps = own.reduce(
    (most, record) => (record.type === "model_started" ? Math.max(most, record.step) : most),
    0,
  );
  const where = `run ${run} of session ${session}`;
  if (step !== steps + 1) throw invalidRequest(noStep(where, step, steps));
  const judged = own.findLast((record) => record.type === "turn_judged");
  if (judged?.type === "turn_judged" && (judged.follows.do === "finish" || judged.follows.do === "stop"))
    throw invalidRequest(
      `${where} ended with step ${steps}: fork it at ${steps} to have that one again, or without a step to go on after it`,
    );
  return undecided(records, end);
}

/** The decisions about a step are taken again; messages that were delivered for it are still queued then. */
function undecided(records: readonly LogRecord[], before: number): number {
  let cut = before;
  while (cut > 1 && isDecision(records[cut - 1])) cut -= 1;
  return cut;
}

function isDecision(record: LogRecord | undefined): boolean {
  switch (record?.type) {
    case "noted":
    case "mode":
    case "woke":
    case "delivered":
    case "abort_asked":
    case "output_checked":
    case "run_ended":
      return true;
    case "opened":
      // Records after a change of options keep those options.
      return record.options === undefined;
    case "hook_answered":
      return "step" in record || record.hook === "onFinish";
    default:
      return false;
  }
}

/** The record of a call's result. */
function resultAt(
  session: string,
  records: readonly LogRecord[],
  call: string,
  rules: Rules,
): { seq: number; key: CallKey } {
  const keys: string[] = [];
  let state = emptyState;
  let found: { seq: number; key: CallKey } | undefined;
  for (const record of records) {
    if (record.type === "tool_finished") {
      const id = callIn(state.run, record.call)?.id;
      keys.push(record.call);
      if (record.call === call || id === call) found = { seq: record.seq, key: record.call };
    }
    state = reduce(state, record, rules);
  }
  if (found !== undefined) return found;
  const known = keys.length === 0 ? "none has a result" : `those with a result are ${keys.join(", ")}`;
  throw invalidRequest(`no call ${JSON.stringify(call)} with a result in session ${session}: ${known}`);
}

function checkEdit(records: readonly LogRecord[], { seq }: { seq: number }, cut: number, call: string): void {
  if (seq >= cut)
    throw invalidRequest(
      `call ${call} has no result yet where the fork is taken: take it later, or edit another call`,
    );
  const asked = records.slice(seq, cut).find(asks);
  if (asked === undefined) return;
  const step = asked.type === "model_started" ? `step ${asked.step}` : "a summary";
  const where = asked.type === "model_started" ? `fork at step ${asked.step}` : `fork at record ${asked.seq}`;
  throw invalidRequest(
    `the result of call ${call} was read already where the fork is taken, in ${step}: ${where}`,
  );
}
