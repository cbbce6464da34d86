// The room of the plain cut: brings a history down to a share of the window without a model.
//
// It is used if there is no summary: a history that no summariser can read must not stop the run. The oldest half of what
// may be dropped is dropped, repeatedly, in whole units, so that no call is left without its result.

import type { HistoryEdit } from "../../loop/records.ts";
import type { MessageList } from "../../model.ts";
import { editOf } from "../edit.ts";
import type { Measure } from "./in-parts.ts";
import { unitStarts } from "./units.ts";

export interface ShareFacts {
  window: number;
  /** The share of the window that may be kept. Default: 0.5. */
  share?: number;
  /** Into how many pieces the rest is divided each time before the oldest is dropped. Default: 2. */
  parts?: number;
  estimator: Measure;
  /** Indices of messages that are kept. System messages always are. */
  pinned?: readonly number[];
}

export interface Shared {
  edit: HistoryEdit;
  /** Messages and tokens that were dropped, and that were kept. */
  droppedMessages: number;
  droppedTokens: number;
  keptTokens: number;
  budgetTokens: number;
}

/** Drops the oldest until the rest fits, or only pinned messages and the last unit are left. */
export function pruneToShare(history: MessageList, facts: ShareFacts): Shared {
  const budgetTokens = Math.floor(facts.window * (facts.share ?? 0.5));
  const pinned = new Set(facts.pinned ?? []);
  const sizes = Array.from(history, (message) => Math.max(0, facts.estimator(message)));
  const stays = (at: number): boolean => pinned.has(at) || history.at(at)?.role === "system";
  const starts = unitStarts(history);
  let units = starts.flatMap((from, index) => {
    const to = starts[index + 1] ?? history.length;
    const own = Array.from({ length: to - from }, (_, offset) => from + offset);
    return own.some(stays) ? [] : [own];
  });
  const sizeOf = (unit: readonly number[]): number =>
    unit.reduce((sum, at) => sum + (sizes[at] as number), 0);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let keptTokens = total;
  const gone = new Set<number>();
  while (keptTokens > budgetTokens && units.length > 1) {
    const left = units.reduce((sum, unit) => sum + sizeOf(unit), 0);
    const chunk = left / Math.max(2, facts.parts ?? 2);
    let size = 0;
    let count = 0;
    // At least one unit is dropped, but never the last one.
    while (count < units.length - 1 && (count === 0 || size + sizeOf(units[count] as number[]) <= chunk)) {
      size += sizeOf(units[count] as number[]);
      for (const at of units[count] as number[]) gone.add(at);
      count += 1;
    }
    units = units.slice(count);
    keptTokens -= size;
  }
  return {
    edit: editOf(sizes.flatMap((_, at) => (gone.has(at) ? [] : [at]))),
    droppedMessages: gone.size,
    droppedTokens: total - keptTokens,
    keptTokens,
    budgetTokens,
  };
}
