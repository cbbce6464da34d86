// The linter's bans hold: each is shown a source that breaks it, in a folder of its own under the workspace's rules.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../scripts/packages.ts";
import { run } from "../scripts/run-command.ts";

interface Report {
  diagnostics: { category: string; location: { path: string } }[];
}

const broken: [file: string, code: string, rule: string][] = [
  ["packages/core/src/a.ts", "export const a = AbortSignal.any([]);", "nursery/noJsRestrictedProperties"],
  ["packages/core/src/b.ts", "export const { any } = AbortSignal;", "nursery/noJsRestrictedProperties"],
  ["packages/cli/src/c.ts", "export const a = AbortSignal.any([]);", "nursery/noJsRestrictedProperties"],
  ["packages/core/src/d.ts", "console.log(1);", "suspicious/noConsole"],
  ["packages/models/src/e.ts", "console.error(1);", "suspicious/noConsole"],
  ["packages/core/src/f.ts", "export const a: any = 1;", "suspicious/noExplicitAny"],
  ["packages/core/src/g.ts", "// @ts-ignore\nexport const a = 1;", "suspicious/noTsIgnore"],
  ["packages/core/src/h.ts", "export enum A { B }", "style/noEnum"],
  ["packages/core/src/i.ts", 'fetch("x");', "nursery/noFloatingPromises"],
  ["packages/core/src/j.ts", "[1].forEach(async () => {});", "nursery/noMisusedPromises"],
  ["packages/core/test/a.test.ts", 'it.only("x", () => {});', "suspicious/noFocusedTests"],
  ["packages/core/test/b.test.ts", 'describe.only("x", () => {});', "suspicious/noFocusedTests"],
  ["packages/core/test/c.test.ts", 'test.skip("x", () => {});', "suspicious/noSkippedTests"],
];
const sound: [file: string, code: string][] = [
  ["packages/core/src/y.ts", "export const a = AbortSignal.timeout(1);"],
  ["packages/cli/src/z.ts", "console.log(1);"],
  ["packages/core/test/z.test.ts", 'test.skipIf(true)("x", () => {});'],
];

describe("the linter", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-lint-"));
  let report: Report = { diagnostics: [] };

  beforeAll(async () => {
    const rules = JSON.parse(readFileSync(join(root, "biome.json"), "utf8")) as Record<string, unknown>;
    // The folder is no git checkout.
    delete rules.vcs;
    delete rules.$schema;
    writeFileSync(join(folder, "biome.json"), JSON.stringify(rules));
    for (const [file, code] of [...broken, ...sound]) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), `${code}\n`);
    }
    const { stdout } = await run("biome", ["lint", "--reporter=json", "--max-diagnostics=200", "."], {
      cwd: folder,
    });
    report = JSON.parse(stdout) as Report;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const saidOf = (file: string): string[] =>
    report.diagnostics.filter(({ location }) => location.path === file).map(({ category }) => category);

  it.each(broken)("catches in %s: %s", (file, _code, rule) => {
    expect(saidOf(file)).toContain(`lint/${rule}`);
  });

  it.each(sound)("lets pass in %s: %s", (file) => {
    expect(saidOf(file)).toEqual([]);
  });
});
