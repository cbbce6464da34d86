// The room of sub-agents' runs: finds a run's parent by name.
//
// A sub-agent's session is named after its parent's session and the call's key, `SESSION:12.0`. The records say it
// too, but listing a thousand runs should not read them all.

const childName = /^(.+):\d+\.\d+$/s;

/** The parent of this run, if it is among the known ones. */
export function parentIn(id: string, known: ReadonlySet<string>): string | undefined {
  const parent = childName.exec(id)?.[1];
  return parent !== undefined && known.has(parent) ? parent : undefined;
}
