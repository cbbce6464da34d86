// Steering and follow-ups of the steerable preset, pushed and pulled: each delivered once, none lost.

import { Agent, DoneSignal, isPaired, memoryJournal, type Session, type Tool, userText } from "@rondo/core";
import { steerable, steerableSession } from "@rondo/core/presets";
import { call, calls, fail, say, scripted, stall, stop } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo, shortly } from "../support.ts";

/** A source that gives out lists one by one, then nothing; each only in a later turn of the event loop. */
function source(...lists: (readonly string[])[]): {
  pull: () => Promise<readonly string[]>;
  asked: () => number;
} {
  let asked = 0;
  return {
    pull: async () => {
      asked += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return lists.shift() ?? [];
    },
    asked: () => asked,
  };
}

const delivered = (session: Session): string[] =>
  shortly(session.messages).filter((line) => line.startsWith("user"));

describe("pulled messages", () => {
  test("C1.7 steering is pulled after each tool, and skips the remaining calls and is read first", async () => {
    // At the start, before the first step, nothing; after the first tool, two words.
    const steering = source([], ["stop that", "look here"]);
    const ran: string[] = [];
    const tools = ["one", "two", "three"].map((name) => echo(name, { execute: () => ran.push(name) }));
    const model = scripted([calls([["one"], ["two"], ["three"]]), say("yes")]);
    const session = await steerableSession("s", { model, tools, getSteeringMessages: steering.pull });
    const { messages } = await session.send("go");
    expect(ran).toEqual(["one"]);
    expect(shortly(messages)).toEqual([
      "user: go",
      "assistant: one() two() three()",
      "tool: 1",
      "tool: two was skipped: a new message from the user came first.",
      "tool: three was skipped: a new message from the user came first.",
      "user: stop that",
      "user: look here",
      "assistant: yes",
    ]);
  });

  test.each([
    ["unknown to it", ["nobody", {}]],
    ["with wrong arguments", ["one", { n: "x" }]],
  ] as const)("C1.7 C1.10 steering is pulled after a call %s too", async (_what, first) => {
    const steering = source([], ["stop that"]);
    const ran: string[] = [];
    const inputSchema = { type: "object", properties: { n: { type: "integer" } } };
    const tools = ["one", "two"].map((name) => echo(name, { inputSchema, execute: () => ran.push(name) }));
    const model = scripted([calls([first, ["two"], ["one"]]), say("yes")]);
    const session = await steerableSession("s", { model, tools, getSteeringMessages: steering.pull });
    const { messages } = await session.send("go");
    expect(ran).toEqual([]);
    expect(shortly(messages).slice(3)).toEqual([
      "tool: two was skipped: a new message from the user came first.",
      "tool: one was skipped: a new message from the user came first.",
      "user: stop that",
      "assistant: yes",
    ]);
  });

  test("C1.7 steering is pulled once between two calls, and the user's hook is called for those that run", async () => {
    const steering = source();
    const heard: string[] = [];
    const model = scripted([calls([["one"], ["nobody"], ["two"]]), say("yes")]);
    const session = await steerableSession("s", {
      model,
      tools: [echo("one"), echo("two")],
      getSteeringMessages: steering.pull,
      hooks: { beforeTool: ({ name }) => void heard.push(name) },
    });
    await session.send("go");
    // Before each of two steps, after each of three calls, and at the end.
    expect([steering.asked(), heard]).toEqual([6, ["one", "two"]]);
  });

  test("C1.3 steering that waits at the start is in the first request, and that at the end continues the run", async () => {
    const model = scripted([say("one"), say("two")]);
    const steering = source(["at the start"], ["at the end"]);
    const session = await steerableSession("s", { model, getSteeringMessages: steering.pull });
    await session.send("go");
    expect(shortly(model.requests[0]?.messages ?? [])).toEqual(["user: go", "user: at the start"]);
    expect(shortly(session.messages)).toEqual([
      "user: go",
      "user: at the start",
      "assistant: one",
      "user: at the end",
      "assistant: two",
    ]);
  });

  test("C1.4 follow-ups are pulled each time it would end, until there are none", async () => {
    const followUps = source(["first", "second"], ["third"]);
    const model = scripted([call("look"), say("a"), say("b"), say("c")]);
    const options = { model, tools: [echo("look")], getFollowUpMessages: followUps.pull };
    const session = await steerableSession("s", options);
    const { end } = await session.send("go");
    expect(shortly(session.messages).slice(3)).toEqual([
      "assistant: a",
      "user: first",
      "user: second",
      "assistant: b",
      "user: third",
      "assistant: c",
    ]);
    expect([end?.reason, followUps.asked()]).toEqual(["completed", 3]);
  });

  test("C1.4 steering comes before follow-ups: these are not pulled while there is some", async () => {
    const followUps = source(["more"]);
    const steering = source([], ["first this"]);
    const session = await steerableSession("s", {
      model: scripted([say("a"), say("b"), say("c")]),
      getSteeringMessages: steering.pull,
      getFollowUpMessages: followUps.pull,
    });
    await session.send("go");
    expect(delivered(session)).toEqual(["user: go", "user: first this", "user: more"]);
  });

  test("C1.2 after a failure no follow-ups are pulled", async () => {
    const followUps = source(["more"]);
    const session = await steerableSession("s", {
      model: scripted([fail("server_error", { message: "down" })]),
      getFollowUpMessages: followUps.pull,
    });
    const { end } = await session.send("go");
    expect([end?.reason, end?.error?.message, followUps.asked()]).toEqual(["error", "down", 0]);
  });

  test("messages with parts are delivered unchanged, and the user's own hooks are called too", async () => {
    const asked: string[] = [];
    const image = { type: "file" as const, mediaType: "image/png", data: "AAAA" };
    const given = [{ role: "user" as const, content: [image] }, userText("what is it?")];
    const session = await steerableSession("s", {
      model: scripted([call("look"), say("done")]),
      tools: [echo("look")],
      getSteeringMessages: () => given.splice(0),
      hooks: {
        afterTool: () => {
          asked.push("afterTool");
          return { content: "changed" };
        },
        prepareStep: ({ step }) => {
          asked.push(`prepareStep ${step}`);
          return undefined;
        },
      },
    });
    const { messages } = await session.send("go");
    expect(asked).toEqual(["prepareStep 1", "afterTool", "prepareStep 2"]);
    expect(messages[1]?.content).toEqual([image]);
    expect(shortly(messages).slice(2)).toEqual([
      "user: what is it?",
      "assistant: look()",
      "tool: changed",
      "assistant: done",
    ]);
  });

  test("a source that throws ends the run with its error, but does not spoil a tool's result", async () => {
    let asked = 0;
    const session = await steerableSession("s", {
      model: scripted([call("look"), say("never")]),
      tools: [echo("look")],
      getSteeringMessages: () => {
        asked += 1;
        if (asked === 2) throw new Error("the line is dead");
        return [];
      },
    });
    const { end, messages } = await session.send("go");
    expect(end?.reason).toBe("error");
    expect(end?.error?.message).toContain("getSteeringMessages failed: the line is dead");
    expect(shortly(messages).at(-1)).toBe("tool: look ran");
  });

  test("a source that throws at the end ends the run with its error, but keeps the answer", async () => {
    const asked: string[] = [];
    const session = await steerableSession("s", {
      model: scripted([say("the answer"), say("another")]),
      hooks: { onFinish: ({ text }) => void asked.push(text) },
      getFollowUpMessages: () => (asked.length > 0 ? [] : Promise.reject(new Error("the line is dead"))),
    });
    const { end, text, messages, modelCalls } = await session.send("go");
    expect([end?.reason, end?.error?.message]).toEqual([
      "error",
      expect.stringContaining("getFollowUpMessages failed: the line is dead"),
    ]);
    expect([text, modelCalls, shortly(messages)]).toEqual([
      "the answer",
      1,
      ["user: go", "assistant: the answer"],
    ]);
    asked.push("the line is back");
    expect((await session.send("again")).end?.reason).toBe("completed");
    expect(asked).toEqual(["the line is back", "another"]);
  });

  test("a source that throws after onFinish was asked, or after a truncated answer, ends the run too", async () => {
    const dead = () => Promise.reject(new Error("the line is dead"));
    const short = await steerableSession("s", {
      model: scripted([[say("the ans"), stop("max_tokens")]]),
      getFollowUpMessages: dead,
    });
    expect((await short.send("go")).end?.error?.message).toContain("the line is dead");
    let asked = 0;
    const long = await steerableSession("s", {
      model: scripted([say("one"), say("two")]),
      hooks: { onFinish: () => "more" },
      getFollowUpMessages: () => (asked++ === 0 ? [] : dead()),
    });
    expect((await long.send("go")).end?.error?.message).toContain("the line is dead");
  });

  test.each<[string, unknown]>([
    ["a text", "more"],
    ["a message", userText("more")],
    ["a list with something else in it", ["more", 7]],
    ["an object", { messages: [] }],
  ])(
    "a source that gives %s is told what it is to give, and nothing of it is queued",
    async (_what, given) => {
      const session = await steerableSession("s", {
        model: scripted([say("never")]),
        getSteeringMessages: () => given as readonly string[],
      });
      const { end } = await session.send("go");
      expect(end?.error?.message).toContain("getSteeringMessages failed");
      expect(end?.error?.message).toContain("a list of texts and of messages of the user is needed");
      expect(session.state.inbox).toEqual([]);
    },
  );

  test("a source that throws after the last call of a run does not affect the next run", async () => {
    let asked = 0;
    const session = await steerableSession("s", {
      model: scripted([call("finish"), say("on it")]),
      tools: [echo("finish", { execute: () => new DoneSignal("all done") })],
      getSteeringMessages: () => {
        asked += 1;
        if (asked === 2) throw new Error("the line is dead");
        return [];
      },
    });
    expect((await session.send("go")).end?.reason).toBe("done_tool");
    expect((await session.send("again")).text).toBe("on it");
  });
});

