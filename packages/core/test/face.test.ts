// The rest of the face: hooks, typed output, steps, streams of events, the logger, and what a step costs.

import {
  Agent,
  isPaired,
  type Logger,
  type Model,
  maxSteps,
  type RondoEvent,
  textOf,
  userText,
} from "@rondo/core";
import { call, calls, empty, fail, say, scripted, think } from "@rondo/testkit";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { memoryJournal } from "../src/journal/memory.ts";
import { Log } from "../src/loop/log.ts";
import { echo, eventsOf, quick, shortly } from "./support.ts";

describe("hooks", () => {
  test("may replace a call's arguments, which are validated again", async () => {
    const seen: unknown[] = [];
    const one = echo("one", {
      inputSchema: { type: "object", properties: { n: { type: "integer" } } },
      execute: (args) => void seen.push(args),
    });
    const hooks = {
      beforeTool: (view: { args: { n?: unknown } }) => ({ args: { n: view.args.n === 1 ? "10" : "ten" } }),
    };
    const { messages } = await new Agent({
      model: scripted([call("one", { n: 1 }), call("one", { n: 2 }), say("done")]),
      tools: [one],
      hooks: hooks as never,
    }).run("go");
    expect(seen).toEqual([{ n: 10 }]);
    expect(shortly(messages)[4]).toMatch(/do not fit/);
  });

  test("may give a result in the tool's place, and change a tool's result", async () => {
    let ran = 0;
    const one = echo("one", {
      execute: () => {
        ran += 1;
        return "secret";
      },
    });
    const before = { beforeTool: () => ({ result: "cached" }) };
    const after = { afterTool: () => ({ content: "redacted" }) };
    const script = (): ReturnType<typeof scripted> => scripted([call("one"), say("done")]);
    expect(
      shortly((await new Agent({ model: script(), tools: [one], hooks: before }).run("go")).messages)[2],
    ).toBe("tool: cached");
    expect(ran).toBe(0);
    expect(
      shortly((await new Agent({ model: script(), tools: [one], hooks: after }).run("go")).messages)[2],
    ).toBe("tool: redacted");
  });

  test("may choose model, tools and tool choice for one step", async () => {
    const second = scripted([say("from the second")], { id: "second" });
    const first = scripted([call("a")], { id: "first" });
    const hooks = {
      prepareStep: ({ step }: { step: number }) =>
        step === 1 ? { tools: ["a"], toolChoice: "any" as const } : { model: second },
    };
    const { text } = await new Agent({
      model: first,
      fallback: [second],
      tools: [echo("a"), echo("b")],
      hooks,
    }).run("go");
    expect(text).toBe("from the second");
    expect(first.requests[0]).toMatchObject({ toolChoice: "any", tools: [{ name: "a" }] });
  });

  test("may change what the model is sent without changing what is stored", async () => {
    const hooks = {
      transformContext: (messages: readonly { role: string }[]) =>
        [userText("in short"), ...messages.slice(-1)] as never,
    };
    const model = scripted([call("a"), say("done")]);
    const { messages } = await new Agent({ model, tools: [echo("a")], hooks }).run("go");
    // The answer whose call the result is of comes with it.
    expect(model.requests.map((request) => request.messages.length)).toEqual([2, 3]);
    expect(messages).toHaveLength(4);
  });

  test("may deny, ask and stop by permission", async () => {
    const answers = ["deny", { answer: "deny", reason: "never" }, "stop"] as const;
    let at = 0;
    const hooks = { permission: () => answers[at++] };
    const model = scripted([call("a", { n: 1 }), call("a", { n: 2 }), call("a", { n: 3 })]);
    const { end, messages, toolCalls } = await new Agent({ model, tools: [echo("a")], hooks }).run("go");
    expect(shortly(messages).filter((line) => line.startsWith("tool"))).toEqual([
      "tool: Permission denied.",
      "tool: Permission denied: never",
      "tool: Permission denied.",
    ]);
    expect([end?.reason, toolCalls]).toEqual(["turn_stopped", 0]);
  });
});

