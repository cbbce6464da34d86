// The room of `rondo diff`: where two runs part, and what each did then.

import { diff } from "@rondo/core";
import { UsageError } from "../console/failure.ts";
import { jsonLine } from "../console/plain-text.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Command, journalOption } from "../line/command.ts";
import { renderDiff } from "../render/diff.ts";
import { findRun } from "../runs/find-run.ts";
import { journalPlace, openKnownJournal } from "../runs/journal-place.ts";
import { noRules } from "../summary.ts";

export const diffRuns: Command = {
  name: "diff",
  words: "RUN RUN",
  does: "Show where two runs part, and what follows on each side; exit code 1 when they do",
  maxWords: 2,
  options: {
    full: { type: "boolean", does: "Cut nothing" },
    json: { type: "boolean", does: "Print one JSON object" },
    ...journalOption,
  },
  async act(args, console) {
    const place = journalPlace(args, console.env);
    if (args.words.length < 2)
      throw new UsageError("rondo diff takes two runs, e.g. rondo diff abc123 last; `rondo runs` lists them");
    const journal = await openKnownJournal(place, console);
    try {
      const a = await findRun(args.words[0], journal, place.file);
      const b = await findRun(args.words[1], journal, place.file);
      const found = diff(a.records, b.records, noRules);
      if (args.has("json")) console.line(jsonLine({ runs: [a.id, b.id], ...found }));
      else
        console.write(
          renderDiff(found, [a.id, b.id], {
            full: args.has("full"),
            paint: console.paint,
            width: console.width,
          }),
        );
      return found.same ? exitCodes.completed : exitCodes.error;
    } finally {
      await journal.close();
    }
  },
};
