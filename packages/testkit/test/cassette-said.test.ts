// What people said and did while nothing of a cassette was being played: a call waited for somebody, a hook was asked, a retry waited.

import {
  Agent,
  type AgentOptions,
  memoryJournal,
  type Session,
  subAgent,
  type Tool,
  tool,
} from "@rondo/core";
import { call, fail, hold, replayTest, type Script, say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";

const press = (options: Partial<Parameters<typeof tool>[0]> = {}): Tool =>
  tool({
    name: "press",
    description: "Presses a button",
    inputSchema: { type: "object" },
    permission: "ask",
    execute: () => "pressed",
    ...options,
  });

const summary = "<summary>All that came before is summed up here, word for word.</summary>";
const long = "x ".repeat(4_000);

/** Resolves when the session has come to so many records of a kind. */
async function reached(session: Session, type: string, times = 1): Promise<void> {
  let seen = 0;
  for await (const record of session.follow()) if (record.type === type && ++seen === times) return;
}

interface Story {
  script: Script;
  options?: Partial<AgentOptions>;
  conduct(session: Session): Promise<unknown>;
}

/** A hook that answers when the test lets it, and at once when it is played. */
function slowly<Answer>(answer: Answer): { hook: () => Answer | Promise<Answer>; release(): void } {
  let recording = true;
  const { promise, resolve } = Promise.withResolvers<Answer>();
  return {
    hook: () => (recording ? promise : answer),
    release: () => {
      recording = false;
      resolve(answer);
    },
  };
}

const permission = slowly<"allow">("allow");
const finish = slowly<undefined>(undefined);
const plan = slowly<undefined>(undefined);
const answered = hold();

const stories: [string, Story][] = [
  [
    "an abort of a call that waited, and another run",
    {
      script: [call("press"), say("Well then.")],
      async conduct(session) {
        await session.send("go");
        session.abort("never mind");
        await session.settled();
        await session.send("and now?");
      },
    },
  ],
  [
    "an abort of a call that waited, as the last thing",
    {
      script: [call("press")],
      async conduct(session) {
        await session.send("go");
        session.abort("never mind");
        await session.settled();
      },
    },
  ],
  [
    "leave for a call that waited already",
    {
      script: [call("press"), say("Done.")],
      async conduct(session) {
        await session.send("go");
        await session.allow({ tool: "press" });
        await session.resume();
      },
    },
  ],
  [
    "a word for which a call that waited was skipped",
    {
      script: [call("press"), say("I leave it.")],
      options: { toolOrder: "sequential" },
      async conduct(session) {
        await session.send("go");
        session.steer("leave it");
        await session.settled();
        await session.resume();
      },
    },
  ],
  [
    "an abort while a retry waited",
    {
      script: [fail("overloaded"), say("Well then.")],
      options: { retry: { baseMs: 60_000, capMs: 60_000 } },
      async conduct(session) {
        const running = session.send("go");
        await reached(session, "turn_judged");
        session.abort("never mind");
        await running;
        await session.send("and now?");
      },
    },
  ],
  [
    "an abort while a hook was asked for a permission",
    {
      script: [call("press"), say("Well then.")],
      options: { hooks: { permission: permission.hook } },
      async conduct(session) {
        const running = session.send("go");
        await reached(session, "turn_judged");
        session.abort("never mind");
        permission.release();
        await running;
        await session.send("and now?");
      },
    },
  ],
  [
    "a word while a hook planned the step",
    {
      script: [say("Briefly.")],
      options: { hooks: { prepareStep: plan.hook } },
      async conduct(session) {
        const running = session.send("go");
        await reached(session, "run_started");
        session.steer("be brief");
        await reached(session, "queued");
        plan.release();
        await running;
      },
    },
  ],
  [
    "more work while a hook was asked whether that was all",
    {
      script: [say("One."), say("Two.")],
      options: { hooks: { onFinish: finish.hook } },
      async conduct(session) {
        const running = session.send("go");
        await reached(session, "turn_judged");
        session.followUp("and two?");
        await reached(session, "queued");
        finish.release();
        await running;
      },
    },
  ],
  [
    "a compaction that was asked for while the model was at work, and one while a call waited",
    {
      script: [say(long), [answered, call("press")], say(summary), call("press"), say("Done.")],
      options: { context: { window: 100_000 } },
      async conduct(session) {
        await session.send(long);
        const running = session.send("go");
        await reached(session, "model_started", 2);
        const compacted = session.compact();
        answered.release();
        await Promise.all([running, compacted]);
        await session.approve(session.pending[0]?.id ?? "");
        await session.compact();
        const { text } = await session.approve(session.pending[0]?.id ?? "");
        expect(text).toBe("Done.");
      },
    },
  ],
  [
    "an abort while a sub-agent waited for somebody",
    {
      script: [call("helper", { task: "press it" }), say("Well then.")],
      options: {
        tools: [
          subAgent({
            name: "helper",
            description: "Presses",
            agent: new Agent({ model: scripted([call("press")]), tools: [press()] }),
          }),
        ],
      },
      async conduct(session) {
        await session.send("go");
        session.abort("never mind");
        await session.settled();
        await session.send("and now?");
      },
    },
  ],
];

test.each(stories)("a cassette plays %s", async (_what, { script, options, conduct }) => {
  const all: AgentOptions = { model: scripted(script), tools: [press()], ...options };
  const journal = memoryJournal();
  const session = await new Agent({ ...all, journal }).open("s");
  await conduct(session);
  await session.settled();
  const { messages, end } = await replayTest(all, journal.read("s"));
  expect([messages, end]).toEqual([session.messages, session.result?.end]);
});
