// The room of parsing: a JSON text becomes a value, with every key as it was written.
//
// Once V8 has parsed a key that ends in a backslash, it may read a key with an escape wrongly: `{"\"":1}` comes back with
// the key `\` (nodejs/node#63785; Node 24 and 26). A tool would run with arguments that nobody gave, and a journal would
// return other records than it was given. Such keys are rare: other keys stand in for them while the text is parsed.

import type { Json, JsonObject } from "../message.ts";
import { setOwn } from "./object.ts";

/** The last escape in a key, and the end of the key. */
const escapedKey = /\\(?:u[\da-fA-F]{4}|[^u])[^"\\]*"\s*:/;
const colon = /\s*:/y;

/**
 * Like `JSON.parse`, but with the right keys in every version of V8. For whatever is not ours: arguments of calls, stored
 * records, typed outputs.
 * @typeParam Value what the text is known to hold; not checked
 * @param parse parses a text whose keys have no escapes. Default: `JSON.parse`
 * @throws SyntaxError if the text is not JSON
 */
export function parsedJson<Value = Json>(text: string, parse: (text: string) => unknown = JSON.parse): Value {
  if (!text.includes("\\") || !escapedKey.test(text)) return parse(text) as Value;
  try {
    const { plain, prefix, keys } = withPlainKeys(text);
    return withOwnKeys(parse(plain) as Json, prefix, keys) as Value;
  } catch {
    // The error must speak of the text as it is.
    return parse(text) as Value;
  }
}

/** The text with a number, after a prefix that no key has, for each key with an escape; and these keys. */
function withPlainKeys(text: string): { plain: string; prefix: string; keys: string[] } {
  let prefix = "key";
  while (text.includes(`"${prefix}`)) prefix += prefix;
  const keys: string[] = [];
  const pieces: string[] = [];
  let kept = 0;
  for (let from = text.indexOf('"'); from !== -1; ) {
    const to = stringEnd(text, from);
    const written = text.slice(from, to);
    colon.lastIndex = to;
    if (written.includes("\\") && colon.test(text)) {
      pieces.push(text.slice(kept, from), `"${prefix}${keys.length}"`);
      keys.push(JSON.parse(written) as string);
      kept = to;
    }
    from = text.indexOf('"', to);
  }
  return { plain: pieces.join("") + text.slice(kept), prefix, keys };
}

/** The offset after a string that begins at an offset. */
function stringEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** The value with the keys that were stood in for. Not recursive, because a text may be nested more deeply than the stack. */
function withOwnKeys(value: Json, prefix: string, keys: readonly string[]): Json {
  const renamed = (one: Json): Json => {
    if (typeof one !== "object" || one === null || Array.isArray(one)) return one;
    const names = Object.keys(one);
    if (!names.some((name) => name.startsWith(prefix))) return one;
    const named: JsonObject = {};
    for (const name of names) {
      const own = name.startsWith(prefix) ? keys[Number(name.slice(prefix.length))] : undefined;
      setOwn(named, own ?? name, one[name] as Json);
    }
    return named;
  };
  const whole = [renamed(value)];
  const left: Json[] = [whole];
  for (let holder = left.pop(); holder !== undefined; holder = left.pop())
    for (const [name, inner] of Object.entries(holder as JsonObject)) {
      if (typeof inner !== "object" || inner === null) continue;
      const own = renamed(inner);
      // A value without such keys may be frozen: it is not assigned to.
      if (own !== inner) setOwn(holder as JsonObject, name, own);
      left.push(own);
    }
  return whole[0] as Json;
}
