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
import { type BlobStore, copyBlobs } from "../journal/blobs.ts";
import { checkSessionId } from "../journal/checks.ts";
import { asked, readRecords } from "../journal/failure.ts";
import { RecordReader } from "../journal/migrations.ts";
import type { Journal } from "../journal.ts";
import { jsonCopy } from "../json/copy.ts";
import { type Logger, logEvent } from "../logger.ts";
import type { CallResult, Fact, LogRecord, Origins } from "../loop/records.ts";
import type { JsonObject } from "../message.ts";
import type { Model } from "../model.ts";
import type { AgentOptions } from "../options/agent-options.ts";
import type { Resolved } from "../options/options.ts";
import type { Rules } from "../rules/rule.ts";
import { outputPart } from "../tool/outputs.ts";
import { readable, renderResult } from "../tool/render.ts";
import { checkPoint, cutOf, decidedAnew, type ForkPoint } from "./fork/cut.ts";
import { checkEdit, resultAt, withResult } from "./fork/other-result.ts";

/** Where a fork branches off, and what is changed in it. */
export interface ForkOptions {
  /**
   * The step before which it branches, from 1: everything before it is shared, but not what was decided about the step (by
   * rules, to make room, by an abort). One more than there are steps, if the last one is complete. Default: the end, or with
   * `edit` the step after the call.
   */
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
  const { from, journal, clock, about } = parts;
  checkSessionId(id);
  const edit = options.edit && { call: options.edit.call, result: ownResult(options.edit.result) };
  await refuseTaken(journal, id);
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
  await copyTexts(id, shared, parts);
  try {
    await asked("append", id, () => journal.append(id, 0, [...shared, { ...redact(opened), ...stamp }]));
  } catch (thrown) {
    // The id may have been taken meanwhile.
    await refuseTaken(journal, id);
    throw thrown;
  }
  return resolved;
}

async function refuseTaken(journal: Journal, id: string): Promise<void> {
  if ((await readRecords(journal, id)).length > 0)
    throw invalidRequest(`there is a session ${JSON.stringify(id)} already: give the fork another id`);
}

/** Copies the full texts of the cut results that the fork shares. */
async function copyTexts(
  id: string,
  shared: readonly LogRecord[],
  { blobs, from, logger }: ForkParts,
): Promise<void> {
  if (blobs === undefined) return;
  await copyBlobs(blobs, from, id, shared, (message) => {
    // No run is driven, so there is no event for this: the logger gets it.
    if (logger !== undefined) logEvent(logger, { type: "warning", code: "blob_store", message });
  });
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
    const seq = cutOf(session, records, point, undefined, rules);
    const anew = point.at === undefined ? asItIs : decidedAnew(records, seq);
    return { origin: { session, seq, ...step }, edited: anew };
  }
  const result = resultAt(session, records, edit.call, rules);
  const seq = cutOf(session, records, point, result, rules);
  checkEdit(records, result, seq, edit.call);
  // A cut that is given as a number of records is taken literally, whatever decisions come before it.
  const anew = point.seq === undefined ? decidedAnew(records, seq) : asItIs;
  return {
    origin: { session, seq, ...step, edited: result.key },
    edited: (record, redact) => withResult(anew(record), result, redact, edit.result),
  };
}

const asItIs = (record: LogRecord): LogRecord => record;
