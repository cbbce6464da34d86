// The agent events: names, members and order, as clients read them.

import {
  Agent,
  DoneSignal,
  memoryJournal,
  type Part,
  type RondoEvent,
  subAgent,
  tool,
  toolResult,
} from "@rondo/core";
import { type AgentEvent, AgentEventsView, agentEvents, managedContext } from "@rondo/core/presets";
import { badArgs, call, calls, fail, part, refuse, say, scripted, type Turn, think } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { doing, finalIn, only, play, typesOf } from "./managed-support.ts";

const look = doing("look", () => "seen");
/** Time that goes on by 7.4 ms whenever somebody looks. */
const ticking = () => {
  let now = 1_000;
  return {
    now: () => {
      now += 7.4;
      return now;
    },
    random: () => 0,
    after: () => () => {},
  };
};
/** A compaction, as it is announced. */
const compaction = (before: number, after: number): RondoEvent[] => [
  { type: "compaction_start", rule: "compaction", evidence: {} },
  { type: "compaction_end", before, after, helped: after < before, note: "" },
];
/** An event as it leaves: members in their order. */
const wire = (events: readonly AgentEvent[]): string[] => events.map((event) => JSON.stringify(event));

describe("in one iteration", () => {
  test("D3.17 reasoning comes first, then texts, then the calls one by one, and the final text at the end", async () => {
    const first = [
      say("Looking."),
      think("hm"),
      say("Twice."),
      think("hm hm"),
      ...(calls([["look"], ["look"]]) as []),
    ];
    const { events } = await play({ model: scripted([first, [think("so"), say("Done.")]]), tools: [look] });
    const step = ["step_start", "tool_call", "tool_result", "step_complete"];
    expect(typesOf(events)).toEqual([
      ...["reasoning", "reasoning", "text", "text"],
      ...step,
      ...step,
      ...["reasoning", "final"],
    ]);
    expect(only(events, "text").map((event) => event.content)).toEqual(["Looking.", "Twice."]);
  });

  test("D3.17 calls are emitted in the order in which they were written, also those that got their results at once", async () => {
    const script = [calls([["look"], ["nowhere"], ["look"]]), say("done")];
    const { events } = await play({ model: scripted(script), tools: [look] });
    expect(only(events, "step_start").map((event) => event.title)).toEqual(["look", "nowhere", "look"]);
    expect(only(events, "tool_result").map((event) => event.result)).toEqual([
      "seen",
      "Error: Unknown tool 'nowhere'",
      "seen",
    ]);
  });

  test("D3.17 parallel calls are emitted one after another", async () => {
    const gate = Promise.withResolvers<void>();
    const reading = (name: string, execute: () => unknown) =>
      tool({ name, description: name, inputSchema: { type: "object" }, effect: "read", execute });
    const tools = [
      reading("slow", () => gate.promise.then(() => "slow")),
      reading("quick", () => {
        gate.resolve();
        return "quick";
      }),
    ];
    const model = scripted([calls([["slow"], ["quick"]]), say("done")]);
    const { events } = await play({ model, tools }, { agent: { toolOrder: "parallel" } });
    expect(only(events, "tool_result").map((event) => event.result)).toEqual(["slow", "quick"]);
    expect(typesOf(events).slice(0, 4)).toEqual(["step_start", "tool_call", "tool_result", "step_complete"]);
  });
});

test("D3.17 calls that were skipped for a message are not emitted, neither their beginning nor their result", async () => {
  const heard: AgentEvent[] = [];
  const view = new AgentEventsView({}, (event) => heard.push(event));
  const speaking = doing("look", () => {
    session.steer("wait");
    return "seen";
  });
  const script = [calls([["look"], ["look"], ["look"]]), say("done")];
  const session = await new Agent(managedContext({ model: scripted(script), tools: [speaking] })).open("s");
  session.subscribe((event) => view.hear(event));
  await session.send("go");
  expect(typesOf(heard)).toEqual(["step_start", "tool_call", "tool_result", "step_complete", "final"]);
});

