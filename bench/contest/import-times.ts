// The room of import times: published Rondo, imported for the first time in a fresh process.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median } from "../measure.ts";

export interface ImportTimes {
  /** Wall milliseconds, medians: core alone, and core with one provider whose model is created. */
  core: number;
  withProvider: number;
  runs: number;
}

const scripts = {
  core: `(await import("@rondo/core")).Agent.name`,
  withProvider: `await import("@rondo/core"); (await import("@rondo/models")).anthropic("x")`,
};
/** From this folder Node finds the published copy. */
const cwd = fileURLToPath(new URL("../published", import.meta.url));

/** Measured inside the process, so that Node's own start does not count. */
function once(script: string): number {
  const timed = `const t = performance.now(); ${script}; console.log(performance.now() - t)`;
  return Number(
    execFileSync(process.execPath, ["--input-type=module", "-e", timed], { cwd, encoding: "utf8" }),
  );
}

export function importTimes(runs: number): ImportTimes {
  const core: number[] = [];
  const withProvider: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    core.push(once(scripts.core));
    withProvider.push(once(scripts.withProvider));
  }
  return { core: median(core), withProvider: median(withProvider), runs };
}
