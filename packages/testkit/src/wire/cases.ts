// The room of cases: what a provider sends, and the expected result, as data; one JSON object per line.
//
// A case is played over real sockets, in every chunking: a run must not depend on how the bytes were cut.
// An unknown member fails the case: an expectation that is not checked is worse than none.

import {
  Agent,
  type AgentOptions,
  callsOf,
  type EndReason,
  type Json,
  type JsonObject,
  messageOf,
  type RunResult,
} from "@rondo/core";
import {
  anything,
  type ChecksOf,
  callable,
  checkGiven,
  either,
  having,
  listOf,
  membersOf,
  needed,
  object,
  oneOf,
  text,
} from "@rondo/core/checks";
import { isObject } from "../json.ts";
import type { WantedSpending } from "../matchers/expected.ts";
import { matched, type RondoMatchers } from "../matchers/matchers.ts";
import { withoutMark } from "../text.ts";
import type { Chunks } from "./faults.ts";
import { readScript } from "./script-json.ts";
import { type RondoWire, rondoWire } from "./server.ts";

/** What must come of a case. Each is checked as the matcher of that name does, in part; what is absent is not. */
export interface CaseExpectation {
  /** Why the run ended, or more of its end: `{ "reason": "error", "error": { "kind": "auth" } }`. */
  end?: EndReason | JsonObject;
  /** A piece of the run's text; `{ "pattern": "^It" }`; with `output`, the typed output. */
  text?: string | { pattern: string };
  output?: Json;
  /** All calls the model made, in order: a name, or a name and arguments. */
  calls?: (string | [name: string, args: JsonObject])[];
  /** `{ "steps": 2, "modelCalls": { "atMost": 4 } }` */
  spent?: JsonObject;
  /** Bodies of the requests, compared in part, in order; null: any. There must be exactly as many requests. */
  requests?: (JsonObject | null)[];
}

export interface WireCase {
  id: string;
  /** What the user says. Default: `go`. */
  prompt?: string;
  /** The server's answers, one turn per request, as in a script file; also raw bytes (`raw`, `frames`, `cutAt`). */
  turns: Json[];
  expect: CaseExpectation;
  /** For whoever reads the file. */
  note?: string;
}

export interface CaseResult {
  id: string;
  /** What was not as expected. Empty: the case passed. */
  reasons: string[];
}

export interface CasesOptions {
  /** The agent that is tested, or its options, on this server. */
  agent(wire: RondoWire): Agent | AgentOptions;
  /** How bodies are cut. Default: by frame, by byte and whole, each in a run of its own. */
  chunks?: readonly Chunks[];
  /** Only these ids. Default: all. */
  only?: ReadonlySet<string>;
}

const casesOptions = membersOf<CasesOptions>(
  {
    agent: callable,
    chunks: listOf(oneOf("frame", "byte", "whole")),
    only: having("a Set of ids", { has: callable }),
  },
  ["agent"],
);

/**
 * Plays the cases of a JSON-lines text through an agent, one after the other, over rondo-wire.
 *
 *     for await (const { id, reasons } of runCases(readFileSync("cases.jsonl", "utf8"), {
 *       agent: (wire) => ({ model: anthropic("claude-sonnet-5", { baseURL: wire.urlFor("anthropic"), apiKey: "any" }), tools }),
 *     })) test(id, () => assert.deepEqual(reasons, []));
 *
 * Never throws for a case: what cannot be read or played is a reason.
 * @throws RondoError `invalid_request` for options that cannot be used
 */
export async function* runCases(lines: string, options: CasesOptions): AsyncGenerator<CaseResult> {
  checkGiven(membersOf({ lines: text }, ["lines"]), { lines }, "runCases");
  checkGiven(casesOptions, options, "runCases");
  for (const [at, line] of withoutMark(lines).split("\n").entries()) {
    if (line.trim() === "") continue;
    const id = idOf(line) ?? `line ${at + 1}`;
    if (options.only !== undefined && !options.only.has(id)) continue;
    yield { id, reasons: await reasonsOf(line, options) };
  }
}

/** A case's own id, not that of a call in it. Of a line that cannot be read, the first that stands there. */
function idOf(line: string): string | undefined {
  try {
    const { id } = Object(JSON.parse(line)) as { id?: unknown };
    return typeof id === "string" && id !== "" ? id : undefined;
  } catch {
    return /"id"\s*:\s*"([^"]+)"/.exec(line)?.[1];
  }
}