describe("a model of the user's own", () => {
  test("may return an answer at once, without a promise", async () => {
    const origin = { api: "mine", provider: "mine", model: "m" };
    const answer = {
      role: "assistant",
      content: [{ type: "text", text: "Hi." }],
      origin,
      stop: { kind: "end_turn", wire: "end_turn" },
    };
    const model = { id: "mine", origin, call: () => answer } as unknown as Model;
    expect((await new Agent({ model }).run("well?")).text).toBe("Hi.");
  });
});

describe("typed output", () => {
  const output = z.object({ city: z.string(), degrees: z.number() });

  test("is a value of the schema's type; without tools the schema is sent at once", async () => {
    const model = scripted([say('{"city":"Rome","degrees":21}')]);
    const result = await new Agent({ model, output }).run("weather?");
    expectTypeOf(result.output).toEqualTypeOf<{ city: string; degrees: number } | undefined>();
    expect(result.output).toEqual({ city: "Rome", degrees: 21 });
    expect(model.requests[0]?.outputSchema).toMatchObject({ type: "object" });
  });

  test("of a plain JSON Schema has only the type that it is given, not that of the schema", async () => {
    const plain = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const model = () => scripted([say('{"city":"Rome"}')]);
    const untyped = await new Agent({ model: model(), output: plain }).run("where?");
    expectTypeOf(untyped.output).toEqualTypeOf<unknown>();
    const typed = await new Agent<{ city: string }>({ model: model(), output: plain }).run("where?");
    expectTypeOf(typed.output).toEqualTypeOf<{ city: string } | undefined>();
    expect([untyped.output, typed.output?.city]).toEqual([{ city: "Rome" }, "Rome"]);
    // @ts-expect-error a schema that says its own type is held to it
    void new Agent<{ city: string }>({ model: model(), output: z.object({ degrees: z.number() }) });
  });

  test("with tools has a phase of its own: tools without schema, then schema without tools", async () => {
    const model = scripted([
      call("look"),
      say("It is warm in Rome."),
      say('```json\n{"city":"Rome","degrees":21}\n```'),
    ]);
    const { output: value, messages } = await new Agent({ model, tools: [echo("look")], output }).run(
      "weather?",
    );
    expect(value).toEqual({ city: "Rome", degrees: 21 });
    expect(model.requests.map((request) => request.outputSchema !== undefined)).toEqual([false, false, true]);
    expect(model.requests.map((request) => request.toolChoice)).toEqual(["auto", "auto", "none"]);
    expect(textOf(model.requests[2]?.messages.at(-1) as never)).toBe(
      "Please provide your final response in the required JSON format.",
    );
    expect(messages.filter((message) => message.role === "user")).toHaveLength(1);
  });

  test("that does not fit is requested again with the reason, as often as allowed, then the run ends as output_invalid", async () => {
    const model = scripted([say("nonsense")], { repeatLast: true });
    const { end, text, output: value } = await new Agent({ model, output, decodeRetries: 2 }).run("weather?");
    expect([model.calls, end?.reason, end?.evidence.attempts]).toEqual([3, "output_invalid", 3]);
    expect([text, value]).toEqual(["nonsense", undefined]);
    expect(textOf(model.requests[1]?.messages.at(-1) as never)).toMatch(
      /does not fit.*required JSON format/s,
    );
  });

  test("is found in prose, past brackets and fences inside strings, and an incomplete one is never completed", async () => {
    for (const text of [
      'Sure [1]: {"city":"a}`` ```","degrees":1} Anything else?',
      '{"city":"```js\\nfoo()\\n```","degrees":2}',
    ])
      expect((await new Agent({ model: scripted([say(text)]), output }).run("x")).end?.reason).toBe(
        "completed",
      );
    for (const text of [
      '<think>Maybe {"city":"Oslo","degrees":1}?</think>{"city":"Rome","degrees":2}',
      'A set { of things. So: {"city":"Rome","degrees":2}',
      '[see "notes] {{"city":"Rome","degrees":2}}',
    ])
      expect((await new Agent({ model: scripted([say(text)]), output }).run("x")).output).toEqual({
        city: "Rome",
        degrees: 2,
      });
    for (const [text, city] of [
      ['{"city":"Rome","degrees":2,}', "Rome"],
      ['Here:\n{\n  "city": "Ro\nme,}",\n  "degrees": 2,\n}', "Ro\nme,}"],
    ])
      expect((await new Agent({ model: scripted([say(text ?? "")]), output }).run("x")).output).toEqual({
        city,
        degrees: 2,
      });
    const inner = await new Agent({
      model: scripted([say('{"a":{"city":"Rome","degrees":2},"b":"cu')], { repeatLast: true }),
      output,
    }).run("x");
    expect(inner.end?.reason).toBe("output_invalid");
    const cut = await new Agent({
      model: scripted([say('{"city":"Ro')], { repeatLast: true }),
      output,
      decodeRetries: 0,
    }).run("x");
    expect(cut.end?.reason).toBe("output_invalid");
  });
});

