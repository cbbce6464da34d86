// The lock file's check sees what would break an install on a fresh machine, or name a host.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { root } from "../scripts/packages.ts";
import { run } from "../scripts/run-command.ts";

interface Entry {
  version?: string;
  resolved?: string;
  hasInstallScript?: boolean;
  integrity?: string;
}

describe("the lock file's check", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-lock-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function checkWith(change: (packages: Record<string, Entry>) => void): Promise<[number, string]> {
    const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
      packages: Record<string, Entry>;
    };
    change(lock.packages);
    const path = join(folder, "package-lock.json");
    writeFileSync(path, JSON.stringify(lock));
    const { code, text } = await run(process.execPath, ["scripts/complete-lock.mjs", "--check", path]);
    return [code, text];
  }
  /** The entry under test, which must be there for the change to mean something. */
  const entry = (packages: Record<string, Entry>, name: string): Entry => {
    const found = packages[name];
    if (found === undefined) throw new Error(`the lock has no ${name}`);
    return found;
  };

  it("passes for the lock as it is", async () => {
    expect(await checkWith(() => {})).toEqual([0, ""]);
  });

  it.each([
    "site",
    "bench/peers",
    "scripts/attw",
    "scripts/mutate",
    "examples/cluster/server",
    "native/llama",
  ])("misses no optional package in the lock of %s, which npm ci would refuse", async (place) => {
    const path = join(root, place, "package-lock.json");
    const { text } = await run(process.execPath, ["scripts/complete-lock.mjs", "--check", path]);
    expect(text.split("\n").filter((line) => line.includes("is missing"))).toEqual([]);
  });

  it("names the binary of another platform that is missing", async () => {
    const name = "node_modules/@typescript/typescript-darwin-arm64";
    const [code, text] = await checkWith((packages) => {
      entry(packages, name);
      delete packages[name];
    });
    expect(code).toBe(1);
    expect(text).toContain("@typescript/typescript-darwin-arm64@");
  });

  it("names a package that carries a download address", async () => {
    const [code, text] = await checkWith((packages) => {
      entry(packages, "node_modules/vitest").resolved = "https://registry.example/vitest.tgz";
    });
    expect([code, text]).toEqual([
      1,
      expect.stringContaining("node_modules/vitest carries a download address"),
    ]);
  });

  it("names a package with an install script", async () => {
    const [code, text] = await checkWith((packages) => {
      entry(packages, "node_modules/vitest").hasInstallScript = true;
    });
    expect([code, text]).toEqual([1, expect.stringContaining("node_modules/vitest has an install script")]);
  });

  it("names an optional package locked at another version than its parent wants", async () => {
    const [code, text] = await checkWith((packages) => {
      entry(packages, "node_modules/@typescript/typescript-win32-x64").version = "1.0.0";
    });
    expect([code, text]).toEqual([1, expect.stringContaining("locked at 1.0.0")]);
  });
});
