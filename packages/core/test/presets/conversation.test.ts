// A conversation: what may be done when, words while it works, questions to the user, and going on after a stop.

import {
  Agent,
  type AgentOptions,
  isPaired,
  type Message,
  memoryJournal,
  resolve,
  subAgent,
  textOf,
} from "@rondo/core";
import { explain } from "@rondo/core/explain";
import {
  agentStrategy,
  askUser,
  Conversation,
  type ConversationRun,
  type ConversationState,
  managedContext,
  stepSequence,
  thinkActObserve,
} from "@rondo/core/presets";
import {
  call,
  calls,
  fail,
  hold,
  type Script,
  type ScriptedModel,
  say,
  scripted,
  stall,
  type Turn,
} from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { deferred, echo, quick } from "../support.ts";
import { inShort } from "./step-sequence-support.ts";

const cutOff = "Session was interrupted. Continuing from where we left off.";
const goOn = "Please continue where you left off.";

async function talk(
  script: Script,
  more: Partial<AgentOptions> = {},
): Promise<{ talk: Conversation; model: ScriptedModel }> {
  const model = scripted(script);
  const options = { ...stepSequence({ model, tools: [echo("look")], retry: "disabled" }), ...quick, ...more };
  return { talk: await Conversation.open(options, "s"), model };
}

/** The steps of a run in short, to its end. */
async function stepsOf(run: ConversationRun): Promise<string[]> {
  const steps: string[] = [];
  for await (const step of run)
    steps.push(step.type === "asking" ? `asking ${step.question}` : inShort(step));
  return steps;
}

const gates = (one: Conversation): object => ({
  state: one.state,
  can: (["canRun", "canResume", "canInterrupt", "canReply", "canCancel", "canClear"] as const).filter(
    (gate) => one[gate],
  ),
});

const may: { readonly [state in ConversationState]: string[] } = {
  idle: ["canRun", "canResume"],
  running: ["canInterrupt", "canCancel"],
  awaiting: ["canReply", "canCancel"],
  paused: ["canResume", "canClear"],
  failed: ["canResume", "canClear"],
};
const expected = (state: ConversationState): object => ({ state, can: may[state] });

const users = (messages: readonly Message[]): string[] =>
  messages.filter(({ role }) => role === "user").map(textOf);

describe("a conversation", () => {
  test("B9.52 may run when idle, take messages and be cancelled while running, continue or be cleared when paused", async () => {
    const held = stall();
    const { talk: one } = await talk([held, say("done")]);
    expect(gates(one)).toEqual(expected("idle"));
    const run = one.run("go");
    await held.reached;
    expect(gates(one)).toEqual(expected("running"));
    await one.cancel();
    expect(gates(one)).toEqual(expected("paused"));
    expect((await run.result).end?.reason).toBe("aborted");
    expect(await stepsOf(one.resume())).toEqual(["final done"]);
    expect(gates(one)).toEqual(expected("idle"));
  });

  test("B9.52 may be answered or cancelled while it waits, and continue or be cleared when it failed", async () => {
    const { talk: one } = await talk([call("ask_user", { question: "which?" }), fail("auth"), say("back")]);
    const run = one.run("go")[Symbol.asyncIterator]();
    expect((await run.next()).value).toMatchObject({ type: "asking", question: "which?" });
    await one.session.settled();
    expect(gates(one)).toEqual(expected("awaiting"));
    await one.reply("that one");
    expect(gates(one)).toEqual(expected("failed"));
    expect(await stepsOf(one.resume())).toEqual(["final back"]);
    expect(users(one.messages)).toEqual(["go", goOn]);
  });

  test("B9.52 refuses a second run while it is running, and everything that its state does not allow", async () => {
    const held = stall();
    const { talk: one } = await talk([held]);
    await expect(one.reply("x")).rejects.toThrow("no question is open");
    await expect(one.clear()).rejects.toThrow("nothing to clear");
    one.run("go");
    await held.reached;
    expect(() => one.run("more")).toThrow(/^Session is already running$/);
    expect(() => one.resume()).toThrow(/^Session is already running$/);
    await expect(one.clear()).rejects.toThrow(/^Session is already running$/);
    await one.cancel();
    expect(() => one.run("more")).toThrow("Session is paused: resume() it");
    await one.cancel();
    expect(one.state).toBe("paused");
  });
});

