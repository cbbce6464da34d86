// The room of the verdict: compares a run that was killed with one that never was.
//
// What was reported to the lives is compared with what is on disk: the journal, the texts beside it, and the effects of
// tools, which are the only truth about the world.

import {
  emptyState,
  isPaired,
  type LogRecord,
  type Rules,
  reduce,
  replay,
  resolve,
  type State,
  textOf,
  type Usage,
} from "@rondo/core";
import type { Lived } from "./lives.ts";
import { digestOf, type Effect, type Place, recordDigest } from "./place.ts";
import { emptyScene, helperSteps, steps } from "./scene.ts";
import { said } from "./scene-tools.ts";

/** What can be wrong, as counted in the last line. */
export const wrongs = ["lost run", "lost record", "reordered", "repeated write"] as const;
export type Wrong = (typeof wrongs)[number];

/** The counts before any check. */
export const nothingWrong = (): Record<Wrong, number> => ({
  "lost run": 0,
  "lost record": 0,
  reordered: 0,
  "repeated write": 0,
});

export interface Finding {
  wrong: Wrong;
  words: string;
}

/** Results of one session: the scene's own, or a helper's. */
export interface SessionCame {
  text: string;
  /** Its usage: for a parent including all its children. */
  usage: Usage;
  /** Digests of the requests by step, each once, in the order of their first occurrence. */
  requests: { step: number; digest: string }[];
  /** The step of each write call with unknown outcome. */
  unknown: number[];
}

/** Results of a run. */
export interface Came {
  sessions: ReadonlyMap<string, SessionCame>;
  /** Number of write calls with unknown outcome. */
  unknown: number;
  findings: Finding[];
}

const agents = emptyScene();
const parent = { rules: resolve(agents.agent).rules, steps };
const child = { rules: resolve(agents.helper).rules, steps: helperSteps };

/** Judges a run that should have ended. @param reference one that was never killed; absent: this is the reference */
export async function judge(
  place: Place,
  lives: readonly Pick<Lived, "words" | "killed" | "ended" | "errors">[],
  reference?: Came,
): Promise<Came> {
  const findings: Finding[] = [];
  const found = (wrong: Wrong, words: string): void => void findings.push({ wrong, words });
  for (const { killed, ended, errors } of lives)
    if (!killed && !ended)
      found("lost run", `a life ended by itself before its run did: ${errors.slice(0, 2_000)}`);
  const { session } = place;
  const all = await readAll(place, lives, found);
  const effects = place.effects();
  const times = new Map<string, number>();
  for (const { kind: effect, key } of effects)
    if (effect === "write") times.set(key, (times.get(key) ?? 0) + 1);
  for (const [key, count] of times) if (count > 1) found("repeated write", `${key} happened ${count} times`);
  const intended = new Set(
    [...all.values()]
      .flat()
      .flatMap((record) => (record.type === "tool_started" ? [record.idempotencyKey] : [])),
  );
  for (const { key } of effects)
    if (!intended.has(key)) found("lost record", `${key} happened, and nobody wrote down that it would`);
  const sessions = new Map<string, SessionCame>();
  for (const [id, records] of all) {
    const about: Found = (wrong, words) => found(wrong, id === session ? words : `${id}: ${words}`);
    sessions.set(roleOf(id, session), judgeSession(id, records, effects, about, id === session));
  }
  costs(sessions, all, session, found);
  if (reference !== undefined) {
    if ([...sessions.keys()].sort().join() !== [...reference.sessions.keys()].sort().join())
      found("lost run", `its sessions are ${[...sessions.keys()].join()}`);
    for (const [id, came] of sessions) {
      const whole = reference.sessions.get(id);
      if (whole !== undefined) same(came, whole, (wrong, words) => found(wrong, `${id}: ${words}`));
    }
  }
  const unknown = [...sessions.values()].reduce((sum, came) => sum + came.unknown.length, 0);
  return { sessions, unknown, findings };
}

/** A session by its role: ids differ between runs, and a helper's contains a record number that may differ too. */
const roleOf = (id: string, session: string): string =>
  id === session ? main : `helper ${id.slice(id.lastIndexOf(".") + 1)}`;

