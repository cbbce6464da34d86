// The room of the watch: from events, records and exchanges to an observation.

import {
  type AssistantMessage,
  callsOf,
  type LogRecord,
  type Message,
  messageOf,
  type RondoEvent,
  type RunResult,
} from "@rondo/core";
import type { Observation, SeenCall, SeenResponse, SeenRun } from "./observation.ts";
import type { Exchange } from "./wire-server.ts";

/** A model call as the model saw it: which exchanges were its own. */
interface Asked {
  from: number;
  to?: number;
}

export class Watch {
  /** Everything thrown at the caller, in words. */
  readonly errors: string[] = [];
  readonly #asked: Asked[] = [];
  /** The history when the n-th model call began, and when runs settled. */
  readonly #histories: { call: number; history: Message[] }[] = [];
  readonly #messages: AssistantMessage[] = [];
  readonly #told: string[][] = [];
  readonly #results: RunResult[] = [];
  readonly #rejected: string[] = [];
  readonly #toolTimes = new Map<string, { from: number; ms?: number }>();
  readonly #terminal = new Map<number, number>();
  readonly #warnings = new Map<number, SeenRun["warnings"]>();
  readonly #compacting: boolean[] = [];
  /** What a reader has before it, step by step, and how often it was told to forget a step. */
  readonly #shown = new Map<number, string>();
  #resets = 0;
  #isCompacting = false;
  #run = 0;
  #last: Message[] = [];

  callStarts(exchange: number): void {
    this.#asked.push({ from: exchange });
    this.#told.push([]);
    this.#compacting.push(this.#isCompacting);
  }

