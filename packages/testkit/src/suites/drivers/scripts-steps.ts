// The room of scripts about single steps: who is asked, with what, under which settings, and what is made of the answer.

import { continueBy, continueWithThinking, maxSteps, terminateWithOutput, toolResult } from "@rondo/core";
import { call, calls, cut, empty, fail, say, stop, think, usage } from "../../scripted/turns.ts";
import { scripted } from "../../scripted.ts";
import { type DriverScript, echo, go, scene, taking, waitingForAbort, write } from "./scenes.ts";

export const stepScripts: readonly DriverScript[] = [
  {
    name: "a hook that gives a step another model, other tools and settings, and stops at last",
    agent: () => {
      const other = scripted([call("echo", { text: "b" })], { id: "other" });
      return scene(
        () => [call("echo", { text: "a" }), say("never")],
        () => [echo, write],
        {
          models: [other],
          hooks: {
            prepareStep: ({ step }) =>
              step === 1
                ? { tools: ["echo"], settings: { temperature: 0.5 }, toolChoice: "any" }
                : step === 2
                  ? { model: other }
                  : { stop: "that is enough", text: "as far as it came" },
          },
        },
      )();
    },
    play: go,
  },
  {
    name: "a hook that gives other messages for a step",
    agent: scene(
      () => [call("echo", { text: "a" }), say("one")],
      () => [echo],
      {
        hooks: {
          transformContext: (messages) => [
            ...messages,
            { role: "user", content: [{ type: "text", text: "(mind the gap)" }] },
          ],
        },
      },
    ),
    play: go,
  },
  {
    name: "a hook that gives a result in place of a tool, and one that allows, denies and asks",
    agent: scene(
      () => [
        calls([
          ["write", { text: "a" }],
          ["write", { text: "b" }],
          ["echo", { text: "c" }],
          ["write", { text: "d" }],
        ]),
        say("done"),
      ],
      () => [echo, write],
      {
        hooks: {
          permission: ({ args: { text } }) =>
            text === "a"
              ? "allow"
              : text === "b"
                ? { answer: "deny", reason: "not b" }
                : text === "d"
                  ? "ask"
                  : "allow",
          beforeTool: ({ name }) => (name === "echo" ? { result: "from the hook" } : undefined),
        },
      },
    ),
    play: async (session) => {
      await session.send("go");
      await session.approve((await session.pending())[0]?.id ?? "");
    },
  },
  {
    name: "an answer that is cut off, an empty one, a paused one, and one with thoughts",
    agent: scene(
      () => [[call("echo", { text: "a" }), stop("max_tokens")], empty(), [think("let me see"), say("done")]],
      () => [echo],
    ),
    play: go,
  },
  {
    name: "a connection that breaks in the midst of an answer",
    agent: scene(() => [[say("I was about"), cut()], say("done")]),
    play: go,
  },
  {
    name: "a fall-back after attempts at the first model, and the first again in the next run",
    agent: scene(
      () => [fail("overloaded"), fail("overloaded"), say("the first")],
      () => [echo],
      () => ({
        retry: { attempts: 2, baseMs: 30 },
        fallback: [scripted([call("echo", { text: "x" }), say("from the other")], { id: "other" })],
      }),
    ),
    play: async (session) => {
      await session.send("go");
      await session.send("on");
    },
  },
  {
    name: "a budget of tokens that ends a run",
    agent: scene(
      () => (_, n) => [call("echo", { text: String(n) }), usage({ inputTokens: 400, outputTokens: 100 })],
      () => [echo],
      { budget: { tokens: 1_200 } },
    ),
    play: go,
  },
  {
    name: "a budget of the session: a run within it, one that lands, one that calls no model",
    agent: scene(
      () => (_, n) => [
        n === 1 ? say("hello") : call("echo", { text: String(n) }),
        usage({ inputTokens: 400, outputTokens: 100 }),
      ],
      () => [echo],
      { budget: { session: { tokens: 1_200 } } },
    ),
    play: async (session) => {
      for (const message of ["hi", "go", "on"]) await session.send(message);
    },
  },
  {
    name: "a landing whose answer is not stored, and the turn behind it",
    agent: scene(
      () => (_, n) => (n < 3 ? call("echo", { text: String(n) }) : say("as far as I came")),
      () => [echo],
      { rules: [maxSteps(2)], landing: { tools: "omitted", store: false } },
    ),
    play: async (session) => {
      await session.send("go");
      await session.send("on");
    },
  },
  {
    name: "a limit that stops a run at once",
    agent: scene(
      () => (_, n) => call("echo", { text: String(n) }),
      () => [echo],
      { maxSteps: 2, onLimit: "stop" },
    ),
    play: go,
  },
  {
    name: "a typed output beside tools, asked for once more, by a tool",
    agent: scene(
      () => [call("echo", { text: "a" }), say('{"n": 1}'), say('{"n": 2}'), say('{"n": 3}')],
      () => [echo],
      {
        output: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
        outputWay: "prompted",
      },
    ),
    play: go,
  },
  {
    name: "an output that never fits",
    agent: scene(
      () => () => say("no JSON"),
      () => [],
      {
        output: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
        decodeRetries: 1,
      },
    ),
    play: go,
  },
  {
    name: "calls that are returned and not run",
    agent: scene(
      () => [call("echo", { text: "a" })],
      () => [echo],
      { autoExecuteTools: false },
    ),
    play: go,
  },
  {
    name: "a policy of one's own that wants more",
    agent: scene(
      () => [say("one"), say("two")],
      () => [],
      {
        continueRule: continueBy("twice", ({ text }) =>
          text === "one" ? continueWithThinking : terminateWithOutput(text),
        ),
      },
    ),
    play: go,
  },
  {
    name: "a result with parts, details and a ledger",
    agent: scene(
      () => [call("rich", { text: "a" }), say("done")],
      () => [
        taking("rich", (text) =>
          toolResult(
            [
              { type: "text", text },
              { type: "json", json: { n: 1 } },
            ],
            { details: { n: 1 } },
          ),
        ),
      ],
    ),
    play: go,
  },
  {
    name: "a tool that throws words that only watchers may read",
    agent: scene(
      () => [call("broken", { text: "a" }), say("done")],
      () => [
        taking("broken", () => {
          throw new Error("host db-7 refused");
        }),
      ],
      { toolErrors: "masked" },
    ),
    play: go,
  },
  {
    name: "a deadline that comes while a tool works",
    agent: scene(
      () => [call("wait", { text: "a" }), say("as far as I came")],
      (at) => [waitingForAbort(at)],
      { budget: { ms: 300 } },
    ),
    play: go,
  },
  {
    name: "secrets in a task, an answer, arguments, a result and an error",
    agent: scene(
      () => [
        [say("it is hunter22. "), call("echo", { text: "hunter22" })],
        call("broken", { text: "a" }),
        say("done hunter22"),
      ],
      () => [
        echo,
        taking("broken", () => {
          throw new Error("hunter22 refused");
        }),
      ],
      { redact: { secrets: ["hunter22"] } },
    ),
    play: async (session) => void (await session.send("the password is hunter22")),
  },
];
