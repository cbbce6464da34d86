// A run that was left goes on under other code: what changed is said, what the model was told stays, what is code is today's.

import {
  Agent,
  type AgentOptions,
  type Hooks,
  type Journal,
  type LogRecord,
  maxSteps,
  memoryJournal,
  type RondoEvent,
  type Rule,
  type Session,
  subAgent,
  type Tool,
} from "@rondo/core";
import { call, calls, fail, type Script, say, scripted, stall } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo, quick, shortly } from "./support.ts";

const ask = (options: Parameters<typeof echo>[1] = {}): Tool =>
  echo("guarded", { effect: "write", permission: "ask", ...options });

const runs = { type: "object", properties: { run: { type: "string" } } } as const;

/** A run that waits for an approval, under `was`, opened under `is`. */
async function left(
  was: Partial<AgentOptions>,
  is: Partial<AgentOptions>,
  script: Script = [say("done")],
): Promise<{ session: Session; journal: Journal; events: RondoEvent[]; model: ReturnType<typeof scripted> }> {
  const journal = memoryJournal();
  const first = new Agent({ model: scripted([call("guarded")]), tools: [ask()], journal, ...quick, ...was });
  await (await first.open("s")).send("go");
  const model = scripted(script);
  const session = await new Agent({ model, tools: [ask()], journal, ...quick, ...is }).open("s");
  const events: RondoEvent[] = [];
  session.subscribe((event) => void events.push(event));
  return { session, journal, events, model };
}

const approve = (session: Session) => session.approve(session.pending[0]?.id ?? "");
const opened = async (journal: Journal): Promise<LogRecord[]> =>
  (await journal.read("s")).filter((record) => record.type === "opened");

const rule = (name: string, version: number = 1): Rule => ({
  name,
  version,
  verify: () => undefined,
});

describe("what changed", () => {
  test("is nothing if nothing changed: no warning, and nothing in the record", async () => {
    const { session, journal, events } = await left({ system: "be kind" }, { system: "be kind" });
    await approve(session);
    expect(session.changed).toEqual([]);
    expect(events.filter((event) => event.type === "warning")).toEqual([]);
    expect(Object.keys((await opened(journal))[0] ?? {}).sort()).toEqual(["at", "by", "rand", "seq", "type"]);
  });

  test.each<[string, Partial<AgentOptions>, Partial<AgentOptions>, string[]]>([
    ["a rule that is gone", { rules: [rule("mine")] }, {}, ["the rule mine is gone"]],
    ["a new rule", {}, { rules: [rule("mine")] }, ["the rule mine is new"]],
    [
      "a rule's version",
      { rules: [rule("mine")] },
      { rules: [rule("mine", 2)] },
      ["the rule mine has changed"],
    ],
    [
      "the order of rules",
      { rules: [rule("one"), rule("two")] },
      { rules: [rule("two"), rule("one")] },
      ["the rule one stands elsewhere"],
    ],
    ["a tool that is gone", { tools: [ask(), echo("look")] }, {}, ["the tool look is gone"]],
    ["a new tool", {}, { tools: [ask(), echo("look")] }, ["the tool look is new"]],
    [
      "what a tool does to the world",
      {},
      { tools: [ask({ effect: "read" })] },
      ["the tool guarded has changed"],
    ],
    [
      "which arguments of a tool are programs",
      {},
      { tools: [ask({ shellArgs: ["run"], inputSchema: runs })] },
      ["the tool guarded has changed"],
    ],
    ["a tool's version", {}, { tools: [ask({ version: 2 })] }, ["the tool guarded has changed"]],
    ["the prompt", { system: "be kind" }, { system: "be brief" }, ["the option system has changed"]],
    ["a prompt where there was none", {}, { system: "be brief" }, ["the option system is new"]],
    ["the texts", {}, { texts: { denied: () => "no" } }, ["the option texts has changed"]],
    ["a hook", {}, { hooks: { permission: () => "allow" } }, ["the hook permission is new"]],
    [
      "a model",
      {},
      { model: scripted([say("done")], { id: "other" }) },
      ["the model scripted is gone", "the model other is new"],
    ],
    ["a setting", {}, { settings: { temperature: 0 } }, ["the option settings.temperature is new"]],
  ])("is said: %s", async (_what, was, is, texts) => {
    const { session, journal, events } = await left(was, is);
    await approve(session);
    const warnings = events.flatMap((event) => (event.type === "warning" ? [event] : []));
    expect(warnings).toMatchObject([{ code: "changed" }]);
    for (const text of texts) expect(warnings[0]?.message).toContain(text);
    expect(session.changed).toHaveLength(texts.length);
    expect(await opened(journal)).toMatchObject([{ changed: session.changed }]);
    expect(session.result?.end?.reason).toBe("completed");
  });

  test("is reported once, also to the logger, but not for an idle session, whose next run simply uses the current code", async () => {
    const said: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (text: string) => void said.push(text) };
    const { session, journal } = await left({}, { system: "new", logger });
    await approve(session);
    await session.send("more").catch(() => {});
    expect(said.filter((text) => text.includes("other code"))).toHaveLength(1);
    const idle = await new Agent({ model: scripted([say("hi")]), journal, system: "newest" }).open("s");
    expect([idle.status, idle.changed]).toEqual(["idle", []]);
  });
});

