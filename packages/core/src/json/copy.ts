// The room of copies: user code gets copies of our objects, and we keep copies of theirs.
//
// Tools and hooks change what they are given (fill in a default, delete a member), and callers change what they have passed
// in. The same objects are in the records and in the history. If they were changed there, what was said, and what was
// approved, would no longer be what the loop has.

/**
 * The same JSON, deeply frozen. For what is only shown, such as the history: changing it would change what happened. An
 * attempt throws a TypeError at once. Each value is frozen only once.
 */
export function frozen<Value>(value: Value): Value {
  // Bytes cannot be frozen. They are not JSON, and only the model that made them uses them.
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value))
    return value;
  Object.freeze(value);
  for (const key of Object.keys(value)) frozen((value as Record<string, unknown>)[key]);
  return value;
}

/** The items of a list, in a new list for the reader. */
export function shown<Item>(list: { slice(): Item[] }): Item[] {
  const items = list.slice();
  for (const item of items) frozen(item);
  return items;
}

/**
 * A deep copy that contains only JSON. Members without a value are left out, `toJSON` is called (e.g. of a Date), and a
 * key such as `__proto__` stays data.
 * @param at the place of the value, for errors: `content[0].args`
 * @param how `lenient`: what JSON cannot hold is left out or null, as `JSON.stringify` does
 * @throws TypeError with the place of a value that is not JSON: a bigint, a circular reference; unless lenient also a
 * function, NaN, a Map
 */
export function jsonCopy<Value>(value: Value, at: string = "", how: "strict" | "lenient" = "strict"): Value {
  // Nearly all values are plain, and are copied at each step of a run. So only others are copied the slow way, which knows
  // the place.
  const copy = plainCopy(value, 0);
  return (copy === unfit ? copyOf(value, at, how === "lenient", []) : copy) as Value;
}

const unfit: unique symbol = Symbol("not plain");

/** A deeper value may contain itself. */
const deep = 100;

/** A copy of plain JSON; `unfit` if the value contains anything else. */
function plainCopy(value: unknown, depth: number): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  // JSON has no -0: a journal would return 0.
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : unfit;
  if (typeof value !== "object" || depth > deep) return unfit;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (const item of value) {
      const copy = plainCopy(item, depth + 1);
      if (copy === unfit) return unfit;
      list.push(copy);
    }
    return list;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype || "toJSON" in value) return unfit;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    // Assigning to it would not create a member.
    if (key === "__proto__") return unfit;
    const own = plainCopy(member, depth + 1);
    if (own === unfit) return unfit;
    copy[key] = own;
  }
  return copy;
}

function copyOf(value: unknown, at: string, lenient: boolean, within: readonly object[]): unknown {
  const none = (what: string): TypeError =>
    new TypeError(`${at || "it"} is ${what}, and JSON has no such value`);
  switch (typeof value) {
    case "number":
      if (Number.isFinite(value)) return value + 0;
      if (lenient) return null;
      throw none(String(value));
    case "bigint":
      throw none("a bigint");
    case "function":
    case "symbol":
      if (lenient) return undefined;
      throw none(`a ${typeof value}`);
    case "object":
      break;
    default:
      return value;
  }
  if (value === null) return value;
  if (within.includes(value)) throw none("a circle");
  const inner = [...within, value];
  if (typeof (value as { toJSON?: unknown }).toJSON === "function")
    return copyOf((value as { toJSON(): unknown }).toJSON(), at, lenient, inner);
  if (Array.isArray(value))
    return Array.from(value, (item, index) => copyOf(item, `${at}[${index}]`, lenient, inner) ?? null);
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  if (kind !== "Object" && !lenient) throw none(`a ${kind}`);
  const members = Object.entries(value).map(([key, member]): [string, unknown] => [
    key,
    copyOf(member, at === "" ? key : `${at}.${key}`, lenient, inner),
  ]);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}
