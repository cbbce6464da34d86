import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { calculate, fileTools } from "@rondo/tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { offline } from "../../src/index.ts";
import { Talk, type Told } from "./offline-loop.ts";

let root = "";

const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

const sh = (command: string): number =>
  Number(execFileSync("sh", ["-c", command], { cwd: root, encoding: "utf8" }).trim());

const talk = (): Talk => new Talk(offline(), [...fileTools({ root }), calculate()]);
const ask = (task: string): Promise<Told> => talk().ask(task);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "rondo-offline-"));
  put(
    "README.md",
    "# Garden\n\nGarden grows trees of records. It needs Node 22.\n\n## Install\n\ntext\n\n## Use\n\nmore text\n",
  );
  put(
    "package.json",
    JSON.stringify(
      {
        name: "garden",
        version: "3.1.4",
        license: "MIT",
        engines: { node: ">=22.18" },
        scripts: { test: "vitest run", build: "tsc" },
        dependencies: { acorn: "8.0.0", zod: "4.0.0" },
      },
      null,
      2,
    ),
  );
  put("LICENSE", "MIT License\n\nPermission is granted.\n");
  put("packages/core/src/index.ts", 'export * from "./tree.ts";\nexport * from "./leaf.ts";\n');
  put(
    "packages/core/src/tree.ts",
    'import { leaf } from "./leaf.ts";\n\nexport class Tree {}\n\nexport function plant(): Tree {\n  leaf();\n  return new Tree();\n}\n// a tree, another tree\n',
  );
  put("packages/core/src/leaf.ts", "export function leaf(): void {}\n");
  put("packages/core/src/deep/root.ts", "// the root\nexport const root = 1;\n");
  put("packages/core/test/tree.test.ts", 'import { plant } from "../src/tree.ts";\nplant();\n');
  put("packages/core/package.json", '{ "name": "core" }\n');
  put("packages/tools/main.py", "def run():\n    pass\n\n\ndef stop():\n    pass\n");
  put("packages/tools/notes.md", "# Notes\n\nNode and trees.\n");
  put("docs/guide.md", "# Guide\n\n## First\n\n## Second\n");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const src = "packages/core/src";
const findTs = `find ${src} -name '*.ts' | wc -l`;

