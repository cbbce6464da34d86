// The room of the verdict: checks the measured figures against the bounds that Rondo has set itself.
//
// When a bound relative to a floor is not kept, the line also shows three other subjects in the same unit:
//
// - "kept and pure": the hand-written node:http loop with Rondo's design (`subjects/pure-by-hand.mjs`). If it exceeds the
//   bound, no loop of this design can keep it.
// - "with a wire by hand": Rondo's loop over that loop's codec and transport, which handle no faults
//   (`subjects/model-by-hand.mjs`). With few steps and short answers this is nearly the loop alone: a bound it exceeds is up
//   to the loop. With long histories or answers it says nothing, because Rondo's own codec is faster there.
// - "with a loop by hand": the kept and pure loop over Rondo's codec and transport (`subjects/pure-over-model.mjs`). A bound
//   it exceeds is up to these.
//
// There is no tolerance for noise: a bound is kept or not. Noise is reduced in the measurement, by medians over rounds,
// each relative to the floor of the same round. A bound with a missing figure is not kept.
//
// Bounds of import times are milliseconds, whatever the machine. Beside them stands what an import of ajv takes, whose time on
// the machine that the bounds were set for is known.
//
// "Rondo" is the default on Node, over node:http, in both protocols. Over `fetch` it is shown, but has no bounds.

import { median } from "../measure.ts";
import { type Failure, type Figure, growthOf } from "./contest.ts";
import { type ImportTimes, yardstickThere } from "./import-times.ts";
import type { Size } from "./sizes.ts";
import { subjectNamed, subjects } from "./subjects.ts";

export interface Line {
  ok: boolean;
  /** The bound, in words. */
  bound: string;
  /** The figures, in words. */
  figures: string;
}

export interface Outcome {
  figures: Figure[];
  failures: Failure[];
  sizes?: Size[];
  imports?: ImportTimes;
}

/** Scenarios with bounds against floors. A cold start is bounded by peers and import times instead. */
export const streaming: readonly string[] = [
  "50-steps",
  "400-steps",
  "1000-steps",
  "20000-deltas",
  "200kb-arguments",
  "100-tools",
  "200-agents",
];

/** Per protocol: Rondo, the floors, and the subjects shown for comparison. */
const fields = [
  { rondo: "rondo", fetch: "fetch", node: "node", others: othersOf("") },
  {
    rondo: "rondo-anthropic",
    fetch: "fetch-anthropic",
    node: "node-anthropic",
    others: othersOf("-anthropic"),
  },
];

function othersOf(protocol: string): [title: string, subject: string][] {
  return [
    ["kept and pure", `pure${protocol}`],
    ["with a wire by hand", `rondo-wire${protocol}`],
    ["with a loop by hand", `rondo-model${protocol}`],
  ];
}

const roundsOf = (figures: readonly Figure[], scenario: string, name: string): readonly number[] =>
  figures.find((figure) => figure.scenario === scenario && figure.subject === name)?.rounds ?? [];

/** The median of the CPU ratios of two subjects, round by round. Both took part in every round. */
function ratioOf(
  figures: readonly Figure[],
  scenario: string,
  one: string,
  other: string,
): number | undefined {
  const above = roundsOf(figures, scenario, one);
  const below = roundsOf(figures, scenario, other);
  if (above.length === 0 || above.length !== below.length) return undefined;
  return median(above.map((cpu, round) => cpu / (below[round] ?? Number.NaN)));
}

