// Calls in the words that model families were taught, where a server hands them on as text.

import { describe, expect, it } from "vitest";
import { heard } from "./model.ts";

const oslo = [{ name: "weather", args: { city: "Oslo" } }];
const json = '{"city": "Oslo"}';
const bare = `{"name": "weather", "arguments": ${json}}`;
const qwen =
  "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>";
const glm = "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>";
const hunyuan = `<tool_calls>\n${glm.replace("weather", "weather<tool_sep>")}\n</tool_calls>`.replaceAll(
  ">",
  ":opensource>",
);
const kimi = `<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>${json}<|tool_call_end|><|tool_calls_section_end|>`;
const deepseek = `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>${json}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`;
const claude =
  '<function_calls>\n<invoke name="weather">\n<parameter name="city">Oslo</parameter>\n</invoke>\n</function_calls>';
const step =
  '<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="weather"><steptml:parameter name="city">Oslo</steptml:parameter></steptml:invoke><｜tool_call_end｜>\n<｜tool_calls_end｜>';
const inkling = `<|content_invoke_tool_json|>{"name":"weather","args":${json}}<|end_message|>`;
const mark = "]<]minimax[>[";
const minimax = `${mark}<tool_call>\n${mark}<invoke name="weather">\n${mark}<city>Oslo${mark}</city>\n${mark}</invoke>\n${mark}</tool_call>`;
const kimi3 =
  '<|open|>tools<|sep|><|open|>call tool="weather" index="1"<|sep|><|open|>argument key="city" type="string"<|sep|>Oslo<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>';

