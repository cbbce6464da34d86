import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { promptedJson } from "../../src/index.ts";
import { ThoughtSplitter } from "../../src/prompted/thoughts.ts";
import { AnswerWatch } from "../../src/prompted/watch.ts";
import { errorFrom } from "../transport/loopback.ts";
import { ask, hear, heard, speaking } from "./model.ts";

const pieces = [
  "Hello",
  " ",
  "\n",
  "{",
  "}",
  "[",
  "]",
  '"',
  ":",
  ",",
  "\\",
  "`",
  "```",
  "```json\n",
  "<",
  "<|",
  "<|im_end|>",
  "<think>",
  "</think>",
  "<tool_call>",
  "</tool_call>",
  '{"name":"list"}',
  '{"tool_call":',
  '{"name":"weather","input":{}}',
  '{"response":"',
  '"response":"',
  '"thought":"x",',
  '{"tool_call":{"name":"list"}}',
  "Action: list\n",
  "Action Input: {}",
  "A",
  "😀",
  "\\ud83d",
  "\\n",
  "Observation: x",
  "é",
  "<function=list>",
  "<parameter=a>x</parameter>",
  "</function>",
  '<x:invoke name="list">',
  "<x_tool_call>",
  "<x:tool_call>",
  "list<arg_key>a</arg_key><arg_value>1</arg_value>",
  "[TOOL_CALLS]",
  "list{}",
  "[list(a=1)]",
  "<|tool_call>call:list{a:1}<tool_call|>",
  "<｜tool▁call▁begin｜>",
  "functools[",
  "[THINK]",
  "<turn|>",
  "call:list{a:1}",
  '<function name="list">',
];
const answers = fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((all) => all.join(""));

