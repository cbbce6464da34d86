// Loop detection: five detectors over a window of the last calls, warnings that are heard, and calls that are blocked.

import {
  Agent,
  type DetectorName,
  detectorNames,
  isPaired,
  type JsonObject,
  type LoopDetection,
  loopDetection,
  type RondoEvent,
  type RunResult,
  resolve,
  type Tool,
} from "@rondo/core";
import { steerable } from "@rondo/core/presets";
import { call, calls, say, scripted, type Turn } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo } from "../support.ts";

interface Watched {
  result: RunResult;
  /** What the model was told, with the number of calls that had been made then. */
  warnings: { after: number; text: string }[];
  /** Texts of the calls that were answered instead of run. */
  blocked: string[];
  ran: number;
}

async function watch(
  script: readonly Turn[],
  detection: boolean | LoopDetection = true,
  tools: (ran: () => number) => Tool[] = () => [],
): Promise<Watched> {
  let ran = 0;
  const count = (): number => {
    ran += 1;
    return ran;
  };
  const same = (name: string): Tool =>
    echo(name, {
      execute: () => {
        count();
        return `${name} says the same`;
      },
    });
  const own = tools(count);
  const names = own.map(({ name }) => name);
  const all = [
    ...own,
    ...["look", "peek", "process", "command_status"].filter((one) => !names.includes(one)).map(same),
  ];
  const warnings: Watched["warnings"] = [];
  const blocked: string[] = [];
  let ended = 0;
  const onEvent = (event: RondoEvent): void => {
    if (event.type === "nudge") warnings.push({ after: ended, text: event.text });
    if (event.type !== "tool_end") return;
    ended += 1;
    if (event.code === "repeated")
      blocked.push(event.content.map((one) => (one.type === "text" ? one.text : "")).join(""));
  };
  const model = scripted(script, { keepRequests: false });
  const agent = new Agent(steerable({ model, tools: all, loopDetection: detection }));
  const result = await agent.run("go", { onEvent });
  expect(isPaired(result.messages)).toBe(true);
  return { result, warnings, blocked, ran };
}

const repeated = (times: number, ...turns: Turn[]): Turn[] => [
  ...Array.from({ length: times }, () => turns).flat(),
  say("done"),
];

const only = (...detectors: DetectorName[]): LoopDetection => ({ detectors });

