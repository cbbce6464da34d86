// The tool layer: what becomes of arguments and failures, what tools are given, how they end a run, and what is made
// of what they return. Through the Agent.

import {
  Agent,
  type AgentOptions,
  DoneSignal,
  dependency,
  type JsonObject,
  type RunResult,
  TaskComplete,
  type Tool,
  type ToolContext,
  tool,
  toolResult,
} from "@rondo/core";
import { managedContext } from "@rondo/core/presets";
import { badArgs, call, calls, say, scripted, stop, type Turn } from "@rondo/testkit";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { doing, resultsOf } from "./presets/managed-support.ts";

/** A run of a managed-context agent over one script. */
function managed(
  script: readonly Turn[],
  tools: readonly Tool[],
  more: Partial<AgentOptions> = {},
): Promise<RunResult> {
  return new Agent({ ...managedContext({ model: scripted(script), tools }), ...more }).run("go");
}

/** The one result of one call of one tool. */
async function resultFrom(execute: Tool["execute"], more: Partial<AgentOptions> = {}): Promise<string> {
  const { messages } = await managed([call("t"), say("done")], [doing("t", execute)], more);
  return resultsOf(messages)[0] ?? "";
}

describe("what is wrong with a call", () => {
  test("D4.21 an unknown tool is named in an error result, and the loop continues", async () => {
    const { messages, text } = await managed([call("nowhere"), say("done")], []);
    expect(resultsOf(messages)).toEqual(["Error: Unknown tool 'nowhere' (error)"]);
    expect(text).toBe("done");
  });

  test("D4.22 arguments that are not JSON are passed to the tool as text", async () => {
    const raw: string[] = [];
    const reads = doing("reads", () => "parsed", {
      executeRaw: (text: string) => {
        raw.push(text);
        return `got ${text}`;
      },
    });
    const script = [badArgs("reads", '{"a": 1'), badArgs("reads", ""), say("done")];
    const { messages } = await managed(script, [reads]);
    expect(raw).toEqual(['{"a": 1', ""]);
    expect(resultsOf(messages)).toEqual(['got {"a": 1', "got "]);
  });

  test("D4.22 a tool without executeRaw has a result that says what is wrong with the JSON", async () => {
    const { messages } = await managed([badArgs("t", "{nope"), say("done")], [doing("t", () => "ran")]);
    expect(resultsOf(messages)[0]).toMatch(/^Error: Invalid tool arguments JSON for t: .*JSON.* \(error\)$/);
  });

  test("D4.22 D4.23 arguments that are JSON but no object are not invalid JSON: they do not fit", async () => {
    for (const raw of ["[1]", "null", '"text"', "7"]) {
      const { messages } = await managed([badArgs("t", raw), say("done")], [doing("t", () => "ran")]);
      expect(resultsOf(messages)[0]).toBe(
        `Error: Tool input validation failed for t: the arguments must be a JSON object. As received: ${raw} (error)`,
      );
    }
  });

  test("unreadable arguments of a truncated answer never run, even with executeRaw", async () => {
    const raw: string[] = [];
    const reads = doing("reads", () => "parsed", { executeRaw: (text: string) => void raw.push(text) });
    const { messages } = await managed([[badArgs("reads", '{"a'), stop("max_tokens")], say("done")], [reads]);
    expect(raw).toEqual([]);
    expect(resultsOf(messages)[0]).toMatch(/^Error: Invalid tool arguments JSON for reads/);
  });

  test("by default unreadable arguments never run", async () => {
    const raw: string[] = [];
    const reads = doing("reads", () => "parsed", { executeRaw: (text: string) => void raw.push(text) });
    const model = scripted([badArgs("reads", "{"), say("done")]);
    const { messages } = await new Agent({ model, tools: [reads] }).run("go");
    expect(raw).toEqual([]);
    expect(resultsOf(messages)[0]).toMatch(/^Error: reads was not executed/);
  });

  test("D4.23 arguments that do not fit are reported with the validator's own text", async () => {
    const strict = tool({
      name: "strict",
      description: "s",
      inputSchema: z.object({ n: z.number() }),
      execute: () => "ran",
    });
    const { messages } = await managed([call("strict", { n: "many" }), say("done")], [strict]);
    expect(resultsOf(messages)[0]).toMatch(
      /^Error: Tool input validation failed for strict: n: Invalid input: expected number.* \(error\)$/,
    );
  });

  test("several errors of a JSON Schema are one list, and an unknown key is in it once", async () => {
    const strict = tool({
      name: "strict",
      description: "s",
      inputSchema: {
        type: "object",
        properties: { a: { type: "string" }, n: { type: "integer" } },
        required: ["a", "n"],
        additionalProperties: false,
      },
      execute: () => "ran",
    });
    const { messages } = await managed([call("strict", { a: {}, z: 3 }), say("done")], [strict]);
    expect(resultsOf(messages)[0]).toBe(
      'Error: Tool input validation failed for strict: Instance does not have required property "n"; a: Instance type "object" is invalid. Expected "string"; z: not allowed (error)',
    );
  });

  test("D4.24 what a tool throws becomes its message, an error, and the loop continues", async () => {
    const boom = (): never => {
      throw new Error("boom");
    };
    const script = [call("t"), call("t"), say("done")];
    const { messages, text } = await managed(script, [doing("t", boom)]);
    expect(resultsOf(messages)).toEqual(["Error: boom (error)", "Error: boom (error)"]);
    expect(text).toBe("done");
  });

  test("D4.29 an abort error that a tool throws by itself is its result and no abort", async () => {
    for (const name of ["AbortError", "APIUserAbortError"]) {
      const error = Object.assign(new Error("gave up"), { name });
      expect(await resultFrom(() => Promise.reject(error))).toBe("Error: gave up (error)");
    }
    expect(await resultFrom(() => AbortSignal.abort().throwIfAborted())).toMatch(/aborted \(error\)$/);
  });
});

