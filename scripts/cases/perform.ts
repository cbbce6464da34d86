// The room of the performance: plays a case in all its chunkings.
//
// The same bytes in other chunks must give the same result. If a failure may be retried, the case is also played with
// that failure repeated forever, because only then does a retry limit show.

import { isDeepStrictEqual } from "node:util";
import { shown } from "./ask.ts";
import type { Case, RetryLimits } from "./format.ts";
import { measured } from "./isolated.ts";
import { judge, needsProcess } from "./judge.ts";
import type { Observation } from "./observation.ts";
import { play } from "./play.ts";
import { playedAs } from "./provider-names.ts";
import { isTable, playTable } from "./tables.ts";
import { type Chunking, chunkings } from "./wire.ts";

/**
 * Why a case fails; empty when it passes.
 * @param hear told what was seen in the first chunking, and of which case: it is played as one of its protocol's
 */
export async function perform(
  given: Case,
  cuts: readonly Chunking[] = chunkings,
  hear: (one: Case, seen: Observation) => void = () => {},
): Promise<string[]> {
  const one = { ...given, provider: playedAs(given) };
  const seen: [Chunking, Observation][] = [];
  for (const chunking of isTable(one) ? cuts.slice(0, 1) : cuts) {
    const { observation, wrong } = await judged(one, chunking);
    if (wrong.length > 0)
      return wrong.map((reason) => (cuts.length > 1 ? `[${chunking}] ${reason}` : reason));
    if (seen.length === 0) hear(one, observation);
    seen.push([chunking, observation]);
  }
  const differing = differences(seen);
  if (differing !== undefined) return [differing];
  return boundless(one);
}

/** How often a case is played that takes too long. */
const patience = 3;
/** Bounds on real time. All other time is virtual. */
const realTime: RegExp = /\b(?:tool_settles_within_ms|max_cpu_ms)\b/;

/** What is seen and what is wrong with it. A busy machine may miss a bound on real time although nothing hangs: then the case is played again. */
async function judged(
  one: Case,
  chunking: Chunking,
  attempt: number = 1,
): Promise<{ observation: Observation; wrong: string[] }> {
  const observation = await observe(one, chunking);
  const wrong = judge(one, observation);
  const isLate = wrong.length > 0 && wrong.every((reason) => realTime.test(reason));
  return isLate && attempt < patience ? judged(one, chunking, attempt + 1) : { observation, wrong };
}

/** Plays a case once, in a process of its own if something about the process is asserted. */
export async function observe(one: Case, chunking: Chunking): Promise<Observation> {
  if (needsProcess(one)) return measured(one, chunking);
  return isTable(one) ? playTable(one) : play(one, { chunking });
}

function differences(seen: readonly [Chunking, Observation][]): string | undefined {
  const [first, ...others] = seen.map(([chunking, observation]) => ({
    chunking,
    essence: essenceOf(observation),
  }));
  for (const { chunking, essence } of others) {
    if (first === undefined || isDeepStrictEqual(essence, first.essence)) continue;
    const { path, now, was } = firstDifference(essence, first.essence);
    return `cut into ${chunking} it comes to another result than cut into ${first.chunking}: ${path} is ${shown(now)}, and ${shown(was)}`;
  }
  return undefined;
}

/** Where two values first differ. */
function firstDifference(
  a: unknown,
  b: unknown,
  path: string = "",
): { path: string; now: unknown; was: unknown } {
  if (typeof a === "object" && typeof b === "object" && a !== null && b !== null)
    for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
      const [one, other] = [a, b].map((value) => (value as Record<string, unknown>)[name]);
      if (!isDeepStrictEqual(one, other)) return firstDifference(one, other, `${path}.${name}`);
    }
  return { path: path.slice(1), now: a, was: b };
}

/**
 * What must not depend on the chunking. Generated ids are replaced by what they identify; wall-clock times, temporary
 * folders and ports are left out.
 */
function essenceOf(seen: Observation): Record<string, unknown> {
  let told = JSON.stringify(facts(seen));
  const calls = seen.responses.flatMap((one) => one.calls);
  for (const { id, key } of calls) told = told.replaceAll(JSON.stringify(id), JSON.stringify(key));
  // A generated id may be sent in a provider-specific form.
  const sent = new Set(
    [...told.matchAll(/"(?:id|call_id|tool_\w+_id|toolUseId)":("[^"\\]+")/g)].map(([, id]) => id),
  );
  for (const [place, id] of [...sent].entries()) told = told.replaceAll(id as string, `"id ${place}"`);
  // A summary, or a note, may name one within its text.
  const named = new Set(told.match(/\bcall_[0-9a-f]{24}\b/g));
  for (const [place, id] of [...named].entries()) told = told.replaceAll(id, `call ${place}`);
  told = told
    .replaceAll(/\b\d+(?:\.\d+)? ?m?s\b/g, "some time")
    // Which leftover processes of a command were still seen is a race, and says nothing about the chunking.
    .replaceAll(/(?:\\n|\n)\[it had left [^\]]*\]/g, "")
    .replaceAll(/rondo-case-\w+/g, "folder")
    .replaceAll(/127\.0\.0\.1:\d+/g, "host");
  return JSON.parse(told) as Record<string, unknown>;
}

function facts(seen: Observation): Record<string, unknown> {
  return {
    requests: seen.responses.filter((one) => one.run > 0).map((one) => one.request.body),
    // Which of several sub-agents comes first is a race, and says nothing about the chunking.
    others: seen.responses
      .filter((one) => one.run === 0)
      .map((one) => one.request.text)
      .sort(),
    agents: seen.agents,
    messages: seen.responses.map((one) => one.message),
    failures: seen.responses.map((one) => [one.failure?.kind, one.failure?.message]),
    partials: seen.responses.map((one) => one.partial?.content),
    calls: seen.responses.map((one) => one.calls.map(({ realMs: _realMs, ...call }) => call)),
    ends: seen.runs.map((run) => [run.end?.reason, run.text, run.output]),
    history: seen.history,
  };
}

/** With the first response repeated forever, the attempts must end. */
async function boundless(one: Case): Promise<string[]> {
  const limits = one.expect.retry as RetryLimits | undefined;
  if (typeof limits !== "object" || limits === null || limits.max_attempts === undefined) return [];
  if (one.repeat_wire !== undefined || one.wire?.transport_throws !== undefined) return [];
  const { responses, broke } = await play({ ...one, actions: [] }, { chunking: "whole", persist: true });
  if (broke !== undefined) return [`with this response for ever: ${broke}`];
  // If a lower output limit is refused too, the request itself is too long: another failure, with another remedy.
  const mends = /reduce_max_tokens/.test(String(one.expect.loop_outcome)) ? 1 : 0;
  const most = limits.max_attempts + 1 + mends;
  // If the failure is reported to the model, the next request is a different one, with limits of its own.
  const told = /feed_error_to_model/.test(String(one.expect.loop_outcome));
  // Nor is a summary another attempt: how often one is tried is bounded by itself.
  const asked = responses.filter(
    (response) => !response.compaction && (!told || response.request.text === responses[0]?.request.text),
  );
  return asked.length > most
    ? [
        `expect.retry: with this response for ever at most ${limits.max_attempts} more attempts; there were ${asked.length - 1}`,
      ]
    : [];
}
