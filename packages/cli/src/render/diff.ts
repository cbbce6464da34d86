// The room of the diff page: two runs side by side, step by step.

import type { Moment, SessionDiff, Side } from "@rondo/core/explain";
import { plainText } from "../console/plain-text.ts";
import { oneLine, shortArgs, wrapped } from "../console/shorten.ts";
import { endText } from "./ending.ts";
import type { PageOptions } from "./page.ts";
import { costText, counted } from "./usage.ts";

/** Renders two sessions side by side. */
export function renderDiff(
  diff: SessionDiff,
  [a, b]: readonly [string, string],
  { paint, width, full }: PageOptions,
): string {
  const same = counted(diff.shared, "record");
  if (diff.same) return `${a} and ${b} are the same: ${same}, apart from times and names\n`;
  const column = Math.max(20, Math.floor((width - 3) / 2));
  const row = (left: string, right: string): string => `${pad(left, column)} │ ${right}`.trimEnd();
  const beside = (left: readonly string[], right: readonly string[]): string[] =>
    Array.from({ length: Math.max(left.length, right.length) }, (_, at) =>
      row(left[at] ?? "", right[at] ?? ""),
    );
  const where =
    diff.shared === 0 ? "from the start" : `in step ${diff.step}${diff.run > 1 ? ` of run ${diff.run}` : ""}`;
  const lines = [
    paint("bold", `${a} and ${b} part ${where}, after ${same} in common`),
    "",
    paint("bold", row(a, b)),
    ...rows(diff).flatMap(([one, other]) =>
      beside(momentLines(one, column, full), momentLines(other, column, full)),
    ),
    "",
    paint("bold", row("in all", "in all")),
    ...beside(sumLines(diff.a, column, full), sumLines(diff.b, column, full)),
  ];
  return `${lines.join("\n")}\n`;
}

/** Pairs up the moments of the same step. */
function rows({ a, b }: SessionDiff): [Moment | undefined, Moment | undefined][] {
  const result: [Moment | undefined, Moment | undefined][] = [];
  const place = ({ run, step }: Moment): number => run * 1_000_000 + step;
  const places = [...new Set([...a.moments, ...b.moments].map(place))].sort((one, other) => one - other);
  for (const at of places) {
    const [left, right] = [a, b].map((side) => side.moments.filter((one) => place(one) === at));
    const height = Math.max(left?.length ?? 0, right?.length ?? 0);
    for (let row = 0; row < height; row += 1) result.push([left?.[row], right?.[row]]);
  }
  return result;
}

function momentLines(moment: Moment | undefined, column: number, full: boolean): string[] {
  if (moment === undefined) return [];
  const { what, name, args, text, step } = moment;
  const head = step === 0 ? "" : `${step} `;
  const words =
    what === "call"
      ? `→ ${name} ${shortArgs(args ?? {}, cut(column * 2, full))} ${text}`
      : what === "result"
        ? `${name} gave: ${text}`
        : `${what}: ${text}`;
  const line = `${head}${oneLine(words, cut(column * 3, full))}`;
  return wrapped(line, column);
}

function sumLines(side: Side, column: number, full: boolean): string[] {
  const { models, steps, toolCalls, end, text } = side;
  return [
    `model ${models.join(", ") || "none"}`,
    `${counted(steps, "step")}, ${counted(toolCalls, "call")}, ${spentText(side)}`,
    end === undefined ? "not ended" : endText(end),
    text === "" ? "" : `text: ${oneLine(text, cut(column * 3, full))}`,
  ].flatMap((line) => (line === "" ? [] : wrapped(plainText(line), column)));
}

/** How many characters of a text to show. */
const cut = (usual: number, full: boolean): number => (full ? Number.POSITIVE_INFINITY : usual);

function spentText({ tokens, uncounted, usd }: Side): string {
  if (tokens === undefined) return "usage unknown";
  const cost = costText({ tokens, usd });
  return `${uncounted > 0 ? "at least " : ""}${counted(tokens, "token")}${cost === "" ? "" : `, ${cost}`}`;
}

const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - [...text].length));
