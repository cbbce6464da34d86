// What an item of a Responses answer is tied to: the reasoning that led to it, its namespace, the program that called it.

import { Agent, type AssistantMessage, type JsonObject, type Message, type Part, tool } from "@rondo/core";
import { call, say, think } from "@rondo/testkit";
import { raw } from "@rondo/testkit/wire";
import { expect, test } from "vitest";
import { z } from "zod";
import { openaiResponses } from "../../src/codecs/openai-responses.ts";
import { expectValid, rows, serve } from "../end-to-end/stack.ts";
import { responsesOrigin } from "./conversations.ts";
import {
  call as asked,
  assistant,
  type Loose,
  request,
  responses,
  responsesBody,
  result,
  user,
} from "./requests.ts";

const thought = (id: string): Loose => ({ type: "reasoning", id, summary: [], encrypted_content: "E" });
const search: Loose = { type: "web_search_call", id: "ws_1", status: "completed" };
const text: Loose = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "t", annotations: [] }],
};
const asks = (more: JsonObject = {}): Loose => ({
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "f",
  arguments: "{}",
  status: "completed",
  ...more,
});

/** An answer of these items, streamed and whole, as both are read. */
function answer(...output: Loose[]): AssistantMessage {
  const target = responses();
  const whole = openaiResponses.decodeWhole({ status: "completed", output }, target, () => {});
  const decoder = openaiResponses.decoder(target, () => {});
  for (const [output_index, item] of output.entries())
    for (const type of ["response.output_item.added", "response.output_item.done"])
      decoder.push({ event: undefined, data: JSON.stringify({ type, output_index, item }) });
  decoder.push({
    event: undefined,
    data: JSON.stringify({ type: "response.completed", response: { status: "completed" } }),
  });
  expect(decoder.end()).toEqual(whole);
  return whole;
}

const sent = (...history: Message[]): [type: unknown, id: unknown][] =>
  responsesBody([user("x"), ...history])
    .input.slice(1)
    .map((item) => [item.type, item.id]);

const without = (message: AssistantMessage, drop: (part: Part) => boolean): AssistantMessage => ({
  ...message,
  content: message.content.filter((part) => !drop(part)),
});

test("items are sent back with their ids as long as the reasoning before them is in the history (F111)", () => {
  const message = answer(thought("rs_1"), search, thought("rs_2"), text, asks());
  expect(sent(message, result("call_1"))).toEqual([
    ["reasoning", "rs_1"],
    ["web_search_call", "ws_1"],
    ["reasoning", "rs_2"],
    ["message", "msg_1"],
    ["function_call", "fc_1"],
    ["function_call_output", undefined],
  ]);
  const unreasoned = without(message, ({ type }) => type === "reasoning");
  expect(sent(unreasoned, result("call_1"))).toEqual([
    ["message", undefined],
    ["function_call", undefined],
    ["function_call_output", undefined],
  ]);
});

test("of items with the same ids only those of the first answer are sent with them, for a second one is refused (anomalyco/opencode#32748)", () => {
  const again = {
    ...text,
    phase: "commentary",
    content: [{ type: "output_text", text: "u", annotations: [] }],
  };
  const first = answer(thought("rs_1"), text, asks());
  const second = answer(thought("rs_1"), again, { ...search, id: "ws_2" }, asks({ call_id: "call_2" }));
  const third = answer(thought("rs_3"), { ...search, id: "ws_2" }, { ...text, id: "msg_3" });
  const named: [unknown, unknown][] = [
    ["reasoning", "rs_1"],
    ["message", "msg_1"],
    ["function_call", "fc_1"],
    ["function_call_output", undefined],
  ];
  const history = [first, result("call_1"), second, result("call_2"), third];
  expect(sent(...history)).toEqual([
    ...named,
    ["reasoning", undefined],
    ["message", undefined],
    ["web_search_call", "ws_2"],
    ["function_call", undefined],
    ["function_call_output", undefined],
    // A search cannot do without its id, nor its reasoning without what it led to.
    ["message", undefined],
  ]);
  const { input } = responsesBody([user("x"), ...history]);
  expect(input[6]).toEqual({ type: "message", role: "assistant", content: "u", phase: "commentary" });
  expect(input[5]).toEqual({ type: "reasoning", summary: [], encrypted_content: "E" });
  // What was sent stays as it was sent.
  expect(sent(first, result("call_1")).slice(0, 4)).toEqual(named);
  expect(sent(second, result("call_2"))[0]).toEqual(["reasoning", "rs_1"]);
});

