// The room of generated pages: pages that show tables of the code. Writes them, or with `--check` compares them.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandLine } from "../command-line.ts";
import { root } from "../packages.ts";

export interface DrawnPage {
  /** Relative to the repository. */
  path: string;
  text: string;
}

/** Writes or checks the pages. @param script its name, which the message gives as the way to update them */
export function writeOrCheck(script: string, pages: readonly DrawnPage[]): void {
  const asked: CommandLine = new CommandLine(script);
  const { check } = asked.options({ check: { type: "boolean", default: false } });
  for (const { path, text } of pages) {
    const file = join(root, path);
    if (!check) writeFileSync(file, text);
    else if (readFileSync(file, "utf8") !== text) {
      console.error(`${path} does not show the table as it is: run \`npm run -s ${script}\``);
      process.exitCode = 1;
    }
  }
}
