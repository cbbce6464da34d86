// The room of scripts in which the history becomes another: cleared, summed up, cut.

import { match } from "node:assert/strict";
import { textOf } from "@rondo/core";
import { call, say } from "../../scripted/turns.ts";
import { type Script, scripted } from "../../scripted.ts";
import { type DriverScript, echo, go, scene, taking, until, untilQueued, waitingForWord } from "./scenes.ts";

/** Says how many messages it was sent; a summary where it is asked for one. */
const counting: Script = ({ messages, tools }) =>
  tools.length === 0 ? say("Many words were said, of which this is the sum.") : say(`of ${messages.length}`);

const long = "word ".repeat(400);

/** A long text, whose end nobody sees before it is looked for. */
const lines = Array.from({ length: 400 }, (_, n) => `line ${n} ${"x".repeat(40)}`).join("\n");

export const contextScripts: readonly DriverScript[] = [
  {
    name: "a conversation that is cleared, with a word that waits",
    agent: scene(() => [say("one"), say("two"), say("three")]),
    play: async (session, at) => {
      await session.send("go");
      await session.followUp("later", "later-1");
      await untilQueued(at, 1);
      await session.clear();
      await session.send("anew");
    },
  },
  {
    name: "a session that is cleared before anything was said in it",
    agent: scene(() => [say("one")]),
    play: async (session) => {
      await session.clear();
      await session.send("go");
    },
  },
  {
    name: "a summary that is asked for while nobody drives",
    agent: scene(
      () => counting,
      () => [echo],
      { context: { compaction: {} } },
    ),
    play: async (session) => {
      for (const word of ["one", "two", "three"]) await session.send(`${word} ${long}`);
      await session.compact();
      await session.send("go");
    },
  },
  {
    name: "a summary that is asked for while a tool works",
    agent: scene(
      () => (request, n) =>
        request.tools.length === 0
          ? say("Many words were said, of which this is the sum.")
          : n === 3
            ? call("wait", { text: "a" })
            : say("one"),
      (at) => [waitingForWord(at)],
      { context: { compaction: {} } },
    ),
    play: async (session, at) => {
      for (const word of ["one", "two"]) await session.send(`${word} ${long}`);
      const running = session.send("go");
      await at.heard("at work");
      const compacting = session.compact();
      await until(at, (type) => type === "mode");
      at.say("go on");
      await Promise.all([running, compacting]);
    },
  },
  {
    name: "a result that is cut, and its end read by the model",
    agent: scene(
      () => [
        call("long", { text: "a" }),
        ({ messages }) => {
          const [, ref = ""] = /ref[^"\w]*["\s]*([\w.:/-]{6,})/.exec(textOf(messages.at(-1)!)) ?? [];
          return call("read_output", { ref_id: ref, offset: 390 });
        },
        ({ messages }) => say(textOf(messages.at(-1)!).includes("line 399") ? "read" : "not read"),
      ],
      () => [taking("long", () => lines)],
      { context: { cap: { bytes: 2_000 } } },
    ),
    play: async (session) => {
      const { text } = await session.send("go");
      match(text, /^read$/);
    },
  },
  {
    name: "old results that are trimmed when the window fills",
    agent: scene(
      () => (_, n) => (n < 12 ? call("long", { text: String(n) }) : say("done")),
      () => [taking("long", (text) => `${text} ${"word ".repeat(600)}`)],
      () => ({
        model: scripted((_, n) => (n < 12 ? call("long", { text: String(n) }) : say("done")), {
          facts: { contextWindow: 6_000 },
        }),
        context: { cap: null, compaction: null },
      }),
    ),
    play: go,
  },
  {
    name: "a history that does not fit, and cannot be made to",
    agent: scene(
      () => [],
      () => [],
      () => ({
        model: scripted([say("never")], { facts: { contextWindow: 1_000 } }),
        context: { compaction: null, trim: null },
      }),
    ),
    play: async (session) => void (await session.send("word ".repeat(4_000))),
  },
];
