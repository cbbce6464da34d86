// Options that cannot be used are refused before anything is made of them, by name and with what is needed.

import { say, scripted } from "@rondo/testkit";
import { hasToolCall, isStepCount } from "ai";
import { describe, expect, test } from "vitest";
import {
  Agent,
  type AgentOptions,
  budget,
  deadline,
  dependency,
  maxFailures,
  maxSteps,
  memoryJournal,
  modelFace,
  mustNotSay,
  type Rule,
  type RunOverrides,
  repeats,
  retry,
  stopAfter,
  stopWhen,
  subAgent,
  tool,
} from "../src/index.ts";
import { wordsOf } from "./refused.ts";

const model = scripted([]);

class Misspelt {
  readonly name: string = "misspelt";
  readonly version: number = 1;
  onAnswer(): undefined {}
}
/** A rule that has names of its own, some of them like those of moments. */
class WithItsOwn implements Rule {
  readonly name: string = "with_its_own";
  readonly version: number = 1;
  readonly folded: number = 1;
  decide(): undefined {
    return this.foldCall() || this.told() || this.dec() || undefined;
  }
  foldCall(): undefined {}
  leftOf(): undefined {}
  told(): undefined {}
  dec(): undefined {}
  foldedAway(): undefined {}
  find(): undefined {}
}
const echo = {
  name: "echo",
  description: "Echoes.",
  inputSchema: { type: "object" },
  execute: () => "",
} as const;

