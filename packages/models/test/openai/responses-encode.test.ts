import type { AssistantMessage, JsonObject, Message, Part, Settings } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { openaiResponses } from "../../src/codecs/openai-responses.ts";
import { responsesOrigin } from "./conversations.ts";
import {
  assistant,
  call,
  image,
  type Loose,
  request,
  responses,
  responsesBody,
  result,
  tools,
  user,
} from "./requests.ts";

describe("Responses requests", () => {
  const reasoning = (id: string, more: JsonObject = {}): Part => ({
    type: "reasoning",
    text: "",
    opaque: { item: { type: "reasoning", id, summary: [], encrypted_content: "E", ...more } },
  });
  const own = (content: Part[]): AssistantMessage => assistant(content, responsesOrigin);

  test("arguments longer than OpenAI takes back are cut where they are sent again", () => {
    const sent = (rawArgs: string) => {
      const args = JSON.parse(rawArgs) as JsonObject;
      const { input } = responsesBody([user("x"), own([call("c", { args, rawArgs })]), result("c")]);
      return JSON.parse((input as { arguments: string }[])[1]?.arguments ?? "") as JsonObject;
    };
    expect(sent(`{"a": 1,${" ".repeat(1_100_000)}"b": "x"}`)).toEqual({ a: 1, b: "x" });
    expect(sent(`{"a":"${"x".repeat(1_100_000)}"}`)).toEqual({ a: "x".repeat(10_000) });
    expect(sent(`{"a":[${"1,".repeat(600_000)}1]}`)).toEqual({});
    expect(sent(`{"${"n".repeat(300)}":[{"b":2}]}`)).toEqual({ ["n".repeat(256)]: [{ b: 2 }] });
  });

  test("nothing is stored, and reasoning is returned encrypted (F112)", () => {
    const body = responsesBody([user("x")], { system: "S" });
    expect(body).toMatchObject({
      store: false,
      include: ["reasoning.encrypted_content"],
      instructions: "S",
      stream: true,
    });
    const settings: Settings = {
      maxOutputTokens: 9,
      reasoning: "low",
      providerOptions: {
        test: {
          store: true,
          reasoning: { summary: "auto" },
          include: ["web_search_call.action.sources"],
          text: { verbosity: "low" },
          tools: [{ type: "web_search" }],
        },
      },
    };
    const stored = responsesBody([user("x")], { settings, outputSchema: { type: "object", properties: {} } });
    expect(stored).toMatchObject({
      store: true,
      include: ["web_search_call.action.sources"],
      max_output_tokens: 9,
      reasoning: { summary: "auto", effort: "low" },
      text: { verbosity: "low", format: { type: "json_schema", name: "response", strict: false } },
      tools: [{ type: "web_search" }],
    });
    const lacking = openaiResponses
      .encoder(responses())
      .encode(request([user("x")], { settings: { seed: 1, stop: ["a"], topK: 1 } }));
    expect(lacking.warnings).toHaveLength(3);
  });

  test("a server that accepts no answer at the end, or no later system message, is sent none (F127, F128)", () => {
    const history = [user("x"), own([{ type: "text", text: "y" }])];
    const roles = (messages: Message[], compat: JsonObject): unknown[] =>
      responsesBody(messages, {}, compat).input.map(({ role }) => role);
    expect(roles(history, {})).toEqual(["user", "assistant"]);
    expect(roles(history, { noAssistantLast: true })).toEqual(["user", "assistant", "user"]);
    expect(roles([...history, user("z")], { noAssistantLast: true })).toEqual(["user", "assistant", "user"]);
    const late: Message = { role: "system", content: [{ type: "text", text: "brief" }] };
    expect(roles([user("x"), late, user("z")], {})).toEqual(["user", "developer", "user"]);
    expect(roles([user("x"), late, user("z")], { systemFirstOnly: true })).toEqual(["user", "user", "user"]);
  });

  test("a server that cannot force a call is not asked to, but is told if none may be made (F135)", () => {
    const encoder = openaiResponses.encoder(responses({ forcedChoice: false }));
    const asked = (toolChoice: "any" | "none"): Loose & { warnings: readonly { code: string }[] } => {
      const { body, warnings } = encoder.encode(request([user("x")], { toolChoice, tools }));
      return { ...(JSON.parse(body) as Loose), warnings };
    };
    expect(asked("any").tool_choice).toBeUndefined();
    expect(asked("any").warnings.map(({ code }) => code)).toEqual(["unsupported_tool_choice"]);
    expect(asked("none").tool_choice).toBe("none");
  });

  test("reasoning is sent with the item after it, or not at all (F111)", () => {
    const types = (content: Part[], ...results: Message[]): unknown[] =>
      responsesBody([user("x"), own(content), ...results])
        .input.slice(1)
        .map((item) => [item.type, item.id]);
    expect(types([reasoning("rs_1"), call("a", { opaque: { id: "fc_1" } })], result("a"))).toEqual([
      ["reasoning", "rs_1"],
      ["function_call", "fc_1"],
      ["function_call_output", undefined],
    ]);
    expect(types([{ type: "text", text: "x", opaque: { id: "msg_1" } }, reasoning("rs_1")])).toEqual([
      ["message", "msg_1"],
    ]);
    expect(types([reasoning("rs_1")])).toEqual([]);
    // Without its encrypted content it cannot be sent; then the ids that are tied to it cannot either.
    const plain: Part = {
      type: "reasoning",
      text: "",
      opaque: { item: { type: "reasoning", id: "rs_1", summary: [] } },
    };
    const tied = [plain, call("a", { opaque: { id: "fc_1" } }), call("b", { opaque: { id: "fc_2" } })];
    expect(types(tied, result("a"), result("b")).slice(0, 2)).toEqual([
      ["function_call", undefined],
      ["function_call", undefined],
    ]);
    // A call that did not arrive whole is not what its reasoning led to (F029).
    const broken = [
      reasoning("rs_1"),
      call("a", { opaque: { id: "fc_1" }, argsError: "cut", rawArgs: '{"a":' }),
    ];
    expect(types(broken, result("a"))[0]).toEqual(["function_call", undefined]);
  });

  test("a provider's call that was in progress when the answer broke off is not sent", () => {
    const item = (status: string): Part => ({
      type: "native",
      kind: "web_search_call",
      opaque: { item: { type: "web_search_call", id: "ws_1", status } },
    });
    const types = (content: Part[]): unknown[] =>
      responsesBody([user("x"), own(content)])
        .input.slice(1)
        .map((one) => [one.type, one.id]);
    const text: Part = { type: "text", text: "t", opaque: { id: "msg_1" } };
    expect(types([reasoning("rs_1"), item("completed"), text])).toEqual([
      ["reasoning", "rs_1"],
      ["web_search_call", "ws_1"],
      ["message", "msg_1"],
    ]);
    expect(types([reasoning("rs_1"), item("in_progress"), text])).toEqual([["message", undefined]]);
  });

  test("what was run in a container that no longer exists is left out, with the reasoning that it was tied to", () => {
    const run = (id: string, container: string): Part => ({
      type: "native",
      kind: "code_interpreter_call",
      opaque: {
        item: { type: "code_interpreter_call", id, container_id: container, status: "completed", code: "1" },
      },
    });
    const types = (lostContainers: string[]): unknown[] =>
      responsesBody(
        [
          user("x"),
          own([
            reasoning("rs_1"),
            run("ci_1", "cntr_1"),
            { type: "text", text: "t", opaque: { id: "msg_1" } },
          ]),
          own([run("ci_2", "cntr_2"), { type: "text", text: "u", opaque: { id: "msg_2" } }]),
          user("y"),
        ],
        {},
        { lostContainers },
      )
        .input.slice(1, -1)
        .map((one) => [one.type, one.id]);
    const second = [
      ["code_interpreter_call", "ci_2"],
      ["message", "msg_2"],
    ];
    expect(types([])).toEqual([
      ["reasoning", "rs_1"],
      ["code_interpreter_call", "ci_1"],
      ["message", "msg_1"],
      ...second,
    ]);
    expect(types(["cntr_1"])).toEqual([["message", undefined], ...second]);
  });

  test("another model's reasoning, items and ids are left out", () => {
    const native: Part = {
      type: "native",
      kind: "web_search_call",
      opaque: { item: { type: "web_search_call", id: "ws_1" } },
    };
    const foreign = assistant(
      [
        reasoning("rs_1"),
        native,
        { type: "text", text: "t", opaque: { id: "msg_1" } },
        call("call_x|fc_y", { opaque: { id: "fc_1" } }),
      ],
      { ...responsesOrigin, model: "other" },
    );
    const { input } = responsesBody([user("x"), foreign, result("call_x|fc_y")]);
    expect(input.slice(1)).toMatchObject([
      { type: "message", content: "t" },
      { type: "function_call" },
      { type: "function_call_output" },
    ]);
    expect(JSON.stringify(input)).not.toMatch(/rs_1|ws_1|msg_1|fc_1/);
    expect(input[2]!.call_id).toBe(input[3]!.call_id);
    expect(input[2]!.call_id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  test("texts without an id of the server's are one plain text, because some servers accept no parts in a foreign message", () => {
    const parts: Part[] = [
      { type: "text", text: "It is " },
      { type: "text", text: "21." },
    ];
    const said = (content: Part[]): unknown =>
      responsesBody([user("x"), assistant(content, { ...responsesOrigin, model: "other" })]).input.slice(1);
    expect(said(parts)).toEqual([{ type: "message", role: "assistant", content: "It is 21." }]);
    expect(said([{ type: "refusal", text: "No." }])).toEqual([
      { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
    ]);
  });

  test("results contain images and files, or these follow in a message after all results", () => {
    const history = [
      user("x"),
      own([call("a"), call("b")]),
      result("a", [{ type: "text", text: "see" }, image as never]),
      result("b"),
    ];
    expect(responsesBody(history).input[3]!.output).toEqual([
      { type: "input_text", text: "see" },
      { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=", detail: "auto" },
    ]);
    const apart = responsesBody(history, {}, { toolFiles: false }).input;
    expect(apart.slice(3).map((item) => item.type ?? item.role)).toEqual([
      "function_call_output",
      "function_call_output",
      "user",
    ]);
  });

  test("strict is always set explicitly, and true only if that is safe (F140)", () => {
    const sent = responsesBody([user("x")], { tools, toolChoice: { tool: "read_file" } });
    expect((sent.tools as Loose[]).map((tool) => tool.strict)).toEqual([true, false, false, false]);
    expect(sent.tool_choice).toEqual({ type: "function", name: "read_file" });
  });

  test("unsupported features of tools are left out with a warning, and a server without tools is an error before sending", () => {
    const asked = { tools, toolChoice: "any", settings: { parallelToolCalls: false } } as const;
    const sent = (omit: string[]): ReturnType<ReturnType<typeof openaiResponses.encoder>["encode"]> =>
      openaiResponses.encoder(responses({ omit })).encode(request([user("x")], asked));
    const { body, warnings } = sent(["tool_choice", "parallel_tool_calls"]);
    expect(Object.keys(JSON.parse(body) as JsonObject)).toEqual([
      "model",
      "stream",
      "store",
      "include",
      "tools",
      "input",
    ]);
    expect(warnings.map(({ code }) => code).slice(-2)).toEqual([
      "unsupported_tool_choice",
      "unsupported_setting",
    ]);
    expect(() => sent(["tools"])).toThrow(/takes no tools/);
  });
});
