// The room of other processes: real ones that use a case's session at the same time, and are killed.
//
// A session's lock can only be tested by another process: within one process the lock's holder is always known.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { LogRecord, Message } from "@rondo/core";
import { type JsonlJournal, jsonlJournal, type SqliteJournal, sqliteJournal } from "@rondo/journal";
import { withPackages } from "../built.ts";
import { type Case, type CaseAction, Unsupported } from "./format.ts";
import type { SeenOpener } from "./observation.ts";

const program = fileURLToPath(new URL("./other-process-main.ts", import.meta.url));

/** The orders of such a process. */
export interface OtherOrders {
  /** `drive` starts a run that does not end by itself; `open` comes second, and reports what happened. */
  role: "drive" | "open";
  kind: "sqlite" | "jsonl";
  place: string;
  session: string;
  input: string | Message[];
}

/** Whether a case's actions need other processes. */
export const needsOthers = (actions: readonly CaseAction[] = []): boolean =>
  actions.some(({ do: what }) => what === "open_in_second_process");

/** The prompt of the case's first process: the first line of its session's file. */
export function firstPrompt({ wire }: Case): string {
  const [line = ""] = (wire?.session_file_text ?? "").split("\n");
  const told = line === "" ? undefined : (JSON.parse(line) as { type?: unknown; text?: unknown });
  if (told?.type !== "user" || typeof told.text !== "string")
    throw new Unsupported("wire.session_file_text must begin with what a user said");
  return told.text;
}

export class OtherProcesses {
  readonly journal: SqliteJournal | JsonlJournal;
  opener: SeenOpener | undefined;
  readonly #folder = mkdtempSync(join(tmpdir(), "rondo-others-"));
  readonly #orders: Omit<OtherOrders, "role">;
  #first: ChildProcess | undefined;

  constructor(kind: OtherOrders["kind"], session: string, input: string | Message[]) {
    const place = join(this.#folder, kind === "sqlite" ? "journal.db" : "journal");
    this.journal = kind === "sqlite" ? sqliteJournal(place) : jsonlJournal(place, { warn: () => {} });
    this.#orders = { kind, place, session, input };
  }

  /** One process drives a run of the session and is killed; then a torn tail is appended to the session's file. */
  async leave(torn: string): Promise<void> {
    this.#first = this.#start("drive");
    await lineOf(this.#first);
    await this.kill();
    const { place, session } = this.#orders;
    appendFileSync(join(place, `${session}.jsonl`), torn);
  }

  /** One process drives a run of the session, another one opens it too. */
  async open(): Promise<void> {
    this.#first = this.#start("drive");
    await lineOf(this.#first);
    const before = this.#records();
    const second = this.#start("open");
    const told = JSON.parse(await lineOf(second)) as Pick<SeenOpener, "wrote" | "words" | "read">;
    await over(second);
    this.opener = {
      ...told,
      held: before.length,
      untouched: same(before, this.#records()),
      recovered: false,
    };
  }

  /** SIGKILL for the first one, which so cannot release what it holds. */
  async kill(): Promise<void> {
    if (this.#first === undefined)
      throw new Unsupported("kill_9_first_then_reopen: there is no first process");
    this.#first.kill("SIGKILL");
    await over(this.#first);
  }

  /** Ends what a case has left running, so that the play can go on alone. */
  async end(): Promise<void> {
    if (this.#first !== undefined) await this.kill();
  }

  strike(): void {
    if (this.#first?.exitCode === null) this.#first.kill("SIGKILL");
    this.journal.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #records(): LogRecord[] {
    return this.journal.read(this.#orders.session);
  }

  #start(role: OtherOrders["role"]): ChildProcess {
    const orders: OtherOrders = { role, ...this.#orders };
    return spawn(
      process.execPath,
      [...withPackages, "--disable-warning=ExperimentalWarning", program, JSON.stringify(orders)],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
  }
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

async function over(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

async function lineOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("it has no voice");
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Unsupported("another process of the case ended without a word");
}