describe("masked failures", () => {
  test("are a fixed text for the model, and only a warning says why", async () => {
    const model = scripted([call("t"), say("done")]);
    const leaky = doing("t", () => {
      throw new Error("password=hunter2");
    });
    const agent = new Agent({ model, tools: [leaky], toolErrors: "masked" });
    const warnings: unknown[] = [];
    const { messages } = await agent.run("go", {
      onEvent: (event) => event.type === "warning" && warnings.push([event.code, event.message]),
    });
    expect(resultsOf(messages)).toEqual(["Error: t failed. (error)"]);
    expect(JSON.stringify(messages)).not.toContain("hunter2");
    expect(warnings).toEqual([["tool_error", "t (call_1): password=hunter2"]]);
  });

  test("do not include arguments that do not fit, because these are no secret", async () => {
    const strict = tool({
      name: "t",
      description: "t",
      inputSchema: z.object({ n: z.number() }),
      execute: () => "ran",
    });
    const model = scripted([call("t"), say("done")]);
    const { messages } = await new Agent({ model, tools: [strict], toolErrors: "masked" }).run("go");
    expect(resultsOf(messages)[0]).toContain("n: Invalid input");
  });

  test("an unknown option is refused by name", () => {
    const options = { model: scripted([]), toolErrors: "hidden" as never };
    expect(() => new Agent(options)).toThrow("option toolErrors: one of message, masked is needed");
  });
});

describe("the agent's options for arguments", () => {
  const inputSchema = {
    type: "object",
    properties: {
      n: { type: "number" },
      place: { type: "object", properties: { city: { type: "string" } } },
    },
  } as const;
  const seen: unknown[] = [];
  const noting = (more: object = {}): Tool =>
    tool({ name: "t", description: "t", inputSchema, execute: (args) => void seen.push(args), ...more });
  const run = async (args: JsonObject, options: Partial<AgentOptions>, one = noting()): Promise<string> => {
    seen.length = 0;
    const model = scripted([call("t", args), say("done")]);
    const { messages } = await new Agent({ model, tools: [one], ...options }).run("go");
    return resultsOf(messages)[0] ?? "";
  };
  const odd = { n: 1, zip: 2, place: { city: "Rome", street: "x" } };

  test("unknown keys are allowed, stripped, or refused by their names", async () => {
    await run(odd, {});
    expect(seen).toEqual([odd]);
    await run(odd, { unknownKeys: "strip" });
    expect(seen).toEqual([{ n: 1, place: { city: "Rome" } }]);
    expect(await run(odd, { unknownKeys: "reject" })).toContain(
      'unknown keys "zip", "place.street"; known: "n", "place"',
    );
    expect(seen).toEqual([]);
    expect(await run({ zip: 1 }, { unknownKeys: "reject" })).toContain('unknown key "zip"');
  });

  test("a tool's own options override them, also for coercion", async () => {
    await run(odd, { unknownKeys: "reject" }, noting({ unknownKeys: "allow" }));
    expect(seen).toEqual([odd]);
    await run({ n: "1" }, {});
    expect(seen).toEqual([{ n: 1 }]);
    expect(await run({ n: "1" }, { coerce: false })).toContain("error");
    await run({ n: "1" }, { coerce: false }, noting({ coerce: true }));
    expect(seen).toEqual([{ n: 1 }]);
  });

  test("keys are unknown only if the schema can be read completely", async () => {
    const open = (more: object): Tool => noting({ inputSchema: { ...inputSchema, ...more } });
    for (const more of [
      { additionalProperties: true },
      { additionalProperties: { type: "number" } },
      { patternProperties: { "^z": {} } },
      { anyOf: [{ properties: { zip: {} } }] },
      { unevaluatedProperties: { type: "number" } },
      { dependencies: { zip: ["n"], n: { properties: { zip: {} } } } },
    ]) {
      await run({ n: 1, zip: 2 }, { unknownKeys: "reject" }, open(more));
      expect(seen).toEqual([{ n: 1, zip: 2 }]);
    }
    const inside = { place: { city: "Rome", zip: 2 } };
    const further = { allOf: [{ properties: { place: { properties: { zip: { type: "number" } } } } }] };
    await run(inside, { unknownKeys: "strip" }, open(further));
    expect(seen).toEqual([inside]);
    await run({ any: 1 }, { unknownKeys: "reject" }, noting({ inputSchema: { type: "object" } }));
    expect(seen).toEqual([{ any: 1 }]);
  });
});

