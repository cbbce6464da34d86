// The site builds, and every link in it leads somewhere.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../scripts/packages.ts";
import { run } from "../scripts/run-command.ts";

const generator = join(root, "site/node_modules/vitepress");

test("the site builds with no dead link", { timeout: 600_000 }, async ({ skip }) => {
  const { code, text } = await run("npm", ["run", "-s", "site"]);
  // A lock that npm refuses is a defect of ours, and no reason to skip.
  skip(
    !existsSync(generator) && !text.includes("EUSAGE"),
    `the site's generator could not be installed: ${text.split("\n").find((line) => line.includes("npm error"))}`,
  );
  expect(text).toMatch(/^site\/dist: \d+ pages, [\d.]+ MB, 0 dead links$/m);
  expect(code).toBe(0);
});