describe("a run that continues under changed code", () => {
  test("keeps what the model was told, until the next run", async () => {
    const was = { system: "be kind", tools: [ask(), echo("look")] };
    const { session, model } = await left(was, { system: "be brief", tools: [ask(), echo("find")] }, [
      say("done"),
      say("and again"),
    ]);
    await approve(session);
    await session.send("more");
    const names = (at: number): unknown => model.requests[at]?.tools.map((one) => one.name).slice(0, 2);
    expect([model.requests[0]?.system, names(0)]).toEqual(["be kind", ["guarded", "look"]]);
    expect([model.requests[1]?.system, names(1)]).toEqual(["be brief", ["guarded", "find"]]);
  });

  test("answers calls of a tool that is gone, and of one that the model was not told about", async () => {
    const was = { tools: [ask(), echo("look")] };
    const is = { tools: [ask(), echo("find")] };
    const { session } = await left(was, is, [calls([["look"], ["find"]]), say("done")]);
    const { messages, end } = await approve(session);
    expect(shortly(messages).slice(4, 6)).toEqual([
      expect.stringMatching(/unknown tool "look"/),
      expect.stringMatching(/unknown tool "find"/),
    ]);
    expect(end?.reason).toBe("completed");
  });

  test("answers the open call itself if its tool is gone", async () => {
    const { session } = await left({}, { tools: [] });
    const { messages } = await approve(session);
    expect(shortly(messages)[2]).toMatch(/the tool guarded is not here any more/);
  });

  test("cannot have arguments edited for a tool that is gone, and is told what else can be done", async () => {
    const { session } = await left({}, { tools: [] });
    await expect(session.edit(session.pending[0]?.id ?? "", {})).rejects.toThrow(
      "the tool guarded is not among the agent's tools; the call still waits: deny() or answer() it, or open",
    );
    expect(session.pending).toHaveLength(1);
  });

  test("does not run another kind of tool that has its name now: an approval inside a sub-agent approves no call of the agent itself", async () => {
    const child = new Agent({ model: scripted([call("guarded")]), tools: [ask()], ...quick });
    const helper = subAgent({ name: "helper", description: "helps", agent: child });
    const script = [call("helper", { task: "t" })];
    const ran: string[] = [];
    const plain = ask({ name: "helper", execute: () => void ran.push("helper") });
    const { session, journal } = await left({ tools: [helper], model: scripted(script) }, { tools: [plain] });
    expect(session.pending[0]?.id).toBe("call_1/call_1");
    const { messages } = await approve(session);
    expect(ran).toEqual([]);
    expect(shortly(messages)[2]).toMatch(
      /the tool helper was a sub-agent .* and is none any more: it was not run/,
    );
    // Nobody is to be asked for what nobody needs any more.
    expect((await journal.read("s:2.0")).at(-1)).toMatchObject({ type: "run_ended" });
  });

  test("does not run a sub-agent for a call of a plain tool that had its name", async () => {
    const child = new Agent({ model: scripted([say("never")]) });
    const { session } = await left(
      {},
      {
        tools: [
          subAgent({ name: "guarded", description: "helps", agent: child, inputSchema: { type: "object" } }),
        ],
      },
    );
    const { messages } = await approve(session);
    expect(shortly(messages)[2]).toMatch(
      /the tool guarded was no sub-agent .* and is one now: it was not run/,
    );
  });

  test("asks the current permission hook, except for calls already awaiting an approval, and no earlier hook", async () => {
    const yesterday: string[] = [];
    const was = { hooks: { afterTool: (view: { name: string }) => void yesterday.push(view.name) } };
    const is = { hooks: { permission: () => "deny" as const } };
    const { session } = await left(was, is, [call("guarded"), say("done")]);
    const { messages } = await approve(session);
    expect(shortly(messages).filter((line) => line.startsWith("tool:"))).toEqual([
      "tool: guarded ran",
      "tool: Permission denied.",
    ]);
    expect(yesterday).toEqual([]);
  });

  test.each<[string, Partial<AgentOptions>, "allow" | "deny"]>([
    [
      "a new hook",
      { hooks: { permission: () => "deny", beforeTool: () => ({ result: "not run" }) } },
      "allow",
    ],
    ["its tool", {}, "deny"],
  ])("lets a call that has begun go on, whatever %s would say of it now", async (_what, is, permission) => {
    const journal = memoryJournal();
    const inner = new Agent({ model: scripted([call("guarded"), say("helped")]), tools: [ask()], ...quick });
    const stalls = (): Promise<never> => new Promise(() => {});
    const tools = (execute: () => unknown, may: "allow" | "deny"): Tool[] => [
      echo("once", {
        effect: "idempotent",
        execute: execute as () => string,
        keys: () => ["once"],
        permission: may,
      }),
      subAgent({ name: "helper", description: "helps", agent: inner, permission: may }),
    ];
    const model = scripted([[call("once"), call("helper", { task: "help" })]]);
    const first = await new Agent({ model, tools: tools(stalls, "allow"), journal, ...quick }).open("s");
    const left = first.send("go");
    const waits = Promise.withResolvers<void>();
    first.subscribe(({ type }) => type === "approval_request" && waits.resolve());
    await waits.promise;
    await first.drain({ withinMs: 0 });
    await left;
    const now = {
      model: scripted([say("done")]),
      tools: tools(() => "ran", permission),
      journal,
      ...quick,
      ...is,
    };
    const session = await new Agent(now).open("s");
    await session.resume();
    const { end } = await approve(session);
    expect([end?.reason, session.status]).toEqual(["completed", "idle"]);
    expect(shortly(session.messages).filter((line) => line.startsWith("tool:"))).toEqual([
      "tool: ran",
      "tool: helped",
    ]);
  });

  test("uses a tool's current declarations from the next answer on", async () => {
    const ran: string[] = [];
    const look = (permission: "allow" | "ask"): Tool =>
      echo("look", { permission, execute: () => void ran.push("look") });
    const { session } = await left({ tools: [ask(), look("allow")] }, { tools: [ask(), look("ask")] }, [
      call("look"),
    ]);
    await approve(session);
    expect([ran, session.pending]).toMatchObject([[], [{ name: "look" }]]);
  });

  test("asks a new rule as if it had been there from the start: it folds the whole run", async () => {
    const { session } = await left({}, { rules: [maxSteps(1) as Rule] }, [say("what there is")]);
    const { end } = await approve(session);
    expect(end).toMatchObject({ reason: "max_steps", landed: true });
  });

  test("calls the current first model if the one it began with is gone", async () => {
    const other = scripted([say("from the other")], { id: "other" });
    const { session } = await left({}, { model: other });
    expect((await approve(session)).text).toBe("from the other");
    expect(session.state.options?.models.map((one) => one.id)).toEqual(["other"]);
  });

  test("finds its model again if the models are in another order", async () => {
    const named = (id: string, script: Script): ReturnType<typeof scripted> => scripted(script, { id });
    const was = { model: named("main", [call("guarded")]), fallback: [named("spare", [])] };
    const main = named("main", [say("from main")]);
    const { session } = await left(was, { model: named("spare", []), fallback: [main] });
    expect((await approve(session)).text).toBe("from main");
  });

  test("stays on its fallback model, even if the main one is gone", async () => {
    const was = {
      model: scripted([fail("auth")], { id: "main" }),
      fallback: [scripted([call("guarded")], { id: "spare" })],
    };
    const spare = scripted([say("from the spare")], { id: "spare" });
    const { session } = await left(was, { model: scripted([], { id: "new" }), fallback: [spare] });
    expect((await approve(session)).text).toBe("from the spare");
  });

  test("uses the tools that a hook chose for one step in that step only, even if the hook is gone", async () => {
    const prepareStep: Hooks["prepareStep"] = () => ({ tools: ["guarded"] });
    const tools = [ask(), echo("look")];
    const { session, model } = await left({ tools, hooks: { prepareStep } }, { tools });
    await approve(session);
    expect(model.lastRequest.tools.map(({ name }) => name)).toEqual(["guarded", "look"]);
  });

  test("calls the model that was chosen for the prepared step, wherever it is in the list, and asks the hook again if the model is gone", async () => {
    const named = (id: string, script: Script): ReturnType<typeof scripted> => scripted(script, { id });
    const journal = memoryJournal();
    const spare = named("spare", [say("from the spare")]);
    const prepareStep: Hooks["prepareStep"] = ({ step }) => (step === 2 ? { model: spare } : undefined);
    const was = { ...quick, tools: [echo("look")], journal, hooks: { prepareStep } };
    const model = named("main", [call("look"), say("again")]);
    await (await new Agent({ ...was, model, fallback: [spare] }).open("s")).send("go");
    const records = journal.read("s");
    const prepared = records.findIndex((record) => "hook" in record && "step" in record && record.step === 2);
    const goneOn = async (is: Partial<AgentOptions>): Promise<string> => {
      const cut = memoryJournal();
      cut.append("s", 0, records.slice(0, prepared + 1));
      const agent = new Agent({ ...was, model, ...is, journal: cut });
      const { text, end } = await (await agent.open("s")).resume();
      return `${end?.reason}: ${text}`;
    };
    const there = named("spare", [say("from the spare")]);
    expect(await goneOn({ model: there, fallback: [named("main", [])] })).toBe("completed: from the spare");
    const other = named("other", [say("from the other")]);
    const second = named("second", [say("from the second")]);
    const hooks: Hooks = { prepareStep: () => ({ model: second }) };
    expect(await goneOn({ model: other, fallback: [second], hooks })).toBe("completed: from the second");
    expect(await goneOn({ model: other, hooks: {} })).toBe("completed: from the other");
    expect(await goneOn({ model: named("main", [say("from main")]), hooks: {} })).toBe(
      "completed: from main",
    );
  });

  test("holds a typed output to the schema that the model was told", async () => {
    const schema = (key: string) =>
      ({ type: "object", properties: { [key]: { type: "string" } }, required: [key] }) as const;
    const { session } = await left({ output: schema("city") }, { output: schema("town") }, [
      say("Oslo"),
      say('{"city":"Oslo"}'),
    ]);
    const { output, end } = await approve(session);
    expect([output, end?.reason]).toEqual([{ city: "Oslo" }, "completed"]);
  });

  test("reads such an output as the agent reads any other", async () => {
    const schema = (key: string) =>
      ({ type: "object", properties: { [key]: { type: "string" } }, required: [key] }) as const;
    const outputReading = { wholeText: true, camelCaseKeys: true };
    const { session } = await left(
      { output: schema("homeTown") },
      { output: schema("town"), outputReading },
      [say("Oslo"), say('Here: {"homeTown":"Rome"}'), say('{"home_town":"Oslo"}')],
    );
    const { output, end } = await approve(session);
    expect([output, end?.reason]).toEqual([{ homeTown: "Oslo" }, "completed"]);
  });

  test("can be replayed: the records contain what the model was told and what the run continues with", async () => {
    const { session } = await left({ tools: [ask(), echo("look")] }, { system: "new" }, [say("done")]);
    await approve(session);
    expect((await session.replay()).firstDifference).toBeUndefined();
  });
});

