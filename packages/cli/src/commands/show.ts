// The room of `rondo show`: one run, whole, from its records.

import { jsonLine } from "../console/plain-text.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Command, journalOption } from "../line/command.ts";
import { renderRun } from "../render/run.ts";
import { findRun } from "../runs/find-run.ts";
import { journalPlace, openKnownJournal } from "../runs/journal-place.ts";

export const show: Command = {
  name: "show",
  words: "RUN",
  does: "Print a whole run: every step, every call, every decision and why",
  maxWords: 1,
  options: {
    full: { type: "boolean", does: "Cut nothing" },
    json: { type: "boolean", does: "Print its records, one JSON object a line" },
    ...journalOption,
  },
  async act(args, console) {
    const place = journalPlace(args, console.env);
    const journal = await openKnownJournal(place, console);
    try {
      const { records } = await findRun(args.words[0], journal, place.file);
      if (args.has("json")) for (const record of records) console.line(jsonLine(record));
      else
        console.write(
          renderRun(records, { full: args.has("full"), paint: console.paint, width: console.width }),
        );
      return exitCodes.completed;
    } finally {
      await journal.close();
    }
  },
};
