// The room of driving: drives a session until its run has ended, or waits for somebody who is not here.
//
// All commands that drive a run (run, resume, approve, deny) use it, so that they show it, ask, handle signals
// and end in the same way.

import type { CallView, RondoEvent, RunResult, Session, Tool } from "@rondo/core";
import { trace } from "@rondo/core/presets";
import { type Answer, askAbout } from "../console/ask.ts";
import { type Console, plain } from "../console/console.ts";
import { jsonLine, plainText } from "../console/plain-text.ts";
import type { Signals } from "../console/signals.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "../exit-codes.ts";
import { rondo } from "../line/command-name.ts";
import type { Shown } from "../line/output-options.ts";
import { endLines, endText } from "../render/ending.ts";
import { LiveView } from "../render/live.ts";
import { counted } from "../render/usage.ts";
import { callLine, waitingLines } from "../render/waiting.ts";
import { callName } from "../summary.ts";

/** How long running work may take once the process must exit, in milliseconds. Senders of SIGTERM wait 10 s, seldom more than 30. */
export function drainMs({ env }: Pick<Console, "env">): number {
  const given = env.RONDO_DRAIN_MS?.trim();
  // A variable set to an empty text counts as not set.
  return given && Number(given) >= 0 ? Number(given) : 8_000;
}

export interface DrivenRun {
  session: Session;
  tools: readonly Tool[];
  console: Console;
  signals: Signals;
  show: Shown;
  /** Maximum number of model answers. Undefined: the agent's default. */
  maxSteps: number | undefined;
  /** `--journal FILE` for commands that lead back to this run, empty if not needed; undefined when nothing is kept. */
  journalOption: string | undefined;
}

/** Drives the session, beginning with `start`. Returns the exit code. */
export async function driveRun(how: DrivenRun, start: () => Promise<RunResult>): Promise<ExitCode> {
  const { session, console, signals } = how;
  const view = how.show === "text" ? liveView(how) : undefined;
  session.subscribe(view === undefined ? listenerFor(how) : (event) => view.hear(event));
  const abort = (): void => {
    view?.endLine();
    if (signals.leaving) {
      void session.drain({ withinMs: drainMs(console) });
      return;
    }
    session.abort(console.readerGone ? "whoever read the output has gone" : reasonOf(signals));
  };
  const forgetReader = console.onReaderGone(abort);
  signals.fired.addEventListener("abort", abort, { once: true });
  try {
    if (signals.fired.aborted) return signals.leaving ? exitCodes.left : exitCodes.aborted;
    let result = await start();
    const always = new Set<string>();
    while (result.end === undefined && asksHere(how)) {
      const io = { signal: signals.fired, onInterrupt: signals.interrupt };
      const answers = await askAll(result.parked?.pending ?? [], always, how, io);
      if (answers.size === 0) break;
      result = await answer(session, answers);
    }
    // It may have been aborted during the question: abort drives the run to its end by itself.
    if (signals.fired.aborted && !signals.leaving) {
      await session.settled();
      result = session.result ?? result;
    }
    return conclude(result, how);
  } finally {
    signals.fired.removeEventListener("abort", abort);
    forgetReader();
  }
}

const reasonOf = ({ fired }: Signals): string => `interrupted by ${String(fired.reason)}`;

/** JSON is for programs, and programs are not asked. */
const asksHere = ({ console, show, signals }: DrivenRun): boolean =>
  console.isTerminal && show !== "json" && !signals.fired.aborted && !console.readerGone;

function listenerFor({ show, console, maxSteps = 100 }: DrivenRun): (event: RondoEvent) => void {
  switch (show) {
    case "json":
      return (event) => console.line(jsonLine(event));
    case "trace":
      return trace({
        to: (line) => console.line(line),
        colors: console.paint !== plain,
        maxIterations: maxSteps,
      });
    default:
      return () => {};
  }
}

function liveView(how: DrivenRun): LiveView {
  const { console } = how;
  return new LiveView({
    write: (text) => console.write(text),
    paint: console.paint,
    width: console.width,
    reasoning: console.streams.stdout.isTTY === true,
    approvals: !asksHere(how),
  });
}

