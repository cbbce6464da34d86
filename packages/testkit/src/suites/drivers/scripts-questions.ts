// The room of scripts about questions: a tool that has begun, and asks.

import { deepStrictEqual } from "node:assert/strict";
import { Agent, subAgent, type Tool, toolWith, waitForAnswer } from "@rondo/core";
import { call, calls, say } from "../../scripted/turns.ts";
import { scripted } from "../../scripted.ts";
import type { DrivenSession } from "./driven-session.ts";
import { type DriverScript, scene, taking, until, waitingForWord } from "./scenes.ts";

/** Asks twice, and then tells what it was answered. */
const curious: Tool = toolWith(
  taking("buy", (text) => waitForAnswer({ text: `Buy ${text}?` }), { effect: "write", keys: () => [] }),
  {
    resume: (_args, answer, { asked }) =>
      asked === "Sure?" ? `bought, as ${JSON.stringify(answer)}` : waitForAnswer("Sure?"),
  },
);

const helper = (): Tool =>
  subAgent({
    name: "helper",
    description: "buys",
    agent: new Agent({ model: scripted([call("buy", { text: "tea" }), say("bought it")]), tools: [curious] }),
  });

/** Answers the question that has waited longest. */
async function answerFirst(session: DrivenSession, answer: unknown): Promise<void> {
  await session.answer((await session.pending())[0]?.id ?? "", answer);
}

export const questionScripts: readonly DriverScript[] = [
  {
    name: "a tool that asks, and asks again",
    agent: scene(
      () => [call("buy", { text: "tea" }), say("done")],
      () => [curious],
    ),
    play: async (session) => {
      const { parked } = await session.send("go");
      deepStrictEqual(parked?.pending[0]?.question, { asked: { text: "Buy tea?" }, round: 1 });
      await answerFirst(session, "yes");
      await answerFirst(session, { sure: true });
    },
  },
  {
    name: "a question that is answered with an error",
    agent: scene(
      () => [call("buy", { text: "tea" }), say("done")],
      () => [curious],
    ),
    play: async (session) => {
      await session.send("go");
      await answerFirst(session, new Error("no money"));
    },
  },
  {
    name: "a question that is answered while another call works",
    agent: scene(
      () => [
        calls([
          ["wait", { text: "a" }],
          ["buy", { text: "tea" }],
        ]),
        say("done"),
      ],
      (at) => [toolWith(waitingForWord(at), { keys: () => [] }), curious],
    ),
    play: async (session, at) => {
      const running = session.send("go");
      await at.heard("at work");
      await until(at, (type) => type === "tool_waits");
      const first = answerFirst(session, "yes");
      await until(at, (type) => type === "tool_waits", 2);
      const second = answerFirst(session, "yes");
      await until(at, (type) => type === "tool_finished");
      at.say("go on");
      await Promise.all([running, first, second]);
    },
  },
  {
    name: "questions inside a sub-agent, each with its own answer",
    agent: scene(
      () => [call("helper", { task: "shop" }), say("done")],
      () => [helper()],
    ),
    play: async (session) => {
      await session.send("go");
      for (const answer of ["one", "two"]) await answerFirst(session, answer);
    },
  },
];
