// P5 and P6 end to end: aborts settle within their bound, whatever ignores its signal; nothing rejects unheard.

import {
  Agent,
  isPaired,
  type Journal,
  type Lease,
  memoryJournal,
  RondoError,
  type RondoEvent,
  type Session,
} from "@rondo/core";
import { steerable } from "@rondo/core/presets";
import { call, calls, fail, hold, say, scripted, stall, stop } from "@rondo/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deferred, echo, jumpingClock, quick, shortly } from "./support.ts";

const unheard: unknown[] = [];
const hear = (reason: unknown): void => void unheard.push(reason);
beforeAll(() => void process.on("unhandledRejection", hear));
afterAll(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", hear);
  expect(unheard).toEqual([]);
});

describe("an abort", () => {
  test("X22 rejects run with an AbortError, whatever reason it was given", async () => {
    for (const reason of ["user", new Error("user"), undefined, 42]) {
      const controller = new AbortController();
      const model = scripted([stall()]);
      const running = new Agent({ model, ...quick }).run("go", {
        signal: controller.signal,
        onEvent: (event) => event.type === "request" && controller.abort(reason),
      });
      await expect(running).rejects.toMatchObject({ name: "AbortError", kind: "aborted" });
      await expect(running).rejects.toBeInstanceOf(RondoError);
    }
  });

  test("before the start calls no model", async () => {
    const model = scripted([say("never")]);
    await expect(new Agent({ model }).run("go", { signal: AbortSignal.abort() })).rejects.toThrow(/aborted/);
    expect(model.calls).toBe(0);
  });

  test("settles within the grace even if the stream ignores its signal", async () => {
    const session = await new Agent({
      model: scripted([stall({ afterText: "Hel", ignoreSignal: true })]),
      ...quick,
    }).open("s");
    const running = session.send("go");
    session.subscribe((event) => event.type === "text_delta" && session.abort("enough"));
    const { end, steps } = await running;
    expect(end).toMatchObject({ reason: "aborted", rule: "abort", evidence: { reason: "enough" } });
    expect(steps).toBe(0);
  });

  test("keeps the text that had arrived, but no half call", async () => {
    const session = await new Agent({
      model: scripted([stall({ afterText: "Let me" })]),
      tools: [echo("look")],
      ...quick,
    }).open("s");
    session.subscribe((event) => event.type === "text_delta" && session.abort());
    const { messages, text } = await session.send("go");
    expect(shortly(messages)).toEqual(["user: go", "assistant: Let me"]);
    expect(text).toBe("Let me");
  });

  test("settles even if a tool ignores its signal, gives every call a result, and says which outcomes are unknown", async () => {
    const started = deferred();
    const never = echo("never", {
      effect: "write",
      execute: () => {
        started.resolve();
        return new Promise(() => {});
      },
    });
    const session = await new Agent({
      model: scripted([calls([["never"], ["look"]])]),
      tools: [never, echo("look")],
      ...quick,
    }).open("s");
    const running = session.send("go");
    await started.promise;
    session.abort();
    const { end, messages } = await running;
    expect(end?.reason).toBe("aborted");
    expect(isPaired(messages)).toBe(true);
    expect(shortly(messages).slice(2)).toEqual([
      "tool: never was aborted before it finished; whether it had an effect is unknown.",
      "tool: look was not executed.",
    ]);
  });

  test("reaches the tool that listens", async () => {
    const stopped = deferred<unknown>();
    const started = deferred();
    const obedient = echo("obedient", {
      execute: (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            stopped.resolve(signal.reason);
            reject(signal.reason);
          });
          started.resolve();
        }),
    });
    const session = await new Agent({
      model: scripted([call("obedient")]),
      tools: [obedient],
      ...quick,
    }).open("s");
    const running = session.send("go");
    await started.promise;
    session.abort("stop it");
    await running;
    expect(String(await stopped.promise)).toContain("stop it");
  });

  test("does not wait for a read-only tool that never looked at its signal", async () => {
    const started = deferred();
    const release = deferred<string>();
    const deaf = echo("deaf", {
      effect: "read",
      execute: () => {
        started.resolve();
        return release.promise;
      },
    });
    const model = scripted([call("deaf"), say("Gone on.")]);
    const session = await new Agent({ model, tools: [deaf], abortGraceMs: 3_600_000 }).open("s");
    const running = session.send("go");
    await started.promise;
    session.abort();
    const { end, messages } = await running;
    expect(end?.reason).toBe("aborted");
    expect(messages.at(-1)).toMatchObject({ role: "tool", isError: true });
    // What it comes to in the end is nobody's any more.
    release.resolve("late");
    expect((await session.send("again")).text).toBe("Gone on.");
    expect(JSON.stringify(session.messages)).not.toContain("late");
    expect(isPaired(session.messages)).toBe(true);
  });

  test("waits for an idempotent tool as for a tool that changes something", async () => {
    const started = deferred();
    const release = deferred<string>();
    const put = echo("put", {
      effect: "idempotent",
      execute: () => {
        started.resolve();
        return release.promise;
      },
    });
    const model = scripted([call("put"), say("never")]);
    const session = await new Agent({ model, tools: [put], abortGraceMs: 3_600_000 }).open("s");
    const running = session.send("go");
    await started.promise;
    session.abort();
    release.resolve("it is done");
    const { end, messages } = await running;
    expect(end?.reason).toBe("aborted");
    expect(shortly(messages).at(-1)).toBe("tool: it is done");
  });

  test("cuts a retry's wait short", async () => {
    const model = scripted([fail("overloaded")], { repeatLast: true });
    const session = await new Agent({ model, retry: { baseMs: 1_000_000, capMs: 1_000_000 } }).open("s");
    session.subscribe((event) => event.type === "retry" && session.abort());
    expect((await session.send("go")).end?.reason).toBe("aborted");
    expect(model.calls).toBe(1);
  });

  test("starts nothing afterwards: an answer that arrives with it runs no tool", async () => {
    let ran = 0;
    const held = hold(call("look"));
    const session = await new Agent({
      model: scripted([held], { ignoreSignal: true }),
      tools: [echo("look", { execute: () => (ran += 1) })],
      ...quick,
      abortGraceMs: 5_000,
    }).open("s");
    const running = session.send("go");
    await held.reached;
    session.abort();
    held.release();
    const { end, messages } = await running;
    expect([ran, end?.reason]).toEqual([0, "aborted"]);
    expect(isPaired(messages)).toBe(true);
  });

  test("leaves queued messages queued, and the session usable", async () => {
    const held = hold(say("first"));
    const model = scripted([held, say("second"), say("third")]);
    const session = await new Agent({ model, ...quick }).open("s");
    const running = session.send("go");
    await held.reached;
    session.steer("also this");
    session.abort();
    expect((await running).end?.reason).toBe("aborted");
    const { messages } = await session.send("again");
    expect(shortly(messages)).toContain("user: also this");
  });

  test("leaves no listener on the signal it was given", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = ((...given: Parameters<typeof add>) => {
      listeners += 1;
      add(...given);
    }) as typeof add;
    signal.removeEventListener = ((...given: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...given);
    }) as typeof remove;
    const model = scripted([...Array.from({ length: 30 }, (_, at) => call("look", { at })), say("done")]);
    await new Agent({ model, tools: [echo("look")] }).run("go", { signal });
    for await (const _event of new Agent({ model: scripted([say("x")]) }).stream("go", { signal })) {
    }
    expect(listeners).toBe(0);
  });
});

