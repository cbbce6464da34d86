// The agent strategy's tool safety: what is not called, what is not shown, and what the model reads instead.

import {
  Agent,
  callsOf,
  DoneSignal,
  type Json,
  type JsonObject,
  memoryJournal,
  TaskComplete,
  tool,
  toolResult,
} from "@rondo/core";
import { type AgentStrategyOptions, agentStrategy, parseToolArguments } from "@rondo/core/presets";
import { badArgs, call, calls, part, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { answersOf, dataOf, noting, play, type Strategy, textsOf } from "./strategy-support.ts";

const done = say("done");

/** What comes of one call with these arguments: what the tool saw, and what the model read. */
async function once(
  schema: JsonObject,
  args: JsonObject,
  strategy: Partial<AgentStrategyOptions> = {},
): Promise<{ seen: unknown[]; answer: string }> {
  const seen: unknown[] = [];
  const look = noting("look", seen, () => "ran", schema);
  const { result } = await play({ model: scripted([call("look", args), done]), tools: [look], ...strategy });
  return { seen, answer: answersOf(result)[0] ?? "" };
}

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  ...more,
});

describe("arguments", () => {
  test.each([
    ["", { ok: true, args: {} }],
    ['{"a":[1]}', { ok: true, args: { a: [1] } }],
    [" ", { ok: false, error: "tool arguments must be valid JSON object" }],
    ['{"a":', { ok: false, error: "tool arguments must be valid JSON object" }],
    ["[1]", { ok: false, error: "tool arguments must be a JSON object" }],
    ["null", { ok: false, error: "tool arguments must be a JSON object" }],
    ['"x"', { ok: false, error: "tool arguments must be a JSON object" }],
    ["5", { ok: false, error: "tool arguments must be a JSON object" }],
    [{ a: 1 }, { ok: false, error: "tool arguments must be a JSON object string" }],
    [null, { ok: false, error: "tool arguments must be a JSON object string" }],
    [new Uint8Array([123, 125]), { ok: false, error: "tool arguments must be a JSON object string" }],
  ])("E5.24 are parsed from %j as %j", (raw, read) => {
    expect(parseToolArguments(raw)).toEqual(read);
  });

  test.each([
    [" ", "tool arguments must be valid JSON object"],
    ["[1]", "tool arguments must be a JSON object"],
    ['{"q": "x', "tool arguments must be valid JSON object"],
  ])("E5.24 that cannot be parsed, such as %j, prevent the call", async (raw, error) => {
    const seen: unknown[] = [];
    const model = scripted([badArgs("look", raw), done]);
    const { messages, result } = await play({ model, tools: [noting("look", seen)] });
    expect(seen).toEqual([]);
    expect(answersOf(result)).toEqual([`tool arguments parse error: ${error}`]);
    expect(dataOf(messages, "CALL look")).toMatchObject({
      output: { meta: { error: `tool arguments parse error: ${error}` } },
    });
  });

  test("E5.24 that are empty mean no arguments, and an object in place of a text is refused", async () => {
    const seen: unknown[] = [];
    const model = scripted([
      [
        part({ type: "tool_call", id: "1", name: "look", args: {}, rawArgs: "" }),
        part({ type: "tool_call", id: "2", name: "look", args: { q: "x" }, rawArgs: { q: "x" } as never }),
      ],
      done,
    ]);
    const { result } = await play({ model, tools: [noting("look", seen)] });
    expect(seen).toEqual([{}]);
    expect(answersOf(result)).toEqual([
      "look ran",
      "tool arguments parse error: tool arguments must be a JSON object string",
    ]);
  });

  test("E5.24 that are incomplete never run, even if the part that arrived can be parsed", async () => {
    const seen: unknown[] = [];
    const model = scripted([badArgs("look", "{}", { error: "the stream broke off" }), done]);
    const { result } = await play({ model, tools: [noting("look", seen)] });
    expect([seen, answersOf(result)]).toEqual([
      [],
      ["tool arguments parse error: tool arguments must be valid JSON object"],
    ]);
  });

  test("E5.24 that cannot be parsed are reported before E5.25, that there is no such tool", async () => {
    const model = scripted([[badArgs("nothing", "[]"), call("nothing")], done]);
    const { messages, result } = await play({ model, tools: [noting("look", [])] });
    expect(answersOf(result)).toEqual([
      "tool arguments parse error: tool arguments must be a JSON object",
      "there is not a tool named nothing",
    ]);
    const { output } = dataOf(messages, "ROUND 1") as { output: { tool_responses: JsonObject[] } };
    expect(output.tool_responses[1]?.meta).toEqual({ error: "there is not a tool named nothing" });
  });

  test.each([
    [{ mode: "fast" }, "ran", [{ mode: "fast" }]],
    [
      { mode: "slow" },
      "tool arguments validation error: parameter 'mode' value 'slow' not in options ['fast', 'safe', 3]",
      [],
    ],
    [{ mode: 3 }, "ran", [{ mode: 3 }]],
    [
      { mode: 4 },
      "tool arguments validation error: parameter 'mode' value '4' not in options ['fast', 'safe', 3]",
      [],
    ],
  ])("E5.26 with options: %j becomes %j", async (args, text, calledWith) => {
    for (const argumentChecks of ["strict", "options"] as const) {
      const { seen, answer } = await once(object({ mode: { enum: ["fast", "safe", 3] } }), args, {
        argumentChecks,
      });
      expect([answer, seen]).toEqual([text, calledWith]);
    }
  });

  test("E5.26 that are booleans are compared with options and passed on as text", async () => {
    const schema = object({ flag: { type: "string", enum: ["true", "false"] } });
    expect(await once(schema, { flag: true })).toEqual({ seen: [{ flag: "true" }], answer: "ran" });
    const other = object({ flag: { type: "string", enum: ["yes", "no"] } });
    expect((await once(other, { flag: false })).answer).toBe(
      "tool arguments validation error: parameter 'flag' value 'false' not in options ['yes', 'no']",
    );
  });

  test("E5.29 override runtime parameters, which the tool gets and no record contains", async () => {
    const seen: unknown[] = [];
    const journal = memoryJournal();
    const look = noting(
      "look",
      seen,
      () => "ran",
      object({ q: { type: "string" }, region: { type: "string" } }),
    );
    const strategy = {
      model: scripted([call("look", { q: "a" }), call("look", { q: "a", region: "here" }), done]),
      tools: [look],
      runtimeParameters: { look: { region: "there", api_key: "TOP-SECRET" } },
    };
    await new Agent({ ...agentStrategy(strategy), journal }).run("go", { session: "s" });
    expect(seen).toEqual([
      { q: "a", region: "there", api_key: "TOP-SECRET" },
      { q: "a", region: "here", api_key: "TOP-SECRET" },
    ]);
    expect(JSON.stringify(await journal.read("s"))).not.toContain("TOP-SECRET");
  });

  test.each([
    [{ q: "a", x: 1, y: 2 }, "unknown parameters ['x', 'y']"],
    [{}, "missing required parameter 'q'"],
    [{ q: null }, "missing required parameter 'q'"],
    [{ q: "a", n: "many" }, "parameter 'n' requires integer"],
    [{ q: "a", n: 1.5 }, "parameter 'n' requires integer"],
    [{ q: "a", n: true }, "parameter 'n' requires integer"],
    [{ q: "a", f: "x" }, "parameter 'f' requires number"],
    [{ q: "a", b: "maybe" }, "parameter 'b' requires boolean"],
    [{ q: "a", b: 1 }, "parameter 'b' requires boolean"],
  ])("E5.30 of %j are refused: %s", async (args, error) => {
    const { seen, answer } = await once(strictSchema, args);
    expect([answer, seen]).toEqual([`tool arguments validation error: ${error}`, []]);
  });

  const strictSchema = object(
    {
      q: { type: "string" },
      n: { type: "integer" },
      f: { type: "number" },
      b: { type: "boolean" },
    },
    { required: ["q"] },
  );

  test("E5.30 are missing even if every object inherits a member with their name", async () => {
    const schema = object({ constructor: { type: "string" } }, { required: ["constructor"] });
    const { seen, answer } = await once(schema, {});
    const error = "missing required parameter 'constructor'";
    expect([answer, seen]).toEqual([`tool arguments validation error: ${error}`, []]);
  });

  test("E5.30 are coerced from texts to integers, numbers and booleans", async () => {
    const { seen } = await once(strictSchema, { q: "a", n: " 12 ", f: "1.5e1", b: "True" });
    expect(seen).toEqual([{ q: "a", n: 12, f: 15, b: true }]);
    expect((await once(strictSchema, { q: "a", n: -3, f: 2, b: false })).seen).toEqual([
      { q: "a", n: -3, f: 2, b: false },
    ]);
  });

  test.each<[string, readonly Json[], readonly Json[]]>([
    [
      "n",
      ["2", "+2", "-2", " 2\n", 2],
      ["2.0", "2e0", "a2", "2a", "2 2", "", "+", "--2", "²", 2.5, true, null],
    ],
    [
      "f",
      ["2", "+1.5", "-.5", "1.", "15e3", "1E-2", " 10.25 ", "1e+2", 0.5],
      ["x1", "1x", ".", "e3", "1e", "1,5", "", "0x10", "Infinity", "1e999", "NaN", false, null],
    ],
    ["b", ["true", "FALSE", " True ", "false", false], ["yes", "1", "", "truely", "untrue", 1, 0, null]],
  ])("E5.30 parameter %s is read from %j, and from none of %j", async (name, good, bad) => {
    const read = (value: Json): Json => {
      if (typeof value !== "string") return value;
      return name === "b" ? value.trim().toLowerCase() === "true" : Number(value);
    };
    for (const value of good)
      expect((await once(strictSchema, { q: "a", [name]: value })).seen).toEqual([
        { q: "a", [name]: read(value) },
      ]);
    const type = { n: "integer", f: "number", b: "boolean" }[name];
    for (const value of bad) {
      const { seen, answer } = await once(strictSchema, { q: "a", [name]: value });
      expect([value, answer, seen]).toEqual([
        value,
        `tool arguments validation error: parameter '${name}' requires ${type}`,
        [],
      ]);
    }
  });

  test("E5.29 E5.30 are merged and checked in the same way if the tool's own schema is asynchronous", async () => {
    const late = z.object({ q: z.string(), region: z.string() }).refine(async ({ q }) => q !== "no");
    const seen: unknown[] = [];
    const look = tool({
      name: "look",
      description: "look",
      inputSchema: late,
      execute: (args) => void seen.push(args),
    });
    const strategy = {
      model: scripted([call("look", { q: "a" }), call("look", { q: "no" }), call("look", { x: 1 }), done]),
      tools: [look],
      runtimeParameters: { look: { region: "there", hidden: 1 } },
    };
    const { result } = await play(strategy);
    expect(seen).toEqual([{ q: "a", region: "there", hidden: 1 }]);
    expect(answersOf(result).slice(1)).toEqual([
      expect.stringMatching(/^tool arguments validation error: /),
      "tool arguments validation error: unknown parameters ['x']",
    ]);
    const written = result.messages.flatMap((message) =>
      message.role === "assistant" ? callsOf(message).map((one) => one.args) : [],
    );
    expect(written[0]).toEqual({ q: "a" });
  });

  test("E5.30 count a runtime parameter as given, and refuse unknown keys only with strict", async () => {
    const given = await once(strictSchema, { n: 1 }, { runtimeParameters: { look: { q: "rt" } } });
    expect(given.seen).toEqual([{ q: "rt", n: 1 }]);
    const lax = await once(strictSchema, { q: "a", x: 1 }, { argumentChecks: "options" });
    expect(lax.seen).toEqual([{ q: "a", x: 1 }]);
  });

  test.each<[Partial<AgentStrategyOptions>, boolean]>([
    [{}, false],
    [{ allowSchemalessToolArgs: true }, false],
    [{ env: { GPT5_AGENT_ALLOW_SCHEMELESS_OVERRIDE: "1" } }, false],
    [{ allowSchemalessToolArgs: true, env: { GPT5_AGENT_ALLOW_SCHEMELESS_OVERRIDE: "0" } }, false],
    ...["1", "true", "YES", " on "].map((word): [Partial<AgentStrategyOptions>, boolean] => [
      { allowSchemalessToolArgs: true, env: { GPT5_AGENT_ALLOW_SCHEMELESS_OVERRIDE: word } },
      true,
    ]),
  ])(
    "E5.30 for a tool without a schema need both switches: %j lets them in: %s",
    async (strategy, allowed) => {
      const { seen, answer } = await once(object({}), { q: "a" }, strategy);
      expect(seen).toEqual(allowed ? [{ q: "a" }] : []);
      expect(answer).toBe(
        allowed ? "ran" : "tool arguments validation error: schema is required for tool 'look'",
      );
      expect((await once(object({}), {}, strategy)).answer).toBe("ran");
    },
  );

  test("E5.30 are unknown, or without a schema, only if the schema can be read completely and allows no others", async () => {
    const branch = (name: string): JsonObject => ({
      ...object({ kind: { const: name }, [name]: { type: "string" } }),
      required: ["kind", name],
    });
    const either: JsonObject = { type: "object", oneOf: [branch("city"), branch("zip")] };
    const open = (more: JsonObject): JsonObject => ({ ...object({ q: { type: "string" } }), ...more });
    for (const [schema, args] of [
      [either, { kind: "zip", zip: "1" }],
      [open({ additionalProperties: { type: "number" } }), { q: "a", n: 1 }],
      [open({ additionalProperties: true }), { q: "a", x: "b" }],
      [open({ patternProperties: { "^x": { type: "string" } } }), { xy: "b" }],
      [{ type: "object", additionalProperties: { type: "number" } }, { n: 1 }],
    ] as [JsonObject, JsonObject][]) {
      const { seen, answer } = await once(schema, args);
      expect([seen, answer]).toEqual([[args], "ran"]);
    }
    // What they are is then the schema's own to say.
    const wrong = await once(either, { kind: "zip", city: "Rome" });
    expect([wrong.seen, wrong.answer.startsWith("tool arguments validation error: ")]).toEqual([[], true]);
    for (const more of [{ additionalProperties: true }, { additionalProperties: {} }])
      expect((await once({ ...object({}), ...more }, { q: "a" })).answer).toBe(
        "tool arguments validation error: schema is required for tool 'look'",
      );
  });

  test("E5.30 for a tool without a schema are limited to 16 keys of 64 characters and values of 2,048", async () => {
    const both = { allowSchemalessToolArgs: true, env: { GPT5_AGENT_ALLOW_SCHEMELESS_OVERRIDE: "1" } };
    const keys = (count: number): JsonObject =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 1]));
    const ok: JsonObject[] = [keys(16), { ["k".repeat(64)]: 1 }, { k: "v".repeat(2_046) }];
    for (const args of ok) expect((await once(object({}), args, both)).answer).toBe("ran");
    const wrong: JsonObject[] = [keys(17), { ["k".repeat(65)]: 1 }, { k: "v".repeat(2_047) }];
    for (const args of wrong)
      expect((await once(object({}), args, both)).answer).toMatch(/^tool arguments validation error: .*max/);
    // A character is a code point, as in the logs.
    for (const args of [{ ["😀".repeat(64)]: 1 }, { k: "😀".repeat(2_046) }])
      expect((await once(object({}), args, both)).answer).toBe("ran");
    for (const args of [{ ["😀".repeat(65)]: 1 }, { k: "😀".repeat(2_047) }])
      expect((await once(object({}), args, both)).answer).toMatch(/: (65|2049) characters, max/);
  });
});

