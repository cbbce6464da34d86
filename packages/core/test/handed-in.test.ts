// What is handed in in another form than ours is refused in words, or taken as it is meant: never dropped in silence.

import { call, calls, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import { z as z3 } from "zod/v3";
import {
  Agent,
  type AgentOptions,
  dependency,
  type Hooks,
  memoryJournal,
  subAgent,
  textOf,
  tool,
  toolResult,
  waitForAnswer,
} from "../src/index.ts";
import { wordsOf } from "./refused.ts";
import { echo } from "./support.ts";

const answered = (): Agent => new Agent({ model: scripted([say("yes")]) });

describe("a history in another library's format", () => {
  test.each<[string, unknown]>([
    [
      "AI SDK",
      [
        { role: "user", content: "hi" },
        { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: "look", input: {} }] },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: "c",
              toolName: "look",
              output: { type: "text", value: "rain" },
            },
          ],
        },
      ],
    ],
    [
      "Anthropic",
      [
        { role: "user", content: "hi" },
        { role: "assistant", content: [{ type: "tool_use", id: "c", name: "look", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "rain" }] },
      ],
    ],
    [
      "pi",
      [
        { role: "user", content: "hi" },
        { role: "assistant", content: [{ type: "toolCall", id: "c", name: "look", arguments: {} }] },
        {
          role: "toolResult",
          toolCallId: "c",
          toolName: "look",
          content: [{ type: "text", text: "rain" }],
          isError: false,
        },
      ],
    ],
  ])("is refused with the place of what would be lost: %s", async (_whose, history) => {
    await expect(answered().run(history as never)).rejects.toThrow(
      /^message 1 cannot be used: .*a call is a part { type: "tool_call", /,
    );
  });

  test("is refused if its calls are next to the content, as in OpenAI's", async () => {
    const history = [
      { role: "user", content: "hi" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c", content: "rain" },
    ];
    await expect(answered().run(history as never)).rejects.toThrow(/^message 1 cannot be used: .*tool_calls/);
  });

  test.each([
    [
      { role: "user", parts: [{ type: "text", text: "hi" }] },
      "message 0 cannot be used: it has parts, and content is needed",
    ],
    [{ role: "tool", tool_call_id: "c", content: "rain" }, "message 0 cannot be used: its callId is missing"],
    [
      { role: "human", content: "hi" },
      'message 0 cannot be used: its role is "human", and system, user, assistant or tool is needed',
    ],
    [
      { role: "user", content: [{ type: "image", image: "a" }] },
      `message 0 cannot be used: a part of type "image" is not one of text, reasoning, tool_call, file, refusal, native; a user's is { type: "text", text }, or { type: "file", mediaType } with data or a url`,
    ],
    [
      { role: "user", content: [{ type: "file", mimeType: "image/png", data: "aGk=" }] },
      'or { type: "file", mediaType } with data or a url (its mediaType is undefined)',
    ],
    [
      { role: "user", content: [{ type: "file", mediaType: "image/png", data: new ArrayBuffer(2) }] },
      "(its data is an object of the kind ArrayBuffer: base64 or a Uint8Array is needed)",
    ],
  ])("is refused: %j", async (message, words) => {
    await expect(answered().run([message] as never)).rejects.toThrow(words);
  });

  test("may have a string in place of its one part, also in its type", async () => {
    const { messages } = await answered().run([
      { role: "system", content: "Be brief." },
      { role: "user", content: "hi" },
      { role: "assistant", content: "hello" },
      { role: "user", content: "on" },
    ]);
    expect(messages.map(textOf)).toEqual(["Be brief.", "hi", "hello", "on", "yes"]);
  });

  test("may have bytes as files, and may lack what only our own messages have, also in its type", async () => {
    const part = { type: "tool_call" as const, id: "c", name: "look", args: {}, rawArgs: "{}" };
    const { messages } = await answered().run([
      {
        role: "user",
        content: [
          { type: "text", text: "see" },
          { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2, 3]) },
        ],
      },
      { role: "assistant", content: [part] },
      { role: "tool", callId: "c", name: "look", content: "rain" },
    ]);
    expect(messages[0]?.content[1]).toMatchObject({ type: "file", data: "AQID" });
    expect(messages[1]).toMatchObject({ origin: { provider: "unknown" }, stop: { kind: "tool_use" } });
    expect(messages[2]).toMatchObject({ content: [{ type: "text", text: "rain" }], isError: false });
  });
});

