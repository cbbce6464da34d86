// The room of values: what a file says about something, by its keys where it is JSON.

import type { Goal } from "../goal.ts";
import { type Asking, type Finding, wholeFile } from "../plan.ts";
import { search } from "./search.ts";
import { at, type Context, pathOf } from "./where.ts";
import { code, counted, fenced, humanList } from "./words.ts";

/** What a file says about something: a value where the file is JSON, the lines that mention it otherwise. */
export function* value(goal: Extract<Goal, { do: "value" }>, context: Context): Asking<Finding> {
  const path = pathOf(goal.place, context, "file");
  if (!/\.jsonc?$/i.test(path) && !(goal.place.it === true && /json/i.test(path)))
    return yield* search(
      { do: "search", needle: goal.key, mode: "lines", place: goal.place, whole: false },
      context,
    );
  const found = yield* at(goal.place, context, "file", (one) => wholeFile(one));
  if (!found.ok) return found.finding;
  const { note } = found;
  let data: unknown;
  try {
    data = JSON.parse(found.value.lines.join("\n"));
  } catch {
    return yield* search(
      { do: "search", needle: goal.key, mode: "lines", place: { path: found.path }, whole: false },
      context,
    );
  }
  const hit = lookUp(data, goal.key);
  const top = typeof data === "object" && data !== null ? Object.keys(data) : [];
  if (hit === undefined)
    return {
      text: `${note}${code(found.path)} says nothing about “${goal.key}”. Its keys are ${humanList(top.slice(0, 30).map(code))}.`,
      yes: false,
      subject: found.path,
      scope: found.path,
      reached: true,
    };
  const size = Array.isArray(hit.value)
    ? hit.value.length
    : typeof hit.value === "object" && hit.value !== null
      ? Object.keys(hit.value).length
      : undefined;
  const shown =
    typeof hit.value === "object"
      ? `\n\n${fenced(JSON.stringify(hit.value, null, 2).split("\n").slice(0, 80))}`
      : ` **${typeof hit.value === "string" ? hit.value : JSON.stringify(hit.value)}**`;
  const items = Array.isArray(hit.value)
    ? hit.value.map(String)
    : typeof hit.value === "object" && hit.value !== null
      ? Object.keys(hit.value)
      : [String(hit.value)];
  return {
    text: `${note}In ${code(found.path)} ${code(hit.path)} ${size === undefined ? "is" : `has ${counted(size, "entry", "entries")}:`}${shown}${typeof hit.value === "object" ? "" : "."}`,
    items,
    yes: true,
    ...(size !== undefined ? { number: size } : typeof hit.value === "number" ? { number: hit.value } : {}),
    subject: found.path,
    scope: found.path,
    reached: true,
  };
}

const flat = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, "");

/** The value whose key is the words asked for, in any spelling; words may lead down (`test script`, `scripts test`). */
function lookUp(data: unknown, key: string): { path: string; value: unknown } | undefined {
  const wanted = flat(key);
  const same = (one: string, other: string): boolean =>
    one === other ||
    one === `${other}s` ||
    `${one}s` === other ||
    one.replace(/ies$/, "y") === other.replace(/ies$/, "y");
  const walk = (node: unknown, path: string, depth: number): { path: string; value: unknown } | undefined => {
    if (typeof node !== "object" || node === null || depth > 6) return undefined;
    const entries = Object.entries(node);
    for (const [name, value] of entries) if (same(flat(name), wanted)) return { path: path + name, value };
    for (const [name, value] of entries) {
      const below = walk(value, `${path}${name}.`, depth + 1);
      if (below !== undefined) return below;
    }
    return undefined;
  };
  const direct = walk(data, "", 0);
  if (direct !== undefined) return direct;
  const words = key.split(/[\s.]+/).filter((word) => word !== "");
  if (words.length < 2)
    return /^licen[cs]e$/.test(wanted)
      ? walk({ license: (data as { license?: unknown })?.license }, "", 0)
      : undefined;
  for (const order of [words, [...words].reverse()]) {
    let node: { path: string; value: unknown } | undefined = { path: "", value: data };
    for (const word of order) {
      const from: { path: string; value: unknown } = node as { path: string; value: unknown };
      const below =
        typeof from.value === "object" && from.value !== null
          ? Object.entries(from.value).find(([name]) => same(flat(name), flat(word)))
          : undefined;
      node =
        below === undefined
          ? undefined
          : { path: from.path === "" ? below[0] : `${from.path}.${below[0]}`, value: below[1] };
      if (node === undefined) break;
    }
    if (node !== undefined) return node;
  }
  for (const word of words) {
    const below = /^versions?$/.test(flat(word)) ? undefined : lookUp(data, word);
    if (below !== undefined) return below;
  }
  return undefined;
}
