// Calls that a server could not read: they are no answer, and never run (F234).

import { Agent, type Input, type Model, type RunResult, type Settings, type Tool, tool } from "@rondo/core";
import { call, say, scripted, stop } from "@rondo/testkit";
import type { RondoWire, WireTurn } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { anthropic, bedrock, openai, openaiCompatible } from "../../src/index.ts";
import { readAt } from "../../src/providers/left-in-texts.ts";
import { rows, serve } from "../end-to-end/stack.ts";

const json = '{"city": "Oslo"}';
const hermes = `<tool_call>\n{"name": "weather", "arguments": ${json}}\n</tool_call>`;
const kimi = `<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>${json}<|tool_call_end|><|tool_calls_section_end|>`;
/** Kimi's, from a server that has no names for its tokens. */
const numbered = `<|reserved_token_163595|><|reserved_token_163597|>functions.weather:0<|reserved_token_163598|>${json}<|reserved_token_163599|><|reserved_token_163596|>`;
const qwen =
  "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>";

interface Said {
  result: RunResult;
  wire: RondoWire;
  ran: unknown[];
}

async function asked(
  script: readonly WireTurn[],
  {
    input = "Weather?",
    system,
    make = (wire) =>
      openaiCompatible({ server: "vllm", model: "m", baseURL: wire.urlFor("openai-chat"), apiKey: "k" }),
    ...rest
  }: { input?: Input; system?: string; settings?: Settings; make?: (wire: RondoWire) => Model } = {},
): Promise<Said> {
  const wire = await serve([...script]);
  const ran: unknown[] = [];
  const weather: Tool = tool({
    name: "weather",
    description: "Current weather",
    effect: "read",
    inputSchema: { type: "object", properties: { city: { type: "string" } } },
    execute: (args) => {
      ran.push(args);
      return "sunny";
    },
  });
  const agent = new Agent({
    model: make(wire),
    tools: [weather],
    ...(system === undefined ? {} : { system }),
    ...rest,
  });
  return { result: await agent.run(input), wire, ran };
}

