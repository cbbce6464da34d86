// The room of orders: arithmetic, literal writes and edits, and weighing what other solvers counted.

import type { Goal } from "../goal.ts";
import { type Asking, type Finding, failureOf, type Outcome, readStep, together } from "../plan.ts";
import type { Toolbox } from "../toolbox.ts";
import { count } from "./folders.ts";
import { outline } from "./outline.ts";
import { search } from "./search.ts";
import { measure } from "./texts.ts";
import { type Context, sentence } from "./where.ts";
import { code, counted, humanList, plural } from "./words.ts";

/** A sum, computed by the calculator tool. */
export function* calculate(goal: Extract<Goal, { do: "calculate" }>, toolbox: Toolbox): Asking<Finding> {
  const stars = /\*\*/.test(toolbox.describes("calculate")) && !/\^/.test(toolbox.describes("calculate"));
  const expression = stars ? goal.expression.replaceAll("^", "**") : goal.expression;
  const [outcome] = yield [{ trade: "calculate", args: { expression } }];
  const why = failureOf(outcome, "arithmetic");
  if (why !== undefined || outcome === undefined)
    return {
      text: `I could not compute ${code(goal.expression)}: ${(why ?? "").replace(/^Error:\s*/i, "")}.`,
      reached: false,
    };
  const text = outcome.text.trim();
  const result = /^(?:.*=\s*)?(-?[\d.]+(?:e[+-]?\d+)?)/i.exec(text)?.[1];
  const value = Number(result);
  return {
    text: `${code(goal.expression)} = **${text}**`,
    ...(result !== undefined && Number.isFinite(value) ? { number: value } : {}),
    reached: true,
  };
}

/** A file with the content the task gave, word for word. */
export function* write(goal: Extract<Goal, { do: "write" }>): Asking<Finding> {
  const path = goal.place.path;
  const content = goal.content.endsWith("\n") ? goal.content : `${goal.content}\n`;
  const [outcome] = yield [{ trade: "write", args: { path, content } }];
  return changeOf(path, "written", outcome, `writing ${code(path)}`);
}

/** Replaces one text by another, everywhere in a file. */
export function* edit(goal: Extract<Goal, { do: "edit" }>): Asking<Finding> {
  const path = goal.place.path;
  // Read first: tools refuse to change a file that was not read, and a missing file is noticed before anybody is asked.
  const [seen] = yield [readStep(path)];
  const unread = failureOf(seen, `reading ${code(path)}`);
  if (unread !== undefined) return notDone(path, "changed", unread);
  const [outcome] = yield [
    { trade: "edit", args: { path, oldText: goal.find, newText: goal.put, replaceAll: true } },
  ];
  return changeOf(path, "changed", outcome, `editing ${code(path)}`);
}

/** The finding of a change. */
function changeOf(path: string, done: string, outcome: Outcome | undefined, doing: string): Finding {
  const why = failureOf(outcome, doing);
  if (why !== undefined) return notDone(path, done, why);
  return {
    text: `Done. ${sentence(outcome?.text.trim() ?? "")}`.trimEnd(),
    subject: path,
    scope: path,
    yes: true,
    reached: true,
  };
}

const notDone = (path: string, done: string, why: string): Finding => ({
  text: `${code(path)} was not ${done}: ${why.replace(/^Error:\s*/i, "").replace(/\.$/, "")}.`,
  subject: path,
  yes: false,
  reached: false,
});

type WeighGoal = Extract<Goal, { do: "weigh" }>;

/** A count of one of the things weighed. */
interface Weighed {
  label: string;
  number: number;
  finding: Finding;
}

