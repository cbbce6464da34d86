// The room of what breaks a model's answer: failures, streams that break off, aborts.

import { ok, strictEqual } from "node:assert/strict";
import { getEventListeners } from "node:events";
import { callsOf, type ErrorKind, type RondoError, textOf, userText } from "@rondo/core";
import { call, cut, fail, say, stall } from "../../scripted/turns.ts";
import { mustBe } from "../check.ts";
import { ask, type Demand, failure, requestOf, type Stand, within } from "./asking.ts";

/** What a provider may say of each failure: the first is the script's own word. */
const failures: readonly (readonly [kinds: readonly [ErrorKind, ...ErrorKind[]], retryable: boolean])[] = [
  [["rate_limit"], true],
  [["overloaded", "server_error"], true],
  [["auth", "permission"], false],
  [["invalid_request"], false],
  [["context_overflow"], false],
];

const unheard = (ms: number): string => `the abort was not heard: ${ms} ms later the call had not settled`;

/** What a call rejects with whose stream ends before its time. */
async function brokenOff(stand: Stand): Promise<RondoError> {
  const error = await failure(ask(stand));
  const kinds: ErrorKind[] = ["stream_truncated", "stream_error", "network"];
  ok(kinds.includes(error.kind), `its kind is ${error.kind} (${error.message}), not ${kinds.join(" or ")}`);
  return error;
}

export const breaking: readonly Demand[] = [
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
      if (stand.open.sent !== undefined)
        mustBe(stand.open.sent().length, 2, "the number of requests after two calls");
    },
  },
  {
    name: "an answer that breaks off is a failure, with what had arrived",
    script: [[say("half an ans"), cut()]],
    async body(stand) {
      const { partial } = await brokenOff(stand);
      if (stand.lacks.has("deltas")) return;
      mustBe(
        partial === undefined ? undefined : textOf(partial),
        "half an ans",
        'the text of error.partial, what had arrived (not asked for where "deltas" is in lacks)',
      );
    },
  },
  {
    name: "of an answer that breaks off no call is told, not even one that looks whole",
    needs: ["tools"],
    script: [[say("half an ans"), call("weather", { city: "Oslo" }), cut()]],
    async body(stand) {
      const { partial } = await brokenOff(stand);
      mustBe(partial === undefined ? [] : callsOf(partial), [], "the calls in error.partial");
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
      if (stand.open.sent !== undefined) strictEqual(stand.open.sent().length, 0, "a request went out");
    },
  },
  {
    name: "an abort while nothing has come yet is heard in time",
    script: [stall()],
    async body(stand) {
      const controller = new AbortController();
      const { model, lacks, abortWithinMs } = stand;
      const asking = model.call(requestOf([userText("user-words")], lacks), {
        signal: controller.signal,
        emit: () => {},
      });
      const failed = within(failure(asking), abortWithinMs, () => unheard(abortWithinMs));
      failed.catch(() => {});
      // It is to be under way: what is looked at only once is looked at by then.
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      controller.abort(new Error("enough"));
      const error = await failed;
      mustBe(error.kind, "aborted", `the kind of the error (${error.message}) after an abort`);
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
      const error = await within(failure(asking), abortWithinMs, () =>
        emitted === 0
          ? `nothing was emitted in ${abortWithinMs} ms while the answer arrived: give each piece to io.emit as it comes, or name "deltas" in lacks`
          : unheard(abortWithinMs),
      );
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
];
