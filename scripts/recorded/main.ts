// npm run -s fixtures -- DIR
//
// Reads recorded responses with our codecs and with the providers' own clients, and reports differences.
// One line per file: `same FILE`, `differs FILE reason`, `not applicable FILE reason`; then the totals. Exits with 1 when a
// difference has no reason, and with 2 when there was nothing to read.

import { existsSync } from "node:fs";
import { helpWhereAsked } from "../command-line.ts";
import { compare, type Verdict } from "./compare.ts";
import { findRecordings } from "./corpus.ts";

helpWhereAsked();
const [dir] = process.argv.slice(2);
if (dir === undefined || !existsSync(dir)) {
  console.error("fixtures: name a folder of recorded responses: npm run -s fixtures -- DIR");
  process.exit(2);
}
const totals: { [verdict in Verdict["verdict"]]: number } = { same: 0, differs: 0, "not applicable": 0 };
let unexplained = 0;
for (const found of findRecordings(dir)) {
  const one = await compare(found);
  totals[one.verdict]++;
  if (one.unexplained !== undefined) unexplained++;
  const words = one.unexplained === undefined ? one.reason : `UNEXPLAINED ${one.unexplained}`;
  console.log([one.verdict, one.file, ...(words === undefined ? [] : [words])].join(" "));
}
console.log(`${totals.same} same, ${totals.differs} differs, ${totals["not applicable"]} not applicable`);
if (unexplained > 0) console.error(`fixtures: ${unexplained} differences have no reason`);
process.exit(unexplained > 0 ? 1 : totals.same + totals.differs === 0 ? 2 : 0);
