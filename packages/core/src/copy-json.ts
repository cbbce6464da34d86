// The room of copies: what is handed to somebody else's code is their own.
//
// Tools and hooks write into what they are given (a default filled in, a member taken out). The same objects stand in
// the records and in the history: written into there, what the model said and what was approved would change behind it.

/** A copy of JSON, all the way down. A key such as `__proto__` stays data. */
export function copyJson<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson) as Value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyJson(member)])) as Value;
}
