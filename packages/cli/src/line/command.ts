// The room of the command: the type of every `rondo` command, and shared options.

import type { Console } from "../console/console.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { Arguments, OptionSpecs } from "./arguments.ts";

export interface Command {
  name: string;
  /** The arguments after the name, e.g. `RUN [CALL]`. */
  words: string;
  does: string;
  options: OptionSpecs;
  /** Maximum number of arguments. */
  maxWords: number;
  act(args: Arguments, console: Console): Promise<ExitCode>;
}

export const journalOption: OptionSpecs = {
  journal: {
    type: "string",
    value: "FILE|jsonl:DIR|restate:URL",
    does: "Where runs are kept: a SQLite file, a folder of JSONL files, or a Restate server. Default: $RONDO_JOURNAL, else rondo/runs.db in your state folder",
  },
};

export const showOptions: OptionSpecs = {
  json: { type: "boolean", does: "Print events as they come, one JSON object per line; ask nothing" },
  quiet: { type: "boolean", short: "q", does: "Print only the answer" },
  view: {
    type: "string",
    value: "VIEW",
    does: "How a run is shown: live (as it comes), or trace (a tagged line per action). Default: live",
  },
};

/** Options that every command has. */
export const commonOptions: OptionSpecs = {
  "no-color": { type: "boolean", does: "No colours" },
  help: { type: "boolean", short: "h", does: "Show this help" },
};
