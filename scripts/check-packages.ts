// The room of package checks: publint on each package, attw on each tarball, and each tarball's list of files.
//
//   node scripts/run.mjs scripts/check-packages.ts TARBALLS

import { existsSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { tarballsIn } from "./pack.ts";
import { publishedPackages } from "./packages.ts";
import { mustRun, run } from "./run-command.ts";

// attw brings its own TypeScript: installed in the root, it would add more than 150 MB.
const attwFolder = join(import.meta.dirname, "attw");
const attwBin = join(attwFolder, "node_modules/.bin/attw");

const folder = process.argv[2];
if (folder === undefined) throw new Error("say in which folder the tarballs are");

if (!existsSync(attwBin))
  await mustRun("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: attwFolder });

let failed = 0;
const fail = (name: string, what: string): void => {
  failed++;
  console.error(`${name}: ${what}`);
};
for (const [name, tarball] of tarballsIn(folder)) {
  const one = publishedPackages().find((candidate) => candidate.name === name);
  if (one === undefined) continue;
  const { messages } = await publint({ pkgDir: one.folder, level: "warning", strict: true, pack: "npm" });
  for (const message of messages)
    fail(name, formatMessage(message, one.manifest, { color: false }) ?? message.code);

  const attw = await run(attwBin, ["--profile", "esm-only", "--no-color", "--no-emoji", tarball]);
  if (attw.code !== 0) fail(name, `attw says\n${attw.text}`);

  const { stdout } = await mustRun("tar", ["-tzf", tarball]);
  const files = stdout.trim().split("\n");
  for (const needed of ["LICENSE", "package.json", "src/index.ts", "dist/index.js", "dist/index.d.ts"])
    if (!files.includes(`package/${needed}`)) fail(name, `the tarball lacks ${needed}`);
  for (const bin of Object.values(one.manifest.bin ?? {}))
    if (!files.includes(`package/${bin.replace(/^\.\//, "")}`)) fail(name, `the tarball lacks ${bin}`);
  for (const file of files)
    if (/\.test\.|tsbuildinfo|\/test\/|\.env|\.db$/.test(file))
      fail(name, `the tarball should not have ${file}`);
  for (const file of files)
    if (file.endsWith(".map") && !files.includes(file.slice(0, -".map".length)))
      fail(name, `${file} is the map of a file that the tarball lacks`);
  console.log(`${name}: ${files.length} files`);
}
process.exitCode = failed > 0 ? 1 : 0;