/** The role of the session in which the run was started. */
const main = "scene";

/** The records of each session; also checks that what was acknowledged to the lives is on disk. */
async function readAll(place: Place, lives: Heard, found: Found): Promise<Map<string, LogRecord[]>> {
  const all = new Map<string, LogRecord[]>([[place.session, []]]);
  const journal = place.open();
  try {
    for (const message of place.check()) found("lost record", message);
    for (const { id } of await journal.list()) if (place.holds(id)) all.set(id, await journal.read(id));
    for (const { words } of lives)
      for (const word of words) {
        if (word.say === "stored" && !all.has(word.session)) all.set(word.session, []);
        if (word.say !== "kept") continue;
        const text = await journal.blobs.get(word.session, word.ref);
        if (text === undefined || digestOf(text) !== word.digest)
          found("lost record", `the text ${word.ref} is gone`);
      }
    for (const [id, records] of all) stored(id, lives, records, found);
  } catch (thrown) {
    found("lost record", `the journal cannot be read: ${String(thrown)}`);
  } finally {
    await journal.close?.();
  }
  return all;
}

function judgeSession(
  id: string,
  records: readonly LogRecord[],
  effects: readonly Effect[],
  found: Found,
  isMain: boolean,
): SessionCame {
  const { rules, steps: wanted } = isMain ? parent : child;
  const { run } = folded(records, rules, found);
  if (run?.end?.reason !== "completed")
    found("lost run", `it ended with ${run?.end?.reason}: ${run?.end?.error?.message}`);
  const answers = records.filter((record) => record.type === "model_finished").length;
  if (run?.steps !== wanted || answers !== wanted)
    found("lost run", `${run?.steps} steps were counted for ${answers} answers, and it takes ${wanted}`);
  if (records.filter((record) => record.type === "run_started").length !== 1)
    found("lost run", "it was started twice");
  if (records.filter((record) => record.type === "run_ended").length !== 1)
    found("lost run", "it ended twice, or never");
  if (isMain) mail(records, found);
  const { firstDifference } = replay(records, rules);
  if (firstDifference !== undefined)
    found("lost run", `replayed, the request of record ${firstDifference.seq} is another than was sent`);
  return {
    text: run?.text ?? "",
    usage: run?.spend.usage ?? {},
    requests: requestsOf(records),
    unknown: done(id, records, effects, found),
  };
}

type Found = (wrong: Wrong, words: string) => void;
type Heard = readonly Pick<Lived, "words">[];

/** What was acknowledged must be there, at its position, unchanged. */
function stored(id: string, lives: Heard, records: readonly LogRecord[], found: Found): void {
  records.forEach((record, seq) => {
    if (record.seq !== seq) found("reordered", `record ${seq} says it is ${record.seq}`);
  });
  const digests = records.map(recordDigest);
  const places = new Map(digests.map((digest, seq) => [digest, seq]));
  for (const { words } of lives)
    for (const word of words)
      if (word.say === "stored" && word.session === id)
        word.digests.forEach((digest, at) => {
          const seq = word.from + at;
          if (digests[seq] === digest) return;
          const place = places.get(digest);
          if (place === undefined) found("lost record", `record ${seq} was acknowledged and is not there`);
          else found("reordered", `record ${seq} was acknowledged and stands at ${place}`);
        });
}

/** Folds the records; at every prefix each call in the history must have exactly one result, in order (P1). */
function folded(records: readonly LogRecord[], rules: Rules, found: Found): State {
  let state = emptyState;
  try {
    for (const record of records) {
      const before = state.history;
      state = reduce(state, record, rules);
      if (state.history === before || isPaired([...state.history])) continue;
      found(
        "lost run",
        `after record ${record.seq} (${record.type}) a call has no result, or a result no call`,
      );
      break;
    }
  } catch (thrown) {
    found("lost run", `the records do not fold: ${String(thrown)}`);
  }
  return state;
}

