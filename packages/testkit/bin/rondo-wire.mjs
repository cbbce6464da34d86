#!/usr/bin/env node
// The door of the command rondo-wire: what was built, or the sources of a checkout.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `rondo-wire: this is Node ${process.versions.node}; Node 22.18 or newer is needed. Install one from nodejs.org.`,
  );
  process.exit(2);
}
const here = fileURLToPath(import.meta.url);
const built = join(dirname(here), "..", "dist", "wire", "main.js");
const source = join(dirname(here), "..", "src", "wire", "main.ts");
if (existsSync(built)) await import(pathToFileURL(built).href);
else if (process.execArgv.includes("--conditions=rondo-source")) await import(pathToFileURL(source).href);
else {
  const child = spawn(process.execPath, ["--conditions=rondo-source", here, ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  // Who sits at a terminal, or at any console of Windows, has told the child as well.
  const isTold = (signal) => process.platform === "win32" || (signal === "SIGINT" && process.stdin.isTTY);
  for (const signal of ["SIGINT", "SIGTERM"])
    process.on(signal, () => (isTold(signal) ? false : child.kill(signal)));
  child.on("exit", (code, signal) => process.exit(signal ? 130 : (code ?? 1)));
}
