// What the documentation shows is true: its tables are the code's, its blocks type-check and run.

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../scripts/packages.ts";
import { stopReasonsPage } from "../scripts/stop-reasons.ts";
import { withTable } from "../scripts/table.ts";

const folder = join(root, ".docs-blocks");
const pages = [
  "README.md",
  ...["docs", "docs/presets"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name)),
  ),
];
const examples = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".ts"));
const blocks = pages.flatMap((page) =>
  [...readFileSync(join(root, page), "utf8").matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = ""], at) => ({
    name: `${page} block ${at + 1}`,
    file: `${page.replaceAll(/[^a-z]+/gi, "-")}-${at + 1}.ts`,
    code,
  })),
);

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const { file, code } of blocks) writeFileSync(join(folder, file), code);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: "../tsconfig.json",
      compilerOptions: { noUnusedLocals: false },
      include: ["*.ts"],
      exclude: [],
    }),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the examples", () => {
  test.each(examples)("%s runs", (name) => {
    const args = [
      "--conditions=rondo-source",
      "--disable-warning=ExperimentalWarning",
      join(root, "examples", name),
    ];
    const said = execFileSync(process.execPath, args, {
      cwd: root,
      encoding: "utf8",
      stdio: "pipe",
      timeout: 60_000,
    });
    expect(said.trim()).not.toBe("");
  });
});

describe("the documentation", () => {
  test("shows the loop's table as it is", () => {
    const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
    expect(page, "run `npm run -s table`").toBe(withTable(page));
  });

  test("shows the stop reasons as they are", () => {
    expect(readFileSync(join(root, "docs/stop-reasons.md"), "utf8"), "run `npm run -s stop-reasons`").toBe(
      stopReasonsPage(),
    );
  });

  test("has blocks that type-check", () => {
    execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], {
      cwd: root,
      encoding: "utf8",
      stdio: "pipe",
    });
  });

  test.each(blocks)("$name runs", ({ file, code }) => {
    const args = ["--conditions=rondo-source", "--disable-warning=ExperimentalWarning", join(folder, file)];
    const said = execFileSync(process.execPath, args, {
      cwd: root,
      encoding: "utf8",
      stdio: "pipe",
      timeout: 60_000,
    });
    if (code.includes("console.log") || code.includes("stdout")) expect(said.trim()).not.toBe("");
    expect(said).not.toMatch(/undefined|NaN|\[object Object\]/);
  });
});
