// The room of the conversation: a session, and a person who chats with it.
//
// One line is one turn. Lines typed while the agent works are delivered before its next model call. Ctrl-C aborts the
// run, twice leaves the chat. Leaving during a run stops it at a safe point.

import { RondoError, type RunResult, type Session, type Tool, textOf } from "@rondo/core";
import type { Console } from "../console/console.ts";
import { failureOf } from "../console/failure.ts";
import { plainText } from "../console/plain-text.ts";
import { oneLine } from "../console/shorten.ts";
import { sameMs } from "../console/signals.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "../exit-codes.ts";
import { rondo } from "../line/command-name.ts";
import { endStyle, endText } from "../render/ending.ts";
import { LiveView } from "../render/live.ts";
import { waitingLines } from "../render/waiting.ts";
import { contextLines } from "../render/window-usage.ts";
import { answer, askAll, drainMs, leftLines, resumePermitted } from "../runs/drive-run.ts";
import { chatCommands, readSaid, type Said } from "./chat-commands.ts";
import { Lines } from "./lines.ts";

/** A session with the agent that drives it. */
export interface Talked {
  session: Session;
  tools: readonly Tool[];
  model: string;
}

export interface ChatParts {
  talked: Talked;
  console: Console;
  /** The same session with another model. */
  withModel(name: string): Promise<Talked>;
  /** See `DrivenRun`. */
  journalOption: string | undefined;
}

export class Conversation {
  readonly #parts: ChatParts;
  readonly #console: Console;
  readonly #lines: Lines;
  readonly #view: LiveView;
  readonly #always = new Set<string>();
  #talked: Talked;
  #stopListening: () => void;
  #working = false;
  /** Ctrl-C was pressed, and nothing was typed since. */
  #interrupted = false;
  #leaving: ExitCode | undefined;
  /** What came of the last turn. */
  #lastCode: ExitCode = exitCodes.completed;
  #leftBy: "SIGTERM" | "SIGHUP" | undefined;
  #question: AbortController | undefined;
  #signalAt = Number.NEGATIVE_INFINITY;

