// What comes from outside and is not as it should be: refused by name, or made harmless, and no run is lost over it.

import { Agent, type Input, type Message, memoryJournal, RondoError, type RondoEvent } from "@rondo/core";
import { badArgs, call, calls, fail, hold, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo, quick } from "../support.ts";

describe("a listener that failed", () => {
  test("has ended the run whose event it got, and gets the events of the next one again", async () => {
    const session = await new Agent({ model: scripted([say("a"), say("b")]) }).open("s");
    const stop = session.subscribe(() => {
      throw new Error("no");
    });
    expect((await session.send("one")).end?.error?.message).toBe("a listener failed on run_start: no");
    stop();
    const heard: string[] = [];
    session.subscribe((event) => heard.push(event.type));
    expect((await session.send("two")).end?.reason).toBe("completed");
    expect(heard).toContain("run_start");
    expect(heard.at(-1)).toBe("run_end");
  });

  test("gets no more events of that run; other listeners get all of them, to its end", async () => {
    const model = scripted([call("look"), say("done")]);
    const session = await new Agent({ model, tools: [echo("look")] }).open("s");
    const heard: string[][] = [[], []];
    session.subscribe(({ type }) => {
      heard[0]?.push(type);
      if (type === "tool_start") throw new Error("no");
    });
    session.subscribe(({ type }) => void heard[1]?.push(type));
    expect((await session.send("go")).end?.error?.message).toBe("a listener failed on tool_start: no");
    expect(heard.map((one) => one.at(-1))).toEqual(["tool_start", "run_end"]);
    expect(heard[1]).toContain("tool_start");
  });

  test("gets no more events if it fails later, from then on", async () => {
    const model = scripted([call("look"), say("done")]);
    const session = await new Agent({ model, tools: [echo("look")] }).open("s");
    const heard: string[] = [];
    const rejects = async ({ type }: RondoEvent): Promise<void> => {
      heard.push(type);
      if (type === "request") throw new Error("no");
    };
    session.subscribe(rejects as (event: RondoEvent) => void);
    expect((await session.send("go")).end?.error?.message).toBe("a listener failed on request: no");
    expect(heard.at(-1)).toBe("request");
  });

  test("later than the end of its run ends neither that one nor the run after it", async () => {
    const late = deferred();
    const held = hold(say("b"));
    const session = await new Agent({ model: scripted([say("a"), held]) }).open("s");
    const heard: string[] = [];
    const rejects = async ({ type }: RondoEvent): Promise<void> => {
      heard.push(type);
      if (type !== "run_end") return;
      await late.promise;
      throw new Error("no");
    };
    session.subscribe(rejects as (event: RondoEvent) => void);
    await session.send("one");
    const second = session.send("two");
    await held.reached;
    late.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    held.release();
    expect((await second).end?.reason).toBe("completed");
    expect(heard.filter((type) => type === "run_end")).toHaveLength(2);
  });

  test("later ends a run that another caller began, too", async () => {
    const journal = memoryJournal();
    const left = await new Agent({ model: scripted([hold(say("never"))]), journal }).open("s");
    const running = left.send("go");
    for await (const { type } of left.follow()) if (type === "model_started") break;
    await left.drain({ withinMs: 0 });
    await running;
    const held = hold(say("b"));
    const session = await new Agent({ model: scripted([held]), journal }).open("s");
    session.subscribe((async () => {
      throw new Error("no");
    }) as (event: RondoEvent) => void);
    const resumed = session.resume();
    await held.reached;
    await new Promise((resolve) => setImmediate(resolve));
    held.release();
    const { end } = await resumed;
    expect([end?.reason, end?.rule, end?.error?.message]).toEqual([
      "error",
      "listener",
      expect.stringContaining("a listener failed on"),
    ]);
  });

  test("may be asynchronous: its rejection ends the run, and is not an unhandled rejection", async () => {
    const unhandled: unknown[] = [];
    const hear = (thrown: unknown): void => void unhandled.push(thrown);
    process.on("unhandledRejection", hear);
    try {
      const model = scripted([call("look"), say("done")]);
      const session = await new Agent({ model, tools: [echo("look")] }).open("s");
      const rejects = async (event: RondoEvent): Promise<void> => {
        if (event.type === "tool_start" || event.type === "run_end") throw new Error("no");
      };
      session.subscribe(rejects as (event: RondoEvent) => void);
      const { end } = await session.send("go");
      await new Promise((resolve) => setImmediate(resolve));
      expect(end?.error?.message).toBe("a listener failed on tool_start: no");
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", hear);
    }
  });
});

