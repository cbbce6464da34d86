import {
  Agent,
  type AgentOptions,
  type LogRecord,
  memoryJournal,
  type RondoEvent,
  type RunResult,
  type Session,
  tool,
  waitForAnswer,
} from "@rondo/core";
import { call, calls, expectRun, fail, rondoMatchers, say, scripted, usage } from "@rondo/testkit";
import "@rondo/testkit/vitest";
import { expect as jestExpect } from "expect";
import { beforeAll, describe, expect, expectTypeOf, it } from "vitest";

const weather = tool({
  name: "weather",
  description: "Weather of a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  effect: "read",
  execute: ({ city }) => `${city}: rain`,
});
const publish = tool({
  name: "publish",
  description: "Publishes a text",
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
  permission: "ask",
  execute: () => "published",
});

const model = () =>
  scripted([
    [
      calls([
        ["weather", { city: "London", unit: "C" }],
        ["weather", { town: "Paris" }],
      ]),
      usage({ inputTokens: 10, outputTokens: 5 }),
    ],
    [call("weather", { city: "Paris" }), usage({ inputTokens: 20, outputTokens: 5 })],
    [say("It rains in both."), usage({ inputTokens: 30, outputTokens: 5 })],
  ]);

interface Told {
  result: RunResult;
  session: Session;
  records: LogRecord[];
  events: RondoEvent[];
}

/** One run, as everything that can be told of it. */
async function told(options: AgentOptions, task: string = "How is it?"): Promise<Told> {
  const journal = memoryJournal();
  const session = await new Agent({ ...options, journal }).open("s");
  const events: RondoEvent[] = [];
  session.subscribe((event) => events.push(event));
  const result = await session.send(task);
  return { result, session, records: await journal.read("s"), events };
}

/** What a failed matcher says. */
function words(act: () => void): string {
  try {
    act();
  } catch (thrown) {
    return (thrown as Error).message;
  }
  throw new Error("it did not fail");
}

let run: Told;
let parked: Told;
let failed: Told;
beforeAll(async () => {
  run = await told({ model: model(), tools: [weather] });
  parked = await told({ model: scripted([call("publish", { text: "hello" })]), tools: [publish] });
  failed = await told({ model: scripted([fail("auth", { message: "the key is wrong" })]) });
});

describe.each(["result", "session", "records", "events"] as const)("the matchers on %s", (form) => {
  it("tell calls by name, arguments, number, order and result", () => {
    const given = run[form];
    expect(given).toHaveCalled("weather");
    expect(given).toHaveCalled("weather", { city: "London" });
    expect(given).toHaveCalled("weather", { city: /^Par/ }, { times: 1, result: "rain", isError: false });
    expect(given).toHaveCalled("weather", { town: "Paris" }, { isError: true });
    expect(given).toHaveCalled("weather", undefined, { times: 3 });
    expect(given).toHaveCalledInOrder([
      ["weather", { city: "London" }],
      ["weather", { city: "Paris" }],
    ]);
    expect(given).not.toHaveCalled("weather", { city: "London" }, { exact: true });
    expect(given).not.toHaveCalled("weather", { city: "Oslo" });
    expect(given).not.toHaveCalled("weather", { city: "Paris" }, { result: "snow" });
    expect(given).not.toHaveCalled("publish");
    expect(given).not.toHaveCalledInOrder([
      ["weather", { city: "Paris" }],
      ["weather", { city: "London" }],
    ]);
    expect(given).not.toHaveAsked();
  });

  it("tell the end, the answer and the spending", () => {
    const given = run[form];
    expect(given).toEnd();
    expect(given).toEnd("completed", { landed: false });
    expect(given).not.toEnd("max_steps");
    expect(given).toHaveAnswered("both");
    expect(given).toHaveAnswered(/^It rains/);
    expect(given).not.toHaveAnswered(/snow/);
    expect(given).toHaveSpent({ steps: 3, inputTokens: 60, tokens: { atMost: 75 } });
    expect(given).not.toHaveSpent({ steps: { atLeast: 4 } });
    expect(given).not.toHaveSpent({ usd: { atMost: 1 } });
    expect(given).toHaveSpent({ steps: (steps) => steps === 3 });
    expect(failed[form]).toEnd("error", { error: { kind: "auth", message: /key/ } });
    expect(failed[form]).toHaveSpent({ steps: 0, modelCalls: 1 });
  });

  it("tell who was asked, and that a parked run has not ended", () => {
    const given = parked[form];
    expect(given).toHaveAsked();
    expect(given).toHaveAsked("publish", { text: "hello" });
    expect(given).not.toHaveAsked("publish", { text: "bye" });
    expect(given).not.toHaveAsked("weather");
    expect(given).toHaveCalled("publish");
    expect(given).not.toEnd();
    expect(words(() => expect(given).toEnd("completed"))).toContain("it has not ended");
  });
});

