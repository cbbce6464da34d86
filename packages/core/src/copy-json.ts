// The room of copies: what is handed to somebody else's code is their own, and what they hand in is ours.
//
// Tools and hooks write into what they are given (a default filled in, a member taken out), and callers into what they
// have sent. The same objects stand in the records and in the history: written into there, what was said, and what was
// approved, would change behind the loop.

/**
 * The same JSON, which nobody can write into any more. For what is only shown: the history itself, in which writing
 * would change what happened. Whoever tries is told at once, by the TypeError of the language. Looked at once.
 */
export function frozen<Value>(value: Value): Value {
  // Bytes cannot be frozen: they are no JSON, and nobody's but the model's that put them there.
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value))
    return value;
  Object.freeze(value);
  for (const key of Object.keys(value)) frozen((value as Record<string, unknown>)[key]);
  return value;
}

/**
 * What is left of a value once it is written down and read again: a copy, in which there is nothing but JSON.
 * @throws TypeError for what cannot be written down: a circle, a bigint
 */
export function written<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

/** What a list holds, in a list of the reader's own. */
export function shown<Item>(list: { slice(): Item[] }): Item[] {
  const items = list.slice();
  for (const item of items) frozen(item);
  return items;
}

/** A copy of JSON, all the way down. A key such as `__proto__` stays data. */
export function copyJson<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson) as Value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyJson(member)])) as Value;
}