test("a session whose journal failed in the middle of a run is interrupted, not parked", async () => {
  const inner = memoryJournal();
  let groups = 0;
  const append: typeof inner.append = (...given) => {
    groups += 1;
    if (groups === 2) throw new Error("the disk is full");
    inner.append(...given);
  };
  const agent = new Agent({
    model: scripted([call("look"), say("done")]),
    tools: [echo("look")],
    journal: { ...inner, append },
    ...quick,
  });
  const session = await agent.open("s");
  await expect(session.send("go")).rejects.toThrow("the disk is full");
  expect(session.status).toBe("interrupted");
  expect(session.pending).toEqual([]);
});

test("a hook that answers after the journal failed causes no unhandled rejection", async () => {
  const inner = memoryJournal();
  let full = false;
  const append: typeof inner.append = (...given) => {
    if (full) throw new Error("the disk is full");
    inner.append(...given);
  };
  const unhandled: unknown[] = [];
  const hear = (thrown: unknown): void => void unhandled.push(thrown);
  process.on("unhandledRejection", hear);
  try {
    const asked = deferred();
    const answer = deferred<"allow">();
    const permission = (): Promise<"allow"> => {
      asked.resolve();
      return answer.promise;
    };
    const model = scripted([call("look"), say("done")]);
    const tools = [echo("look")];
    const session = await new Agent({
      model,
      tools,
      journal: { ...inner, append },
      hooks: { permission },
    }).open("s");
    const sent = session.send("go");
    await asked.promise;
    full = true;
    session.steer("one more thing");
    await expect(sent).rejects.toThrow("the disk is full");
    answer.resolve("allow");
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  } finally {
    process.off("unhandledRejection", hear);
  }
});

test("a hook that answers late, in a session that another process has taken over, causes no unhandled rejection", async () => {
  const unhandled: unknown[] = [];
  const hear = (thrown: unknown): void => void unhandled.push(thrown);
  process.on("unhandledRejection", hear);
  try {
    const journal = memoryJournal();
    const late = deferred<"allow">();
    const script = [calls([["look"], ["skipped"]]), call("press"), say("done")];
    const tools = [echo("look"), echo("skipped"), echo("press", { permission: "ask" })];
    const agent = new Agent({
      model: scripted(script),
      tools,
      journal,
      toolOrder: "sequential",
      hooks: {
        // It hears no signal: the call it is asked about is skipped, and the run waits for somebody by then.
        permission({ name }) {
          if (name !== "skipped") return undefined;
          session.steer("Leave the rest.");
          return late.promise;
        },
      },
    });
    const session = await agent.open("s");
    expect((await session.send("go")).parked).toBeDefined();
    const other = await agent.open("s");
    await other.deny(other.pending[0]?.id ?? "");
    late.resolve("allow");
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
    // Whoever speaks in it is heard.
    session.steer("more");
    expect(journal.read("s").at(-1)?.type).toBe("queued");
  } finally {
    process.off("unhandledRejection", hear);
  }
});

