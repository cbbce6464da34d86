import { truncateSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readFile } from "../src/index.ts";
import { call, folder, put } from "./calling.ts";

const lines = (count: number): string => Array.from({ length: count }, (_, n) => `line ${n + 1}\n`).join("");

describe("read_file", () => {
  test("gives a whole file as it is, and says how large it is in a part of its own", async () => {
    const root = folder({ "a.txt": "one\n\ttwo\n" });
    const { parts } = await call(readFile({ root }), "read_file", { path: "a.txt" });
    expect(parts).toEqual([
      { type: "text", text: "one\n\ttwo\n" },
      { type: "text", text: "[2 lines, 9 bytes, the whole file]" },
    ]);
  });

  test("says when there is no newline at the end, and when a file is empty", async () => {
    const root = folder({ "a.txt": "one\ntwo", "empty.txt": "" });
    const { text } = await call(readFile({ root }), "read_file", { path: "a.txt" });
    expect(text).toBe("one\ntwo\n[2 lines, 7 bytes, the whole file; no newline at the end]");
    expect((await call(readFile({ root }), "read_file", { path: "empty.txt" })).text).toBe(
      "[empty.txt is empty: 0 lines, 0 bytes]",
    );
    put(join(root, "mark.txt"), "\ufeff");
    expect((await call(readFile({ root }), "read_file", { path: "mark.txt" })).text).toBe(
      "[mark.txt is empty: 0 lines, 3 bytes]",
    );
  });

  test("gives a range and says how to go on; the pages together are the file", async () => {
    const content = lines(10);
    const root = folder({ "a.txt": content });
    const tool = readFile({ root });
    const page = await call(tool, "read_file", { path: "a.txt", offset: 4, limit: 3 });
    expect(page.text).toBe(
      "line 4\nline 5\nline 6\n[lines 4 to 6 of 10 lines, 71 bytes; it goes on at offset 7]",
    );
    let all = "";
    for (let offset = 1; ; ) {
      const { parts } = await call(tool, "read_file", { path: "a.txt", offset, limit: 4 });
      all += (parts[0] as { text: string }).text;
      const next = /offset (\d+)/.exec((parts[1] as { text: string }).text);
      if (next === null) break;
      offset = Number(next[1]);
    }
    expect(all).toBe(content);
    const past = await call(tool, "read_file", { path: "a.txt", offset: 11 });
    expect(past).toMatchObject({
      isError: true,
      text: "Error: Line 11 is past the end of a.txt (10 lines, 71 bytes)",
    });
    expect((await call(tool, "read_file", { path: "a.txt", offset: 0 })).isError).toBe(true);
  });

  test("stops at its bound between lines and says where to go on", async () => {
    const root = folder({ "a.txt": lines(1000) });
    const { text, parts } = await call(readFile({ root, maxBytes: 100 }), "read_file", { path: "a.txt" });
    expect((parts[0] as { text: string }).text.length).toBeLessThanOrEqual(100);
    expect(text).toMatch(/line 13\n\[lines 1 to 13 of 1,000 lines, 8,893 bytes; it goes on at offset 14\]$/);
  });

  test("clips a first line that has more bytes than may be given, and says so", async () => {
    const root = folder({ "a.txt": `${"é😀".repeat(100)}\nshort\n` });
    const { text } = await call(readFile({ root, maxBytes: 100 }), "read_file", { path: "a.txt" });
    expect(text).toBe(
      `${"é😀".repeat(16)}é [... 502 more bytes in this line]\n` +
        "[lines 1 to 1 of 2 lines, 607 bytes; it goes on at offset 2; 1 long line clipped]",
    );
    const one = folder({ "a.txt": "x".repeat(300) });
    expect(
      (await call(readFile({ root: one, maxBytes: 100 }), "read_file", { path: "a.txt" })).text,
    ).toContain("[... 200 more bytes in this line]");
  });

  test("clips long lines between characters and says how much is missing", async () => {
    const root = folder({ "a.txt": `${"é😀".repeat(5000)}\nshort\n` });
    const { text } = await call(readFile({ root, maxLineLength: 100 }), "read_file", { path: "a.txt" });
    expect(text).toMatch(/^(é😀)+é? \[\.\.\. 29,\d\d\d more bytes in this line\]\nshort\n/);
    expect(text).toContain("1 long line clipped");
    expect(text).not.toContain("\ufffd");
  });

  test("names CRLF, takes the byte order mark away, shows invalid UTF-8 and control characters", async () => {
    const root = folder({
      "crlf.txt": "\ufeffa\r\nb\r\n",
      "odd.txt": Buffer.concat([Buffer.from("caf"), Buffer.from([0xe9]), Buffer.from("\n\x1b]0;pwn\x07x\n")]),
    });
    const crlf = await call(readFile({ root }), "read_file", { path: "crlf.txt" });
    expect(crlf.text).toBe("a\nb\n[2 lines, 9 bytes, the whole file; lines end with CRLF]");
    const odd = await call(readFile({ root }), "read_file", { path: "odd.txt" });
    expect(odd.text).toContain("caf\ufffd\n␛]0;pwn␇x\n");
    expect(odd.text).toContain("1 line with invalid UTF-8");
    expect(odd.text).toContain("1 line with control characters");
  });

  test.each([
    ["a\r\nb", "lines end with CRLF"],
    ["a\r\nb\r\n", "lines end with CRLF"],
    ["a\r\nb\n", "1 line of all end with CRLF"],
    ["a\nb\r\nc\r\nd", "2 lines of all end with CRLF"],
  ])("tells a file whose lines all end with CRLF from one where some do: %j", async (content, words) => {
    const root = folder({ "a.txt": content });
    const { text } = await call(readFile({ root }), "read_file", { path: "a.txt" });
    expect(text).toContain(`; ${words}]`);
  });

  test("of a file larger than it reads says where its reading ends, and not that the file does", async () => {
    const root = folder({ "a.txt": lines(60_000) });
    const tool = readFile({ root, maxScanBytes: 1000, maxLines: 100_000, maxBytes: 1_000_000 });
    const last = await call(tool, "read_file", { path: "a.txt", offset: 20_000 });
    const { text: shown } = last.parts[0] as { text: string };
    // Reading ends inside of a line, of which nothing is shown.
    expect(shown).toMatch(/^line 20000\n(line \d{5}\n)+$/);
    expect(last.text).toMatch(
      /\[lines 20000 to (\d+) of at least [\d,]+ lines, 648,894 bytes; what follows is not read: the file is larger than 1,000 bytes\]$/,
    );
    const past = await call(tool, "read_file", { path: "a.txt", offset: 50_000 });
    expect([past.isError, past.text]).toEqual([
      true,
      expect.stringMatching(
        /^Error: Line 50000 of a\.txt is not read: the file is larger than 1,000 bytes, and reading ends with line 2\d{4} \(of at least [\d,]+ lines, 648,894 bytes\)$/,
      ),
    ]);
  });

  test("of a file larger than it reads that is one line shows the beginning of it", async () => {
    const root = folder({ "a.txt": "x".repeat(600_000) });
    const tool = readFile({ root, maxScanBytes: 1000, maxLineLength: 10 });
    expect((await call(tool, "read_file", { path: "a.txt" })).text).toMatch(
      /^x{10} \[\.\.\. [\d,]+ more bytes in this line\]\n?\[lines 1 to 1 of at least 1 line, 600,000 bytes; what follows is not read/,
    );
  });

  test("keeps a character that lies across two pieces of the file whole", async () => {
    const filler = "x".repeat(256 * 1024 - 2);
    const root = folder({ "a.txt": `${filler}😀\nend\n` });
    const { text } = await call(
      readFile({ root, maxLineLength: 1_000_000, maxBytes: 1_000_000 }),
      "read_file",
      { path: "a.txt" },
    );
    expect(text).toContain("x😀\nend\n");
  });

  test("gives small pictures as pictures, and tells kind and size of other binary files", async () => {
    const png = pngOf(2, 2);
    const root = folder({
      "a.png": png,
      "a.zip": Buffer.concat([Buffer.from("PK\x03\x04"), Buffer.alloc(20)]),
      "a.pdf": "%PDF-1.7\n",
      "a.bin": Buffer.from([1, 2, 0, 3]),
    });
    const tool = readFile({ root });
    const picture = await call(tool, "read_file", { path: "a.png" });
    expect(picture.parts[1]).toEqual({
      type: "file",
      mediaType: "image/png",
      data: png.toString("base64"),
      name: "a.png",
    });
    const small = await call(readFile({ root, maxImageBytes: 50 }), "read_file", { path: "a.png" });
    expect(small.parts).toEqual([
      { type: "text", text: `[a.png: image/png, ${png.length} bytes; larger than 50 bytes, not shown]` },
    ]);
    expect((await call(tool, "read_file", { path: "a.zip" })).text).toBe(
      "[a.zip: ZIP archive, 24 bytes; not shown as text]",
    );
    expect((await call(tool, "read_file", { path: "a.pdf" })).text).toContain("PDF document");
    expect((await call(tool, "read_file", { path: "a.bin" })).text).toContain("binary data, 4 bytes");
  });

  test("does not give what is no whole picture, or too large for a provider: it would stay in the history", async () => {
    const png = pngOf(3, 2);
    const flipped = Buffer.from(png);
    flipped.writeUInt8(flipped.readUInt8(50) ^ 1, 50);
    const jpeg = Buffer.from(
      `ffd8${"ffe000104a46494600010100000100010000"}${"ffc0000b080002000301011100"}${"ffda0008010100003f00"}d2ffd9`,
      "hex",
    );
    const gif = Buffer.from("47494638396101000100800000ffffff0000002c00000000010001000002024401003b", "hex");
    const webp = Buffer.from("524946461a000000574542505650384c0d0000002f00000010071011118888fe0700", "hex");
    const root = folder({
      "a.png": png,
      "a.jpg": jpeg,
      "a.gif": gif,
      "a.webp": webp,
      "cut.png": png.subarray(0, -14),
      "flipped.png": flipped,
      "head.png": png.subarray(0, 8),
      "cut.jpg": jpeg.subarray(0, -2),
      "cut.gif": gif.subarray(0, -1),
      "cut.webp": webp.subarray(0, -4),
      "long.png": pngOf(8001, 1),
      "odd.jpg": Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 2]), Buffer.alloc(40)]),
    });
    const told = async (path: string): Promise<string> =>
      (await call(readFile({ root }), "read_file", { path })).text;
    for (const path of ["a.png", "a.jpg", "a.gif", "a.webp"]) expect(await told(path)).toMatch(/<image\//);
    for (const path of ["cut.png", "flipped.png", "head.png", "cut.jpg", "cut.gif", "cut.webp", "odd.jpg"])
      expect(await told(path)).toMatch(/ bytes; damaged or cut off, not shown\]$/);
    expect(await told("long.png")).toContain("; 8,001 × 1 pixels, more than 8,000 on a side, not shown]");
  });

  test("a sparse file of many gigabytes is told, not read", async () => {
    const root = folder({ "sparse.bin": "" });
    truncateSync(join(root, "sparse.bin"), 50 * 1024 ** 3);
    expect((await call(readFile({ root }), "read_file", { path: "sparse.bin" })).text).toBe(
      "[sparse.bin: binary data, 50.0 GiB; not shown as text]",
    );
  });

  test("stops when it is aborted", async () => {
    const root = folder({ "a.txt": "a\n" });
    const stop = new AbortController();
    put(join(root, "big.txt"), "x\n".repeat(20_000_000));
    const pending = call(readFile({ root }), "read_file", { path: "big.txt" }, { signal: stop.signal });
    setImmediate(() => stop.abort(new Error("enough")));
    await expect(pending).rejects.toThrow("enough");
  });
});

/** A grey picture. */
function pngOf(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.writeUInt8(8, 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(Buffer.alloc((width + 1) * height))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
