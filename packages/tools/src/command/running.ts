// The room of the running command: from the shell's start to the last of what it started.
//
// Loaded with the first command: Node's own process module is slow to load, and most agents start without one.

import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { delimiter, dirname } from "node:path";
import type { Readable } from "node:stream";
import type { ToolContext, ToolResult } from "@rondo/core";
import { toolResult } from "@rondo/core";
import { meant } from "../paths/given-path.ts";
import type { Root } from "../paths/root.ts";
import { codeOf, counted, Refusal, shown } from "../reasons.ts";
import { clip } from "../text/text-file.ts";
import { afterMs } from "../timer.ts";
import { commandEnv } from "./env.ts";
import { type Cleared, cleared, type GitGuard, gitGuard } from "./git-guard.ts";
import { withheld } from "./left-open.ts";
import type { RunCommandOptions } from "./options.ts";
import { OutputWindow } from "./output-window.ts";
import { openPipes, type Pipes } from "./pipes.ts";
import { type Ended, endFamily, type Family, familyOf, type ProcessEntry } from "./processes.ts";
import { findSandbox, probe, type Sandbox, sandboxArgs, sandboxHome } from "./sandbox.ts";

/** One command, and where and how long it may run. */
export interface CommandCall {
  command: string;
  root: Root;
  /** The folder to run in, as it was given, under the root. */
  cwd: string;
  timeoutMs: number;
}

type CommandOptions = Omit<RunCommandOptions, "root">;

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
  return toolResult(told(outcome), {
    isError: stopped,
    ledger: [{ kind: "command", command: asked.command, exitCode: stopped ? null : outcome.code }],
  });
}

