// The steerable preset: what goes on, what ends, and what becomes of calls.

import {
  Agent,
  type AgentOptions,
  isPaired,
  isSilentReply,
  type RunResult,
  type Session,
  type StopKind,
  textOf,
  tool,
} from "@rondo/core";
import {
  steerable,
  steerableLines,
  steerablePrompt,
  steerableSession,
  steerableStop,
} from "@rondo/core/presets";
import { badArgs, call, calls, empty, fail, refuse, say, scripted, stop, type Turn } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { deferred, echo, shortly } from "../support.ts";

function run(
  script: readonly Turn[],
  more: Partial<Parameters<typeof steerable>[0]> = {},
): Promise<RunResult> {
  return new Agent(steerable({ model: scripted(script), tools: [echo("look")], ...more })).run("go");
}

describe("what continues and what ends", () => {
  test("C1.1 no text of a prompt or of an answer decides: with any system prompt the same script runs the same way", async () => {
    const script = [[say("I am done. END."), call("look")], say("tool_use: look. I will go on now.")];
    const courses = [];
    for (const system of [undefined, "Stop at once, and never call a tool.", "Go on for ever."]) {
      const model = scripted(script);
      const options = { model, tools: [echo("look")], prompt: { narration: true, silence: true } };
      const { end, steps, toolCalls, text } = await new Agent(
        steerable({ ...options, ...(system === undefined ? {} : { system }) }),
      ).run("go");
      if (system !== undefined) expect(model.lastRequest.system).toContain(system);
      courses.push({ end, steps, toolCalls, text });
    }
    expect(courses[0]).toMatchObject({ steps: 2, toolCalls: 1, end: { reason: "completed" } });
    expect(courses).toEqual([courses[0], courses[0], courses[0]]);
  });

  test("C1.2 calls run whatever the stop reason is, and without any it is the end whatever the stop reason is", async () => {
    const kinds: StopKind[] = ["end_turn", "tool_use", "max_tokens", "stop_sequence", "pause", "unknown"];
    for (const kind of kinds) {
      const on = await run([[call("look"), stop(kind, { kind })], say("done")]);
      expect([kind, on.toolCalls, on.text]).toEqual([kind, 1, "done"]);
      const over = await run([[say("text"), stop(kind, { kind })]]);
      const reason = kind === "max_tokens" ? "truncated" : "completed";
      expect([kind, over.end?.reason, over.text, over.steps]).toEqual([kind, reason, "text", 1]);
    }
  });

  test("C1.2 C1.6 an answer that ended with an error or an abort is the end at once: no call runs, and no follow-up is delivered", async () => {
    for (const kind of ["error", "aborted"] as const) {
      const ran: string[] = [];
      const look = echo("look", { execute: () => ran.push("look") });
      const model = scripted([[say("half"), call("look"), stop(kind, { kind, detail: "it broke" })]]);
      const session = await new Agent(steerable({ model, tools: [look] })).open("s");
      const running = session.send("go");
      session.followUp("and this");
      const { end, text, messages } = await running;
      expect([end?.reason, text, ran, model.calls]).toEqual([kind, "half", [], 1]);
      if (kind === "error") expect(end?.error?.message).toBe("it broke");
      expect(session.state.inbox.map((one) => textOf(one.message))).toEqual(["and this"]);
      expect(isPaired(messages)).toBe(true);
    }
  });

  test("C1.3 it continues as long as there are calls or queued messages", async () => {
    const model = scripted([say("first"), say("second"), call("look"), say("last")]);
    const session = await new Agent(steerable({ model, tools: [echo("look")] })).open("s");
    let steered = 0;
    session.subscribe((event) => {
      // Words that come while an answer without calls is made: twice, then no more.
      if (event.type === "message" && steered < 2) session.steer(`word ${++steered}`);
    });
    const { messages } = await session.send("go");
    expect(shortly(messages)).toEqual([
      "user: go",
      "assistant: first",
      "user: word 1",
      "assistant: second",
      "user: word 2",
      "assistant: look()",
      "tool: look ran",
      "assistant: last",
    ]);
  });

  test("C1.4 when it would end, follow-ups continue it, as often as there are some; without any it ends", async () => {
    const model = scripted([say("one"), [say("two"), call("look")], say("three"), say("four")]);
    const session = await new Agent(steerable({ model, tools: [echo("look")] })).open("s");
    const running = session.send("go");
    session.followUp("more");
    session.subscribe((event) => {
      if (event.type === "message" && textOf(event.message) === "three") session.followUp("and more");
    });
    const { messages, end } = await running;
    expect(shortly(messages)).toEqual([
      "user: go",
      "assistant: one",
      "user: more",
      "assistant: two look()",
      "tool: look ran",
      "assistant: three",
      "user: and more",
      "assistant: four",
    ]);
    expect([end?.reason, session.state.inbox]).toEqual(["completed", []]);
  });

  test("C1.4 a truncated answer without calls is an end like any other: a queued follow-up comes after it", async () => {
    const model = scripted([[say("half a"), stop("max_tokens")], say("all of it")]);
    const session = await new Agent(steerable({ model })).open("s");
    const running = session.send("go");
    session.followUp("go on");
    const { end, messages } = await running;
    expect(end?.reason).toBe("completed");
    expect(shortly(messages).slice(1)).toEqual(["assistant: half a", "user: go on", "assistant: all of it"]);
  });

  test("C1.5 the words for an answer's end: an unknown one is unknown, and its raw word is kept", async () => {
    const words: [StopKind, string][] = [
      ["end_turn", "stop"],
      ["tool_use", "toolUse"],
      ["max_tokens", "length"],
      ["refusal", "error"],
      ["pause", "stop"],
      ["stop_sequence", "stop"],
      ["content_filter", "error"],
      ["unknown", "unknown"],
    ];
    for (const [wire, word] of words)
      expect([wire, steerableStop({ wire, kind: wire })]).toEqual([wire, word]);
    // The word alone counts, not what the content makes of it; only what broke off is told by its kind.
    expect(steerableStop({ wire: "end_turn", kind: "tool_use" })).toBe("stop");
    expect(steerableStop({ wire: "unknown", kind: "aborted" })).toBe("aborted");
    const { end, messages, text } = await run([[say("so"), stop("unknown", { raw: "done_by_magic" })]]);
    expect([end?.reason, text]).toEqual(["completed", "so"]);
    expect(messages.at(-1)).toMatchObject({ stop: { raw: "done_by_magic" } });
  });

  test("C1.5 a refusal ends the run with its words; a pause is an end, unless resuming is set", async () => {
    const refused = await run([[refuse("I will not.")]]);
    expect([refused.end?.reason, refused.text, refused.steps]).toEqual(["refused", "I will not.", 1]);
    const paused: Turn = [say("so far "), stop("pause")];
    const ended = await run([paused]);
    expect([ended.end?.reason, ended.text]).toEqual(["completed", "so far "]);
    const model = scripted([paused, say("and on")]);
    const { text } = await new Agent({ ...steerable({ model }), pauseResumes: 5 }).run("go");
    expect(text).toBe("so far and on");
  });

  test("C1.6 every ending: no call, a failed model, an abort, a truncated answer without calls; any call continues, also a truncated answer's", async () => {
    expect((await run([say("done")])).end).toMatchObject({ reason: "completed", rule: "answer" });
    expect((await run([empty()])).end).toMatchObject({ reason: "completed" });
    expect((await run([fail("overloaded")])).end).toMatchObject({ reason: "error" });
    const cut = await run([[say("half a"), stop("max_tokens")]]);
    expect([cut.end?.reason, cut.text, cut.steps]).toEqual(["truncated", "half a", 1]);
    const last = cut.messages.at(-1);
    expect(last?.role === "assistant" && steerableStop(last.stop)).toBe("length");
    const on = await run([[call("look"), badArgs("look", '{"a":'), stop("max_tokens")], say("done")]);
    expect([on.toolCalls, on.text]).toEqual([1, "done"]);
    expect(shortly(on.messages)[3]).toMatch(/^tool: Validation failed for tool "look": /);
    const controller = new AbortController();
    const stopped = new Agent(
      steerable({
        model: scripted([call("look")]),
        tools: [echo("look", { execute: () => controller.abort("enough") })],
      }),
    );
    await expect(stopped.run("go", { signal: controller.signal })).rejects.toMatchObject({ kind: "aborted" });
  });

  test("C1.6 a failed model ends the run with its message, is not called again, and does not reject", async () => {
    const model = scripted([call("look"), fail("overloaded", { message: "too much to do" })]);
    const { end, messages } = await new Agent(steerable({ model, tools: [echo("look")] })).run("go");
    expect([end?.reason, end?.error?.message, model.calls]).toEqual(["error", "too much to do", 2]);
    expect(isPaired(messages)).toBe(true);
  });

  test("C1.11 there is no step limit; the ceiling is far away, and if one is set the run lands there", async () => {
    const many = Array.from({ length: 300 }, () => call("look"));
    const far = await run([...many, say("done")]);
    expect([far.end?.reason, far.steps]).toEqual(["completed", 301]);
    expect(steerable({ model: scripted([say("x")]) })).toMatchObject({
      maxSteps: 10_000,
      maxCallsPerTurn: 1_000,
    });
    const { end, text } = await run([call("look"), call("look"), say("this far I came")], { ceiling: 2 });
    expect(end).toMatchObject({ reason: "max_steps", landed: true });
    expect(text).toBe("this far I came");
  });
});