describe("a reader that breaks off", () => {
  test("aborts the run", async () => {
    const model = scripted([stall({ afterText: "on and on" })]);
    const stream = new Agent({ model, ...quick }).stream("go");
    for await (const event of stream) if (event.type === "text_delta") break;
    await expect(stream.result).rejects.toMatchObject({ kind: "aborted" });
  });

  test("of steps aborts the run", async () => {
    const model = scripted([call("look"), call("look", { a: 1 }), say("done")]);
    const steps = new Agent({ model, tools: [echo("look")], ...quick }).steps("go");
    for await (const step of steps) if (step.type === "tool_result") break;
    await expect(steps.result).rejects.toMatchObject({ kind: "aborted" });
    expect(model.calls).toBe(1);
  });

  test("who stops pulling delays neither the run nor an abort", async () => {
    const model = scripted([call("look"), say("a long answer ".repeat(500), { chunk: 1 })]);
    const stream = new Agent({ model, tools: [echo("look")], ...quick }).stream("go");
    const reader = stream[Symbol.asyncIterator]();
    await reader.next();
    expect((await stream.result).end?.reason).toBe("completed");
    // What waited was joined, and nothing of it was lost.
    let text = "";
    let events = 0;
    for (let item = await reader.next(); !item.done; item = await reader.next()) {
      events += 1;
      if (item.value.type === "text_delta") text += item.value.text;
    }
    expect(text).toBe("a long answer ".repeat(500));
    expect(events).toBeLessThan(1_100);
  });
});

