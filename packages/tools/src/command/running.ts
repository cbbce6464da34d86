// The room of the running command: from starting the shell until everything it started has ended.
//
// Loaded with the first command: node:child_process is slow to load, and most agents start without one.

import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import type { ToolContext, ToolResult } from "@rondo/core";
import { toolResult } from "@rondo/core";
import { meant } from "../paths/given-path.ts";
import type { Root } from "../paths/root.ts";
import { codeOf, Refusal } from "../reasons.ts";
import { clip } from "../text/text-file.ts";
import { afterMs } from "../timer.ts";
import { type Cleared, cleared } from "./git-guard.ts";
import { withheld } from "./inherited-files.ts";
import { type Outcome, told } from "./outcome.ts";
import { OutputWindow } from "./output-window.ts";
import { openPipes, type Pipes } from "./pipes.ts";
import { type CommandOptions, type Plan, planOf } from "./plan.ts";
import { type Ended, endFamily, type Family, familyOf, killFamily } from "./processes.ts";

/** One command, its folder and its time limit. */
export interface CommandCall {
  command: string;
  root: Root;
  /** The folder to run in, as given, under the root. */
  cwd: string;
  timeoutMs: number;
}

/**
 * Runs one command in a folder under the root.
 * @throws Refusal when it cannot be started, the signal's reason when it was aborted
 */
export async function runIn(
  asked: CommandCall,
  options: CommandOptions,
  context: ToolContext,
): Promise<ToolResult> {
  const outcome = await outcomeIn(asked, options, context);
  const stopped = outcome.timedOutMs !== undefined || outcome.signal !== null;
  return toolResult(told(outcome, asked.command), {
    isError: stopped,
    ledger: [{ kind: "command", command: asked.command, exitCode: stopped ? null : outcome.code }],
  });
}

/** Like `runIn`, for tools that word the result differently. */
export async function outcomeIn(
  { command, root, cwd, timeoutMs }: CommandCall,
  options: CommandOptions,
  context: ToolContext,
): Promise<Outcome> {
  const folder = await workFolder(root, cwd);
  const plan = await planOf({ command, root, folder }, options);
  context.signal.throwIfAborted();
  let clear: Cleared = { taken: [], left: [] };
  const outcome = await ran(plan, timeoutMs, options, context).finally(() => {
    if (plan.git !== undefined) clear = cleared(plan.git);
  });
  context.signal.throwIfAborted();
  const names = (paths: readonly string[]): string[] => paths.map((path) => root.name(path));
  return { ...outcome, taken: names(clear.taken), left: names(clear.left) };
}

async function workFolder(root: Root, cwd: string): Promise<string> {
  const place = meant(root, cwd);
  const handle = await root.open(place, "folder");
  await handle.close();
  return place.real;
}

const drainMs = 500;
const progressMs = 250;

async function ran(
  plan: Plan,
  timeoutMs: number,
  options: CommandOptions,
  context: ToolContext,
): Promise<Omit<Outcome, "taken" | "left">> {
  const pipes = await openPipes();
  const started = performance.now();
  const child = begun(plan, pipes, context.signal);
  const output = outputOf(child, pipes ?? child, options.maxOutputBytes ?? 24_576, context);
  const ending = new Ending(child.pid, plan.mark, options.graceMs ?? 500);
  const stop = (): void => void ending.end();
  let timedOutMs: number | undefined;
  const timer = afterMs(timeoutMs, () => {
    timedOutMs = timeoutMs;
    stop();
  });
  context.signal.addEventListener("abort", stop, { once: true });
  try {
    await output.exited;
    clearTimeout(timer);
    const durationMs = performance.now() - started;
    // Processes left over keep the output open, and serve nobody.
    const wasAsked = ending.isAsked;
    const { ended, survivors } = await ending.end();
    // Its last output is still in the pipe: read that, but do not wait for other writers.
    await Promise.race([output.closed, after(drainMs)]);
    return {
      confined: plan.confined,
      stdout: output.stdout.text(),
      stderr: output.stderr.text(),
      code: child.exitCode,
      signal: child.signalCode,
      timedOutMs,
      durationMs,
      leftovers: wasAsked ? [] : ended.filter((one) => one.name !== "bwrap"),
      survivors,
    };
  } catch (thrown) {
    throw child.pid === undefined ? notStarted(thrown) : thrown;
  } finally {
    clearTimeout(timer);
    context.signal.removeEventListener("abort", stop);
    ending.forget();
    output.stop();
    release(child, pipes ?? child);
  }
}

