import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const src = fileURLToPath(new URL("../../src", import.meta.url));

it("a bundle for a browser contains no module of Node's: only types are imported from there", () => {
  const offenders = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .filter((file) =>
      readFileSync(join(src, file), "utf8")
        .split("\n")
        .some((line) => /(?:from|import\() ?"node:/.test(line) && !line.startsWith("import type ")),
    );
  expect(offenders).toEqual([]);
});