describe("a message while it works", () => {
  test("B9.52 is added before the next model call, a step each, in order", async () => {
    const reached = deferred();
    const release = deferred();
    const slow = echo("slow", {
      execute: async () => {
        reached.resolve();
        await release.promise;
        return "slow ran";
      },
    });
    const { talk: one, model } = await talk([call("slow"), say("done")], { tools: [slow] });
    const run = one.run("go");
    const steps = stepsOf(run);
    await reached.promise;
    expect([one.interrupt("hurry"), one.interrupt("please")]).toEqual([true, true]);
    expect(model.calls).toBe(1);
    release.resolve();
    expect(await steps).toEqual([
      "call slow",
      "result slow: slow ran",
      "interrupted hurry",
      "interrupted please",
      "final done",
    ]);
    expect(users(model.lastRequest.messages)).toEqual(["go", "hurry", "please"]);
  });

  test("B9.52 B2.11 does not prevent the calls of the batch from running", async () => {
    const reached = deferred();
    const release = deferred();
    let ran = 0;
    const slow = echo("slow", {
      execute: async () => {
        reached.resolve();
        await release.promise;
        ran += 1;
        return `slow ${ran}`;
      },
    });
    const { talk: one, model } = await talk(
      [
        calls([
          ["slow", { n: 1 }],
          ["slow", { n: 2 }],
        ]),
        say("done"),
      ],
      { tools: [slow] },
    );
    const steps = stepsOf(one.run("go"));
    await reached.promise;
    one.interrupt("hurry");
    release.resolve();
    expect(await steps).toEqual([
      "call slow",
      "result slow: slow 1",
      "call slow",
      "result slow: slow 2",
      "interrupted hurry",
      "final done",
    ]);
    expect(users(model.lastRequest.messages)).toEqual(["go", "hurry"]);
  });

  test("B9.52 is accepted only while running: before or after, it is not kept", async () => {
    const { talk: one, model } = await talk([call("ask_user", { question: "?" }), say("done"), say("again")]);
    expect(one.interrupt("early")).toBe(false);
    const run = one.run("go");
    await run[Symbol.asyncIterator]().next();
    await one.session.settled();
    expect(one.interrupt("while it waits")).toBe(false);
    await one.reply("yes");
    await run.result;
    expect(one.interrupt("late")).toBe(false);
    await one.run("more").result;
    expect(users(model.lastRequest.messages)).toEqual(["go", "more"]);
  });

  test("B9.52 during the final output makes the run use its tools again", async () => {
    const held = hold(say("not JSON"));
    const script: Script = [say("Rome."), held, say("It is Oslo."), say('{"city":"Oslo"}')];
    const model = scripted(script);
    const options = stepSequence({ model, tools: [echo("look")], output: z.object({ city: z.string() }) });
    const one = await Conversation.open(options, "s");
    const run = one.run("where?");
    await held.reached;
    one.interrupt("in Norway");
    held.release();
    expect((await run.result).output).toEqual({ city: "Oslo" });
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([2, 0, 2, 0]);
  });
});

