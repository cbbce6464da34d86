// The room of the repair's policy: what providers differ in, and what is said where something is missing.

import type { Origin } from "../../message.ts";
import { missingResult } from "./pairing.ts";

/** What repair says in a history. */
export interface RepairTexts {
  /** In place of a result that is missing. */
  missing: string;
  /** The name of a tool that nobody named. */
  unknownTool: string;
  /** A person's words where the history must begin with them. */
  first: string;
  /** A person's words between two answers. */
  proceed: string;
  /** The model's words between two of a person's messages. */
  noted: string;
  /** In place of what was cut out of a part. `{n}` is the number of characters. */
  cut: string;
}

export const repairTexts: RepairTexts = {
  missing: missingResult,
  unknownTool: "unknown",
  first: "(The conversation so far.)",
  proceed: "Continue.",
  noted: "Noted.",
  cut: "\n[{n} characters were left out here]\n",
};

export interface RepairPolicy {
  texts?: Partial<RepairTexts>;
  /** A call without a result: answered with a synthetic error, or left out. Default: `answer`. */
  unanswered?: "answer" | "drop";
  /**
   * Answers that ended in an error or an abort: their calls stay where they have results and none are made up
   * (`answered`, the default), or their calls and results are left out (`none`).
   */
  failed?: "answered" | "none";
  /** Calls without an id, arguments or a name of letters, digits, "_" and "-": mended as far as can be (default), or left out. */
  malformed?: "mend" | "drop";
  /** Names a call may have; others are left out. Default: any. */
  toolNames?: readonly string[];
  /** An id as it should be, given those that are taken; must give one that is free. Default: as it is, numbered where it is taken. */
  id?: (id: string, taken: ReadonlySet<string>) => string;
  /** Neighbours of one role: left (default), joined into one message, or a word of the other put between. */
  neighbours?: "keep" | "merge" | "bridge";
  /** The first message, system messages aside, is a person's. Default: false. */
  userFirst?: boolean;
  /** The last message is not the model's. Default: false. */
  assistantLast?: "keep" | "proceed";
  /** Whose reasoning may stay as it is. Reasoning of another origin is then kept, left out, or becomes text. */
  origin?: Origin;
  /** Default: `keep`, which the codecs do not send. */
  foreignReasoning?: "keep" | "drop" | "text";
  /** Reasoning of any origin is left out. Default: false. */
  dropReasoning?: boolean;
  /** The most characters a part may have; the middle of a longer one is cut out, with a note. Default: any number. */
  maxPartChars?: number;
}
