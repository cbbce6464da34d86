// Processes in a process namespace of their own, that share a folder with others and see the others' /proc.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { namedJournal } from "./named-journal.ts";
import { programArgs } from "./programs.ts";
import { refusal } from "./refusal.ts";

const folder = mkdtempSync(join(tmpdir(), "rondo-namespaces-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const canUnshare =
  spawnSync("unshare", ["-rpf", "sh", "-c", "echo 100 > /proc/sys/kernel/ns_last_pid"]).status === 0;

/** A process outside, and how to make it one that has ended and was not waited for. */
async function outsider(): Promise<{ pid: number; end(): Promise<void> }> {
  const parent = spawn("sh", ["-c", "sleep 1000 & echo $!; exec sleep 1000"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const { value } = await createInterface({ input: parent.stdout })[Symbol.asyncIterator]().next();
  const pid = Number(value);
  return {
    pid,
    end: async () => {
      process.kill(pid, "SIGKILL");
      await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "utf8")).toContain(") Z ");
    },
  };
}

it.for([
  ["SQLite", "alive.db"],
  ["JSONL", "jsonl:alive"],
] as const)(
  "a holder that lives is not taken for dead by a process of its number elsewhere (%s)",
  async ([, name], { skip }) => {
    if (!canUnshare) return skip("this machine does not let a test make a process namespace");
    const file = name.replace("alive", join(folder, "alive"));
    const other = await outsider();
    const quoted = (program: string): string =>
      ["$0", ...programArgs(program, [file])].map((arg) => `"${arg}"`).join(" ");
    // The holder gets the number of the process outside; who comes after it in its namespace waits for a line.
    const script = [
      `echo ${other.pid - 1} > /proc/sys/kernel/ns_last_pid`,
      `${quoted("hold-on")} &`,
      `[ $! = ${other.pid} ] || exit 9`,
      "read go",
      quoted("try-lease"),
    ].join("\n");
    const inside = spawn("unshare", ["-rpf", "--kill-child", "sh", "-c", script, process.execPath], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    onTestFinished(() => void inside.kill("SIGKILL"));
    const lines = createInterface({ input: inside.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe("held");
    await other.end();
    inside.stdin.write("go\n");
    expect((await lines.next()).value).toMatch(/^refused conflict .*is held by worker/);
    // Nor by whoever is outside, and sees a process of that number that has ended.
    const journal = namedJournal(file);
    expect(refusal(() => journal.lease("s", { owner: "me", ttlMs: 1_000 })).kind).toBe("conflict");
    journal.close();
  },
);

it.for([
  ["SQLite", "gone.db"],
  ["JSONL", "jsonl:gone"],
] as const)(
  "a holder that was killed is replaced at once inside its namespace, and waited for outside (%s)",
  async ([, name], { skip }) => {
    if (!canUnshare) return skip("this machine does not let a test make a process namespace");
    const file = name.replace("gone", join(folder, "gone"));
    const quoted = (program: string): string =>
      ["$0", ...programArgs(program, [file])].map((arg) => `"${arg}"`).join(" ");
    const script = `${quoted("killed-holding")}\n${quoted("try-lease")}`;
    const inside = spawnSync("unshare", ["-rpf", "sh", "-c", script, process.execPath], { encoding: "utf8" });
    expect(inside.stdout).toContain("held 2");
    const journal = namedJournal(file);
    expect(refusal(() => journal.lease("s", { owner: "me", ttlMs: 1_000 })).kind).toBe("conflict");
    journal.close();
  },
);
