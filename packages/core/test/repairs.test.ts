import { Agent, type Message, type Model, memoryJournal } from "@rondo/core";
import { expect, test } from "vitest";
import { call, fail, say, scripted, think } from "../../testkit/src/index.ts";
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
