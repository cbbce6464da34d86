// The room of imports: what importing costs in a fresh process, compared with node:http, which every model client loads.
//
// Measures the built packages (`npm run build`); without a build, the sources, whose types Node strips while
// loading.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Figure, median } from "../measure.ts";
import type { Scenario } from "../scenario.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const isBuilt = ["core", "models"].every((name) => existsSync(`${root}packages/${name}/dist/index.js`));

const subjects: Readonly<Record<string, string>> = {
  "node:http": `await import("node:http")`,
  "@rondo/core": `(await import("@rondo/core")).Agent.name`,
  "core and one provider": `await import("@rondo/core"); (await import("@rondo/models")).anthropic("x")`,
};

/** Measured inside the process, so that Node's own start does not count. */
function once(script: string): { cpu: number; wall: number } {
  const timed = `const c = process.cpuUsage(), t = performance.now(); ${script};
    const wall = (performance.now() - t) * 1000, { user, system } = process.cpuUsage(c);
    console.log(JSON.stringify({ cpu: user + system, wall }));`;
  const flags = isBuilt ? [] : ["--conditions=rondo-source", "--disable-warning=ExperimentalWarning"];
  const out = execFileSync(process.execPath, [...flags, "--input-type=module", "-e", timed], {
    cwd: root,
    encoding: "utf8",
  });
  return JSON.parse(out) as { cpu: number; wall: number };
}

export const imports: Scenario = {
  about: `a first import in a fresh process, from ${isBuilt ? "the built packages" : "unbuilt sources (npm run build first, for what users get)"}; in units of node:http's`,
  unit: "import",
  rounds: 7,
  async *run(rounds): AsyncGenerator<Figure[]> {
    const taken = new Map(Object.keys(subjects).map((name) => [name, [] as ReturnType<typeof once>[]]));
    for (let round = 0; round < rounds; round += 1)
      for (const [name, script] of Object.entries(subjects)) taken.get(name)?.push(once(script));
    const floors = taken.get("node:http") ?? [];
    yield [...taken].map(([subject, runs]) => ({
      title: "import",
      subject,
      cpu: median(runs.map(({ cpu }) => cpu)),
      wall: median(runs.map(({ wall }) => wall)),
      ratio: median(runs.map(({ cpu }, round) => cpu / (floors[round]?.cpu ?? Number.NaN))),
    }));
  },
};