test.each([{ prompt: "hi" }, { messages: [] }, { role: "user", content: "hi" }, 5])(
  "a task that is %j gets an error that says what a task is, not that it is empty",
  async (task) => {
    await expect(answered().run(task as never)).rejects.toThrow(
      /^the task is (an object|5): give a text, a list of parts, or a list of messages/,
    );
  },
);

test.each([
  [{ prompt: "hi" }, "or a list of messages; give its prompt alone"],
  [{ messages: [] }, "or a list of messages; give its messages alone"],
  [{ role: "user", content: "hi" }, "or a list of messages; put it in [ ]"],
])("a task that is %j is told what of it is one", async (task, words) => {
  await expect(answered().run(task as never)).rejects.toThrow(words);
});

/** A class that says nothing of its kind to `toString`, as Node's streams. */
class Readable {
  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    yield "half";
  }
}

test.each<[string, unknown]>([
  ["an object of the kind Readable", new Readable()],
  ["an object of the kind ReadableStream", new ReadableStream()],
  ["an object of the kind Promise", Promise.resolve("hi")],
  ["an object of the kind Map", new Map()],
  ["an object", Object.create(null)],
  ["a function", () => "hi"],
  ["empty", null],
])("a task that is no task is told by what it is: %s", async (what, task) => {
  await expect(answered().run(task as never)).rejects.toThrow(
    `the task is ${what}: give a text, a list of parts, or a list of messages`,
  );
});

describe("a hook's return value", () => {
  test.each<[keyof Hooks, unknown, string]>([
    [
      "prepareStep",
      { activeTools: ["look"] },
      "it returned activeTools: there is no such option; here it is tools",
    ],
    [
      "prepareStep",
      { system: "Be brief." },
      "it returned system: there is no such option; here it is a message",
    ],
    ["prepareStep", { prompt: "Be brief." }, "it returned prompt, and what it may return is model, tools"],
    [
      "prepareStep",
      "look",
      "it returned a string, and { model, tools, toolChoice, settings }, { stop } or nothing is needed",
    ],
    ["prepareStep", { tools: ["look", "nope"] }, 'its tools name "nope", and there are look'],
    ["prepareStep", { toolChoice: { tool: "nope" } }, 'its toolChoice is "nope", and there are look'],
  ])("with what %s may not say ends the run in words: %j", async (name, answer, why) => {
    const model = scripted([call("look"), say("done")]);
    const { end } = await new Agent({ model, tools: [echo("look")], hooks: { [name]: () => answer } }).run(
      "go",
    );
    expect(end?.error?.message).toContain(`the ${name} hook failed: ${why}`);
  });

  test.each<[keyof Hooks, unknown, string]>([
    ["permission", true, "it returned true, and allow, deny, ask or stop, { answer } or nothing is needed"],
    ["permission", 1, "it returned 1, and allow, deny, ask or stop, { answer } or nothing is needed"],
    ["permission", { answer: 1 }, "it returned { answer: 1 }, and allow, deny"],
    ["permission", { behavior: "allow" }, "it returned { behavior }, and allow, deny"],
    [
      "permission",
      { answer: "allow", updatedInput: {} },
      "it returned updatedInput, and what it may return is answer, reason, text",
    ],
    [
      "beforeTool",
      { args: {}, reason: "no" },
      "it returned reason, and what it may return is args, result, isError",
    ],
    [
      "afterTool",
      { content: "x", details: {} },
      "it returned details, and what it may return is content, isError",
    ],
  ])("with what %s may not say fails closed, in words: %j", async (name, answer, why) => {
    const model = scripted([call("look"), say("done")]);
    const { end, messages } = await new Agent({
      model,
      tools: [echo("look")],
      hooks: { [name]: () => answer },
    }).run("go");
    expect(end?.reason).toBe("completed");
    expect(messages[2]).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(why) }] });
  });
});

