// The room of the check: one thing that a conformance suite demands, by name, for any test runner.

import { AssertionError } from "node:assert/strict";
import { inspect, isDeepStrictEqual, types } from "node:util";
import { messageOf, RondoError } from "@rondo/core";
import {
  type ChecksOf,
  callable,
  checkGiven,
  having,
  membersOf,
  nearest,
  object,
  text,
  type Check as ValueCheck,
} from "@rondo/core/checks";
import { clippedOf } from "../text.ts";

/** One requirement. `run` rejects with what is wrong if it is not met. */
export interface Check {
  name: string;
  run(): Promise<void>;
}

/** How a runner is told of a test: `test` of vitest, jest or node:test. */
export type RegisterTest = (name: string, run: () => Promise<void>) => unknown;

/** A tool, as it is needed to try it. */
export const madeTool: ValueCheck = having("a tool, made with tool(),", {
  name: text,
  execute: callable,
  check: callable,
  definition: object,
});

/**
 * How what is given to a suite is looked at. It may have members of its own; one that is nearly a known one is a slip,
 * which would leave checks out.
 * @returns throws RondoError `invalid_request` naming what cannot be used
 */
export function subjectCheck<Subject>(
  suite: string,
  members: ChecksOf<Subject>,
  needed: readonly (keyof Subject & string)[],
): (subject: Subject) => void {
  const known = Object.keys(members);
  const fits = membersOf<Subject>(members, needed, "let_pass");
  const slips: ValueCheck = (subject) => {
    for (const name of Object.keys(subject as object)) {
      const [near] = known.includes(name) ? [] : nearest(name, known);
      if (near !== undefined)
        return { at: `.${name}`, says: `there is no such member; did you mean ${near}?` };
    }
    return undefined;
  };
  return (subject) => checkGiven((value) => fits(value) ?? slips(value), subject, suite);
}

/** Names the checks after their subject, and registers them where there is somewhere to. */
export function checksOf(
  subject: string,
  checks: readonly (readonly [name: string, run: () => Promise<void>])[],
  test: RegisterTest | undefined,
): Check[] {
  const named = checks.map(([name, run]): Check => ({ name: `${subject}: ${name}`, run: inWords(run) }));
  // Runners hand a context to what they call, some a callback to what takes one: ours takes nothing.
  if (test !== undefined) for (const { name, run } of named) test(name, () => run());
  return named;
}

/** Whatever a subject throws, a check says what was wrong: what is no error has no words. */
const inWords = (run: () => Promise<void>) => async (): Promise<void> => {
  try {
    await run();
  } catch (thrown) {
    if (types.isNativeError(thrown) || thrown instanceof Error) throw thrown;
    throw new AssertionError({ message: `it threw ${shown(thrown)}, which is no Error` });
  }
};

/** Looks at what a function of a subject gave. @throws RondoError `invalid_request` saying what is needed */
export function checkGave(suite: string, what: string, needed: ValueCheck, given: unknown): void {
  const fault = needed(given);
  if (fault !== undefined)
    throw new RondoError("invalid_request", `${suite}: what \`${what}\` gave cannot be used: ${fault.says}`);
}

/**
 * Tries a subject, and lets it go whatever came of it. Where both fail, what came of it is told first.
 * @param what lets it go, in words: `close()`
 */
export async function thenLetGo(
  trying: () => Promise<void>,
  what: string,
  letGo: () => unknown,
): Promise<void> {
  let failed: { thrown: unknown } | undefined;
  try {
    await trying();
  } catch (thrown) {
    failed = { thrown };
  }
  try {
    await letGo();
  } catch (thrown) {
    const said = `${what} failed, and must not: ${messageOf(thrown)}`;
    if (failed === undefined) throw new AssertionError({ message: said });
    saysMore(failed.thrown, `(And ${said})`);
  }
  if (failed !== undefined) throw failed.thrown;
}

/** What an attempt throws, or rejects with; it may be anything. @param otherwise what is wrong where it does neither */
export async function whatRejected(attempt: Promise<unknown>, otherwise: string): Promise<unknown> {
  try {
    await attempt;
  } catch (thrown) {
    return thrown;
  }
  throw new AssertionError({ message: otherwise });
}

/** Adds a line to what an error says, in its stack as well: that is what node:test prints. */
export function saysMore(thrown: unknown, line: string): void {
  if (!(thrown instanceof Error)) return;
  const { message, stack = "" } = thrown;
  const more = `${message}\n${line}`;
  // The message of a DOMException cannot be assigned to, and nothing of a frozen error can be changed.
  Reflect.defineProperty(thrown, "message", { value: more, configurable: true, writable: true });
  Reflect.defineProperty(thrown, "stack", {
    value: stack.replace(message, () => more),
    configurable: true,
    writable: true,
  });
}

/** Fails where something is not what it must be, saying both. @param what it is, in words: `the answer's text` */
export function mustBe(actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  const message = `${what}: it is ${shown(actual)}, and must be ${shown(expected)}`;
  // Runners make a difference of these two.
  throw new AssertionError({ message, actual, expected, operator: "deepStrictEqual" });
}

function shown(value: unknown): string {
  return clippedOf(inspect(value, { depth: 8, breakLength: Number.POSITIVE_INFINITY }), 300);
}