describe("a task", () => {
  test.each<[string, unknown]>([
    ["an empty object", [{}]],
    ["a word", ["a"]],
    ["nothing", [null]],
    ["a text without text", [{ type: "text" }]],
    ["a file of no kind", [{ type: "file", data: "AAAA" }]],
    ["a file with nothing in it", [{ type: "file", mediaType: "image/png" }]],
    ["a file whose data is a number", [{ type: "file", mediaType: "image/png", data: 5 }]],
    [
      "a file whose data is a number beside an address",
      [{ type: "file", mediaType: "image/png", data: 5, url: "https://a.example/b.png" }],
    ],
    ["a part of an answer", [{ type: "tool_call" }]],
    [
      "a message among parts",
      [
        { type: "text", text: "a" },
        { role: "user", content: [] },
      ],
    ],
  ])("of which a part is %s is refused by its place, and nothing is written", async (_name, input) => {
    const journal = memoryJournal();
    const session = await new Agent({ model: scripted([]), journal }).open("s");
    const refused = {
      kind: "invalid_request",
      message: expect.stringMatching(/^part [01] of the message cannot be used: one is/),
    };
    await expect(session.send(input as Input)).rejects.toMatchObject(refused);
    expect(() => session.steer(input as never)).toThrow(/cannot be used/);
    expect([session.status, journal.read("s")]).toEqual(["idle", []]);
  });

  test("with empty parts is empty", async () => {
    const agent = new Agent({ model: scripted([]) });
    await expect(agent.run([{ type: "text", text: " " }])).rejects.toThrow(/the task is empty/);
  });

  test.each<Input>(["half \ud83d", [{ type: "text", text: "half \ud83d" }]])(
    "with half a character in it is made whole",
    async (input) => {
      const model = scripted([say("done")]);
      await new Agent({ model }).run(input);
      expect(model.requests[0]?.messages[0]?.content).toEqual([{ type: "text", text: "half \ufffd" }]);
    },
  );
});

describe("messages from elsewhere", () => {
  const user = (...content: unknown[]): Message => ({ role: "user", content }) as Message;
  const hi = { type: "text", text: "hi" };

  test("may have files as bytes, and a file without content is left out", async () => {
    const model = scripted([say("done")]);
    const bytes = { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2, 3]) };
    const odd = [
      { type: "file", mediaType: "image/png" },
      { type: "file", mediaType: "image/png", data: 5 },
      { type: "file", mediaType: "image/png", data: 5, url: "https://a.example/b.png" },
    ];
    await new Agent({ model }).run([user(hi, bytes, ...odd)]);
    expect(model.requests[0]?.messages[0]?.content).toEqual([hi, { ...bytes, data: "AQID" }]);
  });

  test("may have null as a file's data, and so may parts and outputs of a tool", async () => {
    const there = { type: "file" as const, mediaType: "image/png", url: "https://a.example/b.png" };
    const given = { ...there, data: null as never };
    for (const input of [[user(hi, given)], [hi, given]]) {
      const model = scripted([call("look"), say("done")]);
      const tools = [echo("look", { execute: () => [given] })];
      const { messages } = await new Agent({ model, tools }).run(input as Input);
      expect(messages[0]?.content).toStrictEqual([hi, there]);
      expect(messages[2]?.content).toStrictEqual([there]);
    }
  });

  test.each([
    { type: "file", mediaType: "image/png" },
    { type: "file", mediaType: "image/png", data: 5, url: "https://a.example/b.png" },
    { type: "image", data: 5, url: "https://a.example/b.png" },
  ])("of a tool: an object without content is no file, but data like any other: %j", async (odd) => {
    const model = scripted([call("look"), say("done")]);
    const tools = [echo("look", { execute: () => [odd] as never })];
    const { messages } = await new Agent({ model, tools }).run("go");
    expect(messages[2]?.content).toEqual([{ type: "text", text: JSON.stringify([odd]) }]);
  });

  test.each<[string, (text: { type: "text"; text: string }) => Input]>([
    ["messages", (text) => [user(text)]],
    ["parts", (text) => [text]],
  ])("are what they were when they were sent: %s", async (_name, input) => {
    const text = { type: "text" as const, text: "as sent" };
    const model = scripted([call("look"), say("done")]);
    const look = echo("look", {
      execute: () => {
        text.text = "changed";
      },
    });
    const session = await new Agent({ model, tools: [look] }).open("s");
    await session.send(input(text));
    expect(JSON.stringify(model.requests)).not.toContain("changed");
    expect((await session.replay()).requests.map((one) => one.same)).toEqual([true, true]);
  });
});

test("a call's own text, quoted to the model, is cut between characters", async () => {
  const raw = `{"a":"${"x".repeat(1993)}\u{1f600}${"y".repeat(50)}`;
  const model = scripted([badArgs("look", raw), say("done")]);
  const { messages } = await new Agent({ model, tools: [echo("look")] }).run("go");
  expect(
    messages
      .flatMap((one) => one.content)
      .filter((part) => part.type === "text")
      .every((part) => part.text.isWellFormed()),
  ).toBe(true);
  expect(JSON.stringify(messages)).toContain("characters in all");
});

