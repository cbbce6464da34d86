// The room of the watch: turns events, records and exchanges into an observation.

import {
  type AssistantMessage,
  callsOf,
  type LogRecord,
  type Message,
  messageOf,
  type RondoEvent,
  type RunResult,
} from "@rondo/core";
import type { Observation, SeenRun } from "./observation.ts";
import { responseOf, Telling } from "./telling.ts";
import type { Exchange } from "./wire-server.ts";

/** A model call as the model saw it, with its exchanges. */
interface Asked {
  from: number;
  to?: number;
}

export class Watch {
  /** Messages of everything thrown at the caller. */
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
  /** What a reader of events has, step by step, and how often it was told to drop a step. */
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

  /** Whether the current model call has not reached the server yet. */
  waitsForExchange(exchanges: number): boolean {
    const last = this.#asked.at(-1);
    return last !== undefined && last.to === undefined && last.from >= exchanges;
  }

  hear(event: RondoEvent, history: Message[] | undefined): void {
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

  /** A parked run that continues has another result. */
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

  /** What the records say, by exchange and by run. */
  told(
    records: readonly LogRecord[],
    exchanges: readonly Exchange[],
  ): Pick<Observation, "responses" | "runs" | "history" | "shown" | "resets"> {
    const responses = exchanges.map((exchange) => responseOf(exchange, this.#last));
    const telling = new Telling(responses, {
      newRun: (number, startedAt) => this.#newRun(number, startedAt),
      calls: this.#asked.map((asked, call) => ({
        own: responses.slice(asked.from, asked.to ?? responses.length),
        compaction: this.#compacting[call] ?? false,
        toldCalls: this.#told[call] ?? [],
        historyAfter: this.#histories.find((history) => history.call > call)?.history,
      })),
      messages: this.#messages,
      realMs: (key) => this.#toolTimes.get(key)?.ms,
    });
    for (const record of records) telling.take(record);
    const runs = this.#finished(telling.runs);
    return { responses, runs, history: this.#last, shown: [...this.#shown.values()], resets: this.#resets };
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
}
