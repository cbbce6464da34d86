// The room of preparation: builds and places published Rondo, and installs the locked peers.

import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "../../scripts/build.ts";
import { mustRun } from "../../scripts/run-command.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** A copy of Rondo's subjects next to the built packages, so that they import these and not the workspace's. Not in git. */
const published = join(root, "bench/published");
export const peersFolder: string = join(root, "bench/peers");
const measured = ["core", "models"];

/** Builds Rondo, unless the sources are unchanged since the last build, and puts it where the subjects find it. */
export async function readyRondo(): Promise<void> {
  const stamp = join(published, "stamp");
  const now = digestOfSources();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === now) return;
  const had = measured.filter((name) => existsSync(join(root, "packages", name, "dist")));
  await build();
  rmSync(published, { recursive: true, force: true });
  for (const name of measured) {
    const [from, to] = [join(root, "packages", name), join(published, "node_modules/@rondo", name)];
    mkdirSync(to, { recursive: true });
    for (const part of ["dist", "src", "package.json", "README.md"])
      if (existsSync(join(from, part))) cpSync(join(from, part), join(to, part), { recursive: true });
  }
  for (const file of globSync("*.mjs", { cwd: join(root, "bench/subjects") }))
    cpSync(join(root, "bench/subjects", file), join(published, file));
  // An unrequested build would get in the way of lint, and of running from sources.
  if (had.length === 0)
    for (const dist of globSync("packages/*/dist", { cwd: root }))
      rmSync(join(root, dist), { recursive: true, force: true });
  writeFileSync(stamp, now);
}

function digestOfSources(): string {
  const hash = createHash("sha256");
  for (const name of measured)
    for (const file of globSync(`packages/${name}/{package.json,tsconfig.json,src/**/*.ts}`, {
      cwd: root,
    }).sort()) {
      const { mtimeMs, size } = statSync(join(root, file));
      hash.update(`${file} ${mtimeMs} ${size}\n`);
    }
  for (const file of ["scripts/build.ts", ...globSync("bench/subjects/*.mjs", { cwd: root }).sort()])
    hash.update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

/** Installs the peers from their lock file, unless already done. No install scripts run. */
export async function readyPeers(): Promise<void> {
  const stamp = join(peersFolder, "node_modules/.stamp");
  const lock = readFileSync(join(peersFolder, "package-lock.json"));
  const now = createHash("sha256").update(lock).digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === now) return;
  await mustRun("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: peersFolder });
  writeFileSync(stamp, now);
}
