// Explanations and diffs: from records alone.

import {
  Agent,
  type AgentOptions,
  type Hooks,
  type Json,
  type LogRecord,
  maxFailures,
  memoryJournal,
  mustCall,
  mustNotSay,
  type Repair,
  RondoError,
  type Rule,
  type Rules,
  resolve,
  stopAfter,
  stopWhen,
  subAgent,
  toolResult,
} from "@rondo/core";
import { diff, explain } from "@rondo/core/explain";
import { managedContext, steerable, stepSequence } from "@rondo/core/presets";
import { call, calls, fail, type Script, say, scripted, stop, type Turn, usage } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { wordsOf } from "./refused.ts";
import { echo, jumpingClock, quick } from "./support.ts";

async function ran(script: Script, given: Partial<AgentOptions> = {}, id = "m") {
  const journal = memoryJournal();
  const options: AgentOptions = {
    ...quick,
    model: scripted(script, { id }),
    tools: [echo("look")],
    ...given,
  };
  const agent = new Agent({ ...options, journal });
  const result = await agent.run("go", { session: "s" });
  return { records: journal.read("s"), rules: resolve(options).rules, result };
}

describe("an explanation", () => {
  test.each<[Repair, Partial<AgentOptions>, string]>([
    ["settings.temperature", { settings: { temperature: 1 } }, "without the setting temperature"],
    ["reasoning", { settings: { reasoning: "low" } }, "without the reasoning in the history"],
    [
      "schema",
      { tools: [], output: { type: "object" } },
      "without the schema of the output, which is asked for in another way",
    ],
  ])("says what was left out because it was refused: %s", async (repair, given, words) => {
    const answer = repair === "schema" ? call("final_output", {}) : say("done");
    const { records, rules } = await ran([fail("invalid_request", { status: 400, repair }), answer], given);
    const [, step] = explain(records, { rules }).steps;
    expect(step?.reasons.find(({ kind }) => kind === "judged")?.text).toContain(
      `the model is asked again ${words}`,
    );
  });

  test("names for each step what decided, from which evidence, and the row of the table", async () => {
    const { records, rules } = await ran([call("look"), call("nowhere"), say("done")]);
    const { steps, end } = explain(records, { rules });
    expect(steps.map(({ step, follows }) => [step, follows])).toEqual([
      [0, undefined],
      [1, "act"],
      [2, "act"],
      [3, "finish"],
    ]);
    const [, one, two] = steps;
    expect(one?.reasons.find(({ kind }) => kind === "request")).toMatchObject({
      text: "m was asked",
      row: { when: "nothing else has to be done first", does: "call the model" },
    });
    expect(one?.reasons.find(({ kind }) => kind === "judged")).toMatchObject({
      rule: "by_content",
      evidence: { calls: 1 },
      row: { does: "judge it, once" },
    });
    expect(two?.reasons.find(({ kind }) => kind === "verdict")).toMatchObject({
      text: "is not run: there is no such tool",
      call: { name: "nowhere" },
    });
    expect(end).toMatchObject({
      reason: "completed",
      rule: "answer",
      remedy: { text: /tool in the last answer/ },
    });
  });

  test("says in words what became of a call that gave no result of its own", async () => {
    const throws = echo("throws", { execute: () => Promise.reject(new Error("boom")) });
    const tools = [throws, echo("kept", { permission: "deny" })];
    const { records, rules } = await ran([calls([["throws"], ["kept"]]), say("done")], { tools });
    const results = explain(records, { rules }).steps.flatMap(({ reasons }) =>
      reasons.flatMap(({ kind, call, text }) => (kind === "result" ? [`${call?.name}: ${text}`] : [])),
    );
    expect(results.sort()).toEqual(["kept: it was denied", "throws: it threw"]);
  });

  test("names the rule that answered a call in place of starting it, and the record does", async () => {
    const once: Rule<boolean> = {
      name: "once",
      version: 1,
      init: () => false,
      fold: { tool_finished: () => true },
      judgeStart: (done) =>
        done ? { code: "denied", text: "Once is enough.", evidence: { before: 1 } } : undefined,
    };
    const { records, rules } = await ran([call("look"), call("look"), say("done")], { rules: [once] });
    const finished = records.flatMap((record) =>
      record.type === "tool_finished" ? [[record.rule, record.evidence]] : [],
    );
    expect(finished).toEqual([
      [undefined, undefined],
      ["once", { before: 1 }],
    ]);
    const [, , two] = explain(records, { rules }).steps;
    expect(two?.reasons.find(({ kind }) => kind === "result")).toMatchObject({
      text: "it was denied",
      rule: "once",
      evidence: { before: 1 },
      call: { name: "look" },
    });
  });

  test("names the option that set the limit which ended the run, and its value", async () => {
    const { records, rules } = await ran([call("look"), say("landed")], { maxSteps: 1 });
    const { end, steps } = explain(records, { rules, step: 2 });
    expect(end).toMatchObject({ reason: "max_steps", remedy: { option: "maxSteps", value: 1 } });
    expect(steps[0]?.reasons.map(({ kind }) => kind)).toContain("end");
    const landing = explain(records, { rules }).steps[1]?.reasons.find(({ kind }) => kind === "mode");
    expect(landing).toMatchObject({
      rule: "max_steps",
      evidence: { steps: 1, max: 1 },
      row: { when: "a rule has a decision" },
    });
    expect(explain(records, { rules, step: 1 }).end).toBeUndefined();
  });

  test("lists retries, with their waits and errors", async () => {
    const { records, rules } = await ran([fail("overloaded"), say("done")]);
    const reasons = explain(records, { rules, step: 1 }).steps.flatMap((one) => one.reasons);
    expect(reasons.find(({ kind }) => kind === "failure")).toMatchObject({ error: { kind: "overloaded" } });
    expect(reasons.find(({ waitMs }) => waitMs !== undefined)).toMatchObject({
      kind: "judged",
      rule: "retry",
      evidence: { attempt: 1, allowed: 4 },
    });
  });

  test("says what a waiting run waits for, and refuses steps that do not exist", async () => {
    const { records, rules } = await ran([call("ask")], { tools: [echo("ask", { permission: "ask" })] });
    const waiting = explain(records, { rules });
    expect(waiting).toMatchObject({ now: { phase: "acting", does: "park" } });
    expect(waiting.steps.at(-1)?.reasons.find(({ kind }) => kind === "approval")).toMatchObject({
      text: "needs an approval",
      row: { when: "calls need an approval", does: "ask for it" },
    });
    const refused = (ask: () => unknown): unknown => {
      try {
        return ask();
      } catch (thrown) {
        return thrown instanceof RondoError ? `${thrown.kind}: ${thrown.message}` : thrown;
      }
    };
    expect(refused(() => explain(records, { rules, step: 5 }))).toBe(
      "invalid_request: run 1 has no step 5: it has step 1 alone",
    );
    expect(refused(() => explain(records, { rules, run: 2 }))).toBe(
      "invalid_request: there is no run 2: there is run 1 alone",
    );
    expect(refused(() => explain([], { rules }))).toBe("invalid_request: there is no run yet");
    for (const options of [
      { rules, step: 1.5 },
      { rules, run: 0 },
      { rules, step: "1" },
      { step: 1 },
      undefined,
    ])
      expect(refused(() => explain(records, options as { rules: Rules }))).toMatch(
        /^invalid_request: explain: option/,
      );
    const { records: long } = await ran([call("echo"), call("echo", { n: 2 }), say("end")], {
      tools: [echo("echo")],
    });
    expect(refused(() => explain(long, { rules, step: 4 }))).toBe(
      "invalid_request: run 1 has no step 4: it has 1 to 3",
    );
  });

  test("has a remedy with an option for every limit that an option sets", async () => {
    const spends = usage({ inputTokens: 9, outputTokens: 9 });
    const priced = scripted([[call("look"), spends], say("x")], {
      facts: { price: { input: 1, output: 1 } },
    });
    const clock = jumpingClock(0);
    const slow = echo("look", { execute: () => clock.pass(10) });
    const cases: [Script, Partial<AgentOptions>, string][] = [
      [[call("look"), say("x")], { maxSteps: 1 }, "maxSteps"],
      [[[call("look"), spends], say("x")], { budget: { tokens: 5 } }, "budget.tokens"],
      [[], { model: priced, budget: { usd: 0.000_001 } }, "budget.usd"],
      [[call("look"), say("x")], { budget: { modelCalls: 2 } }, "budget.modelCalls"],
      [[call("look"), say("x")], { budget: { ms: 5 }, clock, tools: [slow] }, "budget.ms"],
      [[call("look"), say("x")], { context: { compaction: { withoutLimit: "throw" } } }, "context.window"],
      [[fail("overloaded")], { retry: null }, "retry"],
      [[say(""), say("")], {}, "emptyNudges"],
      [[[call("look"), spends], say("x")], { budget: { own: { tokens: 5 } } }, "budget.own.tokens"],
      [[[call("look"), spends], say("x")], { budget: { session: { tokens: 5 } } }, "budget.session.tokens"],
      [[call("look"), say("x")], { budget: { session: { modelCalls: 2 } } }, "budget.session.modelCalls"],
      [[say("x")], { tools: [echo("look")], rules: [mustCall("look", { max: 0 })] }, "rules: mustCall()"],
      [
        [call("look", { a: [] }), say("x")],
        {
          tools: [echo("look", { execute: () => Promise.reject(new Error("no")) })],
          rules: [maxFailures(1)],
        },
        "rules: maxFailures()",
      ],
      [[say("x")], { rules: [mustNotSay("x", { max: 0 })] }, "rules: mustNotSay()"],
      [[call("look")], { tools: [echo("look")], rules: [stopAfter("look")] }, "rules: stopAfter()"],
      [[fail("auth")], {}, "fallback"],
      [[fail("overloaded")], { retry: { attempts: 1 } }, "retry.attempts"],
      [[fail("overloaded")], { retry: { kinds: ["network"] } }, "retry.kinds"],
      [[fail("rate_limit", { retryAfterMs: 61_000 })], {}, "retry.longestRetryAfterMs"],
      [[[say("so far"), stop("max_tokens")]], {}, "settings.maxOutputTokens"],
      [[[call("look"), stop("max_tokens")], say("x")], { maxTruncations: 0 }, "maxTruncations"],
      [() => call("look"), { maxSteps: 50 }, "repeats.landAt"],
    ];
    for (const [script, options, option] of cases) {
      const { records, rules } = await ran(script, options);
      expect(explain(records, { rules }).end?.remedy.option).toBe(option);
    }
  });

  test("says at how many repeats a call would land the run, however many there were", async () => {
    const eight = calls(Array.from({ length: 8 }, () => ["look"] as const));
    const { records, rules } = await ran([eight, say("x")], {});
    const { evidence, remedy } = explain(records, { rules }).end ?? {};
    expect([evidence?.times, remedy?.value]).toEqual([8, 5]);
  });

  test("names no option that would have changed nothing", async () => {
    const free = scripted([call("look"), say("x")], { facts: { price: { input: 1, output: 1 } } });
    const full: Turn = [say("so far"), stop("context_overflow")];
    const cases: [Script, Partial<AgentOptions>, RegExp][] = [
      // A larger budget is no help where nobody counts.
      [[], { model: free, budget: { usd: 9 } }, /unknown.*no larger budget/],
      [[full], {}, /the window was full/],
      // Another model would meet it as well.
      [[fail("invalid_request")], {}, /^the failure is for good: what it names has to be mended first$/],
      [[fail("auth")], { retry: null }, /for good/],
      [[fail("auth"), fail("auth")], { fallback: [scripted([fail("auth")])] }, /; every model failed$/],
      [() => fail("empty_response"), { retry: { baseMs: 0, attempts: 9 } }, /no more attempts/],
    ];
    for (const [script, options, text] of cases) {
      const { records, rules } = await ran(script, options);
      const remedy = explain(records, { rules }).end?.remedy;
      expect(remedy?.text).toMatch(text);
      expect(remedy?.option).toBeUndefined();
    }
  });

  test("uses a preset's own names for its limits", async () => {
    const look = echo("look", { inputSchema: { type: "object", properties: { n: { type: "number" } } } });
    const same = scripted([call("look"), call("look"), call("look")]);
    const other = scripted((_request, n) => call("look", { n }));
    const busy = scripted([fail("overloaded")]);
    const cut = scripted([[say("so far"), stop("max_tokens")]]);
    const cases: [AgentOptions, string, Json?][] = [
      [stepSequence({ model: same, tools: [look] }), "maxDuplicateToolCalls"],
      [stepSequence({ model: other, tools: [look] }), "maxToolCallsPerTool"],
      [managedContext({ model: busy, llmRetry: "by_kind", llmMaxRetries: 0 }), "llmMaxRetries", 0],
      [steerable({ model: cut }), "settings.maxOutputTokens"],
    ];
    for (const [options, option, value] of cases) {
      const journal = memoryJournal();
      const agent = new Agent({ ...options, journal });
      await agent.run("go", { session: "s" }).catch(() => undefined);
      const { end } = explain(await journal.read("s"), { rules: resolve(options).rules });
      expect([end?.remedy.option, end?.remedy.value]).toEqual([option, value]);
    }
  });

  test("has a remedy in words if no option set the limit", async () => {
    const child = subAgent({
      name: "child",
      description: "child",
      agent: new Agent({ model: scripted([]) }),
    });
    const failing: Rule = {
      name: "mine",
      version: 1,
      decide: () => {
        throw new Error("boom");
      },
    };
    const cases: [Script, Partial<AgentOptions>, RegExp][] = [
      [() => call("child", { task: "x" }), { tools: [child], maxSubAgents: 0 }, /maxSubAgents/],
      [[say("x")], { rules: [failing] }, /what failed here/],
      [[[say("half"), stop("error")]], {}, /went wrong/],
    ];
    for (const [script, options, text] of cases) {
      const { records, rules } = await ran(script, options);
      expect(explain(records, { rules }).end?.remedy.text).toMatch(text);
    }
    const { records, rules } = await ran([call("look"), say("x")], {
      rules: [stopWhen(() => true, { name: "constructor", onLimit: "stop" })],
    });
    expect(explain(records, { rules }).end?.remedy.text).toBe(
      "the rule constructor decided it from this evidence",
    );
  });

  test("says that a sub-agent was limited by its parent", async () => {
    const journal = memoryJournal();
    const model = scripted([call("look"), say("landed")]);
    const below = new Agent({ ...quick, model, tools: [echo("look")] });
    const child = subAgent({ name: "child", description: "child", agent: below, budget: { modelCalls: 2 } });
    const options = { model: scripted([call("child", { task: "x" }), say("x")]), tools: [child] };
    await new Agent({ ...options, journal }).run("go", { session: "s" });
    const records = journal.read("s:2.0");
    const { end } = explain(records, { rules: resolve(options).rules });
    expect(end).toMatchObject({ rule: "tree", remedy: { text: /its parent gave it no more/ } });
  });
});