describe("shapes", () => {
  test("D3.18 texts, reasoning, steps, calls, results and the final text have exactly these members", async () => {
    const boom = doing("boom", () => {
      throw new Error("no");
    });
    const script = [
      [think("hm"), say("Go."), call("look", { b: 1, a: 2 }, { id: "c1" }), call("boom", {}, { id: "c2" })],
      say("Done."),
    ];
    const clock = { now: () => 42 };
    const { events } = await play(
      {
        model: scripted(script),
        tools: [look, boom],
        clock,
        displayName: (name) => (name === "look" ? "Look around" : undefined),
      },
      { agent: { clock: ticking() } },
    );
    const durations = only(events, "step_complete").map((event) => event.duration_ms);
    expect(durations.every((ms) => Number.isInteger(ms) && ms > 0)).toBe(true);
    expect(wire(events)).toEqual([
      '{"type":"reasoning","content":"hm","timestamp":42}',
      '{"type":"text","content":"Go.","timestamp":42}',
      '{"type":"step_start","step_id":"c1","title":"look","step_number":1}',
      '{"type":"tool_call","tool":"look","args":{"b":1,"a":2},"raw_args":"{\\"b\\":1,\\"a\\":2}","tool_call_id":"c1","display_name":"Look around"}',
      '{"type":"tool_result","tool":"look","result":"seen","tool_call_id":"c1"}',
      `{"type":"step_complete","step_id":"c1","status":"completed","duration_ms":${durations[0]}}`,
      '{"type":"step_start","step_id":"c2","title":"boom","step_number":2}',
      '{"type":"tool_call","tool":"boom","args":{},"raw_args":"{}","tool_call_id":"c2"}',
      '{"type":"tool_result","tool":"boom","result":"Error: no","tool_call_id":"c2","is_error":true}',
      `{"type":"step_complete","step_id":"c2","status":"error","duration_ms":${durations[1]}}`,
      '{"type":"final","content":"Done."}',
    ]);
  });

  test("D3.18 steps are counted from one in each iteration, and arguments that are not JSON are shown raw", async () => {
    const script = [calls([["look"], ["look"]]), badArgs("look", "{oops", { id: "x" }), say("done")];
    const { events } = await play({ model: scripted(script), tools: [look] });
    expect(only(events, "step_start").map((event) => event.step_number)).toEqual([1, 2, 1]);
    expect(only(events, "tool_call").at(-1)).toEqual({
      type: "tool_call",
      tool: "look",
      args: { _raw: "{oops" },
      raw_args: "{oops",
      tool_call_id: "x",
    });
  });

  test("D4.22 arguments that are not JSON are shown raw whoever gives the result, and JSON that is no object is shown as it is", async () => {
    const odd = [badArgs("nowhere", "{oops"), badArgs("look", "[1,2]"), badArgs("nowhere", ""), say("done")];
    const { events } = await play({ model: scripted(odd), tools: [look] });
    const shown = only(events, "tool_call").map(({ args, raw_args }) => [args, raw_args]);
    expect(shown).toEqual([
      [{ _raw: "{oops" }, "{oops"],
      [[1, 2], "[1,2]"],
      [{ _raw: "" }, ""],
    ]);
    const { events: edited } = await play(
      { model: scripted([badArgs("look", "{oops"), say("done")]), tools: [look] },
      { agent: { hooks: { beforeTool: () => ({ args: { a: 1 } }) } } },
    );
    expect(only(edited, "tool_call")[0]).toMatchObject({ args: { a: 1 }, raw_args: "{oops" });
  });

  test("D3.18 a duration is never below zero, even if the clock is set back", async () => {
    let now = 1_000_000;
    const backwards = {
      now: () => {
        now -= 500;
        return now;
      },
      random: () => 0,
      after: () => () => {},
    };
    const model = scripted([call("look"), say("done")]);
    const { events } = await play({ model, tools: [look] }, { agent: { clock: backwards } });
    expect(only(events, "step_complete").map((event) => event.duration_ms)).toEqual([0]);
  });

  test("D2.8 D2.10 a compaction is emitted where it happens: before the final text, or between two iterations", () => {
    const told: AgentEvent[] = [];
    const view = new AgentEventsView({}, (event) => told.push(event));
    const origin = { api: "a", provider: "p", model: "m" };
    const stopped = { kind: "end_turn", wire: "end_turn" } as const;
    const heard: RondoEvent[] = [
      { type: "step_start", step: 1 },
      {
        type: "message",
        step: 1,
        message: { role: "assistant", content: [{ type: "text", text: "Done." }], origin, stop: stopped },
      },
      ...compaction(4, 4),
      {
        type: "run_end",
        end: { reason: "completed", rule: "answer", evidence: {}, landed: false, resumable: true },
        text: "Done.",
      },
    ];
    for (const event of heard) view.hear(event);
    expect(typesOf(told)).toEqual(["compaction_start", "compaction_complete", "final"]);
  });

  test("D3.17 D3.18 calls of an answer that came to another process are emitted too, and what they end with is the final text", async () => {
    const journal = memoryJournal();
    const ask = doing("ask", () => "asked", { effect: "write", permission: "ask" });
    const finish = doing("finish", () => new DoneSignal());
    const open = (turns: Turn[]) =>
      new Agent({ ...managedContext({ model: scripted(turns), tools: [ask, look, finish] }), journal }).open(
        "s",
      );
    const first = [say("let me"), call("look"), call("ask", { a: 1 }), call("finish")];
    await (await open([first])).send("go");
    const session = await open([]);
    const told: AgentEvent[] = [];
    const view = new AgentEventsView({}, (event) => told.push(event));
    session.subscribe((event) => view.hear(event));
    await session.approve(session.pending[0]?.id ?? "");
    expect(only(told, "tool_result").map(({ tool, result }) => [tool, result])).toEqual([
      ["ask", "asked"],
      ["finish", "Task complete"],
    ]);
    expect(only(told, "step_start").map(({ step_number }) => step_number)).toEqual([2, 3]);
    expect(only(told, "tool_call")[0]).toMatchObject({ args: { a: 1 }, raw_args: '{"a":1}' });
    expect(told.at(-1)).toEqual({ type: "final", content: "let me" });
  });

  test("D3.17 such calls are emitted as they begin, each completely, whichever of them is approved first", async () => {
    const journal = memoryJournal();
    const ask = doing("ask", ({ a }) => `asked ${String(a)}`, { effect: "write", permission: "ask" });
    const open = (turns: Turn[]) =>
      new Agent({
        ...managedContext({ model: scripted(turns), tools: [ask] }),
        toolOrder: "parallel",
        journal,
      }).open("s");
    await (await open([[1, 2, 3].map((a) => call("ask", { a }))])).send("go");
    const session = await open([say("done")]);
    const waiting = session.pending;
    const told: AgentEvent[] = [];
    const view = new AgentEventsView({}, (event) => told.push(event));
    session.subscribe((event) => view.hear(event));
    for (const { id } of [1, 0, 2].flatMap((at) => waiting[at] ?? [])) await session.approve(id);
    expect(only(told, "tool_result").map(({ result }) => result)).toEqual(["asked 2", "asked 1", "asked 3"]);
    const whole = ["step_start", "tool_call", "tool_result", "step_complete"];
    expect(typesOf(told)).toEqual([...whole, ...whole, ...whole, "final"]);
  });

  test("D3.17 a sub-agent that waits for an approval and continues is one call", async () => {
    const press = doing("press", () => "pressed", { effect: "write", permission: "ask" });
    const helper = subAgent({
      name: "helper",
      description: "helps",
      agent: new Agent({ model: scripted([call("press"), say("helped")]), tools: [press] }),
    });
    const model = scripted([call("helper", { task: "press it" }), say("done")]);
    const session = await new Agent(managedContext({ model, tools: [helper] })).open("s");
    const told: AgentEvent[] = [];
    const view = new AgentEventsView({}, (event) => told.push(event));
    session.subscribe((event) => view.hear(event));
    await session.send("go");
    await session.approve(session.pending[0]?.id ?? "");
    expect(typesOf(told)).toEqual(["step_start", "tool_call", "tool_result", "step_complete", "final"]);
  });

  test("D3.18 an image in a result is base64, from data or from a data URL", async () => {
    const shots = [
      { type: "file", mediaType: "image/png", data: "AAEC" },
      { type: "file", mediaType: "image/png", url: "data:image/png;base64,BBBB" },
      { type: "file", mediaType: "image/png", url: "https://example.org/a.png" },
    ] as const;
    for (const [at, expected] of ["AAEC", "BBBB", undefined].entries()) {
      const shot = doing("shot", () => toolResult([{ type: "text", text: "here: " }, shots[at] as never]));
      const { events } = await play({ model: scripted([call("shot"), say("done")]), tools: [shot] });
      expect(only(events, "tool_result")[0]?.screenshot_base64).toBe(expected);
      expect("screenshot_base64" in (only(events, "tool_result")[0] ?? {})).toBe(expected !== undefined);
    }
  });

  test("D3.18 compactions are emitted when they begin and when they end, with whether anything changed", () => {
    const told: AgentEvent[] = [];
    const view = new AgentEventsView({ clock: { now: () => 9 } }, (event) => told.push(event));
    const heard = [...compaction(10, 3), ...compaction(3, 3)];
    for (const event of heard) view.hear(event);
    expect(wire(told)).toEqual([
      '{"type":"compaction_start","timestamp":9}',
      '{"type":"compaction_complete","timestamp":9,"compacted":true}',
      '{"type":"compaction_start","timestamp":9}',
      '{"type":"compaction_complete","timestamp":9,"compacted":false}',
    ]);
  });

  test("D3.18 a retry is emitted before its wait, with its kind, its count and the source of the wait", async () => {
    const model = scripted(
      [fail("rate_limit", { status: 429, retryAfterMs: 3 }), fail("network"), say("done")],
      { origin: { api: "x", provider: "acme", model: "m" } },
    );
    const { events } = await play({ model, llmRetry: "by_kind", llmRetryBaseDelayMs: 2 });
    expect(wire(events.slice(0, 1))).toEqual([
      '{"type":"llm.retry","provider":"acme","failure_kind":"rate_limit","next_attempt":2,"max_attempts":3,"delay_ms":3,"delay_source":"provider","status":429}',
    ]);
    expect(events[1]).toMatchObject({
      failure_kind: "network",
      next_attempt: 3,
      max_attempts: 3,
      delay_source: "backoff",
    });
    expect(events[1]).not.toHaveProperty("status");
    expect(typesOf(events)).toEqual(["llm.retry", "llm.retry", "final"]);
  });

  test("D3.18 D7.34 a wait that ignores the provider's is not emitted as the provider's", async () => {
    const model = scripted([fail("rate_limit", { status: 429, retryAfterMs: 1 }), say("done")]);
    const { events } = await play({ model, llmRetry: "by_status", llmRetryBaseDelayMs: 3 });
    expect(events[0]).toMatchObject({ type: "llm.retry", delay_source: "backoff" });
  });

  test("D3.18 a message in the user's place is emitted with its text only", async () => {
    const model = scripted([say("a"), say("b")]);
    const { events } = await play({ model, getIncompleteWorkPrompt: () => "go on" });
    expect(wire(events.filter((event) => event.type === "hidden_user_message"))).toEqual([
      '{"type":"hidden_user_message","content":"go on"}',
    ]);
  });
});

