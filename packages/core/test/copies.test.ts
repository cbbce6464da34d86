// Two copies of the package in one program: what one makes, the other knows.

import { Agent, DoneSignal, RondoError, Session, TaskComplete, ToolResult } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { StepSequenceError } from "../src/presets/step-sequence/errors.ts";

type Core = typeof import("@rondo/core");

describe("another copy of the package", () => {
  let other: Core;
  beforeAll(async () => {
    vi.resetModules();
    other = await import("@rondo/core");
  });

  const resultOf = async (execute: () => unknown) => {
    const act = other.tool({ name: "act", description: "Acts", inputSchema: { type: "object" }, execute });
    return new Agent({ model: scripted([call("act"), say("on and on")]), tools: [act] }).run("act");
  };

  it("has classes of its own", () => {
    expect(other.RondoError).not.toBe(RondoError);
  });

  it("makes errors that are recognised by class, and nothing else is", () => {
    expect(new other.RondoError("auth", "no key")).toBeInstanceOf(RondoError);
    expect(new RondoError("auth", "no key")).toBeInstanceOf(other.RondoError);
    expect(new Error("no key")).not.toBeInstanceOf(RondoError);
    expect(new RondoError("auth", "no key")).not.toBeInstanceOf(StepSequenceError);
    expect(Object.keys(new RondoError("auth", "no key"))).toEqual(
      Object.keys(new other.RondoError("auth", "no key")),
    );
  });

  it("makes agents, sessions and results that are recognised by class", async () => {
    const agent = new other.Agent({ model: scripted([say("hello")]) });
    expect(agent).toBeInstanceOf(Agent);
    expect(await agent.open("one")).toBeInstanceOf(Session);
    expect(other.toolResult("text")).toBeInstanceOf(ToolResult);
  });

  it("throws failures that are retried like those of the first copy", async () => {
    let asked = 0;
    const inner = scripted([say("there")]);
    const model = {
      id: inner.id,
      origin: inner.origin,
      call: (...given: Parameters<typeof inner.call>) =>
        asked++ === 0 ? Promise.reject(new other.RondoError("rate_limit", "slowly")) : inner.call(...given),
    };
    const { end, text } = await new Agent({ model, retry: { baseMs: 1 } }).run("hello");
    expect([end?.reason, text, asked]).toEqual(["completed", "there", 2]);
  });

  it("returns results that end a run", async () => {
    const ways = [
      () => other.toolResult("it is done", { done: "all done" }),
      () => new other.DoneSignal("all done"),
      () => {
        throw new other.TaskComplete("all done");
      },
    ];
    for (const way of ways) {
      const { end, text } = await resultOf(way);
      expect([end?.reason, text]).toEqual(["done_tool", "all done"]);
    }
    expect(new other.DoneSignal()).toBeInstanceOf(DoneSignal);
    expect(new other.TaskComplete()).toBeInstanceOf(TaskComplete);
  });

  it("makes sub-agents whose answers are read, and whose calls park the run", async () => {
    const asking = other.tool({
      name: "publish",
      description: "Publishes",
      inputSchema: { type: "object" },
      permission: "ask",
      execute: () => "published",
    });
    const agent = new other.Agent({ model: scripted([call("publish"), say("It is out.")]), tools: [asking] });
    const editor = other.subAgent({ name: "editor", description: "Edits", agent });
    const lead = new Agent({
      model: scripted([call("editor", { task: "do it" }), say("ok")]),
      tools: [editor],
    });
    const session = await lead.open("lead");
    const { parked } = await session.send("do it");
    expect(parked?.pending[0]?.name).toBe("publish");
    const { messages, text } = await session.approve(parked?.pending[0]?.id ?? "");
    expect([text, messages[2]?.content]).toEqual(["ok", [{ type: "text", text: "It is out." }]]);
  });
});