test("a tool choice with an unknown tool is refused where it is given", async () => {
  const agent = { model: scripted([]), tools: [echo("look")] };
  const words = 'option toolChoice: no tool is named "nope"; there are look';
  expect(wordsOf(() => new Agent({ ...agent, toolChoice: { tool: "nope" } }))).toContain(words);
  await expect(new Agent(agent).run("go", { toolChoice: { tool: "nope" } })).rejects.toThrow(words);
});

test.each<[string, AgentOptions["rules"]]>([
  ["asynchronous", [async () => false] as never],
  ["one that gives an object", [() => ({ stop: false })] as never],
])("a stop rule that is %s ends the run as its failure, not as its word", async (_what, rules) => {
  const model = scripted([call("look"), say("done")]);
  const { end } = await new Agent({ model, tools: [echo("look")], rules: rules ?? [] }).run("go");
  expect(end?.reason).toBe("error");
  expect(end?.error?.message).toContain("a text, true or false, at once, is needed, not");
});

test("a stop rule that returns null decides nothing", async () => {
  const model = scripted([call("look"), say("done")]);
  const { end } = await new Agent({ model, tools: [echo("look")], rules: [(() => null) as never] }).run("go");
  expect(end?.reason).toBe("completed");
});

async function* halfAndWhole(): AsyncGenerator<string> {
  yield "half";
  yield "whole";
}
function* half(): Generator<string> {
  yield "half";
}

test.each<[string, () => unknown]>([
  ["AsyncGenerator", () => halfAndWhole()],
  ["Generator", () => half()],
  ["ReadableStream", () => new ReadableStream()],
  ["Readable", () => new Readable()],
  ["Map Iterator", () => new Map([["a", 1]]).values()],
  ["Response", async () => new Response("hello")],
])(
  "a tool that returns what is still to be pulled (%s) is an error, and no empty object",
  async (kind, execute) => {
    const { messages } = await new Agent({
      model: scripted([call("look"), say("done")]),
      tools: [echo("look", { execute })],
    }).run("go");
    expect(messages[2]).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(`the kind ${kind}, which nobody reads`) }],
    });
  },
);

test("a value that shows nothing of itself is named by its kind", async () => {
  const execute = (): unknown => ({ response: new Response("hello"), rest: {} });
  const { messages } = await new Agent({
    model: scripted([call("look"), say("done")]),
    tools: [echo("look", { execute })],
  }).run("go");
  expect(messages[2]).toMatchObject({ content: [{ text: '{"response":"[Response]","rest":{}}' }] });
});

class Price {
  readonly cents: number;
  constructor(cents: number) {
    this.cents = cents;
  }
}

test("a tool gets what its schema made of the arguments; hooks, approvals and records have them as they were written", async () => {
  const given: unknown[] = [];
  const pay = tool({
    name: "pay",
    description: "Pays",
    inputSchema: z.object({ price: z.number().transform((cents) => new Price(cents)) }),
    permission: "ask",
    execute: ({ price }) => void given.push(price),
  });
  const hooks: Hooks = { beforeTool: ({ args }) => void given.push(args) };
  const model = scripted([call("pay", { price: 5 }), say("paid")]);
  const session = await new Agent({ model, tools: [pay], hooks }).open("s");
  await session.send("go");
  const [waiting] = session.pending;
  await session.approve(waiting?.id ?? "");
  expect([waiting?.args, ...given]).toStrictEqual([{ price: 5 }, { price: 5 }, new Price(5)]);
  expect(session.messages[1]?.content[0]).toMatchObject({ args: { price: 5 } });
});

