// The site's configuration. Its pages are staged by scripts/site; its sidebar is the documentation's front page.

import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";
import { anchorOf } from "../../scripts/docs/pages.ts";

interface Group {
  text: string;
  items: { text: string; link: string }[];
}

const sidebar = JSON.parse(
  readFileSync(new URL("../.pages/sidebar.json", import.meta.url), "utf8"),
) as Group[];

export default defineConfig({
  lang: "en",
  title: "Rondo",
  description: "An agent loop for TypeScript",
  srcDir: ".pages",
  outDir: "dist",
  cacheDir: ".vitepress/cache",
  lastUpdated: false,
  head: [["link", { rel: "icon", href: "/rondo.svg", type: "image/svg+xml" }]],
  // Headings have the anchors that links between the pages name, here as where the sources are read.
  markdown: { theme: { light: "github-light", dark: "github-dark" }, anchor: { slugify: anchorOf } },
  vite: { build: { chunkSizeWarningLimit: 4_000 } },
  themeConfig: {
    logo: "/rondo.svg",
    search: { provider: "local" },
    outline: { level: [2, 3] },
    nav: [
      { text: "Guide", link: "/guide/first-agent", activeMatch: "/guide/" },
      { text: "Concepts", link: "/concepts/loop", activeMatch: "/concepts/" },
      { text: "Migrating", link: "/migrating/from-ai-sdk", activeMatch: "/migrating/" },
      { text: "Reference", link: "/reference/", activeMatch: "/reference/" },
    ],
    sidebar,
    footer: { message: "MIT licence" },
  },
});
