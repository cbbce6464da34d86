// The room of copies: what is handed to somebody else's code is their own, and what they hand in is ours.
//
// Tools and hooks write into what they are given (a default filled in, a member taken out), and callers into what they
// have sent. The same objects stand in the records and in the history: written into there, what was said, and what was
// approved, would change behind the loop.

/** A copy of JSON, all the way down. A key such as `__proto__` stays data. */
export function copyJson<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson) as Value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyJson(member)])) as Value;
}
