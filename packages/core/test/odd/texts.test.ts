// Words of one's own that are none, for every text there is: the run ends, and says which text it was.

import {
  Agent,
  type AgentOptions,
  defaultTexts,
  isPaired,
  type Journal,
  memoryJournal,
  RondoError,
  type RunResult,
  type Session,
  subAgent,
  type Texts,
} from "@rondo/core";
import { badArgs, call, calls, empty, fail, type Script, say, scripted, stop } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo, quick } from "../support.ts";

const none = (): never => {
  throw new Error("no words");
};
const odd: [string, () => unknown, string][] = [
  ["throws", none, "no words"],
  ["gives a bigint", () => 7n, "a text is needed, not 7"],
  ["gives an object", () => ({ text: "so" }), "a text is needed, not an object"],
  ["gives null", () => null, "a text is needed, not null"],
  ["is asynchronous, and fails", () => Promise.reject(new Error("later")), "a text is needed, not a promise"],
];

interface Scene {
  script: Script;
  options?: Partial<AgentOptions>;
  /** Default: a run is sent. */
  play?: (session: Session) => Promise<RunResult>;
}

const boom = echo("boom", { execute: none });
const strict = echo("strict", {
  inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
});
const output = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
const look = call("look");
const under = (script: Script, more: Partial<AgentOptions> = {}): Partial<AgentOptions> => ({
  tools: [
    subAgent({
      name: "helper",
      description: "helps",
      agent: new Agent({ model: scripted(script), tools: [echo("look")], ...quick, ...more }),
    }),
  ],
});

/** How each of them comes to be needed. */
const scenes: {
  readonly [name in Exclude<keyof Texts, "notExecuted" | "aborted" | "outcomeUnknown">]: Scene;
} = {
  unknownTool: { script: [call("nowhere"), say("end")] },
  invalidArgs: { script: [call("strict"), say("end")] },
  badJson: { script: [badArgs("look", "{n:"), say("end")] },
  threw: { script: [call("boom"), say("end")] },
  masked: { script: [call("boom"), say("end")], options: { toolErrors: "masked" } },
  notAllowed: { script: [look, say("end")], options: { toolChoice: "none" } },
  truncatedCall: { script: [[look, stop("max_tokens")], say("end")] },
  tooManyCalls: { script: [calls([["look"], ["look"]]), say("end")], options: { maxCallsPerTurn: 1 } },
  denied: { script: [look, say("end")], options: { hooks: { permission: () => "deny" } } },
  permissionFailed: { script: [look, say("end")], options: { hooks: { permission: none } } },
  skippedForMessage: {
    script: [calls([["look"], ["look"]]), say("end")],
    options: { toolOrder: "sequential" },
    play: (session) => {
      session.subscribe(({ type }) => {
        if (type === "tool_start") session.steer("wait", "w");
      });
      return session.send("go");
    },
  },
  skippedForEnd: {
    script: [calls([["press"], ["press", { again: true }]]), say("end")],
    options: { tools: [echo("press", { permission: "ask" })] },
    play: async (session) => {
      await session.send("go");
      // Whoever stops the turn leaves the other call without a start.
      return session.deny(session.pending[0]?.id ?? "", "no", { stop: true });
    },
  },
  timeout: {
    script: [call("slow"), say("end")],
    options: { tools: [echo("slow", { timeoutMs: 1, execute: () => new Promise(() => {}) })] },
  },
  limitRefusal: { script: [look, look, say("end")], options: { maxSteps: 1, onLimit: "refuse_tools" } },
  childLanded: {
    script: [call("helper", { task: "t" }), say("end")],
    options: under(({ messages }) => (messages.some(({ role }) => role === "tool") ? say("so") : look), {
      maxSteps: 1,
    }),
  },
  childFailed: { script: [call("helper", { task: "t" }), say("end")], options: under(() => fail("auth")) },
  landing: { script: [look, say("end")], options: { maxSteps: 1 } },
  landed: { script: [look, say("end")], options: { maxSteps: 1 } },
  emptyAnswer: { script: [empty(), say("end")] },
  degenerateAnswer: {
    script: [[say("All work and no play. ".repeat(100)), stop("max_tokens")], say("end")],
  },
  malformedCall: { script: [stop("malformed_call"), stop("malformed_call"), say("end")] },
  finalOutput: { script: [look, say('{"n":1}')], options: { output } },
  compacted: { script: [say("end")], play: (session) => session.compact() },
  outputSchema: { script: [say('{"n":1}')], options: { output, outputWay: "prompted" } },
};

