import { Agent } from "@rondo/core";
import { say, scripted } from "@rondo/testkit";
import { expect, it } from "vitest";
import { Console } from "../src/console/console.ts";
import { conduct, drainMs } from "../src/runs/conduct.ts";

it.each([
  [undefined, 8_000],
  ["50", 50],
  ["0", 0],
  ["", 8_000],
  [" ", 8_000],
  ["soon", 8_000],
  ["-1", 8_000],
])("with RONDO_DRAIN_MS as %j what is under way has %d ms once the process is to leave", (given, ms) => {
  expect(drainMs({ env: given === undefined ? {} : { RONDO_DRAIN_MS: given } })).toBe(ms);
});

it.each([
  ["SIGTERM", " --journal FILE", 143],
  ["SIGTERM", undefined, 130],
  ["SIGINT", " --journal FILE", 130],
])("a %s before the run has begun, kept with %j, is told as %d", async (signal, journalOption, code) => {
  const model = scripted([say("never")]);
  const session = await new Agent({ model }).open("s");
  const { stdin, stdout, stderr } = process;
  const exit = await conduct(
    {
      session,
      tools: [],
      console: new Console({ stdin, stdout, stderr }, {}),
      signals: {
        fired: AbortSignal.abort(signal),
        leaving: signal === "SIGTERM",
        interrupt: () => {},
        dispose: () => {},
      },
      show: "quiet",
      maxSteps: undefined,
      journalOption,
    },
    () => session.send("go"),
  );
  expect([exit, model.calls]).toEqual([code, 0]);
});