/** Task, tool it must call, command whose number the answer must hold in bold. */
const table: [task: string, tool: string, command: string][] = [
  ["how many .ts files are under packages/core/src?", "list_files", findTs],
  ["count the TypeScript files in packages/core/src", "list_files", findTs],
  ["number of *.ts files below packages/core/src", "list_files", findTs],
  ["tell me how many typescript source files packages/core/src contains", "list_files", findTs],
  ["How many `.ts` files does `./packages/core/src/` have?", "list_files", findTs],
  ['how many "*.ts" files are there in "packages/core/src"?', "list_files", findTs],
  ["Please count how many *.ts there are under ./packages/core/src/.", "list_files", findTs],
  ["what's the count of ts files in packages/core/src", "list_files", findTs],
  [
    "Could you tell me the total number of TypeScript files in the packages/core/src directory?",
    "list_files",
    findTs,
  ],
  ["How many TypeScript files can be found within the folder packages/core/src?", "list_files", findTs],
  ["I want to know how many typescript files live in packages/core/src", "list_files", findTs],
  ["how many typescript files does the directory `packages/core/src` hold", "list_files", findTs],
  ["packages/core/src contains how many TypeScript files?", "list_files", findTs],
  ["packages/core/src: number of .ts files?", "list_files", findTs],
  ["count **/*.ts in packages/core/src", "list_files", findTs],
  ["In packages/core/src, how many TypeScript files are there?", "list_files", findTs],
  ["how many files in packages/core/src have the .ts extension", "list_files", findTs],
  ["how many files in packages/core/src end with .ts?", "list_files", findTs],
  ["How many files are written in TypeScript in packages/core/src?", "list_files", findTs],
  ["I'd like to know how many ts files are inside packages/core/src", "list_files", findTs],
  ["can you count the .ts files inside packages/core/src for me?", "list_files", findTs],
  ["how many files are in packages/core?", "list_files", "find packages/core -type f | wc -l"],
  ["count the files in packages", "list_files", "find packages -type f | wc -l"],
  ["how many files does packages contain?", "list_files", "find packages -type f | wc -l"],
  ["number of files in this project", "list_files", "find . -type f | wc -l"],
  ["How many files are here?", "list_files", "find . -type f | wc -l"],
  ["how many files does this repository have in total", "list_files", "find . -type f | wc -l"],
  [
    "how many files are directly in packages/core",
    "list_files",
    "find packages/core -maxdepth 1 -type f | wc -l",
  ],
  ["how many markdown files are there?", "list_files", "find . -name '*.md' | wc -l"],
  ["how many .md files are in the repository", "list_files", "find . -name '*.md' | wc -l"],
  ["count all Markdown documents in this repo", "list_files", "find . -name '*.md' | wc -l"],
  ["How many JSON files are in this folder?", "list_files", "find . -name '*.json' | wc -l"],
  ["how many Python files are there in packages?", "list_files", "find packages -name '*.py' | wc -l"],
  ["how many test files are there?", "list_files", "find . -name '*.test.ts' | wc -l"],
  [
    "how many folders are in packages?",
    "list_files",
    "find packages -mindepth 1 -maxdepth 1 -type d | wc -l",
  ],
  ["count the subfolders of packages", "list_files", "find packages -mindepth 1 -maxdepth 1 -type d | wc -l"],
  [
    "how many directories does packages have, recursively",
    "list_files",
    "find packages -mindepth 1 -type d | wc -l",
  ],
  ["how many files are called index.ts?", "list_files", "find . -name index.ts | wc -l"],
  ["how many lines does README.md have?", "read_file", "wc -l < README.md"],
  ["how long is README.md", "read_file", "wc -l < README.md"],
  ["count the lines in `README.md`", "read_file", "wc -l < README.md"],
  ["number of lines in ./README.md", "read_file", "wc -l < README.md"],
  ["what is the line count of README.md?", "read_file", "wc -l < README.md"],
  [
    "how many lines are there in the file packages/core/src/tree.ts",
    "read_file",
    "wc -l < packages/core/src/tree.ts",
  ],
  ["how many lines are in tree.ts?", "read_file", "wc -l < packages/core/src/tree.ts"],
  ["how many words are in README.md?", "read_file", "wc -w < README.md"],
  ["word count of README.md", "read_file", "wc -w < README.md"],
  ["how many bytes is LICENSE", "read_file", "wc -c < LICENSE"],
  ["how big is LICENSE?", "read_file", "wc -c < LICENSE"],
  ["what is the size of the file LICENSE", "read_file", "wc -c < LICENSE"],
  [
    "how many lines of TypeScript are in packages/core/src?",
    "search_files",
    `cat $(find ${src} -name '*.ts') | wc -l`,
  ],
  [
    "how many lines are there in all files of packages/core/src",
    "search_files",
    `cat $(find ${src} -type f) | wc -l`,
  ],
  [
    'how many times does the word "tree" appear in packages/core/src/tree.ts?',
    "search_files",
    "grep -ow tree packages/core/src/tree.ts | wc -l",
  ],
  [
    "how often does export occur in packages/core/src/index.ts",
    "search_files",
    "grep -o export packages/core/src/index.ts | wc -l",
  ],
  ["count the occurrences of leaf in packages/core/src", "search_files", `grep -rho leaf ${src} | wc -l`],
  ["which files mention leaf?", "search_files", "grep -rl leaf . | wc -l"],
  ["which files in packages contain the word plant", "search_files", "grep -rlw plant packages | wc -l"],
  ["how many files mention plant", "search_files", "grep -rl plant . | wc -l"],
  ["find all files that import ./leaf.ts", "search_files", "grep -rl ./leaf.ts . | wc -l"],
  ["how many functions are in packages/tools/main.py", "read_file", "grep -c '^def ' packages/tools/main.py"],
  ["how many headings does docs/guide.md have", "read_file", "grep -c '^#' docs/guide.md"],
  [
    "number of classes in packages/core/src/tree.ts",
    "read_file",
    "grep -c 'class ' packages/core/src/tree.ts",
  ],
  ["what is 12*(3+4)?", "calculate", "echo $((12*(3+4)))"],
  ["15% of 80", "calculate", "echo $((15*80/100))"],
  ["what's the sum of 3, 4 and 5", "calculate", "echo $((3+4+5))"],
  ["compute seven times eight plus two", "calculate", "echo $((7*8+2))"],
  ["divide 84 by 2", "calculate", "echo $((84/2))"],
  ["2 to the power of 10", "calculate", "echo $((1024))"],
];

