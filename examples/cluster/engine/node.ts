// The room of one node: a server process with its folder and ports, which it keeps across restarts.

import type { ChildProcess } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { end, gone, isRunning, signalGroup, startProcess } from "./started.ts";

export interface NodePlan {
  name: string;
  /** The folder of the cluster: configuration, data and log of each node. */
  folder: string;
  /** The server's binary. */
  binary: string;
  /** Its configuration (TOML). */
  config: string;
  ports: { fabric: number; admin: number; ingress: number };
}

/** Thrown when a server does not come up, with the end of its output. */
export class NotUp extends Error {
  override name = "NotUp";
  /** Another process took one of its ports first. */
  readonly portTaken: boolean;

  constructor(words: string, log: string) {
    super(`${words}${log === "" ? "" : `\n${log.split("\n").slice(-30).join("\n")}`}`);
    this.portTaken = /address (already )?in use/i.test(log);
  }
}

export class ServerNode {
  readonly name: string;
  /** For clients. */
  readonly ingress: string;
  /** For registering deployments. */
  readonly admin: string;
  /** For communication between nodes, and for metrics. */
  readonly fabric: string;
  readonly logFile: string;
  readonly #plan: NodePlan;
  #child: ChildProcess | undefined;

  constructor(plan: NodePlan) {
    const at = (port: number): string => `http://127.0.0.1:${port}`;
    this.#plan = plan;
    this.name = plan.name;
    this.ingress = at(plan.ports.ingress);
    this.admin = at(plan.ports.admin);
    this.fabric = at(plan.ports.fabric);
    this.logFile = join(plan.folder, `${plan.name}.log`);
  }

  get alive(): boolean {
    return this.#child !== undefined && isRunning(this.#child);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts the process. It is not yet up when this returns: see `up`. */
  start(): void {
    if (this.alive) return;
    const { folder, binary, config } = this.#plan;
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${this.name}.toml`);
    writeFileSync(file, config);
    const log = openSync(this.logFile, "a");
    this.#child = startProcess(binary, ["--config-file", file, "--no-logo"], {
      // It must be the word `true`: the server does not accept 1.
      env: { ...withoutRestate(process.env), RESTATE_DISABLE_TELEMETRY: "true" },
      stdio: ["ignore", log, log],
    });
    // If it does not start at all, `up` fails.
    this.#child.on("error", () => {});
    closeSync(log);
  }

  /** Resolves when it answers. @throws NotUp */
  async up(deadline: number): Promise<void> {
    const wanted = [`${this.admin}/health`, `${this.ingress}/restate/health`];
    await until(
      async () => (await Promise.all(wanted.map(answers))).every(Boolean),
      deadline,
      () => this.notUp("is not up"),
      () => (this.alive ? undefined : this.notUp("ended by itself")),
    );
  }

  /** SIGKILL; resolves when it is gone. Whatever was not durable is lost. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.alive) return;
    signalGroup(child, "SIGKILL");
    await gone(child);
  }

  async stop(): Promise<void> {
    if (this.#child !== undefined) await end(this.#child, 5_000);
  }

  /** Suspends it (SIGSTOP), or resumes it: to others it is neither dead nor alive. */
  freeze(): void {
    if (this.#child !== undefined) signalGroup(this.#child, "SIGSTOP");
  }

  thaw(): void {
    if (this.#child !== undefined) signalGroup(this.#child, "SIGCONT");
  }

  log(): string {
    return existsSync(this.logFile) ? readFileSync(this.logFile, "utf8") : "";
  }

  notUp(words: string): NotUp {
    return new NotUp(`the server ${this.name} ${words}`, this.log());
  }
}

/** Removes variables that configure the person's own Restate. */
const withoutRestate = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("RESTATE_")));

async function answers(address: string): Promise<boolean> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** Repeats a check until it holds, or until the deadline (in `performance.now()` time). */
export async function until(
  holds: () => Promise<boolean>,
  deadline: number,
  late: () => Error,
  hopeless: () => Error | undefined = () => undefined,
): Promise<void> {
  while (!(await holds())) {
    const reason = hopeless() ?? (performance.now() > deadline ? late() : undefined);
    if (reason !== undefined) throw reason;
    await pause(25);
  }
}