describe("what is not a text", () => {
  test("D3.19 reasoning without text is not emitted, and a refusal is a text like any other", async () => {
    const signed = part({ type: "reasoning", text: "", opaque: { signature: "s" } });
    const { events } = await play({ model: scripted([[signed, refuse("I will not.")]]) });
    expect(typesOf(events)).toEqual(["final"]);
    expect(finalIn(events)).toBe("I will not.");
    const onTheWay = await play({
      model: scripted([[refuse("Not that."), call("look")], say("done")]),
      tools: [look],
    });
    expect(only(onTheWay.events, "text").map((event) => event.content)).toEqual(["Not that."]);
    expect(only(onTheWay.events, "tool_result")).toHaveLength(1);
  });

  test("D3.19 a search that the provider ran is a complete step, its call and its result merged by their id", async () => {
    const answer = [
      part({
        type: "native",
        kind: "server_tool_use",
        opaque: { type: "server_tool_use", id: "srv1", name: "web_search", input: { query: "x" } },
      }),
      part({
        type: "native",
        kind: "web_search_tool_result",
        opaque: { type: "web_search_tool_result", tool_use_id: "srv1", content: [{ url: "u" }] },
      }),
      part({
        type: "native",
        kind: "x_search_call",
        opaque: { item: { id: "xs1", type: "x_search_call", status: "failed", action: { query: "y" } } },
      }),
      part({ type: "native", kind: "code_interpreter_call", opaque: { item: { id: "ci" } } }),
      say("Found."),
    ];
    const { events } = await play({ model: scripted([answer]) });
    expect(wire(events)).toEqual([
      '{"type":"step_start","step_id":"srv1","title":"web_search","step_number":1}',
      '{"type":"tool_call","tool":"web_search","args":{"query":"x"},"raw_args":"{\\"query\\":\\"x\\"}","tool_call_id":"srv1"}',
      '{"type":"tool_result","tool":"web_search","result":"[{\\"url\\":\\"u\\"}]","tool_call_id":"srv1"}',
      '{"type":"step_complete","step_id":"srv1","status":"completed","duration_ms":0}',
      '{"type":"step_start","step_id":"xs1","title":"x_search","step_number":2}',
      '{"type":"tool_call","tool":"x_search","args":{"query":"y"},"raw_args":"{\\"query\\":\\"y\\"}","tool_call_id":"xs1"}',
      '{"type":"tool_result","tool":"x_search","result":"failed","tool_call_id":"xs1","is_error":true}',
      '{"type":"step_complete","step_id":"xs1","status":"error","duration_ms":0}',
      '{"type":"final","content":"Found."}',
    ]);
  });

  test("D3.20 a result is one text, with a word for each part that is no text", async () => {
    const mixed: Part[] = [
      { type: "text", text: "a" },
      { type: "file", mediaType: "image/png", data: "AA" },
      { type: "file", mediaType: "application/pdf", data: "AA" },
      { type: "file", mediaType: "audio/wav", data: "AA" },
      { type: "text", text: "b" },
    ];
    const model = scripted([call("t"), say("done")]);
    const { events } = await play({ model, tools: [doing("t", () => mixed)] });
    expect(only(events, "tool_result")[0]?.result).toBe("a[image][document][other:audio/wav]b");
  });

  test("D3.20 the result is the one that the model reads, not what the tool returned", async () => {
    const long = doing("long", () => `${"x".repeat(150)}\n`.repeat(50));
    const model = scripted([call("long"), say("done")]);
    const context = { cap: { bytes: 400 } };
    const { events, result } = await play({ model, tools: [long] }, { agent: { context } });
    const stored = result?.messages[2]?.content[0];
    expect(stored?.type === "text" && stored.text.length).toBeLessThan(500);
    expect(only(events, "tool_result")[0]?.result).toBe(stored?.type === "text" ? stored.text : "");
  });
});

test("a reader that stops iterating aborts the run", async () => {
  const model = scripted([call("look"), say("never")]);
  const stream = new Agent(managedContext({ model, tools: [look] })).stream("go");
  for await (const event of agentEvents(stream)) if (event.type === "step_start") break;
  await expect(stream.result).rejects.toMatchObject({ kind: "aborted" });
});

test("the agent's failure ends the events as it is, with all its members", async () => {
  const known = { status: 402, raw: { code: "no_credit" }, retryAfterMs: 60_000 };
  const { events, failure } = await play({ model: scripted([fail("quota_exhausted", known)]) });
  expect(events).toEqual([]);
  expect(failure).toMatchObject({ kind: "quota_exhausted", ...known });
});
