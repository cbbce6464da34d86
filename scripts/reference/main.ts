// npm run -s reference
//
// Generates docs/reference/ from the sources, a page for each package. The pages are not kept in the repository, as they
// contain nothing that the sources do not; the site includes them.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandLine } from "../command-line.ts";
import { root } from "../packages.ts";
import { referencePages } from "./pages.ts";

const asked: CommandLine = new CommandLine("reference");
asked.options({});

for (const { path, text, exports } of referencePages()) {
  writeFileSync(join(root, path), text);
  const documented = exports.filter(({ doc }) => doc !== "").length;
  console.log(`${path}: ${exports.length} exports, ${documented} with a docstring of their own`);
}