const families: readonly [string, string][] = [
  ["Qwen Coder's", qwen],
  ["Qwen Coder's without its tag", qwen.replace(/<\/?tool_call>\n?/g, "")],
  ["Qwen Coder's with a parameter left open", qwen.replace("</parameter>\n", "")],
  ["Qwen Coder's with its end left out", qwen.replace("\n</function>\n</tool_call>", "")],
  ["Seed's", qwen.replaceAll("tool_call", "seed:tool_call")],
  ["GLM's", glm],
  ["GLM's on one line", glm.replaceAll("\n", "")],
  ["Hunyuan's", `<tool_calls>${glm.replace("weather\n", "weather<tool_sep>\n")}</tool_calls>`],
  ["a newer Hunyuan's", hunyuan],
  ["a newer Hunyuan's without what stands behind a name", hunyuan.replace("<tool_sep:opensource>", "")],
  ["Kimi's", kimi],
  ["MiniMax's in brackets", `[TOOL_CALL]{"tool": "weather", "args": ${json}}[/TOOL_CALL]`],
  ["DeepSeek's", deepseek],
  [
    "an older DeepSeek's",
    deepseek.replace(
      `weather<｜tool▁sep｜>${json}`,
      `function<｜tool▁sep｜>weather\n\`\`\`json\n${json}\n\`\`\``,
    ),
  ],
  ["DeepSeek's with plain bars", deepseek.replaceAll("｜", "|")],
  ["DeepSeek's in plain letters", deepseek.replaceAll("｜", "|").replaceAll("▁", "_")],
  ["Step's", step],
  ["Inkling's", inkling],
  ["Inkling's with its header", `<|message_model|>weather${inkling}`],
  [
    "GigaChat's with its tokens",
    `<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "weather", "arguments": ${json}}`,
  ],
  ["a newer GigaChat's", `<|function call|>{"name": "weather", "arguments": ${json}}`],
  ["Inkling's with the end of its turn", `${inkling}<|content_model_end_sampling|>`],
  [
    "a newer DeepSeek's",
    claude.replaceAll(/(<\/?)/g, "$1｜DSML｜").replace('"city"', '"city" string="true"'),
  ],
  ["a newer DeepSeek's with two bars", claude.replaceAll(/(<\/?)/g, "$1｜｜DSML｜｜")],
  ["a newer DeepSeek's with bars of another kind", claude.replaceAll(/(<\/?)/g, "$1‖DSML‖")],
  ["a newer DeepSeek's with plain bars", claude.replaceAll(/(<\/?)/g, "$1|DSML|")],
  ["Claude's", claude],
  ["Grok's", claude.replace(/<\/?function_calls>\n?/g, "").replaceAll("invoke", "xai:function_call")],
  ["Grok's with JSON", `<function_call name="weather">${json}</function_call>`],
  ["MiniCPM's", '<function name="weather"><param name="city"><![CDATA[Oslo]]></param></function>'],
  ["MiniMax's", claude.replaceAll("function_calls", "minimax:tool_call")],
  ["a newer MiniMax's", minimax],
  ["a newer MiniMax's on one line", minimax.replaceAll("\n", "")],
  [
    "a newer MiniMax's, where its token is missing before some tags",
    minimax.replace(`${mark}</city>`, "</city>"),
  ],
  ["a newer Kimi's", kimi3],
  ["a newer Kimi's, which opens no list", kimi3.replaceAll(/<\|(?:open|close)\|>tools<\|sep\|>/g, "")],
  ["Mistral's", `[TOOL_CALLS]weather${json}`],
  ["Mistral's with its marks", `[TOOL_CALLS]weather[CALL_ID]aBcDeFgHi[ARGS]${json}`],
  ["Llama's in an element", `<function=weather>${json}</function>`],
  ["Llama's in Python", '[weather(city="Oslo")]'],
  ["Llama's in Python between tokens", "<|python_start|>[weather(city='Oslo')]<|python_end|>"],
  ["OLMo's", '<function_calls>\nweather(city="Oslo")\n</function_calls>'],
  ["LFM's", '<|tool_call_start|>[weather(city="Oslo")]<|tool_call_end|>'],
  ["Llama's with a call of its own", '<|python_tag|>weather.call(city="Oslo")'],
  ["Gemma's printed in a fence", '```tool_code\nprint(default_api.weather(city="Oslo"))\n```'],
  ["Gemma's in a fence", '```tool_code\nweather(city="Oslo")\n```'],
  ["Gemma's", '<|tool_call>call:weather{city:<|"|>Oslo<|"|>}<tool_call|>'],
  ["Gemma's with another end", '<|tool_call>:call:weather{city:<|"|>Oslo<|"|>}<turn|>'],
  ["Gemma's alone", 'call:weather{city:<|"|>Oslo<|"|>}'],
  ["Gemma's behind a thought", '<|channel>thought\nI look.\n<channel|>call:weather{city:<|"|>Oslo<|"|>}'],
  ["FunctionGemma's", "<start_function_call>call:weather{city:<escape>Oslo<escape>}<end_function_call>"],
  [
    "Solar's",
    `<|tool_calls|><|tool_call:begin|>a1b2<|tool_call:name|>weather<|tool_call:args|>${json}<|tool_call:end|><|calls|>`,
  ],
  ["Phi's", `functools[${bare}]`],
  ["Granite's", `<|tool_call|>[${bare}]`],
  ["Nemotron's", `<TOOLCALL>[${bare}]</TOOLCALL>`],
  ["LongCat's", `<longcat_tool_call>${bare}</longcat_tool_call>`],
  ["InternLM's", `<|action_start|><|plugin|>\n${bare}<|action_end|>`],
  [
    "Command's",
    `<|START_THINKING|>I look.<|END_THINKING|><|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "weather", "parameters": ${json}}\n]<|END_ACTION|>`,
  ],
  ["Apertus'", `<|tools_prefix|>[{"weather": ${json}}]<|tools_suffix|>`],
  ["GigaChat's", `function call${bare}`],
  ["LM Studio's", `[TOOL_REQUEST]${bare}[END_TOOL_REQUEST]`],
];

