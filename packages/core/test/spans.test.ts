// A run as spans, told to OpenTelemetry itself.

import * as otel from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import {
  Agent,
  type Listener,
  memoryJournal,
  type Session,
  subAgent,
  tool,
  waitForAnswer,
} from "@rondo/core";
import { type TracedOptions, traced } from "@rondo/core/opentelemetry";
import { call, fail, say, scripted, type Turn, usage } from "@rondo/testkit";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { echo } from "./support.ts";

const exporter = new InMemorySpanExporter();

beforeAll(() => {
  otel.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  otel.trace.setGlobalTracerProvider(provider);
});
beforeEach(() => exporter.reset());
afterAll(() => {
  otel.trace.disable();
  otel.context.disable();
});

/** The spans that have ended, as paths from the outermost, in the order they began. */
function paths(): string[] {
  const spans = exporter.getFinishedSpans();
  const pathOf = (span: ReadableSpan): string => {
    const above = spans.find((one) => one.spanContext().spanId === span.parentSpanContext?.spanId);
    return above === undefined ? span.name : `${pathOf(above)} > ${span.name}`;
  };
  return spans.map(pathOf).sort();
}

const spanOf = (name: string): ReadableSpan =>
  exporter.getFinishedSpans().find((span) => span.name === name) as ReadableSpan;

const onEvent = (options?: TracedOptions<otel.Span>): Listener => traced(otel, options);

test("a run is a span, with its requests and calls below it, and a sub-agent's run below its call", async () => {
  const scout = new Agent({ model: scripted([call("look"), say("It rains.")]), tools: [echo("look")] });
  const tools = [subAgent({ name: "scout", description: "Goes and looks", agent: scout })];
  const agent = new Agent({ model: scripted([call("scout", { task: "look" }), say("It rains.")]), tools });
  await agent.run("How is it?", { onEvent: onEvent({ agent: "chief" }) });
  expect(paths()).toStrictEqual([
    "invoke_agent chief",
    "invoke_agent chief > chat scripted",
    "invoke_agent chief > chat scripted",
    "invoke_agent chief > execute_tool scout",
    "invoke_agent chief > execute_tool scout > invoke_agent scout",
    "invoke_agent chief > execute_tool scout > invoke_agent scout > chat scripted",
    "invoke_agent chief > execute_tool scout > invoke_agent scout > chat scripted",
    "invoke_agent chief > execute_tool scout > invoke_agent scout > execute_tool look",
  ]);
});

test("a run is below the span that is active when it begins, or below the given one", async () => {
  const tracer = otel.trace.getTracer("t");
  const agent = new Agent({ model: scripted([say("a"), say("b")]) });
  await tracer.startActiveSpan("active", async (span) => {
    await agent.run("one", { onEvent: onEvent() });
    span.end();
  });
  const above = tracer.startSpan("given");
  await agent.run("two", { onEvent: onEvent({ above }) });
  above.end();
  expect(paths()).toStrictEqual([
    "active",
    "active > invoke_agent",
    "active > invoke_agent > chat scripted",
    "given",
    "given > invoke_agent",
    "given > invoke_agent > chat scripted",
  ]);
});

test("a request has its model, its settings and its usage; its run has the sum of them", async () => {
  const counted = (inputTokens: number): ReturnType<typeof usage> =>
    usage({ inputTokens, outputTokens: 3, cachedInputTokens: 2 });
  const model = scripted([
    [call("look"), counted(20)],
    [say("So."), counted(30)],
  ]);
  await new Agent({ model, tools: [echo("look")] }).run("go", { session: "s", onEvent: onEvent() });
  const [first] = exporter.getFinishedSpans();
  expect(first?.kind).toBe(otel.SpanKind.CLIENT);
  expect(first?.attributes).toStrictEqual({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "scripted",
    "gen_ai.request.model": "scripted",
    "gen_ai.conversation.id": "s",
    "rondo.step": 1,
    "rondo.attempt": 1,
    "gen_ai.response.finish_reasons": ["tool_use"],
    "gen_ai.usage.input_tokens": 20,
    "gen_ai.usage.output_tokens": 3,
    "gen_ai.usage.cache_read.input_tokens": 2,
  });
  expect(spanOf("invoke_agent").attributes).toStrictEqual({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.conversation.id": "s",
    // Not `gen_ai.usage`: who adds that up over the spans of a trace would count everything twice.
    "rondo.usage.input_tokens": 50,
    "rondo.usage.output_tokens": 6,
    "rondo.usage.cache_read.input_tokens": 4,
    "rondo.end.reason": "completed",
  });
});

