// The room of the ledger: what was done, as data, so that no summary can lose it.
//
// Entries come with the results of tools and are folded as they arrive. The model reads the ledger next to a summary, never
// instead of one. It is limited in number and in bytes. Dropped entries are counted. The least important kind is dropped
// first (a file can be read again, a decision cannot be made again), and of a kind the oldest.

import { headOf } from "../../text/size.ts";

/** One thing that a tool did or learnt. `hash` is `sha256:` and hexadecimal digits; absent if the file was too large to hash. */
export type LedgerEntry =
  | { kind: "file_read"; path: string; hash?: string }
  | { kind: "file_written"; path: string; hash?: string }
  /** `exitCode` is null if a signal or a timeout ended it. */
  | { kind: "command"; command: string; exitCode: number | null }
  /** An empty text means that nothing of this kind is left. */
  | { kind: "decision" | "done" | "left" | "next"; text: string }
  /** An output that was cut: its full text is kept under `ref`. */
  | { kind: "output"; ref: string; tool: string };

export type LedgerKind = LedgerEntry["kind"];

/** What was done so far, oldest first. Plain JSON. */
export interface Ledger {
  readonly entries: readonly { readonly entry: LedgerEntry; readonly step: number }[];
  /** How many were dropped for lack of space, by kind. */
  readonly dropped: Readonly<Partial<Record<LedgerKind, number>>>;
}

export interface LedgerBounds {
  /** Default: 200. */
  entries?: number;
  /** Characters of all entries together, plus 32 for each. Default: 24,000. */
  characters?: number;
}

export const emptyLedger: Ledger = { entries: [], dropped: {} };

/** In the order in which kinds are dropped. */
const weight: readonly LedgerKind[] = [
  "file_read",
  "output",
  "command",
  "file_written",
  "done",
  "next",
  "left",
  "decision",
];

const maxPath = 500;
const maxText = 600;

/**
 * The valid entries among those of a tool, as plain JSON with texts of limited length. It never fails: invalid entries are
 * left out, because a ledger must not make a call fail.
 */
export function ledgerEntries(given: unknown): LedgerEntry[] {
  return Array.isArray(given) ? given.flatMap((one) => entryOf(one) ?? []) : [];
}

function entryOf(given: unknown): LedgerEntry | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const one = given as { [name: string]: unknown };
  switch (one.kind) {
    case "file_read":
    case "file_written":
      return typeof one.path === "string" && one.path !== ""
        ? {
            kind: one.kind,
            path: cut(one.path.replace(/[\r\n\t]+/g, " "), maxPath),
            ...(typeof one.hash === "string" ? { hash: line(one.hash, 100) } : {}),
          }
        : undefined;
    case "command":
      return typeof one.command === "string" && one.command.trim() !== ""
        ? {
            kind: "command",
            command: line(one.command, maxText),
            exitCode: Number.isSafeInteger(one.exitCode) ? (one.exitCode as number) : null,
          }
        : undefined;
    case "decision":
    case "done":
    case "left":
    case "next":
      return typeof one.text === "string" ? { kind: one.kind, text: line(one.text, maxText) } : undefined;
    case "output":
      return typeof one.ref === "string" && one.ref !== ""
        ? // A cut ref would be useless.
          { kind: "output", ref: one.ref.toWellFormed(), tool: line(String(one.tool ?? ""), 100) }
        : undefined;
    default:
      return undefined;
  }
}

/** One well-formed line of limited length: an entry is one fact, and nothing in it may look like the next entry. */
function line(text: string, limit: number): string {
  return cut(text.replace(/\s+/g, " ").trim(), limit);
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text.toWellFormed() : `${headOf(text, limit - 1).toWellFormed()}…`;
}

/** Identifies an entry among those of its kind. */
function keyOf(entry: LedgerEntry): string {
  switch (entry.kind) {
    case "file_read":
    case "file_written":
      return `${entry.kind} ${entry.path}`;
    case "command":
      return `command ${entry.command}`;
    case "output":
      return `output ${entry.ref}`;
    default:
      return `${entry.kind} ${entry.text}`;
  }
}