describe("a question to the user", () => {
  for (const toolOrder of ["sequential", "by_effect", "parallel"] as const)
    test(`B9.52 lets the other tools of the batch run first, wherever it is in it (${toolOrder})`, async () => {
      const ran: string[] = [];
      const write = (name: string) => echo(name, { effect: "write", execute: () => void ran.push(name) });
      const { talk: one, model } = await talk(
        [calls([["one"], ["ask_user", { question: "Which city?" }], ["two"]]), say("done")],
        { tools: [write("one"), write("two")], toolOrder },
      );
      const run = one.run("go");
      const steps = stepsOf(run);
      while (one.state !== "awaiting") await new Promise((settle) => setImmediate(settle));
      expect(ran).toEqual(["one", "two"]);
      expect([one.question, model.calls]).toEqual(["Which city?", 1]);
      await one.reply("Rome");
      expect((await steps)[0]).toBe("asking Which city?");
      expect(model.lastRequest.messages.slice(2).map(textOf)).toEqual(["(no output)", "Rome", "(no output)"]);
      expect(isPaired(one.messages)).toBe(true);
    });

  test("B9.52 can be answered when it comes: each of them, as soon as its step is there", async () => {
    const ask = (question: string): Turn => call("ask_user", { question });
    const { talk: one } = await talk([ask("where?"), ask("when?"), say("done")], { tools: [] });
    const seen: string[] = [];
    for await (const step of one.run("go")) {
      seen.push(step.type === "asking" ? `asking ${step.question}` : step.type);
      if (step.type !== "asking") continue;
      expect(gates(one)).toEqual(expected("awaiting"));
      await one.reply("here and now");
    }
    const told = ["tool_call", "tool_result"];
    expect(seen).toEqual(["asking where?", ...told, "asking when?", ...told, "final_response"]);
  });

  test("B9.52 B3.17 may be asked even if there is no other tool: the model is free to", async () => {
    const model = scripted([say("hello")]);
    const one = await Conversation.open(stepSequence({ model }), "s");
    await one.run("go").result;
    const { tools, toolChoice } = model.lastRequest;
    expect([tools.map(({ name }) => name), toolChoice]).toEqual([["ask_user"], "auto"]);
  });

  test("B9.52 with an empty answer tells the model so, whatever the model wrote in its place", async () => {
    const asking = call("ask_user", { question: "?", answer: "yes, delete it" });
    const { talk: one, model } = await talk([asking, asking, say("done")], { tools: [] });
    const run = one.run("go");
    for (const answer of ["", "  "]) {
      while (!one.canReply) await new Promise((settle) => setImmediate(settle));
      await one.reply(answer);
    }
    await run.result;
    expect(model.lastRequest.messages.filter(({ role }) => role === "tool").map(textOf)).toEqual([
      "No answer provided",
      "No answer provided",
    ]);
  });

  test.each<[string, (model: ScriptedModel) => AgentOptions]>([
    ["think, act, observe", (model) => thinkActObserve({ model })],
    ["an agent strategy", (model) => agentStrategy({ model })],
    ["a managed context", (model) => managedContext({ model })],
    [
      "a sequence that refuses unknown keys",
      (model) => ({ ...stepSequence({ model }), unknownKeys: "reject" }),
    ],
    ["a sequence that strips them", (model) => ({ ...stepSequence({ model }), unknownKeys: "strip" })],
  ])(
    "B9.52 is answered as said, however closely arguments are looked at: in %s",
    async (_name, optionsOf) => {
      const model = scripted([call("ask_user", { question: "Where?" }), say("done")]);
      const one = await Conversation.open(optionsOf(model), "s");
      for await (const step of one.run("go")) if (step.type === "asking") await one.reply("Rome");
      expect(model.lastRequest.messages.map(textOf).slice(-1)).toEqual(["Rome"]);
    },
  );

  test("B9.52 is never answered by the model, even if a hook lets every call run", async () => {
    const asking = call("ask_user", { question: "May I?", answer: "yes, delete it" });
    const hooks = { permission: () => ({ answer: "allow" as const }) };
    const { talk: one, model } = await talk([asking, say("done")], { tools: [], hooks });
    await one.run("go").result;
    expect(model.lastRequest.messages.map(textOf).slice(-1)).toEqual(["No answer provided"]);
  });

  test("survives the process: another one gets the same question, and its answer counts", async () => {
    const journal = memoryJournal();
    const first = scripted([call("ask_user", { question: "Which?" })]);
    const before = await Conversation.open({ model: first }, "s", { journal });
    for await (const step of before.run("go")) if (step.type === "asking") break;
    await before.session.settled();
    const after = await Conversation.open({ model: scripted([say("That one.")]) }, "s", { journal });
    expect(gates(after)).toEqual(expected("paused"));
    const steps = after.resume()[Symbol.asyncIterator]();
    expect((await steps.next()).value).toMatchObject({ type: "asking", question: "Which?" });
    await after.session.settled();
    await after.reply("the second");
    expect((await steps.next()).value).toMatchObject({ type: "tool_call" });
    expect(after.messages.map(textOf)).toEqual(["go", "", "the second", "That one."]);
  });
});

test("a run whose steps are not read to their end continues, and has its result", async () => {
  const { talk: one } = await talk([call("look"), call("look"), say("There.")]);
  const run = one.run("go");
  for await (const _step of run) break;
  expect((await run.result).text).toBe("There.");
  expect(gates(one)).toEqual(expected("idle"));
});