describe("an answer that is only a call in a model family's own tokens", () => {
  it.each([
    hermes,
    kimi,
    qwen,
    `${hermes}\n${hermes.replace("Oslo", "Bergen")}`,
    `[TOOL_CALLS]weather${json}`,
    `<|python_tag|>{"name": "weather", "parameters": ${json}}`,
    `\n\n${qwen}\n`,
    `<tools>\n{"name": "weather", "arguments": ${json}}\n</tools>`,
    'call:weather{city:"Oslo"}',
    `weather:0<|tool_call_argument_begin|>${json}<|tool_calls_section_end|>`,
    `functions.weather:0<|tool_call_argument_begin|>${json}<|tool_call_end|>\nfunctions.weather:1<|tool_call_argument_begin|>${json}`,
    "<｜DSML｜weather>\n <｜DSML｜city>Oslo</｜DSML｜city>\n</｜DSML｜invoke>",
    '<｜DSML｜tool name="weather">\n<｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>',
    '<|tool_call_start|>[weather(city="Oslo")]<|tool_call_end|>Checking the weather in Oslo.',
    '[TOOL_CALL] { "tool": "weather", "args": { "city": "Oslo" } } [/TOOL_CALL]',
    '[TOOL_CALL]\n{tool => "weather", args => {\n  --city "Oslo"\n}}\n[/TOOL_CALL]',
    'invoke name="weather">\nparameter name="city">Osloparameter>\ninvoke>',
    `commentary to=functions.weather json${json}`,
    `assistant to=functions.weather commentary json\n${json}`,
    `to=multi_tool_use.parallel {"tool_uses":[{"recipient_name":"functions.weather","parameters":${json}}]}`,
    `{"tool_uses":[{"recipient_name":"functions.weather","parameters":${json}}]}`,
    `{"recipient_name": "functions.weather", "parameters": ${json}}`,
    `assistantcommentary to=functions.weather json${json}`,
    numbered,
    `weather[ARGS]${json}`,
    `weather[CALL_ID]abcdef123[ARGS]${json}`,
    `functions.weather:0${json}functions.weather:1${json}`,
    "weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>",
    `<toolcall> {"name": "weather", "arguments": ${json}} </toolcall>`,
    `<functioncall> {"name": "weather", "arguments": '${json}'}`,
    `<|plugin|>\n{"name": "weather", "parameters": ${json}}\n<|action_end|>`,
    `${hermes}\n<tool_response>\nsunny\n</tool_response>\nIt is sunny.`,
    `<|channel|>commentary to=weather <|constrain|>json<|message|>${json}<|call|>`,
    `<function(weather)>${json}</function>`,
    `✿FUNCTION✿: weather\n✿ARGS✿: ${json}\n✿RESULT✿`,
    `>>>weather\n${json}`,
    `[Calling tool: weather(${json})]`,
    `{"tool_calls": [{"name": "weather", "arguments": ${json}}]}`,
    `{\n  "tool_call": {"name": "weather", "arguments": ${json}}\n}`,
    ...[" ", "\\_"].map((between) =>
      `<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>weather\n\`\`\`json\n${json}\n\`\`\`<｜tool_call_end｜><｜tool_calls_end｜>`.replaceAll(
        "_",
        between,
      ),
    ),
  ])("is malformed: it is requested again, and nothing of it runs: %s", async (leak) => {
    const { result, wire, ran } = await asked([
      say(leak),
      call("weather", { city: "Bergen" }),
      say("Sunny."),
    ]);
    expect([result.text, result.end?.reason, ran]).toEqual(["Sunny.", "completed", [{ city: "Bergen" }]]);
    expect(wire.requests).toHaveLength(3);
    const again = JSON.stringify(wire.requests[1]?.body);
    expect(again).not.toContain("Oslo");
    // The model is told where its call stood: it would write the next one there.
    expect(again).toContain("a call of weather stands in the answer's text");
  });

  it.each(
    rows.map(({ name, model }) => ({
      name,
      make: (wire: RondoWire) => model(wire, name === "bedrock" ? { id: "qwen.qwen3-32b-v1:0" } : {}),
    })),
  )(
    "is malformed over every protocol where somebody else than its vendor may answer: $name",
    async ({ make }) => {
      const { result, wire, ran } = await asked(
        [say(qwen), call("weather", { city: "Bergen" }), say("Sunny.")],
        { make },
      );
      expect([result.text, ran]).toEqual(["Sunny.", [{ city: "Bergen" }]]);
      expect(JSON.stringify(wire.requests[1]?.body)).not.toContain("Oslo");
    },
  );

  it.each([
    '<｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
    "I will look.\n\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>",
    "<parameter=weather>\n</function>\n<parameter=weather>\n<parameter=city>\nOslo\n</parameter>\n</function>",
  ])("is malformed too if its beginning is missing, and with it the tool's name: %s", async (part) => {
    const { result, wire, ran } = await asked([say(part), call("weather", {}), say("Sunny.")]);
    expect([result.text, ran]).toEqual(["Sunny.", [{}]]);
    expect(JSON.stringify(wire.requests[1]?.body)).toContain("a part of a call");
  });

  it("ends the run if no other answer comes", async () => {
    const { result, ran } = await asked([say(qwen), say(qwen), say(qwen), say(qwen), say(qwen), say(qwen)]);
    expect([result.end?.reason, ran]).toEqual(["error", []]);
  });
});

