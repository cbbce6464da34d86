// The room of scripts with sub-agents.

import { strictEqual } from "node:assert/strict";
import { Agent, dependency, subAgent, type Tool, tool } from "@rondo/core";
import { call, say, usage } from "../../scripted/turns.ts";
import { scripted } from "../../scripted.ts";
import { abortedAtWork, asking, type DriverScript, echo, go, scene, waitingForAbort } from "./scenes.ts";

const shelf = dependency("shelf", () => "nothing");
const desk = dependency("desk", () => "nothing");

/** A tool that tells what it has of the outside. */
const outside = tool({
  name: "outside",
  description: "tells what stands there",
  inputSchema: { type: "object" },
  effect: "read",
  execute: async (_args, { resolve }) => `shelf: ${await resolve(shelf)}, desk: ${await resolve(desk)}`,
});

/** A sub-agent whose one call asks. @param said when it has its result */
const writing = (said: string): Tool =>
  subAgent({
    name: "assistant",
    description: "writes",
    agent: new Agent({
      model: scripted(({ messages }) =>
        messages.some(({ role }) => role === "tool") ? say(said) : call("send_mail", { text: "x" }),
      ),
      tools: [asking],
    }),
  });

export const subAgentScripts: readonly DriverScript[] = [
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
    name: "a sub-agent has of the outside what its own agent gives, and else what its parent's gives",
    agent: scene(
      () => [call("research", { task: "look" }), say("done")],
      () => [
        subAgent({
          name: "research",
          description: "looks something up",
          agent: new Agent({
            model: scripted((request) =>
              request.messages.some(({ role }) => role === "tool") ? say("seen") : call("outside"),
            ),
            tools: [outside],
            dependencies: [desk.as("a lamp")],
          }),
        }),
      ],
      { dependencies: [shelf.as("a book"), desk.as("a pen")] },
    ),
    play: go,
  },
  {
    name: "a sub-agent that waits for an approval",
    agent: scene(
      () => [call("assistant", { task: "write" }), say("done")],
      () => [writing("sent it")],
    ),
    play: async (session) => {
      const { parked } = await session.send("go");
      strictEqual(parked?.pending.length, 1);
      await session.approve(parked?.pending[0]?.id ?? "");
    },
  },
  {
    name: "a result that somebody brings to a sub-agent's call",
    agent: scene(
      () => [call("assistant", { task: "write" }), say("done")],
      () => [writing("it was sent")],
    ),
    play: async (session) => {
      const { parked } = await session.send("go");
      await session.answer(parked?.pending[0]?.id ?? "", "sent by hand");
    },
  },
  {
    name: "an abort while a sub-agent waits for an approval",
    agent: scene(
      () => [call("assistant", { task: "write" }), say("never")],
      () => [
        subAgent({
          name: "assistant",
          description: "writes",
          agent: new Agent({ model: scripted([call("send_mail", { text: "x" })]), tools: [asking] }),
        }),
      ],
    ),
    play: async (session) => {
      const { parked } = await session.send("go");
      strictEqual(parked?.pending.length, 1);
      await session.abort("never mind");
      await session.settled();
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
];