describe("the detectors", () => {
  test("C8.64 generic_repeat warns at 10 equal calls, with this text, and blocks after 20 with equal outcomes", async () => {
    const { warnings, blocked, ran, result } = await watch(repeated(22, call("look", { a: 1, b: 2 })));
    expect(warnings).toStrictEqual([
      {
        after: 10,
        text: "WARNING: You have called look 10 times with identical arguments. If this is not making progress, stop retrying and report the task as failed.",
      },
    ]);
    expect(ran).toBe(20);
    expect(blocked).toHaveLength(2);
    expect(blocked[0]).toMatch(
      /^CRITICAL: You have called look 20 times with identical arguments and identical/,
    );
    expect(result.end?.reason).toBe("completed");
  });

  test("C8.64 equal calls with changing outcomes cause a warning, again for every ten more, and are never blocked", async () => {
    const counting = (count: () => number): Tool[] => [echo("look", { execute: () => `number ${count()}` })];
    const { warnings, blocked, ran } = await watch(repeated(29, call("look")), true, counting);
    expect(warnings.map(({ after }) => after)).toStrictEqual([10, 20]);
    expect(warnings[1]?.text).toContain("called look 20 times");
    expect([blocked, ran]).toStrictEqual([[], 29]);
  });

  test("C8.64 calls are compared by name and arguments, whatever the order of their keys is", async () => {
    const order = await watch(repeated(5, call("look", { a: 1, b: 2 }), call("look", { b: 2, a: 1 })));
    expect(order.warnings.map(({ after }) => after)).toStrictEqual([10]);
    const other = Array.from({ length: 25 }, (_, n) => call("look", { n }));
    expect((await watch([...other, say("done")])).warnings).toStrictEqual([]);
  });

  test("C8.64 unknown_tool_repeat comes first: at 10 calls of an unknown tool, whatever their arguments are", async () => {
    const nowhere = Array.from({ length: 12 }, (_, n) => call("nowhere", { n }));
    const { warnings, ran } = await watch([...nowhere, say("done")]);
    expect(warnings.map(({ after }) => after)).toStrictEqual([10]);
    expect(warnings[0]?.text).toMatch(
      /^CRITICAL: You have called nowhere 10 times and there is no such tool/,
    );
    expect(ran).toBe(0);
    const stopped = await watch([...nowhere, say("done")], { onCritical: "stop" });
    expect(stopped.result.end).toMatchObject({
      reason: "no_progress",
      rule: "loop_detection",
      evidence: { detector: "unknown_tool_repeat", count: 10, tool: "nowhere" },
    });
  });

  test("C8.64 global_circuit_breaker blocks any call after 30 equal outcomes, which is the whole window", async () => {
    const { blocked, ran } = await watch(repeated(32, call("look")), only("global_circuit_breaker"));
    expect(ran).toBe(30);
    expect(blocked).toHaveLength(2);
    expect(blocked[0]).toMatch(/^CRITICAL: look has had the same outcome 30 times/);
    // One other call in between, and 30 equal ones do not fit the window.
    const other = repeated(29, call("look")).slice(0, -1);
    const apart = await watch(
      [...other, call("peek"), ...other, say("done")],
      only("global_circuit_breaker"),
    );
    expect([apart.blocked, apart.ran]).toStrictEqual([[], 59]);
  });

  test("C8.64 known_poll_no_progress warns of polls without progress at 10 and blocks them after 20; polls with progress are allowed", async () => {
    for (const poll of [call("command_status", { id: 7 }), call("process", { action: "poll", id: 7 })]) {
      const { warnings, blocked, ran } = await watch(repeated(21, poll));
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatchObject({ after: 10 });
      expect(warnings[0]?.text).toMatch(/^WARNING: You have polled \w+ 10 times/);
      expect([ran, blocked.length]).toStrictEqual([20, 1]);
      expect(blocked[0]).toMatch(/^CRITICAL: \w+ has been polled 20 times/);
    }
    const moving = (count: () => number): Tool[] => [echo("process", { execute: () => `line ${count()}` })];
    const free = await watch(repeated(25, call("process", { action: "log" })), true, moving);
    expect([free.warnings, free.blocked]).toStrictEqual([[], []]);
    const started = await watch(repeated(10, call("process", { action: "start" })));
    expect(started.warnings[0]?.text).toContain("called process 10 times");
    const own = await watch(repeated(10, call("peek")), { isPoll: ({ name }) => name === "peek" });
    expect(own.warnings[0]?.text).toContain("polled peek 10 times");
  });

  test("C8.64 ping_pong finds two alternating calls: warns at 10 and every ten more, blocks after 20 without progress", async () => {
    const { warnings, blocked, ran } = await watch(
      repeated(11, call("look"), call("peek")),
      only("ping_pong"),
    );
    expect(warnings.map(({ after }) => after)).toStrictEqual([10, 20]);
    expect(warnings[0]?.text).toMatch(/^WARNING: You are alternating .* \(10 calls in a row\)/);
    expect([ran, blocked.length]).toStrictEqual([21, 1]);
    expect(blocked[0]).toMatch(/^CRITICAL: You have alternated .* 20 times/);
    const moving = (count: () => number): Tool[] => [echo("peek", { execute: () => `at ${count()}` })];
    const free = await watch(repeated(14, call("look"), call("peek")), only("ping_pong"), moving);
    expect([free.blocked, free.ran]).toStrictEqual([[], 28]);
    const three = repeated(8, call("look"), call("peek"), call("process"));
    expect((await watch(three, only("ping_pong"))).warnings).toStrictEqual([]);
  });

  test("C8.64 the first detector in the order that finds something decides", async () => {
    expect(detectorNames).toStrictEqual([
      "unknown_tool_repeat",
      "global_circuit_breaker",
      "known_poll_no_progress",
      "ping_pong",
      "generic_repeat",
    ]);
    const poll = repeated(21, call("command_status"));
    const low = { globalAt: 20, onCritical: "stop" } as const;
    expect((await watch(poll, low)).result.end?.evidence.detector).toBe("global_circuit_breaker");
    expect((await watch(poll, { onCritical: "stop" })).result.end?.evidence.detector).toBe(
      "known_poll_no_progress",
    );
    const turns = repeated(10, call("look"), call("peek"));
    const first = await watch([...turns.slice(0, 10), say("done")], { warnAt: 5 });
    // After 5 of each both have something to say; the pattern is heard.
    expect(first.warnings.at(-1)?.text).toContain("alternating");
  });
});