describe("a tool that tells the loop that it is done", () => {
  test("X30 ends the run with a DoneSignal or a TaskComplete, returned or thrown, without a failure", async () => {
    for (const Word of [DoneSignal, TaskComplete])
      for (const thrown of [false, true]) {
        const heard: unknown[] = [];
        const logger = { debug() {}, info() {}, warn() {}, error: (said: unknown) => void heard.push(said) };
        const look = noting("look", [], () => {
          const word = new Word("finished");
          if (thrown) throw word;
          return word;
        });
        const { result } = await play({ model: scripted([call("look"), done]), tools: [look], logger });
        expect([answersOf(result), result.text, result.end?.reason, heard]).toEqual([
          ["Task complete"],
          "finished",
          "done_tool",
          [],
        ]);
      }
  });

  test("keeps its entries for the ledger", async () => {
    const ledger = [{ kind: "decision", text: "use the blue one" }] as const;
    const look = noting("look", [], () => toolResult("seen", { ledger }));
    const journal = memoryJournal();
    const options = agentStrategy({ model: scripted([call("look"), done]), tools: [look] });
    await new Agent({ ...options, journal }).run("go", { session: "s" });
    const results = (await journal.read("s")).filter((record) => record.type === "tool_finished");
    expect(results).toMatchObject([{ result: { ledger: [{ kind: "decision", text: "use the blue one" }] } }]);
  });
});

