// What is heard of a run, in each of its forms, adds up to what it was: whatever the model answers, however its stream is cut into
// pieces or breaks, whoever retries, falls back, asks again or aborts, and at whatever moment.

import { Agent, type AgentOptions, memoryJournal, type RondoEvent, type Tool, tool } from "@rondo/core";
import { agentEvents } from "@rondo/core/presets";
import {
  badArgs,
  call,
  cut,
  empty,
  fail,
  refuse,
  say,
  scripted,
  stop,
  type Turn,
  think,
} from "@rondo/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hastyClock } from "./programs/gates.ts";
import { Heard } from "./programs/heard.ts";

const answers = {
  text: (n: number) => say(`answer ${n}`),
  "a thought": (n: number) => [think("hm"), say(`answer ${n}`)],
  look: (n: number) => [say(`I look ${n}. `), call("look", { n })],
  two: (n: number) => [call("look", { n }), say("and"), call("save", { n })],
  boom: (n: number) => call("boom", { n }),
  done: (n: number) => call("done", { n }),
  unknown: (n: number) => call("nobody", { n }),
  bad: () => [say("so"), badArgs("look", '{"n": 1')],
  misfit: () => call("look", { n: "one" }),
  empty: () => empty(),
  refuse: () => refuse("I will not."),
  truncated: (n: number) => [say(`long ${n}`), stop("max_tokens")],
  "truncated call": (n: number) => [call("look", { n }), stop("max_tokens")],
  paused: (n: number) => [say(`pause ${n}`), stop("pause")],
  filtered: () => [say("some"), stop("content_filter")],
  odd: () => [say("some"), stop("unknown", { raw: "odd" })],
  overloaded: () => fail("overloaded"),
  auth: () => fail("auth"),
  broken: (n: number) => [say(`I be ${n}`), fail("stream_truncated")],
  "broken call": (n: number) => [call("look", { n }), fail("stream_truncated")],
  "cut off": (n: number) => [say(`I be ${n}`), cut()],
  same: () => call("look", { n: 1 }),
  overflow: () => fail("context_overflow"),
} satisfies Record<string, (n: number) => Turn>;
type Answer = keyof typeof answers;

interface Trial {
  answers: Answer[];
  chunk: number;
  options: Pick<
    AgentOptions,
    "toolOrder" | "maxSteps" | "onLimit" | "onTruncated" | "retry" | "autoExecuteTools"
  >;
  fallsBack: boolean;
  typed: boolean;
  /** After which event it is aborted; beyond the last: never. */
  abortAt: number;
}

const anyTrial: fc.Arbitrary<Trial> = fc.record({
  answers: fc.array(fc.constantFrom(...(Object.keys(answers) as Answer[])), { minLength: 1, maxLength: 7 }),
  chunk: fc.constantFrom(1, 3, 100),
  options: fc.record({
    toolOrder: fc.constantFrom("by_effect", "sequential", "parallel"),
    maxSteps: fc.constantFrom(1, 2, 5),
    onLimit: fc.constantFrom("land", "error", "refuse_tools", "stop"),
    onTruncated: fc.constantFrom("fail_calls", "run_complete", "ignore_calls"),
    retry: fc.constantFrom(null, { attempts: 2 }),
  }),
  fallsBack: fc.boolean(),
  typed: fc.boolean(),
  abortAt: fc.oneof(fc.constant(1000), fc.nat(40)),
});

function tools(): Tool[] {
  const schema = { type: "object", properties: { n: { type: "number" } } } as const;
  const make = (name: string, effect: "read" | "write", execute: () => unknown): Tool =>
    tool({ name, description: name, inputSchema: schema, effect, execute });
  return [
    make("look", "read", () => "seen"),
    make("save", "write", () => "saved"),
    make("boom", "read", () => {
      throw new Error("boom");
    }),
  ];
}