function begun(
  { program, args, cwd, env }: Plan,
  pipes: Pipes | undefined,
  signal: AbortSignal,
): ChildProcess {
  let close = (): void => {};
  try {
    // The abort may have come while the pipes were made.
    signal.throwIfAborted();
    const others = withheld();
    close = others.close;
    const stdio = ["ignore", ...(pipes?.ends ?? (["pipe", "pipe"] as const)), ...others.stdio];
    // A session of its own: no controlling terminal, and a process group separate from ours.
    return spawn(program, args, { cwd, env, stdio: stdio as StdioOptions, detached: true });
  } catch (thrown) {
    pipes?.stdout.destroy();
    pipes?.stderr.destroy();
    throw notStarted(thrown);
  } finally {
    close();
    pipes?.letGo();
  }
}

/** Ends a command's processes, once, no matter how many ask. */
class Ending {
  readonly #family: Family | undefined;
  readonly #graceMs: number;
  #ended: Promise<Ended> | undefined;

  /** @param leader undefined: nothing was started */
  constructor(leader: number | undefined, mark: string, graceMs: number) {
    this.#family = leader === undefined ? undefined : familyOf(leader, mark);
    this.#graceMs = graceMs;
    if (this.#family !== undefined) keep(this.#family);
  }

  /** It has ended. */
  forget(): void {
    if (this.#family === undefined || !running.delete(this.#family)) return;
    if (running.size === 0) process.off("exit", killAll);
  }

  get isAsked(): boolean {
    return this.#ended !== undefined;
  }

  end(): Promise<Ended> {
    if (this.#family === undefined) return Promise.resolve({ ended: [], survivors: [] });
    this.#ended ??= endFamily(this.#family, this.#graceMs);
    // Whoever awaits it gets the error; a timer or an abort does not await it.
    this.#ended.catch(() => {});
    return this.#ended;
  }
}

/** The families of the commands that are running. */
const running = new Set<Family>();

const killAll = (): void => {
  for (const family of running) killFamily(family);
};

/** What a command started must not outlive this process, if that ends before the command does. */
function keep(family: Family): void {
  if (running.size === 0) process.on("exit", killAll);
  running.add(family);
}

interface Output {
  stdout: OutputWindow;
  stderr: OutputWindow;
  /** Rejects when nothing was started. */
  exited: Promise<void>;
  /** No process holds the output open any more. */
  closed: Promise<void>;
  /** Stops reporting progress. */
  stop(): void;
}

/** Where to read a child's output. A child that could not start for lack of file descriptors has no streams, and reports it a moment later. */
interface Streams {
  stdout: Readable | null | undefined;
  stderr: Readable | null | undefined;
}

/** Listens to a child. */
function outputOf(child: ChildProcess, streams: Streams, maxBytes: number, context: ToolContext): Output {
  const { promise: exited, resolve: exit, reject } = Promise.withResolvers<void>();
  child.once("error", reject);
  child.once("exit", () => exit());
  const progress = progressOf(context);
  const closing: Promise<void>[] = [];
  const windowOn = (stream: Readable | null | undefined): OutputWindow => {
    const window = new OutputWindow(maxBytes);
    if (stream === null || stream === undefined) return window;
    const { promise, resolve } = Promise.withResolvers<void>();
    closing.push(promise);
    stream.once("close", resolve);
    // An unreadable stream counts as ended.
    stream.on("error", () => {});
    stream.on("data", (bytes: Buffer) => {
      window.push(bytes);
      progress.see(window);
    });
    return window;
  };
  const [stdout, stderr] = [windowOn(streams.stdout), windowOn(streams.stderr)];
  const closed = Promise.all(closing).then(() => {});
  return { stdout, stderr, exited, closed, stop: progress.stop };
}

function after(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, ms).unref();
  return promise;
}

function notStarted(thrown: unknown): unknown {
  const code = codeOf(thrown);
  return code === undefined ? thrown : new Refusal(`the command could not be started (${code})`);
}

/** Detaches from a child, so that nothing of it keeps this process alive. */
function release(child: ChildProcess, { stdout, stderr }: Streams): void {
  stdout?.destroy();
  stderr?.destroy();
  // Deno has nothing to detach from if nothing was started.
  if (child.pid !== undefined) child.unref();
}

/** Reports the last line of output, at most four times a second. */
function progressOf(context: ToolContext): { see(output: OutputWindow): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let newest: OutputWindow | undefined;
  let told = "";
  const tell = (): void => {
    timer = undefined;
    const line = clip(newest?.lastLine() ?? "", 200);
    if (line === "" || line === told) return;
    told = line;
    context.update(line);
  };
  return {
    see(output) {
      newest = output;
      timer ??= setTimeout(tell, told === "" ? 0 : progressMs);
    },
    stop: () => clearTimeout(timer),
  };
}