  constructor(parts: ChatParts) {
    const { console } = parts;
    this.#parts = parts;
    this.#console = console;
    this.#talked = parts.talked;
    this.#lines = new Lines(console, {
      working: (line) => this.#whileWorking(readSaid(line)),
      interrupt: (typed) => {
        if (!typed) this.#interrupt();
      },
    });
    this.#view = new LiveView({
      write: (text) => this.#lines.write(text),
      paint: console.paint,
      width: console.width,
      reasoning: console.streams.stdout.isTTY === true,
      approvals: !console.isTerminal,
    });
    this.#stopListening = this.#listen();
  }

  /** Chats until the person leaves. @param first a message to send at once */
  async hold(first: string | undefined): Promise<ExitCode> {
    const { signals, dispose } = this.#hearSignals();
    const forget = this.#console.onReaderGone(() => this.#leave(exitCodes.readerGone));
    try {
      if (this.#session.status !== "idle")
        await this.#turn(() => resumePermitted(this.#talked, this.#console));
      if (first !== undefined && this.#leaving === undefined)
        await this.#turn(() => this.#session.send(first));
      while (this.#leaving === undefined && !signals.aborted) {
        const line = await this.#lines.next();
        if (line === undefined) break;
        await this.#idle(readSaid(line));
      }
      return this.#goodbye();
    } finally {
      this.#lines.close();
      this.#stopListening();
      forget();
      dispose();
    }
  }

  get #session(): Session {
    return this.#talked.session;
  }

  #listen(): () => void {
    return this.#session.subscribe((event) => this.#view.hear(event));
  }

  /** Handles a line that comes while the agent is idle. */
  async #idle(said: Said): Promise<void> {
    this.#interrupted = false;
    switch (said.do) {
      case "nothing":
        return;
      case "say":
      case "later":
        return this.#turn(() => this.#session.send(said.text));
      case "compact":
        return this.#session.result === undefined
          ? this.#tell("there is nothing to compact yet")
          : this.#turn(() => this.#session.compact());
      case "clear":
        if (this.#session.result === undefined) return this.#tell("there is nothing to clear yet");
        await this.#turn(async () => {
          await this.#session.clear();
          return this.#session.resume();
        });
        return this.#tell("the next message begins a new conversation");
      case "abort":
        return this.#tell("nothing is being done");
      case "model":
        return this.#model(said.name);
      default:
        return this.#anytime(said);
    }
  }

  #whileWorking(said: Said): void {
    this.#interrupted = false;
    switch (said.do) {
      case "say":
        this.#session.steer(said.text);
        return;
      case "later":
        this.#session.followUp(said.text);
        this.#tell("kept for later");
        return;
      case "compact":
        void this.#session.compact().catch(() => {});
        this.#tell("the history is summed up before the next answer");
        return;
      case "clear":
        this.#tell("it can be forgotten when this answer is finished, or after /abort");
        return;
      case "abort":
        this.#session.abort("asked by /abort");
        return;
      case "model":
        if (said.name === undefined) void this.#model(undefined);
        else this.#tell("another model can be taken when this answer is finished, or after /abort");
        return;
      case "nothing":
        return;
      default:
        this.#anytime(said);
    }
  }

  #anytime(said: Said & { do: "help" | "context" | "quit" | "wrong" }): void {
    switch (said.do) {
      case "help":
        for (const [name, words, does] of chatCommands)
          this.#tell(`  ${`${name} ${words}`.trim().padEnd(14)}  ${does}`);
        this.#tell(
          "  Anything else is said to the model, also while it works. Ctrl-C ends what it is doing, twice leaves.",
        );
        return;
      case "context":
        if (this.#session.result === undefined) this.#tell("nothing was said yet");
        else for (const line of contextLines(this.#session.context())) this.#tell(line);
        return;
      case "quit":
        this.#leave(exitCodes.completed);
        return;
      case "wrong":
        this.#tell(said.why, "yellow");
    }
  }

  async #model(name: string | undefined): Promise<void> {
    if (name === undefined) return this.#tell(`model: ${plainText(this.#talked.model)}`);
    try {
      const talked = await this.#parts.withModel(name);
      this.#stopListening();
      this.#talked = talked;
      this.#stopListening = this.#listen();
      this.#tell(`model: ${plainText(talked.model)}`);
    } catch (thrown) {
      this.#tell(failureOf(thrown, this.#console.env).line, "yellow");
    }
  }

  /** One turn: the run that `start` begins, with every approval it needs. */
  async #turn(start: () => Promise<RunResult>): Promise<void> {
    this.#working = true;
    this.#lines.idle = false;
    try {
      let result = await start();
      while (result.end === undefined && this.#leaving === undefined) {
        const pending = result.parked?.pending ?? [];
        if (pending.length === 0 || !this.#console.isTerminal) {
          this.#leave(exitCodes.waiting);
          break;
        }
        const answered = await this.#ask(result);
        if (answered === undefined) break;
        result = answered;
      }
      await this.#session.settled();
      result = this.#session.result ?? result;
      this.#tellEnd(result);
      const { end } = result;
      this.#lastCode = end === undefined ? exitCodes.waiting : exitCodeOf(end.reason, end.error);
    } catch (thrown) {
      this.#view.endLine();
      const { line } = failureOf(thrown, this.#console.env);
      if (this.#console.isTerminal) this.#tell(line, "red");
      else this.#console.errorLine(line);
      this.#lastCode = exitCodes.error;
      // Another process has written to the session, so the state here is out of date.
      if (thrown instanceof RondoError && thrown.kind === "conflict") this.#leave(exitCodes.error);
    } finally {
      this.#working = false;
      this.#lines.idle = true;
    }
  }

  /** Asks about the waiting calls. Undefined when nobody answers any more. */
  async #ask(result: RunResult): Promise<RunResult | undefined> {
    const question = new AbortController();
    this.#question = question;
    this.#lines.pause();
    const io = { signal: question.signal, onInterrupt: () => this.#interrupt() };
    const how = { tools: this.#talked.tools, console: this.#console };
    try {
      const answers = await askAll(result.parked?.pending ?? [], this.#always, how, io);
      if (answers.size > 0) {
        this.#lines.open();
        return await answer(this.#session, answers);
      }
      if (!question.signal.aborted) this.#leave(exitCodes.waiting);
      await this.#session.settled();
      return undefined;
    } finally {
      this.#question = undefined;
      if (this.#leaving === undefined) this.#lines.open();
    }
  }

  #tellEnd({ end }: RunResult): void {
    if (end === undefined || exitCodeOf(end.reason) === exitCodes.completed) return;
    this.#tell(this.#console.paint(endStyle(end), endText(end)));
    for (const { message } of this.#session.queued)
      this.#tell(`not read yet, and goes with your next message: ${oneLine(textOf(message), 300)}`);
  }

  /** First Ctrl-C: aborts the run. Second: leaves the chat. */
  #interrupt(): void {
    if (this.#interrupted) {
      this.#leave(exitCodes.aborted);
      return;
    }
    this.#interrupted = true;
    if (!this.#working) {
      this.#tell("Ctrl-C again to leave");
      return;
    }
    this.#view.endLine();
    this.#session.abort("interrupted by Ctrl-C");
    this.#question?.abort();
  }

  /** Leaves the chat in any state. A run is stopped at a safe point, unless it is being aborted. */
  #leave(code: ExitCode): void {
    this.#leaving ??= code;
    const { journalOption } = this.#parts;
    if (this.#working && code !== exitCodes.aborted && code !== exitCodes.waiting) {
      if (journalOption === undefined) this.#session.abort("the chat was left");
      else void this.#session.drain({ withinMs: drainMs(this.#console) });
    }
    this.#question?.abort();
    this.#lines.close();
  }

  /** A person saw how each turn ended. Without a terminal the exit code tells it of the last one. */
  get #leavingCode(): ExitCode {
    const code = this.#leaving ?? exitCodes.completed;
    return code === exitCodes.completed && !this.#console.isTerminal ? this.#lastCode : code;
  }

  #goodbye(): ExitCode {
    const { journalOption } = this.#parts;
    const { id, pending, status, result } = this.#session;
    const code = this.#leavingCode;
    if (pending.length > 0 && code !== exitCodes.error)
      for (const line of waitingLines(pending, id, journalOption)) this.#console.errorLine(line);
    else if (status === "interrupted" && code !== exitCodes.error && result !== undefined)
      for (const line of leftLines(result, this.#session, journalOption, this.#leftBy))
        this.#console.errorLine(line);
    else if (journalOption !== undefined && result !== undefined)
      this.#console.aside(`run ${id}: go on with ${rondo} chat --resume ${id}${journalOption}`);
    if (pending.length > 0 && code === exitCodes.completed) return exitCodes.waiting;
    // A session that is not kept cannot be resumed.
    return code === exitCodes.left && journalOption === undefined ? exitCodes.aborted : code;
  }

  #hearSignals(): { signals: AbortSignal; dispose: () => void } {
    const controller = new AbortController();
    const interrupt = (): void => {
      if (performance.now() - this.#signalAt < sameMs) return;
      this.#signalAt = performance.now();
      if (this.#leaving !== undefined) process.exit(exitCodes.aborted);
      this.#interrupt();
    };
    const end = (name: "SIGTERM" | "SIGHUP"): void => {
      if (this.#leaving !== undefined) return;
      this.#leftBy = name;
      this.#leave(exitCodes.left);
      controller.abort();
    };
    process.on("SIGINT", interrupt);
    process.on("SIGTERM", end);
    process.on("SIGHUP", end);
    const dispose = (): void => {
      process.off("SIGINT", interrupt);
      process.off("SIGTERM", end);
      process.off("SIGHUP", end);
    };
    return { signals: controller.signal, dispose };
  }

  #tell(text: string, style: "dim" | "yellow" | "red" = "dim"): void {
    this.#lines.write(`${this.#console.paint(style, text)}\n`);
  }
}
