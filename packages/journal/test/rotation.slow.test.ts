import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cutRotation } from "./cut-rotation.ts";

it("a rotation that was cut off at any byte at all loses nothing and repeats nothing", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-rotation-"));
  try {
    expect(cutRotation(folder, 1).size).toBe(9);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