describe("what goes out", () => {
  it("is told by what keeps requests, and by records", async () => {
    const asked = model();
    const { records } = await told({ model: asked, tools: [weather], system: "Be brief." });
    for (const given of [asked, records]) {
      expect(given).toHaveSent({ system: "Be brief." }, { at: 1 });
      expect(given).toHaveSent("London: rain");
      expect(given).toHaveSent(/Paris: rain/, { at: -1 });
      expect(given).not.toHaveSent("Paris: rain", { at: 1 });
      expect(given).not.toHaveSent({ system: "Be long." });
    }
    expect(words(() => expect(asked).toHaveSent({ system: "Be long." }))).toMatch(
      /none of 3 requests is like that.*request 1: system is "Be brief\.", wanted "Be long\."/s,
    );
  });

  it("is looked for in the one request that is meant, and shown where it was not to be", async () => {
    const asked = model();
    await told({ model: asked, tools: [weather], system: "Be brief." });
    // From the end there is none before the first.
    for (const at of [4, -4, -9]) {
      expect(asked).not.toHaveSent({}, { at });
      expect(words(() => expect(asked).toHaveSent({}, { at }))).toContain(
        "there is no such request (3 went out)",
      );
    }
    expect(asked).not.toHaveSent("London: rain", { at: -3 });
    expect(words(() => expect(asked).toHaveSent("snow", { at: 2 }))).toMatch(
      /as request 2; it is not like that \(3 went out\)\n {2}request 2: it is not in there\n {2}request 2 was \{/,
    );
    expect(words(() => expect(asked).not.toHaveSent("London: rain"))).toMatch(
      /but it is so\n {2}request 2 was .*London: rain/,
    );
    expect(words(() => expect(scripted([])).toHaveSent("snow"))).toContain("none went out");
  });
});

describe("a failed matcher", () => {
  it("shows the calls there were and in what the nearest differs", () => {
    const lines = words(() => expect(run.result).toHaveCalled("weather", { city: "Oslo" })).split("\n");
    expect(lines).toEqual([
      'expected the result to have called weather with {"city":"Oslo"}; it did not',
      "  it made 3 calls:",
      '  1. weather {"city":"London","unit":"C"} → "London: rain"',
      expect.stringMatching(/^ {2}2\. weather \{"town":"Paris"\} → error "/),
      '  3. weather {"city":"Paris"} → "Paris: rain"',
      '  nearest is call 1: city is "London", wanted "Oslo"',
    ]);
  });

  it("says which tools were called when it was none of that name, or that there were no calls", () => {
    expect(words(() => expect(run.result).toHaveCalled("search"))).toContain(
      "no call of search; there were calls of weather",
    );
    expect(words(() => expect(failed.result).toHaveCalled("search"))).toContain("it made no calls");
  });

  it("says how often a call was made, and after which call the order broke", () => {
    expect(words(() => expect(run.result).toHaveCalled("weather", undefined, { times: 1 }))).toContain(
      "to have called weather once; it did 3 times",
    );
    expect(words(() => expect(run.result).toHaveCalledInOrder(["weather", "publish"]))).toContain(
      "after weather there was no publish",
    );
    expect(words(() => expect(run.result).not.toHaveCalled("weather"))).toContain("but it is so");
  });

  it("says how the run ended instead, by which rule, and with which error", async () => {
    expect(words(() => expect(failed.result).toEnd("completed"))).toMatch(
      /to end as completed; it ended as error, by \w+.*its error: auth: "the key is wrong"/s,
    );
    expect(words(() => expect(run.result).toHaveAnswered("snow"))).toContain(
      'its text is "It rains in both."',
    );
    expect(words(() => expect(run.result).toHaveAnswered({ a: 1 }))).toContain("no typed output");
    expect(words(() => expect(run.result).toHaveSpent({ steps: 2, usd: 1 }))).toMatch(
      /steps is 3; usd is unknown.*usd is counted where the model has a price \(facts\.price\)/s,
    );
    const uncounted = await new Agent({ model: scripted([say("hi")]) }).run("hello");
    expect(words(() => expect(uncounted).toHaveSpent({ tokens: { atMost: 9 } }))).toMatch(
      /tokens is unknown.*of a scripted model tokens are what usage\(…\) says in a turn/s,
    );
    expect(words(() => expect(run.result).toHaveSpent({ modelCalls: 4 }))).toMatch(
      /modelCalls is 3.*it spent .*modelCalls 3/s,
    );
  });

  it("says what is needed when it is given something else", () => {
    expect(() => expect(Promise.resolve(run.result)).toEnd()).toThrow(/await it.*this is a promise/);
    expect(() => expect("text").toEnd()).toThrow(/RunResult/);
    expect(() => expect([]).toEnd()).toThrow(/this is an empty list/);
    expect(() => expect(null).toEnd()).toThrow(/this is null/);
    expect(() => expect([{ role: "user" }]).toEnd()).toThrow(/list of something else/);
    expect(() => expect(run.result).toHaveSent("text")).toThrow(/keeps requests is needed/);
  });
});

describe("typed output", () => {
  it("is compared in part", async () => {
    const output = {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "array" } },
    } as const;
    const typed = await told({
      model: scripted([
        call("final_output", { city: "Oslo", days: [1, 2] }),
        say('{"city":"Oslo","days":[1,2]}'),
      ]),
      output,
      outputWay: "prompted",
    });
    for (const given of [typed.result, typed.session, typed.records]) {
      expect(given).toHaveAnswered({ city: /os/i, days: [1, (day: number) => day > 1] });
      expect(given).not.toHaveAnswered({ days: [1] });
    }
  });
});

