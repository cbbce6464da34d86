import { appendFileSync, globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../packages.ts";
import { campaign } from "./campaign.ts";
import { instrument, sourcesIn } from "./instrument.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    budget: { type: "string", default: "4000" },
    workers: { type: "string", default: "2" },
    json: { type: "string" },
  },
});
const base = join(root, "packages/core/src");
const files = sourcesIn(base, ["loop", "rules"]).filter(
  (f) => !values.only || values.only.split(",").some((o) => f.startsWith(o)),
);
const made = await instrument(base, files);
const tests = [
  join(import.meta.dirname, "model-check.test.ts"),
  ...globSync("packages/core/test/*.test.ts", { cwd: root })
    .filter((p) => !/\.slow\.|promises|properties|x-(endings|table|views)|one-writer|redact|structured-partial|ledger|cap|prune|slow-journal|coerce|render/.test(p))
.map((p) =>
    join(root, p),
  ),
];
const out = await campaign(made, {
  files: tests,
  workers: Number(values.workers),
  budgetMs: Number(values.budget),
  always: tests.filter((p) => /decisions|loop-/.test(p)),
  tried: (t) => {
    if (values.json) appendFileSync(values.json + "l", JSON.stringify(t) + "\n");
  },
  hear: (l) => console.log(l),
});
for (const u of out.unfit) console.log("unfit", u.id, u.why.slice(0, 300));
const by = new Map<string, Record<string, number>>();
for (const t of out.tried) {
  const r = by.get(t.mutant.file) ?? {};
  r[t.verdict] = (r[t.verdict] ?? 0) + 1;
  by.set(t.mutant.file, r);
}
for (const [f, r] of by) console.log(f, r);
if (values.json) writeFileSync(values.json, JSON.stringify(out, null, 1));
