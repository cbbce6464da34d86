// The room of the verdict: a run that was killed beside one that never was, and what is wrong with it.
//
// What the lives were told counts against what lies on the disk: the journal, the texts beside it, and the effects of
// tools, which are the only truth about the world.

import {
  emptyState,
  isPaired,
  type LogRecord,
  reduce,
  replay,
  resolve,
  type State,
  textOf,
  type Usage,
} from "@rondo/core";
import { checkJournal } from "@rondo/journal";
import type { Lived } from "./lives.ts";
import {
  digestOf,
  type Effect,
  effectsOf,
  type JournalKind,
  journalPath,
  openJournal,
  recordDigest,
} from "./place.ts";
import { emptyScene, said, session, steps } from "./scene.ts";

/** What can be wrong, as the last line counts it. */
export const wrongs = ["lost run", "lost record", "reordered", "repeated write"] as const;
export type Wrong = (typeof wrongs)[number];

export interface Finding {
  wrong: Wrong;
  words: string;
}

/** What a run came to. */
export interface Came {
  text: string;
  usage: Usage;
  /** Digests of the requests by step, each once, in the order they were first made. */
  requests: { step: number; digest: string }[];
  /** Calls of writes whose outcome nobody knows, and the first step that has one. */
  unknown: number;
  unknownAt: number | undefined;
  findings: Finding[];
}

const { rules } = resolve(emptyScene());

/** Reads a run that should have ended. @param reference one that was never killed; absent: this is it */
export async function judge(
  kind: JournalKind,
  folder: string,
  lives: readonly Lived[],
  reference?: Came,
): Promise<Came> {
  const findings: Finding[] = [];
  const found = (wrong: Wrong, words: string): void => void findings.push({ wrong, words });
  for (const { killed, ended, errors } of lives)
    if (!killed && !ended)
      found("lost run", `a life ended by itself before its run did: ${errors.slice(0, 2_000)}`);
  const journal = openJournal(kind, folder);
  let records: LogRecord[] = [];
  try {
    records = await journal.read(session);
    for (const { message } of checkJournal(journalPath(kind, folder)).findings) found("lost record", message);
    stored(lives, records, found);
    for (const life of lives)
      for (const word of life.words)
        if (word.say === "kept") {
          const text = await journal.blobs.get(session, word.ref);
          if (text === undefined || digestOf(text) !== word.digest)
            found("lost record", `the text ${word.ref} is gone`);
        }
  } catch (thrown) {
    found("lost record", `the journal cannot be read: ${String(thrown)}`);
  } finally {
    await journal.close?.();
  }
  const state = folded(records, found);
  const { run } = state;
  if (run?.end?.reason !== "completed")
    found("lost run", `it ended with ${run?.end?.reason}: ${run?.end?.error?.message}`);
  counted(state, records, found);
  mail(records, found);
  const unknown = done(records, effectsOf(folder), found);
  const { firstDifference } = replay(records, rules);
  if (firstDifference !== undefined)
    found("lost run", `replayed, the request of record ${firstDifference.seq} is another than was sent`);
  const came: Came = {
    text: run?.text ?? "",
    usage: run?.spend.usage ?? {},
    requests: requestsOf(records),
    unknown: unknown.length,
    unknownAt: unknown.length === 0 ? undefined : Math.min(...unknown),
    findings,
  };
  if (reference !== undefined) same(came, reference, found);
  return came;
}

type Found = (wrong: Wrong, words: string) => void;

/** What was acknowledged is there, at its place, as it was. */
function stored(lives: readonly Lived[], records: readonly LogRecord[], found: Found): void {
  records.forEach((record, seq) => {
    if (record.seq !== seq) found("reordered", `record ${seq} says it is ${record.seq}`);
  });
  const digests = records.map(recordDigest);
  const places = new Map(digests.map((digest, seq) => [digest, seq]));
  for (const { words } of lives)
    for (const word of words)
      if (word.say === "stored")
        word.digests.forEach((digest, at) => {
          const seq = word.from + at;
          if (digests[seq] === digest) return;
          const place = places.get(digest);
          if (place === undefined) found("lost record", `record ${seq} was acknowledged and is not there`);
          else found("reordered", `record ${seq} was acknowledged and stands at ${place}`);
        });
}

