import { renderResult } from "@rondo/core";
import { expect, test } from "vitest";

const text = (value: unknown): string => {
  const [part] = renderResult(value).content;
  return part?.type === "text" ? part.text : "";
};

test("a terminal's control sequences do not reach the history", () => {
  expect(text("a\u001b]0;pwn\u0007b\u001b[31mred\u001b[0m")).toBe("abred");
  expect(text("1%\r2%\r100%\ndone")).toBe("100%\ndone");
});

test("a sequence that is never ended swallows no more than its line", () => {
  expect(text("a\u001b]8;;http://evil\nb")).toBe("a\nb");
});

test("lines that end with CR LF stay as they are", () => {
  expect(text("a\r\nb\tc")).toBe("a\r\nb\tc");
});

test("a result of nothing but control characters is no output", () => {
  expect(text("\u001b[2J")).toBe("(no output)");
});
