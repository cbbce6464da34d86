// The room of what is wanted: what a matcher may be told beside the thing it looks for.
//
// A word that nobody knows would be looked for nowhere, and the test would pass: an expectation that is not checked is
// worse than none.

import {
  anything,
  type Check,
  callable,
  either,
  flag,
  membersOf,
  needed,
  number,
  whole,
} from "@rondo/core/checks";
import type { ToldSpending } from "./story.ts";

export interface CalledOptions {
  /** How many calls there must be that fit. Default: at least one. */
  times?: number;
  /** Members of the arguments that are not named must not be there. Default: they are not looked at. */
  exact?: boolean;
  /** What the model reads of the result: a piece of its text, or a pattern. */
  result?: string | RegExp;
  /** Whether the result is an error. */
  isError?: boolean;
}

/** A number, its bounds, or a question. */
export type WantedNumber = number | { atLeast?: number; atMost?: number } | ((value: number) => boolean);

export type WantedSpending = { [name in keyof ToldSpending]?: WantedNumber };

/** What the options of `toHaveCalled` must be. */
export const calledOptions: Check = membersOf<CalledOptions>({
  times: whole,
  exact: flag,
  result: anything,
  isError: flag,
});

const wantedNumber: Check = either(
  either(number, callable),
  membersOf<{ atLeast: number; atMost: number }>({ atLeast: number, atMost: number }),
);

/** What is wanted of the spending. */
export const wantedSpending: Check = membersOf<ToldSpending>({
  steps: wantedNumber,
  modelCalls: wantedNumber,
  toolCalls: wantedNumber,
  tokens: wantedNumber,
  usd: wantedNumber,
  inputTokens: wantedNumber,
  outputTokens: wantedNumber,
  cachedInputTokens: wantedNumber,
  cacheWriteTokens: wantedNumber,
  reasoningTokens: wantedNumber,
});

/** Which request is meant. */
export const sentOptions: Check = membersOf<{ at: number }>({
  at: needed(
    "a whole number, from 1 forwards or from -1 backwards,",
    (at) => Number.isSafeInteger(at) && at !== 0,
  ),
});