describe("a typed output", () => {
  test("is what its schema made of the text: defaults, transforms", async () => {
    const output = z.object({
      city: z.string(),
      lang: z.string().default("en"),
      degrees: z.string().transform(Number),
    });
    const journal = memoryJournal();
    const agent = new Agent({ model: scripted([say('{"city":"Rome","degrees":"21"}')]), output, journal });
    const { output: value } = await agent.run("go", { session: "s" });
    expect(value).toEqual({ city: "Rome", lang: "en", degrees: 21 });
    const session = await agent.open("s");
    expect(session.result?.output).toEqual(value);
  });

  test.each<[string, (text: string) => unknown, unknown]>([
    ["a Date, its text", (text) => new Date(text), "2026-03-01T00:00:00.000Z"],
    ["a URL, its text", () => new URL("http://a.example"), "http://a.example/"],
    ["an instance of a class, its members", () => new Price(5), { cents: 5 }],
    ["a list of such", () => [new Price(5), new Date(0)], [{ cents: 5 }, "1970-01-01T00:00:00.000Z"]],
  ])("is plain JSON, whatever its type says: of %s", async (_what, make, kept) => {
    const output = z.object({ at: z.string().transform(make) });
    const journal = memoryJournal();
    const agent = new Agent({ model: scripted([say('{"at":"2026-03-01"}')]), output, journal });
    const { output: value } = await agent.run("go", { session: "s" });
    expect(value).toStrictEqual({ at: kept });
    expect((await agent.open("s")).result?.output).toStrictEqual(value);
  });

  test.each<[string, (text: string) => unknown]>([
    ["a Map", (text) => new Map([[text, 1]])],
    ["a Set", (text) => new Set([text])],
    ["a bigint", () => 5n],
    ["a function", (text) => () => text],
    ["bytes", () => new Uint8Array([1])],
  ])(
    "is as it was written where there is no JSON for what its schema made of it: %s",
    async (_what, make) => {
      const output = z.object({ at: z.string().transform(make) });
      const agent = new Agent({ model: scripted([say('{"at":"noon"}')]), output });
      expect((await agent.run("go")).output).toEqual({ at: "noon" });
    },
  );
});

describe("a waiting run without a journal", () => {
  const ask = (): Agent =>
    new Agent({ model: scripted([call("pay"), say("paid")]), tools: [echo("pay", { permission: "ask" })] });

  const pulled = async <Result>(
    running: AsyncIterable<unknown> & { result: Promise<Result> },
  ): Promise<Result> => {
    for await (const _one of running);
    return running.result;
  };

  test.each(["run", "stream", "steps"] as const)(
    "is continued in the session that its result names, after %s",
    async (how) => {
      const agent = ask();
      const { parked, session: id } = await (how === "run" ? agent.run("go") : pulled(agent[how]("go")));
      const session = await agent.open(id);
      expect([session.status, session.pending]).toEqual(["parked", parked?.pending]);
      const { text } = await session.approve(session.pending[0]?.id ?? "");
      expect(text).toBe("paid");
    },
  );

  test("is dropped when a thousand newer ones wait", async () => {
    const agent = new Agent({
      model: scripted(() => call("pay")),
      tools: [echo("pay", { permission: "ask" })],
    });
    const first = await agent.run("go");
    for (let more = 0; more < 1_000; more += 1) await agent.run("go");
    expect((await agent.open(first.session)).status).toBe("idle");
  });

  test("is named, with what it waits for, if it is sent another task", async () => {
    const agent = ask();
    const session = await agent.open((await agent.run("go")).session);
    await expect(session.send("and then?")).rejects.toThrow(
      "approve(), deny() or edit() what it waits for: call_1 (pay)",
    );
  });

  test("is named with the questions of its tools, which can only be answered", async () => {
    const buy = echo("buy", { execute: () => waitForAnswer("Really?") });
    const pay = echo("pay", { permission: "ask" });
    const model = scripted([calls([["buy"], ["pay"]])]);
    const session = await new Agent({ model, tools: [buy, pay] }).open("s");
    await session.send("go");
    await expect(session.send("and then?")).rejects.toThrow(
      "parked: approve(), deny() or edit() what it waits for: call_2 (pay); answer() what its tool asks: call_1 (buy); or abort() it",
    );
  });

  test("is looked for in the journal that its agent has: another one does not know it", async () => {
    const agent = ask();
    const { session: id, parked } = await agent.run("go");
    const call = parked?.pending[0]?.id ?? "";
    await expect((await ask().open(id)).approve(call)).rejects.toThrow(
      "waiting: none; this journal has no run of it: was it made with another one?",
    );
    const session = await agent.open(id);
    await session.deny(call);
    await expect(session.approve(call)).rejects.toThrow(/waiting: none$/);
  });

  test("has its calls named by their ids, not by what is pending", async () => {
    const agent = ask();
    const session = await agent.open((await agent.run("go")).session);
    await expect(session.approve(session.pending[0] as never)).rejects.toThrow(
      'the id of a call is needed: give its id, "call_1"',
    );
    await expect(session.deny(undefined as never)).rejects.toThrow("the id of a call is needed");
  });
});

