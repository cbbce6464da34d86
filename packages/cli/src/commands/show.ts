// The room of `rondo show`: prints one whole run from its records.

import { jsonLine } from "../console/plain-text.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Command, journalOption } from "../line/command.ts";
import { renderRun } from "../render/run.ts";
import { withJournal } from "../runs/find-run.ts";

export const show: Command = {
  name: "show",
  words: "RUN",
  does: "Print a whole run: every step, every call, every decision and why",
  maxWords: 1,
  options: {
    full: { type: "boolean", does: "Cut nothing" },
    json: { type: "boolean", does: "Print its records, one JSON object per line" },
    ...journalOption,
  },
  act: (args, console) =>
    withJournal(args, console, "to read", async ({ find }) => {
      const { records } = await find(args.words[0]);
      const { paint, width } = console;
      if (args.has("json")) for (const record of records) console.line(jsonLine(record));
      else console.write(renderRun(records, { full: args.has("full"), paint, width }));
      return exitCodes.completed;
    }),
};