describe("steps", () => {
  test("come one a pull: call, result, call, result, then the answer; the model is not called before the pull", async () => {
    const model = scripted([calls([["a"], ["b"]]), say("done")]);
    const steps = new Agent({ model, tools: [echo("a"), echo("b")] }).steps("go")[Symbol.asyncIterator]();
    const seen: string[] = [];
    for (let at = 0; at < 4; at += 1) {
      const { value } = await steps.next();
      seen.push(
        value === undefined ? "nothing" : "call" in value ? `${value.type} ${value.call.name}` : value.type,
      );
      // However long somebody looks at a step, the model is not asked meanwhile.
      await new Promise((settle) => setImmediate(settle));
      expect(model.calls).toBe(1);
    }
    expect(seen).toEqual(["tool_call a", "tool_result a", "tool_call b", "tool_result b"]);
    expect((await steps.next()).value).toMatchObject({ type: "final_response", text: "done" });
    expect((await steps.next()).done).toBe(true);
    expect(model.calls).toBe(2);
  });
});

describe("live events", () => {
  test("come in order, from the closed list, and the deltas' text is the answer's text", async () => {
    const model = scripted([
      [think("hm"), say("Looking. "), call("look")],
      say("It is there.", { chunk: 1 }),
    ]);
    const events = await eventsOf(new Agent({ model, tools: [echo("look")] }), "go");
    const types = events.map((event) => event.type).filter((type, at, all) => type !== all[at - 1]);
    expect(types).toEqual([
      "run_start",
      "step_start",
      "request",
      "reasoning_delta",
      "text_delta",
      "tool_args_delta",
      "message",
      "tool_start",
      "tool_end",
      "step_end",
      "step_start",
      "request",
      "text_delta",
      "message",
      "step_end",
      "run_end",
    ]);
    const heard = events
      .flatMap((event) => (event.type === "text_delta" && event.step === 2 ? [event.text] : []))
      .join("");
    expect(heard).toBe("It is there.");
  });

  test("say what changed the request's prefix, and say nothing while it only grows", async () => {
    const broke = async (options: object): Promise<(string | undefined)[]> => {
      const model = scripted((request, number) =>
        number < 6 && request.toolChoice !== "none" ? call("look") : say("done"),
      );
      const events = await eventsOf(new Agent({ model, tools: [echo("look")], ...options }), "go");
      return events.flatMap((event) => (event.type === "request" ? [event.broke] : []));
    };
    expect(await broke({ repeats: null, maxSteps: 10 })).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(await broke({})).toContain("system or tools");
  });

  test("are the same for a call that did not run as for one that did", async () => {
    const events = await eventsOf(new Agent({ model: scripted([call("nowhere"), say("done")]) }), "go");
    expect(
      events
        .filter((event) => event.type.startsWith("tool_") && event.type !== "tool_args_delta")
        .map((event) => event.type),
    ).toEqual(["tool_start", "tool_end"]);
  });

  test("do not end the run if the logger fails, at once or later", async () => {
    const full = (): never => {
      throw new Error("the disk is full");
    };
    const later = (): Promise<never> => Promise.reject(new Error("the line is dead"));
    for (const fails of [full, later]) {
      const logger: Logger = { debug: fails, info: fails, warn: fails, error: fails };
      const { end } = await new Agent({
        model: scripted([fail("overloaded"), say("x")]),
        logger,
        ...quick,
      }).run("go");
      expect(end?.reason).toBe("completed");
    }
  });

  test("reach a logger, which is silent by default", async () => {
    const lines: string[] = [];
    const log = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
    const logger: Logger = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
    await new Agent({ model: scripted([say("x")]), logger }).run("go");
    expect(lines).toContain("info run_end");
    expect(lines).not.toContain("debug text_delta");
  });
});

