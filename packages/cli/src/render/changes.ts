// The room of changes: shows what changed so that the eye finds the difference.

import type { ValueChange } from "@rondo/core";
import { cutBefore } from "@rondo/core/checks";
import { visibleText } from "../console/plain-text.ts";

type Value = ValueChange["was"];

/** Lines for each change: what, old value, new value. @param cut characters of a value that are shown */
export function changeLines(changes: readonly ValueChange[], cut: number): string[] {
  return changes.flatMap(({ what, was, is }) => {
    const name = visibleText(what);
    if (was === undefined) return [`${name} is new:`, `  + ${shown(is, cut, 0)}`];
    if (is === undefined) return [`${name} is gone:`, `  - ${shown(was, cut, 0)}`];
    const from = firstDifference(textOf(was), textOf(is));
    return [`${name} changed:`, `  - ${shown(was, cut, from)}`, `  + ${shown(is, cut, from)}`];
  });
}

const textOf = (value: Value): string => (typeof value === "string" ? value : JSON.stringify(value)) ?? "";

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

/** The part of a value around the first difference. */
function shown(value: Value, cut: number, from: number): string {
  const text = textOf(value);
  if (text.length <= cut) return inOneLine(text);
  const start = from < cut / 2 ? 0 : cutBefore(text, Math.floor(from - cut / 4));
  const end = cutBefore(text, start + cut);
  return `${start > 0 ? "…" : ""}${inOneLine(text.slice(start, end))}${end < text.length ? "…" : ""}`;
}

/** With its line breaks and what is invisible shown, so that a change in these is seen too. */
const inOneLine = (text: string): string => visibleText(text).replaceAll("\n", "⏎");
