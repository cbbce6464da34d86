// The room of `rondo journal`: checks the journal itself, not the runs in it.

import { existsSync } from "node:fs";
import { checkJournal, type Finding } from "@rondo/journal";
import { UsageError } from "../console/failure.ts";
import { jsonLine, plainText } from "../console/plain-text.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Command, journalOption } from "../line/command.ts";
import { rondo } from "../line/command-name.ts";
import { counted } from "../render/usage.ts";
import { journalPlace, noJournal, placeNamed } from "../runs/journal-place.ts";

export const journal: Command = {
  name: "journal",
  words: "check [FILE|DIR]",
  does: "Verify a journal: its file, its numbering, its records. Exit code 0: intact; 1: something is wrong",
  maxWords: 2,
  options: {
    repair: {
      type: "boolean",
      does: "Cut off a torn tail: what a crash left after the last whole line of a JSONL file. Nothing else is ever repaired",
    },
    json: { type: "boolean", does: "Print what was found as one JSON object" },
    ...journalOption,
  },
  async act(args, console) {
    const [what, given] = args.words;
    if (what !== "check")
      throw new UsageError(
        `rondo journal ${what === undefined ? "needs a word" : `cannot ${JSON.stringify(plainText(what))}`}: ${rondo} journal check [FILE|DIR]`,
      );
    if (given !== undefined && args.has("journal"))
      throw new UsageError("a journal is named once: by FILE, or by --journal");
    const place =
      given === undefined
        ? journalPlace(args, console.env)
        : { ...placeNamed(given), named: "option" as const };
    const { file, kind } = place;
    if (kind === "restate")
      throw new UsageError("a journal on Restate is checked by its server: restate: names no file to check");
    if (!existsSync(file)) throw noJournal(place);
    const report = checkJournal(file, { repair: args.has("repair") });
    const open = report.findings.filter((finding) => !finding.repaired).length;
    if (args.has("json")) console.line(jsonLine(report));
    else {
      for (const finding of report.findings) console.line(lineOf(finding));
      const { sessions, records, bytes, findings } = report;
      const sums = [counted(sessions, "whole session"), counted(records, "record"), counted(bytes, "byte")];
      const repaired = findings.length - open;
      if (repaired > 0) sums.push(`${repaired} repaired`);
      console.line(
        `${plainText(report.path)}: ${sums.join(", ")}, ${open === 0 ? "nothing is wrong" : `${open} wrong`}`,
      );
      if (report.findings.some((one) => one.what === "torn_tail" && !one.repaired))
        console.errorLine("a torn tail is cut off by the next run that writes there, or now with --repair");
    }
    return open === 0 ? exitCodes.completed : exitCodes.error;
  },
};

function lineOf({ what, message, repaired }: Finding): string {
  const kind = repaired ? "repaired" : what.replaceAll("_", " ");
  return `${kind}: ${plainText(message)}`;
}