describe("the reaction", () => {
  test("C8.64 is off by default, in the preset and elsewhere", async () => {
    const { warnings, blocked, ran } = await watch(repeated(35, call("look")), false);
    expect([warnings, blocked, ran]).toStrictEqual([[], [], 35]);
    for (const options of [{ model: scripted([]) }, steerable({ model: scripted([]) })])
      expect(resolve(options).rules.list.map(({ name }) => name)).not.toContain("loop_detection");
  });

  test("C8.64 ignores what is 30 calls back, outside the window", async () => {
    const others = (from: number): Turn[] =>
      Array.from({ length: 22 }, (_, n) => call("peek", { n: n + from }));
    const nine = repeated(9, call("look")).slice(0, -1);
    const { warnings } = await watch([...nine, ...others(0), ...nine, say("done")]);
    expect(warnings).toStrictEqual([]);
    const near = await watch([...nine, ...others(0).slice(0, 5), call("look"), say("done")]);
    expect(near.warnings).toHaveLength(1);
  });

  test("C8.64 to critical is to block the call, land the run, or stop it, by option", async () => {
    const small = { warnAt: 2, criticalAt: 3, window: 30 };
    const script = repeated(4, call("look"));
    const block = await watch(script, small);
    expect([block.ran, block.result.end?.reason, block.result.text]).toStrictEqual([3, "completed", "done"]);
    const land = await watch(script, { ...small, onCritical: "land" });
    expect([land.ran, land.result.end?.reason, land.result.end?.landed]).toStrictEqual([
      3,
      "no_progress",
      true,
    ]);
    expect(land.result.text).toBe("done");
    const halt = await watch(script, { ...small, onCritical: "stop" });
    expect(halt.result.end).toMatchObject({
      reason: "no_progress",
      landed: false,
      evidence: { detector: "generic_repeat", count: 3, tool: "look" },
    });
    expect(halt.result.messages.at(-1)).toMatchObject({ role: "tool", isError: true });
  });

  test("lasts until the outcome changes, and other calls still run", async () => {
    const small = { criticalAt: 3, warnAt: 3, window: 5, globalAt: 5, unknownToolAt: 5 };
    const look = call("look");
    const others = ["a", "b", "c"].map((n) => call("peek", { n }));
    const { blocked, ran } = await watch([look, look, look, look, look, ...others, look, say("done")], small);
    // Two were blocked; the three others pushed the window on, and it may be tried again.
    expect([blocked.length, ran]).toStrictEqual([2, 7]);
  });

  test("counts equal calls of one answer one by one, and blocks the rest of them", async () => {
    const many = calls(Array.from({ length: 24 }, () => ["look"] as const));
    const { ran, blocked } = await watch([many, say("done")]);
    expect([ran, blocked.length]).toStrictEqual([20, 4]);
  });

  test("follows from the records alone: a replay rebuilds every request, including warnings", async () => {
    const args: JsonObject = { at: "it" };
    const tools = [echo("look")];
    const first = await new Agent(
      steerable({ model: scripted(repeated(12, call("look", args))), tools, loopDetection: true }),
    ).open("s");
    await first.send("go");
    const replay = await first.replay();
    expect(replay.requests.length).toBeGreaterThan(12);
    expect(replay.firstDifference).toBeUndefined();
  });

  test("with invalid numbers is refused by name", () => {
    expect(() => loopDetection({ warnAt: 0 })).toThrow(/warnAt: a whole number above 0 is needed, not 0/);
    expect(() => loopDetection({ globalAt: 40 })).toThrow(/globalAt: 40.*window of 30/);
    expect(() => loopDetection({ window: 2.5 })).toThrow(/window/);
  });
});
