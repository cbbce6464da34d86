// A real process with two sub-agents at work is killed with SIGKILL again and again: the tree comes to its end as if
// nothing had happened, every sub-agent in the session it began in, and what was spent is counted once.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteJournal } from "@rondo/journal";
import { afterAll, expect, test } from "vitest";
import { withPackages } from "../scripts/built.ts";
import { root } from "../scripts/packages.ts";

const scratch = mkdtempSync(join(tmpdir(), "rondo-tree-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Outcome {
  end: { reason: string };
  text: string;
  spent: { inputTokens: number; outputTokens: number };
  results: string[];
}

/** Lives until it ends, or is killed with its nth line. */
function live(name: string, killAt: number): Promise<{ lines: number; outcome: Outcome | undefined }> {
  const args = [
    ...withPackages,
    "--disable-warning=ExperimentalWarning",
    join(root, "test", "programs", "sub-agent.ts"),
    join(scratch, `${name}.db`),
    join(scratch, `${name}.txt`),
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((settle, fail) => {
    let lines = 0;
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      lines += chunk.split("\n").length - 1;
      if (lines >= killAt) child.kill("SIGKILL");
    });
    child.on("error", fail);
    child.on("close", () => {
      const ended = /^end (.*)$/m.exec(text)?.[1];
      settle({ lines, outcome: ended === undefined ? undefined : (JSON.parse(ended) as Outcome) });
    });
  });
}

const effectsOf = (name: string): string[] => {
  const file = join(scratch, `${name}.txt`);
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
};

test("a tree of agents that is killed with SIGKILL goes on where it was, and repeats and forgets nothing", async () => {
  const whole = await live("whole", Number.POSITIVE_INFINITY);
  expect(whole.outcome).toMatchObject({
    end: { reason: "completed" },
    text: "both are done",
    results: ["noted all", "noted all"],
    // Two answers of the parent, five of each sub-agent.
    spent: { inputTokens: 120, outputTokens: 12 },
  });
  let kills = 0;
  for (let killAt = 2; killAt < whole.lines; killAt += 9) {
    const name = `cut-${killAt}`;
    let outcome: Outcome | undefined;
    for (let life = 0; outcome === undefined; life += 1) {
      // Each life gets a little further than the one before, so that every point is somebody's last.
      outcome = (await live(name, life > 12 ? Number.POSITIVE_INFINITY : killAt + life * 7)).outcome;
      if (outcome === undefined) kills += 1;
    }
    expect(outcome).toEqual(whole.outcome);
    const effects = effectsOf(name);
    expect(new Set(effects).size).toBe(effects.length);
    const journal = sqliteJournal(join(scratch, `${name}.db`));
    const sessions = (await journal.list()).map(({ id }) => id).sort();
    expect(sessions).toHaveLength(3);
    for (const id of sessions.slice(1)) {
      const records = await journal.read(id);
      expect(records.filter((record) => record.type === "run_started")).toHaveLength(1);
      // Eight notes were asked for: each was made, or is told as unknown.
      const noted = records.filter((record) => record.type === "tool_finished");
      expect(noted).toHaveLength(4);
      const made = noted.filter((record) => record.result.code === undefined);
      expect(effects.filter((key) => key.startsWith(`${id}:`)).length).toBeGreaterThanOrEqual(made.length);
    }
    await journal.close?.();
  }
  expect(kills).toBeGreaterThan(5);
  console.log(`${kills} kills, 0 lost trees, 0 repeated writes`);
});
