// The room of the repair's policy: what differs between providers, and the texts for what is missing.

import type { Origin } from "../../message.ts";
import { missingResult } from "./pairing.ts";

/** The texts that repair writes into a history. */
export interface RepairTexts {
  /** In place of a missing result. */
  missing: string;
  /** The name of a tool without a name. */
  unknownTool: string;
  /** The user's text if the history must begin with the user. */
  first: string;
  /** The user's text between two answers. */
  proceed: string;
  /** The model's text between two user messages. */
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
  /** A call without a result gets a synthetic error, or is left out. Default: `answer`. */
  unanswered?: "answer" | "drop";
  /**
   * For answers that ended with an error or an abort. `answered` keeps calls that have results, and makes up no results.
   * `none` leaves out their calls and results. Default: `answered`.
   */
  failed?: "answered" | "none";
  /**
   * Calls without an id, arguments or a name of letters, digits, "_" and "-" are repaired as far as possible, or left out.
   * Default: `mend`.
   */
  malformed?: "mend" | "drop";
  /** Allowed names of calls; others are left out. Default: any. */
  toolNames?: readonly string[];
  /** Makes an id valid, given those that are taken; must return a free one. Default: the id itself, with a number if it is taken. */
  id?: (id: string, taken: ReadonlySet<string>) => string;
  /** Adjacent messages of one role: kept, joined into one message, or separated by a message of the other role. Default: `keep`. */
  neighbours?: "keep" | "merge" | "bridge";
  /** The first message, except system messages, must be the user's. Default: false. */
  userFirst?: boolean;
  /** The last message must not be the model's. Default: false. */
  assistantLast?: "keep" | "proceed";
  /** The origin whose reasoning stays as it is. Reasoning of other origins is treated as `foreignReasoning` says. */
  origin?: Origin;
  /** Default: `keep`; codecs do not send it. */
  foreignReasoning?: "keep" | "drop" | "text";
  /** Reasoning of any origin is left out. Default: false. */
  dropReasoning?: boolean;
  /** The most characters of a part; the middle of a longer one is replaced by a note. Default: no limit. */
  maxPartChars?: number;
}
