// What reading a file of 100 MB takes of the memory, which nothing else may be using meanwhile.

import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readFile } from "../src/index.ts";
import { call, folder } from "./calling.ts";

test("read_file reads a huge file in pieces: a page from its middle, its size, bounded memory", async () => {
  const root = folder();
  const stream = createWriteStream(join(root, "huge.txt"));
  const block = "0123456789abcde\n".repeat(65_536);
  for (let n = 0; n < 100; n++)
    if (!stream.write(block)) await new Promise<void>((done) => stream.once("drain", done));
  await new Promise<void>((done) => stream.end(() => done()));
  const before = process.memoryUsage().rss;
  const { text } = await call(readFile({ root }), "read_file", {
    path: "huge.txt",
    offset: 3_000_000,
    limit: 2,
  });
  expect(text).toBe(
    "0123456789abcde\n0123456789abcde\n[lines 3000000 to 3000001 of 6,553,600 lines, 104,857,600 bytes; it goes on at offset 3000002]",
  );
  expect(process.memoryUsage().rss - before).toBeLessThan(90 * 1024 * 1024);
  const bounded = await call(readFile({ root, maxScanBytes: 1024 * 1024 }), "read_file", {
    path: "huge.txt",
    limit: 1,
  });
  expect(bounded.text).toContain(
    "lines 1 to 1 of at least 65,536 lines, 104,857,600 bytes; it goes on at offset 2",
  );
});
