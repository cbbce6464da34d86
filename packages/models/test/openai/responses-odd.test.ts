// Responses as gateways misspell them: failures in other places, lists that are one value, arguments that are values.

import { describe, expect, it } from "vitest";
import { openaiResponses } from "../../src/codecs/openai-responses.ts";
import { callsOf, data, outcome, targetOf, textOf } from "../receive/fed.ts";

const created = { type: "response.created", response: { id: "r", status: "in_progress", output: [] } };
const completed = (more: object = {}): object => ({
  type: "response.completed",
  response: { id: "r", status: "completed", output: [], ...more },
});
const play = (...events: readonly object[]): ReturnType<typeof outcome> =>
  outcome(openaiResponses, data(...events));
const limited = { code: "rate_limit_exceeded", message: "x" };
const said = [{ type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "hi" }];

describe("a failure", () => {
  it.each([
    [
      "in the last error",
      { type: "response.failed", response: { status: "failed", error: null, last_error: limited } },
    ],
    ["beside the response", { type: "response.failed", error: limited }],
    ["with the first event", { type: "response.created", response: { status: "failed", error: limited } }],
    ["of an event of its own", { type: "response.output_text.error", error: limited }],
    ["in a response that calls itself whole", completed({ error: limited })],
    ["in words, in a response that calls itself whole", completed({ error: "rate limit exceeded" })],
  ])("%s", async (_title, event) => {
    expect((await play(created, ...said, event)).error?.kind).toBe("rate_limit");
  });

  it.each(["in_progress", "queued"])("is not an answer while it is %s", async (status) => {
    const { error } = await outcome(openaiResponses, [
      JSON.stringify({ object: "response", status, output: [] }),
    ]);
    expect(error).toMatchObject({ kind: "stream_truncated" });
    expect(error?.message).toContain("background");
  });
});

describe("arguments", () => {
  const added = (index: unknown, args: string = ""): object => ({
    type: "response.output_item.added",
    output_index: index,
    item: { type: "function_call", call_id: `c${index}`, name: `f${index}`, arguments: args },
  });
  const called = (args: string): object => ({
    type: "function_call",
    call_id: "c0",
    name: "f0",
    arguments: args,
    status: "completed",
  });
  const ended = (args: string): object => ({
    type: "response.output_item.done",
    output_index: 0,
    item: called(args),
  });
  const more = (index: unknown, delta: unknown): object => ({
    type: "response.function_call_arguments.delta",
    output_index: index,
    delta,
  });

  it("that come as a value are not empty", async () => {
    expect(callsOf(await play(created, added(0), more(0, { a: 1 }), completed()))).toEqual([
      ["f0", { a: 1 }],
    ]);
  });

  it.each([
    { type: "response.function_call_arguments.done", output_index: 0, arguments: "{}" },
    {
      type: "response.output_item.done",
      output_index: 0,
      item: { type: "function_call", call_id: "c0", name: "f0", arguments: {} },
    },
  ])("that came in pieces are not erased by the end: $type", async (done) => {
    expect(callsOf(await play(created, added(0), more(0, '{"a":1}'), done, completed()))).toEqual([
      ["f0", { a: 1 }],
    ]);
  });

  it("that came at once are not erased by the item's end either, as LM Studio sends them", async () => {
    const done = { type: "response.function_call_arguments.done", output_index: 0, arguments: '{"a":1}' };
    const told = await play(created, added(0), done, ended("{}"), completed({ output: [called("{}")] }));
    expect(callsOf(told)).toEqual([["f0", { a: 1 }]]);
  });

  it.each([
    ["the item's beginning", [added(0, '{"a":1}'), ended("{}")], []],
    ["the response's list", [added(0), ended("{}")], [called('{"a":1}')]],
    ["the response's list, and the item's end has none", [added(0), ended("")], [called('{"a":1}')]],
  ])("that only %s has are not lost to an empty object", async (_title, events, output) => {
    expect(callsOf(await play(created, ...events, completed({ output })))).toEqual([["f0", { a: 1 }]]);
  });

  it("under numbers that are strings are kept separate", async () => {
    const told = await play(
      created,
      added("0"),
      added("1"),
      more("0", '{"a":'),
      more("1", '{"b":'),
      more("0", "1}"),
      more("1", "2}"),
      completed(),
    );
    expect(callsOf(told)).toEqual([
      ["f0", { a: 1 }],
      ["f1", { b: 2 }],
    ]);
  });
});

