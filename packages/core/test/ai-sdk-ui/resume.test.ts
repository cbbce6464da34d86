// A page of the AI SDK that is loaded again during a run, or loses its connection, goes on watching.

import { type Json, type RunResult, toolResult, waitForAnswer } from "@rondo/core";
import { call, hold, part, say, think } from "@rondo/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { deferred, echo } from "../support.ts";
import { closeServers, loadedAgain, Page, serve } from "./page.ts";

afterEach(closeServers);

/** What a page shows, without the ids of messages and thoughts. */
const shownBy = (page: Page): unknown =>
  page.messages.map(({ role, parts, metadata }) => ({
    role,
    parts: parts.map((part) => (part.type === "reasoning" ? { ...part, id: "" } : part)),
    metadata,
  }));

/** The last part that a page shows which is loaded at a moment, once it watches. */
const moments = {
  "before anything has come": "step-start",
  "in a thought": "reasoning: Hm, hm.",
  "in a text": "text: Let me look.",
  "in the arguments of a call": "tool-look input-streaming",
  "while a tool runs": "tool-look input-available",
  "in the last text": "text: It rains",
} as const;
type Moment = keyof typeof moments;
const names = Object.keys(moments) as Moment[];

/** A run of two steps that stops at each of the moments until it is let go on. */
function stopping() {
  const running = deferred();
  const finished = deferred();
  const look = echo("look", {
    execute: async (_, { update }) => {
      update("half");
      running.resolve();
      await finished.promise;
      return toolResult("rain", { details: { rain: true } });
    },
  });
  const held = [hold(), hold(), hold(), hold(), hold()] as const;
  const [first, thought, text, args, last] = held;
  const turns = [
    [
      first,
      think("Hm, hm.", { chunk: 3 }),
      thought,
      say("Let me look.", { chunk: 4 }),
      text,
      call("look", { city: "Oslo", days: 3 }, { chunk: 5 }),
      args,
    ],
    [say("It rains", { chunk: 3 }), last, say(" all day.")],
  ];
  const release = (): void => {
    for (const one of held) one.release();
    finished.resolve();
  };
  const reached = async (moment: Moment): Promise<void> => {
    const at = names.indexOf(moment);
    for (const one of held.slice(0, at)) if (one !== last) one.release();
    if (moment === "in the last text") finished.resolve();
    await (moment === "while a tool runs" ? running.promise : (held[at] ?? last).reached);
  };
  return { turns, tools: [look], release, reached };
}

const weather = (text = "How is the weather?") => ({ text });
const metadata = ({ usage }: RunResult): Json => ({ tokens: usage.inputTokens ?? 0 });