describe("a call in a model family's own tokens after text", () => {
  const words = "I will look at the weather.";
  it.each([
    `${words}\n\n${hermes}`,
    `${words}\n${qwen}`,
    `${words}${kimi}`,
    `${words}\n${hermes}\n${hermes.replace("Oslo", "Bergen")}\n`,
    `${words}\n<tool_call>\n<function=weather>\n<parameter=city>\nOs`,
    `${words}\ncall:weather{city:Oslo}`,
    `${words} +#+#+#+#+#+assistant to=functions.weather մեկնաբանություն json\n${json}`,
    `${words}\nto=functions.weather code{"city": "Os`,
    `${words}\n{"tool_uses":[{"recipient_name":"functions.weather","parameters":{"city": "Os`,
    `Look at the weather:${numbered}`,
  ])("is malformed too, unless the text is about it: %s", async (leak) => {
    const { result, wire, ran } = await asked([
      say(leak),
      call("weather", { city: "Bergen" }),
      say("Sunny."),
    ]);
    expect([result.text, ran]).toEqual(["Sunny.", [{ city: "Bergen" }]]);
    expect(JSON.stringify(wire.requests[1]?.body)).not.toContain("Oslo");
  });

  it("is malformed where a text to stop at ended the answer, too: it may be what closes the call", async () => {
    const { result, ran } = await asked([
      [say(`${words}\n${hermes}`), stop("stop_sequence")],
      call("weather", { city: "Bergen" }),
      say("Sunny."),
    ]);
    expect([result.text, ran]).toEqual(["Sunny.", [{ city: "Bergen" }]]);
  });

  it.each([
    "<tool_call>",
    `${words}\n<tool_call>`,
    `${words}\n<tool_call>\n`,
    `${words}<|tool_calls_section_begin|>`,
    `${words}<|tool_calls_section_begin|><|tool_call_begin|>`,
    `${words}<|open|>tools<|sep|>`,
    "[TOOL_CALLS]",
  ])("is malformed if it was begun and not finished: %s", async (begun) => {
    const { result, wire, ran } = await asked([say(begun), call("weather", {}), say("Sunny.")]);
    expect([result.text, ran]).toEqual(["Sunny.", [{}]]);
    expect(JSON.stringify(wire.requests[1]?.body)).toContain("begins a call");
  });

  it("is certainly malformed if the server says that there are calls", async () => {
    for (const leak of [`Like this: ${hermes}`, `It is:\n${qwen}`, "I use <tool_call>"]) {
      const { result, ran } = await asked(
        [[say(leak), stop("tool_use")], call("weather", { city: "Bergen" }), say("Sunny.")],
        { system: "Calls begin with <tool_call>." },
      );
      expect([result.text, ran]).toEqual(["Sunny.", [{ city: "Bergen" }]]);
    }
  });
});

describe("a call that came as a call, and in the text as well", () => {
  const twice = (text: string): Promise<Said> =>
    asked([[say(text), call("weather", { city: "Oslo" })].flat(), say("Sunny.")]);
  const kept = ({ wire }: Said): unknown => {
    const body = wire.requests[1]?.body as { messages: { role: string; content?: string }[] } | undefined;
    return body?.messages.find(({ role }) => role === "assistant")?.content ?? "";
  };

  it.each([
    [hermes, ""],
    [qwen, ""],
    [`I look.\n\n${hermes}`, "I look."],
    [`[TOOL_CALLS]weather[ARGS]${json}`, ""],
  ])("runs once, and leaves nothing of it in the history: %s", async (text, rest) => {
    const said = await twice(text);
    expect([said.result.text, said.ran, kept(said)]).toEqual(["Sunny.", [{ city: "Oslo" }], rest]);
  });

  it.each([
    ["has other arguments", hermes.replace("Oslo", "Bergen")],
    ["is one of two", `${hermes}\n${hermes.replace("Oslo", "Bergen")}`],
    ["is spoken of", `${hermes}\nThis is how it goes.`],
  ])("leaves the text as it is if that %s", async (_, text) => {
    const said = await twice(text);
    expect([said.ran, kept(said)]).toEqual([[{ city: "Oslo" }], text]);
  });
});