test("an unknown option of a session's send is refused: a misspelt signal would end nothing", async () => {
  const session = await answered().open("s");
  await expect(session.send("go", { abortSignal: AbortSignal.timeout(5) } as never)).rejects.toThrow(
    "send: option abortSignal: there is no such option; here it is signal",
  );
});

test("an agent with a typed output is assignable to any agent: for a list, and as a sub-agent, whose value is the result", async () => {
  const output = z.object({ degrees: z.number() });
  const typed = new Agent({ model: scripted([say('{"degrees":21}')]), output });
  const agents: Agent[] = [typed];
  const tools = [subAgent({ name: "thermometer", description: "Measures", agent: typed })];
  const model = scripted([call("thermometer", { task: "measure" }), say("21.")]);
  const { messages } = await new Agent({ model, tools }).run("go");
  expect(agents).toHaveLength(1);
  expect(messages[2]).toMatchObject({ content: [{ text: '{"degrees":21}' }] });
});

describe("an option that would have no effect is refused", () => {
  test.each<[string, () => unknown, string]>([
    [
      "of a result that is to end the run",
      () => toolResult("ok", { terminate: true } as never),
      "toolResult: option terminate: there is no such option; here it is done",
    ],
    ["of a result that is an error", () => toolResult("no", { error: true } as never), "here it is isError"],
    [
      "of a key that makes nothing",
      () => dependency("db", "db.sqlite" as never),
      'dependency "db": option create: a function is needed, not "db.sqlite"',
    ],
  ])("%s", (_what, make, words) => {
    expect(wordsOf(make)).toContain(words);
  });

  test("in resume, compact and follow", async () => {
    const agent = new Agent({ model: scripted([say("done")]) });
    const session = await agent.open("s");
    await session.send("go");
    const says = "option abortSignal: there is no such option; here it is signal";
    await expect(session.resume({ abortSignal: 1 } as never)).rejects.toThrow(`resume: ${says}`);
    await expect(session.compact({ abortSignal: 1 } as never)).rejects.toThrow(`compact: ${says}`);
    await expect(session.compact({ signal: new AbortController() } as never)).rejects.toThrow(
      "compact: option signal: an AbortSignal is needed, not an object: give its signal",
    );
    for (const follow of [session.follow.bind(session), agent.follow.bind(agent, "s")])
      expect(wordsOf(() => follow({ form: 1 } as never))).toBe(
        "follow: option form: there is no such option; did you mean from?",
      );
    expect(session.status).toBe("idle");
  });

  test("in an approval, and in a drain", async () => {
    const session = await new Agent({
      model: scripted([call("pay"), say("paid")]),
      tools: [echo("pay", { permission: "ask" })],
    }).open("s");
    await session.send("go");
    await expect(session.approve("call_1", { alwaysApprove: true } as never)).rejects.toThrow(
      "approve: option alwaysApprove: there is no such option; did you mean always?",
    );
    await expect(session.drain({ within: 5 } as never)).rejects.toThrow(
      "drain: option within: there is no such option; did you mean withinMs?",
    );
    expect(session.status).toBe("parked");
  });
});