describe("a page that is loaded again during a run", () => {
  test.each(names)("%s shows in the end what one shows that never left", async (moment) => {
    const { turns, tools, release, reached } = stopping();
    const { api, session, watched } = await serve(turns, tools, { outlivesPage: true, metadata });
    const page = new Page(api);
    const sent = page.sendMessage(weather());
    await reached(moment);
    const again = await loadedAgain(api, await session());
    const resumed = again.resumeStream();
    await watched();
    await expect.poll(() => again.messages.at(-1)?.role).toBe("assistant");
    await expect.poll(() => again.shown.at(-1)).toBe(moments[moment]);
    release();
    await Promise.all([sent, resumed]);
    expect(again.error).toBeUndefined();
    expect(shownBy(again)).toEqual(shownBy(page));
    expect((await loadedAgain(api, await session())).shown).toEqual(again.shown);
  });

  test.each(names)(
    "%s, and asks only when it is over, shows the same if the server allows for that",
    async (moment) => {
      const { turns, tools, release, reached } = stopping();
      const { api, session, ends } = await serve(turns, tools, {
        outlivesPage: true,
        metadata,
        afterEnd: true,
      });
      const page = new Page(api);
      const sent = page.sendMessage(weather());
      await reached(moment);
      const again = await loadedAgain(api, await session());
      release();
      await sent;
      await again.resumeStream();
      expect(ends()).toEqual(["completed"]);
      expect(shownBy(again)).toEqual(shownBy(page));
    },
  );

  test.each(names)(
    "%s, as a new process resumes it, shows in the end what the session has",
    async (moment) => {
      const { turns, tools, release, reached } = stopping();
      const { api, session, forget } = await serve(
        [...turns.slice(0, 1), say("Hm."), say("Sun."), say("No.")],
        tools,
        { outlivesPage: true },
      );
      const page = new Page(api);
      const sent = page.sendMessage(weather());
      await reached(moment === "in the last text" ? "while a tool runs" : moment);
      const before = await session();
      await before.drain({ withinMs: 0 });
      forget();
      await sent;
      release();
      const again = await loadedAgain(api, await session());
      await again.resumeStream();
      expect(again.error).toBeUndefined();
      expect(again.shown).toEqual((await loadedAgain(api, await session())).shown);
      expect(again.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    },
  );

  test("is told that nothing is going on, or only waits for its user", async () => {
    const refund = echo("refund", { permission: "ask", effect: "write" });
    const { api, session } = await serve([say("Hello."), call("refund")], [refund], { outlivesPage: true });
    const page = new Page(api);
    for (const text of ["Hello!", "My money!"]) {
      await page.sendMessage({ text });
      const again = await loadedAgain(api, await session());
      const { messages } = again;
      await again.resumeStream();
      expect(again.messages).toEqual(messages);
      expect(again.status).toBe("ready");
    }
  });

  test("and asks only when calls wait for its user shows them as before, and what has failed", async () => {
    const [boom, ask] = [
      echo("boom", { execute: () => Promise.reject(new Error("no")) }),
      echo("ask", { effect: "write", execute: () => waitForAnswer("How many?") }),
    ];
    const refund = echo("refund", { permission: "ask", effect: "write" });
    const image = part({ type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" });
    const { api, session } = await serve(
      [call("boom"), [image, call("ask"), call("refund")]],
      [boom, ask, refund],
      { outlivesPage: true, afterEnd: true },
    );
    await new Page(api).sendMessage({ text: "My money!" });
    const again = await loadedAgain(api, await session());
    const before = structuredClone(again.messages);
    await again.resumeStream();
    expect(again.messages).toMatchObject(before);
    expect(again.shown.slice(-4)).toEqual([
      "file",
      "tool-ask input-available",
      "data-question",
      "tool-refund approval-requested",
    ]);
  });

  test("and after a message to the run shows what came after it once", async () => {
    const [one, two] = [hold(call("look")), hold()];
    const { api, session, watched } = await serve(
      [one, [say("And", { chunk: 2 }), two, say(" tomorrow as well.")]],
      [echo("look")],
      { outlivesPage: true },
    );
    const sent = new Page(api).sendMessage(weather());
    await one.reached;
    const live = await session();
    live.steer("And tomorrow?");
    one.release();
    await two.reached;
    const again = await loadedAgain(api, live);
    const resumed = again.resumeStream();
    await watched();
    two.release();
    await Promise.all([sent, resumed]);
    expect(again.messages).toMatchObject((await loadedAgain(api, live)).messages);
    expect(again.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  test("whose history is summed up before it asks shows what came after that in the same message", async () => {
    const [one, two] = [hold(call("look")), hold()];
    const { api, session, watched } = await serve(
      [say("Hello."), call("look"), one, say("They talked."), [say("Well", { chunk: 2 }), two, say(".")]],
      [echo("look")],
      {
        outlivesPage: true,
        context: { compaction: { keepTurns: 0, keepTask: false, minGain: null, minSummaryCharacters: 1 } },
      },
    );
    const page = new Page(api);
    await page.sendMessage({ text: "Hello!" });
    const sent = page.sendMessage(weather());
    await one.reached;
    const live = await session();
    const again = await loadedAgain(api, live);
    const shown = again.messages.map(({ id }) => id);
    void live.compact();
    one.release();
    await two.reached;
    expect(live.state.compacted?.helped).toBe(true);
    const resumed = again.resumeStream();
    await watched();
    two.release();
    await Promise.all([sent, resumed]);
    expect(again.messages.map(({ id }) => id)).toEqual(shown);
    expect(again.shown).toEqual((await loadedAgain(api, live)).shown);
    expect(again.shown.slice(-2)).toEqual(["text: Well", "text: ."]);
  });
});

test.each(names)("a page that loses its connection %s goes on in the same message", async (moment) => {
  const { turns, tools, release, reached } = stopping();
  const { api, session, lose, watched } = await serve(turns, tools, { outlivesPage: true, metadata });
  const page = new Page(api);
  const sent = page.sendMessage(weather());
  await reached(moment);
  await expect.poll(() => page.messages.length).toBe(2);
  lose();
  await sent;
  expect(page.error).toBeDefined();
  const resumed = page.resumeStream();
  await watched();
  release();
  await resumed;
  expect(page.error).toBeUndefined();
  expect(page.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  expect(page.shown).toEqual((await loadedAgain(api, await session())).shown);
});