describe("other runners", () => {
  it("get assertions that throw with the same words, and their opposites", () => {
    expectRun(run.result).toHaveCalled("weather", { city: expect.stringContaining("Par") });
    expectRun(run.result).not.toHaveCalled("publish");
    expectRun(run.records).toEnd("completed");
    const thrown = words(() => expectRun(run.result).toHaveCalled("search"));
    expect(thrown).toBe(words(() => expect(run.result).toHaveCalled("search")));
    expect(() => expectRun(run.result).not.toEnd()).toThrow(
      expect.objectContaining({ name: "AssertionError", operator: "toEnd" }),
    );
  });

  it("tell two calls apart that a provider gave one id, in different answers", async () => {
    const again = (city: string) => call("weather", { city }, { id: "call_0" });
    const twice = await told({
      model: scripted([again("Oslo"), again("Bergen"), say("done")]),
      tools: [weather],
    });
    for (const given of [twice.result, twice.session, twice.records, twice.events]) {
      expect(given).toHaveCalled("weather", undefined, { times: 2 });
      expect(given).toHaveCalled("weather", { city: "Oslo" }, { result: "Oslo: rain" });
      expect(given).toHaveCalled("weather", { city: "Bergen" }, { result: "Bergen: rain" });
    }
    const asks = (text: string) => call("publish", { text }, { id: "call_0" });
    const waiting = await told({
      model: scripted([again("Oslo"), asks("hello")]),
      tools: [weather, publish],
    });
    for (const given of [waiting.result, waiting.session, waiting.records, waiting.events])
      expect(given).toHaveCalledInOrder([["weather", { city: "Oslo" }], "publish"]);
  });

  it("name the nearest of a tool's own calls, however much another tool's is like it", async () => {
    const given = await told({
      model: scripted([
        [
          call("publish", { text: "a" }),
          call("weather", { city: "Oslo" }),
          call("weather", { city: "Rome" }),
        ],
      ]),
      tools: [weather, publish],
    });
    const wanted = { city: "Bergen", a: 1, b: 2, c: 3, d: 4, e: 5 };
    expect(words(() => expect(given.records).toHaveCalled("weather", wanted))).toContain(
      'nearest is call 2: city is "Oslo", wanted "Bergen"; a is absent, wanted 1',
    );
    expect(words(() => expect(given.records).toHaveAsked(undefined, { text: "b" }))).toContain(
      'nearest is call 1: text is "a", wanted "b"',
    );
  });

  it("of jest's kind are extended as they are", () => {
    jestExpect.extend(rondoMatchers);
    const given = jestExpect(run.result) as unknown as ReturnType<typeof expect<RunResult>>;
    given.toHaveCalled("weather", { city: jestExpect.any(String) });
    given.not.toHaveCalled("publish");
    expect(words(() => given.toHaveCalled("search"))).toContain("no call of search");
  });

  it("of jest's kind with a global `expect` take the entry of their own", async () => {
    const scope = globalThis as { expect?: unknown };
    const path = "../src/jest.ts";
    await expect(import(/* @vite-ignore */ `${path}?without`)).rejects.toThrow(/setupFilesAfterEnv/);
    const extended: object[] = [];
    scope.expect = { extend: (matchers: object) => extended.push(matchers) };
    try {
      await import(/* @vite-ignore */ `${path}?with`);
    } finally {
      delete scope.expect;
    }
    expect(extended).toHaveLength(1);
    expect(Object.keys(extended[0] as object)).toEqual(Object.keys(rondoMatchers));
  });

  it("have the matchers in their types", () => {
    expectTypeOf(expect(run.result).toHaveCalled).parameter(0).toEqualTypeOf<string>();
    expectTypeOf(jestExpect(run.result).toEnd("completed")).toEqualTypeOf<void>();
    // Vitest 3 and 4 have them by what jest's types once were called.
    expectTypeOf<jest.Matchers<void, unknown>["toEnd"]>().returns.toEqualTypeOf<void>();
  });
});

