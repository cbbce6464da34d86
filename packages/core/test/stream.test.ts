// A stream's reader may be slow: what waits for it is bounded by the transcript, and nothing of it is lost or out of order.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  Agent,
  type AssistantMessage,
  type Journal,
  type Model,
  type ModelEvent,
  memoryJournal,
  type RondoEvent,
  tool,
} from "@rondo/core";
import { call, fail, say, scripted, stall, think } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo, quick } from "./support.ts";

const origin = { api: "test", provider: "test", model: "test" };

/** A model that says all of this at once, before anybody can read. */
function saying(events: readonly ModelEvent[]): Model {
  return {
    id: "test",
    origin,
    async call(_request, { emit }) {
      for (const event of events) emit(event);
      const text = events.map((event) => (event.type === "text_delta" ? event.text : "")).join("");
      return answer(text);
    },
  };
}

const answer = (text: string): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text }],
  origin,
  stop: { kind: "end_turn", wire: "end_turn" },
});

const texts = (count: number, index = 0): ModelEvent[] =>
  Array.from({ length: count }, (_, at) => ({ type: "text_delta", index, text: `${index}.${at} ` }));

/** All events, read once everything has been said. */
async function readLate(events: readonly ModelEvent[]): Promise<RondoEvent[]> {
  const stream = new Agent({ model: saying(events) }).stream("go");
  await stream.result;
  const heard: RondoEvent[] = [];
  for await (const event of stream) heard.push(event);
  return heard;
}

const textOf = (heard: readonly RondoEvent[]): string =>
  heard.map((event) => (event.type === "text_delta" ? event.text : "")).join("");

const joined = async (stream: AsyncIterable<string>): Promise<string[]> => {
  const pieces: string[] = [];
  for await (const piece of stream) pieces.push(piece);
  return pieces;
};

describe("the text stream", () => {
  test("has the text of all answers as it arrives, and nothing else", async () => {
    const model = scripted([
      [think("hmm"), say("Let me look. "), call("look")],
      [say("It is "), say("fine.")],
    ]);
    const stream = new Agent({ model, tools: [echo("look")] }).stream("go");
    const pieces = await joined(stream.textStream);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.join("")).toBe("Let me look. It is fine.");
    expect((await stream.result).text).toBe("It is fine.");
  });

  test("has an answer without deltas in one piece", async () => {
    const silent: Model = { ...saying([]), call: async () => answer("At once.") };
    expect(await joined(new Agent({ model: silent }).stream("go").textStream)).toEqual(["At once."]);
  });

  test("has such an answer after one that broke off, too", async () => {
    const breaking = scripted([[say("Half a"), fail("server_error")]]);
    const silent: Model = { ...saying([]), call: async () => answer("At once.") };
    const agent = new Agent({ model: breaking, fallback: [silent], retry: null });
    expect((await joined(agent.stream("go").textStream)).join("")).toBe("Half aAt once.");
  });

  test("ends with an answer without text, and if the run fails", async () => {
    expect(await joined(new Agent({ model: saying([]) }).stream("go").textStream)).toEqual([]);
    const failing = new Agent({ model: scripted([fail("auth")]), retry: null });
    expect(await joined(failing.stream("go").textStream)).toEqual([]);
  });

  test("of a run that never began rejects, like its events", async () => {
    const stream = new Agent({ model: saying([]) }).stream(5 as never);
    await expect(joined(stream.textStream)).rejects.toThrow("the task is 5");
  });

  test("aborts the run if its reader stops", async () => {
    const held = stall({ afterText: "One" });
    const stream = new Agent({ model: scripted([held]) }).stream("go");
    for await (const piece of stream.textStream) {
      expect(piece).toBe("One");
      break;
    }
    await expect(stream.result).rejects.toThrow("the reader broke off");
  });

  test("aborts the run at once if its reader stops while nothing comes", async () => {
    const held = stall();
    const stream = new Agent({ model: scripted([held]) }).stream("go");
    const texts = stream.textStream[Symbol.asyncIterator]();
    const next = texts.next();
    await held.reached;
    await texts.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
    await expect(stream.result).rejects.toThrow("the reader broke off");
  });
});

