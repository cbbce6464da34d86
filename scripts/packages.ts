// The room of the workspace's packages: which there are, where they are, and in which order they build.
//
// No package is named here: a new folder under packages/ is automatically built, checked, packed and tested.

import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const root: string = join(import.meta.dirname, "..");

export interface Manifest {
  name: string;
  version: string;
  description?: string;
  private?: boolean;
  exports?: Record<string, string | Record<string, string>>;
  bin?: Record<string, string>;
  files?: string[];
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  license?: string;
  author?: string;
  /** Packages whose code the build includes in this one's: users need not install them. */
  inlined?: string[];
}

export interface Package {
  name: string;
  folder: string;
  manifest: Manifest;
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** Every package, each after its dependencies. Throws on a cycle, naming it. */
export function packagesInOrder(): Package[] {
  const all = new Map<string, Package>();
  for (const path of globSync("packages/*/package.json", { cwd: root }).sort()) {
    const folder = join(root, dirname(path));
    const manifest = readManifest(folder);
    all.set(manifest.name, { name: manifest.name, folder, manifest });
  }
  const ordered = new Set<Package>();
  const visit = (one: Package, above: string[]): void => {
    if (above.includes(one.name))
      throw new Error(`packages depend on each other: ${[...above, one.name].join(" -> ")}`);
    const { dependencies, peerDependencies, optionalDependencies } = one.manifest;
    for (const name of Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies })) {
      const below = all.get(name);
      if (below !== undefined) visit(below, [...above, one.name]);
    }
    ordered.add(one);
  };
  for (const one of all.values()) visit(one, []);
  return [...ordered];
}

/** The packages that get published: those not marked private. */
export function publishedPackages(): Package[] {
  return packagesInOrder().filter((one) => one.manifest.private !== true);
}