/** Several counts, and which is more, by how much, or all together. */
export function* weigh(goal: WeighGoal, context: Context): Asking<Finding> {
  const findings = yield* together(goal.parts.map((part) => solved(part, context)));
  const known: Weighed[] = [];
  const failed: string[] = [];
  for (const [at, finding] of findings.entries()) {
    const { number, text } = finding;
    if (number === undefined) failed.push(text);
    else known.push({ label: labelOf(goal.parts[at] as Part, goal.parts, finding), number, finding });
  }
  const trouble = failed.join(" ");
  const amount = amountsOf(goal);
  const each = known.map(({ label, number }) => `${label} has ${amount(number)}`);
  if (known.length < 2)
    return { text: [trouble, ...each.map((one) => `${one}.`)].join(" ").trim(), reached: false };
  const said = goal.ask === "sum" ? summed(known, each, amount) : compared(goal, known, each, amount);
  return {
    ...said,
    text: `${said.text}${trouble === "" ? "" : ` ${trouble}`}`,
    reached: failed.length === 0,
  };
}

type Said = Omit<Finding, "reached">;
type Amount = (number: number) => string;

/** How an amount is written for the kind of things that are weighed. */
function amountsOf({ parts }: WeighGoal): Amount {
  const unit = unitOf(parts[0]);
  const filters = new Set(parts.map((part) => ("filter" in part ? (part.filter?.says ?? "") : "")));
  const kind = unit === "file" && filters.size === 1 ? [...filters][0] : undefined;
  if (!kind) return (number) => counted(number, unit, plural[unit] ?? `${unit}s`);
  return (number) => `${number} ${number === 1 ? kind.replace(/\bfiles\b/, "file") : kind}`;
}

function summed(known: readonly Weighed[], each: readonly string[], amount: Amount): Said {
  const total = known.reduce((sum, one) => sum + one.number, 0);
  return { text: `Together **${amount(total)}**: ${humanList(each)}.`, number: total };
}

function compared(
  { ask, whether, parts }: WeighGoal,
  known: readonly Weighed[],
  each: readonly string[],
  amount: Amount,
): Said {
  const sorted = [...known].sort((a, b) => (b.number - a.number) * (ask === "fewer" ? -1 : 1));
  const [first, second] = sorted as [Weighed, Weighed];
  const items = sorted.map((one) => one.label);
  const gap = Math.abs(first.number - second.number);
  if (gap === 0)
    return {
      text: `${whether === true ? "No. " : ""}They are equal: ${humanList(each)}.`,
      number: 0,
      yes: false,
      items,
    };
  // "Is a longer than b": yes when the first thing named is the one that leads.
  const yes = first === known[0];
  const lead = whether === true && ask !== "difference" ? (yes ? "Yes. " : "No. ") : "";
  const verdict =
    ask === "difference"
      ? `The difference is **${amount(gap)}**`
      : `**${first.label}** ${comparative(unitOf(parts[0]), ask === "fewer")}, by ${amount(gap)}`;
  const { subject, scope } = first.finding;
  return {
    text: `${lead}${verdict}: ${humanList(each)}.`,
    number: ask === "difference" ? gap : first.number,
    yes,
    items,
    ...(subject === undefined ? {} : { subject }),
    ...(scope === undefined ? {} : { scope }),
  };
}

function comparative(unit: string, isLess: boolean): string {
  if (unit === "line") return isLess ? "is shorter" : "is longer";
  if (unit === "byte") return isLess ? "is smaller" : "is larger";
  return isLess ? "has fewer" : "has more";
}

function solved(part: Part, context: Context): Asking<Finding> {
  if (part.do === "count") return count(part, context);
  if (part.do === "measure") return measure(part, context);
  return part.do === "outline" ? outline(part, context) : search(part, context);
}

type Part = WeighGoal["parts"][number];

const unitOf = (part: Part | undefined): string =>
  part?.do === "count"
    ? part.what
    : part?.do === "measure"
      ? part.unit
      : part?.do === "outline"
        ? (part.only ?? "declaration")
        : "time";

function labelOf(part: Part, parts: readonly Part[], finding: Finding): string {
  const places = new Set(parts.map((one) => one.place.path));
  const path = finding.scope ?? part.place.path;
  const where = path === "." ? "this folder" : code(path);
  if (places.size > 1) return where;
  return "filter" in part && part.filter !== undefined
    ? part.filter.says
    : `${where} (${plural[unitOf(part)] ?? unitOf(part)})`;
}
