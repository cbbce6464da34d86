// The room of import times: published Rondo, imported for the first time in a fresh process.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median } from "../measure.ts";

export interface ImportTimes {
  /** Wall milliseconds, medians: core alone, and core with one provider whose model is created. */
  core: number;
  withProvider: number;
  /** The same of ajv, a package of known cost: how fast this machine imports anything. */
  yardstick: number;
  runs: number;
}

/** What an import of ajv took on the machine that the bounds were set for, milliseconds. */
export const yardstickThere = 16;

const scripts = {
  core: `(await import("@rondo/core")).Agent.name`,
  withProvider: `await import("@rondo/core"); (await import("@rondo/models")).anthropic("x")`,
  yardstick: `(await import("ajv")).default.name`,
};
/** From these folders Node finds the published copy, and the peers' packages. */
const published = fileURLToPath(new URL("../published", import.meta.url));
const peers = fileURLToPath(new URL("../peers", import.meta.url));

/** Measured inside the process, so that Node's own start does not count. */
function once(script: string, cwd: string): number {
  const timed = `const t = performance.now(); ${script}; console.log(performance.now() - t)`;
  return Number(
    execFileSync(process.execPath, ["--input-type=module", "-e", timed], { cwd, encoding: "utf8" }),
  );
}

export function importTimes(runs: number): ImportTimes {
  const core: number[] = [];
  const withProvider: number[] = [];
  const yardstick: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    core.push(once(scripts.core, published));
    withProvider.push(once(scripts.withProvider, published));
    yardstick.push(once(scripts.yardstick, peers));
  }
  return { core: median(core), withProvider: median(withProvider), yardstick: median(yardstick), runs };
}
