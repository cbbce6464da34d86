// `npm test`: runs all checks, one after another, and counts them at the end.
//
// A failing check does not stop the others. Output is shown only for failing checks. The last line is
// `N passed, N failed`, with `, N skipped` if any were: vitest's tests, plus one for each other check.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tarballsVariable } from "./built.ts";
import { packAll } from "./pack.ts";
import { run, timedOut } from "./run-command.ts";

interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

const scratch = mkdtempSync(join(tmpdir(), "rondo-test-"));
const tarballs = join(scratch, "tarballs");
const total: Count = { passed: 0, failed: 0, skipped: 0 };
const failures: string[] = [];

/** Runs one check: its body returns nothing when it passes, otherwise what is wrong. */
async function check(name: string, body: () => Promise<string | undefined>): Promise<void> {
  const from = performance.now();
  const wrong = await body().catch((error: unknown) =>
    error instanceof Error ? error.message : String(error),
  );
  const seconds = `${((performance.now() - from) / 1000).toFixed(1)} s`;
  if (wrong === undefined) {
    total.passed++;
    console.log(`ok      ${name} (${seconds})`);
  } else {
    total.failed++;
    failures.push(name);
    console.log(`FAILED  ${name} (${seconds})\n${wrong.trimEnd().replace(/^/gm, "        ")}`);
  }
}

/** A check that is an npm script: it passes when the script exits with 0. */
const script = (name: string, npmScript: string, ...args: string[]): Promise<void> =>
  check(name, async () => {
    const { code, text } = await run("npm", ["run", "--silent", npmScript, "--", ...args]);
    return code === 0 ? undefined : text || `npm run ${npmScript} exited with ${code} and said nothing`;
  });

interface VitestReport {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { name: string; status: string; message: string; assertionResults: { status: string }[] }[];
}

/** Runs all vitest projects together. Its output goes to the terminal; the counts come from its report. */
async function vitest(): Promise<void> {
  const file = join(scratch, "vitest.json");
  const reporters = ["default", "./scripts/skip-reasons.ts", "json"].map((name) => `--reporter=${name}`);
  const { code } = await run("vitest", ["run", ...reporters, `--outputFile.json=${file}`], {
    show: true,
    // A slow machine is no defect: tests that hang reach their own time limit long before.
    timeoutMs: 60 * 60_000,
    env: {
      [tarballsVariable]: existsSync(tarballs) ? tarballs : undefined,
      NO_COLOR: "1",
      FORCE_COLOR: undefined,
    },
  });
  if (!existsSync(file)) {
    total.failed++;
    failures.push(
      code === timedOut
        ? "vitest was still at it when its time ran out: a test hangs, or the machine is far too slow"
        : `vitest exited with ${code} and left no report`,
    );
    return;
  }
  const report = JSON.parse(readFileSync(file, "utf8")) as VitestReport;
  total.passed += report.numPassedTests;
  total.skipped += report.numPendingTests + report.numTodoTests;
  let failed = report.numFailedTests;
  if (failed > 0) failures.push(`${failed} of vitest's tests`);
  // A file that does not load, or whose hooks fail, has no failed test: it counts as one itself.
  for (const result of report.testResults)
    if (result.status === "failed" && !result.assertionResults.some(({ status }) => status === "failed")) {
      failed++;
      failures.push(`${result.name}: ${result.message.split("\n")[0] || "a hook of it failed, see above"}`);
    }
  if (failed === 0 && (code !== 0 || !report.success)) {
    failed++;
    failures.push(`vitest exited with ${code}, though no test failed: see its unhandled errors above`);
  }
  if (report.numPassedTests === 0 && failed === 0) {
    failed++;
    failures.push("vitest ran no test");
  }
  total.failed += failed;
}

process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
console.log(`Node ${process.versions.node}\n`);
await script("lock file", "lock", "--check");
await script("lint", "lint");
// The rest of `npm run types` looks at the packages' sources as their build does, which follows.
await check("types", async () => {
  const { code, text } = await run("tsc", ["-p", "tsconfig.json"]);
  return code === 0 ? undefined : text;
});
await script("dead code", "dead");
await check("build and pack", async () => {
  await packAll(tarballs).catch((error: unknown) => {
    rmSync(tarballs, { recursive: true, force: true });
    throw error;
  });
  return undefined;
});
if (existsSync(tarballs)) await script("packages", "check-packages", tarballs);
await vitest();

for (const failure of failures) console.log(`failed: ${failure}`);
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`);
process.exitCode = total.failed > 0 ? 1 : 0;
