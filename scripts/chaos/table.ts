// The room of the table: the results of a campaign, for a person to read, with the verdict in the last line.

import type { Outcome } from "./campaign.ts";
import { faultNames } from "./faults.ts";
import { isMortal } from "./mind.ts";
import { planOf } from "./plan.ts";
import { type Finding, type PromiseName, promises } from "./verdict.ts";
import type { HeapRow, Judged } from "./words.ts";

type Counts = Map<string, number>;

/** Maximum growth of the heap from the second row to the last. */
export const mostGrowth = 1.1;

/** Sums up agents one by one, so that none has to be kept. */
export class Tally {
  readonly #seed: number;
  readonly endings: Counts = new Map();
  readonly #presets: Counts = new Map();
  readonly #protocols: Counts = new Map();
  readonly #journals: Counts = new Map();
  readonly #faces: Counts = new Map();
  readonly #failures: Counts = new Map();
  readonly #sums: Counts = new Map();
  readonly #times: number[] = [];
  readonly findings: (Finding & { name: string })[] = [];

  constructor(seed: number) {
    this.#seed = seed;
  }

  add({ name, came, ms }: Judged): void {
    const plan = planOf(this.#seed, name, isMortal(name));
    count(this.#presets, plan.preset);
    count(this.#protocols, plan.protocol);
    count(this.#journals, plan.journal);
    count(this.#faces, isMortal(name) ? "killed session" : plan.face);
    for (const ending of came.endings) count(this.endings, ending);
    for (const [kind, many] of Object.entries(came.failures)) count(this.#failures, kind, many);
    const { answers, retries, fallbacks, chosen, tools, brought, questions, unknown } = came;
    const { compactions, delivered, resumed, records } = came;
    for (const [what, many] of Object.entries({
      records,
      answers,
      "tool calls": tools,
      retries,
      "on a fall-back": fallbacks,
      "on a chosen model": chosen,
      "results brought": brought,
      "questions answered": questions,
      "messages delivered": delivered,
      compactions,
      "runs gone on with": resumed,
      "outcomes unknown": unknown,
    }))
      count(this.#sums, what, many);
    if (ms !== undefined) this.#times.push(ms);
    for (const finding of came.findings) this.findings.push({ ...finding, name });
  }

  /** Broken promises, with their counts. */
  get broken(): ReadonlyMap<PromiseName, number> {
    const counts = new Map<PromiseName, number>(promises.map((one) => [one, 0]));
    for (const { promise } of this.findings) counts.set(promise, (counts.get(promise) ?? 0) + 1);
    return counts;
  }

  lines(outcome: Outcome): string[] {
    const times = this.#times.sort((one, other) => one - other);
    const at = (share: number): string => `${Math.round(times[Math.floor(times.length * share)] ?? 0)} ms`;
    return [
      row("agents", [
        ["judged", outcome.judged],
        ["half ended within", at(0.5)],
        ["nearly all within", at(0.99)],
      ]),
      row("runs ended", sorted(this.endings)),
      row("presets", sorted(this.#presets)),
      row("faces", sorted(this.#faces)),
      row("protocols", sorted(this.#protocols)),
      row("journals", sorted(this.#journals)),
      row("requests", [
        ["in all", outcome.requests],
        ["with a fault", [...outcome.faults.values()].reduce((sum, one) => sum + one, 0)],
        ["malformed", outcome.violations.length],
      ]),
      row(
        "faults",
        faultNames.map((name) => [name, outcome.faults.get(name) ?? 0]),
      ),
      row("failures", sorted(this.#failures)),
      row("came of it", [...this.#sums]),
      row("crashes", [
        ["kills", outcome.kills],
        ["lives", outcome.lives],
        ["eras", outcome.eras],
      ]),
      row("broken", [...this.broken]),
      row("unhandled rejections", [["", outcome.unhandled.length]]),
    ];
  }
}

export const heapHead = "     s    agents   heap MB    rss MB";

export const heapLine = ({ at, ended, heapMb, rssMb }: HeapRow): string =>
  [
    (at / 1_000).toFixed(0).padStart(6),
    String(ended).padStart(9),
    heapMb.toFixed(1).padStart(9),
    rssMb.toFixed(0).padStart(9),
  ].join(" ");

/** The heap of the last row divided by the second's. Undefined: too few rows. */
export function growthOf(heap: readonly HeapRow[]): number | undefined {
  const second = heap[1];
  const last = heap.at(-1);
  return second === undefined || last === undefined || heap.length < 3
    ? undefined
    : last.heapMb / second.heapMb;
}

/** Everything that is wrong. Empty: every promise was kept. */
export function against(tally: Tally, outcome: Outcome): string[] {
  const growth = growthOf(outcome.heap);
  const broken = [...tally.broken].filter(([, many]) => many > 0).map(([name, many]) => `${many} of ${name}`);
  return [
    ...broken,
    ...(outcome.unhandled.length > 0 ? [`${outcome.unhandled.length} unhandled rejections`] : []),
    ...(growth !== undefined && growth > mostGrowth ? [`the heap grew to ${growth.toFixed(2)} times`] : []),
    ...(outcome.violations.length > 0 ? [`${outcome.violations.length} malformed requests`] : []),
    ...(outcome.problems.length > 0 ? [`${outcome.problems.length} mistakes in the script`] : []),
    ...(outcome.failed.length > 0 ? [`${outcome.failed.length} processes failed`] : []),
    ...(outcome.judged === 0 ? ["nobody was judged"] : []),
  ];
}

const count = (counts: Counts, name: string, many: number = 1): void =>
  void counts.set(name, (counts.get(name) ?? 0) + many);

const sorted = (counts: Counts): [string, number][] => [...counts].sort(([, one], [, other]) => other - one);

/** A name and its cells, wrapped to the width of the terminal. */
function row(name: string, cells: readonly (readonly [name: string, value: number | string])[]): string {
  const lines: string[] = [];
  let line = "";
  for (const [what, value] of cells) {
    const cell = what === "" ? String(value) : `${what} ${value}`;
    if (line !== "" && line.length + cell.length > 95) {
      lines.push(`${line},`);
      line = "";
    }
    line += line === "" ? cell : `, ${cell}`;
  }
  return `${name.padEnd(22)}${[...lines, line].join(`\n${" ".repeat(22)}`)}`;
}
