// The room of scripts in which somebody speaks: approvals, further turns, steering, follow-ups, aborts.

import { strictEqual } from "node:assert/strict";
import type { Hooks } from "@rondo/core";
import { call, calls, fail, say, stall } from "../../scripted/turns.ts";
import type { Script } from "../../scripted.ts";
import {
  abortedAtWork,
  asking,
  type DriverScript,
  echo,
  scene,
  taking,
  until,
  untilQueued,
  waitingForAbort,
  waitingForWord,
  write,
} from "./scenes.ts";

const threeMails = (): Script => [calls(["a", "b", "c"].map((text) => ["send_mail", { text }])), say("done")];

export const spokenScripts: readonly DriverScript[] = [
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
    agent: scene(threeMails, () => [asking]),
    play: async (session) => {
      await session.send("go");
      const [a, b, c] = await session.pending();
      await session.deny(a?.id ?? "", "not that one");
      await session.edit(b?.id ?? "", { other: [] });
      await session.edit(c?.key ?? "", { text: "better" });
    },
  },
  {
    name: "results that somebody brings: a text, a value, an error",
    agent: scene(threeMails, () => [asking]),
    play: async (session) => {
      await session.send("go");
      const [a, b, c] = await session.pending();
      await session.answer(a?.id ?? "", "sent by hand");
      await session.answer(b?.id ?? "", { sent: true });
      await session.answer(c?.id ?? "", new Error("nobody is there"));
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
    name: "a session that goes on without a new word, after an error",
    agent: scene(() => [fail("auth"), say("one")]),
    play: async (session) => {
      await session.send("go");
      await session.continue();
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
    name: "words that are taken back are not delivered, those that were delivered stay",
    agent: scene(
      () => [call("wait", { text: "a" }), say("one"), say("two")],
      (at) => [waitingForWord(at)],
    ),
    play: async (session, at) => {
      const running = session.send("go");
      await at.heard("at work");
      await session.steer("in French, please", "steer-1");
      await session.steer("in Latin, please", "steer-2");
      await session.followUp("and then", "follow-1");
      await session.withdraw("steer-2");
      await session.withdraw("follow-1");
      await until(at, (type) => type === "withdrawn", 2);
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
    name: "an abort while a hook is asked, which hears of it",
    agent: () => {
      const permission: Hooks["permission"] = (_call, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            made.say("no longer asked");
            resolve("deny");
          });
          made.say("asked");
        });
      const script = (): Script => [call("write", { text: "a" }), say("never")];
      const made = scene(script, () => [write], { hooks: { permission } })();
      return made;
    },
    play: async (session, at) => {
      const running = session.send("go");
      await at.heard("asked");
      await session.abort("enough");
      await at.heard("no longer asked");
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
];