describe("an item whose position is only in some events", () => {
  const item = { type: "function_call", id: "fc_1", call_id: "c1", name: "f", arguments: "" };
  const more = { type: "response.function_call_arguments.delta", item_id: "fc_1", delta: '{"a":1}' };
  const done = { type: "response.output_item.done", item: { ...item, arguments: '{"a":1}' } };
  const added = { type: "response.output_item.added", item };
  const at = (event: object): object => ({ ...event, output_index: 1 });

  it.each([
    ["its beginning does not", [added, at(more), at(done)]],
    ["its end does not", [at(added), at(more), done]],
    ["its pieces do not", [at(added), more, at(done)]],
    ["its pieces alone do", [added, at(more), done]],
  ])("is one call: %s", async (_title, events) => {
    const thought = [
      {
        type: "response.output_item.added",
        output_index: 0,
        item: { type: "reasoning", id: "rs_1", summary: [] },
      },
      {
        type: "response.output_item.done",
        output_index: 0,
        item: { type: "reasoning", id: "rs_1", summary: [] },
      },
    ];
    expect(callsOf(await play(created, ...thought, ...events, completed()))).toEqual([["f", { a: 1 }]]);
  });
});

describe("a call that was never reported as complete, in a response that calls itself completed", () => {
  const item = (more: object = {}): object => ({
    type: "function_call",
    call_id: "c",
    name: "f",
    arguments: "",
    status: "in_progress",
    ...more,
  });
  const added = { type: "response.output_item.added", output_index: 0, item: item() };
  const piece = { type: "response.function_call_arguments.delta", output_index: 0, delta: "{}" };
  const argumentsDone = { type: "response.function_call_arguments.done", output_index: 0, arguments: "" };
  const itemDone = { type: "response.output_item.done", output_index: 0, item: item() };

  it.each([
    ["only its beginning came", [added, completed()]],
    ["the response's list has it in progress", [completed({ output: [item()] })]],
    ["it is in progress in both", [added, completed({ output: [item()] })]],
  ])("does not run with nothing where %s", async (_title, events) => {
    const { answer } = await play(created, ...events);
    expect(answer?.content).toMatchObject([{ argsError: expect.stringContaining("never said to be whole") }]);
  });

  it.each([
    ["its arguments are whole", [added, piece, completed()]],
    ["the list has its arguments", [completed({ output: [item({ arguments: "{}" })] })]],
    ["its arguments were said to be done", [added, argumentsDone, completed()]],
    ["it was said to be done", [added, itemDone, completed()]],
    ["the list has it as completed", [added, completed({ output: [item({ status: "completed" })] })]],
    ["the list says nothing of its status", [completed({ output: [item({ status: undefined })] })]],
  ])("runs where %s", async (_title, events) => {
    expect(callsOf(await play(created, ...events))).toEqual([["f", {}]]);
  });
});

describe("the text", () => {
  const message = { type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] };

  it.each([
    ["of a message whose content is a text", { output: [{ ...message, content: "hi" }] }],
    ["of a message whose content is one part", { output: [{ ...message, content: message.content[0] }] }],
    ["of output that is one item", { output: message }],
    ["that stands alone", { output_text: "hi" }],
  ])("%s", async (_title, response) => {
    expect(textOf(await play(created, completed(response)))).toBe("hi");
  });

  it.each(["data", "response"])("in an envelope named %s", async (name) => {
    const body = { [name]: { object: "response", status: "completed", output: [message] } };
    expect(textOf(await outcome(openaiResponses, [JSON.stringify(body)]))).toBe("hi");
  });

  it("that streamed is not emitted again from the response", async () => {
    expect(textOf(await play(created, ...said, completed({ output_text: "hi" })))).toBe("hi");
  });
});

it("usage beside the response is counted, by the names of Chat Completions with their details", async () => {
  const usage = {
    prompt_tokens: 5,
    completion_tokens: 6,
    prompt_tokens_details: { cached_tokens: 3 },
    completion_tokens_details: { reasoning_tokens: 2 },
  };
  const told = await play(created, { ...completed({ output_text: "hi" }), usage });
  expect(told.answer?.usage).toEqual({
    inputTokens: 5,
    outputTokens: 6,
    cachedInputTokens: 3,
    reasoningTokens: 2,
  });
});

it("a call that the response's list marks as truncated does not run, even if it streamed completely (F029)", async () => {
  const item = { type: "function_call", id: "fc", call_id: "c", name: "f", arguments: '{"a":1}' };
  const done = { type: "response.output_item.done", output_index: 0, item: { ...item, status: "completed" } };
  const told = await play(created, done, completed({ output: [{ ...item, status: "incomplete" }] }));
  expect(told.answer?.content).toMatchObject([{ type: "tool_call", argsError: expect.any(String) }]);
});

