// The room of memories: what rules remember, told to the letter, and held fast.
//
// A rule may remember in maps and sets, which JSON does not tell and freezing does not hold: two that differ would be one,
// and a fold that adds to the set it is given would change what was remembered on every other way. What nothing here can see
// into, like the private fields of a class, cannot be told at all: a memory that has such a thing in it is reported.

import type { Rules } from "@rondo/core";

/** What a rule remembers, as a text: two memories are the same where their texts are. */
export function told(memory: unknown): string {
  return JSON.stringify(memory, (_, value: unknown) => plain(value)) ?? "nothing";
}

/** What JSON has a word for, of things that rules remember in and JSON passes over. */
export function plain(value: unknown): unknown {
  if (value instanceof Map || value instanceof Set) return [...value];
  return typeof value === "bigint" ? `${value}n` : value;
}

/** Holds the memories of all rules fast. Returns what is wrong with those that are not data throughout. */
export function heldFast(memories: readonly unknown[], { list }: Rules): string[] {
  return memories.flatMap((memory, place) => {
    holdFast(memory);
    const what = hiddenIn(memory);
    const name = list[place]?.name;
    return what === undefined ? [] : [`P3: the rule ${name} remembers ${what}: a memory must be plain data`];
  });
}

const hidden = new WeakMap<object, string | undefined>();

/** The first thing in a memory that JSON, maps and sets have no word for; undefined if there is none. */
function hiddenIn(memory: unknown): string | undefined {
  if (typeof memory === "function" || typeof memory === "symbol") return `a ${typeof memory}`;
  if (typeof memory !== "object" || memory === null) return undefined;
  if (!hidden.has(memory)) {
    // What is met again on the way down is looked at already.
    hidden.set(memory, undefined);
    hidden.set(memory, isTold(memory) ? firstHidden(insideOf(memory)) : nameOf(memory));
  }
  return hidden.get(memory);
}

/** Whether what there is of an object is told: of a class's object its own `toJSON` tells it. */
function isTold(one: object): boolean {
  if (Array.isArray(one) || one instanceof Map || one instanceof Set) return true;
  const kind: object | null = Object.getPrototypeOf(one);
  return kind === null || Object.getPrototypeOf(kind) === null || "toJSON" in one;
}

const insideOf = (one: object): Iterable<unknown> => {
  if (one instanceof Map || one instanceof Set) return one;
  return "toJSON" in one ? [] : Object.values(one);
};

function firstHidden(inside: Iterable<unknown>): string | undefined {
  for (const one of inside) {
    const found = hiddenIn(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

const nameOf = (one: object): string => `an object of the class ${one.constructor.name}`;

const held = new WeakSet<object>();

/** Lets nobody change the maps and sets of a memory any more. What else it is made of is frozen as all of a state is. */
function holdFast(memory: unknown): void {
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