describe("unknown keys in the items of a list", () => {
  const a = { type: "object", properties: { a: {} } };
  const b = { type: "object", properties: { b: {} } };
  const given = {
    list: [
      { a: 1, b: 1 },
      { a: 2, b: 2 },
    ],
  };

  test.each([
    ["that are all of one kind", { items: a }, [{ a: 1 }, { a: 2 }]],
    ["of which the first is of another kind", { prefixItems: [a], items: b }, [{ a: 1 }, { b: 2 }]],
    ["as older drafts say that", { items: [a], additionalItems: b }, [{ a: 1 }, { b: 2 }]],
    ["of which only the first is known", { prefixItems: [a] }, [{ a: 1 }, { a: 2, b: 2 }]],
  ])("%s depend on the schema of each item", async (_what, list, kept) => {
    const inputSchema = { type: "object", properties: { list: { type: "array", ...list } } };
    const one = tool({ name: "t", description: "t", inputSchema, unknownKeys: "strip", execute: () => "" });
    expect(await one.check(given)).toEqual({ ok: true, args: { list: kept }, value: { list: kept } });
  });
});

describe("ending the run from a tool", () => {
  test("D4.25 a thrown TaskComplete and a returned DoneSignal both end the run, and the model's side has `Task complete`", async () => {
    const ways: Tool["execute"][] = [
      () => {
        throw new TaskComplete("all set");
      },
      () => Promise.reject(new TaskComplete("all set")),
      () => new DoneSignal("all set"),
      async () => {
        throw new DoneSignal("all set");
      },
    ];
    for (const way of ways) {
      const { messages, text, end } = await managed([call("t")], [doing("t", way)]);
      expect([resultsOf(messages), text, end?.reason]).toEqual([["Task complete"], "all set", "done_tool"]);
    }
    const silent = await managed([[say("I am through."), call("t")]], [doing("t", () => new DoneSignal())]);
    expect(silent.text).toBe("I am through.");
    expect((await managed([call("t")], [doing("t", () => new DoneSignal(""))])).text).toBe("");
  });
});

describe("requesting approval", () => {
  const asked: string[] = [];
  const run = (
    canExecuteTool: NonNullable<Parameters<typeof managedContext>[0]["canExecuteTool"]>,
    script: readonly Turn[] = [call("t"), say("done")],
  ): Promise<RunResult> => {
    const model = scripted(script);
    const tools = [doing("t", () => "ran")];
    return new Agent(managedContext({ model, tools, canExecuteTool })).run("go");
  };

  test("D4.26 a denial has its reason in the result, or a plain text without one", async () => {
    const withReason = await run(() => ({ decision: "deny", reason: "not on Fridays" }));
    expect(resultsOf(withReason.messages)).toEqual(["Permission denied: not on Fridays (error)"]);
    const plain = await run(() => ({ decision: "deny" }));
    expect(resultsOf(plain.messages)).toEqual(["Permission denied (error)"]);
    expect(plain.text).toBe("done");
    expect(resultsOf((await run(() => ({ decision: "allow" }))).messages)).toEqual(["ran"]);
  });

  test("D4.26 a denial that stops the turn ends the run with its own text", async () => {
    const { messages, text, end } = await run(() => ({ decision: "deny", reason: "no", stopTurn: true }));
    expect(resultsOf(messages)).toEqual(["Permission denied: no (error)"]);
    expect(text).toBe(
      "Permission request was denied. Turn stopped. Please send your next input to continue.",
    );
    expect(end?.reason).toBe("turn_stopped");
  });

  test("D4.26 a hook that throws denies the call, saying that the check failed", async () => {
    const { messages, text } = await run(() => Promise.reject(new Error("no idea")));
    expect(resultsOf(messages)).toEqual(["Permission check failed: no idea (error)"]);
    expect(text).toBe("done");
  });

  test("D4.26 an unknown tool is reported, without a request for approval", async () => {
    asked.length = 0;
    const { messages } = await run(
      ({ name }) => {
        asked.push(name);
        return { decision: "allow" };
      },
      [calls([["nowhere"], ["t"]]), say("done")],
    );
    expect(resultsOf(messages)).toEqual(["Error: Unknown tool 'nowhere' (error)", "ran"]);
    expect(asked).toEqual(["t"]);
  });
});