describe("P7 end to end", () => {
  const hooks = { transformContext: (messages: readonly unknown[]) => messages.slice(-3) as never };
  const script = () => scripted([call("look", { a: 1 }), empty(), call("look", { a: 2 }), say("done")]);

  test("a replay rebuilds every request from the journal, equal to what the model was sent", async () => {
    const model = script();
    const session = await new Agent({ model, tools: [echo("look")], hooks, system: "be brief" }).open("s");
    await session.send("go");
    const { requests, firstDifference } = await session.replay();
    expect(firstDifference).toBeUndefined();
    const plain = requests.map(({ request: { messages, ...rest } }) => ({
      ...rest,
      messages: [...messages],
    }));
    expect(JSON.parse(JSON.stringify(plain))).toEqual(JSON.parse(JSON.stringify(model.requests)));
    expect(requests.map(({ step, same }) => [step, same])).toEqual([
      [1, true],
      [2, true],
      [3, true],
      [4, true],
    ]);
  });

  test("a replay with other texts names the first request that differs", async () => {
    const options = { model: script(), tools: [echo("look")], journal: memoryJournal(), maxSteps: 2 };
    await new Agent(options).run("go", { session: "s" });
    const changed = await new Agent({ ...options, texts: { landing: () => "Stop now." } }).open("s");
    const { firstDifference, requests } = await changed.replay();
    expect(firstDifference).toMatchObject({ step: 3, same: false });
    expect(requests.map((one) => one.same)).toEqual([true, true, false]);
  });
});

describe("P9", () => {
  test("a step reads only new records, however many steps came before", async () => {
    // Every look at a list of the loop is counted, by whoever looks.
    let looked = 0;
    const { at, slice } = Log.prototype;
    const iterate = Log.prototype[Symbol.iterator];
    const perStep: number[] = [];
    Log.prototype.at = function (this: Log<unknown>, index) {
      looked += 1;
      return at.call(this, index);
    } as typeof at;
    Log.prototype.slice = function (this: Log<unknown>, from, to) {
      looked += (to ?? this.length) - (from ?? 0);
      return slice.call(this, from, to);
    } as typeof slice;
    Log.prototype[Symbol.iterator] = function (this: Log<unknown>) {
      looked += this.length;
      return iterate.call(this);
    } as typeof iterate;
    try {
      const script = (_request: unknown, number: number) =>
        number < 1000 ? call("look", { number }, { id: `c${number}` }) : say("done");
      const model = scripted(script, { keepRequests: false });
      const origin = { api: "x", provider: "x", model: "x" };
      // The scripted model reads its request; the loop's own cost is what counts, so it is given an empty one.
      const blind = {
        id: "blind",
        origin,
        call: (request: Parameters<typeof model.call>[0], io: Parameters<typeof model.call>[1]) => {
          perStep.push(looked);
          return model.call(
            { ...request, messages: { length: 0, at: () => undefined, *[Symbol.iterator]() {} } },
            io,
          );
        },
      };
      const { messages } = await new Agent({
        model: blind,
        tools: [echo("look")],
        rules: [maxSteps(2000)],
      }).run("go");
      expect(isPaired(messages)).toBe(true);
    } finally {
      Object.assign(Log.prototype, { at, slice, [Symbol.iterator]: iterate });
    }
    const costs = perStep.slice(1).map((total, index) => total - (perStep[index] ?? 0));
    expect(Math.max(...costs.slice(900))).toBe(Math.max(...costs.slice(5, 100)));
    expect(Math.max(...costs)).toBeLessThan(20);
  });
});

describe("every event", () => {
  test("is plain JSON", async () => {
    const events: RondoEvent[] = await eventsOf(
      new Agent({ model: scripted([call("look"), say("x")]), tools: [echo("look")] }),
      "go",
    );
    expect(JSON.parse(JSON.stringify(events))).toEqual(events);
  });
});
