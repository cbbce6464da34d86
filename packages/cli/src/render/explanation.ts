// The room of the explanation page: reasons in words, each with its rule and evidence.

import type { Explanation, Reason, StepReasons } from "@rondo/core/explain";
import type { Paint, Style } from "../console/console.ts";
import { evidenceText, oneLine } from "../console/shorten.ts";
import { rondo } from "../line/command-name.ts";
import { endStyle, endText } from "./ending.ts";
import { spanText } from "./usage.ts";

/** The command's flag for an option of the agent, where it has one. */
const flags: { readonly [option: string]: string } = {
  maxSteps: "--max-steps",
  "budget.tokens": "--budget-tokens",
  "budget.usd": "--budget-usd",
  "budget.session.tokens": "--session-tokens",
  "budget.session.usd": "--session-usd",
  "budget.ms": "--timeout",
};

const styles: { readonly [kind in Reason["kind"]]?: Style } = {
  judged: "cyan",
  failure: "red",
  mode: "yellow",
  note: "yellow",
  prefix: "yellow",
  abort: "yellow",
};

export interface Explained {
  /** How a command names the run: its id, and the journal if needed. */
  named: string;
  /** Status of a run that has not ended. */
  status: string;
  /** PID of the process that drives it, if one does. */
  driver: number | undefined;
  paint: Paint;
}

/** Renders an explanation. */
export function renderExplanation({ run, steps, end, now }: Explanation, how: Explained): string {
  const { paint } = how;
  const lines: string[] = [];
  for (const step of steps) lines.push(...stepLines(step, run, paint));
  if (end !== undefined) {
    const { remedy } = end;
    lines.push("", paint("bold", "why it ended"), `  ${paint(endStyle(end), endText(end))}`);
    const evidence = evidenceText(end.evidence);
    lines.push(`  decided by the rule ${end.rule}${evidence === "" ? "" : `, which saw: ${evidence}`}`);
    const value = remedy.value === undefined ? "" : `, which was ${JSON.stringify(remedy.value)}`;
    const flag = remedy.option === undefined ? undefined : flags[remedy.option];
    const option =
      remedy.option === undefined
        ? ""
        : ` (option ${remedy.option}${flag === undefined ? "" : `, ${flag}`}${value})`;
    lines.push(`  what would have changed that: ${remedy.text}${option}`);
  }
  if (now !== undefined) lines.push("", paint("bold", "it has not ended"), `  ${openText(now, how)}`);
  return `${lines.join("\n").trimStart()}\n`;
}

/** Where an open run stands, and what can be done about it. */
function openText(
  { when, does, phase }: NonNullable<Explanation["now"]>,
  { named, status, driver }: Explained,
): string {
  if (driver !== undefined) return `${when}: ${does} (phase ${phase}); process ${driver} drives it`;
  // No process drives it: nothing is under way any more.
  const stands =
    status === "interrupted" ? `its process is gone, and left it where ${when}` : `${when}: ${does}`;
  return `${stands} (phase ${phase}); go on with ${rondo} resume ${named}`;
}

function stepLines({ step, reasons }: StepReasons, run: number, paint: Paint): string[] {
  const heading = step === 0 ? (run === 1 ? "before the first step" : `run ${run}`) : `step ${step}`;
  return [
    "",
    paint("bold", heading),
    ...reasons.filter(({ kind }) => kind !== "end").flatMap((one) => reasonLines(one, paint)),
  ];
}

function reasonLines(reason: Reason, paint: Paint): string[] {
  const { text, rule, evidence, call, waitMs, kind, row } = reason;
  const about = call === undefined ? "" : `${oneLine(call.name, 60)} (${call.key}): `;
  const wait = waitMs === undefined ? "" : ` after ${spanText(waitMs)}`;
  const seen = evidence === undefined ? "" : evidenceText(evidence);
  const by = rule === undefined ? "" : ` — rule ${rule}${seen === "" ? "" : `: ${oneLine(seen, 300)}`}`;
  const style = styles[kind];
  const words = `${about}${oneLine(text, 400)}${wait}`;
  const decided = row === undefined ? [] : [paint("dim", `      ${row.when} → ${row.does}`)];
  return [`  ${style === undefined ? words : paint(style, words)}${by}`, ...decided];
}
