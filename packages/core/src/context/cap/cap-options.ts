// The room of the cap's options: what can be set for results that are too large, and the facts made from it.

import {
  above0,
  anything,
  type Check,
  type ChecksOf,
  checkGiven,
  finite,
  finite0,
  listOf,
  membersOf,
  oneOf,
  orNull,
  portion,
  rising,
  text,
} from "../../checks.ts";
import { invalidRequest } from "../../errors.ts";
import type { LongLine } from "./lines.ts";

interface CapShared {
  /** Tools whose results are never cut. The reader tools are always among them. Default: none. */
  exempt?: readonly string[];
  /** Which full texts go to the blob store: those of results that were cut, or `every` one. Default: `cut`. */
  keep?: "cut" | "every";
  /** For a result that contains files: `cut_text` cuts its text and keeps its files, `leave` keeps all of it. Default: `cut_text`. */
  withFiles?: "cut_text" | "leave";
  /** The tools that read a kept text. `null`: none. */
  readers?: ReaderOptions | null;
}

export interface ReaderOptions {
  /** Default: `read_output`. */
  read?: string;
  /** Default: `search_output`. */
  search?: string;
  /** How many graphemes of a line are shown. The cap itself ignores it. Default: 1,000. */
  maxLineLength?: number;
}

/** Keeps whole lines from the start, at most `bytes` bytes (UTF-8), and adds a note. */
export interface LinesCap extends CapShared {
  mode?: "lines";
  /** Default: 51,200 (50 KiB), but at most a quarter of the window, at 4 bytes a token. */
  bytes?: number;
  /**
   * For a line that alone is longer than `bytes`, as JSON often is: `cut` keeps its beginning, `leave_out` leaves it out
   * like any line that does not fit. Default: `cut`.
   */
  longLine?: LongLine;
}

/** Keeps a share of the model's window, in UTF-16 code units: the head, and also the tail if it says how things ended. */
export interface HeadTailCap extends CapShared, Partial<HeadTailNumbers> {
  mode: "head_tail";
}

/** The numbers of `head_tail`. */
export interface HeadTailNumbers {
  /** The share of the window that one result may take. Default: 0.3. */
  share: number;
  /** Default: 4. */
  charsPerToken: number;
  /** `notice`: each text part is cut and gets a note. `excerpt`: all text becomes one excerpt under a header. Default: `excerpt`. */
  form: "notice" | "excerpt";
  /** The most characters, whatever the window is. Default: 16,000 for `excerpt`, 400,000 for `notice`. */
  hardCap: number;
  /** How many characters of a text are kept at least. Default: 2,000. */
  minKeep: number;
  /** The name in an excerpt's header of what did the cutting. Default: `Rondo`. */
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

const sharedChecks: ChecksOf<CapShared> = {
  exempt: listOf(text),
  keep: oneOf("cut", "every"),
  withFiles: oneOf("cut_text", "leave"),
  readers: orNull(membersOf<ReaderOptions>({ read: text, search: text, maxLineLength: above0 })),
};

const numberChecks: ChecksOf<HeadTailNumbers> = {
  share: portion,
  charsPerToken: finite,
  form: oneOf("notice", "excerpt"),
  hardCap: finite,
  minKeep: finite0,
  by: text,
};

const lineChecks = { bytes: finite, longLine: oneOf("cut", "leave_out") };

/** The error for an option that only the other mode has. */
const ofMode =
  (mode: string, options: object) =>
  (name: string): string | undefined =>
    Object.hasOwn(options, name) ? `it is one of mode: "${mode}"` : undefined;

const linesCap = membersOf<LinesCap>(
  { mode: oneOf("lines", "head_tail"), ...lineChecks, ...sharedChecks },
  [],
  ofMode("head_tail", numberChecks),
);
const headTailCap = membersOf<HeadTailCap>(
  { mode: anything, ...numberChecks, ...sharedChecks },
  [],
  ofMode("lines", lineChecks),
);

/** The check of the cap's options. */
export const capOptions: Check = (value) => {
  const { mode, form } = Object(value) as { mode?: unknown; form?: unknown };
  return mode === "head_tail"
    ? rising(headTailCap, { minKeep: 2_000, hardCap: mostOf(form) })(value)
    : linesCap(value);
};

/** The facts that the given options become. */
export function capFacts(given: CapOptions = {}): CapFacts {
  const { read, search } = readerNames(given);
  const shared: Pick<CapFacts, "exempt" | "keep" | "withFiles"> = {
    exempt: [...(given.exempt ?? []), read, search],
    keep: given.keep ?? "cut",
    withFiles: given.withFiles ?? "cut_text",
  };
  if (given.mode === "head_tail") return { mode: "head_tail", ...headTailNumbers(given), ...shared };
  const longLine = given.longLine === "leave_out" ? { longLine: given.longLine } : {};
  const bytes = given.bytes === undefined ? { bytes: 50 * 1024, share: 0.25 } : { bytes: given.bytes };
  return { mode: "lines", ...longLine, ...shared, ...bytes };
}

/** The most bytes of a result. @param window tokens of the model's window, if known */
export function maxBytes({ bytes, share }: CapFacts & { mode: "lines" }, window: number | undefined): number {
  return share === undefined || window === undefined
    ? bytes
    : Math.min(bytes, Math.floor(window * share) * 4);
}

const numbersAlone = membersOf<HeadTailNumbers>(numberChecks, [], "let_pass");

/** The default of the most characters. */
const mostOf = (form: unknown): number => (form === "notice" ? 400_000 : 16_000);

/** The numbers of `head_tail`, with their defaults. @throws RondoError `invalid_request` naming the invalid one */
export function headTailNumbers(given: Partial<HeadTailNumbers> = {}): HeadTailNumbers {
  checkGiven(numbersAlone, given, "cap");
  const { form = "excerpt", share = 0.3, charsPerToken = 4, minKeep = 2_000, by = "Rondo" } = given;
  return { form, share, charsPerToken, hardCap: given.hardCap ?? mostOf(form), minKeep, by };
}

/** The names of the reader tools. @throws RondoError `invalid_request` if both have the same name */
export function readerNames(given: CapOptions): Required<ReaderOptions> {
  const { read = "read_output", search = "search_output", maxLineLength = 1_000 } = given.readers ?? {};
  if (read === search)
    throw invalidRequest(
      `option context.cap.readers: two tools cannot both be named ${JSON.stringify(read)}`,
    );
  return { read, search, maxLineLength };
}
