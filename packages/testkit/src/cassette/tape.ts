// The room of the tape: what a run's records hold for playing it again, in the order in which it was asked for.
//
// A journal is its own recording. Requests stand in it by name, and are made again from the records; answers, failures
// and results stand in it whole. A request that is not the next one recorded gets no answer: it fails, with the nearest.

import { readFileSync } from "node:fs";
import {
  type CallResult,
  canonical,
  type JsonObject,
  type LogRecord,
  type ModelRequest,
  messageOf,
  RondoError,
  type Rules,
  type RunOptions,
  reduceAll,
  replay,
  requestChanges,
  requestName,
  resolve,
  type State,
  type ValueChange,
} from "@rondo/core";
import { scripted } from "../scripted.ts";

/** Records, or a file that holds them: that of a JSONL journal, or one record a line. */
export type Recording = string | Iterable<LogRecord>;

type Outcome = LogRecord & {
  type: "model_finished" | "model_failed" | "summary_finished" | "summary_failed";
};

/** A model call that was recorded. */
export interface RecordedCall {
  seq: number;
  /** Index of the model among the run's; absent for a summary. */
  model?: number;
  digest: string;
  request: ModelRequest;
  outcome: Outcome;
}

interface RecordedResult {
  seq: number;
  name: string;
  args: JsonObject;
  result: CallResult;
}

/** The records of a recording. @throws RondoError `invalid_request` naming the file, or its line, that cannot be read */
export function recordsOf(recording: Recording): LogRecord[] {
  if (typeof recording !== "string") return [...recording];
  const lines = textOf(recording).split("\n");
  return lines.flatMap((line, at): LogRecord[] => {
    if (line.trim() === "") return [];
    try {
      const value = JSON.parse(line) as { records?: LogRecord[]; rondo?: string } | LogRecord;
      if ("records" in value && value.records !== undefined) return value.records;
      return "rondo" in value ? [] : [value as LogRecord];
    } catch (thrown) {
      throw new RondoError("invalid_request", `${recording}, line ${at + 1}: no record (${String(thrown)})`);
    }
  });
}

