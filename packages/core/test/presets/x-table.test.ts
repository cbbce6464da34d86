// The same scripted model under all five systems and the default: each ends as its system does, the default safely.

import { Agent, type AgentOptions, contextFacts, noContext, resolve, type Tool } from "@rondo/core";
import { stepSequence } from "@rondo/core/presets";
import { badArgs, call, calls, part, type Script, say, scripted, stop, type Turn } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { type Course, course, type System, systemNames, systems, tools } from "./systems.ts";

type Outcome = readonly [reason: string, text: string, ran: readonly string[], modelCalls: number];

const outcomeOf = ({ result, ran, model }: Course): Outcome => [
  result.end?.reason ?? "parked",
  result.text,
  ran,
  model.calls,
];

/** Plays one script under each system and compares what came of it. */
async function each(script: () => Script, expected: { [system in System]: Outcome }): Promise<void> {
  const outcomes: { [system: string]: Outcome } = {};
  for (const system of systemNames) outcomes[system] = outcomeOf(await course(system, script()));
  expect(outcomes).toEqual(expected);
}

const done: Turn = say("done");
const goesOn: Outcome = ["completed", "done", ["look"], 2];

describe("who decides to stop", () => {
  test("X1 calls with end_turn: the preset that follows the stop reason ends with the text, every other runs them", async () => {
    await each(() => [[say("bye"), call("look"), stop("end_turn")], done], {
      default: goesOn,
      thinkActObserve: ["completed", "bye", [], 1],
      stepSequence: goesOn,
      steerable: goesOn,
      managedContext: goesOn,
      agentStrategy: goesOn,
    });
  });

  test("X1 an answer that its provider reports as failed ends the run at once if the content decides", async () => {
    const wrong: Outcome = ["error", "half", [], 1];
    await each(() => [[say("half"), call("look"), stop("error", { detail: "it broke" })], done], {
      default: wrong,
      // These two go by their tables: any other word with calls acts.
      thinkActObserve: goesOn,
      stepSequence: goesOn,
      steerable: wrong,
      managedContext: wrong,
      agentStrategy: wrong,
    });
    const broken = await course("default", [[say("half"), call("look"), stop("aborted")], done]);
    expect(outcomeOf(broken)).toEqual(["aborted", "half", [], 1]);
    expect(broken.thrown).toBeUndefined();
    expect(broken.result.end?.error?.message).toBe("the answer was broken off (aborted)");
    const silent = await course("default", [[say("half"), stop("error", { raw: "network_error" })]]);
    expect(silent.result.end?.error?.message).toBe("the answer ended with an error (network_error)");
  });

  test("X1 an unknown stop reason alone decides nothing: calls run, and a text is the answer", async () => {
    for (const system of systemNames) {
      const unknown = stop("unknown", { raw: "new_word" });
      expect([system, outcomeOf(await course(system, [[call("look"), unknown], done]))]).toEqual([
        system,
        goesOn,
      ]);
      expect(outcomeOf(await course(system, [[say("text"), unknown]]))).toEqual(["completed", "text", [], 1]);
    }
  });

  test("X2 tool_use without calls is an answer with its text, or the end without an output by the standard table", async () => {
    const answered: Outcome = ["completed", "text", [], 1];
    await each(() => [[say("text"), stop("tool_use")], done], {
      default: answered,
      thinkActObserve: answered,
      stepSequence: ["unexpected_stop", "", [], 1],
      steerable: answered,
      managedContext: answered,
      agentStrategy: answered,
    });
  });

  test("X2 with no text either, only the default calls the model again, because a call may be lost", async () => {
    await each(() => [[stop("tool_use")], done], {
      default: ["completed", "done", [], 2],
      thinkActObserve: ["completed", "", [], 1],
      stepSequence: ["unexpected_stop", "", [], 1],
      steerable: ["completed", "", [], 1],
      managedContext: ["completed", "", [], 1],
      agentStrategy: ["empty_response", "", [], 1],
    });
  });
});

