import { Agent, type Message, type Model, memoryJournal } from "@rondo/core";
import { expect, test } from "vitest";
import { call, fail, say, scripted, think } from "../../testkit/src/index.ts";
import { repairOfFile } from "../src/loop/request/omissions.ts";
import { echo, eventsOf, quick, shortly } from "./support.ts";

const refused = fail("invalid_request", { status: 400, repair: "reasoning" });

const kinds = (messages: Iterable<Message>): string[] =>
  [...messages].flatMap((message) => message.content.map((part) => part.type));

test("refused reasoning is left out of the history, and not requested any more, for the rest of the run", async () => {
  const model = scripted([
    [think("Look."), say("Looking."), call("look")],
    refused,
    [think("Again."), call("look")],
    say("done"),
  ]);
  const sent: Message[][] = [];
  const watched: Model = {
    id: model.id,
    origin: model.origin,
    call: (request, io) => {
      sent.push([...request.messages]);
      return model.call(request, io);
    },
  };
  const agent = new Agent({
    model: watched,
    tools: [echo("look")],
    settings: { reasoning: "high" },
    ...quick,
  });
  const { end, messages } = await agent.run("go");
  expect(end?.reason).toBe("completed");
  const [, before, after, later] = model.requests;
  expect(kinds(before?.messages ?? [])).toContain("reasoning");
  expect(kinds(after?.messages ?? [])).toEqual(["text", "text", "tool_call", "text"]);
  expect(kinds(later?.messages ?? [])).not.toContain("reasoning");
  expect([before, after, later].map((one) => one?.settings.reasoning)).toEqual(["high", "off", "off"]);
  // What is stored stays whole, and a copy stays the same object from one request to the next.
  expect(kinds(messages).filter((kind) => kind === "reasoning")).toHaveLength(2);
  expect(sent[3]?.[1]).toBe(sent[2]?.[1]);
});

test("an answer that was nothing but reasoning is left out too", async () => {
  const origin = { api: "scripted", provider: "scripted", model: "scripted" };
  const history: Message[] = [
    { role: "user", content: [{ type: "text", text: "one" }] },
    {
      role: "assistant",
      content: [{ type: "reasoning", text: "Hm." }],
      origin,
      stop: { kind: "end_turn", wire: "end_turn" },
    },
    { role: "user", content: [{ type: "text", text: "two" }] },
  ];
  const model = scripted([refused, say("done")]);
  const { end } = await new Agent({ model, ...quick }).run(history);
  expect(end?.reason).toBe("completed");
  expect(shortly([...(model.requests[1]?.messages ?? [])])).toEqual(["user: one", "user: two"]);
  // It was not asked for: models without reasoning refuse even the word that switches it off.
  expect(model.requests[1]?.settings.reasoning).toBeUndefined();
});

test("it is left out once: the same refusal again ends the run", async () => {
  const journal = memoryJournal();
  const model = scripted([refused, refused, say("never asked")]);
  const agent = new Agent({ model, journal, settings: { reasoning: "low" }, ...quick });
  const session = await agent.open("s");
  const { end } = await session.send("go");
  expect(model.requests).toHaveLength(2);
  expect(end).toMatchObject({ reason: "error", rule: "retry", error: { kind: "invalid_request" } });
  const judged = [...journal.read("s")].filter((record) => record.type === "turn_judged");
  expect(judged[0]).toMatchObject({
    rule: "repairs",
    evidence: { kind: "invalid_request", dropped: "reasoning" },
    follows: { do: "ask_again", drop: "reasoning" },
  });
});

test("the second attempt has an event, and no wait", async () => {
  const settings = { reasoning: "low" } as const;
  const agent = new Agent({ model: scripted([refused, say("done")]), settings, ...quick });
  const events = await eventsOf(agent, "go");
  expect(events.find((event) => event.type === "retry")).toMatchObject({ rule: "repairs", delayMs: 0 });
});

test("a request without any reasoning is not sent again, because it would be the same", async () => {
  const model = scripted([refused, say("never asked")]);
  const { end } = await new Agent({ model, ...quick }).run("go");
  expect(model.requests).toHaveLength(1);
  expect(end).toMatchObject({ reason: "error", rule: "retry" });
});

