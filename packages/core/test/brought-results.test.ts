// A call that waits may be answered with its result: what a person said, or what was done elsewhere.

import {
  Agent,
  type AgentOptions,
  isPaired,
  memoryJournal,
  type RondoEvent,
  resolve,
  type Session,
  subAgent,
  type Tool,
  textOf,
  tool,
  toolResult,
} from "@rondo/core";
import { explain } from "@rondo/core/explain";
import { call, calls, replayTest, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo, shortly } from "./support.ts";

let ran = 0;
const ask: Tool = tool({
  name: "ask",
  description: "Asks the user",
  inputSchema: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
  permission: "ask",
  execute: () => {
    ran += 1;
    return "it ran";
  },
});
const question = call("ask", { question: "Which colour?" });

async function waiting(
  options: Partial<AgentOptions> = {},
): Promise<{ session: Session; id: string; heard: RondoEvent[] }> {
  ran = 0;
  const model = scripted([question, say("So be it.")]);
  const session = await new Agent({ model, tools: [ask], ...options }).open("s");
  const heard: RondoEvent[] = [];
  session.subscribe((event) => heard.push(event));
  await session.send("Paint the door.");
  return { session, id: session.pending[0]?.id ?? "", heard };
}

const resultOf = (session: Session) => session.messages.find(({ role }) => role === "tool");