describe("calls of a truncated answer", () => {
  test("X3 complete ones run, or are ignored if there is a text; by default none runs and the model is told", async () => {
    await each(() => [[say("cut"), call("look"), stop("max_tokens")], done], {
      default: ["completed", "done", [], 2],
      thinkActObserve: goesOn,
      stepSequence: ["completed", "cut", [], 1],
      steerable: goesOn,
      managedContext: goesOn,
      agentStrategy: goesOn,
    });
    const { results } = await course("default", [[call("look"), stop("max_tokens")], done]);
    expect(results[0]).toMatch(/^Error: look was not executed: the message was cut off at the output limit/);
  });

  test("X3 without a text the standard table ends unexpectedly; one with incomplete arguments never runs anywhere", async () => {
    const bare = await course("stepSequence", [[call("look"), stop("max_tokens")], done]);
    expect(outcomeOf(bare)).toEqual(["unexpected_stop", "", [], 1]);
    for (const system of systemNames) {
      const { ran, result } = await course(system, [
        [say("cut"), badArgs("look", '{"at":'), stop("max_tokens")],
        done,
      ]);
      expect([system, ran, result.end?.reason]).toEqual([system, [], "completed"]);
    }
  });

  test("X3 the default runs complete calls, or ignores them, if set so", async () => {
    const script = (): Script => [[say("cut"), call("look"), stop("max_tokens")], done];
    expect(outcomeOf(await course("default", script(), { onTruncated: "run_complete" }))).toEqual(goesOn);
    const ignored = await course("default", script(), { onTruncated: "ignore_calls" });
    expect(outcomeOf(ignored)).toEqual(["completed", "cut", [], 1]);
  });
});

describe("the step limit", () => {
  const untiring = (request: { tools: unknown[]; toolChoice: unknown }, number: number): Turn =>
    request.tools.length === 0 || request.toolChoice === "none"
      ? say("so far")
      : call("look", { at: number });

  test.each<[System, string, string, number, number, string | undefined]>([
    ["default", "max_steps", "so far", 100, 101, undefined],
    ["thinkActObserve", "max_steps", "", 10, 10, "Max iterations (10) reached"],
    ["managedContext", "max_steps", "[Max Iterations Reached]\n\nso far", 200, 201, undefined],
    ["agentStrategy", "max_steps", "", 5, 6, undefined],
  ])(
    "X4 of %s: %s with %j after %i calls ran and %i answers",
    async (system, reason, text, ran, answers, thrown) => {
      const came = await course(system, untiring);
      expect([came.result.end?.reason, came.result.text]).toEqual([reason, text]);
      expect([came.ran.length, came.model.calls, came.thrown]).toEqual([ran, answers, thrown]);
      expect(came.result.end?.landed).toBe(system === "default" || system === "managedContext");
    },
  );

  test("X4 the step sequence throws at 10, the calls of the tenth answer run; the steerable preset has no limit", async () => {
    const { continueRule } = stepSequence({ model: scripted([]), maxToolCallsPerTool: null });
    const ten = await course("stepSequence", untiring, { continueRule } as Partial<AgentOptions>);
    expect([ten.ran.length, ten.model.calls, ten.thrown]).toEqual([
      10,
      10,
      "Agent exceeded maximum steps limit (10)",
    ]);
    const long = await course("steerable", (request, number) =>
      number > 250 ? say("end") : untiring(request, number),
    );
    expect([long.result.end?.reason, long.result.text, long.ran.length]).toEqual(["completed", "end", 250]);
  });

  test("X4 the calls that the last round refuses get results that say so", async () => {
    const { results } = await course("agentStrategy", untiring);
    expect(results.at(-1)).toBe(
      "Maximum iteration limit (6) reached. Cannot call tool 'look'. Please consider increasing the iteration limit.",
    );
  });
});

