// The room of the tape: what a run's records hold for playing it again, in the order in which it was asked for.
//
// A journal is its own recording. Requests stand in it by name, and are made again from the records; answers, failures
// and results stand in it whole. A request that is not the next one recorded gets no answer: it fails, with the nearest.

import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import {
  type AgentOptions,
  type CallResult,
  canonical,
  emptyState,
  type JsonObject,
  type LogRecord,
  type ModelRequest,
  messageOf,
  parsedJson,
  RecordJudge,
  type RecordOf,
  RondoError,
  type Rules,
  type RunOptions,
  reduce,
  replay,
  requestChanges,
  requestName,
  resolve,
  type State,
  type ValueChange,
  WaitForAnswer,
} from "@rondo/core";
import { addSpent } from "@rondo/core/driving";
import { scripted } from "../scripted.ts";
import { clipped, commonLength, restFrom, withoutMark } from "../text.ts";

/** Records, or a file that holds them: that of a JSONL journal, or one record a line. */
export type Recording = string | Iterable<LogRecord>;

type Outcome = RecordOf<"model_finished" | "model_failed" | "summary_finished" | "summary_failed">;

/** A model call that was recorded. */
interface RecordedCall {
  /** Index of the model among the run's; absent for a summary. */
  model?: number;
  digest: string;
  request: ModelRequest;
  outcome: Outcome;
}

/** What came of a tool's call. */
interface ToolOutcome {
  seq: number;
  name: string;
  args: JsonObject;
  result: CallResult | WaitForAnswer;
}

/** The records of a recording. @throws RondoError `invalid_request` naming the record, the file, or its line, that cannot be read */
export function recordsOf(recording: Recording): LogRecord[] {
  if (typeof recording !== "string") {
    const records = typeof Object(recording)[Symbol.iterator] === "function" ? [...recording] : undefined;
    const wrong = records?.findIndex((record) => !isRecord(record)) ?? -1;
    if (records !== undefined && wrong < 0) return records;
    throw new RondoError(
      "invalid_request",
      `a recording is a session's records (await journal.read(id)), or the path of a file of them; ${wrong < 0 ? `this is ${inspect(recording, { depth: 0 })}` : `number ${wrong} of these is no record`}`,
    );
  }
  const lines = textOf(recording).split("\n");
  const records = lines.flatMap((line, at): LogRecord[] => {
    if (line.trim() === "") return [];
    let why = "";
    try {
      const value = parsedJson<{ records?: LogRecord[]; rondo?: string } | LogRecord>(line);
      const grouped = "records" in value ? value.records : undefined;
      const found = grouped ?? ("rondo" in value ? [] : [value as LogRecord]);
      if (found.every(isRecord)) return found;
    } catch (thrown) {
      why = ` (${String(thrown)})`;
    }
    throw new RondoError("invalid_request", `${recording}, line ${at + 1}: no record${why}`);
  });
  if (records.length > 0) return records;
  throw new RondoError("invalid_request", `${recording} holds no record`);
}

const isRecord = (one: { type?: unknown } | null | undefined): boolean => typeof one?.type === "string";

/**
 * Does something with each record of a recording.
 * @returns what came of each
 * @throws RondoError `invalid_request` naming the record it cannot be done with
 */