describe("failures", () => {
  test("E5.27 of a tool become one sentence for the model, and only the log gets the details", async () => {
    const heard: unknown[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (...said: unknown[]) => void heard.push(said) };
    const look = noting("look", [], () => {
      throw new Error("password=hunter2 at /etc/app");
    });
    const model = scripted([call("look"), done]);
    const { messages, result } = await play({ model, tools: [look], logger });
    expect(answersOf(result)).toEqual(["tool invoke error: failed to execute tool"]);
    expect(JSON.stringify([messages, result.messages])).not.toContain("hunter2");
    expect(JSON.stringify(heard)).toContain("hunter2");
  });

  test("E5.28 are not repeated with the same parameters, in any order, in the same run", async () => {
    const seen: unknown[] = [];
    const look = noting(
      "look",
      seen,
      () => {
        throw new Error("no");
      },
      object({ a: { type: "integer" }, b: { type: "integer" } }),
    );
    const skipped = "tool invoke error: repeated failure detected; skipped duplicate call";
    const failed = "tool invoke error: failed to execute tool";
    const model = scripted([
      call("look", { a: 1, b: 2 }),
      call("look", { b: 2, a: 1 }),
      call("look", { a: 1, b: 3 }),
      call("look", { a: 1, b: 2 }),
      done,
      call("look", { a: 1, b: 2 }),
      done,
    ]);
    const agent = new Agent(agentStrategy({ model, tools: [look] }));
    const session = await agent.open("s");
    expect(answersOf(await session.send("go"))).toEqual([failed, skipped, failed, skipped]);
    expect(seen).toHaveLength(2);
    expect(answersOf(await session.send("again")).at(-1)).toBe(failed);
    expect(seen).toHaveLength(3);
  });

  test("E5.28 skip the second of two equal calls in one answer, comparing runtime parameters too", async () => {
    const seen: unknown[] = [];
    const look = noting("look", seen, () => {
      throw new Error("no");
    });
    const model = scripted([calls([["look"], ["look", { q: "rt" }], ["look", { q: "x" }]]), done]);
    const { result } = await play({ model, tools: [look], runtimeParameters: { look: { q: "rt" } } });
    expect(answersOf(result)).toEqual([
      "tool invoke error: failed to execute tool",
      "tool invoke error: repeated failure detected; skipped duplicate call",
      "tool invoke error: failed to execute tool",
    ]);
    expect(seen).toEqual([{ q: "rt" }, { q: "x" }]);
  });

  test("E5.28 count only what a tool throws, not errors it returns nor arguments that do not fit", async () => {
    const seen: unknown[] = [];
    const look = noting("look", seen, () => toolResult("not today", { isError: true }));
    const model = scripted([
      call("look"),
      call("look"),
      call("look", { x: 1 }),
      call("look", { x: 1 }),
      done,
    ]);
    const { result } = await play({ model, tools: [look] });
    expect(answersOf(result)).toEqual([
      "not today",
      "not today",
      "tool arguments validation error: unknown parameters ['x']",
      "tool arguments validation error: unknown parameters ['x']",
    ]);
    expect(seen).toHaveLength(2);
  });
});

