// The command's door, on Nodes that will do and on one that will not.

import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../scripts/packages.ts";
import { run } from "../scripts/run-command.ts";

describe("the rondo command's door", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-bin-"));
  const bin = join(folder, "bin", "rondo.mjs");
  const main = (where: string): string =>
    `console.log(${JSON.stringify(where)}, process.argv.slice(2).join(" ")); process.exitCode = 7;\n`;
  /** What the door would be on Node 20: the same file, told another version. */
  const old = join(folder, "bin", "old.mjs");

  beforeAll(() => {
    for (const name of ["bin", "dist", "src"]) mkdirSync(join(folder, name));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    copyFileSync(join(root, "packages/cli/bin/rondo.mjs"), bin);
    const text = readFileSync(bin, "utf8");
    const told = text.replace("process.versions.node.split", "process.env.FAKE_NODE.split");
    expect(told).not.toBe(text);
    writeFileSync(old, told);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("says how to build when there is nothing to start, and exits with 2", async () => {
    const { code, text } = await run(process.execPath, [bin]);
    expect([code, text]).toEqual([2, expect.stringContaining("npm run build")]);
  });

  it("starts the sources under the workspace's condition where nothing is built", async () => {
    writeFileSync(
      join(folder, "src/main.ts"),
      `const conditions: string = process.execArgv.join(" ");\nconsole.log(conditions, process.argv.slice(2).join(" "));\n`,
    );
    const { code, stdout } = await run(process.execPath, [bin, "run", "a b"]);
    expect([code, stdout]).toEqual([0, "--conditions=rondo-source run a b\n"]);
  });

  it("starts what was built, with its arguments and its exit code", async () => {
    writeFileSync(join(folder, "dist/main.js"), main("built"));
    const { code, stdout } = await run(process.execPath, [bin, "run", "x"]);
    expect([code, stdout]).toEqual([7, "built run x\n"]);
  });

  it("says which Node is needed where only an old one is, and exits with 2", async () => {
    const { code, text } = await run(process.execPath, [old], { env: { FAKE_NODE: "20.20.2" } });
    expect([code, text]).toEqual([2, expect.stringMatching(/this is Node .*22\.18 or newer is needed/)]);
  });

  it("refuses 22.17 and takes 22.18", async () => {
    const before = await run(process.execPath, [old], { env: { FAKE_NODE: "22.17.9" } });
    const after = await run(process.execPath, [old], { env: { FAKE_NODE: "22.18.0" } });
    expect([before.code, after.code]).toEqual([2, 7]);
  });

  it("goes over to a Node that was brought along, with arguments and exit code", async () => {
    const brought = join(folder, "node_modules", `node-${process.platform}-${process.arch}`);
    mkdirSync(join(brought, "bin"), { recursive: true });
    writeFileSync(join(brought, "package.json"), JSON.stringify({ name: "node" }));
    symlinkSync(process.execPath, join(brought, "bin", "node"));
    // Told to be old only as long as it is the first process: the other one is asked its true version.
    writeFileSync(
      old,
      readFileSync(old, "utf8")
        .replace("process.env.FAKE_NODE.split", '(process.env.FAKE_NODE ?? "24.0.0").split')
        .replace('stdio: "inherit"', 'stdio: "inherit", env: {}'),
    );
    const { code, stdout } = await run(process.execPath, [old, "run", "x"], {
      env: { FAKE_NODE: "20.20.2" },
    });
    expect([code, stdout]).toEqual([7, "built run x\n"]);
  });
});
