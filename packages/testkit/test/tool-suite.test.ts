import {
  dependency,
  type Json,
  type JsonObject,
  RondoError,
  type Tool,
  type ToolContext,
  tool,
  toolWith,
} from "@rondo/core";
import { type ToolUnderTest, testTool } from "@rondo/testkit";
import { calculate } from "@rondo/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const store = dependency("store", () => new Map<string, string>());

/** A tool with everything a tool may have. */
function note(): ToolUnderTest & { rows: Map<string, string> } {
  const rows = new Map<string, string>();
  const save = tool({
    name: "note",
    description: "Keeps a text under a name",
    inputSchema: z.object({
      name: z.string().max(40),
      text: z.string(),
      waitMs: z.number().int().optional(),
    }),
    effect: "idempotent",
    keys: ({ name }) => [name],
    async execute({ name, text, waitMs = 0 }, context) {
      if (name === "taken") throw new Error("the name is taken");
      if (waitMs > 0) await resting(context.signal, waitMs);
      (await context.resolve(store)).set(name, text);
      return `kept ${name}`;
    },
    reconcile: async (_, { name }, context) =>
      (await context.resolve(store)).has(`${name}/done`) ? { done: `kept ${name}` } : undefined,
  });
  return {
    tool: save,
    effect: "idempotent",
    examples: [
      { name: "a", text: "one" },
      { name: "b", text: "two" },
    ],
    fails: [{ name: "taken", text: "" }],
    slow: { name: "c", text: "", waitMs: 60_000 },
    world: () => [...rows],
    dependencies: [store.as(rows)],
    abortWithinMs: 300,
    rows,
  };
}

/** Waits, or gives up with its signal. */
function resting(signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const give = (): void => {
      clearTimeout(timer);
      reject(new Error("aborted"));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", give);
      resolve();
    }, ms);
    signal.addEventListener("abort", give, { once: true });
  });
}

describe("a tool that is as it should be", () => {
  testTool(note(), it);
  testTool(
    {
      tool: calculate(),
      effect: "read",
      examples: [{ expression: "2 * (3 + 4)" }],
      fails: [{ expression: "2 *" }],
    },
    it,
  );
});

it("may be given more time to hear an abort than a timer of Node can be set to", async () => {
  const good = note();
  const late = toolWith(good.tool, {
    execute: (_: never, { signal }) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => setTimeout(() => resolve("late"), 20), { once: true }),
      ),
  });
  const checks = testTool({ ...good, tool: late, abortWithinMs: 2 ** 32 });
  await checks.find(({ name }) => name.endsWith("an abort is heard in time"))?.run();
  expect(checks.map(({ name }) => name)).toContain("note: an abort is heard in time");
});

type Broken = Partial<ToolUnderTest>;

const withTool = (change: (good: Tool) => Partial<Tool>): ((good: ToolUnderTest) => Broken) => {
  return ({ tool: good }) => ({ tool: toolWith(good, change(good)) });
};

const executing = (
  execute: (args: JsonObject, context: ToolContext, good: Tool) => unknown,
): ((good: ToolUnderTest) => Broken) =>
  withTool((good) => ({ execute: (args: never, context) => execute(args, context, good) }));

const schemaWith = (change: JsonObject): ((good: ToolUnderTest) => Broken) =>
  withTool(({ definition }) => ({
    definition: { ...definition, inputSchema: { ...definition.inputSchema, ...change } },
  }));

const twice = executing(async (_, context) => {
  const rows = await context.resolve(store);
  rows.set(String(rows.size), "");
});