describe("an agent's options", () => {
  test.each<[Record<string, unknown>, string]>([
    [{ maxStep: 5 }, "option maxStep: there is no such option; did you mean maxSteps?"],
    [{ retyr: null }, "option retyr: there is no such option; did you mean retry?"],
    [{ maxStpes: 5 }, "option maxStpes: there is no such option; did you mean maxSteps?"],
    [{ maxsteps: 5 }, "option maxsteps: there is no such option; did you mean maxSteps?"],
    [{ steps: 5 }, "option steps: there is no such option; did you mean maxSteps?"],
    [
      { volume: 5 },
      "option volume: there is no such option; there are model, fallback, models, system, tools, ",
    ],
    [
      { maxSteps: "5" },
      'option maxSteps: a whole number above 0, or 0 where onLimit is error or stop, is needed, not "5"',
    ],
    ...[null, -1, 0].map((maxSteps): [Record<string, unknown>, string] => [
      { maxSteps },
      `option maxSteps: a whole number above 0, or 0 where onLimit is error or stop, is needed, not ${maxSteps}`,
    ]),
    [
      { maxSteps: 0, onLimit: "refuse_tools" },
      "option maxSteps: a whole number above 0, or 0 where onLimit is error or stop, is needed, not 0",
    ],
    [{ clocks: { idle: 5 } }, "option clocks.idle: there is no such option; did you mean idleMs?"],
    [{ clocks: { idleMs: "60" } }, 'option clocks.idleMs: a finite number above 0 is needed, not "60"'],
    [{ clocks: { totalMs: Number.POSITIVE_INFINITY } }, "not Infinity"],
    [{ clocks: 5 }, "option clocks: an object is needed, not 5"],
    [
      { settings: { temperature: Number.NEGATIVE_INFINITY } },
      "option settings.temperature: a finite number is needed, not -Infinity",
    ],
    [
      { settings: { maxOutputTokens: 0 } },
      "option settings.maxOutputTokens: a whole number above 0 is needed, not 0",
    ],
    [{ settings: { stop: [""] } }, 'option settings.stop[0]: a text that is not empty is needed, not ""'],
    [{ settings: { seed: Number.NaN } }, "option settings.seed: a finite number is needed, not NaN"],
    [
      { context: { trim: { maxTokens: Number.POSITIVE_INFINITY } } },
      "option context.trim.maxTokens: a finite number of at least 0 is needed, not Infinity",
    ],
    [
      { context: { compaction: { summaryMaxTokens: Number.POSITIVE_INFINITY } } },
      "option context.compaction.summaryMaxTokens: a finite number of at least 1 is needed, not Infinity",
    ],
    [{ toolTimeoutMs: 0 }, "option toolTimeoutMs: a finite number above 0 is needed, not 0"],
    [{ maxConcurrentTools: 1.5 }, "option maxConcurrentTools: a whole number above 0 is needed, not 1.5"],
    [{ followUps: "all" }, 'option followUps: one of together, one_by_one is needed, not "all"'],
    [{ steering: "later" }, 'option steering: one of between_calls, after_calls is needed, not "later"'],
    [{ toolOrder: "both" }, 'option toolOrder: one of by_effect, sequential, parallel is needed, not "both"'],
    [{ abortGraceMs: -1 }, "option abortGraceMs: a finite number of at least 0 is needed, not -1"],
    [{ emptyNudges: -1 }, "option emptyNudges: a whole number of at least 0 is needed, not -1"],
    [{ refusals: true }, "option refusals: null, which turns it off, or nothing, is needed, not true"],
    [{ retry: false }, "option retry: an object is needed, not false: null turns it off"],
    [
      { context: { compaction: false } },
      "option context.compaction: an object is needed, not false: null turns it off",
    ],
    [
      { rules: [maxSteps(5), deadline(60_000)] },
      "option rules[1]: deadline(60000) counts from 1970, and is long past: budget({ ms }) limits how long a run takes, deadline(Date.now() + ms) says until when",
    ],
    [{ fallback: model }, "option fallback: a list is needed, not an object: put it in [ ]"],
    [{ fallback: {} }, "option fallback: a list is needed, not an object"],
    [{ rules: maxSteps(5) }, "option rules: a list is needed, not an object: put it in [ ]"],
    [{ settings: { stop: "END" } }, 'option settings.stop: a list is needed, not "END": put it in [ ]'],
    [{ tools: tool(echo) }, "option tools: a list is needed, not an object: put it in [ ]"],
    [{ retry: { attempt: 4 } }, "option retry.attempt: there is no such option; did you mean attempts?"],
    [{ retry: { attempts: -1 } }, "option retry.attempts: a whole number above 0 is needed, not -1"],
    [
      { budget: { own: { token: 5 } } },
      "option budget.own.token: there is no such option; did you mean tokens?",
    ],
    [{ landing: { store: "no" } }, 'option landing.store: true or false is needed, not "no"'],
    [{ repeats: 5 }, "option repeats: an object is needed, not 5"],
    [{ repeats: [] }, "option repeats: an object is needed, not a list"],
    [{ system: () => "" }, "option system: a text is needed, not a function"],
    [
      { fallback: [model, {}] },
      "option fallback[1]: a Model, e.g. offline() of @rondo/models, is needed, not an object",
    ],
    ...(
      [
        [{ id: "" }, 'id: a name is needed, not ""'],
        [{ origin: "openai" }, 'origin: an object is needed, not "openai"'],
        [{ origin: { api: "a", provider: "p" } }, "origin.model: a text is needed, not undefined"],
        [
          { origin: { ...model.origin, more: new Map() } },
          "origin: more is a Map, and JSON has no such value",
        ],
        [{ facts: { contextWindow: "8k" } }, 'facts.contextWindow: a number above 0 is needed, not "8k"'],
        [{ facts: { accepts: "image/*" } }, 'facts.accepts: a list is needed, not "image/*"'],
        [{ facts: { price: { input: 1 } } }, "facts.price.output: a finite number of at least 0 is needed"],
        [
          { facts: { price: { input: 1, output: 1, longPrompts: [{ input: 1, output: 1 }] } } },
          "facts.price.longPrompts[0].above: a finite number of at least 0 is needed",
        ],
        [{ facts: { more: () => 1 } }, "facts: more is a function, and JSON has no such value"],
      ] as const
    ).map(([change, words]): [Record<string, unknown>, string] => [
      { fallback: [{ ...modelFace(model), call: () => {}, ...change }] },
      `option fallback[0].${words}`,
    ]),
    [{ tools: {} }, "option tools: a list is needed, not an object"],
    [{ tools: [null] }, "option tools[0]: a tool, as tool() makes it, is needed, not null"],
    [{ tools: [echo] }, "option tools[0]: a tool, as tool() makes it, is needed, not an object"],
    ...[maxSteps, budget, deadline, maxFailures, mustNotSay, repeats, stopAfter, stopWhen].map(
      (made): [Record<string, unknown>, string] => [
        { rules: [made] },
        "option rules[0]: a function that makes rules must be called: maxSteps(20)",
      ],
    ),
    ...[
      isStepCount(5),
      hasToolCall("look"),
      ({ steps }: { steps: unknown[] }) => steps.at(-1) === undefined,
      ({ steps }: { steps: object[] }) => steps.some((step) => "usage" in step),
      async ({ steps }: { steps: unknown[] }) => steps.length > 2,
    ].map((condition): [Record<string, unknown>, string] => [
      { rules: [condition] },
      "option rules[0]: a stop rule is told how many steps there were, and this function looks for a list of them, as conditions of the AI SDK do: maxSteps(n), stopAfter(tool), or ({ steps, messages }) => steps >= n, is needed",
    ]),
    [{ rules: [5] }, "option rules[0]: a rule, or a function that is a stop rule, is needed, not 5"],
    [
      { rules: [{ name: "no_rm", version: 1, judgecall: () => undefined }] },
      'option rules[0]: rule "no_rm" says nothing: there is no moment judgecall, did you mean judgeCall?',
    ],
    [
      { rules: [{ name: "ears", version: 1, hear: () => undefined, hearEvery: 0 }] },
      "option rules[0].hearEvery: a whole number above 0 is needed, not 0",
    ],
    [
      { rules: [{ name: "r", version: 1, init: () => 0, note: () => {}, judges: () => undefined }] },
      'rule "r" says nothing: there is no moment judges, did you mean judge?',
    ],
    [
      { rules: [{ decide: () => undefined }] },
      "option rules[0]: a rule, or a function that is a stop rule, is needed, not an object",
    ],
    [
      {
        rules: [
          Object.assign(Object.create(null), { name: "bare", version: 1, decides: () => undefined }) as Rule,
        ],
      },
      'rule "bare" says nothing: there is no moment decides, did you mean decide?',
    ],
    [
      { rules: [new Misspelt()] },
      'rule "misspelt" says nothing: there is no moment onAnswer, there are fold, decide,',
    ],
    [
      { rules: [{ name: "odd", version: 1, fold: () => 0, decide: null }] },
      "option rules[0].decide: a function is needed, not null",
    ],
    [
      { rules: [{ name: "odd", version: 1, fold: { tool_started: 1 } }] },
      "option rules[0].fold.tool_started: a function is needed, not 1",
    ],
    [
      { rules: [{ name: "odd", version: 1, fold: { tool_start: () => 0 } }] },
      "option rules[0].fold.tool_start: there is no such option; did you mean tool_started?",
    ],
    [
      { rules: [{ name: "odd", version: 1, fold: () => 0, verify: true }] },
      "option rules[0].verify: a function is needed, not true",
    ],
    [
      { rules: [{ name: "", version: 1, decide: () => undefined }] },
      "option rules[0]: a rule, or a function that is a stop rule, is needed, not an object",
    ],
    [
      { context: { estimator: { text: () => 0 } } },
      "option context.estimator: an estimator (text, message, tools) is needed, not an object",
    ],
    [
      { rules: [{ name: "mute", version: 1 }] },
      'option rules[0]: rule "mute" says nothing: it has none of fold, decide, left, hear, judge, judgeCall, judgeStart, wakeAt',
    ],
    [
      { rules: [{ name: "mute", version: 1, init: () => 0 }] },
      'rule "mute" says nothing: it has none of fold, decide,',
    ],
    ...(
      [
        ["judgecall", "judgeCall"],
        ["judgeAnwser", "judge"],
        ["judge_call", "judgeCall"],
        ["decides", "decide"],
        ["JudgeStart", "judgeStart"],
        ["wakeat", "wakeAt"],
        ["inti", "init"],
        ["verfiy", "verify"],
      ] as const
    ).map(([other, meant]): [Record<string, unknown>, string] => [
      { rules: [{ name: "half", version: 1, fold: () => 0, [other]: () => undefined }] },
      `option rules[0]: rule "half": there is no moment ${other}, did you mean ${meant}?`,
    ]),
    [
      { continueRule: { name: "half", version: 1, judge: () => undefined, judgeCals: () => undefined } },
      'option continueRule: rule "half": there is no moment judgeCals, did you mean judgeCall?',
    ],
    [{ clocks: { firstByteMs: 0 } }, "option clocks.firstByteMs: a finite number above 0 is needed, not 0"],
    [{ clocks: { idleMs: 0 } }, "option clocks.idleMs: a finite number above 0 is needed, not 0"],
    [{ clocks: { totalMs: 0 } }, "option clocks.totalMs: a finite number above 0 is needed, not 0"],
    [
      { clocks: { connectMs: -1 } },
      "option clocks.connectMs: a finite number of at least 0 is needed, not -1",
    ],
    [
      { budget: {} },
      "option budget: tokens, usd, ms, modelCalls, own or session is needed, and nothing is given",
    ],
    [{ budget: { usd: undefined } }, "modelCalls, own or session is needed, and nothing is given"],
    [
      { budget: { session: {} } },
      "option budget.session: tokens, usd or modelCalls is needed, and nothing is given",
    ],
    [{ budget: { session: { ms: 5 } } }, "option budget.session.ms: there is no such option"],
    [{ budget: { own: {} } }, "option budget.own: tokens or usd is needed, and nothing is given"],
    [{ repeats: { nudgeAt: 5, landAt: 3 } }, "option repeats.nudgeAt: at most 4 (hideAt) is needed, not 5"],
    [{ lease: { ttlMs: 99 } }, "option lease.ttlMs: a number from 100 to 2^31 - 1 is needed, not 99"],
    [
      { lease: { ttlMs: 2 ** 31 } },
      "option lease.ttlMs: a number from 100 to 2^31 - 1 is needed, not 2147483648",
    ],
    [{ lease: { ttlMs: "500" } }, 'a number from 100 to 2^31 - 1 is needed, not "500"'],
    [{ lease: { owner: "" } }, 'option lease.owner: a name is needed, not ""'],
    [{ lease: { owner: 5 } }, "option lease.owner: a name is needed, not 5"],
    [{ hooks: { beforeTool: 5 } }, "option hooks.beforeTool: a function is needed, not 5"],
    [{ texts: { nope: () => "" } }, "option texts.nope: there is no such option"],
    [{ texts: { denied: "no" } }, 'option texts.denied: a function is needed, not "no"'],
    [{ pause: 1 }, "option pause: there is no such option; did you mean pauseResumes?"],
    [{ resumes: 1 }, "option resumes: there is no such option; did you mean pauseResumes?"],
    [{ sum: 1 }, "option sum: there is no such option; there are model, fallback"],
    [{ settings: { temp: 1 } }, "option settings.temp: there is no such option; did you mean temperature?"],
    [
      { settings: { headers: { "x-team": undefined } } },
      "option settings.headers.x-team: a text is needed, not undefined",
    ],
    [
      { settings: { reasoning: 3 } },
      "option settings.reasoning: off, minimal, low, medium, high, xhigh, max or { budgetTokens } is needed, not 3",
    ],
    [
      { settings: { reasoning: "ultra" } },
      'option settings.reasoning: off, minimal, low, medium, high, xhigh, max or { budgetTokens } is needed, not "ultra": a provider\'s own word goes into settings.providerOptions',
    ],
    [
      { settings: { reasoning: {} } },
      "option settings.reasoning.budgetTokens: a finite number is needed, not undefined",
    ],
    [
      { toolChoice: { name: "echo" } },
      'option toolChoice: { tool: "echo" } is needed, not an object with name',
    ],
    [{ toolChoice: { tool: "echo", n: 1 } }, "option toolChoice.n: there is no such option; there are tool"],
    [{ toolChoice: { tool: 5 } }, "option toolChoice.tool: a text is needed, not 5"],
    [{ toolChoice: {} }, "option toolChoice: { tool: NAME } is needed, not an empty object"],
    [{ context: { windw: 5 } }, "option context.windw: there is no such option"],
    [{ context: { cap: { maxBytes: 5 } } }, "option context.cap.maxBytes: there is no such option"],
    [{ journal: {} }, "option journal: a journal (append, read, list) is needed, not an object"],
    [{ clock: { now: Date.now } }, "option clock: a clock (now, random, after) is needed, not an object"],
    [
      { dependencies: [dependency("user", () => 1)] },
      "option dependencies[0]: what dependency(…).as(value) gives is needed, not an object: give its as(value)",
    ],
    [{ dependencies: [5] }, "option dependencies[0]: what dependency(…).as(value) gives is needed, not 5"],
    [
      { model: undefined },
      "option model: a Model, e.g. offline() of @rondo/models, is needed, not undefined",
    ],
  ])("%j: %s", (given, words) => {
    expect(wordsOf(() => new Agent({ model, ...given } as AgentOptions))).toContain(words);
  });

  test("must be an object", () => {
    expect(wordsOf(() => new Agent(undefined as never))).toBe("options: an object is needed, not undefined");
  });

  test("that are valid are accepted; undefined ones count as left out", () => {
    const key = dependency("key", () => 1);
    const right: AgentOptions = {
      model,
      system: "",
      tools: [tool(echo)],
      rules: [() => false, { name: "looks_on", version: 1, verify: () => undefined }, new WithItsOwn()],
      maxSteps: 3,
      retry: null,
      clocks: { connectMs: 0, idleMs: 0.5 },
      repeats: { nudgeAt: 4, hideAt: 4, landAt: 4, exempt: [] },
      lease: { owner: "me", ttlMs: 100 },
      maxTruncations: null,
      refusals: null,
      repairs: null,
      budget: { tokens: 5, own: { tokens: 1 } },
      throwOnError: (end) => new Error(end.reason),
      context: { cap: null, trim: null, prune: null, guard: null, compaction: null, tell: [0.5] },
      settings: { reasoning: { budgetTokens: 5 }, stop: ["x"] },
      toolChoice: { tool: "echo" },
      dependencies: [key.as(2)],
      texts: { denied: () => "no" },
    };
    expect(wordsOf(() => new Agent(right))).toBe("it was taken");
    const left = Object.fromEntries(Object.keys(right).map((name) => [name, undefined]));
    expect(wordsOf(() => new Agent({ ...left, model } as AgentOptions))).toBe("it was taken");
  });
});

