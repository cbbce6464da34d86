import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import type { JsonObject, LogRecord } from "@rondo/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { aboutRun, driverOf } from "../src/invocation.ts";

const records = (process: JsonObject): LogRecord[] => [
  { type: "opened", seq: 0, at: 0, by: "run", about: { process } } as unknown as LogRecord,
];

/** A process that was killed, and that its parent does not wait for. */
async function endedUnawaited(): Promise<number> {
  const parent = spawn("sh", ["-c", "sleep 60 & echo $!; exec sleep 60"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [line] = await once(parent.stdout, "data");
  const pid = Number(String(line));
  process.kill(pid, "SIGKILL");
  const state = (): string =>
    spawnSync("ps", ["-o", "stat=", "-p", String(pid)])
      .stdout.toString()
      .trim();
  while (state() !== "" && !state().startsWith("Z")) await new Promise((next) => setImmediate(next));
  return pid;
}

describe("the process that drives a run", () => {
  const host = hostname();

  it("is one that is alive", () => {
    expect(driverOf(records({ pid: process.ppid, host }))?.pid).toBe(process.ppid);
  });

  it("is none that was killed and that nobody has waited for yet", async ({ skip }) => {
    if (!existsSync("/proc/self/stat")) skip("the system does not tell which processes are dead");
    expect(driverOf(records({ pid: await endedUnawaited(), host }))).toBeUndefined();
  });

  it("is none whose number another process has by now", ({ skip }) => {
    const { process: own } = aboutRun({ root: "/", model: "offline", yes: false, allow: [], deny: [] });
    if ((own as JsonObject).began === undefined) skip("the system does not tell when a process began");
    expect(driverOf(records({ pid: process.ppid, host, began: "1 tick" }))).toBeUndefined();
  });
});
