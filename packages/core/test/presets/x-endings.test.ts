// Whatever ends a run, under whichever system: the stored history is one that every provider takes again (P1).

import { type AgentOptions, DoneSignal, isPaired, type Session, subAgent, textOf } from "@rondo/core";
import {
  badArgs,
  call,
  calls,
  empty,
  fail,
  hold,
  refuse,
  type Script,
  say,
  stop,
  type Turn,
} from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { agentOf, type Course, course, holds, type System, systemNames, tools } from "./systems.ts";

const done: Turn = say("done");
const three = calls([["look"], ["boom"], ["look", { at: 2 }]]);
/** Never the same call twice, and never an end. */
const untiring = (_request: unknown, number: number): Turn => [
  say(`step ${number}`),
  call("look", { at: number }),
];

type Ending = readonly [
  name: string,
  play: (system: System) => Promise<Course>,
  /** Reasons it may end with; the first is that of most systems. */
  reasons: readonly (string | undefined)[],
];

const plain =
  (script: () => Script, more: Partial<AgentOptions> = {}) =>
  (system: System): Promise<Course> =>
    course(system, script(), more);

/** Aborts when the first event of a type comes. */
const abortedAt =
  (type: string, script: () => Script) =>
  (system: System): Promise<Course> => {
    const controller = new AbortController();
    return course(
      system,
      script(),
      { abortGraceMs: 20 },
      {
        signal: controller.signal,
        onEvent: (event) => {
          if (event.type === type) controller.abort("enough");
        },
      },
    );
  };

const permission = (answer: "deny" | "stop"): Partial<AgentOptions> => ({
  hooks: { permission: () => ({ answer }) },
});

const endings: readonly Ending[] = [
  ["an answer", plain(() => [three, done]), ["completed"]],
  ["an answer without a word", plain(() => [three, empty()], { emptyNudges: null }), ["completed"]],
  ["blank answers", plain(() => [three, say(" "), say(" "), say(" ")]), ["completed", "empty_response"]],
  ["the step limit, landing", plain(() => untiring, limit("land")), ["max_steps"]],
  ["the step limit, with an error", plain(() => untiring, limit("error")), ["max_steps"]],
  ["the step limit, refusing", plain(() => untiring, limit("refuse_tools")), ["max_steps"]],
  ["the step limit, at once", plain(() => untiring, limit("stop")), ["max_steps"]],
  [
    "the token budget",
    plain(() => untiring, { budget: { tokens: 1 }, rules: [], maxSteps: 3 }),
    ["token_budget"],
  ],
  ["a deadline gone by", plain(() => untiring, { budget: { ms: 0.000_001 } }), ["deadline"]],
  ["an abort in an answer", abortedAt("text_delta", () => [[say("half"), hold()]]), ["aborted"]],
  ["an abort in a call", abortedAt("tool_start", () => [three, done]), ["aborted"]],
  ["an abort after a call", abortedAt("tool_end", () => [three, done]), ["aborted"]],
  ["an abort before anything", abortedAt("run_start", () => [three, done]), ["aborted"]],
  ["a model that fails", plain(() => [three, fail("server_error")], { retry: null }), ["error"]],
  [
    "a model that fails with half a call",
    plain(() => [[say("a"), call("look"), fail("stream_truncated")]], { retry: null }),
    ["error"],
  ],
  [
    "an answer that went wrong",
    plain(() => [[say("half"), ...[three], stop("error")], done]),
    ["error", "completed"],
  ],
  ["a refusal", plain(() => [three, refuse("no")]), ["refused", "completed"]],
  [
    "a refusal with calls",
    plain(() => [[refuse("no"), three, stop("refusal")], done]),
    ["refused", "completed", "error"],
  ],
  ["a content filter", plain(() => [[say("some"), stop("content_filter")]]), ["refused", "completed"]],
  [
    "a done tool in mid-batch",
    plain(() => [calls([["look"], ["finish"], ["look", { at: 2 }]]), done], {}),
    ["completed"],
  ],
  [
    "a done signal in mid-batch",
    signalled(() => [calls([["look"], ["finish"], ["look", { at: 2 }]]), done]),
    ["done_tool", "completed"],
  ],
  ["a denial", plain(() => [three, done], permission("deny")), ["completed"]],
  ["a denial that stops", plain(() => [three, done], permission("stop")), ["turn_stopped"]],
  ["a text that was cut off", plain(() => [[say("half"), stop("max_tokens")]]), ["truncated", "completed"]],
  [
    "calls that were cut off",
    plain(() => [[three, stop("max_tokens")], [three, stop("max_tokens")], done, done]),
    ["completed", "truncated", "unexpected_stop"],
  ],
  [
    "malformed calls",
    plain(() => [
      badArgs("look", "{"),
      [stop("malformed_call")],
      [stop("malformed_call")],
      [stop("malformed_call")],
    ]),
    ["error", "completed", "empty_response"],
  ],
  [
    "calls that nobody is to run",
    plain(() => [[say("a"), three], done], { autoExecuteTools: false }),
    ["requires_action"],
  ],
  [
    "a pause for ever",
    plain(() => Array.from({ length: 9 }, () => [say("p"), stop("pause")])),
    ["unexpected_stop", "completed"],
  ],
  [
    "the same call for ever",
    plain(() => Array.from({ length: 9 }, () => call("look"))),
    ["no_progress", "duplicate_call", "max_steps", "error"],
  ],
  ["a rule of one's own", plain(() => untiring, { rules: [({ steps }) => steps > 1] }), ["turn_stopped"]],
  [
    "a hook that fails",
    plain(() => [three, done], {
      hooks: {
        onFinish: () => {
          throw new Error("hook");
        },
      },
    }),
    ["error"],
  ],
  ["a listener that fails", listening(() => [three, done]), ["error"]],
  [
    "an output that does not fit",
    plain(() => [three, say("no JSON"), say("none"), say("none"), say("none")], {
      output: { type: "object" },
      outputWay: "prompted",
    }),
    ["output_invalid"],
  ],
];

