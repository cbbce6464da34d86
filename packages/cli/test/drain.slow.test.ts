// SIGTERM to a real process: the run is left at a safe point, and another process goes on with it.

import { existsSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mind, newestRecords, type Place, place, rondo, start } from "./command.ts";

const run = ["run", "--yes", "--model", mind, "do it"];

const typesOf = (at: Place): string[] => newestRecords(at).records.map((record) => record.type);

describe("SIGTERM", () => {
  it("in the midst of a tool lets it finish, asks no model, leaves with 143, and resume goes on", async () => {
    const at = place();
    const left = start(at, run, { MIND: "waits" });
    await until(() => existsSync(join(at.root, "begun")));
    left.child.kill("SIGTERM");
    writeFileSync(join(at.root, "go"), "");
    const out = await left.outcome;
    expect(out.code).toBe(143);
    const { id } = newestRecords(at);
    expect(out.stderr).toContain(`run ${id} was left after 1 step (SIGTERM); go on with: rondo resume ${id}`);
    expect(typesOf(at)).toContain("tool_finished");
    expect(typesOf(at).filter((type) => type === "model_started")).toHaveLength(1);
    expect((await rondo(at, ["runs"])).stdout).toContain("interrupted");

    const on = await rondo(at, ["resume", id], { MIND: "waits" });
    expect([on.code, on.stderr]).toEqual([0, expect.stringContaining("goes on")]);
    expect(on.stdout).toContain("gone");
    expect(typesOf(at).filter((type) => type === "tool_started")).toHaveLength(1);
  });

  it("gives up a tool and an answer that take too long, kills what they started, and resume says so", async () => {
    const at = place();
    const left = start(at, run, { MIND: "waits", RONDO_DRAIN_MS: "50" });
    await until(() => existsSync(join(at.root, "begun")));
    left.child.kill("SIGTERM");
    expect((await left.outcome).code).toBe(143);
    await until(() => processesIn(at.root).length === 0);
    const on = await rondo(at, ["resume", "last"], { MIND: "waits" });
    expect(on.code).toBe(0);
    expect(on.stdout).toContain("outcome is unknown");

    const other = place();
    writeFileSync(join(other.root, "notes.txt"), "some notes");
    const answering = start(other, run, { MIND: "crashes", HANG: "1", RONDO_DRAIN_MS: "50" });
    await answering.says("half an ans");
    answering.child.kill("SIGTERM");
    expect((await answering.outcome).code).toBe(143);
    const again = await rondo(other, ["resume", "last"], { MIND: "crashes" });
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("finished after all")]);
    // The answer that was given up counts as no attempt.
    const attempts = newestRecords(other).records.filter((record) => record.type === "model_started");
    expect(attempts.map((record) => record.attempt)).toEqual([1, 1, 1]);
  });

  it("ends a run that is kept nowhere: nobody could go on with it", async () => {
    const at = place();
    const left = start(at, ["run", "--no-journal", "--model", mind, "do it"], { MIND: "deaf" });
    await left.says("I cannot hear");
    left.child.kill("SIGTERM");
    const out = await left.outcome;
    expect([out.code, out.stdout]).toEqual([130, expect.stringContaining("interrupted by SIGTERM")]);

    const hasty = start(at, ["run", "--json", "--no-journal", "--model", mind, "do it"], { MIND: "deaf" });
    await hasty.says("I cannot hear");
    // One that follows at once is the same one, told twice.
    await until(() => {
      hasty.child.kill("SIGTERM");
      return hasty.child.exitCode !== null;
    });
    const gone = await hasty.outcome;
    expect([gone.code, gone.stdout]).toEqual([130, expect.not.stringContaining("run_end")]);
  });
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function processesIn(folder: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false;
    }
  });
}
