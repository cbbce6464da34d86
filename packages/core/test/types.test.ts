// What the compiler knows of a user's program: the types it finds by itself, and the mistakes it does not let pass.
//
// Nothing here is run but what is said to be: whatever compiles is right, and what must not is expected to be an error.

import { call, say, scripted } from "@rondo/testkit";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  Agent,
  type AgentOptions,
  budget,
  dependency,
  type Hooks,
  type JsonObject,
  type Message,
  type Model,
  maxSteps,
  memoryJournal,
  type Rule,
  type RunResult,
  type SchemaLike,
  type Session,
  type StopRule,
  stopWhen,
  subAgent,
  type Tool,
  type ToolContext,
  tool,
  toolResult,
  toolWith,
} from "../src/index.ts";
import { managedContext, steerable, stepSequence } from "../src/presets.ts";

const model: Model = scripted(() => say("no"));
const named = { name: "t", description: "d" };
const city = z.object({ city: z.string() });
const weather = tool({ ...named, inputSchema: city, execute: ({ city: name }) => ({ name, degrees: 21 }) });
const agent = new Agent({ model, output: city });
interface User {
  name: string;
}
const user = dependency("user", (): User => ({ name: "Ada" }));

/** A JSON Schema that says its type, as those of TypeBox before 1.0 do. */
interface Typed<Type> {
  type: "object" | "array";
  static: Type;
}
const typed = <Type>(kind: Typed<Type>["type"]): Typed<Type> => ({ type: kind }) as Typed<Type>;

/** One that is marked with its type under a symbol, and shows no word of its own, as those of pi-schema do. */
declare const mark: unique symbol;
type Marked<Type> = { readonly [keyword: string]: unknown } & { readonly [mark]?: Type };

/** Looked at by the compiler, and never run. */
const compiled = (_program: () => unknown): void => {};

describe("a tool knows", () => {
  test("its arguments from a schema in any form", () => {
    tool({
      ...named,
      inputSchema: city,
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ city: string }>(),
    });
    tool({
      ...named,
      inputSchema: z.object({
        days: z.number().default(3),
        at: z.string().transform((text) => new Date(text)),
      }),
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ days: number; at: Date }>(),
      keys: ({ at }) => [at.toISOString()],
      reconcile: async (_key, { days }) => ({ done: days }),
    });
    tool({
      ...named,
      inputSchema: {
        type: "object",
        properties: { a: { type: "string" }, b: { enum: ["x", "y"] } },
        required: ["a"],
      },
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ a: string; b?: "x" | "y" }>(),
    });
    tool({
      ...named,
      inputSchema: { type: "object", properties: {} } as Marked<{ n: number; o?: string }>,
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ n: number; o?: string }>(),
    });
    tool({
      ...named,
      inputSchema: { type: "object", properties: {} } as Marked<unknown>,
      execute: (args) => expectTypeOf(args).toEqualTypeOf<JsonObject>(),
    });
    tool({
      ...named,
      inputSchema: type({ n: "number" }),
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ n: number }>(),
    });
    tool({
      ...named,
      inputSchema: toStandardJsonSchema(v.object({ n: v.number() })),
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ n: number }>(),
    });
    tool({
      ...named,
      inputSchema: z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("a"), n: z.number() }),
        z.object({ kind: z.literal("b") }),
      ]),
      execute: (args) => (args.kind === "a" ? args.n : 0),
    });
    tool({
      ...named,
      inputSchema: {},
      execute: (_args, context) => expectTypeOf(context).toEqualTypeOf<ToolContext>(),
    });
  });

  test("what it takes and returns if it is executed directly, alone and out of a list", async () => {
    const context = {} as ToolContext;
    const result = weather.execute({ city: "Oslo" }, context);
    expectTypeOf(result).toEqualTypeOf<{ name: string; degrees: number }>();
    expect(result).toEqual({ name: "Oslo", degrees: 21 });
    const later = tool({ ...named, inputSchema: city, execute: async () => 3 }).execute(
      { city: "Oslo" },
      context,
    );
    expectTypeOf(await later).toEqualTypeOf<number>();
    expectTypeOf(weather.input).toEqualTypeOf<{ city: string } | undefined>();
    const all: Tool[] = [weather, toolWith(weather, { permission: "ask" }), subAgent({ ...named, agent })];
    expect(all.map(({ name }) => name)).toEqual(["t", "t", "t"]);
    // @ts-expect-error it takes a city
    compiled(() => weather.execute({ town: "Oslo" }, context));
  });

  test("the values given for its dependencies", () => {
    tool({
      ...named,
      inputSchema: {},
      execute: async (_args, { resolve }) => expectTypeOf(await resolve(user)).toEqualTypeOf<User>(),
    });
    const later = dependency("later", async () => new Map<string, number>());
    compiled(async ({ resolve } = {} as ToolContext) =>
      expectTypeOf(await resolve(later)).toEqualTypeOf<Map<string, number>>(),
    );
    compiled(() => agent.run("go", { dependencies: [user.as({ name: "Bob" }), later.as(new Map())] }));
  });

  test("the task of a sub-agent from its schema", () => {
    subAgent({
      ...named,
      agent: () => agent,
      inputSchema: z.object({ topic: z.string() }),
      task: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ topic: string }>();
        return args.topic;
      },
    });
  });
});

