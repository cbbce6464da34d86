// The ids of calls in events, which are those of the answer: by hand.

import type { AssistantMessage, Part } from "@rondo/core";
import { expect, test } from "vitest";
import { ToldIds } from "../../src/loop/driving/told-ids.ts";
import { Names } from "../../src/loop/log.ts";
import { answerOf } from "./support.ts";

const call = (id: string, name = "look"): Part => ({ type: "tool_call", id, name, args: {}, rawArgs: "{}" });
const text: Part = { type: "text", text: "so" };
const piece = (index: number, id: string, name = "look", delta = "") => ({ index, id, name, delta });
const idsOf = ({ content }: AssistantMessage): string[] =>
  content.flatMap((part) => (part.type === "tool_call" ? [part.id] : []));
const ids = (...taken: string[]): ToldIds =>
  new ToldIds(
    taken.reduce((names, id) => names.add(id), Names.empty()),
    7,
  );

test("an id that is unique stays, and so does the answer", () => {
  const told = ids("b");
  expect([told.of(piece(1, "a")), told.of(piece(1, "a"))]).toEqual(["a", "a"]);
  const answer = answerOf([text, call("a")]);
  expect(told.named(answer)).toBe(answer);
});

test("an answer of which nothing was shown stays", () => {
  const answer = answerOf([call("b"), call("")]);
  expect(ids("b").named(answer)).toBe(answer);
});

test("an id that another answer had is another one from the first piece on", () => {
  const told = ids("a");
  expect([told.of(piece(0, "a")), told.of(piece(0, "a"))]).toEqual(["a_7_0", "a_7_0"]);
  expect(told.named(answerOf([call("a")])).content).toEqual([call("a_7_0")]);
});

test("two calls of one answer without an id, or with the same one, are told apart", () => {
  const blank = ids();
  expect([blank.of(piece(0, "")), blank.of(piece(2, "")), blank.of(piece(0, ""))]).toEqual([
    "call_7_0",
    "call_7_1",
    "call_7_0",
  ]);
  expect(idsOf(blank.named(answerOf([call(""), text, call("")])))).toEqual(["call_7_0", "call_7_1"]);
  const same = ids();
  expect([same.of(piece(0, "a")), same.of(piece(1, "a"))]).toEqual(["a", "a_7_1"]);
  // The protocol gave the second call a new id when the answer was whole.
  expect(idsOf(same.named(answerOf([call("a"), call("new")])))).toEqual(["a", "a_7_1"]);
});

test("pieces of two calls may alternate, and the later part may come first", () => {
  const told = ids();
  expect([told.of(piece(3, "", "b")), told.of(piece(1, "", "a")), told.of(piece(3, "", ""))]).toEqual([
    "call_7_0",
    "call_7_1",
    "call_7_0",
  ]);
  expect(idsOf(told.named(answerOf([call("", "a"), call("", "b")])))).toEqual(["call_7_1", "call_7_0"]);
});

test("an id that comes late does not change what was told", () => {
  const told = ids();
  expect([told.of(piece(0, "")), told.of(piece(0, "late", ""))]).toEqual(["call_7_0", "call_7_0"]);
  expect(idsOf(told.named(answerOf([call("late")])))).toEqual(["call_7_0"]);
});

test("a call that the answer no longer has takes nobody's place", () => {
  const told = ids("a");
  told.of(piece(0, "", "gone"));
  told.of(piece(1, "a"));
  expect(idsOf(told.named(answerOf([call("a")])))).toEqual(["a_7_1"]);
});

test("a call of which nothing was shown keeps its id, also among others", () => {
  const told = ids("a");
  told.of(piece(0, "a", ""));
  told.of(piece(2, "", "find"));
  expect(idsOf(told.named(answerOf([call("x"), call("a"), call("y"), call("z", "find"), call("")])))).toEqual(
    ["x", "a_7_0", "y", "call_7_1", ""],
  );
});

test("an id of the provider's is nobody else's, even of a tool of the same name", () => {
  const told = ids("a");
  told.of(piece(0, "a"));
  expect(idsOf(told.named(answerOf([call("b")])))).toEqual(["b"]);
});

test("arguments wait until the id or the name of their call has come, and are shown once", () => {
  const told = ids();
  expect([
    told.of(piece(0, "", "", '{"a":')),
    told.of(piece(1, "", "", "x")),
    told.of(piece(0, "", "", "1")),
  ]).toEqual([undefined, undefined, undefined]);
  expect([told.of(piece(0, "a", "", "}")), told.waited]).toEqual(["a", '{"a":1']);
  expect([told.of(piece(0, "", "", " ")), told.waited]).toEqual(["a", ""]);
  expect([told.of(piece(1, "", "g", "y")), told.waited]).toEqual(["call_7_1", "x"]);
  expect([told.of(piece(2, "b", "", "z")), told.waited]).toEqual(["b", ""]);
});

test("a call of which only waiting arguments came keeps the id of its answer", () => {
  const told = ids();
  told.of(piece(0, "", "", "{}"));
  const answer = answerOf([call("late", "find")]);
  expect(told.named(answer)).toBe(answer);
});

test("an id without a name finds its call", () => {
  const told = ids("a");
  told.of(piece(0, "a", ""));
  expect(idsOf(told.named(answerOf([call("a", "find")])))).toEqual(["a_7_0"]);
});

test("a call before one whose id is known is none of those after it", () => {
  const told = ids();
  told.of(piece(1, "b", "g"));
  told.of(piece(2, "", "f"));
  expect(idsOf(told.named(answerOf([call("a", "f"), call("b", "g"), call("made", "f")])))).toEqual([
    "a",
    "b",
    "call_7_1",
  ]);
});

test("two calls of one id, of which the answer has only the second", () => {
  const told = ids("a");
  told.of(piece(0, "a", "f"));
  told.of(piece(1, "a", "g"));
  expect(idsOf(told.named(answerOf([call("a", "g")])))).toEqual(["a_7_0"]);
  expect(idsOf(told.named(answerOf([call("made", "g")])))).toEqual(["a_7_1"]);
});

test("a late id is the call's from then on, and is not forgotten", () => {
  const told = ids();
  for (const one of [piece(0, ""), piece(1, ""), piece(1, "late"), piece(1, "")]) told.of(one);
  expect(idsOf(told.named(answerOf([call("late")])))).toEqual(["call_7_1"]);
  expect(idsOf(told.named(answerOf([call("other"), call("late")])))).toEqual(["call_7_0", "call_7_1"]);
  const taken = ids("a");
  for (const one of [piece(0, "a"), piece(0, "")]) taken.of(one);
  expect(idsOf(taken.named(answerOf([call("x"), call("a")])))).toEqual(["x", "a_7_0"]);
});

test("a name is not forgotten either: a call of another tool is not this one", () => {
  const told = ids();
  for (const one of [piece(0, "", "f"), piece(0, "", "")]) told.of(one);
  expect(idsOf(told.named(answerOf([call("x", "g"), call("y", "f")])))).toEqual(["x", "call_7_0"]);
  for (const one of [piece(1, "", "g"), piece(1, "", "")]) told.of(one);
  expect(idsOf(told.named(answerOf([call("", "g")])))).toEqual(["call_7_1"]);
});

test("a call that shares its id, and whose name never came, is the next one, and no text", () => {
  const told = ids();
  for (const one of [piece(0, "a", ""), piece(1, "a", "")]) told.of(one);
  const answer = told.named(answerOf([call("a", "f"), text, call("made", "g")]));
  expect(answer.content).toEqual([call("a", "f"), text, call("a_7_1", "g")]);
});