test("a stream ends after the run's end, even if an abandoned tool still reports something", async () => {
  const kept = memoryJournal();
  const written = deferred();
  const slowToEnd: Journal = {
    ...kept,
    append(session, expectedSeq, records) {
      kept.append(session, expectedSeq, records);
      return records.some(({ type }) => type === "run_ended") ? written.promise : undefined;
    },
  };
  const work = deferred();
  const tools = [echo("work", { effect: "write", execute: () => work.promise })];
  const agent = new Agent({ ...quick, model: scripted([call("work")]), tools, journal: slowToEnd });
  const stream = agent.stream("go");
  const heard: string[] = [];
  for await (const { type } of stream) {
    heard.push(type);
    if (type === "tool_start") stream.abort("enough");
    if (type === "run_end") work.reject(new Error("too late", { cause: new Error("deaf") }));
    if (type === "warning") written.resolve();
  }
  expect(heard.slice(-3)).toEqual(["run_end", "warning", "warning"]);
  await expect(stream.result).rejects.toThrow("enough");
});

describe("a second reader of one stream", () => {
  const words = /^this run is iterated already, or was: .* onEvent/;

  test("is refused, because each of the two would miss what the other one gets", async () => {
    const stream = new Agent({ model: scripted([say("One, two, three.", { chunk: 3 })]) }).stream("go");
    const text: string[] = [];
    for await (const piece of stream.textStream) {
      expect(() => stream[Symbol.asyncIterator]()).toThrow(words);
      expect(() => stream.textStream[Symbol.asyncIterator]()).toThrow(words);
      text.push(piece);
    }
    expect(text.join("")).toBe("One, two, three.");
    expect(() => stream.textStream[Symbol.asyncIterator]()).toThrow(words);
    expect((await stream.result).text).toBe("One, two, three.");
  });

  test("is refused for its typed output and for its steps too", async () => {
    const agent = new Agent({
      model: scripted([say('{"a":1}')], { repeatLast: true }),
      output: { type: "object" },
    });
    const stream = agent.stream("go");
    for await (const _ of stream.partialOutput)
      expect(() => stream.partialOutput[Symbol.asyncIterator]()).toThrow(words);
    const steps = agent.steps("go");
    for await (const _ of steps) expect(() => steps[Symbol.asyncIterator]()).toThrow(words);
    expect((await steps.result).output).toEqual({ a: 1 });
  });

  test("may read the typed output besides the events", async () => {
    const model = scripted([say('{"a":1}', { chunk: 2 })]);
    const stream = new Agent({ model, output: { type: "object" } }).stream("go");
    let last: unknown;
    const partial = (async () => {
      for await (const value of stream.partialOutput) last = value;
    })();
    let text = "";
    for await (const piece of stream.textStream) text += piece;
    await partial;
    expect([text, last]).toEqual(['{"a":1}', { a: 1 }]);
  });
});

describe("a slow reader", () => {
  test("gets every delta in order, and not more events than wait separately", async () => {
    const said = texts(20_000);
    const heard = await readLate(said);
    expect(textOf(heard)).toBe(said.map((event) => (event.type === "text_delta" ? event.text : "")).join(""));
    expect(heard.length).toBeLessThan(1_100);
    expect(heard.at(-1)?.type).toBe("run_end");
  });

  test("gets few events one by one", async () => {
    const heard = await readLate(texts(100));
    expect(heard.filter(({ type }) => type === "text_delta")).toHaveLength(100);
  });

  test("gets parts, kinds and calls separately, in their order", async () => {
    const mixed: ModelEvent[] = [
      ...texts(2_000),
      ...texts(10, 1),
      { type: "reasoning_delta", index: 1, text: "hm " },
      { type: "reasoning_delta", index: 1, text: "so" },
      ...["{", "}"].map(
        (delta): ModelEvent => ({ type: "tool_args_delta", index: 2, id: "a", name: "x", delta }),
      ),
      ...["[", "]"].map(
        (delta): ModelEvent => ({ type: "tool_args_delta", index: 3, id: "b", name: "x", delta }),
      ),
      ...texts(2),
    ];
    const heard = (await readLate(mixed)).flatMap((event) => {
      if (event.type === "text_delta" || event.type === "reasoning_delta")
        return [`${event.type} ${event.index} ${event.text}`];
      return event.type === "tool_args_delta" ? [`${event.id} ${event.delta}`] : [];
    });
    expect(heard.slice(-5)).toEqual([
      `text_delta 1 ${texts(10, 1)
        .map((event) => (event.type === "text_delta" ? event.text : ""))
        .join("")}`,
      "reasoning_delta 1 hm so",
      "a {}",
      "b []",
      "text_delta 0 0.0 0.1 ",
    ]);
  });
});

