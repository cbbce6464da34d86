// The long run, in short: hundreds of steps in a small window, from the same simulation as `npm run -s longrun`.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryJournal } from "@rondo/core";
import { sqliteJournal } from "@rondo/journal";
import { afterAll, describe, expect, test } from "vitest";
import { faultsOf, longRun } from "../scripts/longrun/simulate.ts";

const folder = mkdtempSync(join(tmpdir(), "rondo-longrun-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("400 steps in a window of 32,000 tokens, with the default options", () => {
  const asked = { steps: 400, window: 32_000, facts: 20, every: 50 };

  test.each([
    ["in memory", () => memoryJournal()],
    ["in SQLite", () => sqliteJournal(join(folder, "long.db"))],
  ])(
    "kept %s, every request fits, every fact is found again, every front that broke was told of, and the work does not grow",
    async (_where, journal) => {
      const run = await longRun({ ...asked, journal: journal() });
      expect(faultsOf(run, asked)).toEqual([]);
      expect(run).toMatchObject({ reason: "completed", steps: 400, refused: 0, found: 20, different: 0 });
      expect(run.rows.reduce((sum, { compactions }) => sum + compactions, 0)).toBeGreaterThan(5);
      expect(run.rows.reduce((sum, { trims }) => sum + trims, 0)).toBeGreaterThan(20);
      expect(run.replayed).toBeGreaterThan(400);
    },
  );

  test("a window that cannot hold one result is told as what it is: the verdict is not always that it holds", async () => {
    const run = await longRun({ ...asked, steps: 30, window: 2_000 });
    expect(faultsOf(run, { steps: 30, window: 2_000 })).not.toEqual([]);
  });
});
