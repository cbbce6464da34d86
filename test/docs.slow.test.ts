// What the documentation shows is true: its blocks type-check and run, and print what stands behind them.
//
// Each block is a program of its own. Its code stands in its file at the line it has in its page, so that what the
// compiler and the runtime say of a line is said of the page's line.

import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isBuilt, withPackages } from "../scripts/built.ts";
import { allPages, type Block, blocksOf, expectedOf } from "../scripts/docs/pages.ts";
import { root } from "../scripts/packages.ts";

const folder = join(root, ".docs-blocks");
const examples = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".ts"));
const blocks = allPages()
  .flatMap(blocksOf)
  .filter(({ use }) => use !== "not_run");
const fileOf = ({ page, line }: Block): string => `${page.replaceAll(/[^a-z]+/gi, "-")}-${line}.ts`;
const pageOf = new Map(blocks.map((block) => [fileOf(block), block.page]));

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  // Without an import or an export of its own a block would be a script, and share its names with the others.
  for (const block of blocks)
    writeFileSync(
      join(folder, fileOf(block)),
      `${"\n".repeat(block.line - 1)}${block.code}${/^(import|export) /m.test(block.code) ? "" : "export {};\n"}`,
    );
  for (const [name, own] of Object.entries(compilers))
    writeFileSync(
      join(folder, name),
      JSON.stringify({
        extends: "../tsconfig.json",
        compilerOptions: {
          ...{ noUnusedLocals: false, noUnusedParameters: false },
          // Over the declarations that a user has, where there are any.
          ...(isBuilt ? { customConditions: [] } : {}),
          ...own,
        },
        include: ["*.ts"],
        exclude: [],
      }),
    );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As we have it, and with a browser's types as well, as whoever names no library has it. */
const compilers: Readonly<Record<string, object>> = {
  "tsconfig.json": {},
  "tsconfig.browser.json": { lib: ["esnext", "dom", "dom.iterable", "dom.asynciterable"] },
};

/** Names the page in place of the block's file. */
const ofThePage = (text: string): string =>
  text
    .replaceAll(
      /(?:file:\/\/)?[^\s("']*?([a-z]+(?:-[a-z]+)*-\d+\.ts)\((\d+),(\d+)\)/gi,
      (all, file, line, column) => (pageOf.has(file) ? `${pageOf.get(file)}:${line}:${column}` : all),
    )
    .replaceAll(
      /(?:file:\/\/)?[^\s("']*?([a-z]+(?:-[a-z]+)*-\d+\.ts)(?=:\d+)/gi,
      (all, file) => pageOf.get(file) ?? all,
    );

/** No key and no address of a provider: what a page shows needs none. */
function bareEnvironment(): NodeJS.ProcessEnv {
  const keys = /(_API_KEY|_TOKEN|_BASE_URL|_HOST|^AWS_.*|^GOOGLE_.*|^AZURE_.*|^OLLAMA_.*)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !keys.test(name)));
}

async function run(file: string): Promise<string> {
  const args = [...withPackages, "--disable-warning=ExperimentalWarning", file];
  const how = { cwd: root, timeout: 60_000, env: { ...bareEnvironment(), NO_COLOR: "1" } };
  try {
    return (await promisify(execFile)(process.execPath, args, how)).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(ofThePage(`${stderr}\n${stdout}` || String(error)), { cause: error });
  }
}

const inOneLine = (text: string): string => text.replaceAll(/\s+/g, " ");

describe.concurrent("the examples", () => {
  test.each(examples)("%s runs", async (name) => {
    expect((await run(join(root, "examples", name))).trim()).not.toBe("");
  });
});

describe("the documentation", () => {
  test.each(Object.keys(compilers))("has blocks that type-check by %s", async (name) => {
    const tsc = join(root, "node_modules/.bin/tsc");
    await promisify(execFile)(tsc, ["-p", join(folder, name), "--pretty", "false"], { cwd: root }).catch(
      (error: { stdout?: string }) => {
        throw new Error(ofThePage(error.stdout ?? String(error)), { cause: error });
      },
    );
  });

  test("shows the first agent as the example has it", () => {
    const page = readFileSync(join(root, "docs/guide/first-agent.md"), "utf8");
    expect(page).toContain(
      readFileSync(join(root, "examples/first-agent.ts"), "utf8").replace(/^(\/\/.*\n)+\n/, ""),
    );
  });
});

describe.concurrent("the blocks of the documentation", () => {
  test.each(
    blocks
      .filter(({ use }) => use === "run")
      .map((block) => ({ ...block, name: `${block.page}:${block.line}` })),
  )("$name runs and prints what it says", async (block) => {
    const said = await run(join(folder, fileOf(block)));
    if (/console\.log|stdout/.test(block.code)) expect(said.trim()).not.toBe("");
    expect(said).not.toMatch(/\bundefined\b|\bNaN\b|\[object Object\]/);
    let rest = inOneLine(said);
    for (const { line, parts } of expectedOf(block))
      for (const part of parts) {
        const at = rest.indexOf(inOneLine(part));
        if (at < 0) throw new Error(`${block.page}:${line}: it says ${part}\nand prints ${said}`);
        rest = rest.slice(at);
      }
  });
});
