// The room of checks: validates what users pass in, and words the errors.
//
// Types do not help in JavaScript, nor for what was read from a file. A limit that is misspelt or not a number would silently
// be no limit. Numbers that are stored with a run must be finite, because JSON has no others.
//
// Exported as `@rondo/core/checks`, so that the other packages refuse in the same words. With it goes what else
// they share with this one of JSON and of texts.

import { hint } from "./checks/nearest.ts";
import { invalidRequest, messageOf, type RondoError } from "./errors.ts";
import { jsonCopy } from "./json/copy.ts";
import { isObject } from "./json/object.ts";

export { hintAt, nearest } from "./checks/nearest.ts";
export { deepest, isTooDeep } from "./json/depth.ts";
export { ownMember, setOwn } from "./json/object.ts";
export { cutBefore, headOf } from "./text/size.ts";

/** What is wrong with a value: in words, and where in it (`.clocks.idleMs`). Undefined: it is valid. */
export type Check = (value: unknown) => { at: string; says: string } | undefined;

/** A check for every option: a missing one is a compile error. */
export type ChecksOf<Options> = { readonly [option in keyof Required<Options>]: Check };

/** The error for an invalid option. */
export const wrong = (option: string, message: string): RondoError =>
  invalidRequest(`option ${option}: ${message}`);

/**
 * Checks the given options.
 * @param owner what they are options of, if that is not clear: `tool "weather"`
 * @throws RondoError `invalid_request` naming the first invalid option, and what is needed
 */
export function checkGiven(check: Check, given: unknown, owner?: string): void {
  const fault = check(given);
  if (fault === undefined) return;
  const where = fault.at === "" ? "options" : `option ${fault.at.slice(1)}`;
  throw invalidRequest(`${owner === undefined ? "" : `${owner}: `}${where}: ${fault.says}`);
}

/**
 * Checks a rule's only number: how often something may happen.
 * @throws RondoError `invalid_request` if it is not a number: it would silently be no limit
 */
export const checkMax = (max: number, owner: string): void => checkGiven(maxOption, { max }, owner);

/** A value that `fits`. @param what it must be, in words: `a list of names` */
export const needed =
  (what: string, fits: (value: unknown) => boolean): Check =>
  (value) =>
    fits(value) ? undefined : { at: "", says: `${what} is needed, not ${shown(value)}` };

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return "a list";
  if (isPromise(value)) return "a promise";
  if (value instanceof Date) return Number.isFinite(value.getTime()) ? "a Date" : "a Date of no time";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

/** A value that is still being made. */
export const isPromise = (value: unknown): boolean =>
  typeof value === "object" && typeof (value as { then?: unknown } | null)?.then === "function";

/** A number that `fits`. NaN never does. */
const numeric = (what: string, fits: (value: number) => boolean): Check =>
  needed(what, (value) => typeof value === "number" && fits(value));

/** Any value; it is checked elsewhere. */
export const anything: Check = () => undefined;
/** A text. */
export const text: Check = needed("a text", (value) => typeof value === "string");
/** A text that is not empty. */
export const name: Check = needed("a name", (value) => typeof value === "string" && value !== "");
/** True or false. */
export const flag: Check = needed("true or false", (value) => typeof value === "boolean");
/** A number, or infinity. */
export const number: Check = numeric("a number", (value) => !Number.isNaN(value));
/** A number that can be stored with a run. */
export const real: Check = numeric("a finite number", Number.isFinite);
/** A number of at least 0, or infinity. */
export const from0: Check = numeric("a number of at least 0", (value) => value >= 0);
/** A number of at least `least` that can be stored with a run. */
export const atLeast = (least: number): Check =>
  numeric(`a finite number of at least ${least}`, (value) => value >= least && Number.isFinite(value));
/** A number of at least 0 that can be stored with a run. */
export const finite0: Check = atLeast(0);
/** A number above 0, or infinity. */
export const above0: Check = numeric("a number above 0", (value) => value > 0);
/** A number above 0 that can be stored with a run. */
export const finite: Check = numeric(
  "a finite number above 0",
  (value) => value > 0 && Number.isFinite(value),
);
/** A share, excluding 0 and 1. */
export const share: Check = numeric("a number between 0 and 1", (value) => value > 0 && value < 1);
/** A share, including 0 and 1. */
export const ratio: Check = numeric("a number from 0 to 1", (value) => value >= 0 && value <= 1);
/** A share, excluding 0 and including 1. */
export const portion: Check = numeric("a number above 0, at most 1,", (value) => value > 0 && value <= 1);
/** A point in time. */
export const moment: Check = needed(
  "a Date, or milliseconds since 1970,",
  (value) => (typeof value === "number" || value instanceof Date) && Number.isFinite(Number(value)),
);
/** A whole number of at least 0. */
export const whole: Check = numeric(
  "a whole number of at least 0",
  (value) => Number.isSafeInteger(value) && value >= 0,
);
/** A whole number above 0. */
export const count: Check = numeric(
  "a whole number above 0",
  (value) => Number.isSafeInteger(value) && value > 0,
);
/** No limit. */
export const unlimited: Check = needed("Infinity", (value) => value === Number.POSITIVE_INFINITY);
/** A function. */
export const callable: Check = needed("a function", (value) => typeof value === "function");
/** An object that is not a list. */
export const object: Check = needed("an object", isObject);
/** An option that can only be turned off. */
export const onlyNull: Check = needed("null, which turns it off, or nothing,", (value) => value === null);

