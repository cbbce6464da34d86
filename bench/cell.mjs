// The room of the cell's process: one subject runs one scenario once, alone in this process.
//
// `node cell.mjs FILE`, where FILE contains JSON: `Work` in contest/run-cell.ts. The report is written to the file named
// there. Plain JavaScript with as few imports as possible: in a cold cell everything loaded here counts for every
// subject.

import { readFileSync, writeFileSync } from "node:fs";

const work = JSON.parse(readFileSync(process.argv[2], "utf8"));
let executed = 0;
let argued = 0;

/** The result of a tool; the same as `resultOf` in contest/plan.ts. */
const resultOf = ({ page, content }) =>
  content === undefined
    ? `Page ${page}: ${"nothing that was looked for stands here. ".repeat(5)}`
    : `Wrote ${content.length} characters.`;

const tools = work.tools.map((one) => ({
  ...one,
  execute(args) {
    executed += 1;
    argued += JSON.stringify(args).length;
    return resultOf(args);
  },
}));

const { prepare } = await import(work.subject);
const run = await prepare({
  base: work.base,
  system: work.system,
  tools,
  maxSteps: work.maxSteps,
  scenario: work.scenario,
});
/** Kilobytes. `maxRSS` includes the parent process from before exec; Linux's VmHWM does not. */
function peakMemory() {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))[1]);
  } catch {
    return process.resourceUsage().maxRSS;
  }
}

const prompt = (number) => `Do the work, agent #${number}.`;

let from;
let cpuFrom;
let mainFrom;
if (!work.cold) {
  await run(prompt(0));
  executed = 0;
  argued = 0;
  from = performance.now();
  cpuFrom = process.cpuUsage();
  mainFrom = process.threadCpuUsage();
}
const done = await Promise.all(Array.from({ length: work.agents }, (_, at) => run(prompt(at + 1))));
const { user, system } = process.cpuUsage(cpuFrom);
const wall = performance.now() - (from ?? 0);
const main = process.threadCpuUsage(mainFrom);
writeFileSync(
  work.report,
  JSON.stringify({
    // Milliseconds. Cold: since the process began.
    cpu: (user + system) / 1000,
    // The main thread's share; other threads compile and collect garbage.
    main: (main.user + main.system) / 1000,
    wall,
    rss: peakMemory(),
    executed,
    argued,
    agents: done,
  }),
);
// Kept-alive sockets would keep the process running.
process.exit(0);
