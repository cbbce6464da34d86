import {
  Agent,
  type AssistantMessage,
  callsOf,
  isPaired,
  type Json,
  type Message,
  type Part,
  type RepairPolicy,
  repairHistory,
  type ToolMessage,
  textOf,
  userText,
} from "@rondo/core";
import { say, scripted } from "@rondo/testkit";
import { describe, expect, it, test } from "vitest";

const origin = { api: "a", provider: "p", model: "m" };
const answer = (content: Part[], kind: AssistantMessage["stop"]["kind"] = "tool_use"): AssistantMessage => ({
  role: "assistant",
  content,
  origin,
  stop: { kind, wire: kind },
});
const call = (id: string, name = "look"): Part => ({ type: "tool_call", id, name, args: {}, rawArgs: "{}" });
const result = (callId: string, text = "ok", name = "look"): ToolMessage => ({
  role: "tool",
  callId,
  name,
  content: [{ type: "text", text }],
  isError: false,
});
const text = (words: string): Part => ({ type: "text", text: words });

const preset =
  "[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair.";

describe("C7: transcript repair", () => {
  test("C7.60 results move behind their turn in call order; a missing one is made up, with the given text", () => {
    const [a, b] = [result("a", "A"), result("b", "B")];
    const history = [userText("go"), answer([call("a"), call("b"), call("c")]), userText("wait"), b, a];
    const repaired = repairHistory(history, { texts: { missing: preset } });
    expect(repaired.map((one) => (one.role === "tool" ? textOf(one) : one.role))).toEqual([
      "user",
      "assistant",
      "A",
      "B",
      preset,
      "user",
    ]);
    expect(repaired[4]).toMatchObject({ role: "tool", callId: "c", isError: true });
    expect([repaired[2], repaired[3]]).toEqual([a, b]);
  });

  test("C7.60 duplicate and stray results are dropped, wherever they are, and a blank name is filled in", () => {
    const history = [
      userText("go"),
      answer([call("a")]),
      result("a", "first", " "),
      userText("and"),
      result("a", "second"),
      result("ghost"),
    ];
    const repaired = repairHistory(history);
    expect(repaired.filter((one) => one.role === "tool")).toEqual([result("a", "first")]);
    const unnamed = repairHistory([userText("go"), answer([call("a", "")]), result("a", "x", "")]);
    expect(unnamed.slice(1)).toMatchObject([{ content: [{ name: "unknown" }] }, { name: "unknown" }]);
  });

  test("C7.60 a failed answer gets no made-up results, and its results are treated as the policy says", () => {
    const history = [
      userText("go"),
      answer([text("so far"), call("a"), call("b")], "error"),
      result("a"),
      userText("again"),
    ];
    expect(repairHistory(history, { failed: "none" })).toEqual([
      history[0],
      answer([text("so far")], "error"),
      history[3],
    ]);
    expect(repairHistory(history)).toEqual([
      history[0],
      answer([text("so far"), call("a")], "error"),
      history[2],
      history[3],
    ]);
  });

  test("C7.60 a valid history is returned as the same array", () => {
    const history = [
      userText("go"),
      answer([text("hm"), call("a")]),
      result("a"),
      answer([text("done")], "end_turn"),
    ];
    expect(repairHistory(history)).toBe(history);
    expect(repairHistory(history, { failed: "none", malformed: "drop", userFirst: true })).toBe(history);
  });

  test("C7.61 calls without arguments, id or a valid name are dropped, and so is an answer that is empty then", () => {
    const odd = { type: "tool_call", id: "x", name: "look" } as Part;
    const history = [
      userText("go"),
      answer([odd, call(""), call("b", "no good!"), call("c", " look "), call("d", "hidden")]),
      answer([call("e", "")]),
    ];
    const repaired = repairHistory(history, { malformed: "drop", toolNames: ["look"] });
    expect(repaired.map((one) => one.role)).toEqual(["user", "assistant", "tool"]);
    expect(callsOf(repaired[1] as AssistantMessage)).toEqual([call("c", "look")]);
  });
});

