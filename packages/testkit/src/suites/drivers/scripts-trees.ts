// The room of scripts with sub-agents of sub-agents, and of what they may spend, take and say.

import { Agent, subAgent, type Tool } from "@rondo/core";
import { call, calls, fail, say, usage } from "../../scripted/turns.ts";
import { scripted } from "../../scripted.ts";
import { asking, type DriverScript, echo, go, scene, taking, waitingForAbort } from "./scenes.ts";

const helping = (name: string, agent: Agent | (() => Agent), more: object = {}): Tool =>
  subAgent({ name, description: `helps: ${name}`, agent, ...more });

/** Calls a tool once, and says something. */
const once = (tool: string, args: Parameters<typeof call>[1], said: string) =>
  scripted(({ messages }) =>
    messages.some(({ role }) => role === "tool")
      ? [say(said), usage({ inputTokens: 5, outputTokens: 1 })]
      : [call(tool, args), usage({ inputTokens: 7, outputTokens: 2 })],
  );

/** Three deep; the innermost asks. */
const deep = (): Tool => {
  const inner = new Agent({ model: once("send_mail", { text: "x" }, "inner"), tools: [asking] });
  const middle = new Agent({
    model: once("inner", { task: "t" }, "middle"),
    tools: [helping("inner", inner)],
  });
  return helping("middle", middle);
};

const outer = scene(
  () => [call("middle", { task: "t" }), say("done")],
  () => [deep()],
);