/**
 * The ledger with the entries of one result. The newest entry on a path, command, ref or text replaces the older one and
 * moves to the end. `left` and `next` are states, not events: new entries replace all old ones of their kind, and what is
 * done is no longer left or next. The same ledger if nothing is new.
 */
export function foldLedger(
  ledger: Ledger,
  given: readonly LedgerEntry[],
  step: number,
  bounds: LedgerBounds = {},
): Ledger {
  const entries = ledgerEntries(given);
  if (entries.length === 0) return ledger;
  const held = new Map(ledger.entries.map((one) => [keyOf(one.entry), one]));
  for (const kind of ["left", "next"] as const)
    if (entries.some((entry) => entry.kind === kind))
      for (const [key, one] of held) if (one.entry.kind === kind) held.delete(key);
  for (const entry of entries) {
    if ("text" in entry && entry.text === "") continue;
    const key = keyOf(entry);
    held.delete(key);
    held.set(key, { entry, step });
    if (entry.kind === "done") {
      held.delete(`left ${entry.text}`);
      held.delete(`next ${entry.text}`);
    }
  }
  return bounded([...held.values()], ledger.dropped, bounds);
}

function bounded(
  entries: { entry: LedgerEntry; step: number }[],
  droppedBefore: Ledger["dropped"],
  bounds: LedgerBounds,
): Ledger {
  const most = bounds.entries ?? 200;
  const room = bounds.characters ?? 24_000;
  let count = entries.length;
  let size = entries.reduce((sum, { entry }) => sum + sizeOf(entry), 0);
  if (count <= most && size <= room) return { entries, dropped: droppedBefore };
  const gone = new Set<object>();
  const dropped = { ...droppedBefore };
  for (const kind of weight)
    for (const one of entries) {
      if (count <= most && size <= room) break;
      if (one.entry.kind !== kind) continue;
      gone.add(one);
      count -= 1;
      size -= sizeOf(one.entry);
      dropped[kind] = (dropped[kind] ?? 0) + 1;
    }
  return { entries: entries.filter((one) => !gone.has(one)), dropped };
}

/** The ledger within other limits than those it was collected in. */
export function ledgerWithin(ledger: Ledger, bounds: LedgerBounds): Ledger {
  return bounded([...ledger.entries], ledger.dropped, bounds);
}

const sizeOf = (entry: LedgerEntry): number =>
  32 +
  Object.values(entry).reduce<number>(
    (sum, value) => sum + (typeof value === "string" ? value.length : 0),
    0,
  );

const titles: { readonly [kind in LedgerKind]: string } = {
  decision: "Decisions",
  done: "Done",
  left: "Left to do",
  next: "Next",
  file_written: "Files written",
  file_read: "Files read",
  command: "Commands run",
  output: "Outputs kept",
};

/**
 * The ledger as text for a model: one heading a kind, one line an entry, always the same for the same ledger. Empty if
 * there is nothing to show.
 */
export function renderLedger(ledger: Ledger): string {
  const blocks = (Object.keys(titles) as LedgerKind[]).flatMap((kind) => {
    const lines = ledger.entries.filter(({ entry }) => entry.kind === kind).map(lineOf);
    const dropped = ledger.dropped[kind] ?? 0;
    if (dropped > 0) lines.unshift(`- (${dropped} earlier, no longer listed)`);
    return lines.length === 0 ? [] : [`${titles[kind]}:\n${lines.join("\n")}`];
  });
  return blocks.join("\n");
}

function lineOf({ entry, step }: Ledger["entries"][number]): string {
  switch (entry.kind) {
    case "file_read":
    case "file_written":
      return `- ${entry.path} (step ${step}${entry.hash === undefined ? "" : `, ${entry.hash.slice(0, 19)}`})`;
    case "command":
      return `- ${entry.command} (step ${step}, ${entry.exitCode === null ? "ended by force" : `exit code ${entry.exitCode}`})`;
    case "output":
      return `- ref=${entry.ref}${entry.tool === "" ? "" : ` (${entry.tool})`}`;
    default:
      return `- ${entry.text}`;
  }
}