test("an approval with always: false makes no grant for later calls", async () => {
  const tools = [echo("pay", { permission: "ask" })];
  const session = await new Agent({ model: scripted([call("pay"), call("pay")]), tools }).open("s");
  await session.send("go");
  const { parked } = await session.approve("call_1", { always: false } as never);
  expect([parked?.pending.length, session.grants]).toEqual([1, []]);
});

describe("a file with its content in another spelling of base64", () => {
  const data = "iVBORw0KGgoAAAANSUhEUgAA+/==";

  test.each<[string, string]>([
    ["on several lines", "iVBORw0KGgoAAAAN\r\nSUhEUgAA+/==\n"],
    ["for URLs", "iVBORw0KGgoAAAANSUhEUgAA-_"],
    ["in a data URL, on several lines", "data:image/png;base64,iVBORw0KGgo\nAAAANSUhEUgAA+/=="],
  ])("%s is sent in the one that providers read", async (_how, spelt) => {
    const part = { type: "file", mediaType: "image/png", data: spelt };
    const show = echo("show", { execute: () => [part as never] });
    const model = scripted([call("show"), say("done")]);
    const { messages } = await new Agent({ model, tools: [show] }).run([part as never]);
    const whole = { type: "file", mediaType: "image/png", data };
    expect([messages[0]?.content, messages[2]?.content]).toEqual([[whole], [whole]]);
    const history = await answered().run([{ role: "user", content: [part as never] }]);
    expect(history.messages[0]?.content).toEqual([whole]);
  });

  test("is left as it is if it is a text: that may be the text itself", async () => {
    const part = { type: "file", mediaType: "text/plain", data: "a plain-text with_words" } as const;
    const { messages } = await answered().run([{ role: "user", content: [part] }]);
    expect(messages[0]?.content).toEqual([part]);
  });
});

