import { Agent } from "@rondo/core";
import { say, scripted } from "@rondo/testkit";
import { expect, it } from "vitest";
import { Console } from "../src/console/console.ts";
import { drainMs, driveRun } from "../src/runs/drive-run.ts";

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
  ["SIGTERM", true, 143],
  ["SIGTERM", false, 130],
  ["SIGINT", false, 130],
])(
  "a %s before the run has begun, where the run is to stay open: %j, is told as %d",
  async (signal, leaving, code) => {
    const model = scripted([say("never")]);
    const session = await new Agent({ model }).open("s");
    const { stdin, stdout, stderr } = process;
    const exit = await driveRun(
      {
        session,
        tools: [],
        console: new Console({ stdin, stdout, stderr }, {}),
        signals: {
          fired: AbortSignal.abort(signal),
          leaving,
          interrupt: () => {},
          dispose: () => {},
        },
        show: "quiet",
        maxSteps: undefined,
        journalOption: " --journal FILE",
      },
      () => session.send("go"),
    );
    expect([exit, model.calls]).toEqual([code, 0]);
  },
);