describe("the calls of one answer", () => {
  test("X6 all run, in their order, however many there are; only the default stops at 32", async () => {
    const places = Array.from({ length: 33 }, (_, at) => at);
    for (const system of systemNames) {
      const script = [calls(places.map((at) => ["look", { at }])), done];
      const { ran } = await course(system, script, { toolOrder: "sequential" });
      const all = system === "default" ? places.slice(0, 32) : places;
      expect([system, ran]).toEqual([system, all.map((at) => `look ${at}`)]);
    }
  });
});

describe("an answer without calls", () => {
  const looped: Turn = [say("again and again, ".repeat(50)), stop("max_tokens")];
  const paused: Turn = [say("part"), stop("pause")];

  test("X1 is the last, even if it was paused or repeats itself; only the default calls the model again", async () => {
    for (const [turn, text] of [
      [paused, "partdone"],
      [looped, "done"],
    ] as const)
      for (const system of systemNames) {
        const { model, result } = await course(system, [turn, done]);
        const asked = system === "default" ? 2 : 1;
        expect([system, model.calls, result.text === text]).toEqual([system, asked, asked === 2]);
      }
  });
});

describe("calls that cannot run", () => {
  const whole = `Expected ',' or '}' after property value in JSON at position 8 (line 1 column 9)`;

  test.each<[System, string]>([
    [
      "default",
      `Error: look was not executed: the arguments are not valid JSON: ${whole}. The arguments as received: {"at": 1`,
    ],
    ["thinkActObserve", `Error: Invalid arguments for look: the arguments are not valid JSON: ${whole}`],
    ["stepSequence", `Error: the arguments are not valid JSON: ${whole}`],
    ["steerable", `Validation failed for tool "look": the arguments are not valid JSON: ${whole}`],
    ["managedContext", `Error: Invalid tool arguments JSON for look: ${whole}. As received: {"at": 1`],
    ["agentStrategy", "tool arguments parse error: tool arguments must be valid JSON object"],
  ])("X9 %s answers arguments that are no JSON, runs nothing, and goes on: %s", async (system, text) => {
    const came = await course(system, [badArgs("look", '{"at": 1'), done]);
    expect([came.results, outcomeOf(came)]).toEqual([[text], ["completed", "done", [], 2]]);
    const [ended] = came.events.filter((event) => event.type === "tool_end");
    expect(ended).toMatchObject({ isError: true });
  });

  test("X10 an empty text means no arguments, except if arguments are passed raw and the provider writes them as text", async () => {
    const bare = part({ type: "tool_call", id: "c", name: "look", args: {}, rawArgs: "" });
    for (const system of systemNames) {
      const { results, ran } = await course(system, [bare, done]);
      const raw = system === "managedContext";
      expect([system, ran]).toEqual([system, raw ? [] : ["look"]]);
      if (raw) expect(results[0]).toMatch(/^Error: Invalid tool arguments JSON for look: /);
    }
    const objects = { origin: { api: "anthropic-messages", provider: "anthropic", model: "m" } };
    const model = scripted([bare, done], objects);
    const ran: string[] = [];
    await new Agent(systems.managedContext({ model, tools: tools(ran) })).run("go");
    expect(ran).toEqual(["look"]);
  });

  test("X9 a tool with executeRaw gets the raw text only if arguments are passed raw", async () => {
    for (const system of systemNames) {
      const raw: string[] = [];
      const note: Tool = {
        name: "note",
        definition: { name: "note", description: "note", inputSchema: { type: "object" } },
        effect: "read",
        permission: "allow",
        check: (args) => ({ ok: true, args, value: args }),
        execute: () => "ran",
        executeRaw(text) {
          raw.push(text);
          return "took it";
        },
      };
      const { results } = await course(system, [badArgs("note", "{nope"), done], {}, { tools: () => [note] });
      const passes = system === "managedContext";
      expect([system, raw, results[0] === "took it"]).toEqual([system, passes ? ["{nope"] : [], passes]);
    }
  });

  test.each<[System, string]>([
    ["default", 'Error: unknown tool "nope". Available tools: look, boom, finish, asking.'],
    ["thinkActObserve", "Error: Unknown tool: nope"],
    ["stepSequence", "Error: Tool not found: nope"],
    ["steerable", "Tool nope not found"],
    ["managedContext", "Error: Unknown tool 'nope'"],
    ["agentStrategy", "there is not a tool named nope"],
  ])("X11 %s says of a tool that is not there: %s", async (system, text) => {
    const came = await course(system, [call("nope"), done]);
    expect([came.results, outcomeOf(came)]).toEqual([[text], ["completed", "done", [], 2]]);
    expect(came.events.find((event) => event.type === "tool_end")).toMatchObject({
      code: "unknown_tool",
      isError: true,
    });
  });
});

