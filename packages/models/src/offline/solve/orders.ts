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

/** One text for another, wherever it stands in a file. */
export function* edit(goal: Extract<Goal, { do: "edit" }>): Asking<Finding> {
  const path = goal.place.path;
  // Read first: tools refuse to change what was not seen, and a missing text is found out without asking anybody.
  const [seen] = yield [readStep(path)];
  const unread = failureOf(seen, `reading ${code(path)}`);
  if (unread !== undefined) return notDone(path, "changed", unread);
  const [outcome] = yield [
    { trade: "edit", args: { path, oldText: goal.find, newText: goal.put, replaceAll: true } },
  ];
  return changeOf(path, "changed", outcome, `editing ${code(path)}`);
}

/** What came of a change. */
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

/** Several counts, and which is more, by how much, or all together. */
export function* weigh(goal: Extract<Goal, { do: "weigh" }>, context: Context): Asking<Finding> {
  const findings = yield* together(goal.parts.map((part) => solved(part, context)));
  const found = findings.map((finding, at) => ({
    label: labelOf(goal.parts[at] as Part, goal.parts, finding),
    finding,
  }));
  const failed = found.filter((one) => one.finding.number === undefined);
  const known = found.filter((one) => one.finding.number !== undefined);
  const unit = unitOf(goal.parts[0]);
  const filters = new Set(goal.parts.map((part) => ("filter" in part ? (part.filter?.says ?? "") : "")));
  const kind = unit === "file" && filters.size === 1 ? [...filters][0] : undefined;
  const amount = (value: number): string =>
    kind
      ? `${value} ${value === 1 ? kind.replace(/\bfiles\b/, "file") : kind}`
      : counted(value, unit, plural[unit] ?? `${unit}s`);
  const each = known.map((one) => `${one.label} has ${amount(one.finding.number ?? 0)}`);
  const trouble = failed.map((one) => one.finding.text).join(" ");
  if (known.length < 2)
    return { text: [trouble, ...each.map((one) => `${one}.`)].join(" ").trim(), reached: false };
  const total = known.reduce((sum, one) => sum + (one.finding.number ?? 0), 0);
  const notes = trouble === "" ? "" : ` ${trouble}`;
  if (goal.ask === "sum")
    return {
      text: `Together **${amount(total)}**: ${humanList(each)}.${notes}`,
      number: total,
      reached: failed.length === 0,
    };
  const sorted = [...known].sort(
    (a, b) => ((b.finding.number ?? 0) - (a.finding.number ?? 0)) * (goal.ask === "fewer" ? -1 : 1),
  );
  const first = sorted[0] as (typeof known)[number];
  const second = sorted[1] as (typeof known)[number];
  const gap = Math.abs((first.finding.number ?? 0) - (second.finding.number ?? 0));
  if (gap === 0)
    return {
      text: `${goal.whether === true ? "No. " : ""}They are equal: ${humanList(each)}.${notes}`,
      number: 0,
      yes: false,
      items: sorted.map((one) => one.label),
      reached: failed.length === 0,
    };
  const comparative =
    goal.ask === "fewer" ? (unit === "line" ? "shorter" : "fewer") : unit === "line" ? "longer" : "more";
  const verdict =
    goal.ask === "difference"
      ? `The difference is **${amount(gap)}**`
      : `**${first.label}** ${unit === "line" ? `is ${comparative}` : unit === "byte" ? `is ${goal.ask === "fewer" ? "smaller" : "larger"}` : `has ${comparative}`}, by ${amount(gap)}`;
  const subject = first.finding.subject;
  return {
    text: `${goal.whether === true && goal.ask !== "difference" ? (first === known[0] ? "Yes. " : "No. ") : ""}${verdict}: ${humanList(each)}.${notes}`,
    number: goal.ask === "difference" ? gap : (first.finding.number ?? 0),
    // "Is a longer than b": yes when the first thing named is the one that leads.
    yes: first === known[0],
    items: sorted.map((one) => one.label),
    ...(subject === undefined ? {} : { subject }),
    ...(first.finding.scope === undefined ? {} : { scope: first.finding.scope }),
    reached: failed.length === 0,
  };
}

function solved(part: Part, context: Context): Asking<Finding> {
  if (part.do === "count") return count(part, context);
  if (part.do === "measure") return measure(part, context);
  return part.do === "outline" ? outline(part, context) : search(part, context);
}

type Part = Extract<Goal, { do: "weigh" }>["parts"][number];

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