describe("results", () => {
  test("D4.27 a string is itself, a tool result is passed on, everything else is JSON or its own text", async () => {
    expect(await resultFrom(() => "as it is")).toBe("as it is");
    expect(await resultFrom(() => toolResult("told", { isError: true }))).toBe("told (error)");
    expect(await resultFrom(() => ({ a: [1, null] }))).toBe('{"a":[1,null]}');
    expect(await resultFrom(() => [{ type: "text", text: "a" }, { a: 1 }])).toBe(
      '[{"type":"text","text":"a"},{"a":1}]',
    );
    expect(await resultFrom(() => 42)).toBe("42");
    expect(await resultFrom(() => 42n)).toBe("42");
    const circle: { self?: unknown } = {};
    circle.self = circle;
    expect(await resultFrom(() => circle)).toBe("[object Object]");
  });

  test("D4.27 nothing is JSON too, and what JSON lacks is its own text", async () => {
    expect(await resultFrom(() => null)).toBe("null");
    expect(await resultFrom(() => ({ a: 1n }))).toBe("[object Object]");
    expect(await resultFrom(() => [1n, 2n])).toBe("1,2");
    expect(
      await resultFrom(() => ({
        toJSON: () => {
          throw new Error("no");
        },
        toString: () => "own",
      })),
    ).toBe("own");
    const raw = doing("t", () => "read", { executeRaw: () => null });
    expect(resultsOf((await managed([badArgs("t", "{"), say("done")], [raw])).messages)).toEqual(["null"]);
  });

  test("D4.27 a list of outputs becomes parts: texts, links, JSON, images and blobs", async () => {
    const outputs = [
      { type: "text", text: "here:" },
      { type: "link", url: "https://example.org/a" },
      { type: "json", json: { a: 1 } },
      { type: "image", data: new Uint8Array([1, 2]), name: "a.png" },
      { type: "image", url: "https://example.org/b.jpg", mediaType: "image/jpeg" },
      { type: "blob", data: "AAEC", mediaType: "application/zip", name: "a.zip" },
    ] as const;
    const whole = [
      { type: "text", text: "here:" },
      { type: "text", text: "https://example.org/a" },
      { type: "text", text: '{"a":1}' },
      { type: "file", mediaType: "image/png", data: "AQI=", name: "a.png" },
      { type: "file", mediaType: "image/jpeg", url: "https://example.org/b.jpg" },
      { type: "file", mediaType: "application/zip", data: "AAEC", name: "a.zip" },
    ];
    for (const returned of [() => [...outputs], () => toolResult(outputs)]) {
      const { messages } = await managed([call("t"), say("done")], [doing("t", returned)]);
      expect(messages[2]?.content).toEqual(whole);
    }
    // What has further members is somebody's data.
    expect(await resultFrom(() => [{ type: "link", url: "u", title: "t" }])).toBe(
      '[{"type":"link","url":"u","title":"t"}]',
    );
  });

  test("D4.27 optional inputs stay optional, and a union of objects is declared as an object", async () => {
    const seen: unknown[] = [];
    const optional = tool({
      name: "optional",
      description: "o",
      inputSchema: z.object({ a: z.string(), b: z.string().optional(), c: z.number().default(3) }),
      execute: (args) => void seen.push(args),
    });
    const union = tool({
      name: "union",
      description: "u",
      inputSchema: z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]),
      execute: (args) => void seen.push(args),
    });
    const script = [
      calls([
        ["optional", { a: "x" }],
        ["union", { b: 1 }],
      ]),
      say("done"),
    ];
    const model = scripted(script);
    await new Agent(managedContext({ model, tools: [optional, union] })).run("go");
    expect(seen).toEqual([{ a: "x", c: 3 }, { b: 1 }]);
    const [first, second] = model.requests[0]?.tools ?? [];
    expect(first?.inputSchema).toMatchObject({ type: "object", required: ["a"] });
    expect(second?.inputSchema).toMatchObject({ type: "object", anyOf: [{}, {}] });
  });
});

