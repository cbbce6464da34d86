// The room of staging: prepares the repository's pages for the site generator.
//
// Texts stay the same. Links are rewritten to the site's pages; a link to a file that is not a page is replaced by
// its label. The front page of docs defines the sidebar, and the list on the start page.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { allPages, blocksOf, type Page } from "../docs/pages.ts";
import { root } from "../packages.ts";
import { referencePages } from "../reference/pages.ts";
import { loopDiagram } from "./diagram.ts";

export const siteFolder: string = join(root, "site");
const staged = join(siteFolder, ".pages");

interface Group {
  text: string;
  items: { text: string; link: string }[];
}

/** The site's pages, by their path in it, and its sidebar. */
export function stagedFiles(): Page[] {
  const changelog = { path: "CHANGELOG.md", text: readFileSync(join(root, "CHANGELOG.md"), "utf8") };
  const pages: Page[] = [...allPages(), changelog, ...referencePages()];
  const known = new Set(pages.map(({ path }) => path));
  const front = pages.find(({ path }) => path === "docs/README.md");
  const readme = pages.find(({ path }) => path === "README.md");
  if (front === undefined || readme === undefined) throw new Error("README.md or docs/README.md is gone");
  const groups = mapOf(front, known);
  return [
    ...pages
      .filter((page) => page !== front && page !== readme)
      .map((page) => ({ path: placeOf(page.path), text: forSite(page, known) })),
    { path: "index.md", text: startPage(readme, groups) },
    { path: "sidebar.json", text: JSON.stringify(groups) },
  ];
}

/** Writes everything to site/.pages, which is emptied first. */
export function stage(): void {
  rmSync(staged, { recursive: true, force: true });
  for (const { path, text } of stagedFiles()) {
    const file = join(staged, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  mkdirSync(join(staged, "public"), { recursive: true });
  for (const name of ["rondo.svg", "loop.svg"])
    copyFileSync(join(siteFolder, name), join(staged, "public", name));
}

/** The path in the site of a page of the repository. */
function placeOf(path: string): string {
  if (path === "README.md" || path === "docs/README.md") return "index.md";
  if (!path.startsWith("docs/")) return path.toLowerCase();
  return path.slice("docs/".length).replace(/README\.md$/, "index.md");
}

function forSite({ path, text }: Page, known: ReadonlySet<string>): string {
  const here = placeOf(path);
  let fenced = false;
  const lines = text
    .replace(/^```mermaid\n[\s\S]*?^```$/m, () => loopDiagram())
    .split("\n")
    .map((line) => {
      if (line.startsWith("```")) {
        fenced = !fenced;
        return line.replace(/^```ts .*$/, "```ts");
      }
      return fenced ? line : line.replaceAll(/\[((?:[^[\]]|`[^`]*`)*)\]\(([^)\s]+)\)/g, relink);
    });
  return lines.join("\n");

  function relink(all: string, label: string, target: string): string {
    if (/^[a-z]+:/i.test(target) || target.startsWith("#")) return all;
    const [to = "", anchor] = target.split("#");
    const page = posix.normalize(posix.join(dirname(path), to));
    if (!known.has(page)) return label;
    const link = posix.relative(dirname(here), placeOf(page));
    return `[${label}](./${link}${anchor === undefined ? "" : `#${anchor}`})`;
  }
}

/** The groups of the documentation's front page: a heading, with the pages linked below it. */
function mapOf(front: Page, known: ReadonlySet<string>): Group[] {
  const groups: Group[] = [];
  for (const line of front.text.split("\n")) {
    const heading = /^## (.+)$/.exec(line)?.[1];
    if (heading !== undefined) groups.push({ text: heading, items: [] });
    const group = groups.at(-1);
    if (group === undefined) continue;
    for (const [, text = "", to = ""] of line.matchAll(/\[([^\]]+)\]\(([^)#\s]+\.md)\)/g))
      if (known.has(`docs/${to}`)) group.items.push({ text: sentenceCase(text), link: linkTo(`docs/${to}`) });
  }
  for (const { name, path } of referencePages())
    groups
      .find(({ text }) => text === "Reference")
      ?.items.push({ text: partOf(name, path), link: linkTo(path) });
  groups.push({
    text: "The project",
    items: ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map((path) => ({
      text: sentenceCase(path.replace(".md", "").toLowerCase()),
      link: linkTo(path),
    })),
  });
  return groups;
}

/** The title of a reference page, from package and part: `@rondo/core: rules`. */
const partOf = (name: string, path: string): string => {
  const part = /-(\w+)\.md$/.exec(path)?.[1];
  return part === undefined ? name : `${name}: ${part}`;
};

const linkTo = (path: string): string =>
  `/${placeOf(path)
    .replace(/(^|\/)index\.md$/, "$1")
    .replace(/\.md$/, "")}`;

const sentenceCase = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

function startPage(readme: Page, groups: readonly Group[]): string {
  const example = blocksOf(readme)[0]?.code ?? "";
  const map = groups
    .map(
      ({ text, items }) =>
        `<div>\n\n### ${text}\n\n${items.map((one) => `- [${one.text}](${one.link})`).join("\n")}\n\n</div>`,
    )
    .join("\n");
  return readFileSync(join(siteFolder, "home.md"), "utf8")
    .replace("<!-- example -->", () => `\`\`\`ts\n${example}\`\`\``)
    .replace("<!-- map -->", () => `<div class="home-map">\n${map}\n</div>`);
}