test.each([
  ["settings.temperature", { temperature: 1 }, {}],
  ["reasoning", { reasoning: "high" }, { reasoning: "off" }],
] as const)("a step's refused setting is left out too: %s", async (repair, settings, left) => {
  const model = scripted([fail("invalid_request", { status: 400, repair }), say("done")]);
  const { end } = await new Agent({ model, hooks: { prepareStep: () => ({ settings }) }, ...quick }).run(
    "go",
  );
  expect(end?.reason).toBe("completed");
  expect(model.requests.map((request) => request.settings)).toEqual([settings, left]);
});

const png = (data: string) => ({ type: "file", mediaType: "image/png", data }) as const;

const filesIn = (request: { messages: Iterable<Message> } | undefined): string[] =>
  [...(request?.messages ?? [])].flatMap(({ content }) =>
    content.flatMap((part) => (part.type === "file" ? [String(part.data)] : [])),
  );

test("a file that was refused is left out in the session's later runs, and in a fork, without another refusal", async () => {
  const broken = png("AAAA");
  const refusal = fail("invalid_request", { status: 400, repair: repairOfFile(broken) });
  const model = scripted([refusal, say("one"), say("two"), say("three")]);
  const journal = memoryJournal();
  const agent = new Agent({ model, journal, ...quick });
  const session = await agent.open("s");
  await session.send([png("BBBB"), broken, { type: "text", text: "look" }]);
  await session.send([png("CCCC"), { type: "text", text: "and this" }]);
  await agent.fork("s", "t");
  const fork = await agent.open("t");
  await fork.send("again");
  expect(model.requests.map(filesIn)).toEqual([
    ["BBBB", "AAAA"],
    ["BBBB"],
    ["BBBB", "CCCC"],
    ["BBBB", "CCCC"],
  ]);
  // What is stored stays whole.
  expect(filesIn({ messages: session.messages })).toEqual(["BBBB", "AAAA", "CCCC"]);
});

test("files are refused by a model: another one is sent them", async () => {
  const refusal = fail("invalid_request", { status: 400, repair: "files" });
  const [first, second] = [scripted([refusal, say("one")]), scripted([say("two")], { id: "other" })];
  const journal = memoryJournal();
  const session = await new Agent({ model: first, journal, ...quick }).open("s");
  await session.send([png("AAAA"), { type: "text", text: "look" }]);
  const later = await new Agent({ model: second, journal, ...quick }).open("s");
  await later.send("and you?");
  expect(filesIn(first.requests[1])).toEqual([]);
  expect(filesIn(second.requests[0])).toEqual(["AAAA"]);
});

test("where all files were refused, a new one is sent nevertheless, once", async () => {
  const refusal = fail("payload_too_large", { status: 413 });
  const model = scripted([refusal, say("one"), say("two"), refusal, say("three"), say("four")]);
  const session = await new Agent({ model, journal: memoryJournal(), ...quick }).open("s");
  await session.send([png("AAAA"), { type: "text", text: "look" }]);
  await session.send([png("BBBB"), { type: "text", text: "a smaller one" }]);
  await session.send([png("CCCC"), { type: "text", text: "a larger one" }]);
  await session.send("well?");
  expect(model.requests.map(filesIn)).toEqual([["AAAA"], [], ["BBBB"], ["BBBB", "CCCC"], [], []]);
});

test("a refusal that leaving the file out does not mend teaches nothing", async () => {
  const broken = png("AAAA");
  const refusal = fail("invalid_request", { status: 400, repair: repairOfFile(broken) });
  const model = scripted([refusal, fail("invalid_request", { status: 400 }), say("two")]);
  const session = await new Agent({ model, journal: memoryJournal(), ...quick }).open("s");
  await session.send([broken, { type: "text", text: "look" }]);
  await session.send("well?");
  expect(model.requests.map(filesIn)).toEqual([["AAAA"], [], ["AAAA"]]);
});