describe("repeated calls", () => {
  const same = (times: number, name = "look"): Script => [
    ...Array.from({ length: times }, () => call(name)),
    done,
  ];
  const looks = (times: number, name = "look"): string[] => Array.from({ length: times }, () => name);

  test("X14 the same call with the same outcome: the default says so, hides the tool and lands; one preset ends the run, the others allow it", async () => {
    await each(() => same(5), {
      default: ["no_progress", "done", looks(4), 6],
      thinkActObserve: ["completed", "done", looks(5), 6],
      stepSequence: ["duplicate_call", "", looks(2), 3],
      steerable: ["completed", "done", looks(5), 6],
      managedContext: ["completed", "done", looks(5), 6],
      agentStrategy: ["completed", "done", looks(5), 6],
    });
    const { result } = await course("stepSequence", same(5));
    expect(result.end?.evidence).toMatchObject({ reason: "duplicate_call", tool: "look", count: 3 });
  });

  test("X14 calls of one tool with other arguments are counted by one preset only: the sixth ends the run", async () => {
    const other = (): Script => [
      ...Array.from({ length: 5 }, (_, at) => call("look", { at })),
      call("look", { at: 9 }),
      done,
    ];
    for (const system of systemNames) {
      const { result, ran } = await course(system, other());
      const [reason, times] =
        system === "stepSequence"
          ? ["tool_call_limit", 5]
          : system === "agentStrategy"
            ? ["max_steps", 5]
            : ["completed", 6];
      expect([system, result.end?.reason, ran.length]).toEqual([system, reason, times]);
    }
  });

  test("X14 a call that failed is skipped when it is repeated by one preset only", async () => {
    const skipped = "tool invoke error: repeated failure detected; skipped duplicate call";
    const strategy = await course("agentStrategy", same(3, "boom"));
    expect([strategy.ran, strategy.results.slice(1)]).toEqual([["boom"], [skipped, skipped]]);
    for (const system of ["default", "thinkActObserve", "steerable", "managedContext"] as const)
      expect([system, (await course(system, same(3, "boom"))).ran]).toEqual([system, looks(3, "boom")]);
  });

  test("X14 X15 equal calls of one answer all run, except after one that failed in the same answer", async () => {
    const script = (): Script => [calls([["look"], ["look"], ["look"], ["boom"], ["boom"]]), done];
    for (const system of systemNames) {
      const { ran, result } = await course(system, script());
      const booms = looks(system === "agentStrategy" ? 1 : 2, "boom");
      expect([system, ran, result.end?.reason]).toEqual([system, [...looks(3), ...booms], "completed"]);
    }
  });
});

describe("context control", () => {
  test("X25 by default all stages but pruning are on; presets have cut, trim and compaction, or prune and guard, or none", () => {
    const on = (system: System): string[] =>
      Object.keys(resolve(systems[system]({ model: scripted([]), tools: [] })).options.context ?? {}).sort();
    expect(Object.fromEntries(systemNames.map((system) => [system, on(system)]))).toEqual({
      default: ["cap", "compaction", "guard", "trim"],
      thinkActObserve: [],
      stepSequence: [],
      // Pruning is an option of it.
      steerable: ["guard"],
      managedContext: ["cap", "compaction", "trim"],
      agentStrategy: [],
    });
    expect(contextFacts(noContext)).toEqual({});
  });
});
