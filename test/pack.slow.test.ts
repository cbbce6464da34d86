// What a user gets from npm works: the tarballs, installed in an empty project, on the oldest Node we promise and on the
// workspace's own, with the README's first example as the program; and on Bun and Deno.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tarballsVariable } from "../scripts/built.ts";
import { packAll, tarballsIn } from "../scripts/pack.ts";
import { publishedPackages, readManifest, root } from "../scripts/packages.ts";
import { mustRun } from "../scripts/run-command.ts";
import { specifiersOf } from "../scripts/source-rules.ts";

/** The lowest Node of every package's `engines`. */
const oldest = "22.18.0";
const oldNodePackage = `node-${process.platform}-${process.arch}`;
const bunPackage = `@oven/bun-${process.platform}-${process.arch === "arm64" ? "aarch64" : process.arch}`;
/** Node comes as an npm package for these platforms only. */
const hasOldNode = process.platform === "linux" && ["x64", "arm64"].includes(process.arch);

const readme = join(root, "README.md");
/** The first TypeScript block of the README; undefined where there is none. */
const exampleOf = (text: string): string | undefined => /^```ts[^\n]*\n(.*?)^```/ms.exec(text)?.[1];

const install = (folder: string, packages: readonly string[]): Promise<unknown> =>
  mustRun("npm", ["install", "--save-exact", "--no-audit", "--no-fund", "--ignore-scripts", ...packages], {
    cwd: folder,
    timeoutMs: 240_000,
  });

