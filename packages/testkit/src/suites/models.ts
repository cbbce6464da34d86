// The room of the model's conformance suite: what any model must do, whoever makes it.
//
// The suite says what is to be answered, in the words of the scripted model; the subject brings it about, by a server, a
// stub, or whatever stands behind it. Every check opens a model of its own.

import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { getEventListeners } from "node:events";
import { type AssistantMessage, callsOf, type ErrorKind, textOf, userText } from "@rondo/core";
import {
  badArgs,
  call,
  calls,
  cut,
  fail,
  say,
  stall,
  stop,
  type Turn,
  think,
  usage,
} from "../scripted/turns.ts";
import { type Check, checksOf, mustBe, type RegisterTest } from "./check.ts";
import {
  ask,
  commonLength,
  failure,
  frozen,
  longer,
  type ModelLack,
  type OpenModel,
  requestOf,
  type Stand,
  sameAsDeltas,
  within,
} from "./models/asking.ts";

export interface ModelUnderTest {
  /** Stands before the name of every check. */
  name: string;
  /** A model that will answer these turns, one a call, in this order. */
  open(script: readonly Turn[]): OpenModel | Promise<OpenModel>;
  /** Checks that need these are left out. Default: none. */
  lacks?: readonly ModelLack[];
  /** How long an abort may take to be heard, in milliseconds. Default: 5,000. */
  abortWithinMs?: number;
}

/**
 * What a model must do, check by check: stream what it answers, whole calls, typed errors, one attempt, an abort that is
 * heard, requests that hold everything and only grow.
 *
 *     testModel({ name: "mine", open: async (script) => {
 *       const wire = await rondoWire({ script });
 *       return { model: mine({ baseURL: wire.url }), sent: () => wire.requests.map(({ text }) => text), close: () => wire.close() };
 *     } }, test);
 *
 * @param test the runner's: registers the checks as well
 */
export function testModel(subject: ModelUnderTest, test?: RegisterTest): Check[] {
  const lacks = new Set(subject.lacks ?? []);
  const wanted = demands.filter(({ needs = [] }) => !needs.some((one) => lacks.has(one)));
  const checks = wanted.map(({ name, needs = [], script, body }): [string, () => Promise<void>] => [
    name,
    async () => {
      const open = await subject.open(script);
      try {
        await body({ ...open, lacks, abortWithinMs: subject.abortWithinMs ?? 5_000 });
      } catch (thrown) {
        // A model may have no form for what is asked here, and nothing but this says so.
        if (thrown instanceof Error && needs.length > 0)
          thrown.message += `\n(Left out where it has no form for this: lacks: ${JSON.stringify(needs)})`;
        throw thrown;
      } finally {
        await open.close?.();
      }
    },
  ]);
  return checksOf(subject.name, checks, test);
}

interface Demand {
  name: string;
  needs?: readonly ModelLack[];
  script: readonly Turn[];
  body(stand: Stand): Promise<void>;
}

const hello = "Hello, wörld. 漢字 😀 done";

/** What a provider may say of each failure: the first is the script's own word. */
const failures: readonly (readonly [kinds: readonly [ErrorKind, ...ErrorKind[]], retryable: boolean])[] = [
  [["rate_limit"], true],
  [["overloaded", "server_error"], true],
  [["auth", "permission"], false],
  [["invalid_request"], false],
  [["context_overflow"], false],
];

