// Runs a TypeScript source of this workspace on the Node the workspace brings along.
// npm puts node_modules/.bin first in PATH, so under `npm run` this already is Node 24 on Linux;
// elsewhere it needs 22.18 or newer and says so.
import { spawn } from "node:child_process";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `rondo: this is Node ${process.versions.node}; Node 22.18 or newer is needed. ` +
      "On Linux `npm install` brings its own; elsewhere install one from nodejs.org.",
  );
  process.exit(2);
}
const child = spawn(
  process.execPath,
  ["--conditions=rondo-source", "--disable-warning=ExperimentalWarning", ...process.argv.slice(2)],
  { stdio: "inherit" },
);
// A terminal tells the whole process group of Ctrl-C: passed on as well, the child would take it for a second one.
process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
for (const name of ["SIGTERM", "SIGHUP"]) process.on(name, () => child.kill(name));
child.on("exit", (code, signal) => process.exit(signal ? 130 : (code ?? 1)));
