// The room of what is only shown to somebody: whoever writes into it is told so by the language, where he does it.

/** The value, into which nobody can write any more. What is frozen already is not looked into. */
export function frozen<T>(value: T): T {
  // Bytes cannot be frozen.
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value))
    return value;
  Object.freeze(value);
  Object.values(value).forEach(frozen);
  return value;
}