export const treeScripts: readonly DriverScript[] = [
  {
    name: "a sub-agent of a sub-agent that waits for an approval",
    agent: outer,
    play: async (session) => {
      const { parked } = await session.send("go");
      await session.approve(parked?.pending[0]?.id ?? "");
    },
  },
  {
    name: "a sub-agent of a sub-agent whose call is denied, with other arguments, and ended for good",
    agent: outer,
    play: async (session) => {
      const { parked } = await session.send("go");
      await session.deny(parked?.pending[0]?.id ?? "", "no mail today");
    },
  },
  {
    name: "a sub-agent of a sub-agent whose call runs with other arguments",
    agent: outer,
    play: async (session) => {
      const { parked } = await session.send("go");
      await session.edit(parked?.pending[0]?.id ?? "", { text: "better" });
    },
  },
  {
    name: "a sub-agent of a sub-agent whose call is given arguments that do not fit",
    agent: outer,
    play: async (session) => {
      const { parked } = await session.send("go");
      await session.edit(parked?.pending[0]?.id ?? "", { other: [] });
    },
  },
  {
    name: "a sub-agent of a sub-agent whose call is denied for good",
    agent: outer,
    play: async (session) => {
      const { parked } = await session.send("go");
      await session.deny(parked?.pending[0]?.id ?? "", "never", { stop: true });
    },
  },
  {
    name: "an abort while a sub-agent of a sub-agent waits for an approval",
    agent: outer,
    play: async (session) => {
      await session.send("go");
      await session.abort("never mind");
      await session.settled();
      await session.send("on").catch(() => {});
    },
  },
  {
    name: "a sub-agent that fails, and one whose task cannot be made",
    agent: scene(
      () => [
        call("failing", { task: "t" }),
        call("taskless", { task: "t" }),
        call("failing", { other: 1 }),
        say("done"),
      ],
      () => [
        helping("failing", new Agent({ model: scripted(() => fail("auth")), retry: null })),
        helping("taskless", new Agent({ model: scripted([say("never")]) }), {
          task: () => {
            throw new Error("no task today");
          },
        }),
      ],
    ),
    play: go,
  },
  {
    name: "a sub-agent that takes too long",
    agent: scene(
      () => [call("slow", { task: "t" }), say("done")],
      (at) => [
        helping(
          "slow",
          new Agent({ model: once("wait", { text: "a" }, "late"), tools: [waitingForAbort(at)] }),
          {
            timeoutMs: 200,
          },
        ),
      ],
    ),
    play: go,
  },
  {
    name: "a sub-agent whose budget is spent, and one that lands",
    agent: scene(
      () => [call("busy", { task: "t" }), call("landing", { task: "t" }), say("done")],
      () => [
        helping(
          "busy",
          new Agent({
            model: scripted((_, n) => [
              call("echo", { text: String(n) }),
              usage({ inputTokens: 90, outputTokens: 10 }),
            ]),
            tools: [echo],
          }),
          { budget: { tokens: 250 } },
        ),
        helping(
          "landing",
          new Agent({
            model: scripted((_, n) => (n < 3 ? call("echo", { text: String(n) }) : say("as far as I came"))),
            tools: [echo],
            maxSteps: 2,
          }),
        ),
      ],
      { budget: { tokens: 100_000 } },
    ),
    play: go,
  },
  {
    name: "a sub-agent that is given to itself, as deep as it may",
    agent: () => {
      const agent: Agent = new Agent({
        model: scripted(({ messages }) =>
          messages.some(({ role }) => role === "tool") ? say("back") : call("again", { task: "deeper" }),
        ),
        tools: [helping("again", () => agent, { maxDepth: 2 })],
      });
      return { ...scene(() => [])(), agent };
    },
    play: go,
  },
  {
    name: "a sub-agent whose answer is larger than its parent takes",
    agent: scene(
      () => [call("wordy", { task: "t" }), say("done")],
      () => [helping("wordy", new Agent({ model: scripted([say("words and words ".repeat(2_000))]) }))],
      { context: { cap: { bytes: 2_000 } } },
    ),
    play: go,
  },
  {
    name: "a sub-agent with a typed output, in French",
    agent: scene(
      () => [call("typed", { task: "t" }), say("done")],
      () => [
        helping(
          "typed",
          new Agent({
            model: scripted([say('{"n": 1}')]),
            output: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
          }),
        ),
      ],
    ),
    play: go,
  },
  {
    name: "a sub-agent that nobody may start without asking, and its result made by a hook",
    agent: scene(
      () => [call("careful", { task: "t" }), say("done")],
      () => [helping("careful", new Agent({ model: scripted([say("ran")]) }), { permission: "ask" })],
      { hooks: { afterTool: (_, { isError }) => ({ content: "seen", isError }) } },
    ),
    play: async (session) => {
      await session.send("go");
      await session.approve((await session.pending())[0]?.id ?? "");
    },
  },
  {
    name: "a secret that a sub-agent says, which its parent keeps from its model",
    agent: scene(
      () => [call("loose", { task: "t" }), say("done")],
      () => [helping("loose", new Agent({ model: scripted([say("it is hunter22")]) }))],
      { redact: { secrets: ["hunter22"] } },
    ),
    play: go,
  },
  {
    name: "more sub-agents than a run may start",
    agent: scene(
      () => [calls([["one", { task: "a" }]]), calls([["one", { task: "b" }]]), say("done")],
      () => [helping("one", new Agent({ model: scripted([say("ran")], { repeatLast: true }) }))],
      { maxSubAgents: 1 },
    ),
    play: go,
  },
  {
    name: "two sub-agents at once, one of which waits",
    agent: scene(
      () => [
        calls([
          ["quick", { task: "a" }],
          ["asks", { task: "b" }],
        ]),
        say("done"),
      ],
      () => [
        helping("quick", new Agent({ model: scripted([say("ran")]) })),
        helping("asks", new Agent({ model: once("send_mail", { text: "x" }, "sent"), tools: [asking] })),
      ],
      { toolOrder: "sequential" },
    ),
    play: async (session) => {
      await session.send("go");
      await session.approve((await session.pending())[0]?.id ?? "");
    },
  },
  {
    name: "a sub-agent that is aborted by a tool's own failure beside it",
    agent: scene(
      () => [call("deaf", { task: "t" }), say("done")],
      () => [
        helping(
          "deaf",
          new Agent({
            model: once("silent", { text: "a" }, "never"),
            tools: [taking("silent", () => new Promise(() => {}), { timeoutMs: 50 })],
          }),
        ),
      ],
    ),
    play: go,
  },
];
