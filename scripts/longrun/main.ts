// `npm run -s longrun [-- --steps 2000] [--window 32000] [--journal FILE]`: a long run in a small window, and its curve.
//
// The last line is the verdict; exits with 1 when a request did not fit, a fact was lost, or the work grows faster
// than the number of steps, with 2 for a wrong command line.

import { sqliteJournal } from "@rondo/journal";
import { CommandLine } from "../command-line.ts";
import { faultsOf, type LongRunRow, longRun } from "./simulate.ts";

const asked: CommandLine = new CommandLine("longrun");
const values = asked.options({
  steps: { type: "string", default: "2000" },
  window: { type: "string", default: "32000" },
  journal: { type: "string" },
});
const steps = asked.whole("steps", values.steps, 1);
const window = asked.whole("window", values.window, 1);

const head = [
  "steps",
  "tokens",
  "messages",
  "cpu ms",
  "measured",
  "encoded",
  "trims",
  "compactions",
  "broken",
];
const line = (cells: readonly (string | number)[]): string =>
  cells.map((cell) => String(cell).padStart(11)).join(" ");

const cells = (row: LongRunRow): number[] => [
  row.step,
  row.tokens,
  row.messages,
  row.cpuMs,
  row.measured,
  row.encoded,
  row.trims,
  row.compactions,
  row.broken,
];

console.log(
  `${steps} steps in a window of ${window} tokens; the largest request and the work of each stretch`,
);
console.log(line(head));
const run = await longRun({
  steps,
  window,
  facts: 20,
  every: Math.max(1, Math.round(steps / 20)),
  ...(values.journal === undefined ? {} : { journal: sqliteJournal(values.journal) }),
  onRow: (row) => console.log(line(cells(row))),
});

const faults = faultsOf(run, { steps, window });
console.log(
  `${run.records} records, ${run.operations} messages measured or encoded (${(run.operations / run.steps).toFixed(1)} a step), ${run.found} of ${run.planted} facts, largest request ${run.largest} of ${window} tokens, ${run.refused} refused, ${run.replayed} requests the same in the replay`,
);
console.log(faults.length === 0 ? "longrun: holds" : `longrun: broken: ${faults.join("; ")}`);
process.exitCode = faults.length === 0 ? 0 : 1;
