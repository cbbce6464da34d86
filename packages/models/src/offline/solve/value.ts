// The room of values: what a file says about something, by its keys where it is JSON.

import type { Goal } from "../goal.ts";
import { type Asking, type Finding, wholeFile } from "../plan.ts";
import { search } from "./search.ts";
import { at, type Context, pathOf } from "./where.ts";
import { code, counted, fenced, humanList } from "./words.ts";

/** What a file says about something: a value where the file is JSON, the lines that mention it otherwise. */
export function* value(goal: Extract<Goal, { do: "value" }>, context: Context): Asking<Finding> {
  const { key, place } = goal;
  const path = pathOf(place, context, "file");
  if (!/\.jsonc?$/i.test(path) && !(place.it === true && /json/i.test(path)))
    return yield* search({ do: "search", needle: key, mode: "lines", place, whole: false }, context);
  const found = yield* at(place, context, "file", (one) => wholeFile(one));
  if (!found.ok) return found.finding;
  let data: unknown;
  try {
    data = JSON.parse(found.value.lines.join("\n"));
  } catch {
    const there = { path: found.path };
    return yield* search({ do: "search", needle: key, mode: "lines", place: there, whole: false }, context);
  }
  const hit = lookUp(data, key);
  const said = hit === undefined ? nothingOf(key, found.path, data) : shown(hit, found.path);
  return {
    ...said,
    text: `${found.note}${said.text}`,
    subject: found.path,
    scope: found.path,
    reached: true,
  };
}

type Said = Omit<Finding, "reached">;

function nothingOf(key: string, path: string, data: unknown): Said {
  const keys = entriesOf(data).map(([name]) => code(name));
  return {
    text: `${code(path)} says nothing about “${key}”. Its keys are ${humanList(keys.slice(0, 30))}.`,
    yes: false,
  };
}

function shown({ path: key, value: found }: Hit, path: string): Said {
  const where = `In ${code(path)} ${code(key)}`;
  if (typeof found !== "object" || found === null)
    return {
      text: `${where} is **${typeof found === "string" ? found : JSON.stringify(found)}**.`,
      items: [String(found)],
      yes: true,
      ...(typeof found === "number" ? { number: found } : {}),
    };
  const items = Array.isArray(found)
    ? found.map((one) => (typeof one === "string" ? one : JSON.stringify(one)))
    : Object.keys(found);
  const lines = JSON.stringify(found, null, 2).split("\n").slice(0, 80);
  return {
    text: `${where} has ${counted(items.length, "entry", "entries")}:\n\n${fenced(lines)}`,
    items,
    yes: true,
    number: items.length,
  };
}

/** A value, and the names that lead to it. */
interface Hit {
  path: string;
  value: unknown;
}

/** Only letters and digits, and one spelling of words that have two. */
const flat = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "")
    .replace("licence", "license");

const entriesOf = (node: unknown): [name: string, value: unknown][] =>
  typeof node === "object" && node !== null ? Object.entries(node) : [];

/** Whether two names are the same, ignoring the plural. */
function isSame(name: string, wanted: string): boolean {
  const [one, other] = [flat(name), flat(wanted)];
  if (one === "" || other === "") return name === wanted;
  return (
    one === other ||
    one === `${other}s` ||
    `${one}s` === other ||
    one.replace(/ies$/, "y") === other.replace(/ies$/, "y")
  );
}

/** The value whose key is the requested words, in any spelling; words may be a path (`test script`, `scripts test`). */
function lookUp(data: unknown, key: string): Hit | undefined {
  const direct = below(data, key, "", 0);
  if (direct !== undefined) return direct;
  const words = key.split(/[\s.]+/).filter((word) => word !== "");
  if (words.length < 2) return undefined;
  return along(data, words) ?? along(data, [...words].reverse()) ?? anyOf(data, words);
}

/** The first value of that name, the one nearest to the top in each branch. */
function below(node: unknown, wanted: string, path: string, depth: number): Hit | undefined {
  if (depth > 6) return undefined;
  const entries = entriesOf(node);
  for (const [name, value] of entries) if (isSame(name, wanted)) return { path: path + name, value };
  for (const [name, value] of entries) {
    const hit = below(value, wanted, `${path}${name}.`, depth + 1);
    if (hit !== undefined) return hit;
  }
  return undefined;
}

/** The value at the end of a path of words. */
function along(data: unknown, words: readonly string[]): Hit | undefined {
  let hit: Hit = { path: "", value: data };
  for (const word of words) {
    const next = entriesOf(hit.value).find(([name]) => isSame(name, word));
    if (next === undefined) return undefined;
    hit = { path: hit.path === "" ? next[0] : `${hit.path}.${next[0]}`, value: next[1] };
  }
  return hit;
}

function anyOf(data: unknown, words: readonly string[]): Hit | undefined {
  for (const word of words) {
    const hit = /^versions?$/.test(flat(word)) ? undefined : lookUp(data, word);
    if (hit !== undefined) return hit;
  }
  return undefined;
}
