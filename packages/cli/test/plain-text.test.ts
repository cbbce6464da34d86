import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  joinedLines,
  plainLines,
  plainText,
  TerminalText,
  visibleJson,
  visibleText,
} from "../src/console/plain-text.ts";

const esc = "\u001b";

describe("text for a terminal", () => {
  it.each([
    ["colours", `a${esc}[1;31mred${esc}[0mb`, "aredb"],
    ["a title", `${esc}]0;pwn\u0007hello`, "hello"],
    ["a link", `${esc}]8;;http://evil${esc}\\click${esc}]8;;${esc}\\`, "click"],
    ["one-byte forms", "\u009b31mred\u009d0;t\u009cend", "redend"],
    ["a device string", `${esc}P1$r${esc}\\x`, "x"],
    ["a charset choice", `${esc}(Bx`, "x"],
    ["NUL, BEL and backspace", "a\u0000\u0007\bb", "ab"],
    ["marks that turn the writing direction", "a\u202eb\u2066c", "abc"],
  ])("loses %s", (_what, given, shown) => {
    expect(plainText(given)).toBe(shown);
  });

  it("keeps newlines, tabs and every other writing", () => {
    expect(plainText("a\tb\nÜber 日本語 🎉")).toBe("a\tb\nÜber 日本語 🎉");
  });

  it("comes as lines, without the empty ones at its end", () => {
    expect(plainLines("a\n\n b\r\n\n")).toEqual(["a", "", " b"]);
    expect(plainLines("\n")).toEqual([""]);
  });

  it("comes as one line, on which something stands for each break and the white space around it", () => {
    expect(joinedLines("a  b \n\n\t c\n", "|")).toBe("a  b|c|");
  });

  it("is gone through in linear time, however much space and however many breaks are in it", () => {
    const [spaces, breaks] = [" ".repeat(1_000_000), "\n".repeat(1_000_000)];
    expect(joinedLines(`a${spaces}b`, "|")).toBe(`a${spaces}b`);
    expect(joinedLines(`a${breaks}b`, "|")).toBe("a|b");
    expect(plainLines(`${breaks}b`)).toHaveLength(1_000_001);
  });

  it("lets a sequence that is never ended swallow no more than its line", () => {
    expect(plainText(`a${esc}]0;never ended\nnext line`)).toBe("a\nnext line");
    expect(plainText(`a${esc}[31\nnext`)).toBe("a\nnext");
    expect(plainText(`a${esc}\nnext`)).toBe("a\nnext");
  });

  it("never lets a line be written over", () => {
    expect(plainText("good\rbad\r\nnext\r")).toBe("good\nbad\nnext\n");
  });

  const hostile = fc.string({
    unit: fc.constantFrom(
      esc,
      "[",
      "]",
      "P",
      "\\",
      "0",
      ";",
      "m",
      "\r",
      "\n",
      "\t",
      "\u0007",
      "\u009b",
      "\u009d",
      "\u009c",
      "\u202e",
      "a",
      "é",
      "🎉",
    ),
    maxLength: 60,
  });

  it("comes out the same however it is cut into pieces", () => {
    fc.assert(
      fc.property(hostile, fc.array(fc.nat(60)), (text, cuts) => {
        const machine = new TerminalText();
        const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
        let joined = "";
        for (let at = 1; at < places.length; at += 1)
          joined += machine.push(text.slice(places[at - 1], places[at]));
        expect(joined + machine.end()).toBe(plainText(text));
      }),
    );
  });

  it("holds nothing a terminal would obey, and stays as it is when it is cleaned again", () => {
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string({ unit: "binary" })), (text) => {
        const shown = plainText(text);
        for (const character of shown) {
          const code = character.codePointAt(0) ?? 0;
          expect(code >= 0x20 || code === 0x0a || code === 0x09).toBe(true);
          expect(code >= 0x7f && code <= 0x9f).toBe(false);
        }
        expect(plainText(shown)).toBe(shown);
      }),
    );
  });

  it("keeps as many lines as there were", () => {
    fc.assert(
      fc.property(
        hostile.map((text) => text.replaceAll("\r", "")),
        (text) => {
          expect(plainText(text).split("\n").length).toBe(text.split("\n").length);
        },
      ),
    );
  });

  it("writes out what cannot be seen in JSON that is to be edited, and the value stays the same", () => {
    const args = { command: `a\u007f\u200b\u00a0\u3164\u{e0101}\ud800${esc} é🎉` };
    const text = visibleJson(args);
    expect(text).toBe('{"command":"a\\u007f\\u200b\\u00a0\\u3164\\udb40\\udd01\\ud800\\u001b é🎉"}');
    expect(JSON.parse(text)).toEqual(args);
  });

  it("writes out what cannot be seen, where somebody is to approve it", () => {
    expect(visibleText(`rm\u200b -rf\u202e /${esc}[0m\tx\ny`)).toBe(
      "rm\\u{200b} -rf\\u{202e} /\\u{1b}[0m\tx\ny",
    );
    expect(visibleText("ls a\u00a0b\u3000c\u2800d")).toBe("ls a\\u{a0}b\\u{3000}c\\u{2800}d");
    // Letters that fill a place with nothing, and marks that only change the character before them.
    expect(visibleText("a\u3164b\u115f\u034f\ufe0f\u{e0101}")).toBe(
      "a\\u{3164}b\\u{115f}\\u{34f}\\u{fe0f}\\u{e0101}",
    );
  });
});
