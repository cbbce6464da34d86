// What is said while something else is under way: no word of it is passed over, and no answer is taken for another's.

import {
  Agent,
  budget,
  type HookContext,
  type Hooks,
  type Message,
  type Session,
  textOf,
  userText,
} from "@rondo/core";
import { call, hold, say, scripted, stop } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo, jumpingClock, shortly } from "./support.ts";

/** A question to somebody's code that waits, the first time it is asked, until the test answers it. */
function question(): { asked: Promise<void>; answer(): void; ask(): Promise<void>; times: number } {
  const asked = deferred();
  const answered = deferred();
  return {
    asked: asked.promise,
    answer: answered.resolve,
    times: 0,
    async ask() {
      this.times += 1;
      asked.resolve();
      await answered.promise;
    },
  };
}

/** Until all that could go on has gone on. */
const come = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe("a listener that gets a result's event", () => {
  const dones = [call("look"), say("done")];
  const tools = [echo("look")];

  test("can send a message that the very next request has", async () => {
    const session = await new Agent({ model: scripted(dones), tools }).open("s");
    session.subscribe((event) => {
      if (event.type === "tool_end") session.steer("look closer");
    });
    expect(shortly((await session.send("go")).messages)).toEqual([
      "user: go",
      "assistant: look()",
      "tool: look ran",
      "user: look closer",
      "assistant: done",
    ]);
  });

  test("can withdraw a message that was not delivered then", async () => {
    const held = hold(call("look"));
    const session = await new Agent({ model: scripted([held, say("done")]), tools }).open("s");
    const did: Promise<boolean>[] = [];
    session.subscribe((event) => {
      if (event.type === "tool_end") did.push(session.withdraw("w"));
    });
    const running = session.send("go");
    await held.reached;
    session.steer("look closer", "w");
    held.release();
    expect(shortly((await running).messages)).toEqual([
      "user: go",
      "assistant: look()",
      "tool: look ran",
      "assistant: done",
    ]);
    expect(await Promise.all(did)).toEqual([true]);
  });
});

describe("what transformContext made of the conversation", () => {
  const known = (messages: readonly Message[]): Message[] => [userText("know this"), ...messages];
  const asking = (transformContext: NonNullable<Hooks["transformContext"]>): Hooks => ({ transformContext });

  test("is not used for one with one message more: the hook is asked again, and the model reads the message", async () => {
    const asks = question();
    const model = scripted([say("done")]);
    const hooks = asking(async (messages) => {
      await asks.ask();
      return known(messages);
    });
    const session = await new Agent({ model, hooks }).open("s");
    const running = session.send("go");
    await asks.asked;
    session.steer("and this");
    await come();
    asks.answer();
    expect((await running).text).toBe("done");
    expect(model.requests[0]?.messages.map((one) => textOf(one))).toEqual(["know this", "go", "and this"]);
    expect(asks.times).toBe(2);
    expect((await session.replay()).requests.every(({ same }) => same)).toBe(true);
  });

  test("is not used for one with the beginning of a paused answer: its continuation is requested with it", async () => {
    const model = scripted([[say("Searching"), stop("pause")], say(" Found.")]);
    const { text } = await new Agent({ model, hooks: asking(known) }).run("go");
    expect(text).toBe("Searching Found.");
    expect(shortly(model.requests[1]?.messages ?? [])).toEqual([
      "user: know this",
      "user: go",
      "assistant: Searching",
    ]);
  });
});

describe("the result of an output's check", () => {
  const checking = (check: () => Promise<void>): object => ({
    "~standard": {
      version: 1,
      vendor: "own",
      validate: async (value: unknown) => {
        await check();
        return { value };
      },
      jsonSchema: { input: () => ({ type: "object", properties: { n: { type: "integer" } } }) },
    },
  });
  const said = async (session: Session, asks: ReturnType<typeof question>): Promise<unknown> => {
    const running = session.send("go");
    await asks.asked;
    session.steer("not that one");
    await come();
    asks.answer();
    const { text, output } = await running;
    return [text, output];
  };

  test("is not used for a later answer", async () => {
    const asks = question();
    const held = hold(say('{"n":2}'));
    const model = scripted([say('{"n":1}'), held]);
    const session = await new Agent({ model, output: checking(() => asks.ask()) as never }).open("s");
    const running = said(session, asks);
    await held.reached;
    await come();
    held.release();
    expect(await running).toEqual(['{"n":2}', { n: 2 }]);
    expect(asks.times).toBe(2);
  });

  test("is not used either if that answer was there before it", async () => {
    const asks = question();
    const model = scripted([say('{"n":1}'), say('{"n":2}')]);
    const session = await new Agent({ model, output: checking(() => asks.ask()) as never }).open("s");
    expect(await said(session, asks)).toEqual(['{"n":2}', { n: 2 }]);
  });
});