describe("a message", () => {
  const item = (text?: string, more: object = {}): object => ({
    type: "message",
    id: "msg_1",
    role: "assistant",
    content: [text === undefined ? { type: "output_text" } : { type: "output_text", text }],
    ...more,
  });
  const part = (type: string, text: string): object => ({
    type: `response.${type}`,
    output_index: 0,
    content_index: 0,
    item_id: "msg_1",
    ...(type === "output_text.delta" ? { delta: text } : { text }),
  });
  const round = (text: string, told = text): object[] => [
    { type: "response.output_item.added", output_index: 0, item: item(undefined, { content: [] }) },
    part("output_text.delta", text),
    part("output_text.done", told),
    { type: "response.output_item.done", output_index: 0, item: item(told) },
  ];
  const heard = async (...events: object[]): Promise<string | undefined> =>
    textOf(await play(created, ...events, completed()));

  const shown = (...events: object[]): string => {
    let text = "";
    const decoder = openaiResponses.decoder(targetOf(openaiResponses), (event) => {
      if (event.type === "text_delta") text += event.text;
    });
    for (const event of events) decoder.push({ event: undefined, data: JSON.stringify(event) });
    decoder.end();
    return text;
  };

  it("that ends and begins again continues", async () => {
    expect(await heard(...round("One. "), ...round("Two. "), ...round("Three."))).toBe("One. Two. Three.");
  });

  it("that begins again before it has ended is read from its beginning, and what was shown is not shown twice", async () => {
    const [added, ...rest] = round("Hello");
    const cut = [added as object, part("output_text.delta", "Hel")];
    const again = [added as object, part("output_text.delta", "He"), part("output_text.delta", "llo")];
    for (const all of [
      [...cut, ...again],
      [...cut, ...again, ...rest.slice(1)],
      [...cut, ...cut, ...cut, ...again],
    ]) {
      expect(await heard(...all)).toBe("Hello");
      expect(shown(created, ...all, completed())).toBe("Hello");
    }
    const other = [added as object, part("output_text.delta", "Bye")];
    expect(await heard(...cut, ...other)).toBe("Bye");
  });

  it("that begins again takes no memory for parts that never came, whatever their numbers are", async () => {
    const [added] = round("Hello");
    const far = { ...part("output_text.delta", "Hel"), content_index: 2 ** 31 };
    expect(await heard(added as object, far, added as object, part("output_text.delta", "Hello"))).toBe(
      "Hello",
    );
  });

  it("that is repeated completely is one", async () => {
    expect(await heard(...round("One."), ...round("One."))).toBe("One.");
  });

  it("that continues, and whose end contains all of it, is emitted once", async () => {
    expect(await heard(...round("One. "), ...round("Two.", "One. Two."))).toBe("One. Two.");
  });

  it("keeps what streamed if its end names a text and has none", async () => {
    const done = { type: "response.output_item.done", output_index: 0, item: item() };
    expect(await heard(part("output_text.delta", "Hello"), done)).toBe("Hello");
  });

  it("continues under its own id after a call that was given its position", async () => {
    const call = { type: "function_call", id: "fc_1", call_id: "c1", name: "f", arguments: '{"a":1}' };
    const answer = await play(
      created,
      part("output_text.delta", "yes"),
      { type: "response.output_item.added", output_index: 0, item: { ...call, arguments: "" } },
      part("output_text.delta", "!"),
      completed({ output: [call, item("yes!", { id: "msg_other" })] }),
    );
    expect([textOf(answer), callsOf(answer)]).toEqual(["yes!", [["f", { a: 1 }]]]);
  });

  it("without a position in any event is one, after thoughts that ended", async () => {
    const thoughts = { type: "reasoning", id: "rs_1", summary: [] };
    expect(
      await heard(
        { type: "response.output_item.added", item: thoughts },
        { type: "response.reasoning_text.delta", delta: "hm" },
        { type: "response.output_item.done", item: thoughts },
        { type: "response.output_text.done", text: "Hello" },
        { type: "response.output_item.done", item: item("Hello") },
      ),
    ).toBe("Hello");
  });
});

describe("thoughts", () => {
  it.each([
    "reasoning",
    "reasoning_content",
    "reasoning_summary",
    "reasoning_text",
    "reasoning_summary_text",
  ])("stream under every name: %s", async (name) => {
    const thoughts = { type: "reasoning", id: "rs", summary: [] };
    const { answer } = await play(
      created,
      { type: `response.${name}.delta`, item_id: "rs", output_index: 0, delta: "hm" },
      { type: "response.output_item.done", output_index: 0, item: thoughts },
      completed(),
    );
    expect(answer?.content).toMatchObject([{ type: "reasoning", text: "hm" }]);
  });

  it.each([
    ["summary", { summary: "hm" }],
    ["content", { summary: [], content: "hm" }],
    ["list of texts", { summary: ["hm"] }],
  ])("are read from a %s that is a text", async (_, members) => {
    const { answer } = await play(completed({ output: [{ type: "reasoning", id: "rs", ...members }] }));
    expect(answer?.content).toMatchObject([{ type: "reasoning", text: "hm" }]);
  });
});