describe("a streamed answer", () => {
  it("is parsed in the same way however it was cut, and never throws", async () => {
    await fc.assert(
      fc.asyncProperty(answers, fc.integer({ min: 1, max: 9 }), async (says, chunk) => {
        const whole = await heard(says, { mind: { chunk: 10_000 } });
        const cut = await heard(says, { mind: { chunk } });
        const read = ({ text, reasoning, calls, answer }: typeof whole): unknown => [
          text,
          reasoning,
          calls,
          answer.stop,
        ];
        expect(read(cut)).toEqual(read(whole));
      }),
      { numRuns: 1000 },
    );
  });

  it("shows no more than the complete answer contains", async () => {
    await fc.assert(
      fc.asyncProperty(answers, fc.integer({ min: 1, max: 5 }), async (says, chunk) => {
        const { shown, text, answer } = await heard(says, { mind: { chunk } });
        const broken = answer.stop.kind === "malformed_call" || !isJson(says);
        // What was begun as a response and then turned out to be no JSON was shown as what it looked like.
        if (says.trimStart().startsWith("{") && broken) return;
        // That all before was a thought is known only at a tag that closes what nobody opened.
        if (says.includes("</think>")) return;
        expect(text.startsWith(shown), `${JSON.stringify(says)}: ${shown} / ${text}`).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it("shows prose word by word", async () => {
    const { events } = await heard("It is sunny in Oslo today, and warm.", { mind: { chunk: 5 } });
    expect(events.filter((event) => event.type === "text_delta").length).toBeGreaterThan(4);
  });

  it("shows the text of a response while it is written, with escapes decoded", () => {
    const watch = new AnswerWatch();
    const says = String.raw`{"thought":"a \"response\": no","response":"Caf\u00e9 \ud83d\ude00\nnew \"line\"  "}`;
    let shown = "";
    const steps: string[] = [];
    for (const char of says) {
      shown += watch.push(char);
      steps.push(shown);
    }
    expect(shown).toBe('Café 😀\nnew "line"');
    expect(steps).toContain("Caf");
    expect(steps.every((step) => !/[\ud800-\udbff]$/.test(step))).toBe(true);
  });

  it("shows nothing of a call before it is one, but reports progress", async () => {
    const { events, shown } = await heard('I look.\n{"thought":"x","tool_call":{"name":"list","input":{}}}', {
      mind: { chunk: 4 },
    });
    expect(events.filter((event) => event.type === "progress").length).toBeGreaterThan(5);
    expect(shown).toBe("I look.\nx");
    expect(events.filter((event) => event.type === "tool_args_delta")).toEqual([
      { type: "tool_args_delta", index: 1, id: expect.stringMatching(/^call_/), name: "list", delta: "{}" },
    ]);
  });

  it("shows thoughts as reasoning at once, at their own index", async () => {
    const { events } = await heard('<think>hm</think>{"response":"ok"}', { mind: { chunk: 1 } });
    const told = events.flatMap((event) =>
      event.type === "reasoning_delta" || event.type === "text_delta"
        ? [[event.type, event.index, event.text]]
        : [],
    );
    expect(told).toEqual([
      ["reasoning_delta", 0, "h"],
      ["reasoning_delta", 0, "m"],
      ["text_delta", 1, "o"],
      ["text_delta", 1, "k"],
    ]);
  });

  it("that breaks off keeps the text that could be shown, without pieces of JSON", async () => {
    const inner = speaking('{"response":"The long story"}', { chunk: 20 });
    const breaking = {
      ...inner,
      call: async (request: typeof ask, io: Parameters<typeof inner.call>[1]) => {
        await inner.call(request, io);
        throw (await import("@rondo/core")).toRondoError(new Error("broke"), "network");
      },
    };
    const error = await errorFrom(hear(promptedJson(breaking), ask));
    expect([error.kind, error.partial?.content]).toEqual([
      "network",
      [{ type: "text", text: "The long story" }],
    ]);
  });
});

describe("hostile text", () => {
  // Counted in looks, not in time: a quadratic scanner would look billions of times and not finish.
  it.each([
    ["unclosed thoughts", "<thought".repeat(60_000)],
    ["opened thoughts", "<think>".repeat(60_000)],
    ["ReAct that never closes", "Action: list\nAction Input: {".repeat(5_000)],
    ["unknown ReAct", "Action: x\nAction Input: {".repeat(20_000)],
    ["fences that never close", "```json\n{".repeat(20_000)],
    ["open braces", "{".repeat(400_000)],
    ["lines of open braces", "x\n{\n".repeat(60_000)],
    ["tags that never close", "x <tool_call>{\n".repeat(30_000)],
    ["nested tags that close", `${"x\n<tool_call>{".repeat(20_000)}${"}".repeat(20_000)}`],
    ["closed objects, one a line", 'x\n{"a":1}\n'.repeat(40_000)],
    ["quotes", '{"a":"'.repeat(60_000)],
    ["half a control token", "<|".repeat(100_000)],
    ["blank lines", `{"tool_call"${" ".repeat(200_000)}`],
    ["names and blanks", `{"name"${" ".repeat(100_000)}"name"`.repeat(3)],
    ["backslashes", `{"response":"${"\\".repeat(200_001)}`],
    ["lists", "[".repeat(200_000)],
    ["elements that never close", "x <function=rm>\n<parameter=a>\n".repeat(30_000)],
    ["elements with no end", "x <function=rm>\n".repeat(60_000)],
    ["elements of unknown names", "x <function=rm>{\n".repeat(30_000)],
    ["Python that never closes", "x <|tool_call_start|>[list(a=[\n".repeat(30_000)],
    ["Python in Python", "[list(a=[".repeat(30_000)],
    ["Python's quotes", "x <|tool_call_start|>[list(a='\n".repeat(30_000)],
    ["Gemma's braces", "x <|tool_call>call:list{a:{\n".repeat(30_000)],
    ["pairs", `<tool_call>list${"<arg_key>a</arg_key><arg_value>".repeat(30_000)}`],
    ["names of calls", "x [TOOL_CALLS]list[ARGS]{\n".repeat(30_000)],
    ["elements that close, one a line", "x <function=list></function><b>\n".repeat(30_000)],
    ["Gemma's empty lists", "<|tool_call>call:list{a:[".repeat(20_000)],
    ["Gemma's brackets", `<|tool_call>call:list{a:[${"}".repeat(60_000)}`],
    ["half a prefix", "<abc".repeat(60_000)],
    ["tags, one a line", "<tool_call>\n".repeat(60_000)],
    ["tags below a text, one a line", `x ${"<tool_call>\n".repeat(60_000)}`],
    ["tags and fences", "<tool_call>```\n".repeat(40_000)],
    ["names of calls, one a line", "[TOOL_CALLS]\r\n".repeat(60_000)],
  ])("%s cost one pass", async (_, says) => {
    const { calls } = await heard(says, { mind: { chunk: 1000 } });
    expect(calls.length).toBeLessThan(2);
  });
});

describe("a text in pieces of one letter", () => {
  // What was held back is not gone through again with each of them.
  const many = 500_000;

  it("takes no longer because of the blanks it begins with", () => {
    const splitter = new ThoughtSplitter();
    let shown = "";
    for (let at = 0; at < many; at++) shown += splitter.push(" ").body;
    expect([shown, splitter.push("x").body.length]).toEqual(["", many + 1]);
  });

  it("takes no longer because of the blanks that its response may end with", () => {
    const watch = new AnswerWatch();
    let shown = watch.push('{"response":"a');
    for (let at = 0; at < many; at++) shown += watch.push(" ");
    expect([shown, watch.push("b").length]).toEqual(["a", many + 1]);
  });
});

describe("a fence around something that is no call", () => {
  it("is over at its end, also after a tag: the call below it is one", async () => {
    const { calls } = await heard(
      'See:\n<tool_call>\n```json\n{"a":1}\n```\nSo I do it.\n<tool_call>{"name":"list","input":{}}</tool_call>',
    );
    expect(calls).toHaveLength(1);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
