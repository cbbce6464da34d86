// The room of the report: renders the results as a section of bench/RESULTS.md, and a plot per scenario.
//
// Both are made from bench/contest.json, where `--write` saves the figures; `--render` renders them again.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, platform } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { growthOf } from "./contest.ts";
import { plans } from "./plan.ts";
import { type Bar, plot } from "./plot.ts";
import { versionsOf } from "./sizes.ts";
import { notes, type Subject, subjectNamed, subjects } from "./subjects.ts";
import { type Outcome, verdictOf } from "./verdict.ts";

export interface Report extends Outcome {
  /** Day, and the machine's description. */
  date: string;
  machine: string;
  versions: string[];
}

const bench = fileURLToPath(new URL("..", import.meta.url));
const dataFile = join(bench, "contest.json");
const resultsFile = join(bench, "RESULTS.md");
const [opening, closing] = [
  "<!-- contest: drawn by `npm run -s bench -- --write` from bench/contest.json -->",
  "<!-- /contest -->",
];

/** Adds machine and package versions to the results, and saves them. */
export function keep(outcome: Outcome): void {
  const versions = new Set(subjects.flatMap((subject) => versionsOf(subject)));
  const report: Report = {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), ${platform()} ${arch()}, Node ${process.versions.node}`,
    versions: [...versions],
    ...outcome,
  };
  writeFileSync(dataFile, `${JSON.stringify(report, null, 1)}\n`);
}

/** Renders the section and the plots from the saved results. */
export function render(): void {
  const report = JSON.parse(readFileSync(dataFile, "utf8")) as Report;
  const before = readFileSync(resultsFile, "utf8");
  const section = `${opening}\n\n${sectionOf(report)}\n${closing}`;
  const from = before.indexOf(opening);
  const to = before.indexOf(closing);
  const after =
    from === -1
      ? `${before.trimEnd()}\n\n${section}\n`
      : before.slice(0, from) + section + before.slice(to + closing.length);
  writeFileSync(resultsFile, after);
  mkdirSync(join(bench, "plots"), { recursive: true });
  for (const [name, svg] of plotsOf(report)) writeFileSync(join(bench, "plots", `${name}.svg`), svg);
}

/** Floors and Rondo appear twice. */
const label = ({ title, kind, protocol }: Subject): string =>
  protocol === "anthropic-messages" && kind !== "peer" ? `${title} (Anthropic)` : title;
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
const table = (rows: readonly (readonly string[])[]): string => {
  const [head = [], ...rest] = rows;
  return [head, head.map(() => "---"), ...rest].map((row) => `| ${row.join(" | ")} |`).join("\n");
};

export function sectionOf(report: Report): string {
  const taking = subjects.filter(({ name }) =>
    [...report.figures, ...report.failures].some(({ subject }) => subject === name),
  );
  const cells = (of: (figure: Outcome["figures"][number]) => string): string => cellsOf(report, taking, of);
  return `## Beside the peers

${report.date}. ${report.machine}. Every cell is a fresh process against one server in another; floors and Rondo ran
${roundsOf(report, "rondo")} rounds in turns, peers ${roundsOf(report, "peer")} (a peer that needs over 8 s of CPU for a cell runs it once); medians. Each subject did the same
work, and was checked to: requests, tool results in the last of them, calls, arguments, every delta heard, the last answer.
Measured from after the import and one run of two steps to the end of the last answer; \`cold\` is the whole process. Answers
come as streams, four frames a write. \`npm run -s bench -- --verdict --write\` repeats it.

CPU, in units of the \`fetch\` loop of the same protocol (of Chat Completions where there is no wire):

${cells((figure) => times(figure.cpuRatio))}

CPU, milliseconds:

${cells((figure) => figure.cpu.toFixed(0))}

Of it, the main thread's part (the rest is V8's own threads, which compile and collect garbage):

${cells((figure) => figure.main.toFixed(0))}

Wall, in units of the \`fetch\` loop's:

${cells((figure) => times(figure.wallRatio))}

Wall, milliseconds:

${cells((figure) => figure.wall.toFixed(0))}

Peak memory, MB:

${cells((figure) => (figure.rss / 1024).toFixed(0))}

How CPU grows from 50 to 1,000 steps (1: linear; every request carries the whole history, so that bytes grow by 2):

${growthsOf(report, taking)}

Install size, the dependencies with it (two for Rondo: core and models):

${sizesOf(report)}

Import in a fresh process, wall: core ${report.imports?.core.toFixed(1)} ms, core with one provider ${report.imports?.withProvider.toFixed(1)} ms; ajv, for comparison, ${report.imports?.yardstick.toFixed(1)} ms.

${failuresOf(report)}

${notes.map((note) => `- ${note}`).join("\n")}

The bounds:

\`\`\`
${boundsOf(report)}
\`\`\`

Versions: ${report.versions.join(", ")}.

Plots: ${plotLinks(report)}.
`;
}