describe("calls", () => {
  test("C1.7 run one after the other in the order of the answer, also those that only read", async () => {
    const order: string[] = [];
    const slow = (name: string): ReturnType<typeof echo> =>
      echo(name, {
        execute: async () => {
          order.push(`${name} starts`);
          await new Promise((resolve) => setImmediate(resolve));
          order.push(`${name} ends`);
          return name;
        },
      });
    await run([calls([["b"], ["a"], ["b"]]), say("done")], { tools: [slow("a"), slow("b")] });
    expect(order).toEqual(["b starts", "b ends", "a starts", "a ends", "b starts", "b ends"]);
  });

  test("C1.7 that were approved run before a message sent with the approval is delivered, and the rest is skipped", async () => {
    const ran: string[] = [];
    const model = scripted([calls([["one"], ["two"], ["three"]]), say("as you wish")]);
    const tools = ["one", "two", "three"].map((name) =>
      echo(name, { permission: name === "two" ? "ask" : "allow", execute: () => ran.push(name) }),
    );
    const session = await new Agent(steerable({ model, tools })).open("s");
    await session.send("go");
    const answered = session.approve(session.pending[0]?.id ?? "");
    session.steer("and no more than that");
    const { messages } = await answered;
    expect(ran).toEqual(["one", "two"]);
    expect(shortly(messages).slice(4)).toEqual([
      "tool: three was skipped: a new message from the user came first.",
      "user: and no more than that",
      "assistant: as you wish",
    ]);
  });

  test("C1.7 that remain after a message are skipped, each with a result, and the message comes next", async () => {
    const ran: string[] = [];
    const ongoing = deferred();
    const goOn = deferred();
    const one = echo("one", {
      execute: async () => {
        ongoing.resolve();
        await goOn.promise;
        return "one ran";
      },
    });
    const model = scripted([calls([["one"], ["two"], ["three"]]), say("as you wish")]);
    const tools = [one, ...["two", "three"].map((name) => echo(name, { execute: () => ran.push(name) }))];
    const session = await new Agent(steerable({ model, tools })).open("s");
    const running = session.send("go");
    await ongoing.promise;
    session.steer("wait, do not");
    goOn.resolve();
    const { messages, toolCalls } = await running;
    expect(shortly(messages)).toEqual([
      "user: go",
      "assistant: one() two() three()",
      "tool: one ran",
      "tool: two was skipped: a new message from the user came first.",
      "tool: three was skipped: a new message from the user came first.",
      "user: wait, do not",
      "assistant: as you wish",
    ]);
    expect([toolCalls, ran, isPaired(messages)]).toEqual([1, [], true]);
    expect(messages[3]).toMatchObject({ role: "tool", name: "two", isError: true });
  });

  test("C1.7 a message that comes while the answer is made is delivered after the first call, pushed or pulled", async () => {
    const words: string[] = [];
    let session: Session;
    const script = (meanwhile: () => void) => {
      const answer = calls([["one"], ["two"]]);
      return [
        () => {
          meanwhile();
          return answer;
        },
        say("as you wish"),
      ];
    };
    const tools = [echo("one"), echo("two")];
    const told = scripted(script(() => session.steer("wait")));
    session = await new Agent(steerable({ model: told, tools })).open("s");
    const pulled = await steerableSession("p", {
      model: scripted(script(() => words.push("wait"))),
      tools,
      getSteeringMessages: () => words.splice(0),
    });
    for (const each of [session, pulled])
      expect(shortly((await each.send("go")).messages)).toEqual([
        "user: go",
        "assistant: one() two()",
        "tool: one ran",
        "tool: two was skipped: a new message from the user came first.",
        "user: wait",
        "assistant: as you wish",
      ]);
  });

  test("C1.7 a message is delivered after a first call that cannot run too", async () => {
    let session: Session;
    const answer = (): Turn => {
      session.steer("wait");
      return calls([["nowhere"], ["two"]]);
    };
    const model = scripted([answer, say("well")]);
    session = await new Agent(steerable({ model, tools: [echo("two")] })).open("s");
    expect(shortly((await session.send("go")).messages).slice(2, 5)).toEqual([
      "tool: Tool nowhere not found",
      "tool: two was skipped: a new message from the user came first.",
      "user: wait",
    ]);
  });

  test("C1.7 a message in place of an approval is delivered at once: the waiting call is skipped, and the rest", async () => {
    const model = scripted([calls([["ask"], ["two"]]), say("well")]);
    const tools = [echo("ask", { permission: "ask" }), echo("two")];
    const session = await new Agent(steerable({ model, tools })).open("s");
    expect((await session.send("go")).parked).toBeDefined();
    session.steer("neither");
    const { messages } = await session.resume();
    expect(shortly(messages).slice(2, 5)).toEqual([
      "tool: ask was skipped: a new message from the user came first.",
      "tool: two was skipped: a new message from the user came first.",
      "user: neither",
    ]);
  });

  test("C1.7 no approval is requested once there is a message: the call is skipped, unless a grant covers it", async () => {
    const outcomes: string[][] = [];
    for (const leave of [false, true]) {
      let session: Session;
      const answer = (): Turn => {
        session.steer("wait");
        return calls([["ask"], ["two"]]);
      };
      const tools = [echo("ask", { permission: "ask" }), echo("two")];
      session = await new Agent(steerable({ model: scripted([answer, say("well")]), tools })).open("s");
      if (leave) await session.allow({ tool: "ask" });
      const asked: string[] = [];
      session.subscribe(({ type }) => type === "approval_request" && asked.push(type));
      const { messages } = await session.send("go");
      outcomes.push([...asked, ...shortly(messages).slice(2, 4)]);
    }
    const skipped = (name: string) => `tool: ${name} was skipped: a new message from the user came first.`;
    expect(outcomes).toEqual([
      [skipped("ask"), skipped("two")],
      ["tool: ask ran", skipped("two")],
    ]);
  });

  test("C1.8 a tool gets validated arguments, the call's id and a signal that fires on abort", async () => {
    const controller = new AbortController();
    let heard: unknown;
    const read = tool({
      name: "read",
      description: "",
      inputSchema: z.object({ line: z.number().default(7) }),
      execute: async (args, { callId, signal }) => {
        const before = signal.aborted;
        controller.abort("stop");
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        heard = { args, callId, before, after: signal.aborted };
      },
    });
    const agent = new Agent(
      steerable({ model: scripted([call("read", {}, { id: "call_x" })]), tools: [read] }),
    );
    await expect(agent.run("go", { signal: controller.signal })).rejects.toMatchObject({ kind: "aborted" });
    await expect
      .poll(() => heard)
      .toEqual({ args: { line: 7 }, callId: "call_x", before: false, after: true });
  });

  test("C1.9 arguments are validated and coerced on a copy: the tool gets the number, the conversation keeps what the model wrote", async () => {
    const got: unknown[] = [];
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
    const count = tool({
      name: "count",
      description: "",
      inputSchema: schema,
      execute: (args) => got.push(args),
    });
    const { messages } = await run([call("count", { n: "3" }), say("done")], { tools: [count] });
    expect(got).toEqual([{ n: 3 }]);
    const answer = messages[1];
    expect(answer?.content[0]).toMatchObject({ type: "tool_call", args: { n: "3" }, rawArgs: '{"n":"3"}' });
  });

  test("C1.9 arguments that do not fit, or are not JSON, become an error result, and the run continues", async () => {
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
    const ran: unknown[] = [];
    const count = tool({ name: "count", description: "", inputSchema: schema, execute: () => ran.push(1) });
    const bad = [call("count", { n: "many" }), call("count", {}), badArgs("count", "{n")];
    const { messages, end } = await run([bad, say("I see")], { tools: [count] });
    const results = messages.filter((message) => message.role === "tool");
    expect(results.map((message) => message.isError)).toEqual([true, true, true]);
    for (const one of results) expect(textOf(one)).toMatch(/^Validation failed for tool "count": \S/);
    expect([ran, end?.reason]).toEqual([[], "completed"]);
  });

  test("C1.10 an unknown tool and a tool that throws become error results and never end the run", async () => {
    const thrower = echo("thrower", {
      execute: () => {
        throw new Error("the disk is full");
      },
    });
    const script = [calls([["nowhere"], ["thrower"], ["look"]]), say("done")];
    const { messages, end } = await run(script, { tools: [thrower, echo("look")] });
    expect(messages.slice(2, 5)).toMatchObject([
      { isError: true, content: [{ text: "Tool nowhere not found" }] },
      { isError: true, content: [{ text: "the disk is full" }] },
      { isError: false, content: [{ text: "look ran" }] },
    ]);
    expect(end?.reason).toBe("completed");
  });

  test("C1.12 a call is a part with an id, a name and arguments as an object; a result names its call and holds parts", async () => {
    const { messages } = await run([[say("Let me."), call("look", { at: "it" }, { id: "c1" })], say("done")]);
    expect(messages[1]).toMatchObject({
      role: "assistant",
      content: [
        { type: "text", text: "Let me." },
        { type: "tool_call", id: "c1", name: "look", args: { at: "it" } },
      ],
    });
    expect(messages[2]).toEqual({
      role: "tool",
      callId: "c1",
      name: "look",
      content: [{ type: "text", text: "look ran" }],
      isError: false,
    });
  });
});