/** Token counts must be those of the answers in the journal, each once; a parent's include its helpers'. */
function costs(
  sessions: ReadonlyMap<string, SessionCame>,
  all: ReadonlyMap<string, readonly LogRecord[]>,
  session: string,
  found: Found,
): void {
  for (const [role, { usage }] of sessions) {
    const own = [...all]
      .filter(([id]) => roleOf(id, session) === role || role === main)
      .flatMap(([, records]) => records);
    const answers = own.filter(
      (record) => record.type === "model_finished" || record.type === "summary_finished",
    );
    const sum = (which: "inputTokens" | "outputTokens"): number =>
      answers.reduce((total, { message }) => total + (message.usage?.[which] ?? 0), 0);
    if (usage.inputTokens !== sum("inputTokens") || usage.outputTokens !== sum("outputTokens"))
      found(
        "lost run",
        `${role}: its answers cost ${sum("inputTokens")} and ${sum("outputTokens")}, and ${JSON.stringify(usage)} was counted`,
      );
  }
}

/** Each message sent must be queued, and delivered once, in its lane (P8). */
function mail(records: readonly LogRecord[], found: Found): void {
  for (const [id, { lane, text }] of Object.entries(said)) {
    const queued = records.find((record) => record.type === "queued" && record.id === id);
    const delivered = records.filter((record) => record.type === "delivered" && record.ids.includes(id));
    if (queued === undefined) found("lost record", `the message ${id} was never stored`);
    else if (queued.type === "queued" && textOf(queued.message) !== text)
      found("lost record", `${id} has another text`);
    if (delivered.length === 0) found("lost record", `the message ${id} was never delivered`);
    if (delivered.length > 1) found("lost run", `the message ${id} was delivered ${delivered.length} times`);
    for (const record of delivered)
      if (record.type === "delivered" && (record.lane !== lane || record.seq < (queued?.seq ?? 0)))
        found("reordered", `the message ${id} was delivered as ${record.lane}, or before it was queued`);
  }
}

/** What the records say of writes must match the world. @returns steps of the calls with unknown outcome */
function done(id: string, records: readonly LogRecord[], effects: readonly Effect[], found: Found): number[] {
  const keys = new Set(effects.map(({ key }) => key));
  const unknown: number[] = [];
  let step = 0;
  const calls = new Map<string, string>();
  for (const record of records) {
    if (record.type === "model_finished") {
      step += 1;
      record.message.content
        .filter((part) => part.type === "tool_call")
        .forEach((part, at) => void calls.set(`${record.seq}.${at}`, part.name));
    }
    if (record.type !== "tool_finished") continue;
    const key = `${id}:${record.call}`;
    const name = calls.get(record.call) ?? "";
    const { code, isError } = record.result;
    if (code === "outcome_unknown") {
      unknown.push(step);
      if (name === "post") found("lost run", `${name} (${key}) is said to be unknown, and its tool knows`);
    } else if (["note", "stamp", "publish", "post", "set"].includes(name)) {
      if (!isError && !keys.has(key))
        found("lost run", `${name} (${key}) is said to be done, and never happened`);
      if (isError && keys.has(key))
        found("lost run", `${name} (${key}) is said to have failed, and happened`);
    }
  }
  return unknown;
}

function requestsOf(records: readonly LogRecord[]): SessionCame["requests"] {
  const seen = new Set<string>();
  const requests: SessionCame["requests"] = [];
  let step = 1;
  for (const record of records) {
    if (record.type === "model_finished") step += 1;
    if (record.type !== "model_started" && record.type !== "summary_started") continue;
    if (seen.has(record.digest)) continue;
    seen.add(record.digest);
    requests.push({ step, digest: record.digest });
  }
  return requests;
}

/** Without interrupted writes everything must be the same; otherwise everything before the interruption, and the answer. */
function same(came: SessionCame, reference: SessionCame, found: Found): void {
  if (came.text !== reference.text) found("lost run", `its answer is ${JSON.stringify(came.text)}`);
  const last = Math.min(Number.POSITIVE_INFINITY, ...came.unknown);
  const upTo = (all: SessionCame["requests"]): string =>
    all
      .filter(({ step }) => step <= last)
      .map(({ digest }) => digest)
      .join();
  if (upTo(came.requests) !== upTo(reference.requests))
    found("lost run", "its model was asked something else than in a run that was never killed");
}