/** Asks about each call until nobody answers. */
export async function askAll(
  calls: readonly CallView[],
  always: Set<string>,
  { tools, console }: Pick<DrivenRun, "tools" | "console">,
  io: { signal: AbortSignal; onInterrupt: () => void },
): Promise<Map<CallView, Answer>> {
  const answers = new Map<CallView, Answer>();
  for (const call of calls) {
    const tool = tools.find((one) => one.name === call.name);
    const said: Answer | undefined = always.has(call.name)
      ? { answer: "approve" }
      : await askAbout(call, tool, console, io);
    if (said === undefined) break;
    if (said.answer === "always") always.add(call.name);
    answers.set(call, said);
  }
  // After an abort the answers no longer count.
  if (io.signal.aborted) answers.clear();
  return answers;
}

/** Passes on all answers before the run gets far enough to wait again. */
export async function answer(session: Session, answers: ReadonlyMap<CallView, Answer>): Promise<RunResult> {
  const handed: Promise<RunResult>[] = [];
  for (const [call, said] of answers) {
    const name = callName(call);
    if (said.answer === "deny") handed.push(session.deny(name, said.reason));
    else if (said.answer === "edit") handed.push(session.edit(name, said.args));
    else handed.push(session.approve(name));
  }
  const results = await Promise.all(handed);
  return session.result ?? (results.at(-1) as RunResult);
}

/**
 * Continues a run. What waits since before its tool was permitted (`--yes`, `--allow`) is approved; but whether a call that was
 * cut off runs again is still asked.
 */
export function resumePermitted(
  { session, tools }: Pick<DrivenRun, "session" | "tools">,
  console: Console,
): Promise<RunResult> {
  const permitted = tools.filter(({ permission }) => permission === "allow").map(({ name }) => name);
  const approved = session.pending.filter(
    ({ name, child, interrupted, question }) =>
      permitted.includes(name) && (child ?? interrupted ?? question) === undefined,
  );
  if (approved.length === 0) return session.resume();
  for (const call of approved) console.aside(`approved in advance: ${callLine(call)}`);
  return answer(session, new Map(approved.map((call) => [call, { answer: "approve" }])));
}

/** What is printed about a run that stays open. @param signal the one that stopped it; undefined when a person did */
export function leftLines(
  result: RunResult,
  session: Session,
  journalOption: string | undefined,
  signal?: "SIGTERM" | "SIGHUP",
): string[] {
  const waiting = result.parked?.pending ?? [];
  if (waiting.length > 0) return waitingLines(waiting, session.id, journalOption);
  const by = signal === undefined ? "" : ` (${signal})`;
  return [
    `run ${session.id} was left after ${counted(result.steps, "step")}${by}; go on with: ${rondo} resume ${session.id}${journalOption ?? ""}`,
  ];
}

function conclude(result: RunResult, how: DrivenRun): ExitCode {
  const { console, session, show, journalOption } = how;
  const { end } = result;
  if (console.readerGone) return exitCodes.readerGone;
  if (end === undefined && how.signals.leaving) {
    for (const line of leftLines(result, session, journalOption, "SIGTERM")) console.errorLine(line);
    return exitCodes.left;
  }
  if (end === undefined) {
    for (const line of waitingLines(result.parked?.pending ?? [], session.id, journalOption))
      console.errorLine(line);
    return exitCodes.waiting;
  }
  const { run, now } = session.state;
  // The trace shows only the beginning of the answer.
  if (show === "trace" && result.text !== "") console.line(`\n${plainText(result.text)}\n`);
  if ((show === "text" || show === "trace") && run !== undefined) {
    const kept =
      journalOption === undefined
        ? undefined
        : `run ${session.id}: ${rondo} show ${session.id}${journalOption}`;
    for (const line of endLines(end, run, now - run.startedAt, kept, console.paint)) console.line(line);
  }
  if (show === "quiet") {
    if (result.text !== "") console.line(console.streams.stdout.isTTY ? plainText(result.text) : result.text);
    if (exitCodeOf(end.reason) !== exitCodes.completed) console.errorLine(`rondo: ${endText(end)}`);
  }
  return exitCodeOf(end.reason, end.error);
}