function textOf(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (thrown) {
    throw new RondoError("invalid_request", `${file}: it cannot be read: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
  if (!text.startsWith("SQLite format 3\0")) return text;
  throw new RondoError(
    "invalid_request",
    `${file} is a SQLite journal: give the records of a run, or a file of them (rondo show RUN --json)`,
  );
}

export class Tape {
  readonly records: readonly LogRecord[];
  readonly calls: readonly RecordedCall[];
  readonly state: State;
  readonly #results: RecordedResult[] = [];
  /** What was recorded by others than the loop is told when the tape has come to it. */
  heard: (seq: number) => void = () => {};
  #next = 0;
  #at = -1;

  /** @param rules those of the agent that was recorded: its texts stand in what it asked. Default: without texts of its own */
  constructor(recording: Recording, rules: Rules = resolve({ model: scripted([]) }).rules) {
    this.records = recordsOf(recording);
    if (this.options === undefined)
      throw new RondoError("invalid_request", "the recording holds no run: there is no run_started in it");
    this.state = reduceAll(this.records, rules);
    this.calls = callsIn(this.records, rules);
    this.#readResults(rules);
  }

  /** The options of the first run. */
  get options(): RunOptions | undefined {
    for (const record of this.records) if (record.type === "run_started") return record.options;
    return undefined;
  }

  /** The last record that was played. -1: none. */
  get at(): number {
    return this.#at;
  }

  /** Whether the next recorded call is one for a summary. */
  get nextIsSummary(): boolean {
    const next = this.calls[this.#next];
    return next !== undefined && next.model === undefined;
  }

  /** How many recorded calls nobody has asked for. */
  get left(): number {
    return this.calls.length - this.#next;
  }

  /**
   * The recorded outcome of a request: that of the next one recorded, which it must be.
   * @throws RondoError `invalid_request`, with what differs from the nearest
   */
  answer(request: ModelRequest, model: number | undefined): Outcome {
    const expected = this.calls[this.#next];
    const digest = requestName(request);
    if (expected === undefined)
      throw unrecorded(`all ${this.calls.length} recorded calls have been answered, and another was made`);
    if (digest !== expected.digest || model !== expected.model) throw this.#differs(request, digest, model);
    this.#next += 1;
    this.play(expected.outcome.seq);
    return expected.outcome;
  }

  /** The recorded result of a call: each is given once, in the order of the records. */
  result(name: string, args: JsonObject): CallResult {
    const wanted = canonical(args);
    const own = this.#results.filter((one) => one.name === name);
    const found = own.find((one) => canonical(one.args) === wanted);
    if (found === undefined) {
      const others = own
        .map((one) => canonical(one.args))
        .slice(0, 3)
        .join(" or ");
      throw unrecorded(
        `no result is left of ${name} with ${clip(wanted)}; recorded and not given yet: ${clip(others) || "none"}`,
      );
    }
    this.#results.splice(this.#results.indexOf(found), 1);
    this.play(found.seq);
    return found.result;
  }

  /** The tape has come to a record. */
  play(seq: number): void {
    this.heard(seq);
    this.#at = Math.max(this.#at, seq);
  }

  #differs(request: ModelRequest, digest: string, model: number | undefined): RondoError {
    const number = this.#next + 1;
    const same = this.calls.findIndex((one) => one.digest === digest && one.model === model);
    if (same >= 0)
      return unrecorded(
        `call ${number} is, byte for byte, recorded call ${same + 1}: another was to come first`,
      );
    const expected = this.calls[this.#next] as RecordedCall;
    if (expected.digest === digest)
      return unrecorded(
        `call ${number} asks model ${model ?? "of the compaction"}; recorded: ${expected.model ?? "of the compaction"}`,
      );
    let nearest = this.#next;
    let changes = requestChanges(expected.request, request);
    this.calls.forEach((one, at) => {
      const other = requestChanges(one.request, request);
      if (other.length < changes.length) [nearest, changes] = [at, other];
    });
    const which = nearest === this.#next ? "what was recorded" : `the nearest recording, call ${nearest + 1}`;
    const said = changes.length === 0 ? "  (texts or rules that were not given to the cassette)" : "";
    return unrecorded(
      `call ${number} differs from ${which}:\n${changes.slice(0, 10).map(changeLines).join("\n")}${said}`,
    );
  }

  #readResults(rules: Rules): void {
    for (const [at, record] of this.records.entries()) {
      if (record.type !== "tool_finished" || record.result.code === "reconciled") continue;
      const before = reduceBefore(this.records, at, rules);
      const call = before.run?.turn?.calls.find((one) => one.key === record.call);
      if (call?.startedAt === undefined || call.result !== undefined) continue;
      const { name, args } = call;
      this.#results.push({ seq: record.seq, name, args, result: record.result });
    }
  }
}

const folded = new WeakMap<readonly LogRecord[], { at: number; state: State }>();

/** The state before a record; asked in order, each record is folded once. */
function reduceBefore(records: readonly LogRecord[], at: number, rules: Rules): State {
  const known = folded.get(records);
  const state =
    known === undefined || known.at > at
      ? reduceAll(records.slice(0, at), rules)
      : reduceAll(records.slice(known.at, at), rules, known.state);
  folded.set(records, { at, state });
  return state;
}

/** The calls that had an outcome: one that a crash cut off was made again, and is recorded again. */
function callsIn(records: readonly LogRecord[], rules: Rules): RecordedCall[] {
  const requests = new Map(replay(records, rules).requests.map((one) => [one.seq, one.request]));
  const calls: RecordedCall[] = [];
  let open: Omit<RecordedCall, "outcome"> | undefined;
  for (const record of records) {
    const { seq, type } = record;
    if (type === "model_started" || type === "summary_started") {
      const request = requests.get(seq) ?? { messages: [], tools: [], toolChoice: "none", settings: {} };
      const { digest } = record;
      open = { seq, digest, request, ...(type === "model_started" ? { model: record.model } : {}) };
    }
    const ends =
      type === "model_finished" ||
      type === "model_failed" ||
      type === "summary_finished" ||
      type === "summary_failed";
    if (!ends || open === undefined) continue;
    calls.push({ ...open, outcome: record });
    open = undefined;
  }
  return calls;
}

/** Never tried again, and never answered by another model: what is not recorded fails. */
const unrecorded = (message: string): RondoError =>
  new RondoError("internal", `cassette: ${message}`, { retryable: false });

const clip = (text: string): string => (text.length <= 400 ? text : `${text.slice(0, 400)}…`);

/** Both sides of a change, from a little before where they part. */
function changeLines({ what, was, is }: ValueChange): string {
  const [before, after] = [was, is].map((side) => (side === undefined ? "(absent)" : canonical(side)));
  const [one, other] = [before ?? "", after ?? ""];
  let from = 0;
  while (from < one.length && one[from] === other[from]) from += 1;
  const start = Math.max(0, from - 40);
  const lead = start === 0 ? "" : "…";
  const cut = (side: string): string =>
    `${lead}${side.slice(start, start + 200)}${side.length > start + 200 ? "…" : ""}`;
  return `  ${what}\n    - ${cut(one)}\n    + ${cut(other)}`;
}