test("of two calls with one id in the same answer neither is sent with it", () => {
  const message = answer(
    thought("rs_1"),
    asks({ id: "fc_2" }),
    asks({ id: "fc_2", call_id: "call_2", arguments: '{"a":1}' }),
  );
  expect(sent(message, result("call_1"), result("call_2")).slice(0, 3)).toEqual([
    ["reasoning", undefined],
    ["function_call", undefined],
    ["function_call", undefined],
  ]);
});

test("items without reasoning before them keep their ids", () => {
  expect(sent(answer(search, text, asks()), result("call_1")).slice(0, 3)).toEqual([
    ["web_search_call", "ws_1"],
    ["message", "msg_1"],
    ["function_call", "fc_1"],
  ]);
});

test("a refused pair of reasoning and call is sent as neither the next time", async () => {
  const row = rows.find(({ name }) => name === "openai");
  if (row === undefined) throw new Error("the row is gone");
  const message =
    "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.";
  const refusal = raw(JSON.stringify({ error: { message, type: "invalid_request_error", param: "input" } }), {
    status: 400,
    headers: { "content-type": "application/json" },
  });
  const wire = await serve([[think("hm"), call("f")], refusal, say("done")]);
  const f = tool({ name: "f", description: "F.", inputSchema: z.object({}), execute: () => "ok" });
  const run = await new Agent({ model: row.model(wire), tools: [f] }).run("go");
  expect([run.end?.reason, run.text]).toEqual(["completed", "done"]);
  const items = wire.requests.map(({ body }) => (body as { input: Loose[] }).input);
  const tied = (input: Loose[] | undefined): unknown[] =>
    (input ?? []).filter(({ type, id }) => type === "reasoning" || id !== undefined).map(({ type }) => type);
  expect(items.map(tied)).toEqual([[], ["reasoning", "function_call"], []]);
  expectValid(wire, run);
});

test("an incomplete call still has the namespace of its tool", () => {
  const opaque = { id: "fc_1", namespace: "crm" };
  const cut = asked("call_1", { opaque, argsError: "cut", rawArgs: '{"a":' });
  const [, item] = responsesBody([user("x"), assistant([cut], responsesOrigin), result("call_1")]).input;
  expect(item).toEqual({
    type: "function_call",
    call_id: "call_1",
    name: "g",
    arguments: "{}",
    namespace: "crm",
  });
});

test("the result of a call that a program made names the program", () => {
  const caller = { type: "program", caller_id: "call_0" };
  const message = answer(
    { type: "program", id: "cm_1", call_id: "call_0", code: "f()", fingerprint: "F" },
    asks({ status: "in_progress", caller }),
  );
  expect(message.stop.kind).toBe("tool_use");
  const later = answer(asks({ id: "fc_2", call_id: "call_2" }));
  const { input } = responsesBody([user("x"), message, result("call_1"), later, result("call_2")]);
  expect(input.slice(1)).toMatchObject([
    { type: "program", fingerprint: "F" },
    { type: "function_call", caller },
    { type: "function_call_output", call_id: "call_1", output: "ok", caller },
    { type: "function_call", id: "fc_2" },
    { type: "function_call_output", call_id: "call_2" },
  ]);
  expect(input[5]).not.toHaveProperty("caller");
});

