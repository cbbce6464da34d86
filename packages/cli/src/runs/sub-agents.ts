// The room of sub-agents' runs: which run of a journal another works for, told by their names alone.
//
// A sub-agent's session is called by its parent's and the key of the call that it is, `SESSION:12.0`. Records say it
// too, but who lists a thousand runs does not read them all.

const childName = /^(.+):\d+\.\d+$/s;

/** The run that this one works for, if that is among the known ones. */
export function parentIn(id: string, known: ReadonlySet<string>): string | undefined {
  const parent = childName.exec(id)?.[1];
  return parent !== undefined && known.has(parent) ? parent : undefined;
}
