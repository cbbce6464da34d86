// A driver by hand: a journal that the test holds up, a model whose moments it decides, time it lets pass.

import {
  type AssistantMessage,
  emptyState,
  type Fact,
  type Listener,
  type LogRecord,
  type RondoEvent,
  type RunOptions,
  type Tool,
  userText,
} from "@rondo/core";
import { Driver } from "../../src/loop/drive.ts";
import type { Shell } from "../../src/loop/driving/shell.ts";
import { HandModel, shellOf } from "./ongoing-support.ts";
import { answerOf, come, type HandClock, handClock, options } from "./support.ts";

const stop = { kind: "end_turn", wire: "end_turn" } as const;
export const answer = answerOf([{ type: "text", text: "so" }], { stop });

/** An answer with calls of these tools. */
export function calling(...names: string[]): AssistantMessage {
  const content = names.map((name, at) => ({
    type: "tool_call" as const,
    id: `${name}-${at}`,
    name,
    args: {},
    rawArgs: "{}",
  }));
  return answerOf(content, { stop: { kind: "tool_use", wire: "tool_use" } });
}

/** A journal that keeps what it is given, as slowly as the test wants. */
export class HandJournal {
  readonly groups: LogRecord[][] = [];
  /** Whether the next groups are kept only when the test says so. */
  slow = false;
  /** Refuses at once. */
  refuses: Error | undefined;
  #waiting: { resolve: () => void; reject: (thrown: unknown) => void }[] = [];

  append(_session: string, expected: number, records: readonly LogRecord[]): void | Promise<void> {
    if (records.length === 0 || expected !== this.records.length) throw new Error("an odd group");
    if (this.refuses !== undefined) throw this.refuses;
    this.groups.push([...records]);
    if (!this.slow) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ resolve, reject });
    return promise;
  }

  get records(): LogRecord[] {
    return this.groups.flat();
  }

  get types(): string[] {
    return this.records.map(({ type }) => type);
  }

  /** What waits is kept, and what that leads to happens. */
  async keeps(): Promise<void> {
    for (const { resolve } of this.#waiting.splice(0)) resolve();
    await come();
  }

  async fails(thrown: unknown): Promise<void> {
    for (const { reject } of this.#waiting.splice(0)) reject(thrown);
    await come();
  }
}

export interface Driven {
  readonly driver: Driver;
  readonly journal: HandJournal;
  readonly model: HandModel;
  readonly clock: HandClock;
  readonly told: RondoEvent[];
}

export const start = (change: Partial<RunOptions> = {}): Fact => ({
  type: "run_started",
  format: 1,
  input: [userText("task")],
  options: options(change),
});
export const queued = (text: string, lane: "steer" | "follow_up" = "steer"): Fact => ({
  type: "queued",
  lane,
  id: text,
  message: userText(text),
});

/** `listener`: who hears in place of `told`. */
type Change = Partial<Shell> & { with?: readonly Tool[]; listener?: Listener };

/** A driver of a session without records. */
export function driverOf({ listener, ...change }: Change = {}, late?: (fact: Fact) => void): Driven {
  const journal = new HandJournal();
  const model = new HandModel();
  const clock = handClock();
  const told: RondoEvent[] = [];
  const shell = shellOf({ journal, clock, ...change }, model);
  const current = [listener ?? ((event: RondoEvent) => void told.push(event))];
  return { driver: new Driver(shell, { current }, emptyState, late), journal, model, clock, told };
}

/** How it ended, once it has. */
export function ended(driver: Driver): { how: string | undefined; thrown?: unknown } {
  const end: { how: string | undefined; thrown?: unknown } = { how: undefined };
  driver.run().then(
    (how) => {
      end.how = how;
    },
    (thrown: unknown) => {
      end.how = "rejected";
      end.thrown = thrown;
    },
  );
  return end;
}

/** A run that has begun, and waits for its model. */
export async function begun(
  change: Change = {},
  run: Partial<RunOptions> = {},
): Promise<Driven & { end: ReturnType<typeof ended> }> {
  const driven = driverOf(change);
  driven.driver.post(start(run));
  const end = ended(driven.driver);
  await come();
  return { ...driven, end };
}