describe("what a tool returns", () => {
  const png = { type: "file" as const, mediaType: "image/png", data: "aGk=" };
  const imageText = "image generated and sent to user. Tell user to review it now.";
  test.each<[string, unknown, string]>([
    ["a text", "plain", "plain"],
    ["a text output", { type: "text", text: "t" }, "t"],
    [
      "a link",
      { type: "link", url: "https://x.y" },
      "result link: https://x.y. please tell user to check it.",
    ],
    ["a JSON output", { type: "json", json: { a: [1] } }, 'tool response: {"a":[1]}.'],
    ["an object", { a: 1 }, 'tool response: {"a":1}.'],
    ["an image", { type: "image", url: "https://x.y/a.png" }, imageText],
    ["an image part", [png], imageText],
    [
      "a blob",
      { type: "blob", data: new Uint8Array([1]), mediaType: "application/pdf" },
      "Generated file ... ",
    ],
    ["a number", 5, "tool response: 5."],
    ["a map", new Map([["a", 1]]), 'tool response: {"a":1}.'],
    [
      "an error",
      { why: new RangeError("far") },
      'tool response: {"why":{"name":"RangeError","message":"far"}}.',
    ],
    ["bytes", { all: new Uint8Array(9) }, 'tool response: {"all":"[binary, 9 bytes]"}.'],
    ["a text as JSON", { type: "json", json: "a" }, 'tool response: "a".'],
    [
      "pieces, joined without anything between",
      [{ type: "text", text: "a" }, { type: "link", url: "u" }, png],
      `aresult link: u. please tell user to check it.${imageText}`,
    ],
  ])("E5.31 %s reads as it should", async (_what, value, text) => {
    const look = noting("look", [], () => value);
    const model = scripted([call("look"), done]);
    const { result } = await play({ model, tools: [look] });
    expect(answersOf(result)).toEqual([text]);
    expect(model.requests[1]?.messages.at(-1)?.content).toEqual([{ type: "text", text }]);
  });

  test("E5.27 that was not awaited or pulled is a failure of the tool, and no empty answer", async () => {
    const logged: unknown[] = [];
    const error = (_what: string, more: unknown): void => void logged.push(more);
    const logger = { debug() {}, info() {}, warn() {}, error };
    for (const value of [new Response("body"), (function* () {})(), [Promise.resolve(1)]]) {
      const model = scripted([call("look"), done]);
      const { result } = await play({ model, logger, tools: [noting("look", [], () => value)] });
      expect(answersOf(result)).toEqual(["tool invoke error: failed to execute tool"]);
    }
    const reason = (kind: string) => expect.stringContaining(`the tool returned ${kind}, which nobody reads`);
    expect(logged).toEqual(
      ["an object of the kind Response", "an object of the kind Generator", "a list of promises"].map(
        (kind) => ({ tool: "look", reason: reason(kind) }),
      ),
    );
  });
});

