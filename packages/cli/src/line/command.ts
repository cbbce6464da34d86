// The room of the command: what every command of `rondo` is.

import type { Console } from "../console/console.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { Arguments, OptionSpecs } from "./arguments.ts";

export interface Command {
  name: string;
  /** What follows the name, e.g. `RUN [CALL]`. */
  words: string;
  does: string;
  options: OptionSpecs;
  /** How many words may follow. */
  maxWords: number;
  act(args: Arguments, console: Console): Promise<ExitCode>;
}

export const journalOption: OptionSpecs = {
  journal: {
    type: "string",
    value: "FILE|jsonl:DIR|restate:URL",
    does: "Where runs are kept: a SQLite file, a folder of JSONL, or a server of Restate. Default: $RONDO_JOURNAL, else rondo/runs.db in your state folder",
  },
};

export const showOptions: OptionSpecs = {
  json: { type: "boolean", does: "Print events as they come, one JSON object a line; ask nothing" },
  quiet: { type: "boolean", short: "q", does: "Print the answer alone" },
  view: {
    type: "string",
    value: "VIEW",
    does: "How a run is shown: live (as it comes), or trace (a tagged line for each thing it does). Default: live",
  },
};

/** Options that every command has. */
export const commonOptions: OptionSpecs = {
  "no-color": { type: "boolean", does: "No colours" },
  help: { type: "boolean", short: "h", does: "Show this help" },
};