describe("a tool that asked a question", () => {
  it("has asked, and was called once", async () => {
    const buy = tool({
      name: "buy",
      description: "Buys",
      inputSchema: { type: "object", properties: { item: { type: "string" } } },
      execute: () => waitForAnswer("Really?"),
      resume: () => "bought",
    });
    const journal = memoryJournal();
    const agent = new Agent({
      model: scripted([call("buy", { item: "tea" }), say("done")]),
      tools: [buy],
      journal,
    });
    const session = await agent.open("s");
    const events: RondoEvent[] = [];
    session.subscribe((event) => events.push(event));
    const parked = await session.send("go");
    expect(parked).toHaveAsked("buy");
    expect(() => expect(parked).toEnd()).toThrow("it waits for an approval or an answer: buy");
    await session.answer(session.pending[0]?.id ?? "", "yes");
    for (const told of [events, journal.read("s")]) {
      expect(told).toHaveAsked("buy", { item: "tea" });
      expect(told).toHaveSpent({ toolCalls: 1 });
    }
  });
});

it("no character is cut in two where a message is cut", () => {
  for (const before of ["", "x"]) {
    const wanted = { a: `${before}${"🎉".repeat(200)}` };
    const said = words(() => expectRun(run.result).toHaveAnswered(wanted));
    expect(said).toMatch(/🎉…/u);
    expect(said.isWellFormed()).toBe(true);
  }
});
