// One cell of the contest: one subject does one scenario once, in this process and nothing else in it.
//
// `node cell.mjs FILE`, where FILE is JSON: `Work` in contest/run-cell.ts. What it did is
// written to the file named there. Plain JavaScript, and
// with as few imports as can be: in a cold cell everything that is loaded here counts for every subject.

import { readFileSync, writeFileSync } from "node:fs";

const work = JSON.parse(readFileSync(process.argv[2], "utf8"));
let executed = 0;
let argued = 0;

/** What a tool answers; the same as `resultOf` in contest/plan.ts. */
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
/** Kilobytes. `maxRSS` remembers the process that started this one, from before it became this program: Linux's own mark does not. */
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
    // Of it, what the main thread spent: the rest compiles and collects garbage beside it.
    main: (main.user + main.system) / 1000,
    wall,
    rss: peakMemory(),
    executed,
    argued,
    agents: done,
  }),
);
// A pool of sockets that is kept alive keeps the process.
process.exit(0);
