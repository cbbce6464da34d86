// What bytes become, in every chunking.

import { describe, expect, test } from "vitest";
import { Utf8Stream } from "../../src/transport/utf8.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function read(chunks: readonly Uint8Array[]): string {
  const utf8 = new Utf8Stream();
  return chunks.map((chunk) => utf8.decode(chunk)).join("") + utf8.end();
}

describe("text that comes in two chunks", () => {
  test.each(["é\ufeffb", "a\ufeffb", "aé\ufeff", "日\ufeff本", "\u{1f600}\ufeffx"])(
    "keeps a byte order mark inside, wherever it is cut: %j",
    (text) => {
      const bytes = bytesOf(text);
      for (let cut = 0; cut <= bytes.length; cut += 1)
        expect(read([bytes.subarray(0, cut), bytes.subarray(cut)]), `cut at ${cut}`).toBe(text);
      expect(read(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toBe(text);
    },
  );

  test.each(["", "b", "é", "\ufeffb"])(
    "loses a byte order mark at the beginning, and only that one: %j",
    (rest) => {
      const bytes = bytesOf(`\ufeff${rest}`);
      for (let cut = 0; cut <= bytes.length; cut += 1)
        expect(read([bytes.subarray(0, cut), bytes.subarray(cut)]), `cut at ${cut}`).toBe(rest);
    },
  );

  test("has no NUL characters, wherever they come", () => {
    const bytes = bytesOf("\0\0dé\0\ufeff\n\0");
    for (let cut = 0; cut <= bytes.length; cut += 1)
      expect(read([bytes.subarray(0, cut), bytes.subarray(cut)]), `cut at ${cut}`).toBe("dé\ufeff\n");
  });

  test("marks what was not UTF-8, also if the last character was cut", () => {
    expect(read([Uint8Array.of(0x61, 0xff), Uint8Array.of(0x62)])).toBe("a\ufffdb");
    expect(read([Uint8Array.of(0x61, 0xe6, 0x97)])).toBe("a\ufffd");
  });
});
