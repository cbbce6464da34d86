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

/** What a list holds, in a list of the reader's own. */
export function shown<Item>(list: { slice(): Item[] }): Item[] {
  const items = list.slice();
  for (const item of items) frozen(item);
  return items;
}

/**
 * A copy all the way down, in which there is nothing but JSON. Members without a value are left out, what has a way to say
 * itself in JSON (`toJSON`: a Date) says it, and a key such as `__proto__` stays data.
 * @param at where it stands, in words that a fault is told by: `content[0].args`
 * @param how `lenient`: what JSON has no word for is left out or null, as `JSON.stringify` does
 * @throws TypeError naming the place of what is no JSON: a bigint, a circle; unless lenient a function, NaN, a Map
 */
export function jsonCopy<Value>(value: Value, at: string = "", how: "strict" | "lenient" = "strict"): Value {
  // Nearly everything is plain, and copied at each step of a run: only what is not is looked at with its place in mind.
  const copy = plainCopy(value, 0);
  return (copy === unfit ? copyOf(value, at, how === "lenient", []) : copy) as Value;
}

const unfit: unique symbol = Symbol("not plain");

/** Deeper than this something may hold itself. */
const deep = 100;

/** A copy of plain JSON; `unfit` where there is anything else in it. */
function plainCopy(value: unknown, depth: number): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  // JSON has no -0: a journal would give back 0.
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
    // Written to, it would be no member.
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
