// The room of the plan: solvers are generators that ask for tool results and receive them.
//
// The planner keeps no state. With each request every solver runs again from the start and gets the results that the
// history contains; if one is missing, the plan is the calls that would provide it. So it resumes after a crash, and no
// call is made twice. Steps that solvers ask for at the same time go into one message.

import type { JsonObject } from "@rondo/core";
import { type FileText, type Hits, type Listing, readHits, readListing, readText } from "./results.ts";
import type { Step, Toolbox } from "./toolbox.ts";

/** The result of a step. `missing` says why there is none. */
export interface Outcome {
  text: string;
  error?: string;
  missing?: "no_tool" | "bound" | "tools_off";
}

/** What a solver found. */
export interface Finding {
  /** Markdown. */
  text: string;
  /** The one number asked for. */
  number?: number;
  /** The answer to a yes-or-no question. */
  yes?: boolean;
  /** Things listed. */
  items?: readonly string[];
  /** The file that was mentioned, for "it". */
  subject?: string;
  /** The folder or file looked at. */
  scope?: string;
  /** False: the goal was not reached, and `text` says why. */
  reached: boolean;
}

export type Solver = Generator<Step[], Finding, Outcome[]>;
export type Asking<T> = Generator<Step[], T, Outcome[]>;

/** Results by call key, and the bound on how many calls a task may make. */
export interface Known {
  results: ReadonlyMap<string, Outcome>;
  /** Calls made so far for this task. */
  made: number;
  bound: number;
  toolsOff: boolean;
}

export type Progress = { done: true; finding: Finding } | { done: false; steps: Step[] };

/** Runs a solver as far as the known results allow. */
export function advance(solver: Solver, known: Known, toolbox: Toolbox, asked: Set<string>): Progress {
  let turn = solver.next();
  while (turn.done !== true) {
    const outcomes: Outcome[] = [];
    const missing: Step[] = [];
    let waits = false;
    for (const step of turn.value) {
      const call = toolbox.call(step);
      const result = call === undefined ? undefined : known.results.get(call.key);
      if (call === undefined) outcomes.push({ text: "", missing: "no_tool" });
      else if (result !== undefined) outcomes.push(result);
      else if (known.toolsOff) outcomes.push({ text: "", missing: "tools_off" });
      // Another goal needs the same: one call serves both.
      else if (asked.has(call.key)) waits = true;
      else if (known.made + asked.size >= known.bound) outcomes.push({ text: "", missing: "bound" });
      else {
        asked.add(call.key);
        missing.push(step);
      }
    }
    if (waits || missing.length > 0) return { done: false, steps: missing };
    turn = solver.next(outcomes);
  }
  return { done: true, finding: turn.value };
}

/** Why a step gave no result, as a phrase; undefined if it gave one. */
export function failureOf(outcome: Outcome | undefined, doing: string): string | undefined {
  if (outcome === undefined) return `${doing} gave no result`;
  if (outcome.missing === "no_tool") return `I have no tool for ${doing}`;
  if (outcome.missing === "bound") return `I stopped before ${doing}: a task may make only so many calls`;
  if (outcome.missing === "tools_off")
    return `${doing} is left undone: tools were switched off before I got to it`;
  if (outcome.error !== undefined) return outcome.error;
  return undefined;
}

export const listStep = (path: string, more: JsonObject = {}): Step => ({
  trade: "list",
  args: { path, ...more },
});
export const readStep = (path: string, more: JsonObject = {}): Step => ({
  trade: "read",
  args: { path, ...more },
});
export const searchStep = (pattern: string, path: string, more: JsonObject = {}): Step => ({
  trade: "search",
  args: { pattern, path, ...more },
});

export type Got<T> = { ok: true; value: T } | { ok: false; why: string; missing: boolean };

/** Asks for one step and reads its result. */
export function* ask<T>(step: Step, doing: string, read: (text: string) => T): Asking<Got<T>> {
  const [outcome] = yield [step];
  return got(outcome, doing, read);
}

export function got<T>(outcome: Outcome | undefined, doing: string, read: (text: string) => T): Got<T> {
  const why = failureOf(outcome, doing);
  if (why !== undefined || outcome === undefined)
    return { ok: false, why: why ?? "", missing: outcome?.missing !== undefined };
  return { ok: true, value: read(outcome.text) };
}

export const listing = (path: string, more: JsonObject = {}): Asking<Got<Listing>> =>
  ask(listStep(path, more), `listing \`${path}\``, (text) => readListing(text, path));

export const hitsOf = (pattern: string, path: string, more: JsonObject = {}): Asking<Got<Hits>> =>
  ask(searchStep(pattern, path, more), `searching \`${path}\``, readHits);

export const head = (path: string, more: JsonObject = {}): Asking<Got<FileText>> =>
  ask(readStep(path, more), `reading \`${path}\``, (text) =>
    readText(text, typeof more.offset === "number" ? more.offset : 1),
  );

/** All of a file, page after page, up to `pages` calls. */
export function* wholeFile(path: string, pages = 4): Asking<Got<FileText>> {
  const first = yield* head(path);
  if (
    !first.ok ||
    first.value.whole ||
    first.value.binary !== undefined ||
    first.value.totalLines === undefined
  )
    return first;
  const all = first.value;
  const lines = [...all.lines];
  for (let page = 1; page < pages && lines.length < (all.totalLines ?? 0); page++) {
    const next = yield* head(path, { offset: lines.length + 1 });
    if (!next.ok || next.value.lines.length === 0) break;
    lines.push(...next.value.lines);
  }
  return {
    ok: true,
    value: {
      ...all,
      lines,
      whole:
        lines.length >= (all.totalLines ?? 0) &&
        !lines.some((line) => / \[\.\.\. [\d,]+ more bytes? in this line\]$/.test(line)),
    },
  };
}

/** Runs several of them side by side: what they need at the same time goes into one message. */
export function* together<T>(all: readonly Asking<T>[]): Asking<T[]> {
  const turns = all.map((one) => one.next());
  while (turns.some((turn) => turn.done !== true)) {
    const outcomes = yield turns.flatMap((turn) => (turn.done === true ? [] : turn.value));
    let at = 0;
    turns.forEach((turn, index) => {
      if (turn.done === true) return;
      const own = outcomes.slice(at, at + turn.value.length);
      at += turn.value.length;
      turns[index] = (all[index] as Asking<T>).next(own);
    });
  }
  return turns.map((turn) => turn.value as T);
}
