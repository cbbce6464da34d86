// The room of scripts in which nobody says anything: answers, tools, failures, limits, hooks, rules.

import { DoneSignal, type Rule } from "@rondo/core";
import { badArgs, call, calls, fail, refuse, say, usage } from "../../scripted/turns.ts";
import { scripted } from "../../scripted.ts";
import { type DriverScript, echo, go, scene, taking, until, write } from "./scenes.ts";

export const runScripts: readonly DriverScript[] = [
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
  withRule("a rule that throws", {
    decide(_memory, { run }) {
      if (run?.steps === 1) throw new Error("no such thing");
      return undefined;
    },
  }),
  withRule("a rule that throws at what happened", {
    fold(_memory, { type }) {
      if (type === "tool_finished") throw new Error("no such thing");
      return undefined;
    },
  }),
  {
    name: "the same call over and over",
    agent: scene(
      () => (_, n) => (n < 9 ? call("echo", { text: "same" }) : say("done")),
      () => [echo],
    ),
    play: go,
  },
  {
    name: "a history that is summed up when it fills its window",
    agent: scene(
      () => [],
      () => [taking("long", (text) => `${text} ${"word ".repeat(600)}`)],
      () => {
        let pages = 0;
        const model = scripted(
          ({ messages, tools }) => {
            if (tools.length === 0)
              return say("Many words were read, one page after the other; more are to be read.");
            const read = messages.filter(({ role }) => role === "tool").length;
            pages += 1;
            return pages < 8 ? call("long", { text: `${pages} ${read}` }) : say("all read");
          },
          { facts: { contextWindow: 4_000 } },
        );
        return { model, context: { trim: null, cap: null, compaction: {} } };
      },
    ),
    play: async (session) => void (await session.send("Read every page.")),
  },
];

/** A run in which a rule of the user's own has a word. */
function withRule(name: string, rule: Partial<Rule>): DriverScript {
  return {
    name,
    agent: scene(
      () => [call("echo", { text: "a" }), say("never")],
      () => [echo],
      { rules: [{ name: "broken", version: 1, ...rule }] },
    ),
    play: go,
  };
}
