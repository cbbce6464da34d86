// The room of the cap's options: what a user may say about results that are too large, and the facts it comes to.

import { wrong as wrongOption } from "../../checks.ts";
import type { RondoError } from "../../errors.ts";
import type { LongLine } from "./lines.ts";

interface CapShared {
  /** Tools whose results are never cut. The reader tools are always among them. Default: none. */
  exempt?: readonly string[];
  /** Which whole texts go to the blob store: those of results that were cut, or `every` one. Default: `cut`. */
  keep?: "cut" | "every";
  /** A result with files in it: its text is cut and its files stay, or all of it is left as it is. Default: `cut_text`. */
  withFiles?: "cut_text" | "leave";
  /** The tools that read a kept text. `null`: none. */
  readers?: ReaderOptions | null;
}

export interface ReaderOptions {
  /** Default: `read_output`. */
  read?: string;
  /** Default: `search_output`. */
  search?: string;
  /** Graphemes of a line that are shown before it is clipped. The cap itself never looks at it. Default: 1,000. */
  maxLineLength?: number;
}

/** Keeps whole lines from the start, at most `bytes` bytes of UTF-8, and adds a note. */
export interface LinesCap extends CapShared {
  mode?: "lines";
  /** Default: 51,200 (50 KiB), and in a small window no more than a quarter of it, at 4 bytes a token. */
  bytes?: number;
  /** A line that alone is longer than `bytes`, as JSON often is: its beginning stays, or it is left out like any line that does not fit. Default: `cut`. */
  longLine?: LongLine;
}

/** Keeps a share of the model's window, in UTF-16 code units: the head, and the tail as well where it says how things ended. */
export interface HeadTailCap extends CapShared, Partial<HeadTailNumbers> {
  mode: "head_tail";
}

/** The numbers of `head_tail`. */
export interface HeadTailNumbers {
  /** Share of the window one result may take. Default: 0.3. */
  share: number;
  /** Default: 4. */
  charsPerToken: number;
  /** `notice`: each text part is cut and says so. `excerpt`: all text becomes one excerpt under a header. Default: `excerpt`. */
  form: "notice" | "excerpt";
  /** The most characters whatever the window. Default: 16,000 for `excerpt`, 400,000 for `notice`. */
  hardCap: number;
  /** The least that is kept of a text. Default: 2,000. */
  minKeep: number;
  /** Who says that it cut, in an excerpt's header. Default: `Rondo`. */
  by: string;
}

export type CapOptions = LinesCap | HeadTailCap;

/** The cap as a fact of the run. */
export type CapFacts = (
  | { mode: "lines"; bytes: number; share?: number; longLine?: "leave_out" }
  | ({ mode: "head_tail" } & HeadTailNumbers)
) & {
  exempt: string[];
  keep: "cut" | "every";
  withFiles: "cut_text" | "leave";
};

/** The facts of given options. @throws RondoError `invalid_request` naming the option that cannot be used */
export function capFacts(given: CapOptions = {}): CapFacts {
  const { read, search } = readerNames(given);
  oneOf("mode", given.mode ?? "lines", ["lines", "head_tail"]);
  const shared: Pick<CapFacts, "exempt" | "keep" | "withFiles"> = {
    exempt: [...(given.exempt ?? []), read, search],
    keep: oneOf("keep", given.keep ?? "cut", ["cut", "every"]),
    withFiles: oneOf("withFiles", given.withFiles ?? "cut_text", ["cut_text", "leave"]),
  };
  if (given.mode === "head_tail") return { mode: "head_tail", ...headTailNumbers(given), ...shared };
  const left = oneOf("longLine", given.longLine ?? "cut", ["cut", "leave_out"]) === "leave_out";
  const lines = { mode: "lines" as const, ...(left ? { longLine: "leave_out" as const } : {}), ...shared };
  if (given.bytes === undefined) return { ...lines, bytes: 50 * 1024, share: 0.25 };
  return { ...lines, bytes: above("bytes", given.bytes) };
}

/** The most bytes of a result. @param window tokens of the model's window, where they are known */
export function maxBytes({ bytes, share }: CapFacts & { mode: "lines" }, window: number | undefined): number {
  return share === undefined || window === undefined
    ? bytes
    : Math.min(bytes, Math.floor(window * share) * 4);
}

/** The numbers of `head_tail`, with their defaults. */
export function headTailNumbers(given: Partial<HeadTailNumbers> = {}): HeadTailNumbers {
  const form = oneOf("form", given.form ?? "excerpt", ["excerpt", "notice"]);
  return {
    form,
    share: above("share", given.share ?? 0.3),
    charsPerToken: above("charsPerToken", given.charsPerToken ?? 4),
    hardCap: above("hardCap", given.hardCap ?? (form === "excerpt" ? 16_000 : 400_000)),
    minKeep: given.minKeep === 0 ? 0 : above("minKeep", given.minKeep ?? 2_000),
    by: given.by ?? "Rondo",
  };
}

/** The names of the reader tools. */
export function readerNames(given: CapOptions): Required<ReaderOptions> {
  const { read = "read_output", search = "search_output", maxLineLength = 1_000 } = given.readers ?? {};
  if (read === search) throw wrong("readers", `two tools cannot both be named ${JSON.stringify(read)}`);
  return { read, search, maxLineLength: above("readers.maxLineLength", maxLineLength) };
}

function above(option: string, value: number): number {
  if (!(value > 0)) throw wrong(option, `a number above 0 is needed, not ${String(value)}`);
  return value;
}

function oneOf<const T extends string>(option: string, value: T, known: readonly T[]): T {
  if (!known.includes(value))
    throw wrong(option, `${JSON.stringify(value)} is not one of ${known.join(", ")}`);
  return value;
}

const wrong = (option: string, message: string): RondoError => wrongOption(`context.cap.${option}`, message);
