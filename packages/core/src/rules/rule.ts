// The room of the rule: what a rule is, and what it may say.
//
// A rule is pure. It remembers what it needs by folding records (so it never looks back over the history), and is asked
// at five moments: before a model call (`decide`), about an answer (`judge`), about one call of it (`judgeCall`), before
// that call starts (`judgeStart`), and at a time that it names (`wakeAt`, upon which `decide` is asked).
// What it decides becomes a record that carries its name and its evidence.

import { hint, nearest } from "../checks/nearest.ts";
import { type Check, callable, having, name } from "../checks.ts";
import type { Estimator } from "../context/estimate.ts";
import { type ErrorData, messageOf, RondoError } from "../errors.ts";
import { jsonCopy } from "../json/copy.ts";
import type { Amounts } from "../loop/child-facts.ts";
import type { EndReason, Follows, LogRecord, ResultCode, Verdict } from "../loop/records.ts";
import type { RunOptions } from "../loop/run-options.ts";
import type { Call, State } from "../loop/state.ts";
import type { JsonObject } from "../message.ts";
import { oncePer } from "../once-per.ts";
import type { Texts } from "./texts.ts";

/** What a rule may decide about the run as a whole. */
export type Decision =
  /** One last turn without tools, then the end. `cancel`: without waiting for what is in flight. */
  | { do: "land"; reason: EndReason; evidence: JsonObject; cancel?: boolean }
  /** The end, now. */
  | { do: "stop"; reason: EndReason; evidence: JsonObject; error?: ErrorData }
  /** A note to the model in the next request; not stored in the history. */
  | { do: "nudge"; text: string; evidence: JsonObject }
  /** From now on the model is not offered this tool. */
  | { do: "hide_tool"; tool: string; evidence: JsonObject };

/** What a rule may decide about an answer. */
export interface Judgement {
  follows: Follows;
  evidence: JsonObject;
  /** Whether the answer enters the history. Default: true, unless the model is asked again. */
  store?: boolean;
  /** A verdict for every call that is not to run. Absent: by the call's own checks. */
  answerAll?: { code: ResultCode; text: (call: Call) => string };
}

export interface Rule<Memory = unknown> {
  /** Unique among a run's rules; stands in every record the rule causes. */
  readonly name: string;
  /** Raise it when the same records would lead to another decision. */
  readonly version: number;
  /** What is wrong with this rule under these options, as a text, or nothing. Asked before a run starts. */
  verify?(options: RunOptions): string | undefined;
  /** The memory at the start of a run. */
  init?(state: State): Memory;
  /** The memory after a record. `before`: the state before that record. Return the same object if nothing changed. */
  fold?(memory: Memory, record: LogRecord, before: State): Memory;
  /** Asked about the run before each model call: a note for the model, a hidden tool, a landing, an end. Undefined: nothing. */
  decide?(memory: Memory, state: State): Decision | undefined;
  /** What the rule leaves the run to spend, and so its sub-agents. Absent, or an amount left out: no limit. */
  left?(memory: Memory, state: State): Amounts | undefined;
  /** Asked about an answer, or a failed model call: what follows. The first rule that says something decides. */
  judge?(memory: Memory, state: State, texts: Texts): Judgement | undefined;
  /** Asked about one call of an answer: whether it runs, or what answers it. The first rule that says something decides. */
  judgeCall?(memory: Memory, call: Call, state: State): Verdict | undefined;
  /** Asked about a call that was judged to run and has not started: something may have happened since to prevent it. */
  judgeStart?(memory: Memory, call: Call, state: State): { code: ResultCode; text: string } | undefined;
  /** The time, in milliseconds since 1970, at which `decide` is to be asked even if nothing else happens. */
  wakeAt?(memory: Memory, state: State): number | undefined;
}

/** Everything `next` consults: the rules in the order they are asked, the texts the model reads, and the estimator of the window. */
export interface Rules {
  readonly list: readonly Rule[];
  readonly texts: Texts;
  /** How tokens are estimated that no provider has counted. */
  readonly estimator: Estimator;
}

/** The methods that a rule may have. */
const moments = ["fold", "decide", "left", "judge", "judgeCall", "judgeStart", "wakeAt"] as const;

type Moment = (typeof moments)[number];

const face = having("a rule, or a function that is a stop rule,", { name });