describe("the packed packages", { timeout: 300_000 }, () => {
  const scratch = mkdtempSync(join(tmpdir(), "rondo-pack-"));
  const project = join(scratch, "project");
  const nodes = new Map<string, string>([["the workspace's", process.execPath]]);
  // No key and no setting of this machine's may help or harm the example.
  const env: Record<string, string | undefined> = {
    ...Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined])),
    PATH: process.env.PATH,
    HOME: scratch,
    NODE_OPTIONS: undefined,
  };

  beforeAll(async () => {
    const given = process.env[tarballsVariable];
    const tarballs = given ?? join(scratch, "tarballs");
    if (given === undefined) await packAll(tarballs);
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
    const wanted = [...tarballsIn(tarballs).values()];
    const example = existsSync(readme) ? exampleOf(readFileSync(readme, "utf8")) : undefined;
    const { devDependencies = {} } = readManifest(root);
    for (const { value } of example === undefined ? [] : specifiersOf(example, "example.ts")) {
      const version = devDependencies[value];
      if (version !== undefined) wanted.push(`${value}@${version}`);
    }
    await install(project, [...wanted, `@types/node@${devDependencies["@types/node"]}`]);
    if (hasOldNode) {
      const folder = join(scratch, "node");
      mkdirSync(folder);
      writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
      await install(folder, [`${oldNodePackage}@${oldest}`]);
      nodes.set(oldest, join(folder, "node_modules", oldNodePackage, "bin", "node"));
    }
  }, 300_000);
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  /** They import a test runner, which whoever has none does without. */
  const ofRunner = new Set(["@rondo/testkit/vitest", "@rondo/testkit/jest"]);

  describe.each(["the workspace's", oldest])("on Node %s", (version) => {
    const nodeOr = (skip: (why: string) => never): string =>
      nodes.get(version) ?? skip(`no npm package brings Node ${version} for this platform`);

    it("is the Node it says", async ({ skip }) => {
      const { stdout } = await mustRun(nodeOr(skip), ["--version"], { env });
      expect(stdout.trim()).toBe(version === oldest ? `v${oldest}` : process.version);
    });

    it("imports every entry of every package", async ({ skip }) => {
      const entries = publishedPackages()
        .flatMap(({ name, manifest }) =>
          Object.keys(manifest.exports ?? {})
            .filter((entry) => !entry.includes("*") && !entry.endsWith(".json"))
            .map((entry) => name + entry.slice(1)),
        )
        .filter((entry) => !ofRunner.has(entry));
      expect(entries).toContain("@rondo/core");
      const code = entries.map((entry) => `await import(${JSON.stringify(entry)});`).join("\n");
      const file = join(project, "imports.mjs");
      writeFileSync(file, `${code}\nconsole.log("all imported");\n`);
      const { text } = await mustRun(nodeOr(skip), [file], { cwd: project, env });
      expect(text).toBe("all imported\n");
    });

    it("starts the rondo command", async ({ skip }) => {
      const bin = join(project, "node_modules/rondo/bin/rondo.mjs");
      if (!existsSync(join(project, "node_modules/rondo/dist/main.js")))
        skip("the command is not written yet");
      const { stdout } = await mustRun(nodeOr(skip), [bin, "--help"], {
        cwd: project,
        env,
        timeoutMs: 30_000,
      });
      expect(stdout).toMatch(/rondo/i);
    });

    it("leads whoever asks Node for source maps to the sources, which are there", async ({ skip }) => {
      const file = join(project, "mistake.mjs");
      const code = `import { Agent } from "@rondo/core"; try { new Agent({}); } catch (error) { console.log(error.stack); }`;
      writeFileSync(file, code);
      const { stdout } = await mustRun(nodeOr(skip), ["--enable-source-maps", file], { cwd: project, env });
      expect(stdout).toMatch(/^RondoError: option model: /);
      const [, source = "", line = ""] = /\(([^()]+\/core\/src\/\S+\.ts):(\d+):\d+\)/.exec(stdout) ?? [];
      expect(readFileSync(source, "utf8").split("\n")[Number(line) - 1]).toContain("new RondoError(");
    });

    it("runs the README's first example, which prints something", async ({ skip }) => {
      if (!existsSync(readme)) skip("there is no README.md yet");
      const example = exampleOf(readFileSync(readme, "utf8"));
      if (example === undefined) throw new Error("README.md has no ```ts block");
      const file = join(project, "example.ts");
      writeFileSync(file, example);
      const { stdout } = await mustRun(nodeOr(skip), [file], { cwd: project, env, timeoutMs: 60_000 });
      expect(stdout.trim()).not.toBe("");
      expect(stdout).not.toMatch(/\b(undefined|NaN)\b|\[object Object\]/);
    });
  });

  describe.each([
    // The package of the program itself: that of the name puts it in place only with a script.
    ["bun", "1.4.5", bunPackage, `${bunPackage}/bin/bun`, []],
    ["deno", "2.9.6", "deno", ".bin/deno", ["run", "--allow-all"]],
  ] as const)("on %s %s", (runtime, version, name, bin, line) => {
    it("run an agent with the shell, files and both journals in files", async ({ skip }) => {
      if (process.platform !== "linux") skip("its program is only tried on Linux");
      const folder = join(scratch, runtime);
      mkdirSync(folder);
      writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
      await install(folder, [`${name}@${version}`]);
      const file = join(project, `${runtime}.mjs`);
      const program = `import { Agent } from "@rondo/core";
        import { jsonlJournal, sqliteJournal } from "@rondo/journal";
        import { call, say, scripted } from "@rondo/testkit";
        import { fileTools, runCommand } from "@rondo/tools";
        import { mkdtempSync } from "node:fs";
        import { tmpdir } from "node:os";
        import { join } from "node:path";
        const root = mkdtempSync(join(tmpdir(), "rondo-runtime-"));
        const tools = [...fileTools({ root, writePermission: "allow" }), runCommand({ root, permission: "allow", sandbox: "off" })];
        for (const [name, make] of [["a.db", sqliteJournal], ["lines", jsonlJournal]]) {
          const journal = await make(join(root, name));
          const script = [
            call("write_file", { path: name + ".txt", content: "one" }),
            call("run_command", { command: "cat " + name + ".txt; echo two >&2" }),
            say("done"),
          ];
          const session = await new Agent({ model: scripted(script), tools, journal }).open("s");
          const { end, messages } = await session.send("go");
          console.log(name, end.reason, messages.filter(({ role }) => role === "tool").map(({ content }) => content[0].text).join());
        }
        process.exit(0);`;
      writeFileSync(file, program);
      // Like many programs it inherits open files, which the commands must not get.
      const executable = join(folder, "node_modules", bin);
      const inheriting = ["-c", 'exec "$0" "$@" 5</dev/null 6</dev/null', executable, ...line, file];
      const { stdout } = await mustRun("sh", inheriting, { cwd: project, env, timeoutMs: 60_000 });
      expect(stdout.match(/completed/g)).toHaveLength(2);
      expect(stdout.match(/\[stdout\]\none\n\[stderr\]\ntwo/g)).toHaveLength(2);
    });
  });

  it("type-check with the README's first example, declarations included", async () => {
    const example = existsSync(readme) ? exampleOf(readFileSync(readme, "utf8")) : undefined;
    const imports = publishedPackages().map(({ name }, at) => `export * as p${at} from "${name}";`);
    const folder = join(project, "types");
    mkdirSync(folder);
    writeFileSync(join(folder, "imports.ts"), `${imports.join("\n")}\n`);
    if (example !== undefined) writeFileSync(join(folder, "example.ts"), example);
    const compilerOptions = {
      ...{ strict: true, noEmit: true, target: "ES2023", module: "NodeNext", moduleDetection: "force" },
      // Our declarations are looked at too, not only what the example does with them.
      ...{ types: ["node"], skipLibCheck: false },
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    await mustRun("tsc", ["-p", folder], { cwd: project });
  });

  it("have names for all that their functions give, so that a library of somebody's may export it", async () => {
    const folder = join(project, "named");
    mkdirSync(folder);
    const entries = publishedPackages()
      .flatMap(({ name, manifest }) =>
        Object.keys(manifest.exports ?? {}).map((entry) => name + entry.slice(1)),
      )
      .filter((entry) => !entry.endsWith(".json") && !ofRunner.has(entry));
    // What is given is asked of the packages themselves, and what comes of it left to the compiler to write down.
    const program = `import { writeFileSync } from "node:fs";
      const lines = [];
      for (const [at, entry] of ${JSON.stringify(entries)}.entries()) {
        lines.push(\`import * as p\${at} from "\${entry}";\`);
        for (const [name, value] of Object.entries(await import(entry))) {
          const one = \`p\${at}.\${name}\`;
          // \`oneOf\` has no parameters until its words are there.
          const isMade = typeof value === "function" && !/^class\\b/.test(String(value)) && name !== "oneOf";
          if (!isMade) lines.push(\`export const p\${at}_\${name} = \${one};\`);
          else lines.push(\`export const p\${at}_\${name} = (...given: Parameters<typeof \${one}>) => \${one}(...given);\`);
        }
      }
      writeFileSync("named/all.ts", lines.join("\\n") + "\\n");
      console.log(lines.length);`;
    writeFileSync(join(project, "named.mjs"), program);
    const { stdout } = await mustRun(process.execPath, ["named.mjs"], { cwd: project, env });
    expect(Number(stdout)).toBeGreaterThan(400);
    const compilerOptions = {
      ...{ strict: true, declaration: true, target: "ES2023", module: "NodeNext", types: ["node"] },
      ...{ skipLibCheck: true, rootDir: ".", outDir: "dist" },
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    await mustRun("tsc", ["-p", folder], { cwd: project });
  });

  it("hold a type error of the example against it", async () => {
    const folder = join(project, "wrong");
    mkdirSync(folder);
    writeFileSync(
      join(folder, "example.ts"),
      'import { type StopKind } from "@rondo/core";\nexport const kind: StopKind = "no such kind";\n',
    );
    const compilerOptions = { strict: true, noEmit: true, target: "ES2023", module: "NodeNext", types: [] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    await expect(mustRun("tsc", ["-p", folder], { cwd: project })).rejects.toThrow(/TS2322/);
  });
});
