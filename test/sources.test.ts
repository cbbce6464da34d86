// What the sources may say, and the proof that the checks see it when they do not keep to it.

import { execFileSync, spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packagesInOrder, readManifest, root } from "../scripts/packages.ts";
import {
  circlesIn,
  impuritiesOf,
  oldSpaceFunctionsOf,
  specifiersOf,
  unmarkedImportsOf,
} from "../scripts/source-rules.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");

describe("the pure rooms of core", () => {
  // The driver and its arms: the only files of the loop that may do. A new one is pure until it is named here.
  const arms = [
    "ongoing",
    "act",
    "think",
    "ask-hooks",
    "reconcile",
    "children",
    "tool-context",
    "groups",
    "telling",
  ];
  const shells = ["drive", ...arms.map((arm) => `driving/${arm}`)];
  const pure = globSync(["packages/core/src/loop/**/*.ts", "packages/core/src/rules/**/*.ts"], {
    cwd: root,
  }).filter((path) => !shells.some((name) => path === `packages/core/src/loop/${name}.ts`));

  it("are found", () => {
    expect(pure).toEqual(
      expect.arrayContaining(
        ["records", "state", "next", "folding/turn", "deciding/judge"].map(
          (name) => `packages/core/src/loop/${name}.ts`,
        ),
      ),
    );
    expect(pure.some((path) => path.includes("/rules/"))).toBe(true);
  });

  it.each(pure)("%s neither waits nor looks at a clock, at chance or at the world", (path) => {
    expect(impuritiesOf(read(path), path)).toEqual([]);
  });

  it.each([
    ["Date.now()", "Date"],
    ["new Date()", "Date"],
    ["Math.random()", "Math.random"],
    ['Math["random"]()', "Math.random"],
    ["setTimeout(f, 1)", "setTimeout"],
    ["performance.now()", "performance"],
    ['fetch("x")', "fetch"],
    ["globalThis.fetch", "globalThis"],
    ["async () => 1", "async"],
    ["{ async f() {} }", "async"],
    ["await f()", "await"],
    ['import("x")', "import()"],
    ["(Date as unknown as { now(): number }).now()", "Date"],
    ["{ at: Date.now() }", "Date"],
    ["{ fetch }", "fetch"],
  ])("would be caught at %s", (code, what) => {
    expect(impuritiesOf(`\nexport const x = ${code};\n`, "x.ts")).toContain(`line 2: ${what}`);
  });

  it.each([
    "/* Date.now() and await */ 'Math.random()'",
    "(s: { Date: number; fetch: string }) => s.Date + s.fetch.length",
    "(f: () => Promise<Date>): void => void f",
    "{ fetch: 1, Date: 2 }",
  ])("may say %s", (code) => {
    expect(impuritiesOf(`export const x = ${code};\n`, "x.ts")).toEqual([]);
  });
});

describe("imports", () => {
  /** What a source of a package may not import, given what the package declares. */
  const undeclared = (text: string, declared: readonly string[], builtins: boolean): string[] =>
    specifiersOf(text, "x.ts")
      .map(({ value }) => value)
      .filter((value) => {
        if (value.startsWith("./") || value.startsWith("../")) return false;
        if (value.startsWith("node:")) return !builtins;
        return !declared.some((name) => value === name || value.startsWith(`${name}/`));
      });

  it.each(packagesInOrder().map(({ name, folder }) => [name, folder] as const))(
    "of %s are its declared dependencies, and core has no module of Node's",
    (name, folder) => {
      const { dependencies, peerDependencies, optionalDependencies, inlined = [] } = readManifest(folder);
      const declared = [
        ...Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies }),
        ...inlined,
      ];
      const sources = globSync("src/**/*.ts", { cwd: folder });
      expect(sources.length).toBeGreaterThan(0);
      const wrong = sources.flatMap((file) =>
        undeclared(readFileSync(join(folder, file), "utf8"), declared, name !== "@rondo/core").map(
          (module) => `${file} imports ${module}`,
        ),
      );
      expect(wrong).toEqual([]);
    },
  );

  it.each([
    'import fs from "node:fs";',
    'import type { Stats } from "node:fs";',
    'export * from "node:path";',
    'export const f = () => import("node:fs");',
    'export type S = import("node:fs").Stats;',
    'import "left-pad";',
    'import fs from "fs";',
  ])("would be caught at %s", (code) => {
    expect(undeclared(code, ["@cfworker/json-schema"], false)).toHaveLength(1);
  });

  it("may be of a declared dependency, of a part of one, and of a neighbour", () => {
    const code = 'import "zod"; import "zod/v4"; import "./x.ts"; import "../y.ts"; import "node:fs";';
    expect(undeclared(code, ["zod"], true)).toEqual([]);
  });

  it("lead from no file back to itself", () => {
    const sources = new Map(
      globSync(["packages/*/src/**/*.ts", "scripts/**/*.ts"], { cwd: root }).map((path) => [
        path,
        read(path),
      ]),
    );
    expect(sources.size).toBeGreaterThan(300);
    expect(circlesIn(sources)).toEqual([]);
  });

  it.each([
    [{ "a/x.ts": 'import "./y.ts";', "a/y.ts": 'import { x } from "./x.ts";' }, "a/x.ts → a/y.ts → a/x.ts"],
    [
      { "a/x.ts": 'import "../b.ts";', "b.ts": 'export type { X } from "./a/x.ts";' },
      "a/x.ts → b.ts → a/x.ts",
    ],
    [{ "x.ts": 'const y = () => import("./y.ts");', "y.ts": 'import "./x.ts";' }, "x.ts → y.ts → x.ts"],
  ])("would be caught in a circle (%#)", (files, circle) => {
    expect(circlesIn(new Map(Object.entries(files)))).toEqual([circle]);
  });

  it("may lead to one file by two ways", () => {
    const files = { "a.ts": 'import "./b.ts"; import "./c.ts";', "b.ts": 'import "./c.ts";', "c.ts": "" };
    expect(circlesIn(new Map(Object.entries(files)))).toEqual([]);
  });
});

