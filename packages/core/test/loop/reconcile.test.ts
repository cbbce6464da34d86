// A tool is asked what came of a call that a crash cut off, by hand; time passes only when the test says so.

import {
  type CallResult,
  DoneSignal,
  type Fact,
  RondoError,
  TaskComplete,
  type Tool,
  type ToolContext,
  tool,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import { longestWait } from "../../src/clock.ts";
import { reconcileCall } from "../../src/loop/driving/reconcile.ts";
import { callOf, come, handClock, toolOf, unknownCall } from "./support.ts";

const context = { idempotencyKey: "s:5.0" } as ToolContext;
const call = callOf("5.0", { args: { at: 1 }, tool: toolOf("write", { timeoutMs: 30 }) });
const cap = (whole: CallResult): CallResult => whole;
const clock = handClock();

function writer(reconcile?: (...given: unknown[]) => unknown, change: Partial<Tool> = {}): Tool {
  const made = tool({
    name: "write",
    description: "write",
    inputSchema: { type: "object", properties: { at: { type: "number" } }, required: ["at"] },
    execute: () => "written",
    ...(reconcile === undefined ? {} : { reconcile: reconcile as never }),
  });
  return { ...made, ...change };
}
const ask = (
  asked: Tool | undefined,
  about = call,
  cutting: Parameters<typeof reconcileCall>[4] = cap,
): Promise<Fact> => reconcileCall(asked, about, context, clock, cutting);

const unknown = (error?: string): object => ({
  type: "reconciled",
  call: "5.0",
  found: "unknown",
  ...(error === undefined ? {} : { error }),
});
const done = (text: string, more: object = {}): object => ({
  type: "reconciled",
  call: "5.0",
  found: "done",
  result: { content: [{ type: "text", text }], isError: false, code: "reconciled", ...more },
});

describe("reconcile", () => {
  test("gets the call's key, its validated arguments and its context", async () => {
    const seen: unknown[] = [];
    const check: Tool["check"] = (args) => ({ ok: true, args, value: { ...args, more: 2 } });
    await ask(writer((...given) => void seen.push(...given), { check }));
    expect(seen).toStrictEqual(["s:5.0", { at: 1, more: 2 }, context]);
  });

  test("has its outcome rendered in the tool's own way, like what it returns", async () => {
    const tell = (returned: unknown): string => `<${String(returned)}>`;
    expect(await ask(writer(() => ({ done: "all" }), { tell }))).toStrictEqual(done("<all>"));
  });

  test("may return a result, which counts as one that the tool returned", async () => {
    expect(await ask(writer(() => ({ done: "written" })))).toStrictEqual(done("written"));
    expect(await ask(writer(() => Promise.resolve({ done: { lines: 3 } })))).toMatchObject({
      found: "done",
      result: { content: [{ type: "text", text: expect.stringContaining('"lines"') }] },
    });
    expect(await ask(writer(() => ({ done: undefined })))).toStrictEqual(done("(no output)"));
  });

  test.each([DoneSignal, TaskComplete])("may return that the whole task is done: %o", async (Done) => {
    expect(await ask(writer(() => ({ done: new Done("all of it") })))).toStrictEqual(
      done("Task complete", { done: "all of it" }),
    );
  });

  test("may return a result that must be cut", async () => {
    const cutting = (whole: CallResult): Promise<CallResult> =>
      Promise.resolve({ ...whole, content: [{ type: "text", text: "cut" }] });
    expect(
      await ask(
        writer(() => ({ done: "a long one" })),
        call,
        cutting,
      ),
    ).toStrictEqual(done("cut"));
  });

  test("may return that nothing happened", async () => {
    expect(await ask(writer(() => ({ notDone: true })))).toStrictEqual({
      type: "reconciled",
      call: "5.0",
      found: "not_done",
    });
  });

  test.each([undefined, {}, { notDone: false }])("has found out nothing if it returns %j", async (said) => {
    expect(await ask(writer(() => said))).toStrictEqual(unknown());
  });

  test("has found out nothing if it fails, in any way", async () => {
    const throwing = (): never => {
      throw new Error("boom");
    };
    expect(await ask(writer(throwing))).toStrictEqual(unknown("boom"));
    expect(await ask(writer(() => Promise.reject(new Error("boom"))))).toStrictEqual(unknown("boom"));
    expect(await ask(writer(() => ({ done: 1 }), { check: throwing }))).toStrictEqual(unknown("boom"));
    expect(
      await ask(
        writer(() => ({ done: 1 })),
        call,
        () => Promise.reject(new RondoError("storage", "disk full")),
      ),
    ).toStrictEqual(unknown("disk full"));
  });

  test("is not called with arguments that no longer fit, and not at all without the function", async () => {
    let asked = 0;
    const counting = writer(() => {
      asked += 1;
      return { notDone: true };
    });
    const { error } = (await ask(counting, { ...call, args: { at: "here" } })) as { error?: string };
    expect(error).toMatch(/at/);
    expect(asked).toBe(0);
    const gone = unknown("write has no way to find out any more");
    expect(await ask(writer())).toStrictEqual(gone);
    expect(await ask(undefined)).toStrictEqual(gone);
  });
});

describe("a reconcile that does not answer", () => {
  const never = writer(() => new Promise(() => {}));

  test("waits as long as a clock allows at once, if a call may take longer", async () => {
    const month = callOf("5.0", { args: { at: 1 }, tool: toolOf("write", { timeoutMs: 2 ** 32 }) });
    void ask(never, month);
    await come();
    expect(clock.waits()).toEqual([longestWait]);
    clock.pass(longestWait);
  });

  test("has the timeout of a call, and no more", async () => {
    let found: Fact | undefined;
    void ask(never).then((fact) => {
      found = fact;
    });
    await come();
    clock.pass(29);
    await come();
    expect(found).toBeUndefined();
    clock.pass(1);
    await come();
    expect(found).toStrictEqual(unknown("write did not say within 30 ms"));
  });

  test("of a tool without a known timeout has none, and the error names the tool", async () => {
    const asked = ask(never, unknownCall("5.0", { name: "nobody", args: { at: 1 } }));
    clock.pass(0);
    expect(await asked).toStrictEqual(unknown("nobody did not say within 0 ms"));
  });

  test("leaves no clock running, whatever it returns", async () => {
    for (const said of [() => ({ notDone: true }), () => Promise.reject(new Error("boom"))])
      await ask(writer(said));
    await ask(
      writer(() => ({ done: 1 })),
      { ...call, args: {} },
    );
    expect(clock.waits()).toStrictEqual([]);
  });
});