describe("a result that is given with answer", () => {
  test("becomes the call's result, the tool does not run, and the run continues", async () => {
    const { session, id, heard } = await waiting();
    const { text, toolCalls, messages } = await session.answer(id, "Blue.");
    expect(text).toBe("So be it.");
    expect(shortly(messages)).toEqual([
      "user: Paint the door.",
      "assistant: ask()",
      "tool: Blue.",
      "assistant: So be it.",
    ]);
    expect([ran, toolCalls]).toEqual([0, 1]);
    expect(isPaired(messages)).toBe(true);
    expect(heard).toContainEqual(
      expect.objectContaining({
        type: "tool_end",
        code: "answered",
        isError: false,
        content: [{ type: "text", text: "Blue." }],
      }),
    );
    expect((await session.replay()).difference).toBeUndefined();
  });

  test.each<[string, unknown, object]>([
    [
      "a value",
      { colour: "blue" },
      { content: [{ type: "text", text: '{"colour":"blue"}' }], isError: false },
    ],
    [
      "an error",
      new Error("nobody is at home"),
      { content: [{ type: "text", text: "Error: nobody is at home" }], isError: true },
    ],
    [
      "a promise of one",
      Promise.resolve("Blue."),
      { content: [{ type: "text", text: "Blue." }], isError: false },
    ],
    [
      "a result in full",
      toolResult([{ type: "image", data: "AQID" }], { isError: true }),
      { content: [{ type: "file", mediaType: "image/png", data: "AQID" }], isError: true },
    ],
    ["nothing", undefined, { content: [{ type: "text", text: "(no output)" }], isError: false }],
  ])("may be %s", async (_what, given, told) => {
    const { session, id } = await waiting();
    await session.answer(id, given);
    expect(resultOf(session)).toMatchObject(told);
  });

  test("is a fixed text for the model if it is an error and tool errors are masked, and a warning says why", async () => {
    const { session, id, heard } = await waiting({ toolErrors: "masked" });
    await session.answer(id, new Error("no way to db.internal", { cause: new Error("refused") }));
    expect(resultOf(session)).toMatchObject({
      content: [{ type: "text", text: "Error: ask failed." }],
      isError: true,
    });
    expect(JSON.stringify(session.messages)).not.toContain("db.internal");
    const message = `ask (${id}): no way to db.internal: refused`;
    expect(heard).toContainEqual({ type: "warning", code: "tool_error", message });
  });

  test("that is an error has its cause in a warning, even if nothing is masked", async () => {
    const { session, id, heard } = await waiting();
    await session.answer(id, new Error("fetch failed", { cause: new Error("refused") }));
    expect(textOf(resultOf(session) ?? { role: "user", content: [] })).toBe("Error: fetch failed");
    const message = `ask (${id}): fetch failed: refused`;
    expect(heard).toContainEqual({ type: "warning", code: "tool_error", message });
  });

  test("has only one warning, even if the function for the model's text fails", async () => {
    const masked = (): never => {
      throw new Error("no words");
    };
    const { session, id, heard } = await waiting({ toolErrors: "masked", texts: { masked } });
    await session.answer(id, new Error("no way to db.internal"));
    expect(textOf(resultOf(session) ?? { role: "user", content: [] })).toBe("Error: ask failed.");
    const message = `ask (${id}): no way to db.internal`;
    expect(heard.filter(({ type }) => type === "warning")).toEqual([
      { type: "warning", code: "tool_error", message },
    ]);
  });

  test("has our default text if the agent's own text function fails, and is stored", async () => {
    const threw = (): never => {
      throw new Error("no words");
    };
    const { session, id } = await waiting({ texts: { threw } });
    const { end } = await session.answer(id, new Error("not there"));
    expect(end?.reason).toBe("completed");
    expect(textOf(resultOf(session) ?? { role: "user", content: [] })).toBe("Error: not there");
  });

  test.each<[string, Partial<AgentOptions>, string]>([
    ["masked", { toolErrors: "masked" }, "Error: ask failed."],
    ["told in its own words", { texts: { threw: (_tool, message) => `Oh: ${message}` } }, "Oh: not there"],
  ])("is %s inside a sub-agent, as that agent says", async (_what, options, told) => {
    const child = new Agent({ model: scripted([question, say("Heard.")]), tools: [ask], ...options });
    const journal = memoryJournal();
    const lead = new Agent({
      model: scripted([call("helper", { task: "ask" }), say("All done.")]),
      tools: [subAgent({ name: "helper", description: "Helps", agent: child })],
      journal,
    });
    const session = await lead.open("lead");
    await session.send("go");
    const inside = session.pending[0]?.child?.session ?? "";
    await session.answer(session.pending[0]?.id ?? "", new Error("not there"));
    const finished = journal.read(inside).find(({ type }) => type === "tool_finished");
    expect(finished).toMatchObject({ result: { content: [{ type: "text", text: told }], isError: true } });
  });

  test("may reject before its call is found, without an unhandled rejection", async () => {
    const unheard: unknown[] = [];
    const heard = (thrown: unknown): void => void unheard.push(thrown);
    process.on("unhandledRejection", heard);
    const { session, id } = await waiting();
    await expect(session.answer("none", Promise.reject(new Error("nobody is at home")))).rejects.toThrow(
      "no call",
    );
    await expect(session.answer(id, Promise.reject(new Error("nobody is at home")))).rejects.toThrow(
      "at home",
    );
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", heard);
    expect(unheard).toEqual([]);
    expect(session.status).toBe("parked");
  });

  test("may end the run", async () => {
    const { session, id } = await waiting();
    const { end, text } = await session.answer(id, toolResult("Never mind.", { done: "The user has left." }));
    expect([end?.reason, text]).toEqual(["done_tool", "The user has left."]);
  });

  test("passes the afterTool hook, is capped, and has secrets removed", async () => {
    const seen: string[] = [];
    const { session, id, heard } = await waiting({
      hooks: { afterTool: (_call, { content }) => void seen.push(JSON.stringify(content)) },
      context: { cap: { bytes: 200 } },
      redact: { secrets: ["correct-horse"] },
    });
    await session.answer(id, `correct-horse\n${"a line of text\n".repeat(100)}`);
    expect(seen).toHaveLength(1);
    const text = textOf(resultOf(session) ?? { role: "user", content: [] });
    expect(text).toMatch(/^\*\*\*REDACTED\*\*\*\n.*\[tool output truncated; ref=\w+\]$/s);
    expect(heard).toContainEqual(expect.objectContaining({ type: "context", stage: "cap" }));
  });

  test("is seen by the process that opens the session, and is in its journal", async () => {
    const journal = memoryJournal();
    await waiting({ journal });
    const model = scripted([say("Blue it is.")]);
    const later = await new Agent({ model, tools: [ask], journal }).open("s");
    const { text } = await later.answer(later.pending[0]?.id ?? "", "Blue.");
    expect(text).toBe("Blue it is.");
    expect(journal.read("s")).toContainEqual(
      expect.objectContaining({
        type: "tool_finished",
        result: expect.objectContaining({ code: "answered" }),
      }),
    );
    const { rules } = resolve({ model, tools: [ask] });
    expect(JSON.stringify(explain(journal.read("s"), { rules }).steps)).toContain("answered");
  });

  test("waits for the other calls of its answer, and a second one is refused", async () => {
    const model = scripted([
      calls([["ask", { question: "Which?" }], ["ask", { question: "When?" }], ["look"]]),
      say("Good."),
    ]);
    const session = await new Agent({ model, tools: [ask, echo("look")] }).open("s");
    await session.send("go");
    const [first = "", second = ""] = session.pending.map(({ id }) => id);
    expect((await session.answer(second, "Now.")).parked?.pending.map(({ id }) => id)).toEqual([first]);
    await expect(session.answer(second, "Later.")).rejects.toThrow(
      `no call "${second}" waits for an approval`,
    );
    expect(shortly((await session.answer(first, "Blue.")).messages).slice(2)).toEqual([
      "tool: Blue.",
      "tool: Now.",
      "tool: look ran",
      "assistant: Good.",
    ]);
  });

  test("counts once if two people answer at the same time, or if one of them approves", async () => {
    const { session, id } = await waiting();
    const both = await Promise.allSettled([session.approve(id), session.answer(id, "Blue.")]);
    expect(both[0]?.status).toBe("fulfilled");
    expect(ran).toBe(1);
    expect(session.messages.filter(({ role }) => role === "tool").map(textOf)).toEqual(["it ran"]);
    const other = await waiting();
    await Promise.allSettled([
      other.session.answer(other.id, "Blue."),
      other.session.answer(other.id, "Red."),
    ]);
    expect(other.session.messages.filter(({ role }) => role === "tool").map(textOf)).toEqual(["Blue."]);
  });

  test("is passed to a call inside a sub-agent", async () => {
    const child = new Agent({ model: scripted([question, say("The child heard.")]), tools: [ask] });
    const lead = new Agent({
      model: scripted([call("helper", { task: "ask" }), say("All done.")]),
      tools: [subAgent({ name: "helper", description: "Helps", agent: child })],
      journal: memoryJournal(),
    });
    ran = 0;
    const session = await lead.open("lead");
    await session.send("go");
    const { text, messages } = await session.answer(session.pending[0]?.id ?? "", "Blue.");
    expect([text, ran]).toEqual(["All done.", 0]);
    expect(shortly(messages)[2]).toBe("tool: The child heard.");
  });

  test("is replayed from a cassette", async () => {
    const journal = memoryJournal();
    const { session, id } = await waiting({ journal });
    await session.answer(id, "Blue.");
    await replayTest({ model: scripted([]), tools: [ask] }, journal.read("s"));
    expect(ran).toBe(0);
  });
});
