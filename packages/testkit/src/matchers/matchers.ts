// The room of the matchers: assertions about a run, and their failure messages.
//
// Each is a function from the subject and the expectation to a verdict with a message, in the form that vitest and jest
// take. The message always says what there was, and what came nearest: a failure can be read without a debugger.

import type { EndReason, RunEnd } from "@rondo/core";
import { checkGiven } from "@rondo/core/checks";
import { differences, shown, type Wanted } from "./difference.ts";
import {
  askedName,
  type CalledOptions,
  calledName,
  calledOptions,
  orderedCalls,
  sentOptions,
  type WantedNumber,
  type WantedSpending,
  wantedAnswer,
  wantedEnd,
  wantedRequest,
  wantedSpending,
} from "./expected.ts";
import { requestsOf } from "./sent.ts";
import { type Story, storyOf, type ToldCall, type ToldSpending } from "./story.ts";

/** A verdict with its words, as runners take it. */
export interface MatcherResult {
  pass: boolean;
  message: () => string;
}

/** A call in `toHaveCalledInOrder`: a tool's name, or its name and arguments. */
export type OrderedCall = string | readonly [name: string, args: Wanted];

/**
 * Assertions about a run. All but `toHaveSent` take a run's result, a session, its records, or its events; earlier runs of
 * the same conversation count, too. Arguments are compared in part: members that are not named are ignored; strings may be
 * patterns; a function gets the value and returns, synchronously, whether it fits.
 */
export interface RondoMatchers<R = void> {
  /**
   * The model called a tool with these arguments, whether or not the call ran.
   *
   *     expect(run).toHaveCalled("weather", { city: "Paris" }, { times: 1 });
   */
  toHaveCalled(name: string, args?: Wanted, options?: CalledOptions): R;
  /** These calls were made in this order, with or without others between them. */
  toHaveCalledInOrder(calls: readonly OrderedCall[]): R;
  /** The run is over, for this reason. @param end further members of its end, e.g. `{ landed: true }`, `{ error: { kind: "auth" } }` */
  toEnd(reason?: EndReason, end?: Wanted): R;
  /** The run's text contains this string or matches this pattern; an object: its typed output has these members. */
  toHaveAnswered(wanted: string | RegExp | Wanted): R;
  /** An approval was requested for such a call, or its tool asked a question; without a name, for any. Results and sessions only know of calls that still wait. */
  toHaveAsked(name?: string, args?: Wanted): R;
  /** What the run cost: `{ steps: 3, tokens: { atMost: 2_000 } }`. For records and sessions: their last run. An unknown number never matches. */
  toHaveSpent(wanted: WantedSpending): R;
  /**
   * Such a request was sent: it contains this string, matches this pattern, or has the members of this object.
   * Takes a scripted model, rondo-wire, or a session's records.
   * @param options.at check only this request, counted from 1; -1 is the last. Default: any
   */
  toHaveSent(wanted: string | RegExp | Wanted, options?: { at?: number }): R;
}

type Given<Name extends keyof RondoMatchers> = Parameters<RondoMatchers[Name]>;

