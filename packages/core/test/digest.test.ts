// Short names for long texts, held to a second writing of how they are made.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { digest, numberOf } from "../src/json/digest.ts";

/** The same name, from the whole text at once. */
function nameOf(text: string): number {
  const bytes = new TextEncoder().encode(text);
  const view = new DataView(new ArrayBuffer(Math.ceil(bytes.length / 4) * 4));
  bytes.forEach((byte, at) => {
    view.setUint8(at, byte);
  });
  let high = 0xdeadbeef ^ text.length;
  let low = 0x41c6ce57;
  for (let at = 0; at < view.byteLength; at += 4) {
    const word = view.getInt32(at, true);
    high = Math.imul(high ^ word, 2654435761);
    low = Math.imul(low ^ word, 1597334677);
  }
  const one = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  const other = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return (one & 0x1fffff) * 2 ** 32 + (other >>> 0);
}

/** Texts of some pieces of memory, with letters of one to four bytes at their borders. */
const long = fc
  .tuple(fc.nat(3), fc.integer({ min: -6, max: 6 }), fc.string({ unit: "binary", maxLength: 12 }))
  .map(([pieces, more, end]) => "x".repeat(Math.max(0, 4096 * pieces + more)) + end + end);

describe("the digest of a text", () => {
  test("is the same for equal texts of any length, whatever their letters are", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), long), (text) => {
        expect(numberOf(text)).toBe(nameOf(text));
        expect(digest(text)).toBe(String(nameOf(text)));
      }),
      { numRuns: 500 },
    );
  });

  test("differs if one letter differs, or if there is one more", () => {
    fc.assert(
      fc.property(long, fc.nat(), (text, place) => {
        const at = text.length === 0 ? 0 : place % text.length;
        const named = numberOf(text);
        if (text !== "") {
          const other = text.charCodeAt(at) === 122 ? "y" : "z";
          const changed = text.slice(0, at) + other + text.slice(at + 1);
          if (changed.isWellFormed()) expect(numberOf(changed)).not.toBe(named);
        }
        expect(numberOf(`${text}\0`)).not.toBe(named);
      }),
      { numRuns: 500 },
    );
  });
});
