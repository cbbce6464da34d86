// The room of the ask: the input of an operator, and helpers that operators share.

import { isDeepStrictEqual } from "node:util";
import type { SeenRequest } from "./observation.ts";
import { type Found, find } from "./paths.ts";

export interface Ask {
  found: Found;
  /** The first value; the only one of a plain path. */
  one: unknown;
  value: unknown;
  path: string;
  request: SeenRequest;
  /** The request before this one. */
  previous: SeenRequest | undefined;
}

/** What is wrong, or undefined. */
export type Operator = (ask: Ask) => string | undefined;

export function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 400 ? `${text.slice(0, 400)}… (${text.length} characters)` : text;
}

export const demand = (holds: boolean, wrong: () => string): string | undefined =>
  holds ? undefined : wrong();
export const got = ({ found, one }: Ask): string => `got ${shown(found.many ? found.values : one)}`;
export const text = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

/** A regular expression as in the cases: a leading `(?i)` ignores case, `(?im)` also makes it multi-line; a dot matches any character. */
export function pattern(value: unknown, flags: string = ""): RegExp {
  const [, first = "", source = ""] = /^(?:\(\?([ims]+)\))?(.*)$/s.exec(String(value)) ?? [];
  return new RegExp(source, [...new Set(`${first}${flags}s`)].join(""));
}

export function parsedObject(value: unknown): boolean {
  try {
    const parsed = JSON.parse(String(value)) as unknown;
    return (
      typeof value === "string" && typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
    );
  } catch {
    return false;
  }
}

export function lengthOf({ found, one }: Ask): number | undefined {
  if (found.many) return found.values.length;
  return Array.isArray(one) || typeof one === "string" ? one.length : undefined;
}

export function has(ask: Ask): boolean {
  const needle = text(ask.value);
  const escaped = JSON.stringify(ask.value).slice(1, -1);
  const inside = (value: unknown): boolean => {
    if (isDeepStrictEqual(value, ask.value)) return true;
    if (value === undefined) return false;
    if (typeof value === "string") return value.includes(needle);
    if (Array.isArray(value) && value.some((item) => isDeepStrictEqual(item, ask.value))) return true;
    const json = text(value);
    return json.includes(needle) || json.includes(escaped);
  };
  return ask.found.values.some(inside);
}

/** All values; there must be at least one. */
export function all(
  holds: (value: unknown, ask: Ask) => boolean,
  what: (ask: Ask) => string,
  some: boolean = true,
): Operator {
  return (ask) => {
    const { values } = ask.found;
    if (some && values.length === 0) return `${what(ask)}, and there are none`;
    const wrong = values.filter((value) => !holds(value, ask));
    return wrong.length === 0 ? undefined : `${what(ask)}; got ${shown(wrong)}`;
  };
}

export const member = (value: unknown, name: string): unknown =>
  (value as Record<string, unknown> | null | undefined)?.[name];

export function* within(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const inner of Object.values(value)) yield* within(inner);
}

export function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, inner]) => name.isWellFormed() && isWellFormed(inner));
}

/** The first value under the path, in this request and in the previous one. */
export function before(ask: Ask): { now: unknown; was: unknown } | undefined {
  if (ask.previous === undefined) return undefined;
  const was = find(ask.path, ask.previous);
  return ask.found.many ? { now: ask.found.values, was: was.values } : { now: ask.one, was: was.values[0] };
}

export const noneBefore = "there was no request before this one";

export const complaint = (wrong: readonly string[]): string | undefined =>
  wrong.length === 0 ? undefined : wrong.slice(0, 5).join("; ");

/** Of tools, only those that request strict mode: the others need not follow its rules. */
export function strictParts(values: readonly unknown[]): unknown[] {
  return values.flatMap((value) => {
    if (Array.isArray(value)) return strictParts(value);
    const tool = member(value, "function") ?? value;
    return member(tool, "parameters") !== undefined && member(tool, "strict") !== true ? [] : [tool];
  });
}

/** What OpenAI's strict mode would reject in an object schema. */
export function strictComplaints(schema: Record<string, unknown>): string[] {
  if (schema.type !== "object" || typeof schema.properties !== "object" || schema.properties === null)
    return [];
  const names = Object.keys(schema.properties);
  const required = Array.isArray(schema.required) ? schema.required : [];
  const missing = names.filter((name) => !required.includes(name));
  return [
    ...(schema.additionalProperties === false
      ? []
      : ["an object schema without additionalProperties: false"]),
    ...(missing.length === 0 ? [] : [`properties that are not required: ${missing.join(", ")}`]),
  ];
}