describe("a reader who keeps no events", () => {
  test("lets pulled events be garbage collected while the stream continues", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const stream = new Agent({ model: saying(texts(100)) }).stream("go");
    await stream.result;
    const reader = stream[Symbol.asyncIterator]();
    const pulled: WeakRef<RondoEvent>[] = [];
    for (let pull = 0; pull < 50; pull += 1) {
      const { value } = await reader.next();
      if (value !== undefined) pulled.push(new WeakRef(value));
    }
    // What a weak reference was asked for lives to the end of its turn.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    // The last pull's is still on the way to its reader.
    expect(pulled.slice(0, -1).filter((one) => one.deref() !== undefined)).toEqual([]);
    expect(pulled).toHaveLength(50);
  });
});

describe("a stream of what a session does", () => {
  const pay = tool({
    name: "pay",
    description: "Pays",
    inputSchema: { type: "object" },
    permission: "ask",
    execute: () => "paid",
  });

  /** A session whose run waits for the approval of `pay`. */
  async function waiting(then: ReturnType<typeof say | typeof stall>) {
    const agent = new Agent({ model: scripted([call("pay"), then]), tools: [pay], abortGraceMs: 50 });
    const session = await agent.open("bill");
    await session.send("Pay the bill.");
    return { session, id: session.pending[0]?.id ?? "" };
  }

  test("holds the rest of a run that waited, and only that", async () => {
    const { session, id } = await waiting(say("It is paid."));
    const stream = session.stream(() => session.approve(id));
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toContain("tool_end");
    expect(types.at(-1)).toBe("run_end");
    expect(types).not.toContain("run_start");
    expect((await stream.result).text).toBe("It is paid.");
    expect(stream.context()?.window).toBe(session.context().window);
  });

  test("gives its texts alone", async () => {
    const { session, id } = await waiting(say("It is paid."));
    expect((await joined(session.stream(() => session.approve(id)).textStream)).join("")).toBe("It is paid.");
  });

  test("ends with the promise of its function, and hears nothing after it", async () => {
    const session = await new Agent({ model: scripted([say("one"), say("two")]) }).open("s");
    const first = session.stream(() => session.send("1"));
    await first.result;
    await session.send("2");
    const heard: string[] = [];
    for await (const event of first) if (event.type === "text_delta") heard.push(event.text);
    expect(heard.join("")).toBe("one");
  });

  test("aborts the run if its reader leaves", async () => {
    const { session, id } = await waiting(stall());
    const stream = session.stream(() => session.approve(id));
    for await (const event of stream) if (event.type === "request") break;
    await session.settled();
    expect(session.result?.end).toMatchObject({ reason: "aborted" });
    expect(session.status).toBe("idle");
  });

  test("aborts its run also if its reader left while that waited for another to end", async () => {
    const first = stall({ ignoreSignal: true });
    const model = scripted([first, say("two")]);
    const session = await new Agent({ model, abortGraceMs: 20 }).open("s");
    session.send("1").catch(() => {});
    await first.reached;
    session.abort();
    const stream = session.stream(() => session.send("2"));
    await stream[Symbol.asyncIterator]().return?.();
    expect((await stream.result).end).toMatchObject({ reason: "aborted" });
    expect(model.requests).toHaveLength(1);
  });

  test("rejects as its function does: nothing else is told", async () => {
    const { session } = await waiting(say("no"));
    const stream = session.stream(() => session.approve("c9"));
    await expect(stream.result).rejects.toThrow('no call "c9" waits');
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow('no call "c9" waits');
  });

  test("rejects as its function does although the run before was heard to end", async () => {
    const session = await new Agent({ model: scripted([stall(), say("one")]) }).open("s");
    void session.send("1");
    session.abort();
    const stream = session.stream(async () => {
      await session.settled();
      return session.approve("c9");
    });
    const heard: string[] = [];
    const reading = (async () => {
      for await (const event of stream) heard.push(event.type);
    })();
    await expect(reading).rejects.toThrow('no call "c9" waits');
    expect(heard).toContain("run_end");
  });

  test("refuses a task, and a function that does not return what it has started", async () => {
    const { session, id } = await waiting(say("It is paid."));
    expect(() => session.stream("hello" as never)).toThrow("() => session.send(task)");
    expect(() => session.stream(undefined as never)).toThrow("stream: option act: a function is needed");
    const forgotten = session.stream((() => void session.approve(id)) as never);
    await expect(forgotten.result).rejects.toThrow(
      "stream: the function returned nothing, and not the promise",
    );
    await session.settled();
  });
});