/** Whether a member's name looks like a misspelt method of a rule. */
function isMisspelt(name: string, deeds: readonly string[]): boolean {
  const first = name.replace(/[A-Z_].*/, "");
  // There are several kinds of judging, so any name that begins so is taken for one.
  if (first === "judge") return true;
  if (deeds.includes(first) || name.length < 4) return false;
  // A name with another first letter is another word: `told` is not a misspelt `fold`.
  return nearest(name, deeds, 1)[0]?.[0] === name.charAt(0).toLowerCase();
}

/**
 * Checks a rule, of whatever class. One without any method would never be asked, and neither would a misspelt method; so both
 * are refused. Other members are the rule's own.
 */
export const ruleCheck: Check = (value) => {
  const fault = face(value);
  if (fault !== undefined) return fault;
  const rule = value as Rule & Readonly<Record<string, unknown>>;
  const deeds = [...moments, "init", "verify"];
  for (const deed of deeds) {
    const wrong = rule[deed] === undefined ? undefined : callable(rule[deed]);
    if (wrong !== undefined) return { at: `.${deed}`, says: wrong.says };
  }
  const others = membersIn(rule).filter((name) => !deeds.includes(name) && typeof rule[name] === "function");
  const misspelt = others.find((name) => isMisspelt(name, deeds));
  const isHeard = rule.verify !== undefined || moments.some((one) => rule[one] !== undefined);
  if (isHeard && misspelt === undefined) return undefined;
  const other = misspelt ?? others[0];
  const why =
    other === undefined
      ? `it has none of ${moments.join(", ")}`
      : `there is no moment ${other}, ${hint(nearest(other, deeds, 1)[0] ?? other, deeds)}`;
  return { at: "", says: `rule ${JSON.stringify(rule.name)}${isHeard ? "" : " says nothing"}: ${why}` };
};

/** The names of an object's members, including those of its class, but not those that every object has. */
function membersIn(given: object): string[] {
  const names: string[] = [];
  for (let at: object | null = given; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at))
    names.push(...Object.getOwnPropertyNames(at).filter((name) => name !== "constructor"));
  return names;
}

/** A rule that has a method, and its place in the list: its memory is at the same place. */
export interface Speaker<M extends Moment> {
  readonly rule: Rule & Required<Pick<Rule, M>>;
  readonly place: number;
}

type Speakers = { readonly [M in Moment]: readonly Speaker<M>[] };

/** The rules that have a method, moment by moment, in the order they are asked. Kept, because most rules have one or two methods and are asked at every turn. */
export const speakersIn: (list: readonly Rule[]) => Speakers = oncePer((list: readonly Rule[]) => {
  const at = (moment: Moment): unknown[] =>
    list.flatMap((rule, place) => (rule[moment] === undefined ? [] : [{ rule, place }]));
  return Object.fromEntries(moments.map((one) => [one, at(one)])) as unknown as Speakers;
});

/** The answer of the first rule that gives one, in the order they are asked. */
export function firstSaid<M extends Moment, Said>(
  { list }: Rules,
  { memories }: State,
  moment: M,
  ask: (rule: Speaker<M>["rule"], memory: unknown) => Said | undefined,
): Said | undefined {
  for (const { rule, place } of speakersIn(list)[moment] as readonly Speaker<M>[]) {
    let said: Said | undefined;
    try {
      said = ask(rule, memories[place]);
    } catch (thrown) {
      throw ruleFailed(rule, moment, thrown);
    }
    if (said !== undefined) return said;
  }
  return undefined;
}

/**
 * The evidence of a rule's decision, as every journal can hold it.
 * @throws TypeError naming the member that is not JSON
 */
export const evidenceOf = <Evidence>({ evidence }: { readonly evidence: Evidence }): Evidence =>
  jsonCopy(evidence, "evidence", "lenient");

/** A rule may be user code: if it throws, the error says which rule it was, and in which method. */
export function ruleFailed({ name }: Rule, moment: Moment | "init", thrown: unknown): RondoError {
  const message = `the rule ${name} failed in ${moment}: ${messageOf(thrown)}`;
  const error = new RondoError("internal", message, { cause: thrown });
  failures.set(error, name);
  return error;
}

/** The errors that rules threw, with the rules' names. */
const failures = new WeakMap<object, string>();

/** The name of the rule that threw this; undefined if no rule did. */
export const failedRule = (thrown: unknown): string | undefined => failures.get(thrown as object);
