// The room of judgement: compares an observation with a case's expectations.
//
// An unknown member of an expectation makes the case fail.

import type { Subject } from "./followed.ts";
import { type Assertion, type Case, type Expect, Unsupported } from "./format.ts";
import { isMeasured, memberNamed } from "./members.ts";
import type { Observation } from "./observation.ts";
import { runOf } from "./readings.ts";
import { beginsWith } from "./script.ts";

/** Everything that is wrong in an observation; empty when the case passes. */
export function judge(one: Case, seen: Observation): string[] {
  if (seen.broke !== undefined) return [seen.broke];
  try {
    return [...judged(one, seen)];
  } catch (thrown) {
    if (thrown instanceof Unsupported) return [thrown.message];
    throw thrown;
  }
}

function* judged(one: Case, seen: Observation): Generator<string> {
  yield* part("expect", one.expect, subjectOf(one, seen, 0, one.expect));
  const turns = one.turns ?? [];
  for (let at = 0; at < turns.length; at += 1)
    yield* turnJudged(`turns[${at}]`, one, seen, turns[at]!, placeOf(one, seen, at));
  const later = one.turns_after ?? [];
  for (let at = 0; at < later.length; at += 1)
    yield* turnJudged(
      `turns_after[${at}]`,
      one,
      seen,
      later[at]!,
      firstOfRun(seen, seen.runs.length - later.length + at + 1),
    );
  if (one.final_expect !== undefined) {
    const subject = subjectOf(one, seen, seen.responses.length - 1, one.final_expect);
    yield* part("final_expect", one.final_expect, { ...subject, whole: true, run: seen.runs[0] });
  }
}

/** The position of the answer that a turn is about. */
function placeOf(one: Case, { responses }: Observation, turn: number): number {
  if (responses.every((response) => response.turn === undefined)) return turn + beginsWith(one);
  const at = responses.findIndex((response) => response.turn === turn);
  return at < 0 ? responses.length : at;
}

function firstOfRun(seen: Observation, run: number): number {
  const at = seen.responses.findIndex((response) => response.run === run);
  return at < 0 ? seen.responses.length : at;
}

function* turnJudged(
  name: string,
  one: Case,
  seen: Observation,
  turn: { expect?: Expect; this_request_must?: Assertion[]; next_request_must?: Assertion[] },
  at: number,
): Generator<string> {
  const { this_request_must, next_request_must } = turn;
  const expect: Expect = {
    ...turn.expect,
    ...(this_request_must === undefined ? {} : { this_request_must }),
    ...(next_request_must === undefined ? {} : { next_request_must }),
  };
  yield* part(name, expect, subjectOf(one, seen, at, expect));
}

function subjectOf(one: Case, seen: Observation, at: number, expect: Expect): Subject {
  const response = seen.responses[at];
  return {
    one,
    seen,
    response,
    run: response === undefined ? seen.runs[0] : runOf(seen, response),
    expect,
    whole: false,
  };
}

function* part(name: string, expect: Expect, subject: Subject): Generator<string> {
  for (const [member, value] of Object.entries(expect)) {
    if (member === "note") continue;
    const judgeMember = memberNamed(member);
    if (judgeMember === undefined) throw new Unsupported(`unknown member ${name}.${member}`);
    const wrong = judgeMember(value, subject);
    if (wrong !== undefined) yield `${name}.${member}: ${wrong}`;
  }
}

/** Whether the expectations of a case must be measured in a process of its own. */
export function needsProcess(one: Case): boolean {
  const turns = [...(one.turns ?? []), ...(one.turns_after ?? [])];
  const parts = [one.expect, one.final_expect, ...turns.map((turn) => turn.expect)];
  return parts.some((expect) => Object.keys(expect ?? {}).some(isMeasured));
}
