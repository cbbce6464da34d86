// Runs a TypeScript file of this workspace with the workspace's own Node.
// npm puts node_modules/.bin first in PATH, so under `npm run` on Linux this already is Node 24;
// elsewhere Node 22.18 or newer is needed, and an older one is refused.
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
// A terminal sends Ctrl-C to the whole process group: forwarded as well, the child would take it for a second one.
// A console of Windows sends all of them to every process, and there `kill` would end the child at once.
const pass = (name) => process.platform === "win32" || child.kill(name);
process.on("SIGINT", () => process.stdin.isTTY || pass("SIGINT"));
for (const name of ["SIGTERM", "SIGHUP"]) process.on(name, () => pass(name));
child.on("exit", (code, signal) => process.exit(signal ? 130 : (code ?? 1)));
