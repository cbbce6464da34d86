// The documentation is whole: its links lead somewhere, its drawn pages show the code as it is, every page is found.

import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { endReasons, errorKinds, RondoError } from "@rondo/core";
import { factsOf } from "@rondo/models";
import { describe, expect, test } from "vitest";
import { drawPage } from "../scripts/compatible-servers.ts";
import { allPages, anchorsOf, blocksOf, linksOf } from "../scripts/docs/pages.ts";
import { packagesInOrder, root } from "../scripts/packages.ts";
import { referencePages } from "../scripts/reference/pages.ts";
import { stopReasonsPage } from "../scripts/stop-reasons.ts";
import { tablePages, withTable } from "../scripts/table.ts";

const pages = allPages();
const reference = referencePages();
const generated = new Map(reference.map(({ path, text }) => [path, text]));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

describe("the documentation", () => {
  test("has links that lead to a file and a heading there is", () => {
    const dead: string[] = [];
    for (const page of [...pages, ...reference])
      for (const { line, to, anchor } of linksOf(page)) {
        const path = to === "" ? page.path : posix.normalize(posix.join(dirname(page.path), to));
        const text =
          generated.get(path) ??
          (existsSync(join(root, path)) && statSync(join(root, path)).isFile() ? read(path) : undefined);
        if (text === undefined && !existsSync(join(root, path)))
          dead.push(`${page.path}:${line}: no ${path}`);
        else if (anchor !== "" && (text === undefined || !anchorsOf(text).has(anchor)))
          dead.push(`${page.path}:${line}: ${path} has no heading #${anchor}`);
      }
    expect(dead).toEqual([]);
  });

  test("names every page where a reader begins", () => {
    const front = new Set(linksOf({ path: "", text: read("docs/README.md") }).map(({ to }) => `docs/${to}`));
    const missing = pages.filter(({ path }) => /^docs\/.+\.md$/.test(path) && path !== "docs/README.md");
    expect(missing.map(({ path }) => path).filter((path) => !front.has(path))).toEqual([]);
  });

  test("shows code that is not run only as the other side of a migration", () => {
    const notRun = pages.flatMap(blocksOf).filter(({ use }) => use === "not_run");
    expect(notRun.map(({ page }) => page).filter((page) => !page.startsWith("docs/migrating/"))).toEqual([]);
  });

  test("names models that there are, by what the catalogue knows", () => {
    const named = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\b(anthropic|openai|google|bedrock)(?:\.chat)?\("([a-z][^"…]*)"/g)].map(
        ([, provider = "", model = ""]) => ({ path, provider, model }),
      ),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ provider, model }) => factsOf(provider, model) === undefined)).toEqual([]);
  });

  test.each(tablePages)("shows the loop's table as it is in %s", (path) => {
    expect(read(path), "run `npm run -s table`").toBe(withTable(read(path), path));
  });

  test("shows the stop reasons as they are", () => {
    expect(read("docs/concepts/stop-reasons.md"), "run `npm run -s stop-reasons`").toBe(stopReasonsPage());
  });

  test("shows the compatible servers as they are", () => {
    expect(read("docs/guide/compatible-servers.md"), "run `npm run -s compat`").toBe(drawPage());
  });
});

/** The words a declaration of core has for the types of its union, or for its members. */
function wordsOf(name: string, word: RegExp): string[] {
  const found = reference.flatMap((page) => page.exports).find((one) => one.name === name);
  const words = [...(found?.signature ?? "").matchAll(word)].map(([, one = ""]) => one);
  return [...new Set(words)];
}

describe("the tables written by hand", () => {
  const member = /^ {2}(\w+)\?\(/gm;
  const type = /\btype: "(\w+)"/g;
  test.each([
    ["the kinds of records", "docs/concepts/records.md", wordsOf("Fact", type), 30],
    ["the kinds of events", "docs/guide/watching.md", wordsOf("RondoEvent", type), 24],
    ["the warnings of a request", "docs/guide/watching.md", wordsOf("WarningCode", /"(\w+)"/g), 15],
    ["the hooks", "docs/guide/hooks.md", wordsOf("Hooks", member), 6],
    ["the reasons of an end", "docs/concepts/ends.md", [...endReasons], 18],
    ["the kinds of errors", "docs/concepts/errors.md", [...errorKinds], 27],
  ])("name all %s", (_what, path, words, atLeast) => {
    expect(words.length).toBeGreaterThanOrEqual(atLeast);
    const rows = read(path)
      .split("\n")
      .filter((line) => line.startsWith("|"))
      .map((line) => line.split("|")[1] ?? "");
    const named = rows.flatMap((row) => [...row.matchAll(/`(\w+)/g)].map(([, one = ""]) => one));
    expect(words.filter((one) => !named.includes(one))).toEqual([]);
  });
});

test("the table of errors says of each kind whether it is tried again", () => {
  const again = new Map(
    [...read("docs/concepts/errors.md").matchAll(/^\| `(\w+)` \|[^|]*\| (yes|no) \|/gm)].map(
      ([, kind = "", word]) => [kind, word === "yes"],
    ),
  );
  expect(Object.fromEntries(again)).toEqual(
    Object.fromEntries(errorKinds.map((kind) => [kind, new RondoError(kind, "words").retryable])),
  );
});

describe("the reference", () => {
  test("has a page for each package, and its front page names it", () => {
    const names = packagesInOrder().map(({ name }) => name);
    expect(new Set(reference.map(({ name }) => name))).toEqual(new Set(names));
    const front = read("docs/reference/README.md");
    const missing = reference.map(({ file }) => file).filter((file) => !front.includes(`](${file})`));
    expect(missing, "docs/reference/README.md has no link to these").toEqual([]);
  });

  test("has each export of a package, once, with its signature", async () => {
    for (const name of new Set(reference.map((page) => page.name))) {
      const exports = reference.filter((page) => page.name === name).flatMap((page) => page.exports);
      const values = Object.keys((await import(name)) as object).filter((one) => one !== "default");
      const named = exports.map((one) => one.name);
      expect(named, name).toEqual([...new Set(named)]);
      expect(
        values.filter((value) => !named.includes(value)),
        name,
      ).toEqual([]);
      expect(
        exports.filter(({ signature }) => signature.trim() === ""),
        name,
      ).toEqual([]);
    }
  });
});