describe("onChanged: refuse", () => {
  test("does not open such a session, says what changed, and changes nothing", async () => {
    const journal = memoryJournal();
    const first = new Agent({ model: scripted([call("guarded")]), tools: [ask()], journal });
    await (await first.open("s")).send("go");
    const length = journal.read("s").length;
    const strict = (options: Partial<AgentOptions>): Promise<Session> =>
      new Agent({
        model: scripted([say("done")]),
        tools: [ask()],
        journal,
        onChanged: "refuse",
        ...options,
      }).open("s");
    await expect(strict({ system: "new" })).rejects.toThrow(
      /session s has a run.*onChanged is "refuse".*the option system is new/,
    );
    expect(journal.read("s")).toHaveLength(length);
    const { end } = await approve(await strict({}));
    expect(end?.reason).toBe("completed");
    // The run is over: nothing stands against other code any more.
    expect((await strict({ system: "new" })).status).toBe("idle");
  });

  test("does not disturb the driver of the run, even if a forced takeover was tried", async () => {
    const journal = memoryJournal({ leases: true });
    const model = scripted([call("slow"), say("done")]);
    const came = deferred<string>();
    const tools = [echo("slow", { execute: () => came.promise })];
    const running = (await new Agent({ model, tools, journal }).open("s")).send("go");
    await expect.poll(() => journal.read("s").some(({ type }) => type === "tool_started")).toBe(true);
    const strict = new Agent({ model, tools, system: "new", journal, onChanged: "refuse" });
    await expect(strict.open("s", { takeOver: true })).rejects.toThrow(/onChanged is "refuse"/);
    came.resolve("at last");
    expect((await running).text).toBe("done");
  });
});

test("a run that was interrupted in a model call repeats the same request, whatever the current prompt is", async () => {
  const journal = memoryJournal();
  const dying = scripted([stall()]);
  const first = await new Agent({ model: dying, system: "be kind", journal, ...quick }).open("s");
  first.send("go").catch(() => {});
  await expect.poll(() => dying.calls).toBe(1);
  const model = scripted([say("done")]);
  const session = await new Agent({ model, system: "be brief", journal, ...quick }).open("s", {
    takeOver: true,
  });
  await session.resume();
  expect(model.lastRequest).toEqual(dying.lastRequest);
});