/** The matchers as vitest and jest take them: `expect.extend(rondoMatchers)`. */
export const rondoMatchers: {
  [Name in keyof RondoMatchers]: (received: unknown, ...wanted: Given<Name>) => MatcherResult;
} = {
  toHaveCalled(received, name, args, options = {}) {
    checkGiven(calledName, { name }, "toHaveCalled");
    checkGiven(calledOptions, options, "toHaveCalled");
    const story = storyOf(received);
    const ways = story.calls.map((call) => unlike(call, name, args, options));
    const fitting = ways.filter((way) => way.length === 0).length;
    const { times } = options;
    const pass = times === undefined ? fitting > 0 : fitting === times;
    const what = `${name}${args === undefined ? "" : ` with ${shown(args)}`}${resultWords(options)}`;
    const count = times === undefined ? "" : ` ${timesWords(times)}`;
    const was = fitting === 0 ? "it did not" : `it did ${timesWords(fitting)}`;
    return verdict(pass, story, `to have called ${what}${count}`, was, () => [
      ...callLines(story.calls),
      ...(pass || fitting > 0 ? [] : nearest(story.calls, ways, name)),
    ]);
  },

  toHaveCalledInOrder(received, wanted) {
    checkGiven(orderedCalls, { calls: wanted }, "toHaveCalledInOrder");
    const story = storyOf(received);
    let found = 0;
    for (const call of story.calls) {
      const next = wanted[found];
      if (next !== undefined && unlike(call, ...nameAndArgs(next), {}).length === 0) found += 1;
    }
    const pass = found === wanted.length;
    const missing = wanted[found];
    const words = (one: OrderedCall): string =>
      typeof one === "string" ? one : `${one[0]} ${shown(one[1])}`;
    const list = wanted.map(words).join(", then ");
    const was =
      missing === undefined
        ? "it did"
        : found === 0
          ? `there was no ${words(missing)}`
          : `after ${words(wanted[found - 1] as OrderedCall)} there was no ${words(missing)}`;
    return verdict(pass, story, `to have called ${list}`, was, () => callLines(story.calls));
  },

  toEnd(received, reason, wanted) {
    checkGiven(wantedEnd, { reason, end: wanted }, "toEnd");
    const story = storyOf(received);
    const { end } = story;
    const unlikeEnd = end === undefined || wanted === undefined ? [] : differences(wanted, end);
    const pass =
      end !== undefined && (reason === undefined || end.reason === reason) && unlikeEnd.length === 0;
    const what = `to end${reason === undefined ? "" : ` as ${reason}`}${wanted === undefined ? "" : ` with ${shown(wanted)}`}`;
    return verdict(pass, story, what, endWords(story), () => [
      ...unlikeEnd,
      ...(end === undefined ? [] : endLines(end)),
      `its text: ${shown(story.text)}`,
    ]);
  },

  toHaveAnswered(received, wanted) {
    checkGiven(wantedAnswer, { wanted }, "toHaveAnswered");
    const story = storyOf(received);
    if (isText(wanted)) {
      const pass = holds(wanted, story.text);
      const what = `to have answered ${textWords(wanted)}`;
      return verdict(pass, story, what, `its text is ${shown(story.text, 600)}`, () => [endWords(story)]);
    }
    const unlikeOutput = differences(wanted, story.output);
    const was =
      story.output === undefined
        ? `it has no typed output; its text is ${shown(story.text)}`
        : `its output is ${shown(story.output, 600)}`;
    return verdict(unlikeOutput.length === 0, story, `to have answered ${shown(wanted)}`, was, () => [
      ...(story.output === undefined ? [] : unlikeOutput),
      endWords(story),
    ]);
  },

  toHaveAsked(received, name, args) {
    checkGiven(askedName, { name }, "toHaveAsked");
    const story = storyOf(received);
    const asked: ToldCall[] = story.asked.map((call) => ({ id: "", ...call }));
    const ways = asked.map((call) => unlike(call, name ?? call.name, args, {}));
    const pass = ways.some((way) => way.length === 0);
    const what = `to have asked about ${name ?? "a call"}${args === undefined ? "" : ` with ${shown(args)}`}`;
    const was = asked.length === 0 ? "it asked about none" : `it asked about ${asked.length}`;
    const still = story.askedNow && asked.length === 0;
    return verdict(pass, story, what, pass ? "it did" : was, () => [
      ...(asked.length === 0 ? [] : asked.map(callLine)),
      ...(pass ? [] : nearest(asked, ways, name)),
      ...(still ? [`${story.from} tells only calls that still wait; its records or events tell all`] : []),
      endWords(story),
    ]);
  },

  toHaveSpent(received, wanted) {
    checkGiven(wantedSpending, wanted, "toHaveSpent");
    const story = storyOf(received);
    const unlikeNumbers = Object.entries(wanted).flatMap(([name, number]) =>
      unlikeNumber(name, story.spent[name as keyof ToldSpending], number),
    );
    const was = unlikeNumbers.length === 0 ? "it did" : unlikeNumbers.join("; ");
    const words = Object.entries(wanted).map(([name, number]) => `${name} ${numberWords(number)}`);
    return verdict(unlikeNumbers.length === 0, story, `to have spent ${words.join(", ")}`, was, () => [
      `it spent ${Object.entries(story.spent)
        .map(([name, number]) => `${name} ${number}`)
        .join(", ")}`,
      ...Object.keys(wanted).flatMap((name) => whereTold(name as keyof ToldSpending, story)),
    ]);
  },

  toHaveSent(received, wanted, options = {}) {
    checkGiven(wantedRequest, { wanted }, "toHaveSent");
    checkGiven(sentOptions, options, "toHaveSent");
    const { at } = options;
    const requests = requestsOf(received);
    const meant = at === undefined ? undefined : at > 0 ? at - 1 : requests.length + at;
    const looked = [...requests.keys()].filter((place) => meant === undefined || place === meant);
    const ways = looked.map((place) => {
      const request = requests[place];
      if (!isText(wanted)) return differences(wanted, request);
      return holds(wanted, textsIn(request)) ? [] : ["it is not in there"];
    });
    const least = indexOfLeast(ways);
    const way = ways[least];
    const near = looked[least];
    const pass = way?.length === 0;
    const which = at === undefined ? "" : at === -1 ? " as the last request" : ` as request ${at}`;
    const what = `to have sent ${isText(wanted) ? textWords(wanted) : shown(wanted)}${which}`;
    const out = `${requests.length} went out`;
    const missing = at === undefined ? "none went out" : `there is no such request (${out})`;
    const was =
      near === undefined
        ? missing
        : at === undefined
          ? `none of ${requests.length} requests is like that`
          : `it is not like that (${out})`;
    return verdict(pass, { from: "what went out" }, what, was, () =>
      near === undefined || way === undefined
        ? []
        : [
            ...way.slice(0, 8).map((line) => `request ${near + 1}: ${line}`),
            `request ${near + 1} was ${shown(requests[near], 800)}`,
          ],
    );
  },
};

