// The room of what is expected: what a matcher may be told beside the thing it looks for.
//
// A word that nobody knows would be looked for nowhere, and the test would pass: an expectation that is not checked is
// worse than none.

import { endReasons } from "@rondo/core";
import {
  type Check,
  callable,
  either,
  flag,
  membersOf,
  name,
  needed,
  number,
  oneOf,
  some,
  whole,
} from "@rondo/core/checks";
import type { ToldSpending } from "./story.ts";

export interface CalledOptions {
  /** How many matching calls there must be. Default: at least one. */
  times?: number;
  /** The arguments must not have members that are not named. Default: such members are ignored. */
  exact?: boolean;
  /** What the model reads as the result: a part of its text, or a pattern. */
  result?: string | RegExp;
  /** Whether the result is an error. */
  isError?: boolean;
}

/** A number, its bounds, or a function that returns whether it fits. */
export type WantedNumber = number | { atLeast?: number; atMost?: number } | ((value: number) => boolean);

export type WantedSpending = { [name in keyof ToldSpending]?: WantedNumber };

const isTextual = (one: unknown): boolean => typeof one === "string" || one instanceof RegExp;

/** What the options of `toHaveCalled` must be. */
export const calledOptions: Check = membersOf<CalledOptions>({
  times: whole,
  exact: flag,
  result: needed("a text, or a pattern,", isTextual),
  isError: flag,
});

const bounds = membersOf<{ atLeast: number; atMost: number }>({ atLeast: number, atMost: number });
const wantedNumber: Check = either(either(number, callable), some(bounds, "a bound (atLeast, atMost)"));

/** What is wanted of the spending. Whatever was spent, nothing at all is like it. */
export const wantedSpending: Check = some(
  membersOf<ToldSpending>({
    steps: wantedNumber,
    modelCalls: wantedNumber,
    toolCalls: wantedNumber,
    tokens: wantedNumber,
    usd: wantedNumber,
    inputTokens: wantedNumber,
    outputTokens: wantedNumber,
    cachedInputTokens: wantedNumber,
    cacheWriteTokens: wantedNumber,
    cacheWrite1hTokens: wantedNumber,
    reasoningTokens: wantedNumber,
  }),
  "a number that was spent ({ steps: 3 })",
);

/** The tool that is meant: a pattern, or nothing, would be called by nobody. */
export const calledName: Check = membersOf<{ name: string }>({ name }, ["name"]);

/** The tool that somebody was asked about; without a name it is any. */
export const askedName: Check = membersOf<{ name: string }>({ name });

/** Calls in order. Of none at all anything would be true. */
export const orderedCalls: Check = membersOf<{ calls: unknown }>(
  {
    calls: needed(
      "a list of at least one call, each the tool's name or [name, args],",
      (calls) =>
        Array.isArray(calls) &&
        calls.length > 0 &&
        calls.every((one: unknown) => name(Array.isArray(one) ? one[0] : one) === undefined),
    ),
  },
  ["calls"],
);

const isLikeness = (one: unknown): boolean =>
  typeof one === "function" || (typeof one === "object" && one !== null);

/** Why a run is to have ended, and what more of its end is like. */
export const wantedEnd: Check = membersOf<{ reason: string; end: unknown }>({
  reason: oneOf(...endReasons),
  end: needed("more of what its end is like, { landed: true },", isLikeness),
});

/** What is to have been answered. An output that is not there is like nothing. */
export const wantedAnswer: Check = membersOf<{ wanted: unknown }>(
  { wanted: needed("a text, a pattern, or what the typed output is like", (one) => one !== undefined) },
  ["wanted"],
);

/** What is to have been sent: no request is a number, or nothing. */
export const wantedRequest: Check = membersOf<{ wanted: unknown }>(
  {
    wanted: needed(
      "a text, a pattern, or what a request is like,",
      (one) => isTextual(one) || isLikeness(one),
    ),
  },
  ["wanted"],
);

/** Which request is meant. */
export const sentOptions: Check = membersOf<{ at: number }>({
  at: needed(
    "a whole number, from 1 forwards or from -1 backwards,",
    (at) => Number.isSafeInteger(at) && at !== 0,
  ),
});
