// The room of a tool at work: what it does to the world, what it returns, how it fails, and how it stops.

import { ok, strictEqual } from "node:assert/strict";
import { getEventListeners } from "node:events";
import { inspect } from "node:util";
import { messageOf, renderResult } from "@rondo/core";
import { clipped } from "../../text.ts";
import { afterMs } from "../../timer.ts";
import { mustBe } from "../check.ts";
import { contextOf, type Demand, inWords, leaving, run, taken, throughTheLoop } from "./trying.ts";

export const running: readonly Demand[] = [
  {
    name: "it says what it does to the world, and does no more",
    async body(subject) {
      const { tool, effect, examples, world } = subject;
      mustBe(tool.effect, effect, "its effect, by what the subject says");
      if (world === undefined || effect === "write") return;
      for (const example of examples) {
        const before = inWords(await world());
        const context = contextOf(subject);
        await run(subject, example, context);
        const once = inWords(await world());
        if (effect === "read") strictEqual(once, before, `${JSON.stringify(example)} changed the world`);
        await run(subject, example, context);
        strictEqual(inWords(await world()), once, `${JSON.stringify(example)} twice is not the same as once`);
      }
    },
  },
  {
    name: "it leaves its arguments as they were",
    async body(subject) {
      for (const example of subject.examples) {
        const value = await taken(subject, example);
        await leaving(value, "execute", () => subject.tool.execute(value, contextOf(subject)));
      }
    },
  },
  {
    name: "what it returns can be read, and is no larger than a conversation bears",
    async body(subject) {
      const most = subject.resultBytes ?? 64 * 1024;
      for (const example of subject.examples) {
        const { content } = renderResult(await run(subject, example));
        mustBe(content, JSON.parse(JSON.stringify(content)), "the result, as plain JSON");
        const { text, bytes, isError } = await throughTheLoop(subject, example);
        ok(!isError, `its own example ${JSON.stringify(example)} comes to an error: ${text}`);
        ok(
          bytes <= most,
          `the result of ${JSON.stringify(example)} takes ${bytes} bytes of the conversation`,
        );
        ok(!/\[object \w+\]|^undefined$/.test(text), `the model reads ${JSON.stringify(clipped(text, 200))}`);
      }
    },
  },
  {
    name: "where it fails, it throws an error with words, or returns one",
    needs: ({ fails }) => fails !== undefined && fails.length > 0,
    async body(subject) {
      for (const args of subject.fails ?? []) {
        const value = await taken(subject, args);
        let returned: unknown;
        try {
          returned = await subject.tool.execute(value, contextOf(subject));
        } catch (thrown) {
          ok(thrown instanceof Error, `${JSON.stringify(args)}: it threw ${typeof thrown}, no Error`);
          ok(thrown.message.trim() !== "", `${JSON.stringify(args)}: its error has no message`);
          continue;
        }
        const { isError } = renderResult(returned);
        ok(isError, `${JSON.stringify(args)}: it returned as if it had not failed`);
      }
    },
  },
  {
    name: "an abort is heard in time",
    needs: ({ slow }) => slow !== undefined,
    async body(subject) {
      const controller = new AbortController();
      const args = subject.slow ?? {};
      const value = await taken(subject, args);
      let came: string | undefined;
      const working = async (): Promise<unknown> =>
        subject.tool.execute(value, contextOf(subject, controller.signal));
      const settled = working().then(
        () => {
          came = "it returned";
        },
        (thrown: unknown) => {
          came = `it threw ${JSON.stringify(messageOf(thrown))}`;
        },
      );
      // It is to be at work when the signal fires.
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      ok(
        came === undefined,
        `slow: ${JSON.stringify(args)} did not keep it at work: ${came} before its signal fired`,
      );
      controller.abort(new Error("enough"));
      const most = subject.abortWithinMs ?? 2_000;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = afterMs(most, resolve);
      });
      await Promise.race([settled, late]);
      clearTimeout(timer);
      ok(came !== undefined, `it was still at work ${most} ms after its signal fired`);
      strictEqual(getEventListeners(controller.signal, "abort").length, 0, "it still listens to its signal");
    },
  },
  {
    name: "it leaves no listener on its signal",
    async body(subject) {
      const { signal } = new AbortController();
      for (const example of subject.examples) await run(subject, example, contextOf(subject, signal));
      mustBe(getEventListeners(signal, "abort").length, 0, "the number of listeners left on its signal");
    },
  },
  {
    name: "asked about a call that never was, it does not say that it was done",
    needs: ({ tool }) => tool.reconcile !== undefined,
    async body(subject) {
      const value = await taken(subject, subject.examples[0] ?? {});
      let found: unknown;
      try {
        found = await subject.tool.reconcile?.("never/was", value, contextOf(subject));
      } catch {
        return; // Nothing is known then.
      }
      if (found === undefined) return;
      const said = `it says ${inspect(found)}`;
      const { done, notDone } = Object(found) as { done?: unknown; notDone?: unknown };
      ok(done === undefined, `${said} of a call that never was`);
      ok(
        notDone === true,
        `${said}; needed is { done: result }, { notDone: true }, or nothing where it is not known`,
      );
    },
  },
];