describe("nothing is lost and nothing is delivered twice", () => {
  test("C1.7 messages that were pulled when an abort came stay queued, and the next run reads them once", async () => {
    const pulled = deferred();
    const steering = source([], ["in between"]);
    const model = scripted([calls([["look"], ["look"]]), say("now I know")]);
    const session = await steerableSession("s", {
      model,
      tools: [echo("look")],
      getSteeringMessages: async () => {
        const messages = await steering.pull();
        if (messages.length > 0) {
          session.abort("enough");
          pulled.resolve();
        }
        return messages;
      },
    });
    const { end } = await session.send("go");
    await pulled.promise;
    expect(end?.reason).toBe("aborted");
    await expect.poll(() => session.state.inbox.map((one) => one.message)).toEqual([userText("in between")]);
    await session.send("again");
    expect(delivered(session)).toEqual(["user: go", "user: again", "user: in between"]);
    expect([session.state.inbox, isPaired(session.messages)]).toEqual([[], true]);
  });

  test("an abort during a pull does not wait for it, keeps the model's answer, and loses no message", async () => {
    const asked = deferred();
    const answer = deferred<readonly string[]>();
    const session = await steerableSession("s", {
      model: scripted([say("the answer"), say("more of it")]),
      getFollowUpMessages: () => {
        asked.resolve();
        return answer.promise;
      },
    });
    const running = session.send("go");
    await asked.promise;
    session.abort("enough");
    const { end, messages } = await running;
    expect([end?.reason, shortly(messages)]).toEqual(["aborted", ["user: go", "assistant: the answer"]]);
    answer.resolve(["late"]);
    await expect.poll(() => session.state.inbox.map((one) => one.message)).toEqual([userText("late")]);
  });

  test("options of the agent are passed on, and messages are pulled after its fallbacks too", async () => {
    const followUps = source(["more"]);
    const session = await steerableSession("s", {
      model: scripted([fail("overloaded", { retryable: false }), fail("overloaded", { retryable: false })], {
        id: "one",
      }),
      getFollowUpMessages: followUps.pull,
      agent: { fallback: [scripted([say("here"), say("and here")], { id: "two" })], retry: { attempts: 1 } },
    });
    await session.send("go");
    expect(shortly(session.messages)).toEqual([
      "user: go",
      "assistant: here",
      "user: more",
      "assistant: and here",
    ]);
  });

  test("nothing is pulled after a summary, which ends no run", async () => {
    const at: string[] = [];
    const model = scripted([calls([["look"]]), say("a summary of it all"), say("done")], {
      facts: { contextWindow: 3_000 },
    });
    const session = await steerableSession("s", {
      model,
      tools: [echo("look", { execute: () => "x ".repeat(6_000) })],
      context: { compaction: { keepTurns: 0, minGain: null } },
      guard: null,
      getFollowUpMessages: () => {
        at.push(`behind request ${model.calls}`);
        return [];
      },
    });
    const { end } = await session.send("go");
    expect([end?.reason, model.calls]).toEqual(["completed", 3]);
    expect(at).toEqual(["behind request 3"]);
  });

  test("a fork pulls its own messages, and so does a fork of it; the original session gets none of them", async () => {
    const model = scripted([say("a"), say("b"), say("c"), say("d"), say("e")]);
    const steering = { now: [] as string[] };
    const followUps = { now: [] as string[] };
    const session = await steerableSession("s", {
      model,
      getSteeringMessages: () => steering.now.splice(0),
      getFollowUpMessages: () => followUps.now.splice(0),
    });
    await session.send("go");
    const fork = await session.fork("f");
    steering.now.push("listen");
    followUps.now.push("and then");
    await fork.send("other");
    expect(delivered(fork)).toEqual(["user: go", "user: other", "user: listen", "user: and then"]);
    const again = await fork.fork("g", { run: 1 });
    steering.now.push("hear");
    await again.send("third");
    expect(delivered(again)).toEqual(["user: go", "user: third", "user: hear"]);
    expect(delivered(session)).toEqual(["user: go"]);
    expect(session.state.inbox).toEqual([]);
    await session.send("on");
    expect(delivered(session)).toEqual(["user: go", "user: on"]);
  });

  test("a fork with another model, other hooks and fallbacks pulls too", async () => {
    const followUps = source([], ["more"]);
    const steps: string[] = [];
    const session = await steerableSession("s", {
      model: scripted([say("a")]),
      hooks: { prepareStep: () => void steps.push("first") },
      getFollowUpMessages: followUps.pull,
    });
    await session.send("go");
    const model = scripted([fail("server_error")], { id: "other" });
    const spare = scripted([say("b"), say("c")], { id: "spare" });
    const hooks = { prepareStep: () => void steps.push("second") };
    const fork = await session.fork("f", {
      model,
      agent: { hooks, fallback: [spare], retry: { attempts: 1 } },
    });
    const { end } = await fork.send("on");
    expect(end?.reason).toBe("completed");
    expect(delivered(fork)).toEqual(["user: go", "user: on", "user: more"]);
    expect([model.calls, spare.calls]).toEqual([1, 2]);
    expect(steps).toEqual(["first", "second", "second"]);
  });

  test("C1.7 C1.4 steering and follow-ups that a crash interrupted are delivered by the next process, once", async () => {
    const journal = memoryJournal();
    const started = deferred();
    const tools = (blocks: boolean): Tool[] => [
      echo("look", {
        execute: async () => {
          started.resolve();
          if (blocks) await new Promise(() => {});
          return "look ran";
        },
      }),
    ];
    const first = await new Agent(
      steerable({ model: scripted([calls([["look"], ["look"]])]), tools: tools(true), journal }),
    ).open("s");
    first.send("go").catch(() => {});
    await started.promise;
    first.steer("listen", "id-1");
    first.followUp("and then", "id-2");
    first.steer("listen", "id-1");
    await expect.poll(() => journal.read("s").filter(({ type }) => type === "queued").length).toBe(3);
    const model = scripted([say("I listened"), say("and did it")]);
    const second = await new Agent(steerable({ model, tools: tools(false), journal })).open("s");
    const { end } = await second.resume();
    expect(end?.reason).toBe("completed");
    expect(delivered(second)).toEqual(["user: go", "user: listen", "user: and then"]);
    expect(second.state.inbox).toEqual([]);
    expect(isPaired(second.messages)).toBe(true);
  });

  test("C1.4 a follow-up that was pulled before a crash is delivered by the next process, once", async () => {
    const journal = memoryJournal();
    const model = scripted([say("a"), stall()]);
    const followUps = source(["more"], ["never"]);
    const options = { model, journal, getFollowUpMessages: followUps.pull };
    const first = await steerableSession("s", options);
    first.send("go").catch(() => {});
    await expect.poll(() => model.calls).toBe(2);
    const second = await steerableSession("s", { model: scripted([say("b")]), journal });
    await second.resume();
    expect(delivered(second)).toEqual(["user: go", "user: more"]);
  });
});