describe("an answer is accepted", () => {
  it.each([
    ["that says how one begins", "A call begins with <tool_call>"],
    ["that says so below its words", "A call begins so:\n<tool_call>"],
    ["that shows one in a fence below words", `I mean this.\n\`\`\`\n${hermes}\n\`\`\``],
    ["that shows one in a fence that it left open", `I mean this.\n\`\`\`xml\n${hermes}`],
    ["that quotes one in its sentence", `I would write ${hermes}`],
    ["that only closes one", "Done.\n</tool_call>"],
    ["that speaks of such marks", `Hermes writes ${hermes}, and nothing else.`],
    ["that shows them below words", `Like this:\n\n${hermes}`],
    ["that shows them in a fence", `\`\`\`\n${hermes}\n\`\`\``],
    ["that goes on behind them", `${hermes}\nThis is what Hermes writes.`],
    [
      "that goes on behind LFM's",
      '<|tool_call_start|>[weather(city="Oslo")]<|tool_call_end|> is what LFM writes.',
    ],
    ["that begins with one", "<tool_call> opens a call of Hermes'."],
    ["that begins with another", "[TOOL_CALL] opens a call of MiniMax's, as in a call of the weather."],
    ["that begins with a parameter", "<parameter=city> is how Qwen begins one."],
    ["that writes of DeepSeek's marks", "DeepSeek writes <｜DSML｜invoke and <｜DSML｜parameter."],
    ["that has an element invoke in a fence", '```xml\n<a>\ninvoke name="weather">\n</a>\n```'],
    ["that names no tool there is", hermes.replace("weather", "climate")],
    ["that names a tool there is and another", `${hermes}\n${hermes.replace("weather", "climate")}`],
    ["that shows an address", `I would write to=functions.weather ${json}`],
    ["whose address is no tool's", `to=functions.climate ${json}`],
    ["whose recipient is no tool", `{"recipient_name":"functions.climate","parameters":${json}}`],
    ["that says how Mistral's begin", `weather[ARGS]${json} is how it goes.`],
    ["that says how GLM's begin", "weather<arg_key>city</arg_key> is how it goes."],
    ["that calls what is no tool", `[Calling tool: climate(${json})]`],
    ["that counts calls", '{"tool_calls": 3}'],
    ["that lists calls of no tool", `{"tool_calls": [{"name": "climate", "arguments": ${json}}]}`],
    ["whose recipient is a person", '{"recipient_name":"weather","amount":3}'],
    [
      "that shows the body of an address",
      `It writes: {"recipient_name":"functions.weather","parameters":${json}}`,
    ],
    ["that is JSON alone", `{"name": "weather", "arguments": ${json}}`],
    ["that is Python alone", '[weather(city="Oslo")]'],
  ])("%s", async (_, text) => {
    const { result, wire } = await asked([say(text)]);
    expect([result.text, result.end?.reason, wire.requests.length]).toEqual([text, "completed", 1]);
  });

  it("from a vendor's own model", async () => {
    const claude = (wire: RondoWire): Model =>
      bedrock("anthropic.claude-sonnet-5-v1:0", { baseURL: wire.urlFor("bedrock"), apiKey: "k" });
    expect((await asked([say(hermes)], { make: claude })).result.text).toBe(hermes);
    const [gpt, sonnet] = [openai("gpt-5.2", { apiKey: "k" }), anthropic("claude-sonnet-5", { apiKey: "k" })];
    expect(readAt("https://api.anthropic.com", sonnet)).toBe(sonnet);
    expect(readAt("https://eu-aiplatform.googleapis.com/v1", gpt)).toBe(gpt);
    expect(readAt("https://openrouter.ai/api/v1", gpt)).not.toBe(gpt);
  });

  it.each(["https://api.openai.com/v1", "https://me.openai.azure.com/openai"])(
    "from OpenAI's own server, unless it holds the address of a call: %s",
    async (url) => {
      const said = async (text: string): Promise<string> => {
        const make = (): Model => readAt(url, scripted([say(text), say("Sunny.")]));
        return (await asked([], { make })).result.text;
      };
      expect(await said(hermes)).toBe(hermes);
      expect(await said(`I would write to=functions.weather ${json}`)).toContain("I would");
      expect(await said(`assistant to=functions.weather json ${json}`)).toBe("Sunny.");
      expect(await said(`{"tool_uses":[{"recipient_name":"functions.weather","parameters":${json}}]}`)).toBe(
        "Sunny.",
      );
    },
  );

  it("if a user, the system prompt or a tool wrote such tokens: it may show what was asked for", async () => {
    const spoken = "Repeat: <tool_call>";
    expect((await asked([say(hermes)], { input: spoken })).result.text).toBe(hermes);
    expect((await asked([say(hermes)], { system: spoken })).result.text).toBe(hermes);
  });
});
