// The room of the rule: what a rule is, and what it may decide.
//
// A rule is pure. It remembers what it needs by folding records (so it never scans the history), and is asked at six
// moments: before a model call (`decide`), while an answer arrives (`hear`), about an answer (`judge`), about one call of it
// (`judgeCall`), before that call starts (`judgeStart`), and at a time that it sets (`wakeAt`, when `decide` is called again).
// Each decision becomes a record with the rule's name and its evidence.

import { hint, nearest } from "../checks/nearest.ts";
import { type Check, callable, count, either, having, membersOf, name } from "../checks.ts";
import type { Estimator } from "../context/estimate.ts";
import { type ErrorData, messageOf, RondoError } from "../errors.ts";
import { recordTypes } from "../journal/record-types.ts";
import { jsonCopy } from "../json/copy.ts";
import type { Amounts } from "../loop/child-facts.ts";
import type { EndReason, Follows, LogRecord, RecordOf, ResultCode, Verdict } from "../loop/records.ts";
import type { RunOptions } from "../loop/run-options.ts";
import type { Call, State } from "../loop/state.ts";
import type { JsonObject } from "../message.ts";
import { oncePer } from "../once-per.ts";
import type { Texts } from "./texts.ts";
import { heard } from "./verdicts.ts";

/** What a rule may decide about the run as a whole. */
export type Decision =
  /** One last turn without tools, then the run ends. `cancel`: what is in flight is cancelled first. */
  | { do: "land"; reason: EndReason; evidence: JsonObject; cancel?: boolean }
  /** The run ends now. */
  | { do: "stop"; reason: EndReason; evidence: JsonObject; error?: ErrorData }
  /** A note to the model in the next request; not stored in the history. */
  | { do: "nudge"; text: string; evidence: JsonObject }
  /** From now on the model is not offered this tool. */
  | { do: "hide_tool"; tool: string; evidence: JsonObject };

/** What a rule may decide about an answer. */
export interface Judgement {
  follows: Follows;
  evidence: JsonObject;
  /** Whether the answer enters the history. Default: true, unless the model is asked again. An explicit `false` holds at a landing too: then the answer is not the run's text either. */
  store?: boolean;
  /** Answers all calls of the answer, so that none runs. Absent: each call's own checks decide. */
  answerAll?: { code: ResultCode; text: (call: Call) => string };
}

type RecordType = LogRecord["type"];

interface Folding<Memory, Type extends RecordType> {
  fold(memory: Memory, record: RecordOf<Type>, before: State): Memory;
}

/** Computes a rule's memory after a record. Typed as a method, like the rule's other members, so that a rule with any memory type is assignable to `Rule`. */
export type Fold<Memory, Type extends RecordType = RecordType> = Folding<Memory, Type>["fold"];

/** A text or a thought of an answer that is arriving. */
export interface ArrivingPart {
  readonly type: "text" | "reasoning";
  /** What has arrived of it since the rule last heard it, with the 4,000 characters before that. */
  readonly text: string;
  /** How many characters of it came before `text`. */
  readonly from: number;
}

/** The result that a rule gives a call in place of starting it, and what it saw. */
export interface Opposed {
  readonly code: ResultCode;
  readonly text: string;
  /** Default: none. */
  readonly evidence?: JsonObject;
}

export interface Rule<Memory = unknown> {
  /** Unique among a run's rules; part of every record that the rule causes. */
  readonly name: string;
  /** Raise it when the same records lead to a different decision. */
  readonly version: number;
  /** Called before a run starts. Returns what is wrong with this rule under these options, or nothing. */
  verify?(options: RunOptions): string | undefined;
  /** The memory at the start of a run. */
  init?(state: State): Memory;
  /** The memory after a record: one function for all records, or one for each type that matters. `before`: the state before that record. Return the same object if nothing changed. */
  fold?: Fold<Memory> | { readonly [Type in RecordType]?: Fold<Memory, Type> };
  /** Called before each model call: may give the model a note, hide a tool, land or end the run. Undefined: nothing. */
  decide?(memory: Memory, state: State): Decision | undefined;
  /**
   * Called while an answer arrives, before what is new of it is emitted: why the rest is not wanted. Then the answer is
   * cancelled, its calls are dropped, and it is judged, with `stop.kind` `max_tokens` and this rule's name as `stop.by`. Not called if the model does not stream.
   * An agent's own rules that listen are asked before the built-in ones.
   */
  hear?(memory: Memory, part: ArrivingPart, state: State): string | undefined;
  /** After how many new characters of a text or a thought `hear` is called again. Default: 1, so at each delta */
  readonly hearEvery?: number;
  /** How much the rule leaves the run, and so its sub-agents, to spend. Absent method or member: no limit. */
  left?(memory: Memory, state: State): Amounts | undefined;
  /** Called for an answer or a failed model call: what follows. The first rule that returns something decides. */
  judge?(memory: Memory, state: State, texts: Texts): Judgement | undefined;
  /** Called for each call of an answer: whether it runs, or what answers it. The first rule that returns something decides. */
  judgeCall?(memory: Memory, call: Call, state: State, texts: Texts): Verdict | undefined;
  /** Called for a call that was judged to run and is about to start: returns a result to give instead, e.g. because of what happened since. */
  judgeStart?(memory: Memory, call: Call, state: State): Opposed | undefined;
  /** The time, in milliseconds since 1970, at which `decide` is called even if nothing else happens. */
  wakeAt?(memory: Memory, state: State): number | undefined;
}

