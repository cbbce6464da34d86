// The room of the tarballs: what a user gets from npm, made from a fresh build.
//
// Tests of packages use these and never the workspace, whose links and sources would hide what was not published.

import { globSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.ts";
import { publishedPackages } from "./packages.ts";
import { mustRun } from "./run-command.ts";

/** Builds and packs every published package into a folder. */
export async function packAll(folder: string): Promise<void> {
  await build();
  mkdirSync(folder, { recursive: true });
  for (const one of publishedPackages())
    await mustRun("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: one.folder });
}

/** The tarball of each published package in a folder, by package name. Throws when one is missing. */
export function tarballsIn(folder: string): Map<string, string> {
  const tarballs = new Map<string, string>();
  for (const { name, manifest } of publishedPackages()) {
    const file = `${name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`;
    if (globSync(file, { cwd: folder }).length === 0) throw new Error(`${folder} has no ${file} for ${name}`);
    tarballs.set(name, join(folder, file));
  }
  return tarballs;
}