describe("an agent knows", () => {
  type Out<A> = A extends Agent<infer Output> ? Output : never;

  test("its output from a schema in any form", () => {
    const outputs = {
      zod: new Agent({ model, output: z.object({ a: z.string(), b: z.array(z.object({ c: z.number() })) }) }),
      union: new Agent({
        model,
        output: z.union([z.object({ ok: z.literal(true) }), z.object({ why: z.string() })]),
      }),
      list: new Agent({ model, output: z.array(z.string()) }),
      word: new Agent({ model, output: z.enum(["yes", "no"]) }),
      arktype: new Agent({ model, output: type({ n: "number" }) }),
      valibot: new Agent({ model, output: toStandardJsonSchema(v.object({ n: v.number() })) }),
      typebox: new Agent({ model, output: typed<{ n: number; o?: string }>("object") }),
      typeboxList: new Agent({ model, output: typed<string[]>("array") }),
      plain: new Agent({ model, output: { type: "object", properties: { n: { type: "number" } } } }),
      named: new Agent<{ n: number }>({ model, output: { type: "object" } }),
      wide: new Agent({ model, output: { type: "object" } as Record<string, unknown> }),
      none: new Agent({ model }),
    };
    type Outputs = { [name in keyof typeof outputs]: Out<(typeof outputs)[name]> };
    expectTypeOf<Outputs>().toEqualTypeOf<{
      zod: { a: string; b: { c: number }[] };
      union: { ok: true } | { why: string };
      list: string[];
      word: "yes" | "no";
      arktype: { n: number };
      valibot: { n: number };
      typebox: { n: number; o?: string };
      typeboxList: string[];
      plain: unknown;
      named: { n: number };
      wide: unknown;
      none: unknown;
    }>();
  });

  test("its output if its options are spread, stored, from a preset, or made by a function", () => {
    const kept = { model, tools: [weather], rules: [maxSteps(3), budget({ usd: 1 })] } satisfies AgentOptions;
    const wide: AgentOptions = { model };
    const made = <Output>(output: z.ZodType<Output>): Agent<Output> => new Agent({ model, output });
    const spread = {
      kept: () => new Agent({ ...kept, output: city }),
      wide: () => new Agent({ ...wide, output: city }),
      steerable: () => new Agent({ ...steerable({ model }), output: city }),
      managed: () => new Agent({ ...managedContext({ model }), output: city }),
      sequence: () => new Agent(stepSequence({ model, output: city })),
      made: () => made(city),
    };
    type Agents = ReturnType<(typeof spread)[keyof typeof spread]>;
    expectTypeOf<Agents>().toEqualTypeOf<Agent<{ city: string }>>();
    const any: Agent[] = [agent, new Agent({ model }), made(z.number())];
    compiled(async (): Promise<RunResult> => (any[0] as Agent).run("go"));
  });

  test("its output in a result, a stream, its steps, and a session", () => {
    type Given = { city: string } | undefined;
    compiled(async () => {
      expectTypeOf((await agent.run("go")).output).toEqualTypeOf<Given>();
      const stream = agent.stream("go");
      for await (const partial of stream.partialOutput)
        expectTypeOf(partial.city).toEqualTypeOf<string | undefined>();
      expectTypeOf((await stream.result).output).toEqualTypeOf<Given>();
      for await (const step of agent.steps("go"))
        if (step.type === "final_response") expectTypeOf(step.output).toEqualTypeOf<Given>();
      const session = await agent.open("a");
      expectTypeOf(session).toEqualTypeOf<Session<{ city: string }>>();
      expectTypeOf((await session.approve("call")).output).toEqualTypeOf<Given>();
      expectTypeOf((await (await session.fork("b", { at: 1 })).resume()).output).toEqualTypeOf<Given>();
    });
  });

  test("which members an event has by its type", () => {
    compiled(async () => {
      for await (const event of agent.stream("go")) {
        if (event.type === "text_delta") expectTypeOf(event.text).toEqualTypeOf<string>();
        if (event.type === "tool_end") expectTypeOf(event.ms).toEqualTypeOf<number>();
        if (event.type === "tool_start") expectTypeOf(event.call.name).toEqualTypeOf<string>();
        if (event.type === "run_end") expectTypeOf(event.end.landed).toEqualTypeOf<boolean>();
      }
    });
  });

  test("what rules and hooks get, and what they may return", () => {
    const enough: StopRule = ({ toolCalls, lastText }) => toolCalls > 3 || lastText.includes("FOUND");
    const counted: Rule<number> = {
      name: "counted",
      version: 1,
      init: () => 0,
      fold: (count, record) => (record.type === "tool_started" ? count + 1 : count),
    };
    const hooks: Hooks = {
      permission: async ({ name, args }) =>
        name === "t" && args.path === "/" ? "ask" : { answer: "deny", reason: "no" },
      prepareStep: ({ step }) =>
        step === 1 ? { toolChoice: "any", settings: { reasoning: "low" } } : { stop: "enough" },
      transformContext: (messages) => messages.slice(-3),
      beforeTool: ({ args }) => ({ args: { ...args, seen: true } }),
      afterTool: (_call, { content }) => ({ content }),
      onFinish: ({ text }) => (text === "" ? "Say something." : undefined),
    };
    const rules = [enough, counted, stopWhen(({ steps }) => steps > 3, { onLimit: "stop" })];
    expect(new Agent({ model, rules, hooks })).toBeInstanceOf(Agent);
  });

  test("the forms of a task", () => {
    const history: Message[] = [{ role: "user", content: [{ type: "text", text: "go" }] }];
    compiled(() => agent.run(history));
    compiled(() => agent.run([{ role: "user", content: "go" }]));
    const rows: { role: "system" | "user" | "assistant"; content: string; id: number }[] = [];
    compiled(() => agent.run(rows));
    compiled(() => agent.run([{ type: "file", mediaType: "image/png", data: new Uint8Array() }]));
  });
});