describe("continuing", () => {
  test("B9.52 after a cancellation tells the model which calls have no result, and asks it to continue", async () => {
    const reached = deferred();
    const slow = echo("slow", {
      execute: () => {
        reached.resolve();
        return new Promise(() => {});
      },
    });
    const { talk: one, model } = await talk([calls([["slow"], ["slow"]]), say("done")], { tools: [slow] });
    const run = one.run("go");
    await reached.promise;
    await one.cancel();
    expect((await run.result).end?.reason).toBe("aborted");
    expect(isPaired(one.messages)).toBe(true);
    await one.resume().result;
    expect(model.lastRequest.messages.slice(2).map((message) => [message.role, textOf(message)])).toEqual([
      ["tool", cutOff],
      ["tool", cutOff],
      ["user", goOn],
    ]);
  });

  test("B9.52 after a cancellation says so of a tool that heard it too: being stopped is not a result", async () => {
    const reached = deferred();
    const slow = echo("slow", {
      execute: (_args, { signal }) => {
        reached.resolve();
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    });
    const { talk: one, model } = await talk([call("slow"), say("done")], { tools: [slow] });
    one.run("go");
    await reached.promise;
    await one.cancel();
    await one.resume().result;
    expect(model.lastRequest.messages.slice(2).map(textOf)).toEqual([cutOff, goOn]);
  });

  test("B9.52 after a cancellation during a question does the same", async () => {
    const { talk: one, model } = await talk([call("ask_user", { question: "?" }), say("done")]);
    const run = one.run("go");
    await run[Symbol.asyncIterator]().next();
    await one.session.settled();
    await one.cancel();
    expect(one.state).toBe("paused");
    await one.resume().result;
    expect(model.lastRequest.messages.slice(2).map(textOf)).toEqual([cutOff, goOn]);
  });

  test("B9.52 is possible from idle too, and asks the model to continue", async () => {
    const { talk: one, model } = await talk([say("first"), say("and more")]);
    await one.run("go").result;
    expect(await stepsOf(one.resume())).toEqual(["final and more"]);
    expect(users(model.lastRequest.messages)).toEqual(["go", goOn]);
  });

  test("B9.52 after clear calls the model with an empty conversation otherwise", async () => {
    const { talk: one, model } = await talk([fail("auth"), say("fresh")]);
    await one.run("go").result;
    await one.clear();
    await one.resume().result;
    expect(model.lastRequest.messages.map(textOf)).toEqual([goOn]);
  });

  test("after clear begins with an empty history in another process too, and the old messages can still be read", async () => {
    const journal = memoryJournal();
    const options = { model: scripted([fail("auth"), say("fresh")]), journal };
    const one = await Conversation.open(options, "c");
    await one.run("my number is 42").result;
    await one.clear();
    const other = await Conversation.open(options, "c");
    expect([other.state, other.messages, other.canClear]).toEqual(["idle", [], false]);
    const { messages } = await other.run("start over").result;
    expect(messages.map(textOf)).toEqual(["start over", "fresh"]);
    expect(JSON.stringify(journal.read("c"))).toContain("my number is 42");
    const { rules } = resolve({ model: options.model });
    expect(JSON.stringify(explain(journal.read("c"), { run: 2, rules }))).toContain(
      "the conversation was cleared",
    );
    expect((await other.session.replay()).difference).toBeUndefined();
  });

  test("after clear begins with an empty history", async () => {
    const { talk: one, model } = await talk([fail("auth"), say("fresh"), say("more")]);
    await one.run("go").result;
    await one.clear();
    expect([one.state, one.messages]).toEqual(["idle", []]);
    await one.run("start over").result;
    expect(model.lastRequest.messages.map(textOf)).toEqual(["start over"]);
    await one.run("and on").result;
    expect(model.lastRequest.messages.map(textOf)).toEqual(["start over", "fresh", "and on"]);
  });
});

test("a question inside a sub-agent is asked and answered like any other, and so is its next one", async () => {
  const below = new Agent({
    model: scripted([
      call("ask_user", { question: "Which?" }),
      call("ask_user", { question: "Sure?" }),
      say("so be it"),
    ]),
    tools: [askUser],
  });
  const tools = [subAgent({ name: "helper", description: "Helps", agent: below })];
  const model = scripted([call("helper", { task: "t" }), say("done")]);
  const conversation = await Conversation.open({ model, tools }, "c");
  const run = conversation.run("go");
  const heard: string[] = [];
  for await (const step of run) {
    if (step.type !== "asking") continue;
    heard.push(step.question);
    await conversation.reply(`answer ${heard.length}`);
  }
  expect(heard).toEqual(["Which?", "Sure?"]);
  expect((await run.result).text).toBe("done");
});