test("work that onFinish returns when the run has continued is done when it would end again, and reported as the hook's", async () => {
  const asks = question();
  const held = hold(say("and more"));
  const model = scripted([say("done"), held, say("checked")]);
  const onFinish = async (): Promise<string> => {
    await asks.ask();
    return "check your work";
  };
  const session = await new Agent({ model, hooks: { onFinish } }).open("s");
  const delivered: unknown[] = [];
  session.subscribe((event) => {
    if (event.type !== "message_delivered") return;
    const { lane, hook, message } = event;
    delivered.push([lane, hook, textOf(message)]);
  });
  const running = session.send("go");
  await asks.asked;
  session.steer("more");
  await held.reached;
  asks.answer();
  await come();
  held.release();
  expect(shortly((await running).messages)).toEqual([
    "user: go",
    "assistant: done",
    "user: more",
    "assistant: and more",
    "user: check your work",
    "assistant: checked",
  ]);
  expect(asks.times).toBe(1);
  expect(delivered).toEqual([
    ["steer", undefined, "more"],
    ["follow_up", "onFinish", "check your work"],
  ]);
});

describe("a hook whose deadline has passed", () => {
  const landing = async (hooks: Hooks, asked: Promise<void>, answer: () => void): Promise<unknown> => {
    const clock = jumpingClock(0);
    const held = hold(say("so far"));
    const model = scripted((request) => (request.toolChoice === "none" ? held : call("look")));
    const tools = [echo("look", { effect: "write" })];
    const session = await new Agent({ model, tools, hooks, rules: [budget({ ms: 20 })], clock }).open("s");
    const running = session.send("go");
    await asked;
    await held.reached;
    answer();
    await come();
    held.release();
    const { end, text } = await running;
    return [end?.reason, end?.landed, text];
  };
  const landed = ["deadline", true, "so far"];

  test("has no effect on the step of a landing: prepareStep that fails, or stops the run", async () => {
    const asks = question();
    const failing = { prepareStep: () => asks.ask().then(() => Promise.reject(new Error("boom"))) };
    expect(await landing(failing, asks.asked, asks.answer)).toEqual(landed);
    const other = question();
    const stopping = { prepareStep: () => other.ask().then(() => ({ stop: "no" })) };
    expect(await landing(stopping, other.asked, other.answer)).toEqual(landed);
  });

  test("has no effect on the end of the run: permission that stops it for a call that was skipped", async () => {
    const asks = question();
    const permission = (): Promise<"stop"> => asks.ask().then(() => "stop");
    expect(await landing({ permission }, asks.asked, asks.answer)).toEqual(landed);
  });

  test.each(["prepareStep", "permission", "beforeTool"] as const)("gets its signal: %s", async (name) => {
    const asks = question();
    const signals: AbortSignal[] = [];
    const hook = async (_about: unknown, { signal }: HookContext): Promise<undefined> => {
      signals.push(signal);
      await asks.ask();
    };
    const told: unknown[] = [];
    await landing({ [name]: hook }, asks.asked, () => {
      told.push(...signals.map(({ aborted, reason }) => aborted && (reason as Error).message));
      asks.answer();
    });
    expect(told).toEqual(["no longer wanted: deadline"]);
  });
});

describe("a caller who joins a run that is driven", () => {
  const joined = async (
    join: (session: Session, signal: AbortSignal) => Promise<unknown>,
  ): Promise<unknown> => {
    const held = hold(say("done"));
    const session = await new Agent({ model: scripted([held, say("again")]) }).open("s");
    const running = session.send("go");
    await held.reached;
    const mine = new AbortController();
    const joining = join(session, mine.signal);
    mine.abort("enough");
    held.release();
    await joining;
    const { end } = await running;
    // Of the runs to come it is not said.
    const { end: next } = await session.send("and now");
    return [end?.reason, end?.evidence, next?.reason];
  };
  const aborted = ["aborted", { reason: "enough" }, "completed"];

  test("ends it with the given signal: resume and compact", async () => {
    expect(await joined((session, signal) => session.resume({ signal }))).toEqual(aborted);
    expect(await joined((session, signal) => session.compact({ signal }))).toEqual(aborted);
  });

  test("ends it at once if that signal has fired already", async () => {
    const over = AbortSignal.abort("enough");
    expect(await joined((session) => session.resume({ signal: over }))).toEqual(aborted);
  });

  test("leaves no listener on a signal that outlives the run", async () => {
    const held = hold(say("done"));
    const session = await new Agent({ model: scripted([held]) }).open("s");
    const running = session.send("go");
    await held.reached;
    const { signal } = new AbortController();
    const counts = { addEventListener: 0, removeEventListener: 0 };
    for (const name of ["addEventListener", "removeEventListener"] as const)
      signal[name] = () => {
        counts[name] += 1;
      };
    const joining = session.resume({ signal });
    held.release();
    await Promise.all([joining, running]);
    expect(counts).toEqual({ addEventListener: 1, removeEventListener: 1 });
  });
});

test("a deadline that passes while nobody pulls a step lands the run: no request is sent in vain", async () => {
  const model = scripted([call("look"), say("so far")]);
  const rules = [budget({ ms: 20 })];
  const agent = new Agent({ model, tools: [echo("look")], rules, clock: jumpingClock(0) });
  const steps = agent.steps("go");
  const reader = steps[Symbol.asyncIterator]();
  expect([(await reader.next()).value?.type, (await reader.next()).value?.type]).toEqual([
    "tool_call",
    "tool_result",
  ]);
  await come();
  await come();
  expect(model.calls).toBe(1);
  expect((await reader.next()).value).toMatchObject({ type: "final_response", text: "so far" });
  expect((await steps.result).end).toMatchObject({ reason: "deadline", landed: true });
  expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(["auto", "none"]);
});