/** As `runIn`, for those who tell of it in other words. */
export async function outcomeIn(
  { command, root, cwd, timeoutMs }: CommandCall,
  options: CommandOptions,
  context: ToolContext,
): Promise<Outcome> {
  const folder = await workFolder(root, cwd);
  const plan = await planned(options, root, folder, command);
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

interface Plan {
  program: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  mark: string;
  /** How it is confined, for the result. */
  confined: string;
  git?: GitGuard | undefined;
}

async function planned(options: CommandOptions, root: Root, cwd: string, command: string): Promise<Plan> {
  const mode = options.sandbox ?? "auto";
  const network = options.network ?? false;
  const shell = ["/bin/sh", "-c", command];
  const mark = randomUUID();
  const sandbox: Sandbox =
    mode === "off"
      ? { missing: "switched off" }
      : root.real === "/"
        ? { missing: "the root is the whole file system" }
        : await sandboxFor(options);
  if ("missing" in sandbox) {
    if (mode === "require")
      throw new Refusal(
        `the command was not run: a sandbox is required and there is none (${sandbox.missing})`,
      );
    return {
      program: shell[0]!,
      args: shell.slice(1),
      cwd,
      env: commandEnv(process.env, mark, options.env ?? {}),
      mark,
      confined: `not sandboxed: ${sandbox.missing}`,
    };
  }
  const git = (options.protectGit ?? true) ? gitGuard(root.real) : undefined;
  const settings = { root: root.real, network, readable: options.readable ?? [], git };
  const env = commandEnv(process.env, mark, { HOME: sandboxHome(root.real), TMPDIR: "/tmp", ...options.env });
  const node = dirname(process.execPath);
  if (!(env.PATH ?? "").split(delimiter).includes(node))
    env.PATH = `${env.PATH ?? "/usr/bin:/bin"}${delimiter}${node}`;
  return {
    program: sandbox.program,
    args: sandboxArgs(sandbox, settings, cwd, shell),
    cwd,
    env,
    mark,
    confined: `sandboxed by bubblewrap, ${network ? "with" : "without"} network`,
    git,
  };
}

/** A PATH among the options decides where bubblewrap is looked for. */
function sandboxFor(options: CommandOptions): Promise<Sandbox> {
  const path = options.env?.PATH;
  return path === undefined ? findSandbox() : probe(path);
}

export interface Outcome {
  /** How it was confined. */
  confined: string;
  stdout: string;
  stderr: string;
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The limit, when it was reached. */
  timedOutMs: number | undefined;
  durationMs: number;
  /** Processes the command left running; they were ended. */
  leftovers: ProcessEntry[];
  survivors: ProcessEntry[];
  /** What it put where git takes programs to run, relative to the root; it was taken away. */
  taken: string[];
  /** What of it could not be taken away. */
  left: string[];
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
  const family = new Ending(child.pid, plan.mark, options.graceMs ?? 500);
  const stop = (): void => void family.end();
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
    // Who is left holds the output open, and has nobody to answer to.
    const wasAsked = family.isAsked;
    const { ended, survivors } = await family.end();
    // What it wrote is in the pipe: read it, but wait for nobody.
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
    // It may have come while the pipes were made.
    signal.throwIfAborted();
    const others = withheld();
    close = others.close;
    const stdio = ["ignore", ...(pipes?.ends ?? (["pipe", "pipe"] as const)), ...others.stdio];
    // A session of its own: no controlling terminal, and a group that is not ours.
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

/** Ends what a command started, once, whoever asks for it. */
class Ending {
  readonly #family: Family | undefined;
  readonly #graceMs: number;
  #ended: Promise<Ended> | undefined;

  /** @param leader undefined: nothing was started */
  constructor(leader: number | undefined, mark: string, graceMs: number) {
    this.#family = leader === undefined ? undefined : familyOf(leader, mark);
    this.#graceMs = graceMs;
  }

  get isAsked(): boolean {
    return this.#ended !== undefined;
  }

  end(): Promise<Ended> {
    if (this.#family === undefined) return Promise.resolve({ ended: [], survivors: [] });
    this.#ended ??= endFamily(this.#family, this.#graceMs);
    // Whoever waits for it hears what went wrong; a clock and a signal do not wait.
    this.#ended.catch(() => {});
    return this.#ended;
  }
}

interface Output {
  stdout: OutputWindow;
  stderr: OutputWindow;
  /** Rejects where nothing was started. */
  exited: Promise<void>;
  /** Nobody holds the output any more. */
  closed: Promise<void>;
  /** Tells no more progress. */
  stop(): void;
}

/** Where a child's output is read. One that could not be started for want of files has no streams, and says so a moment later. */
interface Streams {
  stdout: Readable | null | undefined;
  stderr: Readable | null | undefined;
}

/** Hears a child. */
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
    // What cannot be read any more is at its end.
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

/** Lets go of a child: nothing of it keeps this process alive. */
function release(child: ChildProcess, { stdout, stderr }: Streams): void {
  stdout?.destroy();
  stderr?.destroy();
  child.unref();
}

/** Tells the last line of the output, at most four times a second. */
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

function told(outcome: Outcome): string {
  const { stdout, stderr } = outcome;
  const pieces: string[] = [];
  if (stdout.trim() !== "") pieces.push(`[stdout]\n${stdout.replace(/\n$/, "")}`);
  if (stderr.trim() !== "") pieces.push(`[stderr]\n${stderr.replace(/\n$/, "")}`);
  if (pieces.length === 0) pieces.push("[no output]");
  const seconds = `${(outcome.durationMs / 1000).toFixed(outcome.durationMs < 10_000 ? 2 : 0)} s`;
  const how =
    outcome.timedOutMs !== undefined
      ? `timed out after ${outcome.timedOutMs / 1000} s, and everything it started was ended`
      : outcome.signal !== null
        ? `ended by ${outcome.signal} after ${seconds}`
        : `exit code: ${outcome.code}; ${seconds}`;
  pieces.push(`[${how}; ${outcome.confined}]`);
  if (outcome.leftovers.length > 0)
    pieces.push(
      `[it had left ${counted(outcome.leftovers.length, "process", "processes")} running, now ended: ${named(outcome.leftovers)}]`,
    );
  if (outcome.taken.length > 0)
    pieces.push(
      `[taken away, because git would act on it outside of the sandbox: ${outcome.taken.map(shown).join(", ")}]`,
    );
  if (outcome.left.length > 0)
    pieces.push(
      `[could not be taken away, though git would act on it outside of the sandbox: ${outcome.left.map(shown).join(", ")}]`,
    );
  if (outcome.survivors.length > 0) pieces.push(`[could not be ended: ${named(outcome.survivors)}]`);
  return pieces.join("\n");
}

function named(processes: readonly ProcessEntry[]): string {
  const first = processes.slice(0, 10).map((one) => `${shown(one.name)} (${one.pid})`);
  const rest = processes.length - first.length;
  return first.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