const demands: readonly Demand[] = [
  {
    name: "it says who it is",
    script: [],
    async body({ model }) {
      for (const [what, word] of Object.entries({ id: model.id, ...model.origin }))
        ok(typeof word === "string" && word !== "", `${what} is ${JSON.stringify(word)}: a word is needed`);
      for (const what of ["contextWindow", "maxOutputTokens", "maxInputTokens"] as const) {
        const number = model.facts?.[what];
        ok(number === undefined || number > 0, `facts.${what} is ${number}: leave out what is not known`);
      }
    },
  },
  {
    name: "a text comes whole, its deltas the same as the answer",
    needs: ["deltas"],
    script: [say(hello, { chunk: 3 })],
    async body(stand) {
      const heard = await ask(stand);
      const { answer, events } = heard;
      mustBe(answer.role, "assistant", "the answer's role");
      mustBe(textOf(answer), hello, "the answer's text");
      ok(
        events.some(({ type }) => type === "text_delta"),
        'nothing was emitted while the answer arrived: give each piece to io.emit, or name "deltas" in lacks',
      );
      sameAsDeltas(heard);
    },
  },
  {
    name: "an answer says where it came from and how it ended",
    script: [say("done"), [say("cut o"), stop("max_tokens")]],
    async body(stand) {
      const { answer } = await ask(stand);
      mustBe(answer.origin, stand.model.origin, "the answer's origin (the model's own)");
      mustBe(answer.stop.kind, "end_turn", "stop.kind of an answer that is over");
      mustBe((await ask(stand)).answer.stop.kind, "max_tokens", "stop.kind of an answer at the output limit");
    },
  },
  {
    name: "reasoning is a part of its own, and no text",
    needs: ["reasoning"],
    script: [[think("Let me see."), say("It is so.")]],
    async body(stand) {
      const heard = await ask(stand);
      const { content } = heard.answer;
      mustBe(
        content.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])),
        ["Let me see."],
        "the reasoning parts of the answer",
      );
      mustBe(textOf(heard.answer), "It is so.", "the answer's text, without its reasoning");
      sameAsDeltas(heard);
    },
  },
  {
    name: "a call has its name and its whole arguments",
    needs: ["tools"],
    script: [[say("Let me look."), call("weather", { city: "Oslo ☃", days: 3 })]],
    async body(stand) {
      const heard = await ask(stand);
      const [made, ...others] = callsOf(heard.answer);
      mustBe(others.length, 0, "the number of calls beside the first");
      ok(made !== undefined, "there is no call in the answer");
      mustBe(made.name, "weather", "the call's name");
      mustBe(made.args, { city: "Oslo ☃", days: 3 }, "the call's args");
      mustBe(made.argsError, undefined, "argsError of a call that arrived whole");
      mustBe(JSON.parse(made.rawArgs), made.args, "rawArgs, parsed");
      mustBe(heard.answer.stop.kind, "tool_use", "stop.kind of an answer with a call");
      mustBe(textOf(heard.answer), "Let me look.", "the text before the call");
      sameAsDeltas(heard);
    },
  },
  {
    name: "several calls keep their order, and the ids they have are their own",
    needs: ["tools", "several_calls"],
    script: [
      calls([
        ["weather", { city: "Oslo" }],
        ["weather", { city: "Oslo" }],
        ["search", { city: "Rome" }],
      ]),
    ],
    async body(stand) {
      const heard = await ask(stand);
      const made = callsOf(heard.answer);
      mustBe(
        made.map(({ name, args }) => [name, args]),
        [
          ["weather", { city: "Oslo" }],
          ["weather", { city: "Oslo" }],
          ["search", { city: "Rome" }],
        ],
        "the calls, by name and args",
      );
      // Where the provider gives none, the loop numbers them.
      const ids = made.map(({ id }) => id).filter((id) => id !== "");
      strictEqual(new Set(ids).size, ids.length, "two calls have the same id");
      sameAsDeltas(heard);
    },
  },
  {
    name: "arguments that are no JSON object are marked, and nothing is made of them",
    needs: ["tools", "raw_args"],
    script: [badArgs("weather", '{"city": "Os')],
    async body(stand) {
      const [made] = callsOf((await ask(stand)).answer);
      ok(made !== undefined, "the call is not in the answer");
      ok(
        (made.argsError ?? "") !== "",
        "argsError is not set: say in it what is wrong with the arguments, and leave args empty",
      );
      mustBe(made.args, {}, "args of a call that is marked");
      mustBe(made.rawArgs, '{"city": "Os', "rawArgs, as the provider wrote them");
    },
  },
  {
    name: "tokens are told as they were counted",
    needs: ["usage"],
    script: [[say("done"), usage({ inputTokens: 120, outputTokens: 34 })]],
    async body(stand) {
      const { usage: told } = (await ask(stand)).answer;
      mustBe([told?.inputTokens, told?.outputTokens], [120, 34], "inputTokens and outputTokens of usage");
    },
  },
  ...failures.map(([kinds, retryable]): Demand => {
    const [kind] = kinds;
    return {
      name: `a provider's ${kind} is an error of that kind`,
      script: [fail(kind, kind === "rate_limit" ? { retryAfterMs: 3_000 } : {})],
      async body(stand) {
        const error = await failure(ask(stand));
        ok(
          kinds.includes(error.kind),
          `its kind is ${error.kind} (${error.message}), not ${kinds.join(" or ")}`,
        );
        strictEqual(error.retryable, retryable, `retryable of ${error.kind}`);
        if (kind === "rate_limit")
          mustBe(error.retryAfterMs, 3_000, "retryAfterMs of the error, out of the provider's retry-after");
        ok(error.message !== "", "its message is empty");
      },
    };
  }),
  {
    name: "one call is one attempt: it never tries again by itself",
    script: [fail("overloaded"), say("after all")],
    async body(stand) {
      await failure(ask(stand));
      strictEqual(
        textOf((await ask(stand)).answer),
        "after all",
        "a second attempt was made for the first call",
      );
      if (stand.sent !== undefined) mustBe(stand.sent().length, 2, "the number of requests after two calls");
    },
  },
  {
    name: "an answer that breaks off is a failure, with what had arrived and none of its calls",
    script: [[say("half an ans"), cut()]],
    async body(stand) {
      const error = await failure(ask(stand));
      const broken: ErrorKind[] = ["stream_truncated", "stream_error", "network"];
      ok(
        broken.includes(error.kind),
        `its kind is ${error.kind} (${error.message}), not ${broken.join(" or ")}`,
      );
      if (stand.lacks.has("deltas")) return;
      mustBe(
        error.partial === undefined ? undefined : textOf(error.partial),
        "half an ans",
        "the text of error.partial, what had arrived",
      );
      mustBe(callsOf(error.partial as AssistantMessage).length, 0, "the number of calls in error.partial");
    },
  },
  {
    name: "an abort before the call is heard: nothing goes out",
    script: [say("too late")],
    async body(stand) {
      const controller = new AbortController();
      controller.abort(new Error("enough"));
      const error = await failure(ask(stand, undefined, controller.signal));
      mustBe(
        error.kind,
        "aborted",
        `the kind of the error (${error.message}) where the signal had fired before`,
      );
      if (stand.sent !== undefined) strictEqual(stand.sent().length, 0, "a request went out");
    },
  },
  {
    name: "an abort while the answer arrives is heard in time, with what had arrived",
    needs: ["deltas"],
    script: [stall({ afterText: "so far" })],
    async body(stand) {
      const controller = new AbortController();
      const { model, lacks, abortWithinMs } = stand;
      let emitted = 0;
      let abortedAt = 0;
      const asking = model.call(requestOf([userText("user-words")], lacks), {
        signal: controller.signal,
        emit: () => {
          emitted += 1;
          if (emitted === 1)
            setImmediate(() => {
              abortedAt = emitted;
              controller.abort(new Error("enough"));
            });
        },
      });
      const error = await failure(within(asking, abortWithinMs, "the abort was not heard"));
      mustBe(error.kind, "aborted", `the kind of the error (${error.message}) after an abort`);
      mustBe(
        error.partial === undefined ? undefined : textOf(error.partial),
        "so far",
        "the text of error.partial, what had arrived before the abort",
      );
      strictEqual(emitted, abortedAt, "something was emitted after the abort");
    },
  },
  {
    name: "it leaves no listener on a signal it was given",
    script: [say("one"), fail("invalid_request"), say("two")],
    async body(stand) {
      const { signal } = new AbortController();
      await ask(stand, undefined, signal);
      await failure(ask(stand, undefined, signal));
      await ask(stand, undefined, signal);
      mustBe(
        getEventListeners(signal, "abort").length,
        0,
        "the number of listeners left on the signal (where fetch leaves one, give it a signal of your own and pass the abort on)",
      );
    },
  },
  {
    name: "it leaves the request as it was",
    script: [say("done")],
    async body(stand) {
      const { answer } = await ask(stand, frozen([userText("user-words")]));
      mustBe(textOf(answer), "done", "the answer's text");
    },
  },
  {
    name: "calls at the same time do not mix",
    script: [say("first answer", { chunk: 1 }), say("other words", { chunk: 1 })],
    async body(stand) {
      const heard = await Promise.all([ask(stand, [userText("a")]), ask(stand, [userText("b")])]);
      mustBe(
        heard.map(({ answer }) => textOf(answer)).sort(),
        ["first answer", "other words"],
        "the two answers",
      );
      if (!stand.lacks.has("deltas")) heard.forEach(sameAsDeltas);
    },
  },
  {
    name: "all of a conversation goes out: system, tools, messages, calls and results, in order",
    script: [call("weather", { city: "args-words" }), say("done")],
    needs: ["tools"],
    async body(stand) {
      const { answer } = await ask(stand);
      await ask(stand, longer(answer));
      const body = stand.sent?.()[1];
      if (body === undefined) return;
      for (const words of ["system-words", "The tool weather", "The tool search"])
        match(body, new RegExp(words), `the request does not hold ${words}`);
      const places = ["user-words", "args-words", "result-words"].map((words) => body.indexOf(words));
      ok(!places.includes(-1), `the request does not hold all of its messages: ${body}`);
      deepStrictEqual(
        places,
        [...places].sort((one, other) => one - other),
        "the messages are not in order",
      );
    },
  },
  {
    name: "the same request is the same bytes",
    script: [say("one"), say("two")],
    async body(stand) {
      await ask(stand);
      await ask(stand);
      const [one, other] = stand.sent?.() ?? [];
      mustBe(one, other, "the second request");
    },
  },
  {
    name: "a request that grew keeps its front, byte for byte",
    script: [call("weather", { city: "Oslo" }), say("done")],
    needs: ["tools"],
    async body(stand) {
      const { answer } = await ask(stand);
      await ask(stand, longer(answer));
      const [before, after] = stand.sent?.() ?? [];
      if (before === undefined || after === undefined) return;
      const same = commonLength(before, after);
      const last = before.lastIndexOf("user-words") + "user-words".length;
      ok(
        same >= last,
        `the two part at ${same}: ${before.slice(same - 30, same + 30)} | ${after.slice(same - 30, same + 30)}`,
      );
    },
  },
];