describe("functions that would keep dead objects alive", () => {
  const made = globSync(["packages/{core,models,journal}/src/**/*.ts"], { cwd: root });

  it("are made nowhere on the way of a run", () => {
    expect(made.length).toBeGreaterThan(200);
    const found = made.flatMap((path) =>
      oldSpaceFunctionsOf(read(path), path).map((what) => `${path}, ${what}`),
    );
    expect(found).toEqual([]);
  });

  it.each([
    ["function f(o) {\n o.wake = () => o; }", "line 2: o.wake = …"],
    ["class A { #wake; f() {\n this.#wake ??= async () => this; } }", "line 2: this.#wake = …"],
    ["const f = (list) => {\n list[0] = function () { return list; }; }", "line 2: list[0] = …"],
    ["const f = (x) => ({\n get x() { return x; } });", "line 2: an accessor of a literal"],
  ])("would be caught at %s", (code, what) => {
    expect(oldSpaceFunctionsOf(code, "x.js")).toEqual([what]);
  });

  it.each([
    "function f(o) { const wake = () => o; o.wake = wake; }",
    "class A { #wake = () => this; get x() { return this.#wake; } }",
    "const f = (x) => ({ x: () => x, y() { return x; } });",
    "process.emitWarning = () => {};",
    "let f; const g = (x) => { f = () => x; };",
  ])("may be %s", (code) => {
    expect(oldSpaceFunctionsOf(code, "x.js")).toEqual([]);
  });

  it("keep what they reach through every collection of the young objects, and others do not", () => {
    // What the rule is made for, seen in the engine itself: what outlives two collections, in megabytes. Each in a process
    // of its own: the engine learns from what it saw live long.
    const kept = (wake: string): number => {
      const program = `
        class Made {
          big = new Array(500).fill(0).map((_, i) => ({ i }));
          wake;
          run() { ${wake} }
        }
        for (let i = 0; i < 300; i += 1) new Made().run();
        gc();
        gc();
        for (let i = 0; i < 1000; i += 1) new Made().run();
        gc({ type: "minor" });
        gc({ type: "minor" });
        const young = process.memoryUsage().heapUsed;
        gc();
        gc();
        console.log((young - process.memoryUsage().heapUsed) / 1e6);`;
      const flags = ["--expose-gc", "--no-incremental-marking", "-e", program];
      return Number(execFileSync(process.execPath, flags, { encoding: "utf8" }));
    };
    expect(kept("this.wake = () => this;")).toBeGreaterThan(10);
    expect(kept("const wake = () => this; this.wake = wake;")).toBeLessThan(2);
  });
});

describe("imports of what a variable names", () => {
  // What only ever runs on Node as it is published is bundled by nobody.
  const bundled = globSync("packages/{core,models,journal,tools,restate,testkit}/src/**/*.ts", { cwd: root });

  it.each(bundled.filter((path) => read(path).includes("import(")))(
    "are left alone by bundlers: %s",
    (path) => {
      expect(unmarkedImportsOf(read(path), path)).toEqual([]);
    },
  );

  it("are caught where nothing says so, and are free to be where it does", () => {
    expect(unmarkedImportsOf("\nawait import(name);", "x.ts")).toEqual(["line 2: import(name)"]);
    const marked = "import(/* webpackIgnore: true */ /* @vite-ignore */ name); import('node:fs');";
    expect(unmarkedImportsOf(marked, "x.ts")).toEqual([]);
  });
});

describe("what two branches changed", () => {
  it("was put together to its end: no tracked file holds a mark of the merging", () => {
    const marks = ["grep", "-lE", "^(<{7}|>{7}) ", "--", ":!*.jsonl"];
    const { status, stdout } = spawnSync("git", marks, { cwd: root, encoding: "utf8" });
    // 1: there is none; more: there is no repository to ask.
    expect(stdout).toBe("");
    expect(status).not.toBe(0);
  });
});
