// npm run -s cases -- FILE.jsonl [--only ID] [--json]
//
// Plays failure cases through all of Rondo and prints for each `ok ID` or `not ok ID reason`; finally
// `N passed, N failed`. Exits with 1 when one failed.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { helpWhereAsked } from "../command-line.ts";
import { runCases } from "./run-cases.ts";

const usage = "usage: npm run -s cases -- FILE.jsonl [--only ID[,ID…]] [--json]";

helpWhereAsked();
try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { only: { type: "string" }, json: { type: "boolean", default: false } },
  });
  const [file] = positionals;
  if (file === undefined) throw new Error(usage);
  const only = values.only === undefined ? undefined : new Set(values.only.split(","));
  let passed = 0;
  let failed = 0;
  for await (const { id, reasons } of runCases(readFileSync(file, "utf8"), only)) {
    const ok = reasons.length === 0;
    if (ok) passed += 1;
    else failed += 1;
    if (values.json) console.log(JSON.stringify({ id, ok, reasons }));
    else console.log(ok ? `ok ${id}` : `not ok ${id} ${reasons.join("; ").replace(/\s*\n\s*/g, " ")}`);
  }
  if (passed + failed === 0)
    throw new Error(`no case in ${file}${only === undefined ? "" : ` is named ${values.only}`}`);
  if (values.json) console.log(JSON.stringify({ passed, failed }));
  else console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
} catch (thrown) {
  console.error(thrown instanceof Error ? thrown.message : String(thrown));
  process.exitCode = 2;
}
