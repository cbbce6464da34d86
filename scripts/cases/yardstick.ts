// The room of the yardstick: how fast this machine is just now.
//
// A case says what a reader may cost in milliseconds, to tell a linear one from one that is not. What a millisecond is
// worth depends on the machine and on what else it does: a fixed piece of work beside the measured one tells.

/** What the fixed work takes on an idle machine of the kind that the limits were tried on, in milliseconds of CPU. */
const usualMs = 20;
const rounds = 5;

/** How many times as long as usual work takes here and now; 1 where it is as quick, or quicker. */
export function slowness(): number {
  const took = Array.from({ length: rounds }, () => {
    const from = process.cpuUsage();
    fixedWork();
    const { user, system } = process.cpuUsage(from);
    return (user + system) / 1000;
  }).sort((a, b) => a - b);
  return Math.max(1, (took[rounds >> 1] as number) / usualMs);
}

/** Looks at characters and makes nothing of them: what else this process holds costs it nothing. */
function fixedWork(): number {
  const text = 'data: {"a":"b"}\n\n'.repeat(64);
  let found = 0;
  for (let round = 0; round < 10_000; round += 1)
    for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) === 10) found += at;
  return found;
}