function limit(onLimit: NonNullable<AgentOptions["onLimit"]>): Partial<AgentOptions> {
  return { rules: [], maxSteps: 2, onLimit };
}

function signalled(script: () => Script) {
  return (system: System): Promise<Course> => {
    const options = {};
    return course(system, script(), options, {
      tools: (ran) => tools(ran, () => new DoneSignal("finished")),
    });
  };
}

function listening(script: () => Script) {
  return (system: System): Promise<Course> =>
    course(
      system,
      script(),
      {},
      {
        onEvent: (event) => {
          if (event.type === "tool_start") throw new Error("the listener broke");
        },
      },
    );
}

describe.each(systemNames)("P1 under %s holds after", (system) => {
  test.each(endings)("%s", async (_name, play, reasons) => {
    const { result, session } = await play(system);
    expect(reasons).toContain(result.end?.reason);
    expect(session.status).toBe("idle");
    expect(isPaired(result.messages)).toBe(true);
  });

  test("a call that waits for an approval, then an abort, a denial, or an approval", async () => {
    for (const [then, reason] of [
      [(session: Session) => session.abort("no"), "aborted"],
      [(session: Session) => session.deny("call_2", "no", { stop: true }), "turn_stopped"],
      [(session: Session) => session.deny("call_2"), "completed"],
      [(session: Session) => session.approve("call_2"), "completed"],
    ] as const) {
      const { agent, model } = agentOf(system, [calls([["look"], ["asking"], ["look", { at: 2 }]]), done]);
      const session = await agent.open("s");
      const result = await session.send("go");
      expect([result.parked?.pending.map(({ id }) => id), session.status]).toEqual([["call_2"], "parked"]);
      // What is stored while it waits is whole: the open turn is not in it yet.
      expect(result.messages).toHaveLength(1);
      await then(session);
      await session.settled();
      expect([system, session.result?.end?.reason]).toEqual([system, reason]);
      holds(session.messages, model);
    }
  });
});