/** An object that can be stored with a run as it is. */
export const data: Check = (value) => object(value) ?? json(value);

/** A value that can be stored with a run as it is. */
export const json: Check = (value) => {
  if (value === undefined) return { at: "", says: "a value is needed" };
  try {
    jsonCopy(value);
    return undefined;
  } catch (thrown) {
    return { at: "", says: messageOf(thrown) };
  }
};

/** One of these words. */
export const oneOf = (...words: readonly string[]): Check =>
  needed(`one of ${words.join(", ")}`, (value) => words.includes(value as string));

/** An option that `null` turns off. Others turn it off by `false`: the error says how it is done here. */
export const orNull =
  (check: Check): Check =>
  (value) => {
    const fault = value === null ? undefined : check(value);
    return fault === undefined || value !== false
      ? fault
      : { ...fault, says: `${fault.says}: null turns it off` };
  };

/** A value that passes one of two checks; if it passes neither, the error is that of the second. */
export const either =
  (one: Check, other: Check): Check =>
  (value) =>
    one(value) === undefined ? undefined : other(value);

/** A value that passes and is not empty: an empty limit would be no limit. @param what it may contain, in words */
export const some =
  (check: Check, what: string): Check =>
  (value) =>
    check(value) ??
    (Object.values(value as object).some((one) => one !== undefined)
      ? undefined
      : { at: "", says: `${what} is needed, and nothing is given` });

/**
 * A value that passes, with numbers that increase: a number above a later one would never be reached.
 * @param steps the names of the numbers in their order, with their defaults
 */
export const rising =
  (check: Check, steps: Readonly<Record<string, number>>): Check =>
  (value) => {
    const fault = check(value);
    if (fault !== undefined) return fault;
    const given = value as Readonly<Record<string, number | undefined>>;
    const names = Object.keys(steps);
    for (const [place, name] of names.entries())
      for (const later of names.slice(place + 1)) {
        const most = given[later] ?? (steps[later] as number);
        if ((given[name] ?? 0) > most)
          return { at: `.${name}`, says: `at most ${most} (${later}) is needed, not ${given[name]}` };
      }
    return undefined;
  };

/** Checks that also an object of lists passes: it is not known to be meant as one item. */
const passAlmostAll: readonly Check[] = [anything, object];

/** A list whose items all pass. */
export const listOf =
  (check: Check): Check =>
  (value) => {
    if (!Array.isArray(value)) {
      const isItem = (value ?? undefined) !== undefined && !passAlmostAll.includes(check) && !check(value);
      return { at: "", says: `a list is needed, not ${shown(value)}${isItem ? ": put it in [ ]" : ""}` };
    }
    for (const [at, one] of value.entries()) {
      const fault = check(one);
      if (fault !== undefined) return { at: `[${at}]${fault.at}`, says: fault.says };
    }
    return undefined;
  };

/** An object with any names, whose values all pass. */
export const recordOf =
  (check: Check): Check =>
  (value) => {
    const fault = object(value);
    if (fault !== undefined) return fault;
    for (const [name, one] of Object.entries(value as Readonly<Record<string, unknown>>)) {
      const wrong = check(one);
      if (wrong !== undefined) return { at: `.${name}${wrong.at}`, says: wrong.says };
    }
    return undefined;
  };

/**
 * An object with these members. Any may be missing except the `required` ones.
 * @param others what happens to unknown members; or a function that words the error for one. Default: `refused`
 */
export function membersOf<Options>(
  members: ChecksOf<Options>,
  required: readonly (keyof Options & string)[] = [],
  others: "refused" | "let_pass" | ((name: string) => string | undefined) = "refused",
): Check {
  const known: { readonly [name: string]: Check } = members;
  const musts: readonly string[] = required;
  return (value) => {
    if (!isObject(value)) return { at: "", says: `an object is needed, not ${shown(value)}` };
    for (const name of [...Object.keys(value), ...musts]) {
      const check = Object.hasOwn(known, name) ? known[name] : undefined;
      if (check === undefined && others === "let_pass") continue;
      if (check === undefined) {
        const said = typeof others === "function" ? others(name) : undefined;
        return {
          at: `.${name}`,
          says: said ?? `there is no such option; ${hint(name, Object.keys(known))}`,
        };
      }
      const held = value[name];
      const fault = held === undefined && !musts.includes(name) ? undefined : check(held);
      if (fault !== undefined) return { at: `.${name}${fault.at}`, says: fault.says };
    }
    return undefined;
  };
}

/** An object of any class, with these members and any others. @param what the whole of it in words */
export const having = (what: string, members: { readonly [name: string]: Check }): Check =>
  needed(what, (value) => {
    if (value === null || value === undefined) return false;
    const held = value as Readonly<Record<string, unknown>>;
    return Object.entries(members).every(([name, check]) => check(held[name]) === undefined);
  });

/** An object with these methods. */
export const able = (what: string, ...methods: readonly string[]): Check =>
  having(what, Object.fromEntries(methods.map((name) => [name, callable])));

const maxOption: Check = membersOf<{ max: number }>({ max: whole }, ["max"]);