const defects: { [defect: string]: [caught: string, broken: (good: ToolUnderTest) => Broken] } = {
  "says nothing of itself": [
    "it has a name a model can call, and says what it is for",
    withTool(({ definition }) => ({ definition: { ...definition, description: " " } })),
  ],
  "goes by two names": [
    "it has a name a model can call, and says what it is for",
    withTool(({ definition }) => ({ definition: { ...definition, name: "other" } })),
  ],
  "has a misspelt type in its schema": [
    "its schema is a JSON Schema of an object",
    schemaWith({ properties: { name: { type: "text" } } }),
  ],
  "requires what it does not know": [
    "its schema is a JSON Schema of an object",
    schemaWith({ required: ["nam"] }),
  ],
  "points into nothing": [
    "its schema is a JSON Schema of an object",
    schemaWith({ properties: { name: { $ref: "#/$defs/missing" } } }),
  ],
  "has a broken pattern": [
    "its schema is a JSON Schema of an object",
    schemaWith({ properties: { name: { type: "string", pattern: "(" } } }),
  ],
  "tells the model another schema than it checks": [
    "it takes its own examples, and so does its schema alone",
    schemaWith({ properties: { name: { type: "string", maxLength: 0 } } }),
  ],
  "refuses its own examples": [
    "it takes its own examples, and so does its schema alone",
    withTool(() => ({ check: () => ({ ok: false, error: "no" }) })),
  ],
  "takes anything": [
    "bad arguments are refused with words, before it is run",
    withTool(() => ({ check: (args) => ({ ok: true, args, value: args }) })),
  ],
  "refuses without a word": [
    "bad arguments are refused with words, before it is run",
    withTool((good) => ({
      check: async (args, defaults) => {
        const checked = await good.check(args, defaults);
        return checked.ok ? checked : { ok: false, error: "" };
      },
    })),
  ],
  "says it only reads, and writes": [
    "it says what it does to the world, and does no more",
    ({ tool: good }) => ({ tool: toolWith(good, { effect: "read" }), effect: "read" }),
  ],
  "is meant to write, and says it reads": [
    "it says what it does to the world, and does no more",
    () => ({ effect: "write" }),
  ],
  "does it twice when it is asked twice": ["it says what it does to the world, and does no more", twice],
  "does it twice, in a world that is a map": [
    "it says what it does to the world, and does no more",
    (good) => ({ ...twice(good), world: () => (good as ReturnType<typeof note>).rows }),
  ],
  "does it twice, in a world that is looked up": [
    "it says what it does to the world, and does no more",
    (good) => ({ ...twice(good), world: async () => [...(good as ReturnType<typeof note>).rows] }),
  ],
  "changes its arguments when it says what it touches": [
    "what it touches is a list of names, the same each time",
    withTool(() => ({
      keys: (args: never) => {
        (args as { [name: string]: Json }).name = "other";
        return ["other"];
      },
    })),
  ],
  "touches something else each time": [
    "what it touches is a list of names, the same each time",
    withTool(() => ({ keys: () => [String(Math.random())] })),
  ],
  "changes its arguments": [
    "it leaves its arguments as they were",
    executing((args) => {
      (args as { [name: string]: Json }).name = "other";
    }),
  ],
  "returns more than a conversation bears": [
    "what it returns can be read, and is no larger than a conversation bears",
    executing(() => [
      { type: "image", data: Buffer.alloc(200_000).toString("base64"), mediaType: "image/png" },
    ]),
  ],
  "returns what reads as [object Object]": [
    "what it returns can be read, and is no larger than a conversation bears",
    executing(() => String({})),
  ],
  "throws a text": [
    "where it fails, it throws an error with words, or returns one",
    executing(() => Promise.reject("no")),
  ],
  "throws an error without words": [
    "where it fails, it throws an error with words, or returns one",
    executing(() => {
      throw new Error("");
    }),
  ],
  "hides that it failed": [
    "where it fails, it throws an error with words, or returns one",
    executing(() => "all is well"),
  ],
  "is deaf": ["an abort is heard in time", executing(() => new Promise(() => {}))],
  "listens on after it was aborted": [
    "an abort is heard in time",
    executing(async (args, context, good) => {
      context.signal.addEventListener("abort", () => {});
      return good.execute(args as never, context);
    }),
  ],
  "listens for ever": [
    "it leaves no listener on its signal",
    executing((args, context, good) => {
      context.signal.addEventListener("abort", () => {});
      return good.execute(args as never, context);
    }),
  ],
  "says of every call that it was done": [
    "asked about a call that never was, it does not say that it was done",
    withTool(() => ({ reconcile: () => ({ done: "kept" }) })),
  ],
};

