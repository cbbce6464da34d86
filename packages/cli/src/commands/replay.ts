// The room of `rondo replay`: rebuilds what the model was sent, and compares it.

import { type Difference, type Replay, replay } from "@rondo/core";
import type { Console } from "../console/console.ts";
import { jsonLine, plainText } from "../console/plain-text.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Command, journalOption } from "../line/command.ts";
import { changeLines } from "../render/changes.ts";
import { counted } from "../render/usage.ts";
import { todayOf } from "../runs/current-agent.ts";
import { withJournal } from "../runs/find-run.ts";
import { noRules } from "../summary.ts";

export const replayRun: Command = {
  name: "replay",
  words: "RUN",
  does: "Rebuild every request of a run from its records, without model and tools, and show the first that differs; exit code 1 if one does",
  maxWords: 1,
  options: {
    json: { type: "boolean", does: "Print one JSON object" },
    full: { type: "boolean", does: "Cut nothing" },
    ...journalOption,
  },
  act: (args, console) =>
    withJournal(args, console, "to read", async ({ find }) => {
      const found = await find(args.words[0]);
      const today = todayOf(found);
      const known = "resolved" in today;
      const { rules, options } = known ? today.resolved : { rules: noRules, options: undefined };
      const made = replay(found.records, rules, options);
      const differs = made.difference !== undefined || made.today !== undefined;
      if (args.has("json")) console.line(jsonLine(asJson(found.id, made)));
      else tell(found.id, made, known ? undefined : today.unknown, args.has("full"), console);
      return differs ? exitCodes.error : exitCodes.completed;
    }),
};

function asJson(run: string, { requests, difference, today }: Replay): object {
  const same = requests.filter((one) => one.same).length;
  return {
    run,
    requests: requests.length,
    same,
    ...(difference === undefined ? {} : { difference }),
    ...(today === undefined ? {} : { today }),
  };
}

function tell(
  run: string,
  { requests, difference, today }: Replay,
  unknown: string | undefined,
  full: boolean,
  console: Console,
): void {
  const { paint, width } = console;
  const cut = full ? Number.POSITIVE_INFINITY : Math.max(40, width - 12);
  const all = counted(requests.length, "request");
  const same = requests.filter((one) => one.same).length;
  if (difference === undefined)
    console.line(
      paint("green", `run ${run}: ${all} rebuilt from the records, byte for byte what the model was sent`),
    );
  else {
    console.line(
      paint(
        "red",
        `run ${run}: ${same} of ${all} match what the model was sent; ${placeOf(difference)} is the first that differs`,
      ),
    );
    for (const line of whyRecords(difference, cut)) console.line(line);
  }
  if (unknown !== undefined)
    console.line(paint("dim", `no comparison with what would be sent today: ${plainText(unknown)}`));
  else if (today === undefined && difference === undefined)
    console.line(paint("dim", "a run started today would send the same"));
  else if (today !== undefined) {
    console.line(
      paint("yellow", `a run started today would send something else, first in ${placeOf(today)}:`),
    );
    for (const line of changeLines(today.parts, cut)) console.line(`  ${line}`);
    if (today.causes.length > 0) {
      console.line("because these options changed:");
      for (const line of changeLines(today.causes, cut)) console.line(`  ${line}`);
    } else console.line("no option changed: the code that makes requests did");
  }
}

function whyRecords({ parts, causes }: Difference, cut: number): string[] {
  if (parts.length > 0)
    return [
      ...changeLines(parts, cut).map((line) => `  ${line}`),
      `because ${causes.map(({ what, was, is }) => `${what}: ${String(was)} became ${String(is)}`).join("; ")}`,
    ];
  const versions = changeLines(causes, cut).map((line) => `  ${line}`);
  return [
    "  what was sent cannot be shown: a record keeps only its digest",
    ...(versions.length === 0
      ? ["  no rule changed its version: the code that makes requests, or a text of the agent, changed"]
      : ["  these rules changed:", ...versions]),
  ];
}

const placeOf = ({ step, summary, seq }: Difference): string =>
  summary === undefined
    ? `the request of step ${step} (record ${seq})`
    : `summary ${summary.part} of ${summary.of} before step ${step} (record ${seq})`;
