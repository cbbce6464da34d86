// A call has one id in all events, from the first piece of its arguments on, whatever the provider says (vercel/ai#17347,
// evalstate/fast-agent#674): providers repeat ids, or leave them out, and a page joins what it is shown of a call by its id.

import { Agent, type Model, memoryJournal, type RondoEvent, tool } from "@rondo/core";
import { google, openai } from "@rondo/models";
import { expect, test } from "vitest";

const look = tool({
  name: "look",
  description: "Looks",
  inputSchema: { type: "object", properties: { at: { type: "integer" } } },
  effect: "read",
  execute: ({ at }) => `seen ${at}`,
});

/** Server-sent events, one response per call. */
function serving(...responses: object[][]): { apiKey: string; fetch: typeof fetch } {
  let next = 0;
  const answer = async (): Promise<Response> => {
    const frames = responses[next] ?? [];
    next += 1;
    return new Response(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(""), {
      headers: { "content-type": "text/event-stream" },
    });
  };
  return { apiKey: "any", fetch: answer };
}

/** What each call was shown as: its arguments in pieces, and those that it began with. */
async function shownBy(model: Model): Promise<[id: string, pieces: string, args: string][]> {
  const session = await new Agent({ model, tools: [look], journal: memoryJournal() }).open("shown");
  const pieces = new Map<string, string>();
  const shown: [string, string, string][] = [];
  session.subscribe((event: RondoEvent) => {
    if (event.type === "tool_args_delta") pieces.set(event.id, (pieces.get(event.id) ?? "") + event.delta);
    if (event.type === "tool_start")
      shown.push([event.call.id, pieces.get(event.call.id) ?? "", JSON.stringify(event.call.args)]);
  });
  const { end } = await session.send("Look.");
  expect(end?.reason).toBe("completed");
  expect(pieces.size).toBe(shown.length);
  const inHistory = session.messages.flatMap((message) => (message.role === "tool" ? [message.callId] : []));
  expect(inHistory).toEqual(shown.map(([id]) => id));
  return shown;
}

const chunk = (delta: object, finish: string | null = null): object => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const chatCall = (index: number, id: object, at: number): object[] => [
  chunk({
    tool_calls: [{ index, ...id, type: "function", function: { name: "look", arguments: '{"at":' } }],
  }),
  chunk({ tool_calls: [{ index, function: { arguments: `${at}}` } }] }),
];
const called = chunk({}, "tool_calls");
const chatEnd = [chunk({ content: "Done." }), chunk({}, "stop")];

const part = (parts: object[], finishReason?: string): object => ({
  candidates: [
    { index: 0, content: { role: "model", parts }, ...(finishReason === undefined ? {} : { finishReason }) },
  ],
});
const functionCall = (at: number): object => ({ functionCall: { name: "look", args: { at } } });

const item = (id: string, callId: string, args: string): object => ({
  id,
  type: "function_call",
  status: args === "" ? "in_progress" : "completed",
  call_id: callId,
  name: "look",
  arguments: args,
});
const response = (status: string, output: object[]): object => ({ id: "r", status, output });
const responsesCall = (callId: string, at: number): object[] => {
  const whole = item("fc", callId, `{"at":${at}}`);
  return [
    { type: "response.created", response: response("in_progress", []) },
    { type: "response.output_item.added", output_index: 0, item: item("fc", callId, "") },
    { type: "response.function_call_arguments.delta", output_index: 0, item_id: "fc", delta: `{"at":${at}}` },
    { type: "response.output_item.done", output_index: 0, item: whole },
    { type: "response.completed", response: response("completed", [whole]) },
  ];
};
const said = {
  id: "m",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Done." }],
};

test("Chat Completions: one id for two calls at once, and again in the next answer", async () => {
  const id = { id: "call_0" };
  const answers = [
    [...chatCall(0, id, 1), ...chatCall(1, id, 2), called],
    [...chatCall(0, id, 3), called],
    chatEnd,
  ];
  expect(await shownBy(openai.chat("m", serving(...answers)))).toEqual([
    ["call_0", '{"at":1}', '{"at":1}'],
    [expect.stringMatching(/^call_0_\d+_1$/), '{"at":2}', '{"at":2}'],
    [expect.stringMatching(/^call_0_\d+_0$/), '{"at":3}', '{"at":3}'],
  ]);
});

test("Chat Completions: no ids", async () => {
  const answers = [
    [...chatCall(0, {}, 1), ...chatCall(1, {}, 2), called],
    [...chatCall(0, {}, 3), called],
    chatEnd,
  ];
  const shown = await shownBy(openai.chat("m", serving(...answers)));
  expect(shown.map(([, pieces, args]) => [pieces, args])).toEqual(
    [1, 2, 3].map((at) => [`{"at":${at}}`, `{"at":${at}}`]),
  );
});

test("Gemini: no ids", async () => {
  const answers = [
    [part([functionCall(1)]), part([functionCall(2)], "STOP")],
    [part([functionCall(3)], "STOP")],
    [part([{ text: "Done." }], "STOP")],
  ];
  const shown = await shownBy(google("gemini-2.5-flash", serving(...answers)));
  expect(shown.map(([, pieces, args]) => [pieces, args])).toEqual(
    [1, 2, 3].map((at) => [`{"at":${at}}`, `{"at":${at}}`]),
  );
});

test("Responses: the same id in two answers", async () => {
  const last = [{ type: "response.completed", response: response("completed", [said]) }];
  const answers = [responsesCall("call_0", 1), responsesCall("call_0", 2), last];
  expect(await shownBy(openai("m", serving(...answers)))).toEqual([
    ["call_0", '{"at":1}', '{"at":1}'],
    [expect.stringMatching(/^call_0_\d+_0$/), '{"at":2}', '{"at":2}'],
  ]);
});