test("reasoning is sent back in OpenAI's form, whatever a gateway put into it", () => {
  const back = (item: Loose): unknown => responsesBody([user("x"), answer(item, text)]).input[1];
  const { summary, ...bare } = thought("rs_1");
  expect(back({ ...bare, status: "completed", content: null })).toEqual({ ...bare, summary });
  const { id, ...nameless } = thought("rs_1");
  for (const own of ["", "item_9f", "rs_1:4"]) expect(back({ ...nameless, id: own })).toEqual(nameless);
  // Copilot wraps the ids, and knows its own again.
  const wrapped = { ...nameless, id: `${"Uw+9/".repeat(20)}==` };
  const { body } = openaiResponses.encoder(responses()).encode(request([user("x"), answer(wrapped, text)]));
  expect(JSON.parse(body).input[1]).toEqual(wrapped);
  const plain = { ...thought("rs_1"), content: [{ type: "reasoning_text", text: "hm" }] };
  expect(back(plain)).toEqual(plain);
});

test("reasoning goes back without its readable text if the server refuses that (OpenAI)", () => {
  const content = [{ type: "reasoning_text", text: "hm" }];
  const sentBack = (item: Loose, compat: object): unknown => {
    const encoder = openaiResponses.encoder({ ...responses(), compat: compat as never });
    return JSON.parse(encoder.encode(request([user("x"), answer(item, text)])).body).input[1];
  };
  const whole = { ...thought("rs_1"), content };
  expect(sentBack(whole, { readableReasoning: false })).toEqual(thought("rs_1"));
  // Without encrypted content nothing is left of it, even where plain reasoning is taken.
  const { encrypted_content: _, ...plain } = whole as Loose;
  expect(sentBack(plain, { plainReasoning: true })).toEqual(plain);
  expect(sentBack(plain, { plainReasoning: true, readableReasoning: false })).toMatchObject({
    type: "message",
  });
});

test("an id that the API would refuse is sent back with no message", () => {
  for (const id of [`msg_${"1".repeat(61)}`, "msg_1:2", "chatcmpl-1", ""])
    expect(sent(answer({ ...text, id }))).toEqual([["message", undefined]]);
});

test("items inside a reasoning item that ends last are tied to it (OpenRouter)", () => {
  const decoder = openaiResponses.decoder(responses(), () => {});
  const told: [type: string, index: number, item: Loose][] = [
    ["added", 0, thought("rs_1")],
    ["added", 1, text],
    ["done", 1, text],
    ["done", 0, thought("rs_1")],
  ];
  for (const [type, output_index, item] of told)
    decoder.push({
      event: undefined,
      data: JSON.stringify({ type: `response.output_item.${type}`, output_index, item }),
    });
  decoder.push({ event: undefined, data: '{"type":"response.completed","response":{"status":"completed"}}' });
  const message = decoder.end();
  expect(sent(message)).toEqual([
    ["reasoning", "rs_1"],
    ["message", "msg_1"],
  ]);
  expect(sent(without(message, ({ type }) => type === "reasoning"))).toEqual([["message", undefined]]);
});

test("a picture that the model drew is a file, and goes back as the item that it was", () => {
  const picture = { type: "image_generation_call", id: "ig_1", status: "completed", output_format: "webp" };
  const drawn = answer(thought("rs_1"), { ...picture, result: "UklGRg==" });
  expect(drawn.content.at(-1)).toMatchObject({ type: "file", mediaType: "image/webp", data: "UklGRg==" });
  const items = responsesBody([user("x"), drawn, user("y")]).input;
  expect(items[2]).toEqual({ ...picture, result: "UklGRg==" });
  // Azure says of a finished one that it is being drawn.
  const late = answer({ ...picture, status: "generating", result: "UklGRg==" });
  expect(responsesBody([user("x"), late, user("y")]).input[1]).toEqual({ ...picture, result: "UklGRg==" });
  // One that could not be drawn is none.
  expect(answer({ ...picture, result: null }).content).toMatchObject([{ type: "native" }]);
  // To another model it is a file like any other.
  const foreign = { ...drawn, origin: { ...drawn.origin, model: "another" } };
  expect(JSON.stringify(responsesBody([user("x"), foreign, user("y")]).input)).not.toContain("ig_1");
});