describe("files", () => {
  const strategy = (localFiles: Strategy["localFiles"], url = "/files/cat.png"): Strategy => ({
    model: scripted([call("draw"), done]),
    tools: [
      tool({
        name: "draw",
        description: "d",
        inputSchema: object({}),
        execute: () => ({ type: "image", url }),
      }),
    ],
    emitIntermediateThoughts: false,
    ...(localFiles === undefined ? {} : { localFiles }),
  });
  const original = (url: string): object => ({
    type: "file",
    file: { type: "file", mediaType: "image/png", url },
  });

  test("E6.32 local images reach the user as a blob, and the original is always passed on", async () => {
    const { messages } = await play(
      strategy(async () => ({ data: new Uint8Array([104, 105]), name: "cat.png" })),
    );
    expect(messages.filter((one) => one.type === "blob" || one.type === "file")).toEqual([
      { type: "blob", blob: "aGk=", meta: { mime_type: "image/png", filename: "cat.png" } },
      original("/files/cat.png"),
    ]);
  });

  test("E6.32 a local image that may not be read is reported in a fixed sentence, without its path", async () => {
    const { messages, result } = await play(
      strategy(() => Promise.reject(new Error("local file is too large: /files/cat.png"))),
    );
    expect(textsOf(messages)).toEqual(["Failed to process generated image file.", "\n", "done"]);
    // What only the user reads is no part of what the tool said.
    expect(dataOf(messages, "CALL draw")).toMatchObject({
      output: { tool_response: "image generated and sent to user. Tell user to review it now." },
    });
    expect(messages.filter((one) => one.type === "file")).toEqual([original("/files/cat.png")]);
    expect(JSON.stringify([textsOf(messages), answersOf(result)])).not.toContain("cat.png");
  });

  test("E6.32 a missing file is no blob, and a path that does not begin with the root is never read", async () => {
    const asked: string[] = [];
    const look = async (path: string): Promise<undefined> => void asked.push(path);
    for (const url of ["/files/none.png", "/etc/passwd", "/filesystem/a", "https://x.y/files/a.png"]) {
      const { messages } = await play(strategy(look, url));
      expect(
        messages.filter((one) => one.type !== "log" && one.type !== "json" && one.type !== "text"),
      ).toEqual([original(url)]);
    }
    expect(asked).toEqual(["/files/none.png"]);
  });
});