test("a model's own longer wait for its first byte leaves the rest of its answer the usual time, too", async () => {
  const journal = memoryJournal();
  const slow = Object.assign(scripted([say("done")]), { clocks: { firstByteMs: 1_200_000 } });
  await new Agent({ model: slow, journal }).run("go", { session: "clocks" });
  const started = (await journal.read("clocks", 0)).find((record) => record.type === "run_started");
  expect(started).toMatchObject({ options: { clocks: { firstByteMs: 120_000, totalMs: 1_680_000 } } });
});

test.each([
  [undefined, 600_000],
  [{ firstByteMs: 60_000 }, 600_000],
  [{ firstByteMs: 1_200_000 }, 1_680_000],
  [{ idleMs: 900_000 }, 1_380_000],
  [{ firstByteMs: 1_200_000, totalMs: 700_000 }, 700_000],
])(
  "of clocks %j the whole answer may take %i ms: a longer wait within it does not shorten the rest",
  async (clocks, totalMs) => {
    const journal = memoryJournal();
    const given = clocks === undefined ? {} : { clocks };
    await new Agent({ model: scripted([say("done")]), journal, ...given }).run("go", { session: "clocks" });
    const started = (await journal.read("clocks", 0)).find((record) => record.type === "run_started");
    expect(started).toMatchObject({ options: { clocks: { totalMs, ...clocks } } });
  },
);