/** What `next` takes besides the state: the rules in the order they are asked, the loop's texts, and the token estimator. */
export interface Rules {
  readonly list: readonly Rule[];
  readonly texts: Texts;
  /** Estimates tokens that no provider has counted. */
  readonly estimator: Estimator;
}

/** The methods that a rule may have. */
const moments = ["fold", "decide", "left", "hear", "judge", "judgeCall", "judgeStart", "wakeAt"] as const;

type Moment = (typeof moments)[number];

const foldCheck = either(
  callable,
  membersOf(Object.fromEntries(Object.keys(recordTypes).map((type) => [type, callable]))),
);

const face = having("a rule, or a function that is a stop rule,", { name });

/** Whether a member's name looks like a misspelt method of a rule. */
function isMisspelt(name: string, deeds: readonly string[]): boolean {
  const first = name.replace(/[A-Z_].*/, "");
  // There are several methods that begin with `judge`, so any other such name counts as misspelt.
  if (first === "judge") return true;
  if (deeds.includes(first) || name.length < 4) return false;
  // A name with another first letter is another word: `told` is not a misspelt `fold`.
  return nearest(name, deeds, 1)[0]?.[0] === name.charAt(0).toLowerCase();
}

/**
 * Checks a rule, of whatever class. A rule without methods would never be called, nor would a misspelt method; so both
 * are refused. Other members are allowed.
 */
export const ruleCheck: Check = (value) => {
  const fault = face(value);
  if (fault !== undefined) return fault;
  const rule = value as Rule & Readonly<Record<string, unknown>>;
  const deeds = [...moments, "init", "verify"];
  for (const deed of deeds) {
    const check = deed === "fold" ? foldCheck : callable;
    const wrong = rule[deed] === undefined ? undefined : check(rule[deed]);
    if (wrong !== undefined) return { at: `.${deed}${wrong.at}`, says: wrong.says };
  }
  const every = rule.hearEvery === undefined ? undefined : count(rule.hearEvery);
  if (every !== undefined) return { at: ".hearEvery", says: every.says };
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

/** A rule that has a certain method, and its index in the list, which is also the index of its memory. */
export interface Speaker<M extends Moment> {
  readonly rule: Rule & Required<Pick<Rule, M>>;
  readonly place: number;
}

type Speakers = { readonly [M in Moment]: readonly Speaker<M>[] };

/** The rules that have each method, in the order they are asked. Cached, because most rules have one or two methods and are asked at every turn. */
export const speakersIn: (list: readonly Rule[]) => Speakers = oncePer((list: readonly Rule[]) => {
  const at = (moment: Moment): unknown[] =>
    list.flatMap((rule, place) => (rule[moment] === undefined ? [] : [{ rule, place }]));
  return Object.fromEntries(moments.map((one) => [one, at(one)])) as unknown as Speakers;
});

/** A rule that folds a certain type of record, its function for it, and its index in the list. */
export interface Folder {
  readonly rule: Rule;
  readonly fold: Fold<unknown>;
  readonly place: number;
}

/** The rules that fold records, by the type of record: most rules fold few types. */
export const foldersIn: (list: readonly Rule[]) => ReadonlyMap<RecordType, readonly Folder[]> = oncePer(
  (list: readonly Rule[]) => {
    const folders = new Map<RecordType, Folder[]>();
    for (const [place, rule] of list.entries()) {
      const { fold = {} } = rule;
      for (const type of Object.keys(typeof fold === "function" ? recordTypes : fold) as RecordType[]) {
        const own = (typeof fold === "function" ? fold : fold[type]) as Fold<unknown> | undefined;
        if (own !== undefined) folders.set(type, [...(folders.get(type) ?? []), { rule, fold: own, place }]);
      }
    }
    return folders;
  },
);

/** The methods whose return value is a decision. */
type Asked = "decide" | "judge" | "judgeCall" | "judgeStart" | "wakeAt";

/** The arguments of such a method, besides the rule's memory. */
type Told<M extends Asked> = Parameters<Required<Rule>[M]> extends [unknown, ...infer Rest] ? Rest : never;
type Said<M extends Asked> = NonNullable<ReturnType<Required<Rule>[M]>>;

/**
 * Asks the rules in order, until `take` accepts what one returned.
 * @param take converts what a rule returned; undefined: the next rule is asked
 */
export function firstSaid<M extends Asked, Taken>(
  { list }: Rules,
  { memories }: State,
  moment: M,
  told: Told<M>,
  take: (said: Said<M>, rule: Rule, memory: unknown) => Taken | undefined,
): Taken | undefined {
  for (const { rule, place } of speakersIn(list)[moment] as readonly Speaker<M>[]) {
    const memory = memories[place];
    try {
      const ask = rule[moment] as (...asked: unknown[]) => Said<M> | undefined;
      const said = ask.call(rule, memory, ...told);
      if (said === undefined) continue;
      const taken = take(heard(moment, said), rule, memory);
      if (taken !== undefined) return taken;
    } catch (thrown) {
      throw ruleFailed(rule, moment, thrown);
    }
  }
  return undefined;
}

/**
 * The evidence of a rule's decision, as plain JSON that every journal can store.
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