describe.each(systemNames)("under %s", (system) => {
  test("a sub-agent that waits for an approval has no result yet, and its answer becomes the call's result", async () => {
    const inner = agentOf("default", [call("asking"), say("allowed, it says")]).agent;
    const helper = subAgent({ name: "helper", description: "helps", agent: inner });
    const { agent } = agentOf(system, [call("helper", { task: "ask" }), done], {}, () => [helper]);
    const session = await agent.open("s");
    const { parked } = await session.send("go");
    expect(parked?.pending.map(({ name }) => name)).toEqual(["asking"]);
    await session.approve(parked?.pending[0]?.id ?? "");
    await session.settled();
    expect(session.result?.end?.reason).toBe("completed");
    const results = session.messages.filter(({ role }) => role === "tool").map(textOf);
    expect(results).toEqual([expect.stringContaining("allowed, it says")]);
  });

  test("an answer that does not complete the run does not end it while work is queued", async () => {
    const { agent, model } = agentOf(system, [call("look"), empty(), done, done], { emptyNudges: null });
    const session = await agent.open("s");
    session.subscribe(({ type }) => {
      if (type === "tool_end") session.followUp("and then this", "more");
    });
    const { end } = await session.send("go");
    expect([end?.reason, session.state.inbox]).toEqual(["completed", []]);
    expect(session.messages.filter(({ role }) => role === "user").map(textOf)).toEqual([
      "go",
      "and then this",
    ]);
    holds(session.messages, model);
  });
});

// ---- any script, any moment --------------------------------------------------------------------------------------

const name = fc.constantFrom("look", "boom", "finish", "asking", "nope");
const anyCall = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(name, fc.integer({ min: 0, max: 2 })).map(([tool, at]) => call(tool, { at })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(name, fc.constantFrom("", "{", "[1]", '{"at":'))
      .map(([tool, raw]) => badArgs(tool, raw)),
  },
);
const ending = fc.constantFrom(
  ...([
    undefined,
    undefined,
    undefined,
    stop("end_turn"),
    stop("max_tokens"),
    stop("error"),
    stop("pause"),
  ] as const),
  ...([
    stop("tool_use"),
    stop("content_filter"),
    stop("malformed_call"),
    stop("unknown"),
    stop("aborted"),
  ] as const),
  ...([refuse("no"), fail("server_error"), fail("stream_truncated"), fail("context_overflow")] as const),
);
const anyTurn: fc.Arbitrary<Turn> = fc
  .tuple(fc.constantFrom("", " ", "so", "a longer text"), fc.array(anyCall, { maxLength: 3 }), ending)
  .map(([text, list, end]) => [
    ...(text === "" ? [] : [say(text)]),
    ...list,
    ...(end === undefined ? [] : [end]),
  ]);

/** Somebody does something at the so-manieth event. */
const anyDeed = fc.tuple(
  fc.integer({ min: 0, max: 25 }),
  fc.constantFrom("abort", "steer", "steer", "followUp", "compact"),
);

test("P1 is true after any script under any preset, whatever messages come and whenever it is aborted", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...systemNames),
      fc.array(anyTurn, { maxLength: 6 }),
      fc.array(anyDeed, { maxLength: 3 }),
      fc.constantFrom("approve", "deny", "abort"),
      async (system, script, deeds, answer) => {
        const { agent, model } = agentOf(system, [...script, done], { retry: null, abortGraceMs: 10 });
        const session = await agent.open("s");
        let heard = 0;
        session.subscribe(() => {
          const now = heard;
          heard += 1;
          for (const [at, deed] of deeds) {
            if (at !== now) continue;
            if (deed === "abort") session.abort("enough");
            else if (deed === "steer") session.steer(`word ${at}`);
            else if (deed === "followUp") session.followUp(`more ${at}`);
            else void session.compact().catch(() => {});
          }
          expect(isPaired(session.messages)).toBe(true);
        });
        await session.send("go");
        // A compaction that was asked for as the run ended is a run of its own behind it.
        await session.settled();
        for (let turns = 0; session.status === "parked" && turns < 20; turns += 1) {
          const waiting = session.pending[0]?.key ?? "";
          if (answer === "abort") session.abort("enough");
          else await session[answer](waiting);
          await session.settled();
        }
        expect([session.status, typeof session.result?.end?.reason]).toEqual(["idle", "string"]);
        holds(session.messages, model);
      },
    ),
    { numRuns: 300 },
  );
});
