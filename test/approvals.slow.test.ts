// Leave, reconciliation and results over a real SIGKILL: what was allowed stays so, what was done is not done again.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteJournal } from "@rondo/journal";
import { afterAll, expect, test } from "vitest";
import { withPackages } from "../scripts/built.ts";
import { root } from "../scripts/packages.ts";

const scratch = mkdtempSync(join(tmpdir(), "rondo-approvals-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Lives until it ends, or is killed when it says these words. */
function live(killAt: string | undefined): Promise<string> {
  const program = join(root, "test", "programs", "approvals-agent.ts");
  const files = [join(scratch, "runs.db"), join(scratch, "effects.txt")];
  const args = [...withPackages, "--disable-warning=ExperimentalWarning", program, ...files];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((settle, fail) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (killAt !== undefined && text.includes(killAt)) child.kill("SIGKILL");
    });
    child.on("error", fail);
    child.on("close", () => settle(text));
  });
}

test("a process is killed between two results: the one that was there stays, the other is reconciled, and no leave is used twice", async () => {
  const killed = await live("a result is kept");
  expect(killed).not.toContain("end ");
  const whole = await live(undefined);
  const { reason, results, grants } = JSON.parse(/^end (.*)$/m.exec(whole)?.[1] ?? "{}") as {
    reason: string;
    results: string[];
    grants: unknown[];
  };
  expect([reason, results, grants]).toEqual(["completed", ["slow was paid", "quick paid", "slow paid"], []]);
  const effects = readFileSync(join(scratch, "effects.txt"), "utf8").split("\n").filter(Boolean);
  expect(effects.map((line) => line.split(" ")[0]).sort()).toEqual(["quick", "slow", "slow"]);
  expect(new Set(effects).size).toBe(3);
  const records = await sqliteJournal(join(scratch, "runs.db")).read("s");
  const granted = records.flatMap((record) =>
    record.type === "approval_given" && record.approval.answer === "approve" ? [record.approval.grant] : [],
  );
  expect(granted.sort()).toEqual(["quick", "slow", "slow"]);
  expect(records.some((record) => record.type === "approval_asked")).toBe(false);
});