/** The records as a state; at every prefix each call of the history has its one result, in order (P1). */
function folded(records: readonly LogRecord[], found: Found): State {
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

/** Steps and tokens are those of the answers that stand in the journal, each once. */
function counted(state: State, records: readonly LogRecord[], found: Found): void {
  const { run } = state;
  const answers = records.filter((record) => record.type === "model_finished");
  if (run?.steps !== steps || answers.length !== steps)
    found(
      "lost run",
      `${run?.steps} steps were counted for ${answers.length} answers, and it takes ${steps}`,
    );
  const sums = [...answers, ...records.filter((record) => record.type === "summary_finished")]
    .map(({ message }) => message.usage ?? {})
    .reduce<{ input: number; output: number }>(
      (sum, { inputTokens = 0, outputTokens = 0 }) => ({
        input: sum.input + inputTokens,
        output: sum.output + outputTokens,
      }),
      { input: 0, output: 0 },
    );
  const { usage } = run?.spend ?? {};
  if (usage?.inputTokens !== sums.input || usage.outputTokens !== sums.output)
    found("lost run", `the answers cost ${JSON.stringify(sums)}, and ${JSON.stringify(usage)} was counted`);
  if (records.filter((record) => record.type === "run_started").length !== 1)
    found("lost run", "it was started twice");
  if (records.filter((record) => record.type === "run_ended").length !== 1)
    found("lost run", "it ended twice, or never");
}

/** Each message that was said is queued, and delivered once, in its lane (P8). */
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

/** What the records tell of writes is what happened in the world. @returns steps of the calls whose outcome is unknown */
function done(records: readonly LogRecord[], effects: readonly Effect[], found: Found): number[] {
  const times = new Map<string, number>();
  for (const { kind, key } of effects) if (kind === "write") times.set(key, (times.get(key) ?? 0) + 1);
  for (const [key, count] of times) if (count > 1) found("repeated write", `${key} happened ${count} times`);
  const keys = new Set(effects.map(({ key }) => key));
  const started = new Set<string>();
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
    if (record.type === "tool_started") started.add(record.idempotencyKey);
    if (record.type !== "tool_finished") continue;
    const key = `${session}:${record.call}`;
    const name = calls.get(record.call) ?? "";
    const { code, isError } = record.result;
    if (code === "outcome_unknown") unknown.push(step);
    else if (["note", "stamp", "publish", "set"].includes(name)) {
      if (!isError && !keys.has(key))
        found("lost run", `${name} (${key}) is said to be done, and never happened`);
      if (isError && keys.has(key))
        found("lost run", `${name} (${key}) is said to have failed, and happened`);
    }
  }
  for (const { key } of effects)
    if (!started.has(key)) found("lost record", `${key} happened, and nobody wrote down that it would`);
  return unknown;
}

function requestsOf(records: readonly LogRecord[]): Came["requests"] {
  const seen = new Set<string>();
  const requests: Came["requests"] = [];
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

/** Where no write was in flight everything is the same; where one was, everything before it, and the answer. */
function same(came: Came, reference: Came, found: Found): void {
  if (came.text !== reference.text) found("lost run", `its answer is ${JSON.stringify(came.text)}`);
  const upTo = (all: Came["requests"]): string =>
    all
      .filter(({ step }) => step <= (came.unknownAt ?? Number.POSITIVE_INFINITY))
      .map(({ digest }) => digest)
      .join();
  if (upTo(came.requests) !== upTo(reference.requests))
    found("lost run", "its model was asked something else than in a run that was never killed");
  if (came.unknown > 0) return;
  if (JSON.stringify(came.usage) !== JSON.stringify(reference.usage))
    found("lost run", `it cost ${JSON.stringify(came.usage)}, not ${JSON.stringify(reference.usage)}`);
}
