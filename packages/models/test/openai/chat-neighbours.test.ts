// Neighbours of one role, for servers whose template wants the roles to alternate (F128).

import type { JsonObject } from "@rondo/core";
import { expect, test } from "vitest";
import { assistant, call, chatBody, type Loose, result, user } from "./requests.ts";

const said = (text: string) => ({ type: "text", text }) as const;

const rows = (messages: Parameters<typeof chatBody>[0], compat: JsonObject = {}): Loose[] =>
  chatBody(messages, { alternate: true, ...compat }).messages as Loose[];

test("two answers in a row become one, and nothing is put into the user's mouth", () => {
  const sent = rows([
    user("a"),
    assistant([said("x")]),
    assistant([said("y"), call("c")]),
    result("c"),
    assistant([said("z")]),
    user("b"),
  ]);
  expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
  expect(sent[1]).toMatchObject({ content: "x\ny", tool_calls: [{ id: "c" }] });
  expect(sent[3]!.content).toBe("z");
});

test("an answer of calls alone keeps the text of the one before it", () => {
  const sent = rows([user("a"), assistant([said("x")]), assistant([call("c")]), result("c")]);
  expect(sent[1]).toMatchObject({ content: "x", tool_calls: [{ id: "c" }] });
});

test("three answers in a row become one", () => {
  const three = [said("x"), said("y"), said("z")].map((part) => assistant([part]));
  expect(rows([user("a"), ...three, user("b")])[1]).toEqual({ role: "assistant", content: "x\ny\nz" });
});

test("one call per message: the calls after the first stay behind their results", () => {
  const calls = assistant([said("y"), call("c"), call("d")]);
  const sent = rows([user("a"), assistant([said("x")]), calls, result("c"), result("d")], {
    singleCalls: true,
  });
  expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "tool"]);
  expect(sent[1]!.content).toBe("x\ny");
});

test("servers that take neighbours get them", () => {
  const sent = rows([user("a"), assistant([said("x")]), assistant([said("y")])], { alternate: false });
  expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "assistant"]);
});
