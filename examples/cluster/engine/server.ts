// The room of the server's binary: finds it, or installs it, or says why that is impossible.
//
// It is 216 MB and has a licence of its own, so it is in a separate folder with its own lock file, outside the
// workspace, and is installed only when needed. Several processes may need it at once (parallel tests): each installs
// into a temporary folder and moves it into place; the first one wins.

import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../server", import.meta.url));

export type Found = { path: string } | { missing: string };

const isDone = (found: Found): found is { path: string } => "path" in found;

const versionIn = (file: string, read: (content: Record<string, unknown>) => unknown): unknown =>
  existsSync(file) ? read(JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>) : undefined;

/** The binary, if the requested version is installed. RONDO_RESTATE_SERVER names another one. */
export function findServer(): Found {
  const own = process.env.RONDO_RESTATE_SERVER;
  if (own !== undefined && own !== "")
    return existsSync(own)
      ? { path: own }
      : { missing: `RONDO_RESTATE_SERVER names ${own}, which is not there` };
  const packages = join(folder, "node_modules", "@restatedev");
  const wanted = versionIn(
    join(folder, "package.json"),
    ({ dependencies }) => (dependencies as Record<string, string>)["@restatedev/restate-server"],
  );
  const installed = versionIn(join(packages, "restate-server", "package.json"), ({ version }) => version);
  if (installed !== wanted) return { missing: `Restate's server ${wanted} is not installed` };
  const path = join(packages, `restate-server-${process.platform}-${process.arch}`, "bin", "restate-server");
  return existsSync(path)
    ? { path }
    : { missing: `Restate has no server for ${process.platform} on ${process.arch}` };
}

/** How long the download may take, in milliseconds. */
const patience = 180_000;

/**
 * The binary, installed first if necessary. Never throws: returns the reason if there is none (no registry, another
 * platform), so that the caller can skip.
 *
 * @param hear told before something is downloaded
 */
export async function haveServer(
  hear: (words: string) => void = (words) => console.error(words),
): Promise<Found> {
  const found = findServer();
  if (isDone(found) || !found.missing.endsWith("is not installed")) return found;
  hear(`${found.missing}: installing it, once (a download of about 60 MB, 216 MB on the disk)`);
  let own: string | undefined;
  try {
    own = mkdtempSync(join(folder, ".install-"));
    for (const name of ["package.json", "package-lock.json", ".npmrc"])
      cpSync(join(folder, name), join(own, name));
    const failed = await npmCi(own);
    if (failed !== undefined) return { missing: `${found.missing}, and npm could not install it: ${failed}` };
    // What is there is another version, incomplete, or was moved there by another process just now.
    if (!isDone(findServer())) {
      rmSync(join(folder, "node_modules"), { recursive: true, force: true });
      try {
        renameSync(join(own, "node_modules"), join(folder, "node_modules"));
      } catch (thrown) {
        if (!isDone(findServer())) throw thrown;
      }
    }
    return findServer();
  } catch (thrown) {
    return { missing: `${found.missing}, and cannot be: ${String(thrown)}` };
  } finally {
    if (own !== undefined) rmSync(own, { recursive: true, force: true });
  }
}

/** @returns why it failed, if it did */
function npmCi(cwd: string): Promise<string | undefined> {
  const child = spawn("npm", ["ci"], {
    cwd,
    stdio: ["ignore", "ignore", "pipe"],
    timeout: patience,
    // On Windows npm is a script.
    shell: process.platform === "win32",
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk;
  });
  return new Promise((settle) => {
    child.once("error", (error) => settle(error.message));
    child.once("close", (code, signal) => {
      const said = errors
        .split("\n")
        .filter((line) => line.startsWith("npm error"))
        .slice(0, 3)
        .map((line) => line.slice("npm error".length).trim())
        .join("; ");
      if (code === 0) settle(undefined);
      else settle(signal === null ? said || `it exited with ${code}` : `not done in ${patience / 1_000} s`);
    });
  });
}
