import { type AssistantMessage, callsOf, type Message, repairHistory, userText } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { idForm } from "../src/repair/ids.ts";
import { providerHistory, repairPolicy } from "../src/repair/policies.ts";

const answer = (ids: readonly string[]): AssistantMessage => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "tool_call", id, name: "look", args: {}, rawArgs: "{}" })),
  origin: { api: "a", provider: "p", model: "m" },
  stop: { kind: "tool_use", wire: "tool_use" },
});
const result = (callId: string): Message => ({
  role: "tool",
  callId,
  name: "look",
  content: [{ type: "text", text: "ok" }],
  isError: false,
});

describe("C7: ids and policies by provider", () => {
  test("C7.62 strict ids are letters and digits, at most 40, with a fixed word if nothing remains", () => {
    const strict = idForm("strict");
    expect(strict("call_1|fc-2")).toBe("call1fc2");
    expect(strict("")).toBe("defaulttoolid");
    expect(strict("__||")).toBe("sanitizedtoolid");
    expect(strict("x".repeat(60))).toBe("x".repeat(40));
    const second = strict("call_1", new Set(["call1"]));
    expect(second).toMatch(/^call1[a-zA-Z0-9]{8}$/);
    expect(strict("y".repeat(60), new Set(["y".repeat(40)]))).toMatch(/^y{32}[a-zA-Z0-9]{8}$/);
    expect(strict("call_1", new Set(["call1"]))).toBe(second);
  });

  test("C7.62 strict9 ids are exactly nine letters and digits, hashed if too short or taken", () => {
    const nine = idForm("strict9");
    expect(nine("call_abcdefgh")).toBe("callabcde");
    expect(nine("")).toBe("defaultid");
    expect(nine("abc-defghi")).toBe("abcdefghi");
    for (const id of [nine("ab"), nine("abcdefgh"), nine("call_abcdefgh", new Set(["callabcde"]))])
      expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(nine("ab")).not.toBe(nine("ac"));
  });

  test("C7.62 both sides of a call get the same id, also if two ids become one", () => {
    const history = [userText("go"), answer(["a-1", "a_1"]), result("a-1"), result("a_1")];
    const repaired = repairHistory(history, repairPolicy("anthropic"));
    const ids = callsOf(repaired[1] as AssistantMessage).map((call) => call.id);
    expect(ids[0]).toBe("a1");
    expect(new Set(ids).size).toBe(2);
    expect(repaired.slice(2).map((one) => one.role === "tool" && one.callId)).toEqual(ids);
  });

  test.each([
    ["google", "", { ids: "strict", userFirst: true, synthetic: true }],
    ["anthropic", "", { ids: "strict", userFirst: false, synthetic: true }],
    ["mistral", "", { ids: "strict9", synthetic: false }],
    ["openrouter", "mistralai/devstral", { ids: "strict9" }],
    ["minimax", "", { ids: "strict", synthetic: false }],
    ["github-copilot", "claude-sonnet", { dropReasoning: true }],
    ["github-copilot", "gpt", { dropReasoning: false }],
  ])("C7.63 %s %s has its own policy", (provider, model, policy) => {
    expect(providerHistory(provider, model)).toMatchObject(policy);
  });

  test("C7.63 OpenAI's histories keep their ids; calls without results are left out, because none may be alone", () => {
    expect(providerHistory("openai").ids).toBeUndefined();
    const history = [userText("go"), answer(["call_1", "call-2"]), result("call-2")];
    const repaired = repairHistory(history, repairPolicy("openai"));
    expect(repaired).toEqual([userText("go"), answer(["call-2"]), result("call-2")]);
    const google = repairHistory([answer(["a"])], repairPolicy("google"));
    expect(google.map((one) => one.role)).toEqual(["user", "assistant", "tool"]);
  });
});
