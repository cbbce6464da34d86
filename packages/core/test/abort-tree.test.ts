// An abort reaches a whole tree of sub-agents at once: nothing below starts after it, however long those above take to write.

import { Agent, type Journal, memoryJournal, subAgent, tool } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";
import { deferred } from "./support.ts";

test("the model of a sub-agent's sub-agent is not asked after an abort that those above have not written yet", async () => {
  const inner = memoryJournal();
  const writing = deferred();
  const held = deferred();
  let holds = false;
  const append: Journal["append"] = async (session, ...given) => {
    if (holds && session === "root") {
      writing.resolve();
      await held.promise;
    }
    inner.append(session, ...given);
  };
  const journal: Journal = { ...inner, append };
  const looking = deferred();
  const seen = deferred<string>();
  const look = tool({
    name: "look",
    description: "Looks.",
    inputSchema: { type: "object" },
    effect: "read",
    execute: (_args, { signal }) => {
      // One that looks at its signal is waited for after an abort.
      expect(signal.aborted).toBe(false);
      looking.resolve();
      return seen.promise;
    },
  });
  const deepest = scripted([call("look"), say("seen")]);
  const below = (name: string, agent: Agent) => subAgent({ name, description: "Helps.", agent });
  const leaf = below("leaf", new Agent({ model: deepest, tools: [look] }));
  const middle = below(
    "middle",
    new Agent({ model: scripted([call("leaf", { task: "look" }), say("done")]), tools: [leaf] }),
  );
  const root = new Agent({
    model: scripted([call("middle", { task: "look" }), say("done")]),
    tools: [middle],
    journal,
  });
  const session = await root.open("root");
  const running = session.send("go");
  await looking.promise;
  holds = true;
  session.steer("and quickly");
  await writing.promise;
  session.abort("enough");
  seen.resolve("all of it");
  const sessions = (): string[] =>
    inner
      .list()
      .map(({ id }) => id)
      .filter((id) => id !== "root");
  const ends = (): unknown[] =>
    sessions().flatMap((id) =>
      inner.read(id).flatMap((record) => (record.type === "run_ended" ? [record.end.reason] : [])),
    );
  await expect.poll(() => ends()).toEqual(["aborted", "aborted"]);
  expect(deepest.calls).toBe(1);
  held.resolve();
  expect((await running).end?.reason).toBe("aborted");
  for (const id of ["root", ...sessions()])
    expect(inner.read(id).filter(({ type }) => type === "abort_asked")).toHaveLength(1);
});
