// P5 for an abort that comes in the middle: while a call is about to start, or from a hook that is asked before it.

import { Agent, type CallView, type Message, type Session, textOf, tool } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";
import { z } from "zod";
import { deferred, echo, quick } from "./support.ts";

const twice = () => scripted([[call("first"), call("second")], say("never")]);

test("a call whose arguments are still being checked does not start any more", async () => {
  const started: string[] = [];
  const checking = deferred<void>();
  let starts = false;
  // Asked when the answer arrives, and again when the call starts.
  const inputSchema = z.object({}).refine(async () => {
    if (starts) {
      session.abort("enough");
      setImmediate(() => checking.resolve());
      await checking.promise;
    }
    return true;
  });
  const save = tool({
    name: "save",
    description: "Saves",
    inputSchema,
    execute: () => {
      started.push("save");
    },
  });
  const model = scripted([call("save"), say("never")]);
  const session = await new Agent({ model, tools: [save], abortGraceMs: 10_000 }).open("s");
  session.subscribe(({ type }) => {
    starts ||= type === "tool_start";
  });
  const { end, messages } = await session.send("go");
  expect([started, end?.reason]).toEqual([[], "aborted"]);
  expect(textOf(messages.at(-1) as Message)).toBe("save was not started: the run was cancelled");
});

test("a hook that aborts the run as it is asked about a call is not asked about the next", async () => {
  for (const hook of ["permission", "beforeTool"] as const) {
    const asked: string[] = [];
    let session: Session | undefined;
    const hooks = {
      [hook]: ({ name }: CallView) => {
        asked.push(name);
        session?.abort("enough");
        return undefined;
      },
    };
    session = await new Agent({
      model: twice(),
      tools: [echo("first"), echo("second")],
      hooks,
      ...quick,
    }).open("s");
    const { end } = await session.send("go");
    expect([asked, end?.reason]).toEqual([["first"], "aborted"]);
  }
});