test("a reason with half a character is repaired before the model gets it", async () => {
  const model = scripted([call("look"), say("done")]);
  const session = await new Agent({ model, tools: [echo("look", { permission: "ask" })] }).open("s");
  await session.send("go");
  const { messages } = await session.deny("call_1", "no \ud83d");
  expect(messages[2]?.content).toEqual([{ type: "text", text: "Permission denied: no \ufffd" }]);
});

test("a wait that is no number is ignored: the call is retried as if the provider had not asked for one", async () => {
  const error = new RondoError("rate_limit", "slow down", { retryAfterMs: Number.NaN });
  expect(error.toJSON()).toEqual({ kind: "rate_limit", message: "slow down", retryable: true });
  const model = scripted([fail("rate_limit", { retryAfterMs: Number.NaN }), say("done")]);
  const { end } = await new Agent({ model, ...quick }).run("go");
  expect(end?.reason).toBe("completed");
});

test.each<[unknown, string]>([
  ["", "empty"],
  [" ", "empty"],
  [[], "empty"],
  [undefined, "empty"],
  [[{ type: "text", text: " " }], "empty"],
  [5, "5"],
  [{ role: "user", content: "hi" }, "an object"],
  [Promise.resolve("hi"), "an object of the kind Promise"],
])("a word to a run that is none is told to be no message, not to be no task: %j", async (word, what) => {
  const session = await new Agent({ model: scripted([say("done")]) }).open("s");
  for (const lane of ["steer", "followUp"] as const)
    expect(() => session[lane](word as never)).toThrow(
      `the message is ${what}: give a text, or the parts of one message`,
    );
  expect(session.queued).toEqual([]);
});

test("messages are not accepted as a message to a run, and the session does not change", async () => {
  const session = await new Agent({ model: scripted([say("done")]) }).open("s");
  const messages = [{ role: "user", content: [{ type: "text", text: "hi" }] }];
  for (const lane of ["steer", "followUp"] as const)
    expect(() => session[lane](messages as never)).toThrow(
      /^the message is a list of messages: give a text, or the parts of one message$/,
    );
  expect((await session.send("go")).messages).toHaveLength(2);
});

test.each<[string, unknown, string]>([
  ["an error", new Error("enough"), "enough"],
  ["a number", 5, "5"],
  ["a symbol", Symbol("no"), "Symbol(no)"],
  ["null", null, "aborted"],
])("the reason of an abort may be %s", async (_name, reason, text) => {
  const session = await new Agent({ model: scripted([say("done")]) }).open("s");
  const sent = session.send("go");
  session.abort(reason as string);
  expect((await sent).end).toMatchObject({ reason: "aborted", evidence: { reason: text } });
});

test("a journal that returns something other than a promise has written", async () => {
  const inner = memoryJournal();
  const append = ((...given) => {
    inner.append(...given);
    return true;
  }) as typeof inner.append;
  const { end } = await new Agent({ model: scripted([say("done")]), journal: { ...inner, append } }).run(
    "go",
  );
  expect(end?.reason).toBe("completed");
});

test("a drain with an infinite time does not give up work in flight at once", async () => {
  const gate = deferred<string>();
  const begun = deferred();
  const look = echo("look", {
    execute: () => {
      begun.resolve();
      return gate.promise;
    },
  });
  const waits: number[] = [];
  const after = (ms: number): (() => void) => {
    waits.push(ms);
    return () => {};
  };
  const clock = { now: () => 1_700_000_000_000, random: () => 0.5, after };
  const model = scripted([call("look"), say("done")]);
  const session = await new Agent({ model, tools: [look], clock }).open("s");
  const sent = session.send("go");
  await begun.promise;
  const drained = session.drain({ withinMs: Number.POSITIVE_INFINITY });
  // Node sets a timer that is too long for it to one millisecond.
  expect(Math.max(...waits)).toBe(2 ** 31 - 1);
  gate.resolve("seen");
  expect(await drained).toBe("interrupted");
  await sent;
  expect(session.messages.at(-1)).toMatchObject({ role: "tool", content: [{ text: "seen" }] });
  await expect(session.drain({ withinMs: Number.NaN })).rejects.toThrow(
    "drain: option withinMs: a number of at least 0 is needed, not NaN",
  );
});
