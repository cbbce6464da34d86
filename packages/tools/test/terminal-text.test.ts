import fc from "fast-check";
import { expect, test } from "vitest";
import { OutputWindow } from "../src/command/output-window.ts";
import { cleanOutput } from "../src/index.ts";

test.each([
  ["a title is taken out", "\x1b]0;pwn\x07x", "x"],
  ["a link keeps its text", "\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\", "text"],
  ["colours are taken out", "\x1b[1;38;5;9mred\x1b[m", "red"],
  ["private modes are taken out", "\x1b[?25l\x1b[>4;1mx", "x"],
  ["a shell mark is taken out", "\x1b]133;A\x07$ ls", "$ ls"],
  ["a picture is taken out", "\x1bPq#0;2;0;0;0~-\x1b\\done", "done"],
  ["one-byte forms are taken out", "\x9b31mred\x9d0;t\x9cx\x90q\x9cy", "redxy"],
  [
    "what only looks like their beginning takes nothing with it",
    "\u201csaid\u20ac\x9d he\nx\x90y\x1b[mz",
    "\u201csaid\u20ac he\nxyz",
  ],
  ["a character set is taken out", "\x1b(Bx\x1b=y\x1bcz", "xyz"],
  ["an unended title ends with its line", "\x1b]0;never ended\nnext line", "\nnext line"],
  ["an unended sequence takes nothing with it", "\x1b[31\nnext", "\nnext"],
  ["an escape at the end is taken out", "x\x1b", "x"],
  ["a progress bar keeps its last state", "10%\r50%\r100%\nok", "100%\nok"],
  ["a return at the end of a line keeps the line", "done\r\nnext\r", "done\nnext"],
  ["a cleared progress line leaves the last text", "work\r\x1b[K\nok", "work\nok"],
  ["backspaces are obeyed", "abc\b\bX 😀\bY", "aX Y"],
  ["bells and NULs are taken out, tabs stay", "a\x07\0b\tc\x7f", "ab\tc"],
])("%s", (_name, raw, clean) => {
  expect(cleanOutput(raw)).toBe(clean);
});

test("nothing that a terminal obeys is left, lines are neither lost nor made, and clean text stays", () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary", maxLength: 5 }),
    fc.constantFrom("\x1b[", "\x1b]", "\x1bP", "\x9b", "\x07", "\r", "\n", "\b", "\x1b\\", "text", "😀"),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const raw = pieces.join("");
      const clean = cleanOutput(raw);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be gone
      expect(clean).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      expect(clean.split("\n").length).toBe(raw.split("\n").length);
      expect(cleanOutput(clean)).toBe(clean);
    }),
    { numRuns: 500 },
  );
});

test("unended sequences and backspaces cost no more than the text is long", () => {
  const size = 400_000;
  expect(cleanOutput("\x1b]".repeat(size))).toBe("");
  expect(cleanOutput("\x1b[".repeat(size))).toBe("");
  expect(cleanOutput("\x9dx".repeat(size)).length).toBe(size);
  expect(cleanOutput(`${"x\r".repeat(size)}`)).toBe("x");
  expect(cleanOutput("ab\b".repeat(size)).length).toBe(size);
  expect(cleanOutput(`${"a".repeat(size)}${"bc\b\b\b".repeat(size - 1)}`)).toBe("a");
});

test("an output window keeps both ends, whatever the pieces, and never half a character", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 12, max: 200 }),
      fc.integer({ min: 1, max: 17 }),
      (texts, bound, step) => {
        const whole = texts.join("\n").replaceAll("\ufffd", "");
        const bytes = Buffer.from(whole);
        const window = new OutputWindow(bound);
        for (let at = 0; at < bytes.length; at += step) window.push(bytes.subarray(at, at + step));
        const text = window.text();
        expect(window.total).toBe(bytes.length);
        expect(text).not.toContain("\ufffd");
        if (bytes.length <= bound) expect(text).toBe(cleanOutput(whole));
        else {
          expect(text).toMatch(/\[\.\.\. [\d,]+ bytes? left out \.\.\.\]\n/);
          const [head = "", tail = ""] = text.split(/\n?\[\.\.\. [\d,]+ bytes? left out \.\.\.\]\n/);
          expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeLessThanOrEqual(bound);
        }
      },
    ),
  );
});

test("a few bytes that are no UTF-8 do not make an output binary, however short it is", () => {
  const said = (...bytes: number[]): string => {
    const window = new OutputWindow(24_576);
    window.push(Buffer.from(bytes));
    return window.text();
  };
  expect(said(0x63, 0x61, 0x66, 0xe9, 0x0a)).toBe("caf\ufffd\n");
  expect(said(0xff, 0xfe, 0, 1, 0, 0xff, 0, 2)).toBe("[binary output, 8 bytes, not shown]");
});

test("the last line of an output is told in whole characters, wherever a piece of it begins and ends", () => {
  for (const letter of ["é", "€", "🎉"]) {
    const bytes = Buffer.from(letter.repeat(1_500));
    for (let from = 0; from < 8; from += 1) {
      const window = new OutputWindow(24_576);
      window.push(bytes.subarray(from, bytes.length - 3));
      expect(window.lastLine()).toMatch(new RegExp(`^${letter}+$`, "u"));
    }
  }
});