export function verdictOf(outcome: Outcome): Line[] {
  const { figures } = outcome;
  const lines: Line[] = [];
  const hold = (
    bound: string,
    value: number | undefined,
    most: number | undefined,
    strictly: boolean,
    say: (value: number, most: number) => string,
  ): void => {
    if (value === undefined || most === undefined || Number.isNaN(value) || Number.isNaN(most))
      lines.push({ ok: false, bound, figures: "not measured" });
    else lines.push({ ok: strictly ? value < most : value <= most, bound, figures: say(value, most) });
  };
  for (const { rondo, fetch, node, others } of fields) {
    const { protocol } = subjectNamed(rondo);
    for (const scenario of streaming) {
      hold(
        `${scenario}, ${protocol}: CPU at or below the fetch loop's`,
        ratioOf(figures, scenario, rondo, fetch),
        1,
        false,
        (value, most) =>
          `${value.toFixed(2)} of it${value <= most ? "" : besideOf(figures, scenario, others, fetch)}`,
      );
      hold(
        `${scenario}, ${protocol}: CPU within 1.3 of the node:http loop's`,
        ratioOf(figures, scenario, rondo, node),
        1.3,
        false,
        (value, most) =>
          `${value.toFixed(2)} of it${value <= most ? "" : besideOf(figures, scenario, others, node)}`,
      );
    }
    hold(
      `${protocol}: growth from 50 to 1,000 steps at most the node:http loop's plus 0.05`,
      growthOf(figures, rondo),
      plus(growthOf(figures, node), 0.05),
      false,
      (value, most) => `exponent ${value.toFixed(3)}, at most ${most.toFixed(3)}`,
    );
  }
  for (const scenario of [...streaming, "cold"]) aheadOfPeers(outcome, scenario, lines);
  smallest(outcome, lines);
  const { core, withProvider, yardstick } = outcome.imports ?? {};
  for (const [what, ms, most] of [
    ["core", core, 20],
    ["core with one provider", withProvider, 40],
  ] as const)
    hold(
      `import of ${what} under ${most} ms`,
      ms,
      most,
      true,
      (value) =>
        `${value.toFixed(1)} ms; ajv, ${yardstickThere} where the bound was set, takes ${yardstick?.toFixed(1) ?? "?"}`,
    );
  return lines;
}

function besideOf(
  figures: readonly Figure[],
  scenario: string,
  others: readonly [title: string, subject: string][],
  unit: string,
): string {
  return others
    .map(([title, subject]) => ({ title, ratio: ratioOf(figures, scenario, subject, unit) ?? Number.NaN }))
    .filter(({ ratio }) => !Number.isNaN(ratio))
    .map(({ title, ratio }) => `; ${title}, ${ratio.toFixed(2)}`)
    .join("");
}

const plus = (value: number | undefined, more: number): number | undefined =>
  value === undefined ? undefined : value + more;

/** In each scenario, against every peer of Rondo's protocol, relative to the fetch loop. A peer that failed does not count as beaten. */
function aheadOfPeers({ figures, failures }: Outcome, scenario: string, lines: Line[]): void {
  for (const { rondo } of fields) {
    const { protocol } = subjectNamed(rondo);
    const bound = `${scenario}, ${protocol}: ahead of every peer`;
    const own = figures.find((one) => one.scenario === scenario && one.subject === rondo)?.cpuRatio;
    const peers = subjects.filter((one) => one.kind === "peer" && one.protocol === protocol);
    const theirs = figures
      .filter((one) => one.scenario === scenario && peers.some(({ name }) => name === one.subject))
      .toSorted((one, other) => (one.cpuRatio ?? Number.NaN) - (other.cpuRatio ?? Number.NaN));
    const failed = failures.filter(
      (one) => one.scenario === scenario && peers.some(({ name }) => name === one.subject),
    );
    const [best] = theirs;
    if (own === undefined || best?.cpuRatio === undefined || theirs.length + failed.length < peers.length) {
      lines.push({ ok: false, bound, figures: "not measured" });
      continue;
    }
    lines.push({
      ok: own < best.cpuRatio,
      bound,
      figures: `${own.toFixed(2)} of the fetch loop's CPU; the best, ${subjectNamed(best.subject).title}, ${best.cpuRatio.toFixed(2)}${
        failed.length === 0
          ? ""
          : `; did not do it: ${failed.map((one) => subjectNamed(one.subject).title).join(", ")}`
      }`,
    });
  }
}

function smallest({ sizes = [] }: Outcome, lines: Line[]): void {
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  const own = sizes.find(({ subject }) => subject === "rondo");
  const [best] = sizes
    .filter(({ subject }) => subjectNamed(subject).kind === "peer")
    .toSorted((one, other) => one.bytes - other.bytes);
  lines.push({
    ok: own !== undefined && best !== undefined && own.bytes < best.bytes,
    bound: "install size: ahead of every peer",
    figures:
      own === undefined || best === undefined
        ? "not measured"
        : `${megabytes(own.bytes)}; the smallest, ${subjectNamed(best.subject).title}, ${megabytes(best.bytes)}`,
  });
}
