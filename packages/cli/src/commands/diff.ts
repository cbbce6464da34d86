// The room of `rondo diff`: where two runs diverge, and what each did then.

import { diff } from "@rondo/core/explain";
import { UsageError } from "../console/failure.ts";
import { jsonLine } from "../console/plain-text.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Command, journalOption } from "../line/command.ts";
import { rondo } from "../line/command-name.ts";
import { renderDiff } from "../render/diff.ts";
import { withJournal } from "../runs/find-run.ts";
import { noRules } from "../summary.ts";

export const diffRuns: Command = {
  name: "diff",
  words: "RUN RUN",
  does: "Show where two runs diverge, and what follows on each side; exit code 1 if they do",
  maxWords: 2,
  options: {
    full: { type: "boolean", does: "Cut nothing" },
    json: { type: "boolean", does: "Print one JSON object" },
    ...journalOption,
  },
  async act(args, console) {
    if (args.words.length < 2)
      throw new UsageError(
        `rondo diff takes two runs, e.g. ${rondo} diff abc123 last; \`${rondo} runs\` lists them`,
      );
    return withJournal(args, console, "to read", async ({ find }) => {
      const a = await find(args.words[0]);
      const b = await find(args.words[1]);
      const { paint, width } = console;
      const found = diff(a.records, b.records, noRules);
      if (args.has("json")) console.line(jsonLine({ runs: [a.id, b.id], ...found }));
      else console.write(renderDiff(found, [a.id, b.id], { full: args.has("full"), paint, width }));
      return found.same ? exitCodes.completed : exitCodes.error;
    });
  },
};
