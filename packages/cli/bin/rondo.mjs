#!/usr/bin/env node
// The door of the command. Plain JavaScript that old Nodes can read: it looks whether this Node will do, goes over to
// one that was brought along if not, and says which is needed where there is none.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const willDo = major > 22 || (major === 22 && minor >= 18);

/** The Node that an npm package of this platform brought along, if one is installed within reach. */
function packagedNode() {
  try {
    const require = createRequire(import.meta.url);
    const manifest = require.resolve(`node-${process.platform}-${process.arch}/package.json`);
    const node = join(dirname(manifest), "bin", "node");
    return existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}

/** Hands this process's work to another Node, its signals and its exit code with it. */
function goOverTo(node, args) {
  const child = spawn(node, args, { stdio: "inherit" });
  // A terminal tells the whole process group of Ctrl-C: passed on as well, the child would take it for a second one.
  // A console of Windows tells every process of all of them, and there `kill` would end the child at once.
  const isTold = (name) => process.platform === "win32" || (name === "SIGINT" && process.stdin.isTTY);
  const pass = ["SIGINT", "SIGTERM", "SIGHUP"].map((name) => [
    name,
    () => (isTold(name) ? false : child.kill(name)),
  ]);
  for (const [name, on] of pass) process.on(name, on);
  child.on("error", (error) => {
    console.error(`rondo: ${node} could not start: ${error.message}`);
    process.exit(2);
  });
  child.on("exit", (code, signal) => {
    for (const [name, on] of pass) process.off(name, on);
    if (signal) process.kill(process.pid, signal);
    else process.exit(code ?? 1);
  });
}

const here = fileURLToPath(import.meta.url);
const built = join(dirname(here), "..", "dist", "main.js");
const source = join(dirname(here), "..", "src", "main.ts");
const args = process.argv.slice(2);

if (!willDo) {
  const node = packagedNode();
  if (node === undefined) {
    console.error(
      `rondo: this is Node ${process.versions.node}; Node 22.18 or newer is needed. Install one from nodejs.org` +
        (process.platform === "linux"
          ? `, or \`npm install node-linux-${process.arch}@24\` beside rondo.`
          : "."),
    );
    process.exit(2);
  }
  goOverTo(node, [here, ...args]);
} else if (existsSync(built)) {
  await import(pathToFileURL(built).href);
} else if (existsSync(source)) {
  // A checkout that was not built runs from its sources; the condition makes its packages do so too.
  if (process.execArgv.includes("--conditions=rondo-source")) await import(pathToFileURL(source).href);
  else goOverTo(process.execPath, ["--conditions=rondo-source", here, ...args]);
} else {
  console.error(
    `rondo: neither ${built} nor ${source} is there; build the workspace with \`npm run build\`.`,
  );
  process.exit(2);
}
