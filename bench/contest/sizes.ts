// The room of install sizes: disk space of a subject with its dependencies.
//
// Counted from what is installed here: the files of a package and of every package that Node would find for its
// dependencies (optional ones and required peers if npm installed them), each once. Bytes of files, not disk blocks.

import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Subject } from "./subjects.ts";

export interface Size {
  subject: string;
  bytes: number;
  packages: number;
}

interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

const here = fileURLToPath(new URL(".", import.meta.url));

/** The folder of a package as Node would find it from another one, or undefined. */
function find(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
    if (folder === dirname(folder)) return undefined;
  }
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;

function bytesOf(folder: string): number {
  let sum = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === "node_modules") continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) sum += bytesOf(path);
    else if (entry.isFile()) sum += lstatSync(path).size;
  }
  return sum;
}

/** The packages of a subject with all dependencies, by folder. Throws when a required one is not installed. */
function closure(subject: Subject): Map<string, Manifest> {
  const start = dirname(join(here, subject.file));
  const found = new Map<string, Manifest>();
  const visit = (name: string, from: string, needed: boolean): void => {
    const folder = find(name, from);
    if (folder === undefined) {
      if (needed) throw new Error(`${subject.name}: ${name}, which ${from} needs, is not installed`);
      return;
    }
    if (found.has(folder)) return;
    const manifest = manifestOf(folder);
    found.set(folder, manifest);
    const optional = manifest.optionalDependencies ?? {};
    for (const one of Object.keys(manifest.dependencies ?? {})) visit(one, folder, !(one in optional));
    for (const one of Object.keys(optional)) visit(one, folder, false);
    for (const one of Object.keys(manifest.peerDependencies ?? {}))
      if (manifest.peerDependenciesMeta?.[one]?.optional !== true) visit(one, folder, false);
  };
  for (const name of subject.packages) visit(name, start, true);
  return found;
}

export function sizeOf(subject: Subject): Size {
  const folders = [...closure(subject).keys()];
  return {
    subject: subject.name,
    bytes: folders.reduce((sum, folder) => sum + bytesOf(folder), 0),
    packages: folders.length,
  };
}

/** Versions of the packages that are installed for a subject: `ai 7.0.173`. */
export function versionsOf(subject: Subject): string[] {
  const start = dirname(join(here, subject.file));
  return subject.packages.flatMap((name) => {
    const folder = find(name, start);
    return folder === undefined ? [] : [`${name} ${manifestOf(folder).version}`];
  });
}