describe("a tool with a defect", () => {
  const caught = new Set<string>();
  for (const [defect, [check, broken]] of Object.entries(defects))
    it(`is caught when it ${defect}`, async () => {
      const good = note();
      const one = testTool({ ...good, ...broken(good), name: "bad" }).find(
        ({ name }) => name === `bad: ${check}`,
      );
      expect(one, `there is no check named ${check}`).toBeDefined();
      await expect(one?.run()).rejects.toThrow();
      caught.add(check);
    });

  it("of every kind is there: each check has caught one", () => {
    const names = testTool({ ...note(), name: "good" }).map(({ name }) => name.slice("good: ".length));
    expect(names.filter((name) => !caught.has(name))).toEqual([]);
  });
});

describe("the suite of a tool", () => {
  const complaint = async (given: Broken, check: string): Promise<string> => {
    const one = testTool({ ...note(), ...given, name: "bad" }).find(({ name }) => name === `bad: ${check}`);
    return (await one?.run().then(() => "nothing", String)) ?? "no such check";
  };

  it("says where arguments that are to fail, or to take long, do neither", async () => {
    const fails = "where it fails, it throws an error with words, or returns one";
    expect(await complaint({ fails: [{ nam: "taken" }] }, fails)).toContain(
      'it refuses arguments that are to be taken, {"nam":"taken"}',
    );
    const slow = "an abort is heard in time";
    expect(await complaint({ slow: { name: "c", text: "" } }, slow)).toContain(
      'slow: {"name":"c","text":""} did not keep it at work: it returned before its signal fired',
    );
    expect(await complaint({ slow: { name: "taken", text: "" } }, slow)).toContain(
      'did not keep it at work: it threw "the name is taken" before its signal fired',
    );
    expect(await complaint({ slow: { nam: "c" } }, slow)).toContain(
      "it refuses arguments that are to be taken",
    );
  });

  it("says what of its arguments a tool has changed, however it was written", async () => {
    // No module is sloppy: there a frozen thing is written into without a word, and is as it was.
    const sloppy = new Function("args", "args.text = 'other'") as (args: JsonObject) => void;
    const changes = executing((args) => sloppy(args))(note());
    expect(await complaint(changes, "it leaves its arguments as they were")).toMatch(
      /its arguments, after execute had them \(make a copy .*\): it is .*'other'.* and must be .*'one'/,
    );
  });

  it("takes a tool that cannot find out what came of a call, and says what else it is to say", async () => {
    const check = "asked about a call that never was, it does not say that it was done";
    const says = (reconcile: () => unknown): Promise<string> =>
      complaint({ tool: toolWith(note().tool, { reconcile: reconcile as never }) }, check);
    expect(await says(() => Promise.reject(new Error("no connection")))).toBe("nothing");
    expect(await says(() => undefined)).toBe("nothing");
    expect(await says(() => ({ notDone: true }))).toBe("nothing");
    expect(await says(() => ({ done: "kept" }))).toContain(
      "it says { done: 'kept' } of a call that never was",
    );
    for (const said of ["who knows", null, {}, { done: undefined }])
      expect(await says(() => said)).toContain(
        "needed is { done: result }, { notDone: true }, or nothing where it is not known",
      );
  });

  it("tells what `tool` has left out of a JSON Schema, because it is none", async () => {
    const made = tool({
      name: "search",
      description: "Searches",
      inputSchema: { type: "object", properties: { city: { type: "text" } } } as never,
      effect: "read",
      execute: () => "found",
    });
    const [, schema] = testTool({ tool: made, effect: "read", examples: [{ city: "Oslo" }] });
    await expect(schema?.run()).rejects.toThrow(/left out of the schema.*#\/properties\/city\/type/s);
  });

  it("finds a place in a schema by its path, as addresses write it, and by the name it has given itself", async () => {
    const check = "its schema is a JSON Schema of an object";
    const $defs = { "a b": { type: "string" }, c: { $anchor: "name", type: "string" } };
    const refers = ($ref: string): Promise<string> =>
      complaint(schemaWith({ properties: { name: { $ref }, text: {} }, $defs })(note()), check);
    for (const good of ["#/$defs/a%20b", "#/$defs/a b", "#name", "#"])
      expect(await refers(good)).toBe("nothing");
    for (const bad of ["#/$defs/a%zzb", "#nam", "other.json#/a"])
      expect(await refers(bad)).toContain(
        `#/properties/name/$ref is "${bad}"; needed is a place in this schema, like #/$defs/name`,
      );
  });

  it("makes what a key makes once in a call, as the loop does", async () => {
    const shelf = dependency("shelf", () => ({ kept: 0 }));
    const counting = tool({
      name: "counting",
      description: "Keeps one",
      inputSchema: { type: "object" },
      effect: "read",
      execute: async (_, { resolve }) => {
        (await resolve(shelf)).kept += 1;
        return `kept ${(await resolve(shelf)).kept}`;
      },
    });
    const checks = testTool({
      tool: toolWith(counting, {
        execute: async (args, context) => {
          const said = await counting.execute(args, context);
          if (said !== "kept 1") throw new Error(String(said));
          return said;
        },
      }),
      effect: "read",
      examples: [{}],
    });
    for (const { run } of checks) await run();
  });

  it("takes a schema whose required members are told by pattern, and none that is no tool", async () => {
    const byPattern = tool({
      name: "by_pattern",
      description: "Takes x1",
      inputSchema: {
        type: "object",
        properties: {},
        patternProperties: { "^x": { type: "string" } },
        required: ["x1"],
      },
      effect: "read",
      execute: () => "taken",
    });
    for (const { run } of testTool({ tool: byPattern, effect: "read", examples: [{ x1: "a" }] })) await run();
    const none = { name: "none", execute: () => "" } as unknown as Tool;
    expect(() => testTool({ tool: none, effect: "read", examples: [{}] })).toThrow(
      "testTool: option tool: a tool, made with tool(), is needed",
    );
  });

  it("says that its world could not be put away, behind whatever else is wrong", async () => {
    const after = (): void => {
      throw new Error("it is stuck");
    };
    const check = "it says what it does to the world, and does no more";
    expect(await complaint({ after }, check)).toContain("after() failed, and must not: it is stuck");
    expect(await complaint({ after, effect: "write" }, check)).toMatch(
      /its effect, by what the subject says: .*\(And after\(\) failed, and must not: it is stuck\)/s,
    );
  });

  it("needs an example, and leaves out what it is given no arguments for", () => {
    const { tool: plain } = note();
    expect(() => testTool({ tool: plain, effect: "idempotent", examples: [] })).toThrow(
      new RondoError("invalid_request", "tool note: an example of its arguments is needed"),
    );
    const names = testTool({ tool: plain, effect: "idempotent", examples: [{ name: "a", text: "" }] }).map(
      ({ name }) => name,
    );
    expect(names).not.toContain("note: an abort is heard in time");
    expect(names).toContain("note: bad arguments are refused with words, before it is run");
  });

  it("puts the world in order before each check and after it", async () => {
    const order: string[] = [];
    const good = note();
    const [first] = testTool({
      ...good,
      before: () => void order.push("before"),
      after: () => void order.push("after"),
    });
    await first?.run();
    expect(order).toEqual(["before", "after"]);
  });
});