describe("an answer that its provider aborted", () => {
  const script = () => scripted([[say("half of it"), stop("aborted", { detail: "the server goes down" })]]);
  const broken = { kind: "stream_error", message: "the server goes down" };

  test("is not an abort by the caller: the run resolves, and its end has the error", async () => {
    const { end, text, messages } = await new Agent({ model: script() }).run("go");
    expect(end).toMatchObject({ reason: "aborted", rule: "by_content", error: broken });
    expect([text, messages.length]).toEqual(["half of it", 1]);
    const stream = new Agent({ model: script() }).stream("go");
    expect((await stream.result).end?.reason).toBe("aborted");
  });

  test("rejects with that error if failures are to be thrown", async () => {
    const agent = new Agent({ model: script(), throwOnError: true });
    await expect(agent.run("go")).rejects.toMatchObject({ name: "RondoError", ...broken });
  });

  test("is reported as an error by the steerable preset", async () => {
    const { end } = await new Agent(steerable({ model: script() })).run("go");
    expect(end).toMatchObject({ reason: "aborted", rule: "steerable", error: broken });
  });
});

describe("a listener or hook that throws", () => {
  test("ends the run cleanly and says so", async () => {
    const session = await new Agent({
      model: scripted([call("look"), say("done")]),
      tools: [echo("look")],
      ...quick,
    }).open("s");
    session.subscribe((event) => {
      if (event.type === "tool_start") throw new Error("I broke");
    });
    const { end, messages } = await session.send("go");
    expect(end).toMatchObject({
      reason: "error",
      rule: "listener",
      error: { kind: "internal", message: "a listener failed on tool_start: I broke" },
    });
    expect(isPaired(messages)).toBe(true);
  });

  test("in a run's hook ends the run with the hook's name", async () => {
    const hooks = { prepareStep: () => Promise.reject(new Error("no")) };
    const { end } = await new Agent({ model: scripted([say("x")]), hooks }).run("go");
    expect(end).toMatchObject({
      reason: "error",
      rule: "hooks",
      error: { message: "the prepareStep hook failed: no" },
    });
  });

  test("in a permission hook denies the call, and the run continues", async () => {
    let ran = 0;
    const hooks = {
      permission: () => {
        throw new Error("no idea");
      },
    };
    const agent = new Agent({
      model: scripted([call("look"), say("done")]),
      tools: [echo("look", { execute: () => (ran += 1) })],
      hooks,
    });
    const { text, messages } = await agent.run("go");
    expect([ran, text]).toEqual([0, "done"]);
    expect(shortly(messages)[2]).toContain("Permission check failed: no idea");
  });

  test("before a step does not outlast the deadline, even if it hangs", async () => {
    const hooks = { prepareStep: () => new Promise<undefined>(() => {}) };
    const agent = new Agent({
      model: scripted([say("in short")]),
      hooks,
      clock: jumpingClock(0.5),
      budget: { ms: 5_000 },
    });
    const { end, text } = await agent.run("go");
    expect([end?.reason, end?.landed, text]).toEqual(["deadline", true, "in short"]);
  });

  test.each(["permission", "beforeTool"] as const)(
    "about a call does not outlast the deadline, even if it hangs: %s",
    async (hook) => {
      const hooks = { [hook]: () => new Promise<undefined>(() => {}) };
      const agent = new Agent({
        model: scripted([call("look"), say("in short")]),
        tools: [echo("look")],
        hooks,
        clock: jumpingClock(0.5),
        budget: { ms: 5_000 },
      });
      const { end, text, messages } = await agent.run("go");
      expect([end?.reason, end?.landed, text]).toEqual(["deadline", true, "in short"]);
      expect(shortly(messages)[2]).toContain("look");
      expect(isPaired(messages)).toBe(true);
    },
  );

  test("never delays an abort, even if it hangs", async () => {
    const hooks = { beforeTool: () => new Promise<undefined>(() => {}) };
    const session = await new Agent({
      model: scripted([call("look")]),
      tools: [echo("look")],
      hooks,
      ...quick,
    }).open("s");
    session.subscribe((event) => event.type === "message" && session.abort());
    expect((await session.send("go")).end?.reason).toBe("aborted");
  });
});