describe("a file with its content in a data URL", () => {
  const png = "data:image/png;base64,iVBORw0KGgo=";
  const bytes = { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" };

  test.each<[string, object]>([
    ["as its data", { type: "file", mediaType: "image/png", data: png }],
    ["as its url", { type: "file", mediaType: "image/png", url: png }],
    ["of another type than was said", { type: "file", mediaType: "application/octet-stream", url: png }],
  ])("%s is its bytes, in a task, in a history and in a result", async (_how, part) => {
    const show = echo("show", { execute: () => [part as never] });
    const model = scripted([call("show"), say("done")]);
    const { messages } = await new Agent({ model, tools: [show] }).run([part as never]);
    expect([messages[0]?.content, messages[2]?.content]).toEqual([[bytes], [bytes]]);
    const history = await answered().run([{ role: "user", content: [part as never] }]);
    expect(history.messages[0]?.content).toEqual([bytes]);
  });

  test.each<[string, string, string]>([
    ["in letters of its own", "data:text/plain,gr%C3%BC%C3%9F%20dich", "grüß dich"],
    ["with its letters' name", "data:text/plain;charset=utf-8,a;b,c", "a;b,c"],
  ])("%s is its bytes as well", async (_how, url, text) => {
    const given = { type: "file", mediaType: "application/octet-stream", url } as const;
    const { messages } = await answered().run([given]);
    const data = Buffer.from(text).toString("base64");
    expect(messages[0]?.content).toEqual([{ type: "file", mediaType: "text/plain", data }]);
    const broken = { type: "file", mediaType: "text/plain", url: "data:text/plain,100%" } as const;
    expect((await answered().run([broken])).messages[0]?.content).toEqual([broken]);
  });

  test("becomes bytes also as an image that a tool returns, and any other URL stays a URL", async () => {
    const far = { type: "file", mediaType: "image/png", url: "https://x.invalid/a.png" } as const;
    const show = echo("show", { execute: () => [{ type: "image", url: png }, far] });
    const { messages } = await new Agent({ model: scripted([call("show"), say("done")]), tools: [show] }).run(
      "go",
    );
    expect(messages[2]?.content).toEqual([bytes, far]);
  });
});

describe("a value that is not a tool yet is refused with how to make one", () => {
  const plain = { name: "look", description: "Looks", execute: () => "rain" };
  test.each<[unknown, string]>([
    [() => plain, "not a function: call it"],
    [[echo("look")], "not a list: spread it, ...list"],
    [plain, "not an object: tool({ … }) makes one of it"],
  ])("%#", (given, words) => {
    expect(wordsOf(() => new Agent({ model: scripted([]), tools: [given as never] }))).toContain(
      `option tools[0]: a tool, as tool() makes it, is needed, ${words}`,
    );
  });
});

test("a result that is neither a string nor a list is refused with what is needed", () => {
  for (const given of [5, undefined])
    expect(wordsOf(() => toolResult(given as never))).toContain(
      `toolResult: option content: a text, or a list of outputs, is needed, not ${given}`,
    );
});

test.each([
  ["zod 3", z3.object({ n: z3.string() }), "make it with zod 4.2 or newer"],
  [
    "a zod before 4.2",
    { "~standard": { version: 1, vendor: "zod", validate: () => ({ value: {} }) } },
    "4.2 or newer",
  ],
  [
    "an older arktype",
    { "~standard": { version: 1, vendor: "arktype", validate: () => ({ value: {} }) } },
    "2.1.29 or newer",
  ],
  [
    "another library",
    { "~standard": { version: 1, vendor: "mine", validate: () => ({ value: {} }) } },
    "put its JSON Schema beside it",
  ],
  ["zod/mini", mini.object({ n: mini.string() }), "z.toJSONSchema"],
])("a schema of %s is told how it says itself", (_what, inputSchema, words) => {
  expect(
    wordsOf(() =>
      tool({ name: "one", description: "1", inputSchema: inputSchema as never, execute: () => "" }),
    ),
  ).toContain(words);
});

test.each<[unknown, string]>([
  ["rondo.db", 'not "rondo.db": sqliteJournal("rondo.db") of @rondo/journal makes one'],
  [memoryJournal, "not a function: call it"],
])("what is no journal yet says how it becomes one: %#", (journal, words) => {
  expect(wordsOf(() => new Agent({ model: scripted([]), journal: journal as never }))).toContain(
    `option journal: a journal (append, read, list) is needed, ${words}`,
  );
});

test("a listener that is no function is refused where it is given, and ends no run", async () => {
  const session = await answered().open("s");
  expect(wordsOf(() => session.subscribe("x" as never))).toContain("a function is needed");
  expect((await session.send("go")).end?.reason).toBe("completed");
});

test.each<[unknown, string]>([
  ["5s", 'option signal: an AbortSignal is needed, not "5s"'],
  [new AbortController(), "an AbortSignal is needed, not an object: give its signal"],
])("a signal that is none starts nothing: %#", async (signal, words) => {
  const session = await answered().open("s");
  await expect(session.send("go", { signal: signal as never })).rejects.toThrow(words);
  await expect(answered().run("go", { signal: signal as never })).rejects.toThrow(words);
  expect([session.status, session.messages]).toEqual(["idle", []]);
});

test("an invalid grant is refused with what it must be", async () => {
  const session = await answered().open("s");
  await expect(session.allow("look" as never)).rejects.toThrow('an object is needed, not "look"');
});
