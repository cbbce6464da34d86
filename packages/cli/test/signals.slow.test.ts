import { existsSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isPaired } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { renderRun } from "../src/render/run.ts";
import { mind, newestRecords, place, rondo, start } from "./command.ts";

const runOf = (options: readonly string[]): string[] => ["run", "--model", mind, ...options, "do it"];

describe("an interrupted run", () => {
  it.each(["SIGINT", "SIGHUP"] as const)(
    "ends at %s, its command with it, its journal whole, with exit code 130",
    async (signal) => {
      const at = place();
      const run = start(at, runOf(["--yes"]), { MIND: "sleeps" });
      // The command says that it runs: the file appears in the folder.
      await until(() => existsSync(join(at.root, "asleep")));
      if (process.platform === "linux") expect(processesIn(at.root).length).toBeGreaterThan(1);
      run.child.kill(signal);
      const out = await run.outcome;
      expect(out.code).toBe(130);
      expect(processesIn(at.root)).toEqual([]);
      expect(out.stdout).toContain(`aborted, rule abort: reason interrupted by ${signal}`);
      const { records, id } = newestRecords(at);
      expect(records.at(-1)).toMatchObject({ type: "run_ended", end: { reason: "aborted" } });
      expect(records.filter((record) => record.type === "tool_finished")).toHaveLength(1);
      expect(renderRun(records)).toContain(`asked: interrupted by ${signal}`);
      expect((await rondo(at, ["show", id])).code).toBe(0);
    },
  );

  it("takes a signal that comes twice at once for one: npm passes on what the terminal has told already", async () => {
    const at = place();
    const run = start(at, runOf(["--yes"]), { MIND: "sleeps" });
    await until(() => existsSync(join(at.root, "asleep")));
    run.child.kill("SIGINT");
    run.child.kill("SIGTERM");
    const out = await run.outcome;
    expect(out.stdout).toContain("aborted, rule abort");
    expect(newestRecords(at).records.at(-1)?.type).toBe("run_ended");
  });

  it("ends with its events whole with --json", async () => {
    const at = place();
    const run = start(at, runOf(["--yes", "--json"]), { MIND: "sleeps" });
    await run.says('"tool_start"');
    run.child.kill("SIGINT");
    const out = await run.outcome;
    const events = out.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(events.at(-1)).toMatchObject({ type: "run_end", end: { reason: "aborted" } });
    expect(out.code).toBe(130);
  });

  it("settles within its bound when the model is deaf, and at once at the second signal", async () => {
    const at = place();
    const patient = start(at, runOf([]), { MIND: "deaf" });
    await patient.says("I cannot hear");
    patient.child.kill("SIGINT");
    expect(await patient.outcome).toMatchObject({ code: 130, stdout: expect.stringContaining("aborted") });
    expect(newestRecords(at).records.at(-1)?.type).toBe("run_ended");

    const other = place();
    const hasty = start(other, runOf(["--json"]), { MIND: "deaf" });
    await hasty.says("I cannot hear");
    hasty.child.kill("SIGINT");
    // The abort is a record before it is an event of any kind: look for it where it is kept.
    await until(() => newestRecords(other).records.some((record) => record.type === "abort_asked"));
    // One that follows at once is the same Ctrl-C, told twice; somebody who means it goes on pressing.
    await until(() => {
      hasty.child.kill("SIGINT");
      return hasty.child.exitCode !== null;
    });
    const out = await hasty.outcome;
    expect(out.code).toBe(130);
    expect(out.stdout).not.toContain("run_end");
    expect((await rondo(other, ["show", "last"])).stdout).toContain("not ended");
  });

  it("goes on where it was after a kill, nothing repeated that was finished", async () => {
    const at = place();
    writeFileSync(join(at.root, "notes.txt"), "some notes");
    const run = start(at, runOf([]), { MIND: "crashes", HANG: "1" });
    await run.says("half an ans");
    expect((await rondo(at, ["explain", "last"])).stdout).toContain(
      `it has not ended\n  the answer is in flight: wait for it (phase thinking); process ${run.child.pid} drives it\n`,
    );
    const alive = await rondo(at, ["resume", "last"], { MIND: "crashes" });
    expect(alive.code).toBe(1);
    expect(alive.stderr).toContain(`is being driven by process ${run.child.pid}`);
    expect((await rondo(at, ["runs"])).stdout).toContain("running");
    run.child.kill("SIGKILL");
    await run.outcome;
    expect((await rondo(at, ["runs"])).stdout).toContain("interrupted");
    const { id } = newestRecords(at);
    expect((await rondo(at, ["explain", id])).stdout).toContain(
      `it has not ended\n  its process is gone, and left it where the answer is in flight (phase thinking); go on with rondo resume ${id}\n`,
    );
    const out = await rondo(at, ["resume", "last"], { MIND: "crashes" });
    expect(out.code).toBe(0);
    expect(out.stdout).toContain("finished after all");
    const { records } = newestRecords(at);
    expect(records.filter((record) => record.type === "tool_started")).toHaveLength(1);
    expect(records.at(-1)).toMatchObject({ type: "run_ended", end: { reason: "completed" } });
    expect((await rondo(at, ["show", "last"])).stdout).toContain("a process took the session over");
  });

  it("ends quietly when the reader of its output goes away", async () => {
    const at = place();
    const run = start(at, runOf([]), { MIND: "babbles" });
    await run.says("word");
    run.child.stdout?.destroy();
    const out = await run.outcome;
    expect(out.stderr).toBe("model: mind-babbles (--model)\n");
    expect(out.code).toBe(141);
    const { records } = newestRecords(at);
    expect(records.at(-1)).toMatchObject({ type: "run_ended", end: { reason: "aborted" } });
  });

  it("leaves a history that every provider accepts", async () => {
    const at = place();
    const run = start(at, runOf(["--yes"]), { MIND: "twice-asleep" });
    await run.says("→ run_command");
    run.child.kill("SIGINT");
    await run.outcome;
    const { Agent, memoryJournal } = await import("@rondo/core");
    const { scripted } = await import("@rondo/testkit");
    const { records, id } = newestRecords(at);
    const journal = memoryJournal();
    await journal.append(id, 0, records);
    const session = await new Agent({ model: scripted([]) }).open(id, { journal });
    expect(isPaired(session.messages)).toBe(true);
    expect(session.messages.filter((message) => message.role === "tool")).toHaveLength(2);
  });
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Processes whose working folder is this one, where the system tells. */
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
