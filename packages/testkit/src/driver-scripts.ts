// The room of the scripts that every driver is tried with: agents, and what is said to them.
//
// Each script makes its agent anew. Where two things happen at once, the script says which comes first, by a word that
// one waits for: what is compared is what the loop made of it, not who was faster.

import { strictEqual } from "node:assert/strict";
import { Agent, DoneSignal, subAgent } from "@rondo/core";
import type { DrivenSession } from "./driven-session.ts";
import {
  abortedAtWork,
  asking,
  echo,
  go,
  type Scene,
  scene,
  taking,
  until,
  untilQueued,
  waitingForAbort,
  waitingForWord,
  write,
} from "./driver-scenes.ts";
import { scripted } from "./scripted.ts";
import { badArgs, call, calls, fail, refuse, say, stall, usage } from "./scripted-turns.ts";

export interface DriverScript {
  name: string;
  agent(): Scene;
  play(session: DrivenSession, scene: Scene): Promise<void>;
}

export const driverScripts: readonly DriverScript[] = [
  {
    name: "an answer",
    agent: scene(() => [[say("hello"), usage({ inputTokens: 10, outputTokens: 2 })]]),
    play: go,
  },
  {
    name: "a call, a result, an answer",
    agent: scene(
      () => [[say("I look. "), call("echo", { text: "a" })], say("done")],
      () => [echo],
    ),
    play: go,
  },
  {
    name: "calls together, whose results come in another order",
    agent: scene(
      () => [
        calls([
          ["slow", { text: "a" }],
          ["quick", { text: "b" }],
        ]),
        say("done"),
      ],
      (at) => [
        taking("slow", async (text) => {
          await at.heard("quick is back");
          return text;
        }),
        taking("quick", (text) => text),
      ],
    ),
    play: async (session, at) => {
      const running = session.send("go");
      await until(at, (type, text) => type === "tool_finished" && text.includes('"b"'));
      at.say("quick is back");
      await running;
    },
  },
  {
    name: "writes, one after the other",
    agent: scene(
      () => [
        calls([
          ["write", { text: "a" }],
          ["write", { text: "b" }],
        ]),
        say("done"),
      ],
      () => [write],
    ),
    play: go,
  },
  {
    name: "a failing model, tried again",
    agent: scene(() => [fail("server_error"), fail("overloaded", { afterText: "I was" }), say("done")]),
    play: go,
  },
  { name: "a model that fails for good", agent: scene(() => [fail("auth")]), play: go },
  { name: "a refusal", agent: scene(() => [refuse("no")]), play: go },
  {
    name: "a fall-back",
    agent: scene(
      () => [fail("quota_exhausted")],
      () => [],
      () => ({ fallback: [scripted([say("from the other")], { id: "other" })] }),
    ),
    play: go,
  },
  {
    name: "a tool that throws, one that nobody knows, and arguments that do not fit",
    agent: scene(
      () => [
        calls([
          ["broken", { text: "a" }],
          ["nobody", {}],
          ["echo", {}],
        ]),
        badArgs("echo", '{"text": '),
        say("done"),
      ],
      () => [
        echo,
        taking("broken", () => {
          throw new Error("it is broken");
        }),
      ],
    ),
    play: go,
  },
  {
    name: "a tool that takes too long",
    agent: scene(
      () => [call("deaf", { text: "a" }), say("done")],
      () => [taking("deaf", () => new Promise(() => {}), { timeoutMs: 50 })],
    ),
    play: go,
  },
  {
    name: "a tool that says the work is done",
    agent: scene(
      () => [call("finish", { text: "all of it" }), say("never")],
      () => [
        taking("finish", (text) => {
          throw new DoneSignal(text);
        }),
      ],
    ),
    play: go,
  },
  {
    name: "an approval",
    agent: scene(
      () => [call("send_mail", { text: "a" }), say("done")],
      () => [asking],
    ),
    play: async (session) => {
      const { parked } = await session.send("go");
      strictEqual(parked?.pending.length, 1);
      await session.approve((await session.pending())[0]?.id ?? "");
    },
  },
  {
    name: "a denial, an edit that does not fit, and one that does",
    agent: scene(
      () => [
        calls([
          ["send_mail", { text: "a" }],
          ["send_mail", { text: "b" }],
          ["send_mail", { text: "c" }],
        ]),
        say("done"),
      ],
      () => [asking],
    ),
    play: async (session) => {
      await session.send("go");
      const [a, b, c] = await session.pending();
      await session.deny(a?.id ?? "", "not that one");
      await session.edit(b?.id ?? "", { text: 1 as unknown as string, other: [] });
      await session.edit(c?.key ?? "", { text: "better" });
    },
  },
  {
    name: "a second turn in a session, and a third",
    agent: scene(
      () => [say("one"), [say("two"), call("echo", { text: "x" })], say("and"), say("three")],
      () => [echo],
    ),
    play: async (session) => {
      await session.send("go");
      await session.send("on");
      await session.send("and on");
    },
  },
  {
    name: "steering while a tool works is delivered before the next model call",
    agent: scene(
      () => [call("wait", { text: "a" }), say("in French")],
      (at) => [waitingForWord(at)],
    ),
    play: async (session, at) => {
      const running = session.send("go");
      await at.heard("at work");
      await session.steer("in French, please", "steer-1");
      await session.steer("in French, please", "steer-1");
      await untilQueued(at, 2);
      at.say("go on");
      await running;
    },
  },
  {
    name: "a follow-up is delivered when the run would end",
    agent: scene(
      () => [call("wait", { text: "a" }), say("one"), say("two")],
      (at) => [waitingForWord(at)],
    ),
    play: async (session, at) => {
      const running = session.send("go");
      await at.heard("at work");
      await session.followUp("and then", "follow-1");
      await untilQueued(at, 1);
      at.say("go on");
      await running;
    },
  },
  {
    name: "what is said while nobody drives is kept for the next run",
    agent: scene(() => [say("one"), say("two"), say("three")]),
    play: async (session, at) => {
      await session.send("go");
      await session.followUp("later", "later-1");
      await untilQueued(at, 1);
      await session.send("on");
    },
  },
  {
    name: "an abort while a tool works",
    agent: scene(
      () => [
        calls([
          ["wait", { text: "a" }],
          ["write", { text: "b" }],
        ]),
        say("never"),
      ],
      (at) => [write, waitingForAbort(at)],
    ),
    play: abortedAtWork,
  },
  {
    name: "an abort that a tool does not hear",
    agent: scene(
      () => [call("deaf", { text: "a" }), say("never")],
      (at) => [
        taking("deaf", () => {
          at.say("at work");
          return new Promise(() => {});
        }),
      ],
      { abortGraceMs: 100 },
    ),
    play: abortedAtWork,
  },
  {
    name: "an abort while a model answers",
    agent: () => {
      const stalled = stall({ afterText: "I was about" });
      const made = scene(() => [stalled])();
      void stalled.reached.then(() => made.say("answering"));
      return made;
    },
    play: async (session, at) => {
      const running = session.send("go");
      await at.heard("answering");
      await session.abort("enough");
      await running;
    },
  },
  {
    name: "an abort of a run that waits for an approval, and what comes after it",
    agent: scene(
      () => [call("send_mail", { text: "a" }), say("next")],
      () => [asking],
    ),
    play: async (session, at) => {
      await session.send("go");
      await session.abort("never mind");
      await until(at, (type) => type === "run_ended");
      await session.settled();
      await session.send("on");
    },
  },
  {
    name: "a limit of steps, with a landing",
    agent: scene(
      () => (_, n) => (n < 4 ? call("echo", { text: String(n) }) : say("as far as I came")),
      () => [echo],
      {
        maxSteps: 3,
      },
    ),
    play: go,
  },
  {
    name: "a typed output, at the second attempt",
    agent: scene(
      () => [say("no JSON"), say('{"n": "x"}'), say('{"n": 1}')],
      () => [],
      {
        output: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      },
    ),
    play: go,
  },
  {
    name: "hooks that change a call, a result and a step, and ask for more work",
    agent: () => {
      let more = true;
      return scene(
        () => [call("echo", { text: "a" }), say("one"), say("two")],
        () => [echo],
        {
          hooks: {
            beforeTool: () => ({ args: { text: "b" } }),
            afterTool: (_, { isError }) => ({ content: "seen", isError }),
            prepareStep: () => ({}),
            onFinish: () => {
              const again = more;
              more = false;
              return again ? "and then" : undefined;
            },
          },
        },
      )();
    },
    play: go,
  },
  {
    name: "a hook that throws",
    agent: scene(
      () => [call("echo", { text: "a" }), say("one")],
      () => [echo],
      {
        hooks: {
          permission: () => {
            throw new Error("broken");
          },
        },
      },
    ),
    play: go,
  },
  {
    name: "a rule that throws",
    agent: scene(
      () => [call("echo", { text: "a" }), say("never")],
      () => [echo],
      {
        rules: [
          {
            name: "broken",
            version: 1,
            decide(_memory, { run }) {
              if (run?.steps === 1) throw new Error("no such thing");
              return undefined;
            },
          },
        ],
      },
    ),
    play: go,
  },
  {
    name: "a rule that throws at what happened",
    agent: scene(
      () => [call("echo", { text: "a" }), say("never")],
      () => [echo],
      {
        rules: [
          {
            name: "broken",
            version: 1,
            fold(_memory, { type }) {
              if (type === "tool_finished") throw new Error("no such thing");
              return undefined;
            },
          },
        ],
      },
    ),
    play: go,
  },
  {
    name: "the same call over and over",
    agent: scene(
      () => (_, n) => (n < 9 ? call("echo", { text: "same" }) : say("done")),
      () => [echo],
    ),
    play: go,
  },
  {
    name: "two approvals in a row",
    agent: scene(
      () => [call("send_mail", { text: "a" }), call("send_mail", { text: "a" }), say("done")],
      () => [asking],
    ),
    play: async (session) => {
      await session.send("go");
      await session.approve((await session.pending())[0]?.id ?? "");
      await session.approve((await session.pending())[0]?.id ?? "");
    },
  },
  {
    name: "a sub-agent",
    agent: scene(
      () => [call("research", { task: "look" }), say("done")],
      () => [
        subAgent({
          name: "research",
          description: "looks something up",
          agent: new Agent({
            model: scripted((request) =>
              request.messages.some(({ role }) => role === "tool")
                ? [say("found"), usage({ inputTokens: 5, outputTokens: 1 })]
                : call("echo", { text: "x" }),
            ),
            tools: [echo],
          }),
        }),
      ],
    ),
    play: go,
  },
  {
    name: "a sub-agent that waits for an approval",
    agent: scene(
      () => [call("assistant", { task: "write" }), say("done")],
      () => [
        subAgent({
          name: "assistant",
          description: "writes",
          agent: new Agent({
            model: scripted((request) =>
              request.messages.some(({ role }) => role === "tool")
                ? say("sent it")
                : call("send_mail", { text: "x" }),
            ),
            tools: [asking],
          }),
        }),
      ],
    ),
    play: async (session) => {
      const { parked } = await session.send("go");
      strictEqual(parked?.pending.length, 1);
      await session.approve(parked?.pending[0]?.id ?? "");
    },
  },
  {
    name: "an abort while a sub-agent's tool works",
    agent: scene(
      () => [call("research", { task: "look" }), say("never")],
      (at) => [
        subAgent({
          name: "research",
          description: "looks something up",
          agent: new Agent({
            model: scripted([call("wait", { text: "x" }), say("never")]),
            tools: [waitingForAbort(at)],
          }),
        }),
      ],
    ),
    play: abortedAtWork,
  },
  {
    name: "a history that is summed up when it fills its window",
    agent: scene(
      () => [],
      () => [taking("long", (text) => `${text} ${"word ".repeat(600)}`)],
      () => ({
        model: scripted(
          ({ messages, tools }) => {
            if (tools.length === 0)
              return say("Many words were read, one page after the other; more are to be read.");
            const read = messages.filter(({ role }) => role === "tool").length;
            pages += 1;
            return pages < 8 ? call("long", { text: `${pages} ${read}` }) : say("all read");
          },
          { facts: { contextWindow: 4_000 } },
        ),
        context: { trim: null, cap: null, compaction: {} },
      }),
    ),
    play: async (session) => {
      pages = 0;
      await session.send("Read every page.");
    },
  },
];

let pages = 0;
