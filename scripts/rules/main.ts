// `npm run -s rules -- FILE [--report FILE]`: checks which rules of a behaviour file are tested, by the tests' names.
//
// A test tests a rule if its name contains the rule's number (`E4.20 …`), it passes, and it asserts something. A test may
// name at most three rules, so that none is tested only incidentally. The last line is `N rules, N untested`; exits with
// 1 when a rule is untested or a name is wrong. `--report` reads vitest's JSON report of an earlier run instead of running.

import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { helpWhereAsked } from "../command-line.ts";
import { root } from "../packages.ts";
import { run } from "../run-command.ts";
import { readBook, readExempt } from "./book.ts";
import { type Report, weigh } from "./weigh.ts";

const testFiles = ["test/**/*.test.ts", "packages/*/test/**/*.test.ts"];

/** Runs the tests whose names may contain a rule's number. */
async function runTests(letters: string): Promise<Report> {
  const number = `(?<![\\w.-])[${letters}]\\d*\\.\\d+`;
  const pattern = new RegExp(number);
  const files = globSync(testFiles, { cwd: root, exclude: ["**/node_modules/**"] }).filter((file) =>
    pattern.test(readFileSync(join(root, file), "utf8")),
  );
  if (files.length === 0) return { testResults: [] };
  const folder = mkdtempSync(join(tmpdir(), "rondo-rules-"));
  try {
    const report = join(folder, "report.json");
    const args = ["run", "--reporter=json", `--outputFile.json=${report}`, "-t", number, ...files];
    const { text } = await run("vitest", args, { env: { NO_COLOR: "1", FORCE_COLOR: undefined } });
    try {
      return JSON.parse(readFileSync(report, "utf8")) as Report;
    } catch {
      throw new Error(`vitest left no report:\n${text}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main(): Promise<number> {
  helpWhereAsked();
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { report: { type: "string" } },
  });
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) {
    console.error("usage: npm run -s rules -- FILE [--report REPORT.json]");
    return 2;
  }
  const rules = readBook(readFileSync(file, "utf8"));
  const letters = [...new Set(rules.map((rule) => rule.letter))].join("");
  const { exempt, wrong } = readExempt(readFileSync(join(root, "rules-exempt.tsv"), "utf8"), rules);
  const report =
    values.report === undefined
      ? await runTests(letters)
      : (JSON.parse(readFileSync(values.report, "utf8")) as Report);
  const weighed = weigh(report, rules, (path) => readFileSync(path, "utf8"));
  let untested = 0;
  for (const { id, text } of rules) {
    const short = text.length > 90 ? `${text.slice(0, 89)}…` : text;
    const tests = weighed.tests.get(id) ?? [];
    const reason = exempt.get(id);
    if (tests.length > 0) console.log(`${id}  ${short}`);
    else if (reason !== undefined) console.log(`${id}  ${short}\n    exempt: ${reason}`);
    else {
      untested += 1;
      console.log(`${id}  ${short}\n    UNTESTED`);
    }
    for (const { title, path } of tests) console.log(`    ${title}  (${relative(root, path)})`);
    if (tests.length > 0 && reason !== undefined)
      wrong.push(`rules-exempt.tsv: ${id} is exempt and has tests`);
  }
  const complaints = [...wrong, ...weighed.wrong];
  for (const complaint of complaints) console.log(`wrong: ${complaint}`);
  for (const note of weighed.notes) console.log(`note: ${note}`);
  console.log(`${rules.length} rules, ${untested} untested`);
  return untested > 0 || complaints.length > 0 ? 1 : 0;
}

process.exitCode = await main().catch((thrown: unknown) => {
  console.error(`rules: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  return 2;
});
