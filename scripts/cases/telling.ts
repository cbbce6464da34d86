// The room of the telling: combines the records with the exchanges and runs they belong to.

import { type AssistantMessage, callsOf, type LogRecord, type Message } from "@rondo/core";
import type { SeenCall, SeenResponse, SeenRun } from "./observation.ts";
import type { Exchange } from "./wire-server.ts";

/** What was observed of a model call or a summary, besides its records. */
export interface HeardCall {
  /** Its exchanges. */
  own: readonly SeenResponse[];
  compaction: boolean;
  toldCalls: string[];
  historyAfter: Message[] | undefined;
}

/** What was observed besides the records. */
export interface Heard {
  newRun(number: number, startedAt: number): SeenRun;
  /** In the order of their records. */
  calls: readonly HeardCall[];
  /** Answers, with their calls' final ids. */
  messages: readonly AssistantMessage[];
  /** How long a call really took, by its key. */
  realMs(key: string): number | undefined;
}

/** An exchange before any record about it. */
export function responseOf({ served, ...exchange }: Exchange, historyAfter: Message[]): SeenResponse {
  return {
    request: { url: exchange.url, headers: exchange.headers, body: exchange.body, text: exchange.text },
    status: served.status,
    madeUp: served.madeUp,
    closedByClient: exchange.closedByClient,
    sentAtOnce: exchange.sentAtOnce === true,
    lastOfCall: true,
    run: 0,
    startedAt: 0,
    checks: [],
    calls: [],
    toldCalls: [],
    historyAfter,
    compaction: false,
    ...(served.turn === undefined ? {} : { turn: served.turn }),
  };
}

export class Telling {
  readonly runs: SeenRun[] = [];
  readonly #responses: readonly SeenResponse[];
  readonly #heard: Heard;
  #call = -1;
  #messages = 0;
  #summarised = false;
  /** The last exchange of the current call. */
  #now: SeenResponse | undefined;

  constructor(responses: readonly SeenResponse[], heard: Heard) {
    this.#responses = responses;
    this.#heard = heard;
  }

  take(record: LogRecord): void {
    const run = this.runs.at(-1);
    switch (record.type) {
      case "run_started":
        this.runs.push(this.#heard.newRun(this.runs.length + 1, record.at));
        return;
      case "summary_started":
      case "model_started":
        this.#begins(record, run);
        return;
      case "model_finished":
      case "summary_finished":
      case "summary_failed":
      case "model_failed":
        if (this.#now !== undefined) this.#settles(record, this.#now);
        return;
      case "turn_judged":
        if (this.#now !== undefined) this.#now.judged = record;
        return;
      case "tool_started":
      case "tool_finished":
        this.#tool(record, run);
        return;
      default:
        if (run !== undefined) this.#ofRun(record, run);
    }
  }

  #begins(
    record: Extract<LogRecord, { type: "summary_started" | "model_started" }>,
    run: SeenRun | undefined,
  ): void {
    this.#summarised ||= record.type === "summary_started";
    if (run?.abortedAt !== undefined)
      run.startedAfterAbort.push(record.type === "model_started" ? `model call ${record.step}` : "summary");
    this.#call += 1;
    const heard = this.#heard.calls[this.#call];
    const own = heard?.own ?? [];
    for (const one of own) {
      one.run = this.runs.length;
      one.startedAt = record.at;
      one.lastOfCall = one === own.at(-1);
      one.compaction = heard?.compaction ?? false;
      one.toldCalls = heard?.toldCalls ?? [];
      if (heard?.historyAfter !== undefined) one.historyAfter = heard.historyAfter;
    }
    this.#now = own.at(-1);
  }

  #settles(
    record: Extract<
      LogRecord,
      { type: "model_finished" | "summary_finished" | "model_failed" | "summary_failed" }
    >,
    now: SeenResponse,
  ): void {
    now.settledAt = record.at;
    const usage = "message" in record ? record.message.usage : record.usage;
    if (usage !== undefined) now.usage = usage;
    if ("error" in record) now.failure = record.error;
    if (record.type === "model_failed" && record.partial !== undefined) now.partial = record.partial;
    if (record.type === "summary_finished") now.message = record.message;
    if (record.type !== "model_finished") return;
    now.message = this.#heard.messages[this.#messages] ?? record.message;
    now.checks = record.checks;
    now.calls = callsSeen(now.message, record);
    this.#messages += 1;
  }

  #ofRun(record: LogRecord, run: SeenRun): void {
    switch (record.type) {
      case "abort_asked":
        run.abortedAt ??= record.at;
        return;
      case "compacted":
        // If there was nothing to summarize, nothing was compacted.
        if (record.edit !== undefined || this.#summarised) run.compactions += 1;
        this.#summarised = false;
        return;
      case "trimmed":
        if (record.stage === "guard") run.cuts += 1;
        return;
      case "run_ended":
        Object.assign(run, { end: record.end, endedAt: record.at, text: record.text ?? "" });
        return;
      default:
    }
  }

  #tool(
    record: Extract<LogRecord, { type: "tool_started" | "tool_finished" }>,
    run: SeenRun | undefined,
  ): void {
    const call = this.#responses.flatMap((one) => one.calls).find((one) => one.key === record.call);
    if (record.type === "tool_started" && run?.abortedAt !== undefined)
      run.startedAfterAbort.push(`tool ${call?.name}`);
    if (call === undefined) return;
    if (record.type === "tool_started") {
      call.started += 1;
      return;
    }
    const { content, isError, code } = record.result;
    const text = content.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n");
    call.result = { text, isError, ...(code === undefined ? {} : { code }) };
    const ms = this.#heard.realMs(call.key);
    if (ms !== undefined) call.realMs = ms;
  }
}

function callsSeen(
  message: AssistantMessage,
  record: Extract<LogRecord, { type: "model_finished" }>,
): SeenCall[] {
  return callsOf(message).map((part, at) => {
    const check = record.checks[at];
    return {
      key: `${record.seq}.${at}`,
      id: part.id,
      name: part.name,
      args: part.argsError !== undefined ? null : check?.ok === true ? check.args : part.args,
      rawArgs: part.rawArgs,
      ok: part.argsError === undefined,
      started: 0,
    };
  });
}