describe("reworded questions", () => {
  it.each(table)("%s", async (task, tool, command) => {
    const told = await ask(task);
    expect(told.calls.map((call) => call.name)).toContain(tool);
    expect(told.text).toMatch(new RegExp(`\\*\\*${sh(command)}\\b`));
    expect(told.calls.length).toBeLessThanOrEqual(12);
  });

  it("are answered from the file system: one more file, and a folder with another name", async () => {
    const session = talk();
    const before = sh(findTs);
    expect((await session.ask("how many .ts files are under packages/core/src?")).text).toContain(
      `**${before}**`,
    );
    put("packages/core/src/deep/new.ts", "");
    expect((await session.ask("how many .ts files are under packages/core/src?")).text).toContain(
      `**${before + 1}**`,
    );
    renameSync(join(root, "packages/core"), join(root, "packages/kernel"));
    expect((await session.ask("how many .ts files are under packages/kernel/src?")).text).toContain(
      `**${before + 1}**`,
    );
    expect((await session.ask("how many .ts files are under packages/core/src?")).text).toContain(
      "no `packages/core/src`",
    );
  });
});

describe("what it answers", () => {
  it("answers the default task from the listing, the README and the manifest, read together", async () => {
    const told = await ask("What is in this folder, and what is it for?");
    expect(told.calls.map((call) => call.name)).toEqual(["list_files", "read_file", "read_file"]);
    expect(told.batches).toEqual([1, 2]);
    expect(told.text).toContain("Garden grows trees of records");
    expect(told.text).toContain("`docs/`");
    expect(told.text).toContain("`garden`, version 3.1.4");
    expect(told.text).toMatch(/not a language model/);
    appendFileSync(join(root, "README.md"), "x");
    writeFileSync(join(root, "README.md"), "# Forest\n\nNow a forest.\n");
    expect((await ask("What is in this folder, and what is it for?")).text).toContain("Now a forest");
  });

  const tells: [task: string, ...parts: (string | RegExp)[]][] = [
    ["list the folders in packages", "`core/`", "`tools/`"],
    ["where is plant defined?", "packages/core/src/tree.ts", "line 5"],
    ["where is the class Tree declared", "line 3"],
    ["where is leaf used?", "packages/core/src/tree.ts:6"],
    ["does README.md mention Node?", /^Yes/, "Node 22"],
    ["does LICENSE mention Apache?", /^No/],
    ["is there a file named leaf.ts?", "`packages/core/src/leaf.ts`"],
    ["is there a file called nothing.ts", "no files named `nothing.ts`"],
    ["is there a src folder in packages/core?", "`packages/core/src`"],
    ["what does package.json say about engines", ">=22.18"],
    ["which version is in package.json?", "3.1.4"],
    ["what license does this project have?", "MIT"],
    ["how many dependencies does package.json have?", "2 entries", "acorn"],
    ["first 3 lines of README.md", "# Garden", "Lines 1 to 3"],
    ["what is the last line of LICENSE?", "Permission is granted."],
    ["show lines 5-6 of packages/core/src/tree.ts", "export function plant", "Lines 5 to 6"],
    ["read LICENSE", "Permission is granted."],
    ["outline packages/core/src/tree.ts", "class `Tree`, line 3", "function `plant`, line 5"],
    ["list the headings of docs/guide.md", "First (line 3)", "Second (line 5)"],
    ["which is longer, README.md or LICENSE?", /^\*\*`README.md`\*\* is longer, by 8 lines/],
    ["is LICENSE longer than README.md?", /^No\./],
    ["is LICENSE or README.md longer?", /^\*\*`README\.md`\*\* is longer/],
    ["are there more .ts or .md files?", /^\*\*`\.ts` files\*\* has more/],
    [
      "what is the longest file in packages/core/src?",
      /longest file .* \*\*`packages\/core\/src\/tree.ts`\*\* with 9 lines/,
    ],
    ["biggest file in docs", "`docs/guide.md`"],
    ["which has more files, packages/core or packages/tools?", /^\*\*`packages\/core`\*\* has more/],
    ["compare packages/core/src/leaf.ts and packages/core/src/tree.ts", "They differ", "longer by 8 lines"],
    ["what is in core?", "I took `packages/core`"],
    ["read REDME.md", "no `REDME.md`", "`README.md`"],
    ["find *.py files", "`packages/tools/main.py`"],
    ["list files in packages/core/src and tell me how many lines tree.ts has", "`index.ts`", "**9 lines**"],
    ["find the longest file in packages/core/src and show its first line", "tree.ts", "import { leaf }"],
    ["how many .ts files are in packages/core and packages/tools together?", "**5 `.ts` files**"],
  ];
  it.each(tells)("%s", async (task, ...parts) => {
    const { text } = await ask(task);
    for (const part of parts)
      expect(text).toMatch(
        typeof part === "string" ? new RegExp(part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")) : part,
      );
  });

  it("makes independent calls in one message", async () => {
    expect((await ask("which is longer, README.md or LICENSE?")).batches).toEqual([2]);
    expect((await ask("compare README.md and LICENSE")).batches).toEqual([2]);
    expect((await ask("how many files are in packages, and what is 6*7?")).batches).toEqual([2]);
  });

  it("refers to what was said before", async () => {
    const session = talk();
    await session.ask("how many files are in packages/core?");
    expect((await session.ask("and how many are tests?")).text).toMatch(
      /`packages\/core` has \*\*1\*\* test file/i,
    );
    expect((await session.ask("what about packages/tools?")).calls[0]?.args).toMatchObject({
      path: "packages/tools",
    });
    await session.ask("what is the longest file in packages/core/src?");
    expect((await session.ask("read it")).text).toContain("export function plant");
  });

  it.each([
    ["show lines 5-6 of LICENSE", { offset: 5, limit: 2 }],
    ["show lines 5 to 6 of LICENSE", { offset: 5, limit: 2 }],
    ["show line 5 of LICENSE", { offset: 5, limit: 1 }],
    ["show line number 5 of LICENSE", { offset: 5, limit: 1 }],
    ["show the fifth line of LICENSE", { offset: 5, limit: 1 }],
    ["show the first line of LICENSE", { limit: 1 }],
    ["show the top few lines of LICENSE", { limit: 5 }],
  ])("reads only the lines that are asked for: %s", async (task, lines) => {
    expect((await ask(task)).calls[0]?.args).toMatchObject({ path: "LICENSE", ...lines });
  });

  it("writes and edits only text that is given word for word", async () => {
    await ask("create a file notes.txt with the text hello world");
    expect(readFileSync(join(root, "notes.txt"), "utf8")).toBe("hello world\n");
    await ask("replace hello with goodbye in notes.txt");
    expect(readFileSync(join(root, "notes.txt"), "utf8")).toBe("goodbye world\n");
    const told = await ask("write a poem to poem.txt");
    expect(told.calls).toEqual([]);
    expect(told.text).toContain("beyond me");
  });

  it.each([
    "write a function that sorts an array",
    "what is the weather in Paris?",
    "do you think tree.ts is good code?",
    "delete LICENSE",
    "how many planets are there?",
    "how many empty files are there?",
    "fix the bug in packages/core/src/tree.ts",
    "how many blank lines does README.md have?",
    "how many exported functions are in packages/core/src/tree.ts?",
    "how many files are not tests?",
    "which files do not mention leaf?",
    "how many files have more than 3 lines?",
  ])("says that this is beyond it, and what it can do: %s", async (task) => {
    const told = await ask(task);
    expect(told.calls).toEqual([]);
    expect(told.text).toMatch(/^That is beyond me/);
    expect(told.text).toContain("What I can do");
    expect(told.text).toContain("ANTHROPIC_API_KEY");
  });

  it("says if files that git ignores were left out", async () => {
    put(".gitignore", "made/\n");
    put("made/a.ts", "");
    expect((await ask("how many .ts files are there?")).text).toMatch(/Left out: 1 entry/);
  });

  it("never makes the same call twice in a task", async () => {
    for (const task of [
      "how many files and folders are in packages/core",
      "how many lines and words does README.md have?",
      "what is in packages, and how many files are in packages, and list packages",
    ]) {
      const { calls } = await ask(task);
      const keys = calls.map((call) => call.name + JSON.stringify(call.args));
      expect(new Set(keys).size).toBe(keys.length);
    }
  });
});
