// The room of the comparison: whether a value is as expected, and where it is not.
//
// Members that the expectation does not name are ignored, unless exactness is asked for. One function serves both uses: no
// differences is a match, and the number of differences is the distance.

import { inspect, isDeepStrictEqual } from "node:util";
import { isPromise } from "@rondo/core/checks";
import { clippedOf } from "../text.ts";

/** An expected value: the value itself, a pattern for a string, a synchronous function that returns whether it fits, a runner's own matcher (`expect.any(String)`), or a list or object of these. */
export type Wanted = unknown;

interface Asymmetric {
  asymmetricMatch(value: unknown): boolean;
  toString(): string;
}

/**
 * Where a value is not as it was wanted, one line each; empty: nowhere.
 * @param exact members that are not named, and further items, are differences too
 */
export function differences(wanted: Wanted, value: unknown, exact: boolean = false, path = ""): string[] {
  const at = path === "" ? "it" : path;
  const differs = (): string[] => [`${at} is ${shown(value)}, wanted ${shown(wanted)}`];
  if (wanted instanceof RegExp) {
    // A pattern with a memory would answer otherwise the second time.
    const pattern = new RegExp(wanted.source, wanted.flags.replace(/[gy]/g, ""));
    return typeof value === "string" && pattern.test(value) ? [] : differs();
  }
  if (isAsymmetric(wanted)) return wanted.asymmetricMatch(value) ? [] : differs();
  if (typeof wanted === "function") {
    const said: unknown = (wanted as (value: unknown) => unknown)(value);
    // Of a promise nothing is known yet: behind `not` it would always hold.
    if (isPromise(said))
      throw new TypeError(
        `${wanted.name || "a question"}, asked of ${at}, gave a promise: a question must say true or false at once`,
      );
    return said === true
      ? []
      : [`${at} is ${shown(value)}, and ${wanted.name || "the question"} said ${shown(said)}`];
  }
  if (wanted === null || typeof wanted !== "object") return Object.is(wanted, value) ? [] : differs();
  if (!isOfMembers(wanted)) return isDeepStrictEqual(wanted, value) ? [] : differs();
  if (value === null || typeof value !== "object" || Array.isArray(wanted) !== Array.isArray(value))
    return differs();
  if (Array.isArray(wanted)) {
    const list = value as unknown[];
    if (list.length !== wanted.length)
      return [`${at} has ${list.length} items, wanted ${wanted.length}: ${shown(value)}`];
    return wanted.flatMap((one, index) => differences(one, list[index], exact, `${path}[${index}]`));
  }
  const given = value as { [key: string]: unknown };
  const below = (key: string): string => (path === "" ? key : `${path}.${key}`);
  const found = Object.entries(wanted).flatMap(([key, one]) =>
    Object.hasOwn(given, key) || one === undefined
      ? differences(one, given[key], exact, below(key))
      : [`${below(key)} is absent, wanted ${shown(one)}`],
  );
  const further = exact ? Object.keys(given).filter((key) => !Object.hasOwn(wanted, key)) : [];
  return [...found, ...further.map((key) => `${below(key)} is ${shown(given[key])}, wanted absent`)];
}

/** Whether a thing is what its members are: a date, a map or an error is more, and most have none. */
function isOfMembers(thing: object): boolean {
  return ["[object Object]", "[object Array]"].includes(Object.prototype.toString.call(thing));
}

function isAsymmetric(wanted: unknown): wanted is Asymmetric {
  return (
    typeof wanted === "object" &&
    wanted !== null &&
    typeof (wanted as Partial<Asymmetric>).asymmetricMatch === "function"
  );
}

/** A value in one line, cut. */
export function shown(value: unknown, limit: number = 160): string {
  return clippedOf(textOf(value), limit);
}

function textOf(value: unknown): string {
  if (value instanceof RegExp) return String(value);
  if (typeof value === "function") return `(what ${value.name || "a question"} takes)`;
  if (isAsymmetric(value)) return String(value);
  if (typeof value === "object" && value !== null && !isOfMembers(value)) return inspect(value);
  try {
    return (
      JSON.stringify(value, (_, inner: unknown) => {
        if (inner instanceof RegExp || isAsymmetric(inner)) return String(inner);
        if (typeof inner === "object" && inner !== null && !isOfMembers(inner)) return inspect(inner);
        return typeof inner === "bigint" || typeof inner === "function" ? String(inner) : inner;
      }) ?? String(value)
    );
  } catch {
    return String(value);
  }
}