describe("what a tool gets", () => {
  test("D4.28 a signal, the clock, given dependencies, and keys that are resolved once a call", async () => {
    let made = 0;
    const counter = dependency("counter", () => ({ number: ++made }));
    const other = dependency("config", async () => "made");
    const twin = dependency("counter", () => ({ number: -1 }));
    const seen: unknown[] = [];
    const uses = doing("uses", async (_args: never, context: ToolContext) => {
      const first = await context.resolve(counter);
      expectTypeOf(first).toEqualTypeOf<{ number: number }>();
      expect(await context.resolve(counter)).toBe(first);
      // One id is one key, whoever made it.
      expect(await context.resolve(twin)).toBe(first);
      expect(context.signal.aborted).toBe(false);
      seen.push(first.number, await context.resolve(other), { ...context.deps }, context.now());
    });
    const clock = { now: () => 1_234, random: () => 0, after: () => () => {} };
    const script = [call("uses"), call("uses"), say("done")];
    await managed(script, [uses], { clock, dependencies: [other.as("given")] });
    expect(seen).toEqual([1, "given", { config: "given" }, 1_234, 2, "given", { config: "given" }, 1_234]);
  });

  test("D4.28 a value that is no key is refused with its kind", async () => {
    const nothing = "resolve: what dependency(…) gives is needed, not";
    for (const [given, what] of [
      ["counter", '"counter"'],
      [undefined, "undefined"],
    ] as const)
      expect(
        await resultFrom(async (_args: never, { resolve }: ToolContext) => resolve(given as never)),
      ).toBe(`Error: ${nothing} ${what} (error)`);
  });

  test("D4.28 a key that cannot create its value makes its call fail, each time with the same error", async () => {
    const broken = dependency("broken", (): string => {
      throw new Error("no database");
    });
    const execute = async (_args: never, { resolve }: ToolContext): Promise<string> => {
      const first = await resolve(broken).catch((thrown: unknown) => thrown);
      const second = await resolve(broken).catch((thrown: unknown) => thrown);
      expect(first).toBe(second);
      return resolve(broken);
    };
    expect(await resultFrom(execute)).toBe("Error: no database (error)");
  });

  test("a key without a default makes its call fail where no value is given, and names what to give", async () => {
    const user = dependency<string>("user");
    const execute = async (_args: never, { resolve }: ToolContext): Promise<string> => resolve(user);
    expect(await resultFrom(execute)).toBe(
      'Error: the dependency "user" has no value: give one with the run or the session (dependencies: [key.as(value)]), or to the agent (error)',
    );
  });

  test("D1.2 dependencies of one run override those of the agent", async () => {
    const name = dependency("name", () => "made");
    const says = doing("t", (_args: never, { resolve }: ToolContext) => resolve(name));
    const options = managedContext({
      model: scripted([call("t"), say("done")], { repeatLast: true }),
      tools: [says],
      dependencyOverrides: [name.as("agent")],
    });
    const model = (): AgentOptions["model"] => scripted([call("t"), say("done")]);
    const agent = (): Agent => new Agent({ ...options, model: model() });
    expect(resultsOf((await agent().run("go")).messages)).toEqual(["agent"]);
    const once = await agent().run("go", { dependencies: [name.as("run")] });
    expect(resultsOf(once.messages)).toEqual(["run"]);
  });
});

test("a hook that gives other arguments to a call whose text was not JSON clears the error", async () => {
  const seen: unknown[] = [];
  const look = tool({
    name: "look",
    description: "looks",
    inputSchema: { type: "object", properties: { at: { type: "number" } } },
    effect: "read",
    execute: (args) => {
      seen.push(args);
      return "seen";
    },
  });
  const agent = new Agent({
    model: scripted([badArgs("look", '{"at":'), say("done")]),
    tools: [look],
    argumentErrors: "pass_raw",
    hooks: { beforeTool: () => ({ args: { at: 7 } }) },
  });
  const session = await agent.open("s");
  const errors: unknown[] = [];
  session.subscribe(({ type }) => {
    if (type === "tool_start") errors.push(session.state.run?.turn?.calls[0]?.argsError);
  });
  await session.send("go");
  expect([seen, errors]).toEqual([[{ at: 7 }], [undefined]]);
});