describe("the compiler rejects", () => {
  test("a tool that is none", () => {
    const execute = (): string => "";
    // @ts-expect-error the schema has no such argument
    compiled(() => tool({ ...named, inputSchema: city, execute: ({ town }) => town }));
    // @ts-expect-error no effect
    compiled(() => tool({ ...named, inputSchema: city, effect: "reading", execute }));
    // @ts-expect-error no permission
    compiled(() => tool({ ...named, inputSchema: city, permission: "maybe", execute }));
    // @ts-expect-error keys are a list
    compiled(() => tool({ ...named, inputSchema: city, keys: ({ city: name }) => name, execute }));
    // @ts-expect-error a model reads what it is for
    compiled(() => tool({ name: "t", inputSchema: city, execute }));
    // @ts-expect-error a schema is needed
    compiled(() => tool({ ...named, execute }));
    // @ts-expect-error its name is inputSchema
    compiled(() => tool({ ...named, parameters: city, execute }));
    // @ts-expect-error it must do something
    compiled(() => tool({ ...named, inputSchema: city }));
    // @ts-expect-error its name is permission
    compiled(() => tool({ ...named, inputSchema: city, needsApproval: true, execute }));
    // @ts-expect-error milliseconds
    compiled(() => tool({ ...named, inputSchema: city, timeoutMs: "10s", execute }));
    // @ts-expect-error misspelt
    compiled(() => toolWith(weather, { permision: "ask" }));
    // @ts-expect-error its name is done
    compiled(() => toolResult("ready", { terminate: true }));
    // @ts-expect-error outputs are a list, or a text
    compiled(() => toolResult({ a: 1 }));
    // @ts-expect-error details are JSON
    compiled(() => toolResult("ready", { details: new Date() }));
    // @ts-expect-error an agent is needed
    compiled(() => subAgent({ ...named, agent: model }));
    const topic = z.object({ topic: z.string() });
    // @ts-expect-error the schema names a topic
    compiled(() => subAgent({ ...named, agent, inputSchema: topic, task: ({ task }) => task }));
  });

  test("invalid options", () => {
    // @ts-expect-error a model is needed
    compiled(() => new Agent({ tools: [weather] }));
    // @ts-expect-error a name is no model
    compiled(() => new Agent({ model: "gpt-5" }));
    // @ts-expect-error tools are a list
    compiled(() => new Agent({ model, tools: { weather } }));
    // @ts-expect-error a tool of another make
    compiled(() => new Agent({ model, tools: [weather, { name: "x", description: "y", parameters: {} }] }));
    // @ts-expect-error its name is system
    compiled(() => new Agent({ model, instructions: "Be brief." }));
    // @ts-expect-error a number
    compiled(() => new Agent({ model, maxSteps: "20" }));
    // @ts-expect-error its name is rules
    compiled(() => new Agent({ model, stopWhen: maxSteps(3) }));
    // @ts-expect-error no such end
    compiled(() => new Agent({ model, onLimit: "throw" }));
    // @ts-expect-error its name is usd
    compiled(() => new Agent({ model, budget: { dollars: 1 } }));
    // @ts-expect-error its name is modelCalls
    compiled(() => budget({ requests: 3 }));
    // @ts-expect-error its name is maxOutputTokens
    compiled(() => new Agent({ model, settings: { maxTokens: 3 } }));
    // @ts-expect-error no such level
    compiled(() => new Agent({ model, settings: { reasoning: "most" } }));
    // @ts-expect-error its word is any
    compiled(() => new Agent({ model, toolChoice: "required" }));
    // @ts-expect-error its name is attempts
    compiled(() => new Agent({ model, retry: { maxRetries: 3 } }));
    // @ts-expect-error its name is at
    compiled(() => new Agent({ model, context: { compaction: { threshold: 0.5 } } }));
    // @ts-expect-error a list
    compiled(() => new Agent({ model, fallback: model }));
    // @ts-expect-error a journal is needed
    compiled(() => new Agent({ model, journal: "rondo.db" }));
    // @ts-expect-error given by as
    compiled(() => new Agent({ model, dependencies: [user] }));
    // @ts-expect-error its name is secrets
    compiled(() => new Agent({ model, redact: { secret: ["x"] } }));
    // @ts-expect-error its name is idleMs
    compiled(() => new Agent({ model, clocks: { idle: 3 } }));
    // @ts-expect-error a schema that says its own type is held to it
    compiled(() => new Agent<{ city: number }>({ model, output: city }));
    // @ts-expect-error and so is one of TypeBox
    compiled(() => new Agent<{ n: string }>({ model, output: typed<{ n: number }>("object") }));
    // @ts-expect-error a preset has options of its own
    compiled(() => steerable({ model, maxTurns: 3 }));
    compiled((schema = {} as SchemaLike) => new Agent({ model, output: schema, journal: memoryJournal() }));
  });

  test("rules and hooks that return unknown values", () => {
    // @ts-expect-error steps are a number
    compiled(() => new Agent({ model, rules: [({ steps }) => steps.length > 3] }));
    // @ts-expect-error it is to be called
    compiled(() => new Agent({ model, rules: [maxSteps] }));
    // @ts-expect-error the memory is a number
    compiled((): Rule<number> => ({ name: "n", version: 1, init: () => "0", fold: (count) => count }));
    // @ts-expect-error no such verdict
    compiled((): Rule => ({ name: "n", version: 1, judgeCall: () => ({ do: "deny" }) }));
    // @ts-expect-error misspelt
    compiled(() => new Agent({ model, hooks: { permission: () => "alow" } }));
    // @ts-expect-error its name is tools
    compiled(() => new Agent({ model, hooks: { prepareStep: () => ({ activeTools: ["t"] }) } }));
    // @ts-expect-error its word is any
    compiled(() => new Agent({ model, hooks: { prepareStep: () => ({ toolChoice: "required" }) } }));
    // @ts-expect-error a result stands under result
    compiled(() => new Agent({ model, hooks: { beforeTool: () => ({ proceed: false, output: "no" }) } }));
    // @ts-expect-error its name is content
    compiled(() => new Agent({ model, hooks: { afterTool: () => ({ result: "no" }) } }));
    // @ts-expect-error messages
    compiled(() => new Agent({ model, hooks: { transformContext: (messages) => [...messages, "no"] } }));
    // @ts-expect-error no such hook
    compiled(() => new Agent({ model, hooks: { onToolStart: () => {} } }));
  });

  test("unknown members of runs, results and events", () => {
    // @ts-expect-error the task comes first, as it is
    compiled(() => agent.run({ prompt: "go" }));
    // @ts-expect-error its name is signal
    compiled(() => agent.run("go", { abortSignal: AbortSignal.timeout(3) }));
    // @ts-expect-error a list of what dependency(…).as gives
    compiled(() => agent.run("go", { dependencies: { user } }));
    // @ts-expect-error the key has another type
    compiled(() => user.as({ nam: "Ada" }));
    // @ts-expect-error a user has no age
    compiled(async ({ resolve } = {} as ToolContext) => (await resolve(user)).age);
    // @ts-expect-error an id is a text
    compiled(() => agent.open(3));
    // @ts-expect-error it may have none: it was parked, or did not fit
    compiled(async () => (await agent.run("go")).output.city);
    // @ts-expect-error a run that waits has no end yet
    compiled(async () => (await agent.run("go")).end.reason);
    // @ts-expect-error its name is end.reason
    compiled(async () => (await agent.run("go")).finishReason);
    // @ts-expect-error a stream is no promise: its result is
    compiled(() => agent.stream("go").then(() => {}));
    compiled(async () => {
      for await (const event of agent.stream("go")) {
        // @ts-expect-error its word is text_delta
        if (event.type === "text-delta") return;
        // @ts-expect-error its name stands in call
        if (event.type === "tool_start") return event.toolName;
      }
      return undefined;
    });
    // @ts-expect-error arguments are an object
    compiled(() => call("t", "y"));
    // @ts-expect-error a turn is made by say, call, …
    compiled(() => scripted([{ text: "hi" }]));
  });
});