  callEnds(exchange: number): void {
    for (const asked of this.#asked) asked.to ??= exchange;
  }

  /** Whether the present model call has not reached the server yet. */
  waitsForExchange(exchanges: number): boolean {
    const last = this.#asked.at(-1);
    return last !== undefined && last.to === undefined && last.from >= exchanges;
  }

  hear(event: RondoEvent, history: Message[] | undefined, _now: number): void {
    switch (event.type) {
      case "run_start":
        this.#run = event.run;
        this.#shown.clear();
        return;
      case "text_delta":
        this.#shown.set(event.step, (this.#shown.get(event.step) ?? "") + event.text);
        return;
      case "retry":
      case "fallback":
        if (!event.discard) return;
        this.#shown.delete(event.step);
        this.#resets += 1;
        return;
      case "request":
        if (history !== undefined) this.#histories.push({ call: this.#asked.length, history });
        return;
      case "message":
        this.#messages.push(event.message);
        for (const call of callsOf(event.message)) this.#told.at(-1)?.push(call.id);
        return;
      case "tool_args_delta":
        this.#told.at(-1)?.push(event.id);
        return;
      case "tool_start":
        this.#told.at(-1)?.push(event.call.id);
        if (!this.#toolTimes.has(event.call.key))
          this.#toolTimes.set(event.call.key, { from: performance.now() });
        return;
      case "tool_end": {
        const time = this.#toolTimes.get(event.call.key);
        if (time !== undefined) time.ms = performance.now() - time.from;
        return;
      }
      case "warning":
        this.#warnings.set(this.#run, [
          ...(this.#warnings.get(this.#run) ?? []),
          { code: event.code, message: event.message },
        ]);
        return;
      case "compaction_start":
        this.#isCompacting = true;
        return;
      case "compaction_end":
        this.#isCompacting = false;
        return;
      case "run_end":
        this.#terminal.set(this.#run, (this.#terminal.get(this.#run) ?? 0) + 1);
        return;
      default:
        return;
    }
  }

  /** A run that was parked, and goes on, comes to another result. */
  settled(result: RunResult): void {
    if (this.#results.at(-1)?.parked !== undefined) this.#results.pop();
    this.#results.push(result);
  }

  rejected(thrown: unknown): void {
    this.#rejected.push(messageOf(thrown));
    this.errors.push(
      thrown instanceof Error ? `${thrown.message}\n${thrown.stack ?? ""}` : messageOf(thrown),
    );
  }

  rests(history: Message[]): void {
    this.#histories.push({ call: this.#asked.length, history });
    this.#last = history;
  }

  over(history: Message[]): void {
    this.#last = history;
  }

  /** What the records say, exchange by exchange and run by run. */
  told(
    records: readonly LogRecord[],
    exchanges: readonly Exchange[],
  ): Pick<Observation, "responses" | "runs" | "history" | "shown" | "resets"> {
    const responses: SeenResponse[] = exchanges.map((exchange) => ({
      request: { url: exchange.url, headers: exchange.headers, body: exchange.body, text: exchange.text },
      status: exchange.served.status,
      madeUp: exchange.served.madeUp,
      closedByClient: exchange.closedByClient,
      lastOfCall: true,
      run: 0,
      startedAt: 0,
      checks: [],
      calls: [],
      toldCalls: [],
      historyAfter: this.#last,
      compaction: false,
      ...(exchange.served.turn === undefined ? {} : { turn: exchange.served.turn }),
    }));
    const runs: SeenRun[] = [];
    let call = -1;
    let messages = 0;
    let summarised = false;
    let now: SeenResponse | undefined;
    for (const record of records) {
      const run = runs.at(-1);
      switch (record.type) {
        case "run_started":
          runs.push(this.#newRun(runs.length + 1, record.at));
          break;
        case "summary_started":
        case "model_started": {
          summarised ||= record.type === "summary_started";
          if (run?.abortedAt !== undefined)
            run.startedAfterAbort.push(
              record.type === "model_started" ? `model call ${record.step}` : "summary",
            );
          call += 1;
          const own = this.#exchangesOf(call, responses);
          for (const one of own) {
            Object.assign(one, { run: runs.length, startedAt: record.at, lastOfCall: one === own.at(-1) });
            one.compaction = this.#compacting[call] ?? false;
            one.toldCalls = this.#told[call] ?? [];
            const later = this.#histories.find((history) => history.call > call);
            if (later !== undefined) one.historyAfter = later.history;
          }
          now = own.at(-1);
          break;
        }
        case "model_finished": {
          if (now === undefined) break;
          now.settledAt = record.at;
          now.message = this.#messages[messages] ?? record.message;
          now.checks = record.checks;
          if (record.message.usage !== undefined) now.usage = record.message.usage;
          now.calls = callsSeen(now.message, record);
          messages += 1;
          break;
        }
        case "summary_finished": {
          if (now === undefined) break;
          now.settledAt = record.at;
          now.message = record.message;
          if (record.message.usage !== undefined) now.usage = record.message.usage;
          break;
        }
        case "summary_failed":
        case "model_failed":
          if (now === undefined) break;
          now.settledAt = record.at;
          now.failure = record.error;
          if (record.type === "model_failed" && record.partial !== undefined) now.partial = record.partial;
          if (record.usage !== undefined) now.usage = record.usage;
          break;
        case "turn_judged":
          if (now !== undefined) now.judged = record;
          break;
        case "tool_started":
        case "tool_finished":
          this.#tool(record, responses, run);
          break;
        case "abort_asked":
          if (run !== undefined) run.abortedAt ??= record.at;
          break;
        case "compacted":
          // One that found nothing to sum up has compacted nothing.
          if (run !== undefined && (record.edit !== undefined || summarised)) run.compactions += 1;
          summarised = false;
          break;
        case "trimmed":
          if (run !== undefined && record.stage === "guard") run.cuts += 1;
          break;
        case "run_ended":
          if (run !== undefined)
            Object.assign(run, { end: record.end, endedAt: record.at, text: record.text ?? "" });
          break;
        default:
          break;
      }
    }
    const shown = [...this.#shown.values()];
    return { responses, runs: this.#finished(runs), history: this.#last, shown, resets: this.#resets };
  }

  #newRun(number: number, startedAt: number): SeenRun {
    return {
      number,
      startedAt,
      text: "",
      parked: false,
      startedAfterAbort: [],
      terminalEvents: this.#terminal.get(number) ?? 0,
      compactions: 0,
      cuts: 0,
      warnings: this.#warnings.get(number) ?? [],
      history: [],
    };
  }

  #finished(runs: SeenRun[]): SeenRun[] {
    runs.forEach((run, at) => {
      const result = this.#results[at];
      const rejected = this.#rejected[at];
      if (rejected !== undefined && result === undefined) run.rejected = rejected;
      if (result === undefined) return;
      run.text = result.text;
      run.history = result.messages;
      run.parked = result.parked !== undefined;
      if (result.output !== undefined) run.output = result.output;
    });
    return runs;
  }

  #exchangesOf(call: number, responses: readonly SeenResponse[]): SeenResponse[] {
    const asked = this.#asked[call];
    return asked === undefined ? [] : responses.slice(asked.from, asked.to ?? responses.length);
  }

  #tool(
    record: Extract<LogRecord, { type: "tool_started" | "tool_finished" }>,
    responses: readonly SeenResponse[],
    run: SeenRun | undefined,
  ): void {
    const call = responses.flatMap((one) => one.calls).find((one) => one.key === record.call);
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
    const ms = this.#toolTimes.get(call.key)?.ms;
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
