// The room of memories: what rules remember, told to the letter, and held fast.
//
// A rule may remember in maps and sets, which JSON does not tell and freezing does not hold: two that differ would be one,
// and a fold that adds to the set it is given would change what was remembered on every other way.

/** What a rule remembers, as a text: two memories are the same where their texts are. */
export function told(memory: unknown): string {
  return JSON.stringify(memory, (_, value: unknown) => plain(value)) ?? "nothing";
}

/** What JSON has a word for, of things that rules remember in and JSON passes over. */
export function plain(value: unknown): unknown {
  if (value instanceof Map || value instanceof Set) return [...value];
  return typeof value === "bigint" ? `${value}n` : value;
}

const held = new WeakSet<object>();

/** Lets nobody change the maps and sets of a memory any more. What else it is made of is frozen as all of a state is. */
export function holdFast(memory: unknown): void {
  if (typeof memory !== "object" || memory === null || held.has(memory)) return;
  held.add(memory);
  if (memory instanceof Map || memory instanceof Set) {
    const kind = memory instanceof Map ? "Map" : "Set";
    for (const change of ["set", "add", "delete", "clear"] as const)
      Reflect.defineProperty(memory, change, {
        value: () => {
          throw new TypeError(`the ${kind} is read only: ${change}() would change what was remembered`);
        },
      });
    for (const entry of memory) holdFast(entry);
    return;
  }
  for (const inner of Object.values(memory)) holdFast(inner);
}
