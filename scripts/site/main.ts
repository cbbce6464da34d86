// npm run -s site -- [--serve [--port N]]
//
// Builds the documentation's site into site/dist. `--serve` serves it on this machine, on port 4173 or another one.
//
// The generator (VitePress, with its local search) is in site/ with its own lock file, and is installed on the first
// run, without install scripts: none is needed. The site works without any network.

import { existsSync, globSync, statSync } from "node:fs";
import { join } from "node:path";
import { CommandLine } from "../command-line.ts";
import { run } from "../run-command.ts";
import { checkSite } from "./check.ts";
import { siteFolder, stage } from "./stage.ts";

const vitepress = join(siteFolder, "node_modules/vitepress/bin/vitepress.js");
const dist = join(siteFolder, "dist");

async function must(
  command: string,
  args: string[],
  how: { show?: boolean; timeoutMs?: number } = {},
): Promise<void> {
  const { code, text } = await run(command, args, { cwd: siteFolder, ...how });
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${text}`);
}

const asked: CommandLine = new CommandLine("site");
const { serve, port } = asked.options({
  serve: { type: "boolean", default: false },
  port: { type: "string", default: "4173" },
});
asked.whole("port", port);
if (!existsSync(vitepress)) {
  console.log("installing the generator into site/ (about 100 MB, once)");
  // `npm run -s` also silences npm in child processes: errors must be shown here.
  await must("npm", ["ci", "--loglevel=error", "--ignore-scripts", "--no-audit", "--no-fund"]);
}
stage();
await must(process.execPath, [vitepress, "build", "."]);
const wrong = checkSite(dist);
for (const line of wrong) console.error(line);
const files = globSync("**/*", { cwd: dist }).map((path) => statSync(join(dist, path)));
const bytes = files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
const pages = globSync("**/*.html", { cwd: dist }).length;
console.log(`site/dist: ${pages} pages, ${(bytes / 1e6).toFixed(1)} MB, ${wrong.length} dead links`);
process.exitCode = wrong.length > 0 ? 1 : 0;

if (serve)
  await must(process.execPath, [vitepress, "preview", ".", "--port", port], {
    show: true,
    timeoutMs: 2 ** 31 - 1,
  });
