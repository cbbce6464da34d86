// Ids that no journal could keep: refused where they are first told, in the same words whoever keeps the records.

import { Agent, type Journal, memoryJournal } from "@rondo/core";
import { say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";

const agent = (journal: Journal = memoryJournal()): Agent =>
  new Agent({ model: scripted([say("a")], { repeatLast: true }), journal });

describe.each([[""], ["a\0b"], ["half \ud83d"], [undefined], [null], [5]])("the session id %j", (given) => {
  const id = given as string;
  const refused = { kind: "invalid_request", message: expect.stringContaining("cannot be a session id") };

  test("opens no session, even if the journal would accept it", async () => {
    const { append, list } = memoryJournal();
    const easy: Journal = { append, list, read: () => [] };
    await expect(agent(easy).open(id)).rejects.toMatchObject(refused);
    expect(list()).toEqual([]);
  });

  test("is refused for a fork, for its source, and for following", async () => {
    const session = await agent().open("s");
    await session.send("go");
    await expect(session.fork(id)).rejects.toMatchObject(refused);
    await expect(agent().fork(id, "other")).rejects.toMatchObject(refused);
    expect(() => agent().follow(id)).toThrow(expect.objectContaining(refused));
  });
});

test("a session's id may be long, and contain slashes, spaces and characters of any script", async () => {
  for (const id of ["a/b", "../a", " ", "日本語", "x".repeat(5_000)]) {
    const session = await agent().open(id);
    expect([(await session.send("go")).session, session.status]).toEqual([id, "idle"]);
  }
});
