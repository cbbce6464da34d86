// The room of the report: the score of each file and each folder (room), and the survivors.
//
// Score: killed mutants divided by all that were tried, without the explained ones. A mutant that no test reaches has survived.

import type { Tried } from "./campaign.ts";
import { type Explained, entryOf, keyOf } from "./explained.ts";

export interface Score {
  name: string;
  mutants: number;
  killed: number;
  survived: number;
  explained: number;
  /** In percent. */
  score: number;
}

export function scoreOf(name: string, tried: readonly Tried[], explained: ReadonlySet<string>): Score {
  const killed = tried.filter(isKilled).length;
  const known = tried.filter((one) => !isKilled(one) && explained.has(keyOf(one.mutant))).length;
  const counted = tried.length - known;
  return {
    name,
    mutants: tried.length,
    killed,
    survived: tried.length - killed,
    explained: known,
    score: counted === 0 ? 100 : (100 * killed) / counted,
  };
}

export const isKilled = ({ verdict }: Tried): boolean => verdict === "killed" || verdict === "hung";

const lineOf = ({ name, mutants, killed, survived, explained, score }: Score): string =>
  `${name}: ${mutants} mutants, ${killed} killed, ${survived} survived (${explained} explained), score ${score.toFixed(1)} %`;

/** The lines of the report, and the score of each folder. */
export function reportOf(
  tried: readonly Tried[],
  explained: readonly Explained[],
): { lines: string[]; rooms: Score[] } {
  const known = new Set(explained.map(({ key }) => key));
  const lines: string[] = [];
  const files = [...new Set(tried.map(({ mutant }) => mutant.file))];
  for (const file of files) {
    const mine = tried.filter(({ mutant }) => mutant.file === file);
    lines.push(lineOf(scoreOf(file, mine, known)));
    for (const { mutant, verdict } of mine)
      if (verdict === "survived" || verdict === "unmet") {
        if (known.has(keyOf(mutant))) continue;
        const note = verdict === "unmet" ? " (no test meets it)" : "";
        lines.push(`  ${file}:${mutant.line} ${mutant.kind}${note}`, `    ${entryOf(mutant)}`);
      }
  }
  const alive = new Set(tried.filter((one) => !isKilled(one)).map(({ mutant }) => keyOf(mutant)));
  for (const { key, file } of explained)
    if (files.includes(file) && !alive.has(key)) lines.push(`stale in survivors.md: ${key}`);
  const names = [...new Set(files.map((file) => file.split("/")[0] as string))];
  const rooms = names.map((name) =>
    scoreOf(
      name,
      tried.filter(({ mutant }) => mutant.file.split("/")[0] === name),
      known,
    ),
  );
  lines.push(...rooms.map(lineOf), lineOf(scoreOf("in all", tried, known)));
  return { lines, rooms };
}