test("a call has its name and id, and its arguments and result only if set so", async () => {
  const repeating = echo("look", { execute: (args) => JSON.stringify(args) });
  const run = async (options: TracedOptions<otel.Span>): Promise<otel.Attributes> => {
    exporter.reset();
    const model = scripted([call("look", { text: "secret" }), say("So.")]);
    await new Agent({ model, tools: [repeating] }).run("go", { onEvent: onEvent(options) });
    return spanOf("execute_tool look").attributes;
  };
  const plain = await run({});
  expect(plain).toMatchObject({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look" });
  expect(JSON.stringify(plain)).not.toContain("secret");
  const whole = await run({ content: true });
  expect(whole["gen_ai.tool.call.arguments"]).toBe(JSON.stringify({ text: "secret" }));
  expect(whole["gen_ai.tool.call.result"]).toContain("secret");
});

test("failures are marked: a request that is retried, a call, and a run with its last error", async () => {
  const broken = echo("look", {
    execute: () => {
      throw new Error("the token is abc");
    },
  });
  const model = scripted([fail("overloaded"), call("look"), fail("auth")]);
  await new Agent({ model, tools: [broken], retry: { baseMs: 0 } }).run("go", { onEvent: onEvent() });
  const told = exporter
    .getFinishedSpans()
    .map(({ name, status, attributes }) => [name, status.code, attributes["error.type"]]);
  const { ERROR, UNSET } = otel.SpanStatusCode;
  expect(told).toStrictEqual([
    ["chat scripted", ERROR, "overloaded"],
    ["chat scripted", UNSET, undefined],
    ["execute_tool look", ERROR, "threw"],
    ["chat scripted", ERROR, "auth"],
    ["invoke_agent", ERROR, "auth"],
  ]);
  expect(JSON.stringify(exporter.getFinishedSpans().map(({ status }) => status))).not.toContain("abc");
});

test("a call that does not run has no span, and one that is open at a run's end is ended with it", async () => {
  const held = echo("held", { execute: () => new Promise(() => {}) });
  const model = scripted([[call("nowhere"), call("held")]]);
  const session = await new Agent({ model, tools: [held], abortGraceMs: 0 }).open("s");
  session.subscribe(onEvent());
  session.subscribe((event) => {
    if (event.type === "tool_start" && event.call.name === "held") session.abort("enough");
  });
  await session.send("go");
  expect(paths()).toStrictEqual([
    "invoke_agent",
    "invoke_agent > chat scripted",
    "invoke_agent > execute_tool held",
  ]);
  expect(spanOf("invoke_agent").attributes["rondo.end.reason"]).toBe("aborted");
});

test("a parked run continues in its span, and one that another process began in a span of its own", async () => {
  const journal = memoryJournal();
  const guarded = echo("guarded", { permission: "ask" });
  const open = (...turns: Turn[]): Promise<Session> =>
    new Agent({ model: scripted(turns), tools: [guarded], journal }).open("s");
  const first = await open(call("guarded", {}, { id: "a" }), call("guarded", {}, { id: "b" }));
  first.subscribe(onEvent());
  await first.send("go");
  expect(paths()).toStrictEqual(["chat scripted"]);
  await first.approve("a");
  expect(paths()).toStrictEqual(["chat scripted", "chat scripted", "execute_tool guarded"]);
  const second = await open(say("Done."));
  second.subscribe(onEvent());
  await second.approve("b");
  expect(paths().slice(3)).toStrictEqual([
    "invoke_agent",
    "invoke_agent > chat scripted",
    "invoke_agent > execute_tool guarded",
  ]);
});

test("whoever leaves a parked run ends its span, and the rest of the run has a span in the same conversation", async () => {
  const guarded = echo("guarded", { permission: "ask" });
  const model = scripted([[call("guarded", {}, { id: "a" })], say("Done.")]);
  const session = await new Agent({ model, tools: [guarded], journal: memoryJournal() }).open("s");
  const spans = traced(otel);
  session.subscribe(spans);
  await session.send("go");
  spans.end();
  spans.end();
  expect(paths()).toStrictEqual(["invoke_agent", "invoke_agent > chat scripted"]);
  expect(spanOf("invoke_agent").attributes).not.toHaveProperty("rondo.end.reason");
  exporter.reset();
  await session.approve("a");
  expect(paths()).toStrictEqual([
    "invoke_agent",
    "invoke_agent > chat scripted",
    "invoke_agent > execute_tool guarded",
  ]);
  expect(spanOf("invoke_agent").attributes).toMatchObject({
    "gen_ai.conversation.id": "s",
    "rondo.end.reason": "completed",
  });
});

test("every span of a run that another process began is in the conversation that is given, a sub-agent's too", async () => {
  const journal = memoryJournal();
  const look = echo("look", { permission: "ask" });
  const scout = new Agent({ model: scripted([call("look"), say("It rains.")]), tools: [look] });
  const tools = [subAgent({ name: "scout", description: "Goes and looks", agent: scout })];
  const open = (...turns: Turn[]): Promise<Session> =>
    new Agent({ model: scripted(turns), tools, journal }).open("s");
  await (await open(call("scout", { task: "look" }))).send("go");
  const second = await open(say("Done."));
  second.subscribe(onEvent({ conversation: second.id }));
  await second.approve(second.pending[0]?.id ?? "");
  const told = exporter
    .getFinishedSpans()
    .filter(({ name }) => !name.startsWith("execute_tool"))
    .map(({ name, attributes }) => [name, attributes["gen_ai.conversation.id"]]);
  expect(told).toStrictEqual([
    ["chat scripted", "s"],
    ["invoke_agent scout", "s"],
    ["chat scripted", "s"],
    ["invoke_agent", "s"],
  ]);
});

test("a sub-agent's run is in the conversation of the outermost, and names its own session", async () => {
  const scout = new Agent({ model: scripted([say("It rains.")]) });
  const tools = [subAgent({ name: "scout", description: "Goes and looks", agent: scout })];
  const agent = new Agent({ model: scripted([call("scout", { task: "look" }), say("So.")]), tools });
  await agent.run("How is it?", { session: "s", onEvent: onEvent() });
  expect(spanOf("invoke_agent scout").attributes).toMatchObject({
    "gen_ai.conversation.id": "s",
    "rondo.session": expect.stringMatching(/^s.+/),
  });
  expect(spanOf("invoke_agent").attributes).not.toHaveProperty("rondo.session");
});

test("the bytes of a file are in no span", async () => {
  const data = "QUJD".repeat(1_000);
  const shoot = echo("look", {
    execute: () => [
      { type: "text" as const, text: "a picture" },
      { type: "file" as const, mediaType: "image/png", data },
    ],
  });
  const model = scripted([call("look"), say("So.")]);
  await new Agent({ model, tools: [shoot] }).run("go", { onEvent: onEvent({ content: true }) });
  const told = String(spanOf("execute_tool look").attributes["gen_ai.tool.call.result"]);
  expect(JSON.parse(told)).toStrictEqual([
    { type: "text", text: "a picture" },
    { type: "file", mediaType: "image/png", data: "3000 bytes" },
  ]);
});

test("a typed answer is asked for as JSON, and providers have the conventions' names", () => {
  const spans = onEvent();
  const origin = { api: "openai-chat", provider: "moonshot", model: "kimi" };
  spans({ type: "request", step: 1, attempt: 1, model: "m", origin, digest: "", output: true });
  spans({
    type: "run_end",
    end: { reason: "completed", rule: "answer", evidence: {}, landed: false, resumable: true },
    text: "",
  });
  expect(spanOf("chat kimi").attributes).toMatchObject({
    "gen_ai.output.type": "json",
    "gen_ai.provider.name": "moonshot_ai",
  });
});

test("a call that waits for an answer is a span until it asks, and another once it goes on; a sub-agent above it has one", async () => {
  const buy = tool({
    name: "buy",
    description: "Buys",
    inputSchema: { type: "object" },
    execute: () => waitForAnswer("Really?"),
    resume: () => "bought",
  });
  const helper = new Agent({ model: scripted([call("buy"), say("bought")]), tools: [buy] });
  const tools = [subAgent({ name: "helper", description: "Helps", agent: helper })];
  const model = scripted([call("helper", { task: "buy" }), say("done")]);
  const session = await new Agent({ model, tools, journal: memoryJournal() }).open("s");
  session.subscribe(onEvent());
  await session.send("go");
  await session.answer(session.pending[0]?.id ?? "", "yes");
  expect(paths().filter((path) => path.includes("execute_tool"))).toStrictEqual([
    "invoke_agent > execute_tool helper",
    "invoke_agent > execute_tool helper > invoke_agent helper",
    "invoke_agent > execute_tool helper > invoke_agent helper > chat scripted",
    "invoke_agent > execute_tool helper > invoke_agent helper > chat scripted",
    "invoke_agent > execute_tool helper > invoke_agent helper > execute_tool buy",
    "invoke_agent > execute_tool helper > invoke_agent helper > execute_tool buy",
  ]);
});

test("a summary of the history is a span, with the sizes before and after", async () => {
  const spans = onEvent();
  spans({ type: "compaction_start", rule: "room", evidence: {} });
  spans({ type: "compaction_end", before: 900, after: 100, helped: true, note: "" });
  expect(spanOf("compaction").attributes).toStrictEqual({
    "rondo.rule": "room",
    "rondo.tokens.before": 900,
    "rondo.tokens.after": 100,
  });
});

test("what is not OpenTelemetry's API, or no option, is refused before a run", () => {
  for (const given of [undefined, otel.trace, {}])
    expect(() => traced(given as never)).toThrow(
      /^traced: option otel: OpenTelemetry's API \(import .* is needed/,
    );
  expect(() => traced(otel, { recordInputs: true } as never)).toThrow(
    "traced: option recordInputs: there is no such option",
  );
  expect(() => traced(otel, { content: "yes" } as never)).toThrow("traced: option content: true or false");
});