function agentWith(texts: Partial<Texts>, { script, options }: Scene, journal: Journal): Agent {
  return new Agent({
    model: scripted(script, { repeatLast: true }),
    tools: [echo("look"), boom, strict],
    ...quick,
    ...options,
    journal,
    texts,
  });
}

test("every text function has a scene here", () => {
  const played = [...Object.keys(scenes), "notExecuted", "aborted", "outcomeUnknown"];
  expect(Object.keys(defaultTexts).filter((name) => !played.includes(name))).toEqual([]);
});

describe.each(Object.entries(scenes))("the text %s", (name, scene) => {
  test.each(odd)("that %s ends the run and is named", async (_how, text, why) => {
    const journal = memoryJournal();
    const session = await agentWith({ [name]: text }, scene, journal).open("s");
    const { end } = await (scene.play?.(session) ?? session.send("go"));
    expect(end).toMatchObject({
      reason: "error",
      rule: "texts",
      error: { kind: "internal", message: expect.stringContaining(`the text ${name} failed: ${why}`) },
    });
    expect([session.status, isPaired(session.messages)]).toEqual(["idle", true]);
    expect(journal.read("s").filter((record) => record.type === "run_ended")).toHaveLength(1);
  });

  test("that is a string is used", async () => {
    const journal = memoryJournal();
    const session = await agentWith({ [name]: () => "our words" }, scene, journal).open("s");
    const { end } = await (scene.play?.(session) ?? session.send("go"));
    expect(end?.error).toBeUndefined();
  });
});

describe("texts that fail while a run is closed are replaced by ours", () => {
  const texts = Object.fromEntries(Object.keys(defaultTexts).map((name) => [name, none])) as Partial<Texts>;

  test("if it is aborted before a call has run, and while one runs", async () => {
    const never = echo("look", { execute: () => new Promise(() => {}) });
    for (const tools of [[echo("look", { permission: "ask" })], [never]]) {
      const journal = memoryJournal();
      const session = await agentWith(texts, { script: [look], options: { tools } }, journal).open("s");
      session.subscribe(({ type }) => {
        if (type === "tool_start" || type === "approval_request") session.abort("enough");
      });
      const { end, messages } = await session.send("go");
      expect(end).toMatchObject({ reason: "aborted", evidence: { reason: "enough" } });
      expect(isPaired(messages)).toBe(true);
    }
  });

  test("if the abort came between the intent of a call and its start", async () => {
    const journal = memoryJournal();
    let session: Session | undefined;
    const slow: Journal = {
      ...journal,
      append: async (...group) => {
        journal.append(...group);
        if (group[2].some(({ type }) => type === "tool_started")) session?.abort("enough");
      },
    };
    const pay = echo("look", { effect: "write" });
    session = await agentWith(texts, { script: [look], options: { tools: [pay] } }, slow).open("s");
    expect((await session.send("go")).end?.reason).toBe("aborted");
  });

  test("if a crash interrupted a write", async () => {
    const journal = memoryJournal();
    const never = echo("look", { effect: "write", execute: () => new Promise(() => {}) });
    const first = await agentWith({}, { script: [look], options: { tools: [never] } }, journal).open("s");
    const started = new Promise<void>((resolve) => {
      first.subscribe(({ type }) => type === "tool_start" && resolve());
    });
    void first.send("go").catch(() => {});
    await started;
    const options = { tools: [never] };
    const second = await agentWith({ outcomeUnknown: none }, { script: [look], options }, journal).open("s");
    const { end, messages } = await second.resume();
    expect(end?.error?.message).toBe("the text outcomeUnknown failed: no words");
    expect(isPaired(messages)).toBe(true);
  });
});

test("a text that is not given is ours, also if it has the name of an inherited member", async () => {
  const journal = memoryJournal();
  const session = await agentWith({ denied: undefined } as never, scenes.denied, journal).open("s");
  expect((await session.send("go")).end?.reason).toBe("completed");
});

test("the failure is a RondoError for a caller who asks for the texts without a run", async () => {
  const journal = memoryJournal();
  const session = await agentWith({ landing: none }, scenes.landing, journal).open("s");
  await session.send("go");
  await expect(session.replay()).resolves.toBeDefined();
  expect(() =>
    agentWith({ landing: none }, scenes.landing, journal).parts.resolved.rules.texts.landing("x"),
  ).toThrow(RondoError);
});