/** What a matcher says of a subject. */
export function matched(
  name: keyof RondoMatchers,
  received: unknown,
  wanted: readonly unknown[],
): MatcherResult {
  const matcher = rondoMatchers[name] as (received: unknown, ...wanted: readonly unknown[]) => MatcherResult;
  return matcher(received, ...wanted);
}

function verdict(
  pass: boolean,
  { from }: { from: string },
  what: string,
  was: string,
  more: () => string[],
): MatcherResult {
  const message = (): string =>
    [
      pass ? `expected ${from} not ${what}, but it is so` : `expected ${from} ${what}; ${was}`,
      ...more().map((line) => `  ${line}`),
    ].join("\n");
  return { pass, message };
}

/** In what a call is not the wanted one. Of another tool's nothing else is looked at. */
function unlike(call: ToldCall, name: string, args: Wanted, options: CalledOptions): string[] {
  if (call.name !== name) return [`it is a call of ${call.name}`];
  const { result, isError, exact } = options;
  const unlikeArgs = args === undefined ? [] : differences(args, call.args, exact, "");
  const text = call.result?.text;
  return [
    ...unlikeArgs,
    ...(result === undefined || (text !== undefined && holds(result, text))
      ? []
      : [`its result is ${text === undefined ? "not there yet" : shown(text)}, wanted ${textWords(result)}`]),
    ...(isError === undefined || call.result?.isError === isError
      ? []
      : [`its result is ${call.result?.isError === true ? "an error" : "no error"}`]),
  ];
}

/** The call that comes nearest to the wanted one, of those of its name. @param name absent: any */
function nearest(
  calls: readonly ToldCall[],
  ways: readonly (readonly string[])[],
  name: string | undefined,
): string[] {
  if (calls.length === 0) return [];
  const own = calls.flatMap((call, at) => (name === undefined || call.name === name ? [at] : []));
  const near = own[indexOfLeast(own.map((at) => ways[at] ?? []))];
  if (near !== undefined) return [`nearest is call ${near + 1}: ${ways[near]?.join("; ")}`];
  const names = [...new Set(calls.map((call) => call.name))];
  return [`no call of ${name}; there were calls of ${names.join(", ")}`];
}

