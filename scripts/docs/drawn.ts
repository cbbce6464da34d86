// The room of drawn pages: pages that show the code's own tables. They are written, or with `--check` held against it.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandLine } from "../command-line.ts";
import { root } from "../packages.ts";

export interface DrawnPage {
  /** From the root of the repository. */
  path: string;
  text: string;
}

/** Does what the script was asked for. @param script its name, which is how pages that have parted are written anew */
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
