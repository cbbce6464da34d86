// What was done, as data.

import {
  emptyLedger,
  foldLedger,
  type Ledger,
  type LedgerEntry,
  ledgerEntries,
  renderLedger,
  renderResult,
  toolResult,
} from "@rondo/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const fold = (...batches: LedgerEntry[][]): Ledger =>
  batches.reduce((ledger, entries, at) => foldLedger(ledger, entries, at + 1), emptyLedger);
const kept = (ledger: Ledger): LedgerEntry[] => ledger.entries.map(({ entry }) => entry);

describe("the ledger", () => {
  test("keeps the newest entry on a path, a command or a ref, at its end", () => {
    const ledger = fold(
      [{ kind: "file_read", path: "a", hash: "sha256:1" }],
      [{ kind: "command", command: "npm test", exitCode: 1 }],
      [
        { kind: "file_read", path: "b" },
        { kind: "file_written", path: "a", hash: "sha256:2" },
      ],
      [{ kind: "file_read", path: "a", hash: "sha256:2" }],
      [{ kind: "command", command: "npm test", exitCode: 0 }],
    );
    expect(ledger.entries).toEqual([
      { step: 3, entry: { kind: "file_read", path: "b" } },
      { step: 3, entry: { kind: "file_written", path: "a", hash: "sha256:2" } },
      { step: 4, entry: { kind: "file_read", path: "a", hash: "sha256:2" } },
      { step: 5, entry: { kind: "command", command: "npm test", exitCode: 0 } },
    ]);
  });

  test("replaces entries of `left` and `next`, and removes from both what is done", () => {
    const first = fold([
      { kind: "left", text: "parser" },
      { kind: "left", text: "lexer" },
      { kind: "next", text: "lexer" },
      { kind: "decision", text: "by hand" },
    ]);
    expect(kept(foldLedger(first, [{ kind: "done", text: "lexer" }], 2))).toEqual([
      { kind: "left", text: "parser" },
      { kind: "decision", text: "by hand" },
      { kind: "done", text: "lexer" },
    ]);
    expect(kept(foldLedger(first, [{ kind: "left", text: "docs" }], 2))).toEqual([
      { kind: "next", text: "lexer" },
      { kind: "decision", text: "by hand" },
      { kind: "left", text: "docs" },
    ]);
    expect(kept(foldLedger(first, [{ kind: "left", text: "" }], 2))).toEqual([
      { kind: "next", text: "lexer" },
      { kind: "decision", text: "by hand" },
    ]);
  });

  test("is limited: the least important kind is dropped first, oldest first, and counted", () => {
    const files = Array.from({ length: 5 }, (_, at): LedgerEntry => ({ kind: "file_read", path: `f${at}` }));
    const ledger = foldLedger(
      foldLedger(emptyLedger, [{ kind: "decision", text: "blue" }, ...files], 1, { entries: 4 }),
      [{ kind: "file_written", path: "w" }],
      2,
      { entries: 4 },
    );
    expect(kept(ledger)).toEqual([
      { kind: "decision", text: "blue" },
      { kind: "file_read", path: "f3" },
      { kind: "file_read", path: "f4" },
      { kind: "file_written", path: "w" },
    ]);
    expect(ledger.dropped).toEqual({ file_read: 3 });
    expect(renderLedger(ledger)).toContain("Files read:\n- (3 earlier, no longer listed)\n- f3 (step 1)");
  });

  test("is shown by kind, one line an entry", () => {
    const ledger = fold(
      [
        { kind: "decision", text: "keep v1:\n  users rely on it" },
        { kind: "done", text: "parser" },
        { kind: "left", text: "docs" },
        { kind: "next", text: "tests" },
      ],
      [
        { kind: "file_written", path: "a.ts", hash: `sha256:${"0123456789abcdef".repeat(4)}` },
        { kind: "file_read", path: "b.ts" },
        { kind: "command", command: "sleep 9", exitCode: null },
        { kind: "output", ref: "out_1", tool: "run_command" },
      ],
    );
    expect(renderLedger(ledger)).toBe(
      [
        "Decisions:",
        "- keep v1: users rely on it",
        "Done:",
        "- parser",
        "Left to do:",
        "- docs",
        "Next:",
        "- tests",
        "Files written:",
        "- a.ts (step 2, sha256:0123456789ab)",
        "Files read:",
        "- b.ts (step 2)",
        "Commands run:",
        "- sleep 9 (step 2, ended by force)",
        "Outputs kept:",
        "- ref=out_1 (run_command)",
      ].join("\n"),
    );
    expect(renderLedger(emptyLedger)).toBe("");
  });

  test("is filled by tools' results, and invalid entries are left out", () => {
    const given = [
      { kind: "file_read", path: "a" },
      { kind: "file_read" },
      { kind: "command", command: "ls", exitCode: 2n },
      { kind: "dance" },
      null,
      "x",
      { kind: "decision", text: 7 },
    ] as unknown as LedgerEntry[];
    expect(renderResult(toolResult("ok", { ledger: given }))).toEqual({
      content: [{ type: "text", text: "ok" }],
      isError: false,
      ledger: [
        { kind: "file_read", path: "a" },
        { kind: "command", command: "ls", exitCode: null },
      ],
    });
    expect(renderResult(toolResult("ok"))).toEqual({
      content: [{ type: "text", text: "ok" }],
      isError: false,
    });
    expect(ledgerEntries(undefined)).toEqual([]);
  });

  test("stays the same object if nothing is new", () => {
    const ledger = fold([{ kind: "done", text: "a" }]);
    expect(foldLedger(ledger, [], 2)).toBe(ledger);
  });

  test("cuts no character in two", () => {
    const [entry] = ledgerEntries([{ kind: "done", text: "🙂".repeat(400) }]);
    expect(entry).toEqual({ kind: "done", text: `${"🙂".repeat(299)}…` });
  });

  test("stays within its limits whatever is folded, is JSON, and is the same for the same entries", () => {
    const text = fc.string({ unit: "binary", maxLength: 900 });
    const entry: fc.Arbitrary<LedgerEntry> = fc.oneof(
      fc.record({ kind: fc.constantFrom("file_read" as const, "file_written" as const), path: text }),
      fc.record({ kind: fc.constant("command" as const), command: text, exitCode: fc.integer() }),
      fc.record({
        kind: fc.constantFrom("decision" as const, "done" as const, "left" as const, "next" as const),
        text,
      }),
      fc.record({
        kind: fc.constant("output" as const),
        ref: fc.stringMatching(/^[a-z0-9_]{1,20}$/),
        tool: text,
      }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.array(entry, { maxLength: 8 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 0, max: 4000 }),
        (batches, entries, characters) => {
          const bounds = { entries, characters };
          const folded = (): Ledger =>
            batches.reduce((ledger, batch, at) => foldLedger(ledger, batch, at, bounds), emptyLedger);
          const ledger = folded();
          expect(ledger.entries.length).toBeLessThanOrEqual(entries);
          expect(JSON.parse(JSON.stringify(ledger))).toEqual(ledger);
          expect(folded()).toEqual(ledger);
          const said = renderLedger(ledger);
          expect(said.isWellFormed()).toBe(true);
          expect(said.length).toBeLessThan(characters * 3 + 1200);
          const lines = ledger.entries.length + Object.values(ledger.dropped).filter((n) => n > 0).length;
          expect(said.split("\n").filter((line) => line.startsWith("- ")).length).toBe(lines);
        },
      ),
    );
  });
});
