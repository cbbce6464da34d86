// P3 and P4 end to end: a real process, a real journal, a real SIGKILL at every event, and the run comes to its end
// as if nothing had happened; no write is repeated, and one that was cut off is told as unknown.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isPaired, reduceAll, resolve } from "@rondo/core";
import { sqliteJournal } from "@rondo/journal";
import { scripted } from "@rondo/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { root } from "../scripts/packages.ts";

const scratch = mkdtempSync(join(tmpdir(), "rondo-crash-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Outcome {
  end: { reason: string };
  text: string;
  conversation: [role: string, isError: boolean, text: string][];
}

/** Lives until it ends, or is killed with its nth line. */
function live(name: string, killAt: number): Promise<{ lines: number; outcome: Outcome | undefined }> {
  const program = join(root, "test", "programs", "crash-agent.ts");
  const args = [
    "--conditions=rondo-source",
    "--disable-warning=ExperimentalWarning",
    program,
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

describe("a run that is killed with SIGKILL", () => {
  test("at one event after the other, life after life, ends as one that never was", async () => {
    const whole = await live("whole", Number.POSITIVE_INFINITY);
    expect(whole.outcome?.end.reason).toBe("completed");
    let kills = 0;
    let unknown = 0;
    for (let killAt = 1; killAt < whole.lines; killAt += 7) {
      const name = `cut-${killAt}`;
      let outcome: Outcome | undefined;
      for (let life = 0; outcome === undefined; life += 1) {
        // Each life gets a little further than the one before, so that every point is somebody's last.
        outcome = (await live(name, life > 12 ? Number.POSITIVE_INFINITY : killAt + life * 5)).outcome;
        if (outcome === undefined) kills += 1;
      }
      expect(outcome.end.reason).toBe("completed");
      expect(outcome.text).toBe(whole.outcome?.text);
      const effects = effectsOf(name);
      expect(new Set(effects).size).toBe(effects.length);
      const lost = outcome.conversation.filter(
        ([, isError, text]) => isError && text.includes("outcome is unknown"),
      );
      unknown += lost.length;
      // Six notes were asked for: each has its result, and each was made, or is told as unknown.
      const noted = outcome.conversation.filter(([, , text]) => text === "noted");
      expect(noted.length + lost.length).toBe(6);
      expect(effects.length).toBeGreaterThanOrEqual(noted.length);
      // Where no write was in flight the conversation is the very same.
      if (lost.length === 0) expect(outcome.conversation).toEqual(whole.outcome?.conversation);
      const records = sqliteJournal(join(scratch, `${name}.db`)).read("s");
      expect(isPaired(reduceAll(await records, resolve({ model: scripted([]) }).rules).history)).toBe(true);
    }
    expect(kills).toBeGreaterThan(5);
    console.log(`${kills} kills, 0 lost runs, 0 repeated writes, ${unknown} unknown`);
  });
});
