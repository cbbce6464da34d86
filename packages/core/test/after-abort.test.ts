// What is begun right after an abort: it waits until the run has ended, so that "stop" and a new message can be sent at once.

import { Agent, isPaired, type Journal, memoryJournal, type Session, textOf } from "@rondo/core";
import { call, say, scripted, stall } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo, quick } from "./support.ts";

/** A journal as a database behind a network is: each answer comes later. */
function slowly(inner: Journal): Journal {
  const later = async <T>(deed: () => T | Promise<T>): Promise<T> => {
    await new Promise((resolve) => setImmediate(resolve));
    return deed();
  };
  return {
    append: (...given) => later(() => inner.append(...given)),
    read: (...given) => later(() => inner.read(...given)),
    list: () => later(() => inner.list()),
  };
}

const journals: [string, () => Journal][] = [
  ["in memory", () => memoryJournal()],
  ["behind a network", () => slowly(memoryJournal())],
];

const saidIn = ({ messages }: Session): string[] => messages.map((one) => `${one.role}: ${textOf(one)}`);

describe.each(journals)("right after an abort, with a journal %s", (_where, journal) => {
  test("a message waits for the run to end, and is answered by the next", async () => {
    const stalled = stall({ afterText: "Hel" });
    const model = scripted([stalled, say("something else")]);
    const session = await new Agent({ model, journal: journal(), ...quick }).open("s");
    const first = session.send("go");
    await stalled.reached;
    session.abort("enough");
    const second = await session.send("do something else");
    expect((await first).end).toMatchObject({ reason: "aborted", evidence: { reason: "enough" } });
    expect([second.end?.reason, second.text]).toEqual(["completed", "something else"]);
    expect(saidIn(session)).toEqual([
      "user: go",
      "assistant: Hel",
      "user: do something else",
      "assistant: something else",
    ]);
  });

  test("of a parked run a message waits for its end as well", async () => {
    const model = scripted([call("press"), say("it was not pressed")]);
    const press = echo("press", { permission: "ask" });
    const session = await new Agent({ model, tools: [press], journal: journal(), ...quick }).open("s");
    expect((await session.send("press it")).parked?.pending).toHaveLength(1);
    session.abort();
    expect((await session.send("what now?")).text).toBe("it was not pressed");
    expect(isPaired(session.messages)).toBe(true);
  });

  test("the conversation can be continued or cleared at once", async () => {
    const [one, other] = [stall(), stall()];
    const model = scripted([one, say("as it was"), other]);
    const session = await new Agent({ model, journal: journal(), ...quick }).open("s");
    const first = session.send("go");
    await one.reached;
    session.abort();
    expect((await session.continue()).text).toBe("as it was");
    expect(saidIn(session)).toEqual(["user: go", "assistant: as it was"]);

    const second = session.send("go on");
    await other.reached;
    session.abort();
    await session.clear();
    expect(session.messages).toEqual([]);
    for (const { end } of await Promise.all([first, second])) expect(end?.reason).toBe("aborted");
  });

  test("the second of two messages finds the run of the first, and is refused", async () => {
    const stalled = stall();
    const model = scripted([stalled, say("the first")]);
    const session = await new Agent({ model, journal: journal(), ...quick }).open("s");
    const running = session.send("go");
    await stalled.reached;
    session.abort();
    const [one, other] = await Promise.allSettled([session.send("one"), session.send("other")]);
    expect(one).toMatchObject({ status: "fulfilled", value: { text: "the first" } });
    expect(other).toMatchObject({ status: "rejected", reason: { kind: "invalid_request" } });
    await running;
  });
});