describe("a tool's options", () => {
  test.each<[Record<string, unknown>, string]>([
    [
      { permission: "maybe" },
      'tool "echo": option permission: one of allow, ask, deny is needed, not "maybe"',
    ],
    [
      { effect: "reads" },
      'tool "echo": option effect: one of read, write, idempotent is needed, not "reads"',
    ],
    [
      { timeoutMs: Number.POSITIVE_INFINITY },
      'tool "echo": option timeoutMs: a finite number of at least 0 is needed, not Infinity',
    ],
    [{ execute: undefined }, 'tool "echo": option execute: a function is needed, not undefined'],
    [{ description: undefined }, 'tool "echo": option description: a text is needed, not undefined'],
    [
      { inputSchema: null },
      'tool "echo": option inputSchema: a schema (a Standard Schema, or a JSON Schema of type object) is needed, not null',
    ],
    [{ name: undefined }, "tool without a name: option name: a text is needed, not undefined"],
  ])("%j: %s", (given, words) => {
    expect(wordsOf(() => tool({ ...echo, ...given } as never))).toContain(words);
  });
});

test("a host's own members on a tool are accepted, and sent to no model", async () => {
  const own = { _internal: { team: "search" }, strict: true };
  const asked = scripted([say("done")]);
  await new Agent({ model: asked, tools: [tool({ ...echo, ...own } as never)] }).run("go");
  const [declared] = asked.lastRequest.tools;
  expect(Object.keys(declared ?? {}).sort()).toEqual(["description", "inputSchema", "name"]);
});