describe("a call in its family's own notation", () => {
  it.each(families)("is a call: %s", async (_, says) => {
    for (const chunk of [1, 5, 10_000]) {
      const { calls, answer, text, shown } = await heard(says, { mind: { chunk } });
      expect([calls, text, shown]).toEqual([oslo, "", ""]);
      expect(answer.stop).toMatchObject({ kind: "tool_use", raw: "stop" });
    }
  });

  it.each(families.filter(([name]) => !/fence|in Python$|Command|alone|behind a thought/.test(name)))(
    "is a call below prose, which is its text: %s",
    async (_, says) => {
      for (const chunk of [1, 10_000]) {
        const { calls, text, shown } = await heard(`I will look it up.\n\n${says}`, { mind: { chunk } });
        expect([calls, text, shown]).toEqual([oslo, "I will look it up.", "I will look it up."]);
      }
    },
  );

  it.each(families.filter(([name]) => !/fence|in Python$|Command|alone|behind a thought/.test(name)))(
    "is no call in a fence inside prose, nor in backticks, and the answer as it stands (F233): %s",
    async (_, says) => {
      for (const example of [
        `Like this:\n\`\`\`\n${says}\n\`\`\`\nis how.`,
        `Write \`${says.split("\n")[0]}\`.`,
      ]) {
        const { calls, text } = await heard(example);
        expect(calls).toEqual([]);
        expect(text.startsWith(example.slice(0, 7))).toBe(true);
      }
    },
  );

  it.each([claude, `[TOOL_CALLS]weather${json}`, `<function=weather>${json}</function>`])(
    "is an example if prose continues after it: %s",
    async (says) => {
      const quoted = `The file says:\n${says}\nand:\n${says}\nand no more.`;
      const { calls, text, warnings } = await heard(quoted);
      expect([calls, text, warnings]).toEqual([[], quoted, ["text_call_ignored"]]);
    },
  );

  it.each(families)("never runs while tools are off, nor in a thought: %s", async (_, says) => {
    expect((await heard(says, { request: { toolChoice: "none" } })).calls).toEqual([]);
    expect((await heard(`<think>${says}`)).calls).toEqual([]);
  });

  it.each(families.filter(([name]) => !/alone|behind a thought|^Llama's in Python$/.test(name)))(
    "runs whole or not at all where the output limit cut it, and is no text: %s",
    async (_, says) => {
      const isLate = says.startsWith("<|START_THINKING") || says.startsWith("<|message_");
      const mark = isLate ? says.search(/[{[]/) + 1 : 28;
      for (let end = 1; end < says.length; end += 1) {
        const { calls, text } = await heard(says.slice(0, end), { mind: { wire: "max_tokens" } });
        for (const { args, argsError } of calls)
          if (argsError === undefined) expect(args).toEqual(oslo[0]?.args);
        if (end > mark) expect(text).toBe("");
      }
    },
  );

  it("may be one of several", async () => {
    const both = [...oslo, { name: "list", args: {} }];
    for (const says of [
      `${qwen}\n<tool_call>\n<function=list>\n</function>\n</tool_call>`,
      `${glm}\n<tool_call>list\n</tool_call>`,
      kimi.replace(
        "<|tool_calls_section_end|>",
        "<|tool_call_begin|>functions.list:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
      ),
      deepseek.replace(
        "<｜tool▁calls▁end｜>",
        "\n<｜tool▁call▁begin｜>list<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
      ),
      claude.replace("</function_calls>", '<invoke name="list">\n</invoke>\n</function_calls>'),
      `[TOOL_CALLS]weather[ARGS]${json}[TOOL_CALLS]list[ARGS]{}`,
      minimax.replace(
        `${mark}</tool_call>`,
        `${mark}<invoke name="list">\n${mark}</invoke>\n${mark}</tool_call>`,
      ),
      kimi3.replace(
        "<|close|>tools",
        '<|open|>call tool="list" index="2"<|sep|><|close|>call<|sep|><|close|>tools',
      ),
      '[weather(city="Oslo"), list()]',
      '<function_calls>\nweather(city="Oslo")\nlist()\n</function_calls>',
      '<|tool_call>call:weather{city:<|"|>Oslo<|"|>}<tool_call|><|tool_call>call:list{}<tool_call|>',
    ])
      expect((await heard(says)).calls, says).toEqual(both);
  });

  it("is cut if the model then invents the result (F238)", async () => {
    const { calls, text, warnings } = await heard(
      `${qwen}\n<tool_response>\n42\n</tool_response>\nIt is 42.`,
    );
    expect([calls, text, warnings]).toEqual([oslo, "", ["text_after_call_dropped"]]);
  });

  it("keeps its values as they are written: several lines, markup, JSON text", async () => {
    const file = '<p>\n  "a" & b\n</p>';
    const { calls } = await heard(
      `<function=weather>\n<parameter=city>\n${file}\n\n</parameter>\n<parameter=days>\n3\n</parameter>\n<parameter=__proto__>\n{"a":1}\n</parameter>\n</function>`,
    );
    expect(Object.entries(calls[0]?.args as object)).toEqual([
      ["city", `${file}\n`],
      ["days", "3"],
      ["__proto__", '{"a":1}'],
    ]);
    const typed = claude.replace('"city">Oslo', '"days" string="false">[3]');
    expect((await heard(typed)).calls).toEqual([{ name: "weather", args: { days: [3] } }]);
    const kimis = kimi3.replace('"city" type="string"<|sep|>Oslo', '"a &amp;quot; b" type="array"<|sep|>[3]');
    expect((await heard(kimis)).calls).toEqual([{ name: "weather", args: { "a &quot; b": [3] } }]);
    const place = `\n${mark}<name>Oslo <b>${mark}</name>\n${mark}<days>3${mark}</days>\n`;
    const nested = minimax.replace("<city>Oslo", `<city>${place}`);
    expect((await heard(nested)).calls).toEqual([
      { name: "weather", args: { city: { name: "Oslo <b>", days: "3" } } },
    ]);
  });

  it("may have nested values of Python and of Gemma, but no expression", async () => {
    const args = {
      a: 'it\'s\n"é"',
      b: [1, -2.5, true, null],
      c: { d: { e: [] } },
      f: "12345678901234567890",
    };
    const python = String.raw`[weather(a='it\'s\n"\u00e9"', b=[1, -2.5, True, None], c={"d": {'e': ()}}, f=12345678901234567890)]`;
    expect((await heard(python)).calls).toEqual([{ name: "weather", args }]);
    const gemma = `<|tool_call>call:weather{a:<|"|>it's\n"é"<|"|>,b:[1,-2.5,true,null],c:{d:{e:[]}},f:12345678901234567890}<tool_call|>`;
    expect((await heard(gemma)).calls).toEqual([{ name: "weather", args }]);
    for (const says of [
      "[weather(city=home)]",
      "[weather(city=home, days=3)]",
      '[weather("Oslo")]',
      "[rm(path='/')]",
    ]) {
      const { calls, text } = await heard(says);
      expect([calls, text]).toEqual([[], says]);
    }
  });

  it("names an unknown tool if its own tokens show that it is a call, so that the loop can list the known ones", async () => {
    for (const says of [qwen, glm, kimi, `<tool_call>${bare}</tool_call>`])
      expect((await heard(says.replace("weather", "wether"))).calls).toEqual([
        { name: "wether", args: { city: "Oslo" } },
      ]);
  });

  it.each([
    ["Qwen Coder's", qwen, "Oslo"],
    ["Qwen Coder's in a tag", qwen, "</par"],
    ["Qwen Coder's before its end", qwen, "\n</func"],
    ["GLM's", glm, "</arg_v"],
    ["GLM's before its end", `${glm.replace("\n</tool_call>", "\n<arg_key>unit</arg_key>")}`, "unit"],
    ["Kimi's", kimi, "Oslo"],
    ["a newer MiniMax's", minimax, "Oslo"],
    ["a newer MiniMax's in a tag", minimax, "</ci"],
    ["a newer MiniMax's before its end", minimax, "</inv"],
    ["a newer MiniMax's in its token", minimax.replace(`${mark}</invoke>`, "]<]mini!"), "mini!"],
    ["a newer Kimi's", kimi3, "Oslo"],
    ["a newer Kimi's in a tag", kimi3, "argument<|se"],
    ["a newer Kimi's before its end", kimi3, "call<|se"],
    [
      "a newer Kimi's before another argument",
      kimi3.replace("<|close|>call", '<|open|>argument key="days"'),
      'key="da',
    ],
    ["Mistral's", `[TOOL_CALLS]weather${json}`, "Oslo"],
    ["Python's", '<|tool_call_start|>[weather(city="Oslo")]<|tool_call_end|>', '")'],
    ["Gemma's", '<|tool_call>call:weather{city:<|"|>Oslo<|"|>}<tool_call|>', "}"],
  ])(
    "that the output limit cut never runs, and one that just stops is malformed: %s",
    async (_, says, at) => {
      const cut = says.slice(0, says.indexOf(at) + at.length - 1);
      const limited = await heard(cut, { mind: { wire: "max_tokens" } });
      expect(limited.answer.stop.kind).toBe("max_tokens");
      expect(limited.calls).toEqual([
        { name: "weather", args: {}, argsError: expect.stringContaining("cut off") },
      ]);
      const stopped = await heard(cut);
      expect([stopped.answer.stop.kind, stopped.calls, stopped.warnings]).toEqual([
        "malformed_call",
        [],
        ["prompted_json_invalid"],
      ]);
    },
  );

  it.each([
    "<tool_call>weather of Oslo</tool_call>",
    "<tool_call><name>weather</name></tool_call>",
    "<tool_call>\n{'name': 'weather', 'arguments': {'city': 'Oslo'}}\n</tool_call>",
  ])("is malformed if it cannot be parsed, and is no answer: %s", async (says) => {
    const { answer, calls } = await heard(says);
    expect([answer.stop.kind, calls]).toEqual(["malformed_call", []]);
  });

  it("does not count in a channel of Kimi's for answers", async () => {
    const channel = (text: string): string => `<|open|>response<|sep|>${text}<|close|>response<|sep|>`;
    expect((await heard(channel("Sunny."))).text).toBe("Sunny.");
    const { text, calls } = await heard(`${channel("I look.")}${kimi3}`);
    expect([text, calls]).toEqual(["I look.", oslo]);
  });

  it("is prose if the text is about its tokens", async () => {
    for (const says of [
      "The tag <function=weather> is documented here.",
      "Write <invoke name= and the rest.",
      "A <tool_call> opens a call.",
      "[TOOL_CALLS] is a token of Mistral's.",
      "functools[0] is no call.",
      "Before each tag stands ]<]minimax[> and a bracket.",
    ]) {
      const { text, calls, answer } = await heard(says);
      expect([text, calls, answer.stop.kind]).toEqual([says, [], "end_turn"]);
    }
  });
});

describe("a thought in its family's own notation", () => {
  it.each([
    ["[THINK]", "[/THINK]"],
    ["<|START_THINKING|>", "<|END_THINKING|>"],
    ["<seed:think>", "</seed:think>"],
    ["<think:opensource>", "</think:opensource>"],
    ["<mm:think>", "</mm:think>"],
    ["<|open|>think<|sep|>", "<|close|>think<|sep|>"],
    ["<|channel>thought", "<channel|>"],
    ["◁think▷", "◁/think▷"],
  ])("is a thought, and nothing in it runs (F114): %s", async (open, close) => {
    for (const chunk of [1, 10_000]) {
      const said = await heard(`${open}I could ${qwen}${close}It is sunny.`, { mind: { chunk } });
      expect([said.reasoning, said.text, said.calls]).toEqual([`I could ${qwen}`, "It is sunny.", []]);
    }
    const stray = await heard(`I think.${close}It is sunny.`, { mind: { chunk: 3 } });
    expect([stray.text, stray.shown]).toEqual(["It is sunny.", "I think."]);
  });
});