describe("texts", () => {
  test("C1.13 a silent token or a heartbeat's answer ends a run like any text; other code checks whether it was one", async () => {
    for (const token of ["__SILENT__", "NO_REPLY", "HEARTBEAT_OK"]) {
      const { end, text, messages } = await run([say(token)]);
      expect([end?.reason, text, isSilentReply(text)]).toEqual(["completed", token, true]);
      expect(shortly(messages)).toEqual(["user: go", `assistant: ${token}`]);
    }
    const { toolCalls, text } = await run([[say("__SILENT__"), call("look")], say("but yes")]);
    expect([toolCalls, isSilentReply(text)]).toEqual([1, false]);
  });

  test("C1.15 the optional prompt lines come if asked for, in a fixed order, and are only text", async () => {
    expect(steerableLines.narration[0]).toBe(
      "Default: do not narrate routine, low-risk tool calls (just call the tool).",
    );
    expect(steerableLines.narration[1]).toMatch(/^Narrate only when it helps/);
    expect(steerableLines.skills.join("\n")).toContain("read its SKILL.md, then follow it");
    expect(steerableLines.memory[0]).toMatch(/^Before answering.*run memory_search/);
    expect(steerablePrompt({})).toBe("");
    const skills = [{ name: "pdf", description: "Reads PDFs", location: "skills/pdf" }];
    const model = scripted([say("hi")]);
    const prompt = { instruction: "Be kind.", narration: true, skills, memory: true, silence: true };
    await new Agent(steerable({ model, system: "You are Ada.", prompt })).run("go");
    expect(model.lastRequest.system?.split("\n\n")).toEqual([
      "You are Ada.",
      "Be kind.",
      steerableLines.narration.join("\n"),
      [...steerableLines.skills, "- pdf: Reads PDFs (skills/pdf)"].join("\n"),
      steerableLines.memory.join("\n"),
      steerableLines.silence("__SILENT__").join("\n"),
    ]);
    expect(steerablePrompt({ silence: "NO_REPLY" })).toContain("NO_REPLY");
  });

  test("options for the context, the settings and the hooks are passed on unchanged", async () => {
    const given = { context: { cap: { bytes: 300 } }, settings: { temperature: 0 } } as const;
    const long = echo("look", { execute: () => "x".repeat(10_000) });
    const model = scripted([call("look"), say("done")]);
    const options: AgentOptions = steerable({ model, tools: [long], ...given });
    const { messages } = await new Agent(options).run("go");
    expect(textOf(messages[2] as (typeof messages)[number]).length).toBeLessThan(400);
    expect(model.lastRequest.settings).toEqual({ temperature: 0 });
  });
});
