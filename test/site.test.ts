// The site shows what the repository has: its pages are staged whole, its diagram is the table's, and the check of the
// built site sees what is wrong with one. The build itself is a slow test.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { type Phase, table } from "@rondo/core";
import { afterAll, describe, expect, test } from "vitest";
import { allPages, blocksOf, linksOf } from "../scripts/docs/pages.ts";
import { checkSite } from "../scripts/site/check.ts";
import { loopDiagram } from "../scripts/site/diagram.ts";
import { stagedFiles } from "../scripts/site/stage.ts";

const files = stagedFiles();
const byPath = new Map(files.map(({ path, text }) => [path, text]));

describe("the staged site", () => {
  test("has every page of the repository, with all its blocks", () => {
    const pages = allPages().filter(({ path }) => !path.endsWith("README.md"));
    for (const page of pages) {
      const text = byPath.get(
        page.path.replace(/^docs\//, "").replace(/^[A-Z]+\.md$/, (name) => name.toLowerCase()),
      );
      expect(text, page.path).toBeDefined();
      for (const { code } of blocksOf(page)) expect(text).toContain(code);
    }
  });

  test("has links to its own pages only", () => {
    const away = files
      .filter(({ path }) => path.endsWith(".md") && path !== "index.md")
      .flatMap((page) =>
        linksOf(page)
          .filter(
            ({ to }) => to !== "" && !byPath.has(posix.normalize(posix.join(posix.dirname(page.path), to))),
          )
          .map(({ line, to }) => `${page.path}:${line}: ${to}`),
      );
    expect(away).toEqual([]);
  });

  test("has a sidebar whose every link is a page", () => {
    const groups = JSON.parse(byPath.get("sidebar.json") ?? "[]") as { items: { link: string }[] }[];
    const links = groups.flatMap(({ items }) => items.map(({ link }) => link));
    expect(links.length).toBeGreaterThan(25);
    expect(new Set(links).size).toBe(links.length);
    for (const link of links)
      expect(byPath.has(`${link.slice(1)}${link.endsWith("/") ? "index" : ""}.md`), link).toBe(true);
  });

  test("draws each phase of the table, and each way from one to another", () => {
    const drawn = loopDiagram();
    const phases = Object.keys(table) as Phase[];
    const ways = phases.flatMap((from) =>
      [...new Set(table[from].flatMap(({ to }) => to))].filter((to) => to !== from),
    );
    expect(drawn.match(/<text /g)).toHaveLength(phases.length);
    expect(drawn.match(/class="tip/g)).toHaveLength(ways.length);
    expect(byPath.get("concepts/loop.md")).toContain(drawn);
    expect(byPath.get("architecture.md")).toContain(drawn);
  });
});

describe("the check of the built site", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-site-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each([
    ["a page that is there", '<a href="/b.html">b</a>', []],
    ["a heading that is there", '<a href="./b#two">b</a>', []],
    ["a page that is not", '<a href="/c.html">c</a>', ["a.html leads to /c.html, which is not there"]],
    [
      "a heading that is not",
      '<a href="/b#three">b</a>',
      ["a.html leads to /b#three, a heading that is not there"],
    ],
    [
      "another host",
      '<script src="https://host.example/x.js">',
      ["a.html fetches https://host.example/x.js"],
    ],
  ])("sees %s", (_what, html, wrong) => {
    writeFileSync(join(folder, "a.html"), html);
    writeFileSync(join(folder, "b.html"), '<h2 id="two">Two</h2>');
    expect(checkSite(folder)).toEqual(wrong);
  });
});