function indexOfLeast(lists: readonly (readonly string[])[]): number {
  let least = -1;
  lists.forEach((list, at) => {
    if (least < 0 || list.length < (lists[least]?.length ?? 0)) least = at;
  });
  return least;
}

function callLines(calls: readonly ToldCall[]): string[] {
  if (calls.length === 0) return ["it made no calls"];
  return [
    `it made ${calls.length === 1 ? "one call" : `${calls.length} calls`}:`,
    ...calls.slice(0, 30).map(callLine),
    ...(calls.length > 30 ? [`… and ${calls.length - 30} more`] : []),
  ];
}

function callLine({ name, args, result }: ToldCall, at: number): string {
  const came =
    result === undefined
      ? ""
      : ` → ${result.isError ? "error " : ""}${shown(result.text.replace(/\s+/g, " "), 80)}`;
  return `${at + 1}. ${name} ${shown(args)}${came}`;
}

const nameAndArgs = (one: OrderedCall): [name: string, args: Wanted] =>
  typeof one === "string" ? [one, undefined] : [one[0], one[1]];

const timesWords = (times: number): string =>
  times === 1 ? "once" : times === 2 ? "twice" : `${times} times`;

function resultWords({ result, isError }: CalledOptions): string {
  const words = result === undefined ? "" : ` and a result of ${textWords(result)}`;
  return isError === undefined ? words : `${words} and ${isError ? "an error" : "no error"} as its result`;
}

const isText = (wanted: unknown): wanted is string | RegExp =>
  typeof wanted === "string" || wanted instanceof RegExp;

const textWords = (wanted: string | RegExp): string =>
  typeof wanted === "string" ? `a text with ${JSON.stringify(wanted)}` : `a text like ${String(wanted)}`;

function holds(wanted: string | RegExp, text: string): boolean {
  return typeof wanted === "string" ? text.includes(wanted) : differences(wanted, text).length === 0;
}

function endWords({ end, asked, askedNow }: Pick<Story, "end" | "asked" | "askedNow">): string {
  if (end !== undefined)
    return `it ended as ${end.reason}, by ${end.rule}${end.landed ? ", and landed" : ""}`;
  return askedNow && asked.length > 0
    ? `it has not ended: it waits for an approval or an answer: ${asked.map(({ name }) => name).join(", ")}`
    : "it has not ended";
}

function endLines({ evidence, error }: RunEnd): string[] {
  return [
    `its evidence: ${shown(evidence)}`,
    ...(error === undefined ? [] : [`its error: ${error.kind}: ${shown(error.message, 400)}`]),
  ];
}

function unlikeNumber(name: string, value: number | undefined, wanted: WantedNumber | undefined): string[] {
  if (wanted === undefined) return [];
  if (value === undefined) return [`${name} is unknown: nobody counted it, or it is not told here`];
  const fits =
    typeof wanted === "number"
      ? value === wanted
      : typeof wanted === "function"
        ? differences(wanted, value).length === 0
        : value >= (wanted.atLeast ?? Number.NEGATIVE_INFINITY) &&
          value <= (wanted.atMost ?? Number.POSITIVE_INFINITY);
  return fits ? [] : [`${name} is ${value}`];
}

/** Where a number that is not told here can be had. */
function whereTold(name: keyof ToldSpending, { spent }: Story): string[] {
  if (spent[name] !== undefined) return [];
  if (name === "usd") return ["usd is counted where the model has a price (facts.price), or is a known one"];
  return /tokens$/i.test(name) ? ["of a scripted model tokens are what usage(…) says in a turn"] : [];
}

function numberWords(wanted: WantedNumber | undefined): string {
  if (typeof wanted !== "object") return typeof wanted === "function" ? "as asked" : String(wanted);
  const { atLeast, atMost } = wanted;
  return [atLeast === undefined ? "" : `at least ${atLeast}`, atMost === undefined ? "" : `at most ${atMost}`]
    .filter((words) => words !== "")
    .join(" and ");
}

/** Every text in a request, as it reads: not as JSON escapes it. */
function textsIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  return Object.values(value).map(textsIn).join("\n");
}