describe("a sub-agent's options", () => {
  const agent = new Agent({ model });
  test.each<[Record<string, unknown>, string]>([
    [{ depth: 2 }, 'sub-agent "helper": option depth: there is no such option; did you mean maxDepth?'],
    [{ maxDepth: 0 }, 'sub-agent "helper": option maxDepth: a whole number above 0 is needed, not 0'],
    [
      { budget: {} },
      'sub-agent "helper": option budget: tokens, usd, modelCalls, agents or ms is needed, and nothing is given',
    ],
    [
      { budget: { modelCalls: 1.5 } },
      'sub-agent "helper": option budget.modelCalls: a whole number above 0 is needed, not 1.5',
    ],
    [
      { budget: { agents: 0.5 } },
      'sub-agent "helper": option budget.agents: a whole number above 0 is needed, not 0.5',
    ],
    [{ maxDepth: -1 }, 'sub-agent "helper": option maxDepth: a whole number above 0 is needed, not -1'],
    [
      { budget: { token: 5 } },
      'sub-agent "helper": option budget.token: there is no such option; did you mean tokens?',
    ],
    [
      { agent: {} },
      'sub-agent "helper": option agent: an Agent, or a function that gives one, is needed, not an object',
    ],
    [
      { agent: undefined },
      'sub-agent "helper": option agent: an Agent, or a function that gives one, is needed, not undefined',
    ],
  ])("%j: %s", (given, words) => {
    expect(wordsOf(() => subAgent({ name: "helper", description: "Helps.", agent, ...given } as never))).toBe(
      words,
    );
  });
});

describe("a rule's options", () => {
  test.each<[string, () => unknown, string]>([
    [
      "budget",
      () => budget({ token: 5 } as never),
      "budget: option token: there is no such option; did you mean tokens?",
    ],
    [
      "retry",
      () => retry({ attempt: 4 } as never),
      "retry: option attempt: there is no such option; did you mean attempts?",
    ],
    [
      "repeats",
      () => repeats({ landAt: -1 }),
      "repeats: option landAt: a whole number above 0 is needed, not -1",
    ],
  ])("%s", (_name, make, words) => {
    expect(wordsOf(make)).toBe(words);
  });
});

describe("the options of a single run", () => {
  test.each(["run", "stream", "steps"] as const)("are checked by %s", async (how) => {
    const agent = new Agent({ model });
    const given = { maxSteps: 5 } as RunOverrides;
    const running = how === "run" ? agent.run("go", given) : agent[how]("go", given).result;
    await expect(running).rejects.toThrow(
      "option maxSteps: it is an option of the agent, not of one run: new Agent({ maxSteps })",
    );
  });
});