async function reasonsOf(line: string, options: CasesOptions): Promise<string[]> {
  try {
    const one = readCase(line);
    const reasons = new Map<string, Chunks>();
    for (const chunks of options.chunks ?? (["frame", "byte", "whole"] as const))
      for (const reason of await play(one, chunks, options))
        if (!reasons.has(reason)) reasons.set(reason, chunks);
    return [...reasons].map(([reason, chunks]) => `by ${chunks}: ${reason}`);
  } catch (thrown) {
    return [messageOf(thrown)];
  }
}

const caseMembers = ["id", "prompt", "turns", "expect", "note"];

const pattern = needed("a regular expression", (one) => {
  try {
    return typeof one === "string" && new RegExp(one, "u") !== undefined;
  } catch {
    return false;
  }
});

/** What is expected of a case: a pattern that is misspelt would fit every text. */
const expectMembers: ChecksOf<CaseExpectation> = {
  end: either(text, object),
  text: either(text, membersOf({ pattern }, ["pattern"])),
  output: anything,
  calls: listOf(either(text, listOf(anything))),
  spent: object,
  requests: listOf(
    either(
      object,
      needed("an object or null", (body) => body === null),
    ),
  ),
};
const expectation = membersOf<CaseExpectation>(expectMembers);

function readCase(line: string): WireCase {
  const one = JSON.parse(line) as WireCase;
  if (!isObject(one) || !isObject(one.expect ?? {}))
    throw new Error('a case is an object, { "id", "turns", "expect" }, and what it expects is one');
  const unknown = [
    ...Object.keys(one).filter((name) => !caseMembers.includes(name)),
    ...Object.keys(one.expect ?? {})
      .filter((name) => !Object.hasOwn(expectMembers, name))
      .map((name) => `expect.${name}`),
  ];
  if (unknown.length > 0) throw new Error(`there is no member ${unknown.join(", ")} in a case`);
  if (one.expect === undefined || Object.keys(one.expect).length === 0)
    throw new Error("the case expects nothing");
  checkGiven(expectation, one.expect, "expect");
  return one;
}

async function play(one: WireCase, chunks: Chunks, { agent: agentOn }: CasesOptions): Promise<string[]> {
  const { script } = readScript(JSON.stringify({ turns: one.turns }));
  await using wire = await rondoWire({ script, chunks });
  const given = agentOn(wire);
  const agent = given instanceof Agent ? given : new Agent(given);
  let run: RunResult;
  try {
    run = await agent.run(one.prompt ?? "go");
  } catch (thrown) {
    return [`the run threw: ${messageOf(thrown)}`];
  }
  return [
    ...wire.problems,
    ...unlikeExpected(one.expect, run, wire),
    ...wire.violations.map(({ path, message }) => `the provider would refuse ${path}: ${message}`),
  ];
}

/** In what a run, and what it sent, are not as expected. */
function unlikeExpected(
  { end, text: said, output, calls, spent, requests }: CaseExpectation,
  run: RunResult,
  wire: RondoWire,
): string[] {
  const reasons: string[] = [];
  const expect = <Name extends keyof RondoMatchers>(
    name: Name,
    subject: unknown,
    ...wanted: Parameters<RondoMatchers[Name]>
  ): void => {
    const { pass, message } = matched(name, subject, wanted);
    if (!pass) reasons.push(message());
  };
  if (typeof end === "string") expect("toEnd", run, end);
  else if (end !== undefined) expect("toEnd", run, undefined, end);
  if (said !== undefined)
    expect("toHaveAnswered", run, typeof said === "string" ? said : new RegExp(said.pattern, "u"));
  if (output !== undefined) expect("toHaveAnswered", run, output);
  if (spent !== undefined) expect("toHaveSpent", run, spent as WantedSpending);
  if (calls !== undefined) {
    if (calls.length > 0) expect("toHaveCalledInOrder", run, calls);
    const made = run.messages.flatMap((one) => (one.role === "assistant" ? callsOf(one) : [])).length;
    if (made !== calls.length) reasons.push(`the model made ${made} calls, not ${calls.length}`);
  }
  if (requests !== undefined) {
    if (wire.requests.length !== requests.length)
      reasons.push(`${wire.requests.length} requests went out, not ${requests.length}`);
    for (const [at, body] of requests.entries())
      if (body !== null) expect("toHaveSent", wire, { body }, { at: at + 1 });
  }
  return reasons;
}