describe("a repaired history", () => {
  it("has each call id once, on both sides (F052, F053, F054)", () => {
    const history = [
      userText("go"),
      answer([call("call_0"), call("call_0"), call("")]),
      result("call_0", "one"),
      result("call_0", "two"),
      result("", "three"),
      answer([call("call_0")]),
      result("call_0", "four"),
    ];
    const repaired = repairHistory(history);
    expect(isPaired(repaired)).toBe(true);
    const results = repaired.filter((one): one is ToolMessage => one.role === "tool");
    expect(results.map((one) => [one.callId, textOf(one)])).toEqual([
      ["call_0", "one"],
      ["call_0_2", "two"],
      ["call", "three"],
      ["call_0_3", "four"],
    ]);
  });

  it("numbers many calls with one id in linear time, around ids that are taken", () => {
    // Where each looked through all numbers before its own, this took half a minute.
    const turns = Array.from({ length: 20_000 }, () => [answer([call("c")]), result("c")]).flat();
    const repaired = repairHistory([userText("go"), answer([call("c_3")]), result("c_3"), ...turns]);
    const ids = repaired.flatMap((one) => (one.role === "tool" ? [one.callId] : []));
    expect(ids.slice(0, 5)).toEqual(["c_3", "c", "c_2", "c_4", "c_5"]);
    expect(new Set(ids).size).toBe(20_001);
  });

  it("matches a call and its result by a blank id as by none, whatever else is wrong with either", () => {
    const { isError: _, ...bare } = result("  ", "kept");
    const repaired = repairHistory([userText("go"), answer([call("  ")]), bare as ToolMessage]);
    expect(repaired.slice(1)).toEqual([answer([call("call")]), result("call", "kept")]);
  });

  it("names each result after its call, whatever name it bears", () => {
    const calls = answer([call("c"), call("c", "read")]);
    const given = [userText("go"), calls, result("c", "1", "read"), result("c", "2", "unknown")];
    const names = repairHistory(given).flatMap((one) => (one.role === "tool" ? [one.name] : []));
    expect(names).toEqual(["look", "read"]);
  });

  it("matches a result that came before its call", () => {
    const history = [userText("go"), result("a", "early"), answer([call("a")])];
    expect(repairHistory(history)).toEqual([history[0], history[2], history[1]]);
  });

  it("has no empty part and no empty message (F122, F123)", () => {
    const history = [
      userText(""),
      {
        role: "user",
        content: [
          { type: "text", text: "" },
          { type: "text", text: "go" },
        ],
      } as Message,
      answer([text("  \n")], "end_turn"),
      answer([text(""), text("hi")], "end_turn"),
    ];
    expect(repairHistory(history)).toEqual([userText("go"), answer([text("hi")], "end_turn")]);
  });

  it("is well-formed text everywhere, except in signed content (F094, F099)", () => {
    const signed: Part = { type: "reasoning", text: "\ud83d", opaque: { signature: "s" } };
    const history = [
      userText("a\ud83d"),
      answer([signed, { ...call("a"), args: { "\udc00k": ["\ud83d"] } } as Part]),
      result("a", "😀\udc00"),
    ];
    const repaired = repairHistory(history);
    expect(textOf(repaired[0] as Message)).toBe("a\ufffd");
    expect((repaired[1] as AssistantMessage).content[0]).toBe(signed);
    expect(callsOf(repaired[1] as AssistantMessage)[0]?.args).toEqual({ "\ufffdk": ["\ufffd"] });
    expect(textOf(repaired[2] as Message)).toBe("😀\ufffd");
  });

  it.each<[RepairPolicy["foreignReasoning"], Part[]]>([
    ["keep", [{ type: "reasoning", text: "hm" }, text("hi")]],
    ["drop", [text("hi")]],
    ["text", [text("hm"), text("hi")]],
  ])("may %s the reasoning of another model (F101)", (foreignReasoning, content) => {
    const history = [userText("go"), answer([{ type: "reasoning", text: "hm" }, text("hi")], "end_turn")];
    const there = { ...origin, model: "other" };
    expect(
      repairHistory(history, { origin: there, foreignReasoning: foreignReasoning ?? "keep" })[1],
    ).toEqual(answer(content, "end_turn"));
    expect(repairHistory(history, { origin, foreignReasoning: foreignReasoning ?? "keep" })).toBe(history);
  });

  it("has the middle of long parts cut out at whole characters, with a note", () => {
    const long = `${"😀".repeat(500)}end`;
    const [cut] = repairHistory([userText(long)], { maxPartChars: 200 });
    const words = textOf(cut as Message);
    expect(words.length).toBeLessThanOrEqual(200);
    const [, left] = /^😀+\n\[(\d+) characters were left out here\]\n😀+end$/u.exec(words) ?? [];
    expect(Number(left)).toBe(long.length - words.replace(/\n\[.*\]\n/, "").length);
  });

  it("joins or separates neighbours as the policy says (F128)", () => {
    const history = [
      userText("a"),
      userText("b"),
      answer([text("c")], "end_turn"),
      answer([text("d")], "end_turn"),
    ];
    expect(repairHistory(history)).toBe(history);
    expect(repairHistory(history, { neighbours: "merge" }).map((one) => one.content.length)).toEqual([2, 2]);
    const bridged = repairHistory(history, { neighbours: "bridge" });
    expect(bridged.map((one) => [one.role, textOf(one)])).toEqual([
      ["user", "a"],
      ["assistant", "Noted."],
      ["user", "b"],
      ["assistant", "c"],
      ["user", "Continue."],
      ["assistant", "d"],
    ]);
  });

  it("joins the answers of two models without what only the first one's provider understands", () => {
    const first: Part[] = [
      { type: "reasoning", text: "hm", opaque: { signature: "s" } },
      { type: "native", kind: "search", opaque: { id: "n" } },
      { type: "text", text: "a", citations: [{ at: 1 }], opaque: { id: "msg_1" } },
    ];
    const other: AssistantMessage = { ...answer([text("b")], "end_turn"), origin: { ...origin, model: "n" } };
    const joined = (...history: Message[]): unknown =>
      repairHistory(history, { neighbours: "merge" }).map((one) => one.content);
    expect(joined(answer(first, "end_turn"), other)).toEqual([[text("a"), text("b")]]);
    expect(joined(answer(first, "end_turn"), answer([text("b")], "end_turn"))).toEqual([
      [...first, text("b")],
    ]);
  });

  it("begins with the user and does not end with the model, if the policy says so (F127, F129)", () => {
    const history = [answer([text("hi")], "end_turn")];
    const repaired = repairHistory(history, { userFirst: true, assistantLast: "proceed" });
    expect(repaired.map((one) => one.role)).toEqual(["user", "assistant", "user"]);
  });

  it.each([
    ["nothing", {}],
    ["words of another program", { origin: "openai", stop: "stop" }],
    ["nulls", { origin: null, stop: null }],
    ["an end without a kind", { origin: [], stop: { wire: 1 } }],
  ])("has an origin and a stop reason in every answer, whatever was there: %s", (_, marks) => {
    const said = { role: "assistant", content: "hi", ...marks } as unknown as Message;
    const asked = { role: "assistant", content: [call("a")], ...marks } as unknown as Message;
    const unknown = { api: "unknown", provider: "unknown", model: "unknown" };
    expect(repairHistory([userText("go"), said, userText("on"), asked, result("a")])).toMatchObject([
      {},
      { origin: unknown, stop: { kind: "end_turn", wire: "end_turn" } },
      {},
      { origin: unknown, stop: { kind: "tool_use", wire: "tool_use" } },
      {},
    ]);
  });

  it("is what a run begins with if it is given a history", async () => {
    const model = scripted([say("done")]);
    const agent = new Agent({ model });
    const odd = { role: "user", content: "plain text" } as unknown as Message;
    const { messages } = await agent.run([odd, answer([call("a")]), userText("go on")]);
    expect(isPaired(messages)).toBe(true);
    expect(textOf(messages[0] as Message)).toBe("plain text");
    await expect(agent.run([userText("")])).rejects.toMatchObject({ kind: "invalid_request" });
  });

  it("is made without throwing, whatever the history contains", () => {
    const junk: Json[] = [
      null,
      1,
      "x",
      [],
      {},
      { role: "user" },
      { role: "assistant", content: [null, { type: 1 }] },
    ];
    for (const one of junk) {
      const repaired = repairHistory([one as unknown as Message, { role: "tool" } as Message]);
      expect(isPaired(repaired)).toBe(true);
    }
  });
});
