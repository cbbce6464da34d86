// The room of the cap's options: what a user may say about results that are too large, and the facts it comes to.

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

/** What is said of an option that the other mode has. */
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

/** What the options of the cap must be. */
export const capOptions: Check = (value) => {
  const { mode, form } = Object(value) as { mode?: unknown; form?: unknown };
  return mode === "head_tail"
    ? rising(headTailCap, { minKeep: 2_000, hardCap: mostOf(form) })(value)
    : linesCap(value);
};

/** The facts of given options. */
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

/** The most bytes of a result. @param window tokens of the model's window, where they are known */
export function maxBytes({ bytes, share }: CapFacts & { mode: "lines" }, window: number | undefined): number {
  return share === undefined || window === undefined
    ? bytes
    : Math.min(bytes, Math.floor(window * share) * 4);
}

const numbersAlone = membersOf<HeadTailNumbers>(numberChecks, [], "let_pass");

/** The most characters, where nothing is said. */
const mostOf = (form: unknown): number => (form === "notice" ? 400_000 : 16_000);

/** The numbers of `head_tail`, with their defaults. @throws RondoError `invalid_request` naming the one that cannot be used */
export function headTailNumbers(given: Partial<HeadTailNumbers> = {}): HeadTailNumbers {
  checkGiven(numbersAlone, given, "cap");
  const { form = "excerpt", share = 0.3, charsPerToken = 4, minKeep = 2_000, by = "Rondo" } = given;
  return { form, share, charsPerToken, hardCap: given.hardCap ?? mostOf(form), minKeep, by };
}

/** The names of the reader tools. @throws RondoError `invalid_request` where both are one */
export function readerNames(given: CapOptions): Required<ReaderOptions> {
  const { read = "read_output", search = "search_output", maxLineLength = 1_000 } = given.readers ?? {};
  if (read === search)
    throw invalidRequest(
      `option context.cap.readers: two tools cannot both be named ${JSON.stringify(read)}`,
    );
  return { read, search, maxLineLength };
}