/** How many rounds subjects of a kind took part in. */
function roundsOf({ figures }: Report, kind: Subject["kind"]): string {
  const counts = figures
    .filter(({ subject }) => subjectNamed(subject).kind === kind)
    .map((figure) => figure.runs);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? `${most}` : `${least} (short cells ${most})`;
}

/** One row per subject, one column per scenario. A missing cell has a word for the reason. */
function cellsOf(
  { figures, failures }: Report,
  taking: readonly Subject[],
  of: (figure: Outcome["figures"][number]) => string,
): string {
  const scenarios = Object.keys(plans).filter((name) => figures.some(({ scenario }) => scenario === name));
  const cell = (scenario: string, { name }: Subject): string => {
    const is = (one: { scenario: string; subject: string }): boolean =>
      one.scenario === scenario && one.subject === name;
    const figure = figures.find(is);
    return figure === undefined ? (failures.find(is)?.kind ?? "") : of(figure);
  };
  return table([
    ["", ...scenarios],
    ...taking.map((subject) => [label(subject), ...scenarios.map((scenario) => cell(scenario, subject))]),
  ]);
}

const times = (value: number | undefined): string =>
  value === undefined ? "" : value < 10 ? value.toFixed(2) : value.toFixed(0);

function growthsOf({ figures }: Report, taking: readonly Subject[]): string {
  const rows = taking.flatMap((subject) => {
    const growth = growthOf(figures, subject.name);
    return growth === undefined ? [] : [[label(subject), growth.toFixed(2)]];
  });
  return table([["", "exponent"], ...rows]);
}

function sizesOf({ sizes = [] }: Report): string {
  const rows = sizes
    .toSorted((one, other) => one.bytes - other.bytes)
    .map(({ subject, bytes, packages }) => [
      label(subjectNamed(subject)),
      megabytes(bytes),
      String(packages),
    ]);
  return table([["", "MB", "packages"], ...rows]);
}

function failuresOf({ failures }: Report): string {
  if (failures.length === 0) return "Nobody failed.";
  return failures
    .map(
      ({ scenario, subject, kind, why }) => `- ${label(subjectNamed(subject))}, ${scenario}: ${kind}: ${why}`,
    )
    .join("\n");
}

const boundsOf = (report: Report): string =>
  verdictOf(report)
    .map(({ ok, bound, figures }) => `${ok ? "ok" : "not ok"} ${bound}: ${figures}`)
    .join("\n");

const plotLinks = (report: Report): string =>
  plotsOf(report)
    .map(([name]) => `[${name}](plots/${name}.svg)`)
    .join(", ");

/** One plot per scenario, by name. */
function plotsOf({ figures, sizes = [] }: Report): [string, string][] {
  const drawn = Object.keys(plans).flatMap((scenario): [string, string][] => {
    const bars = figures
      .filter((figure) => figure.scenario === scenario && figure.protocol !== "none")
      .flatMap(({ subject, cpuRatio, cpu }): Bar[] => {
        const { kind } = subjectNamed(subject);
        return cpuRatio === undefined
          ? []
          : [
              {
                label: label(subjectNamed(subject)),
                value: cpuRatio,
                text: `${cpuRatio.toFixed(2)} (${cpu.toFixed(0)} ms)`,
                kind,
              },
            ];
      });
    return bars.length === 0
      ? []
      : [[scenario, plot(scenario, "CPU, in units of the fetch loop of the same protocol", bars, 10)]];
  });
  const bars = sizes.map(
    ({ subject, bytes, packages }): Bar => ({
      label: label(subjectNamed(subject)),
      value: bytes,
      text: `${megabytes(bytes)} MB in ${packages} package${packages === 1 ? "" : "s"}`,
      kind: subjectNamed(subject).kind,
    }),
  );
  if (bars.length > 0) drawn.push(["install-size", plot("install size", "MB on disk", bars, 200e6)]);
  return drawn;
}