describe("a tool", () => {
  test("that throws does not cost another call its result", async () => {
    const bad = echo("bad", {
      execute: () => {
        throw new Error("broken");
      },
    });
    const late = echo("late", {
      execute: () => Promise.resolve().then(() => Promise.reject("rejected with a string")),
    });
    const { messages } = await new Agent({
      model: scripted([calls([["bad"], ["late"], ["good"]]), say("done")]),
      tools: [bad, late, echo("good")],
    }).run("go");
    expect(shortly(messages).slice(2, 5)).toEqual([
      "tool: Error: broken",
      "tool: Error: rejected with a string",
      "tool: good ran",
    ]);
  });

  test("that times out gets a result and its signal, and its late result is kept apart", async () => {
    const letGo = deferred<string>();
    const told = deferred();
    const slow = echo("slow", {
      timeoutMs: 20,
      execute: (_args, { signal, update }) => {
        signal.addEventListener("abort", () => told.resolve());
        return letGo.promise.then((text) => {
          update("too late");
          return text;
        });
      },
    });
    const held = hold(say("done"));
    const session = await new Agent({ model: scripted([call("slow"), held]), tools: [slow] }).open("s");
    const events: RondoEvent[] = [];
    session.subscribe((event) => events.push(event));
    const running = session.send("go");
    await held.reached;
    await told.promise;
    const { promise, resolve } = deferred();
    session.subscribe((event) => event.type === "warning" && resolve());
    letGo.resolve("at last");
    await promise;
    held.release();
    const { messages } = await running;
    // It only reads: nobody has to wonder whether it had an effect.
    expect(shortly(messages)[2]).toBe("tool: Error: slow timed out after 20 ms.");
    expect(events.filter((event) => event.type === "tool_end")).toHaveLength(1);
    expect(events.some((event) => event.type === "tool_update")).toBe(false);
    expect(messages.filter((message) => message.role === "tool")).toHaveLength(1);
  });

  test("that ends the run ends it with its text; the other calls get results as skipped", async () => {
    const { toolResult } = await import("@rondo/core");
    const finish = echo("finish", {
      effect: "write",
      execute: () => toolResult("ok", { done: "All done." }),
    });
    const { end, text, messages } = await new Agent({
      model: scripted([calls([["finish"], ["look"]])]),
      tools: [finish, echo("look")],
    }).run("go");
    expect([end?.reason, text]).toEqual(["done_tool", "All done."]);
    expect(shortly(messages)[3]).toContain("skipped");
  });
});

test("a listener that aborts at the first event of a run aborts that run, and nothing else is started", async () => {
  const model = scripted([say("never")]);
  const session = await new Agent({ model, ...quick }).open("s");
  const types: string[] = [];
  session.subscribe((event) => {
    types.push(event.type);
    if (event.type === "run_start") session.abort("at once");
  });
  const { end } = await session.send("go");
  expect([end?.reason, end?.evidence.reason, model.calls]).toEqual(["aborted", "at once", 0]);
  expect(types).toEqual(["run_start", "run_end"]);
  expect([session.status, (await session.send("again")).end?.reason]).toEqual(["idle", "aborted"]);
});

test("an abort while a failed journal is released does not throw at the code that fires its signal", async () => {
  const memory = memoryJournal({ leases: true });
  const failure = new RondoError("storage", "the disk is gone");
  const thrown: unknown[] = [];
  let session: Session | undefined;
  const journal: Journal = {
    ...memory,
    append: (id, seq, records, token) => {
      if (records.some(({ type }) => type === "model_started")) throw failure;
      memory.append(id, seq, records, token);
    },
    lease: (id, request) => {
      const lease = memory.lease?.(id, request) as Lease;
      const release = (): void => {
        try {
          session?.abort("enough");
        } catch (error) {
          thrown.push(error);
        }
        void lease.release();
      };
      return { token: lease.token, renew: () => lease.renew(), release };
    },
  };
  session = await new Agent({ model: scripted([say("never")]), journal, ...quick }).open("s");
  await expect(session.send("go")).rejects.toBe(failure);
  expect(thrown).toEqual([]);
  // Nothing that is said now could be kept: that is told where it can be heard.
  await expect(session.resume()).rejects.toMatchObject({ kind: "storage", cause: failure });
});