export function withEach<T>(
  records: readonly LogRecord[],
  act: (record: LogRecord, at: number, all: readonly LogRecord[]) => T,
): T[] {
  return records.map((record, at) => {
    try {
      return act(record, at, records);
    } catch (thrown) {
      throw new RondoError(
        "invalid_request",
        `the recording's record ${at} (${record.type}) cannot be read: ${messageOf(thrown)}`,
        { cause: thrown },
      );
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
  if (!text.startsWith("SQLite format 3\0")) return withoutMark(text);
  throw new RondoError(
    "invalid_request",
    `${file} is a SQLite journal: give the records of a run, or a file of them (rondo show RUN --json)`,
  );
}

export class Tape {
  readonly records: readonly LogRecord[];
  readonly calls: readonly RecordedCall[];
  readonly state: State;
  readonly #results: ToolOutcome[] = [];
  /** What was recorded by others than the loop is told when the tape has come to it. */
  heard: (seq: number) => void = () => {};
  #next = 0;
  #at = -1;

  /** @param agent the options of the agent that was recorded: its texts stand in what it asked. Default: without texts of its own */
  constructor(recording: Recording, agent: Partial<AgentOptions> = {}) {
    const given = recordsOf(recording);
    const rules = rulesOf(given, agent);
    let state = emptyState;
    const judge = new RecordJudge();
    this.records = withEach(given, (written, at, all) => {
      const record = judge.judge(written, at, all);
      this.#results.push(...resultIn(record, state));
      state = reduce(state, record, rules);
      return record;
    });
    this.state = state;
    if (this.options === undefined)
      throw new RondoError("invalid_request", "the recording holds no run: there is no run_started in it");
    this.calls = callsIn(this.records, rules);
  }

  /** The options of the first run. */
  get options(): RunOptions | undefined {
    return this.records.find((record) => record.type === "run_started")?.options;
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
   * @throws RondoError `internal`, with what differs from the nearest
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

  /** The recorded result of a call, or a question that its tool asked: each is given once, in the order of the records. */
  result(name: string, args: JsonObject): CallResult | WaitForAnswer {
    const wanted = canonical(args);
    const own = this.#results.filter((one) => one.name === name);
    const found = own.find((one) => canonical(one.args) === wanted);
    if (found === undefined) {
      const others = own
        .map((one) => canonical(one.args))
        .slice(0, 3)
        .join(" or ");
      throw unrecorded(
        `no result is left of ${name} with ${clipped(wanted, 400)}; recorded and not given yet: ${clipped(others, 400) || "none"}`,
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
}

/** The rules of the agent that was recorded. Of its model they know what is recorded: some need its price. */
function rulesOf(records: readonly LogRecord[], agent: Partial<AgentOptions>): Rules {
  const { options } = records.find((record) => record.type === "run_started") ?? {};
  // A record that is damaged is named where it is read.
  const facts = options?.models?.[0]?.facts ?? {};
  return resolve({ ...agent, model: scripted([], { facts }) }).rules;
}

/** The result, or the question, that a record gives to a call of the state before it. */
function resultIn(record: LogRecord, { run }: State): ToolOutcome[] {
  if (record.type !== "tool_waits" && record.type !== "tool_finished") return [];
  const call = run?.turn?.calls.find((one) => one.key === record.call);
  if (call === undefined || call.result !== undefined) return [];
  // A sub-agent that waits for somebody is not at work, and has been.
  if (call.startedAt === undefined && call.child === undefined) return [];
  const { child, name, args } = call;
  if (record.type === "tool_waits")
    return [{ seq: record.seq, name, args, result: new WaitForAnswer(record.question) }];
  if (record.result.code === "reconciled") return [];
  const { spent, ...result } = record.result;
  // A sub-agent that waited for somebody had told a part of what it spent before.
  const whole = child === undefined || spent === undefined ? spent : addSpent(child.spent, spent);
  const paid = whole === undefined ? result : { ...result, spent: whole };
  return [{ seq: record.seq, name, args, result: paid }];
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
      open = { digest, request, ...(type === "model_started" ? { model: record.model } : {}) };
    }
    if (open === undefined || !isOutcome(record)) continue;
    calls.push({ ...open, outcome: record });
    open = undefined;
  }
  return calls;
}

const outcomes = ["model_finished", "model_failed", "summary_finished", "summary_failed"];
const isOutcome = (record: LogRecord): record is Outcome => outcomes.includes(record.type);

/** Never tried again, and never answered by another model: what is not recorded fails. */
const unrecorded = (message: string): RondoError =>
  new RondoError("internal", `cassette: ${message}`, { retryable: false });

/** Both sides of a change, from a little before where they part. */
function changeLines({ what, was, is }: ValueChange): string {
  const [before, after] = [was, is].map((side) => (side === undefined ? "(absent)" : canonical(side)));
  const [one, other] = [before ?? "", after ?? ""];
  const start = Math.max(0, commonLength(one, other) - 40);
  const lead = start === 0 ? "" : "…";
  const cut = (side: string): string => lead + clipped(restFrom(side, start), 200);
  return `  ${what}\n    - ${cut(one)}\n    + ${cut(other)}`;
}
