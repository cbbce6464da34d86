// Many tools of which the model is told of one, that finds the others.

import { Agent, memoryJournal, type RunResult, type Tool, textOf, tool } from "@rondo/core";
import { call, expectRun, say, scripted, type Turn } from "@rondo/testkit";
import { searchable } from "@rondo/tools";
import { describe, expect, test } from "vitest";

const made = (
  name: string,
  description: string,
  properties: Record<string, { type: "string"; description?: string }> = {},
): Tool =>
  tool({
    name,
    description,
    inputSchema: { type: "object", properties },
    effect: "read",
    execute: () => `${name} ran`,
  });

const tools = [
  made("github_create_issue", "Opens an issue in a repository.\nMarkdown is allowed.", {
    title: { type: "string" },
  }),
  made("github_list_issues", "Lists the open issues of a repository"),
  made("sendEmail", "Sends a message to somebody", {
    to: { type: "string", description: "Address of the recipient" },
  }),
  made("weather", "Current weather of a city", { city: { type: "string" } }),
  made("timer", "Waits"),
];
const clock = made("clock", "Tells the time");

/** The names that each request declares. */
const offeredIn = (model: ReturnType<typeof scripted>): string[][] =>
  model.requests.map(({ tools: declared }) => declared.map(({ name }) => name));

/** What the model reads of one search. */
async function found(
  query: string,
  options = {},
): Promise<{ text: string; offered: string[]; result: RunResult }> {
  const model = scripted([call("search_tools", { query }), say("ok")]);
  const result = await new Agent({ model, tools: searchable(tools, options) }).run("go");
  const told = result.messages.find(({ role }) => role === "tool");
  return {
    text: told === undefined ? "" : textOf(told),
    offered: offeredIn(model)[1]?.slice(1) ?? [],
    result,
  };
}

describe("searchable tools", () => {
  test("are not offered until a search finds them, and then come after all others and can be called", async () => {
    const model = scripted([
      call("search_tools", { query: "open an issue" }),
      call("github_create_issue", { title: "a" }),
      say("done"),
    ]);
    const run = await new Agent({ model, tools: [...searchable(tools), clock] }).run("go");
    expect(offeredIn(model)[0]).toEqual(["search_tools", "clock"]);
    expect(offeredIn(model)[1]).toEqual([
      "search_tools",
      "clock",
      "github_create_issue",
      "github_list_issues",
    ]);
    expect(offeredIn(model)[2]).toEqual(offeredIn(model)[1]);
    expectRun(run).toHaveCalled("github_create_issue", { title: "a" }, { result: "github_create_issue ran" });
  });

  test("are found by words of their names, descriptions and arguments, the best first, and by names", async () => {
    expect((await found("send mail")).offered[0]).toBe("sendEmail");
    expect((await found("RECIPIENTS")).offered).toEqual(["sendEmail"]);
    expect((await found("wether in a city")).offered[0]).toBe("weather");
    expect((await found("timer, weather")).offered).toEqual(["weather", "timer"]);
    expect((await found("list issues")).offered).toEqual(["github_list_issues", "github_create_issue"]);
    expect((await found("issue", { max: 1 })).offered).toHaveLength(1);
  });

  test("are told to the model with the first line of what they do", async () => {
    const { text } = await found("github_create_issue", { max: 1 });
    expect(text).toBe(
      "You can call these tools from now on:\n- github_create_issue: Opens an issue in a repository.",
    );
    const long = made("long", "word ".repeat(100));
    const model = scripted([call("search_tools", { query: "word" }), say("ok")]);
    const { messages } = await new Agent({ model, tools: searchable([long]) }).run("go");
    expect(textOf(messages[2] as never).length).toBeLessThan(270);
  });

  test("are told with no half of a character where what they do is cut", async () => {
    const long = made("party", `x${"🎉".repeat(150)}`);
    const model = scripted([call("search_tools", { query: "party" }), say("ok")]);
    const { messages } = await new Agent({ model, tools: searchable([long]) }).run("go");
    expect(textOf(messages[2] as never)).toMatch(/: x🎉+…$/u);
  });

  test("stay away if no words fit, and the model reads that", async () => {
    for (const query of ["database", "", "?!"]) {
      const { text, offered } = await found(query);
      expect([text, offered]).toEqual([
        "No tool fits these words. Try others: what it does, or what it is about.",
        [],
      ]);
    }
  });

  test("cannot be called before, and the model reads what there is", async () => {
    const model = scripted([call("weather", { city: "Oslo" }), say("ok")]);
    const run = await new Agent({ model, tools: searchable(tools) }).run("go");
    expect(textOf(run.messages[2] as never)).toMatch(/weather.*search_tools/s);
    expectRun(run).toHaveCalled("weather", {}, { isError: true });
  });

  test("are named in the description of the tool that finds them, as many as fit", () => {
    expect(searchable(tools)[0]?.definition.description).toContain(
      "There are 5: github_create_issue, github_list_issues, sendEmail, weather, timer.",
    );
    const many = Array.from({ length: 300 }, (_, at) => made(`tool_number_${at}`, "One of many"));
    const description = searchable(many)[0]?.definition.description ?? "";
    expect(description.length).toBeLessThan(2_300);
    expect(description).toMatch(/There are 300: tool_number_0, .*, and \d+ more\.$/);
  });

  test("stay found for the session: in later runs, in another process, and in a fork", async () => {
    const journal = memoryJournal();
    const script = (...turns: Turn[]) => scripted(turns);
    const first = script(call("search_tools", { query: "weather" }), say("ok"));
    await (await new Agent({ model: first, tools: searchable(tools), journal }).open("s")).send("go");
    const second = script(
      call("weather", { city: "Oslo" }),
      call("search_tools", { query: "timer weather" }),
      say("rain"),
    );
    const session = await new Agent({ model: second, tools: searchable(tools), journal }).open("s");
    await session.send("and now?");
    expect(offeredIn(second)).toEqual([
      ["search_tools", "weather"],
      ["search_tools", "weather"],
      ["search_tools", "weather", "timer"],
    ]);
    const forked = script(say("again"));
    const agent = new Agent({ model: forked, tools: searchable(tools), journal });
    await agent.fork("s", "t");
    await (await agent.open("t")).send("once more");
    expect(offeredIn(forked)).toEqual([["search_tools", "weather", "timer"]]);
    const other = script(say("new"));
    await (await new Agent({ model: other, tools: searchable(tools), journal }).open("u")).send("go");
    expect(offeredIn(other)).toEqual([["search_tools"]]);
  });

  test("keep the front of the request as it was while nothing new is found", async () => {
    const model = scripted([
      call("search_tools", { query: "weather" }),
      call("weather", { city: "a" }),
      call("search_tools", { query: "weather" }),
      say("ok"),
    ]);
    const broke: (string | undefined)[] = [];
    await new Agent({ model, tools: searchable(tools) }).run("go", {
      onEvent: (event) => {
        if (event.type === "request") broke.push(event.broke);
      },
    });
    expect(broke).toEqual([undefined, "system or tools", undefined, undefined]);
  });

  test("need a name for the tool that finds them which none of them has, and are none if there are none", () => {
    expect(searchable([])).toEqual([]);
    expect(searchable(tools, { name: "find" })[0]?.name).toBe("find");
    expect(() => searchable(tools, { name: "weather" })).toThrow(
      'searchable: one of the tools is named "weather": give the one that searches another name',
    );
    expect(() => searchable(tools, { max: 0 })).toThrow("searchable: option max");
    expect(() => searchable([5] as never)).toThrow("searchable: option tools[0]: a tool is needed, not 5");
  });
});