describe("a diff", () => {
  test("finds no difference between two runs that did the same, whatever their times and ids are", async () => {
    const script = [call("look"), say("done")];
    const [a, b] = [await ran(script), await ran(script)];
    expect(diff(a.records, b.records, a.rules)).toMatchObject({ same: true, step: 2 });
  });

  test("finds no difference if one of two runs waited, whatever hooks returned and tools ended", async () => {
    const hooks: Hooks = {
      permission: () => "allow",
      beforeTool: ({ args }) => ({ args }),
      afterTool: () => ({ content: "seen" }),
    };
    const tools = [echo("look"), echo("end", { execute: () => toolResult("over", { done: true }) })];
    const { records, rules } = await ran([call("look"), call("end")], { hooks, tools });
    // What tells of time alone stands in one of them, and every call has another key there.
    const shifted = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value), (name, item: unknown) => {
        if (name === "seq") return Number(item) + 1;
        return typeof item === "string"
          ? item.replace(/^(\d+)\.(\d+)$/, (_, seq, at) => `${Number(seq) + 1}.${at}`)
          : item;
      });
    const [first, ...rest] = records;
    const woke = { type: "woke", seq: 1, at: first?.at ?? 0, rand: 0.5 } as const;
    const waited = [first, woke, ...(shifted(rest) as LogRecord[])] as LogRecord[];
    expect(diff(records, waited, rules)).toMatchObject({ same: true });
  });

  test("finds no difference between two runs whose sub-agents did the same, in sessions with other ids and times", async () => {
    const go = async (id: string) => {
      const journal = memoryJournal();
      const asks = call("ask", {}, { id: `${id}_call` });
      const child = new Agent({
        ...quick,
        model: scripted([asks, say("done below")]),
        tools: [echo("ask", { permission: "ask" })],
      });
      const tools = [subAgent({ name: "child", description: "child", agent: child })];
      const options = { ...quick, model: scripted([call("child", { task: "x" }), say("done")]), tools };
      const session = await new Agent({ ...options, budget: { ms: 60_000 }, journal }).open(id);
      await session.send("go");
      await session.approve(session.pending[0]?.id ?? "");
      return journal;
    };
    const [a, b] = [await go("a"), await go("b")];
    const { rules } = resolve({ model: scripted([]) });
    expect(diff(a.read("a"), b.read("b"), rules)).toMatchObject({ same: true });
    expect(a.read("a:2.0").at(-1)).toMatchObject({ type: "run_ended", end: { reason: "completed" } });
    expect(diff(a.read("a:2.0"), b.read("b:2.0"), rules)).toMatchObject({ same: true });
  });

  test("finds no difference if truncated calls have other ids, and a deadline came slightly later", async () => {
    const go = async (id: string, late: number) => {
      const clock = jumpingClock(0);
      const long = echo("look", { execute: () => "a line of it\n".repeat(200) });
      const tools = [long, echo("wait", { execute: () => clock.pass(1_000 + late) })];
      const turns = ["look", "look", "wait"].map((name, n) => call(name, { n }, { id: `${id}_${n}` }));
      const context = { trim: { budgetTokens: 500 } };
      const given = { tools, clock, context, budget: { ms: 1_000 } } as Partial<AgentOptions>;
      return ran([...turns, say("landed")], given);
    };
    const [a, b] = [await go("a", 0), await go("b", 7)];
    expect(a.records.map(({ type }) => type)).toContain("trimmed");
    expect(a.result.end).toMatchObject({ reason: "deadline", landed: true });
    expect(diff(a.records, b.records, a.rules)).toMatchObject({ same: true });
  });

  test("finds no difference between two runs that failed alike, whatever the provider's request ids and waits were", async () => {
    const go = async (id: string, retryAfterMs: number) => {
      const passing = fail("rate_limit", { status: 429, raw: { request_id: id }, retryAfterMs });
      const last = fail("auth", { status: 401, raw: { request_id: id } });
      return ran([passing, last]);
    };
    const [a, b] = [await go("a", 10), await go("b", 11)];
    expect(a.result.end).toMatchObject({ reason: "error", error: { raw: { request_id: "a" } } });
    expect(diff(a.records, b.records, a.rules)).toMatchObject({ same: true });
    const other = await ran([fail("rate_limit", { status: 429 }), fail("auth", { status: 403 })]);
    const parts = { type: "model_failed", error: { status: 403 } };
    expect(diff(a.records, other.records, a.rules)).toMatchObject({ same: false, b: { parts } });
  });

  test("finds a difference if hooks put in another message, or if sub-agents were given more", async () => {
    const hooks = (said: string): Hooks => ({
      transformContext: (messages) => [
        ...messages,
        { role: "user", content: [{ type: "text", text: said }] },
      ],
    });
    const [one, same, other] = [
      await ran([say("done")], { hooks: hooks("one") }),
      await ran([say("done")], { hooks: hooks("one") }),
      await ran([say("done")], { hooks: hooks("other") }),
    ];
    expect(diff(one.records, same.records, one.rules)).toMatchObject({ same: true });
    const isHook = { type: "hook_answered", hook: "transformContext" };
    expect(diff(one.records, other.records, one.rules)).toMatchObject({ same: false, b: { parts: isHook } });
    const agent = new Agent({ model: scripted([say("below"), say("below")]) });
    const given = async (modelCalls: number) => {
      const tools = [subAgent({ name: "child", description: "c", agent, budget: { modelCalls } })];
      const { records, rules } = await ran([call("child", { task: "x" }), say("done")], { tools });
      const [start, ...rest] = records;
      // What stands in the options is other as well.
      return { records: [{ ...start, options: undefined } as unknown as LogRecord, ...rest], rules };
    };
    const [more, less] = [await given(5), await given(4)];
    const parts = { type: "tool_started", reserved: { modelCalls: 5 } };
    expect(diff(more.records, less.records, more.rules)).toMatchObject({ same: false, a: { parts } });
  });

  test("shows the result that a hook gave", async () => {
    const hooks = (text: string): Hooks => ({ beforeTool: () => ({ result: text }) });
    const script = [call("look"), say("done")];
    const [a, b] = [await ran(script, { hooks: hooks("one") }), await ran(script, { hooks: hooks("two") })];
    const found = diff(a.records, b.records, a.rules);
    expect(found).toMatchObject({ same: false, step: 1 });
    for (const [side, text] of [
      [found.a, "one"],
      [found.b, "two"],
    ] as const)
      expect(side.moments[0]).toMatchObject({ what: "result", name: "look", text });
    const after = await ran(script, { hooks: { afterTool: () => ({ content: "three" }) } });
    const plain = await ran(script, { hooks: { afterTool: () => undefined } });
    expect(diff(plain.records, after.records, plain.rules).b.moments[0]).toMatchObject({
      what: "result",
      name: "look",
      text: "three",
    });
  });

  test("shows no tokens for a side without counts, but how many calls were not counted", async () => {
    const counted = [call("look"), [say("done"), usage({ inputTokens: 20, outputTokens: 4 })]];
    const [a, b] = [await ran([say("done")]), await ran(counted)];
    const found = diff(a.records, b.records, a.rules);
    expect(found.a).not.toHaveProperty("tokens");
    expect([found.a.uncounted, found.b.tokens, found.b.uncounted]).toEqual([1, 24, 1]);
  });

  test("refuses a session without records: a journal returns the same for an unknown id", async () => {
    const { records, rules } = await ran([say("done")]);
    for (const [a, b, which] of [
      [[], records, "first"],
      [records, memoryJournal().read("typo"), "second"],
    ] as const)
      expect(() => diff(a, b, rules)).toThrow(
        expect.objectContaining({
          kind: "invalid_request",
          message: expect.stringMatching(`^diff: the ${which} session has no records`),
        }),
      );
  });

  test("refuses anything that is not a list of records: a journal on disk returns a promise of one", async () => {
    const { records, rules } = await ran([say("done")]);
    const given = (value: unknown): never => value as never;
    const later = Promise.resolve(records);
    for (const [act, words] of [
      [
        () => diff(given(later), records, rules),
        "diff: argument a: a list of records is needed, not a promise: await it",
      ],
      [() => diff(records, given({}), rules), "diff: argument b: a list of records is needed, not an object"],
      [
        () => diff(records, records, given(undefined)),
        "diff: argument rules: Rules, e.g. of resolve(options), is needed",
      ],
      [
        () => explain(given(later), { rules }),
        "explain: argument records: a list of records is needed, not a promise: await it",
      ],
      [
        () => explain(given({}), { rules }),
        "explain: argument records: a list of records is needed, not an object",
      ],
    ] as const)
      expect(wordsOf(act)).toContain(words);
    expect(explain(new Set(records), { rules }).end?.reason).toBe("completed");
  });

  test("between a session and its fork says where they diverge and what each did then", async () => {
    const journal = memoryJournal();
    const agent = new Agent({
      ...quick,
      model: scripted([call("look"), say("one")], { id: "a" }),
      tools: [echo("look")],
      journal,
    });
    const session = await agent.open("s");
    await session.send("go");
    const fork = await session.fork("t", { at: 2, model: scripted([call("look"), say("two")], { id: "b" }) });
    await fork.resume();
    const { rules } = resolve({ model: scripted([]) });
    const found = diff(journal.read("s"), journal.read("t"), rules);
    expect(found).toMatchObject({
      same: false,
      step: 2,
      a: { models: ["a"], text: "one", steps: 2 },
      b: { models: ["a", "b"], text: "two", steps: 3, toolCalls: 2 },
    });
    expect(found.a.moments.map(({ what, text }) => `${what}: ${text}`)).toEqual([
      "model: a",
      "answer: one",
      "end: completed, rule answer",
    ]);
    expect(found.b.moments.map(({ what, name, text }) => `${what}: ${name ?? text}`)).toEqual([
      expect.stringMatching(/^fork: forked from s after \d+ records, b$/),
      "model: b",
      "call: look",
      "result: look",
      "model: b",
      "answer: two",
      "end: completed, rule answer",
    ]);
  });
});