function agentOf({ answers: list, chunk, options, fallsBack, typed }: Trial): Agent {
  let number = 0;
  const model = (id: string): ReturnType<typeof scripted> =>
    scripted(
      () => {
        const n = number++;
        return n < 14 ? answers[list[n % list.length] ?? "text"](n) : say(`the last ${n}`);
      },
      { id, chunk },
    );
  return new Agent({
    model: model("one"),
    ...(fallsBack ? { fallback: [model("two")] } : {}),
    tools: tools(),
    ...options,
    ...(typed ? { output: { type: "object", properties: { n: { type: "number" } } } } : {}),
    journal: memoryJournal(),
    clock: hastyClock(),
  } as AgentOptions);
}

async function play(trial: Trial): Promise<void> {
  const agent = agentOf(trial);
  const session = await agent.open("s");
  const heard = new Heard();
  const events: RondoEvent[] = [];
  session.subscribe((event) => {
    heard.hear(event);
    events.push(event);
    if (events.length === trial.abortAt) session.abort("enough");
  });
  const streamed: RondoEvent[] = [];
  const stream = session.stream(() => session.send("go"));
  for await (const event of stream) streamed.push(event);
  const { end, messages, text } = await stream.result;
  expect(heard.all).toEqual([]);
  expect(streamed).toEqual(events);
  const ended = events.findLast(({ type }) => type === "run_end");
  expect(ended).toMatchObject({ end, text });
  const told = heard.messages.map(({ content }) => content);
  const kept = messages.flatMap((message) =>
    message.role === "assistant" && !["aborted", "error"].includes(message.stop.kind)
      ? [message.content]
      : [],
  );
  expect(
    kept
      .map((content) => JSON.stringify(content))
      .filter((one) => !told.some((other) => JSON.stringify(other) === one)),
  ).toEqual([]);
  const ends = new Map(
    events.flatMap((event) => (event.type === "tool_end" ? [[event.call.id, event.content]] : [])),
  );
  for (const message of messages)
    if (message.role === "tool") expect(ends.get(message.callId)).toEqual(message.content);
}

async function playViews(trial: Trial): Promise<void> {
  const controller = new AbortController();
  const stream = agentOf(trial).stream("go", { signal: controller.signal });
  let count = 0;
  const texts: string[] = [];
  const started: string[] = [];
  const completed: string[] = [];
  const called: string[] = [];
  const results: string[] = [];
  let final: string | undefined;
  let failure: unknown;
  const counted = async function* (): AsyncGenerator<RondoEvent> {
    for await (const event of stream) {
      if (++count === trial.abortAt) controller.abort();
      yield event;
    }
  };
  try {
    for await (const event of agentEvents(counted())) {
      expect(final).toBeUndefined();
      if (event.type === "text") texts.push(event.content);
      if (event.type === "step_start") started.push(event.step_id);
      if (event.type === "step_complete") completed.push(event.step_id);
      if (event.type === "tool_call") called.push(event.tool_call_id);
      if (event.type === "tool_result") results.push(event.tool_call_id);
      if (event.type === "final") final = event.content;
    }
  } catch (thrown) {
    failure = thrown;
  }
  const result = await stream.result.catch((thrown: unknown) => thrown as Error);
  if (failure === undefined && !(result instanceof Error))
    expect(result.text.trim().endsWith(final?.trim() ?? "nothing")).toBe(true);
  if (failure === undefined) {
    expect(completed.toSorted()).toEqual(started.toSorted());
    expect(results.toSorted()).toEqual(called.toSorted());
    expect(new Set(called).size).toBe(called.length);
  }
  if (result instanceof Error) expect(failure).toBeDefined();
  else if (result.end?.error === undefined) expect(failure).toBeUndefined();
}

const runs = { numRuns: 150 };

test("events add up to the conversation, and to the run's end", async () => {
  await fc.assert(fc.asyncProperty(anyTrial, play), runs);
}, 60_000);
test("agent events are in pairs, and end with the final text or with why there is none", async () => {
  await fc.assert(fc.asyncProperty(anyTrial, playViews), runs);
}, 60_000);
