// The room of the batch: plays the cases of a file, a few at a time, and reports them in file order.

import { messageOf } from "@rondo/core";
import { type Case, readCase, Unsupported } from "./format.ts";
import type { Observation } from "./observation.ts";
import { perform } from "./perform.ts";
import type { Chunking } from "./wire.ts";

export interface CaseResult {
  id: string;
  /** Empty when it passed. */
  reasons: string[];
}

const together = 6;

/** The cases of a JSONL text, in order. An unreadable one counts as failed. */
export function readCases(text: string): (Case | CaseResult)[] {
  return text
    .split("\n")
    .map((line, at) => ({ line: line.trim(), number: at + 1 }))
    .filter(({ line }) => line !== "")
    .map(({ line, number }) => {
      try {
        return readCase(line);
      } catch (thrown) {
        const id = /"id"\s*:\s*"([^"]+)"/.exec(line)?.[1] ?? `line ${number}`;
        return { id, reasons: [messageOf(thrown)] };
      }
    });
}

/**
 * Plays the cases of a JSONL text.
 * @param only ids to play; default: all
 * @param hear told of each case that passes in its first chunking what was seen there
 * @param cuts how the bodies are split, one after the other
 */
export function runCases(
  text: string,
  only?: ReadonlySet<string>,
  hear?: (one: Case, seen: Observation) => void,
  cuts?: readonly Chunking[],
): AsyncGenerator<CaseResult> {
  const all = readCases(text).filter((one) => only === undefined || only.has(one.id));
  return fewAtATime(all, (one) => resultOf(one, hear, cuts));
}

/** Does the work of each item, a few at a time because most of it is waiting, and gives what comes of them in order. */
async function* fewAtATime<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const started: Promise<Result>[] = [];
  for (const [at, item] of items.entries()) {
    const before = started[at - together];
    started.push(Promise.allSettled([before]).then(() => work(item)));
    // Whoever reads the results hears of a failure; until then it is nobody's.
    started[at]?.catch(() => {});
  }
  yield* started;
}

async function resultOf(
  one: Case | CaseResult,
  hear?: (one: Case, seen: Observation) => void,
  cuts?: readonly Chunking[],
): Promise<CaseResult> {
  if ("reasons" in one) return one;
  try {
    return { id: one.id, reasons: await perform(one, cuts, hear) };
  } catch (thrown) {
    const words =
      thrown instanceof Unsupported
        ? thrown.message
        : `the runner broke: ${thrown instanceof Error ? thrown.stack : messageOf(thrown)}`;
    return { id: one.id, reasons: [words] };
  }
}
