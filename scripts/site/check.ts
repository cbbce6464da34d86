// The room of checking the built site: every link leads to an existing page and heading, and nothing is loaded from
// elsewhere.

import { existsSync, globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** What is wrong with a built site; empty when nothing is. */
export function checkSite(folder: string): string[] {
  const files = globSync("**/*.html", { cwd: folder }).map((path) => path.replaceAll("\\", "/"));
  const pages = new Map(files.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
  const ids = new Map([...pages].map(([path, html]) => [path, idsOf(html)]));
  const wrong: string[] = [];
  for (const [path, html] of pages) {
    for (const [, to = ""] of html.matchAll(/<(?:script|link|img)\b[^>]*?(?:src|href)="(https?:[^"]*)"/g))
      wrong.push(`${path} fetches ${to}`);
    for (const [, href = ""] of html.matchAll(/<a\b[^>]*?href="([^"]*)"/g)) {
      if (/^[a-z]+:/i.test(href)) continue;
      const [to = "", anchor = ""] = href.split("#");
      const target = to === "" ? path : pageAt(path, decodeURIComponent(to));
      if (!ids.has(target) && !existsSync(join(folder, target)))
        wrong.push(`${path} leads to ${href}, which is not there`);
      else if (anchor !== "" && ids.get(target)?.has(decodeURIComponent(anchor)) === false)
        wrong.push(`${path} leads to ${href}, a heading that is not there`);
    }
  }
  return [...new Set(wrong)];
}

function pageAt(from: string, to: string): string {
  const path = to.startsWith("/") ? to.slice(1) : posix.join(posix.dirname(from), to);
  if (path === "" || path.endsWith("/")) return `${path}index.html`;
  return path.includes(".") ? path : `${path}.html`;
}

const idsOf = (html: string): Set<string> =>
  new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id = ""]) => id));
