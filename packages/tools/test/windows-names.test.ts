// What Windows reads otherwise, as far as it can be tried anywhere: its paths, names and separators.

import { readdirSync } from "node:fs";
import { win32 } from "node:path";
import { describe, expect, test } from "vitest";
import { beginsWith } from "../src/files/file-guard.ts";
import { meant } from "../src/paths/given-path.ts";
import { isUnder, Root } from "../src/paths/root.ts";
import { otherOnWindows } from "../src/paths/windows-names.ts";
import { folder } from "./calling.ts";

describe("a path of Windows", () => {
  const root = "C:\\Users\\Ann\\app";

  test.each([
    root,
    "C:\\Users\\Ann\\app\\src\\a.ts",
    "c:\\users\\ANN\\App\\a.ts",
    "C:/Users/Ann/app/a.ts",
    "C:\\Users\\Ann\\app\\..b\\a.ts",
  ])("is under its root: %s", (path) => {
    expect(isUnder(root, win32.resolve(root, path), win32)).toBe(true);
  });

  test.each([
    "C:\\Users\\Ann",
    "C:\\Users\\Ann\\app-evil\\a.ts",
    "C:\\Users\\Ann\\app\\..\\..\\Bob",
    "..\\out.ts",
    "D:\\Users\\Ann\\app\\a.ts",
    "D:a.ts",
    "\\a.ts",
    "/a.ts",
    "\\\\server\\share\\app\\a.ts",
    "\\\\?\\C:\\Users\\Ann\\app\\a.ts",
    "\\\\.\\C:\\Users\\Ann\\app\\a.ts",
    "\\\\?\\GLOBALROOT\\Device\\a.ts",
  ])("is not under its root: %s", (path) => {
    expect(isUnder(root, win32.resolve(root, path), win32)).toBe(false);
  });

  test("on a share is under a root there, and not under that of another share", () => {
    const share = "\\\\server\\share\\app";
    expect(isUnder(share, "\\\\SERVER\\share\\app\\a.ts", win32)).toBe(true);
    expect(isUnder(share, "\\\\server\\other\\app\\a.ts", win32)).toBe(false);
    expect(isUnder(share, "\\\\server\\share\\app-evil", win32)).toBe(false);
  });

  test("begins with the file guard's root in either separator, and only there with a backslash", () => {
    expect(beginsWith("C:\\files\\a.png", "C:\\files", "\\")).toBe(true);
    expect(beginsWith("C:\\files\\a.png", "C:\\files\\", "\\")).toBe(true);
    expect(beginsWith("C:/files/a.png", "C:/files", "\\")).toBe(true);
    expect(beginsWith("C:\\files-evil\\a.png", "C:\\files", "\\")).toBe(false);
    expect(beginsWith("C:\\files", "C:\\files", "\\")).toBe(false);
    expect(beginsWith("/files\\a.png", "/files", "/")).toBe(false);
    expect(beginsWith("/files/a.png", "/files", "/")).toBe(true);
    expect(beginsWith("/a.png", "/", "/")).toBe(true);
  });
});

describe("a name that Windows takes for something else", () => {
  test.each([
    ["NUL", "NUL is a device"],
    ["src/con.txt", "con.txt is a device"],
    ["aux /a.ts", "the dot or space at the end of"],
    ["com1.tar.gz", "com1.tar.gz is a device"],
    ["LPT\u00b2", "is a device"],
    ["nul .txt", "is a device"],
    ["notes.txt:hidden", "notes.txt:hidden would be a hidden stream of another file"],
    [".git::$INDEX_ALLOCATION/config", "would be a hidden stream of another file"],
    [".git./hooks/pre-commit", "the dot or space at the end of .git. would be dropped"],
    ["a/.. /b", "the dot or space at the end of"],
    ["a/.../b", "the dot or space at the end of ... would be dropped"],
  ])("is known: %s", (path, says) => {
    expect(otherOnWindows(path)).toContain(says);
  });

  test.each([
    ".",
    "a.ts",
    ".gitignore",
    "src/console.ts",
    "null.txt",
    "common/com10.ts",
    "a/nul-terminated.c",
  ])("is none of these: %s", (path) => {
    expect(otherOnWindows(path)).toBeUndefined();
  });

  test("is refused there, makes nothing, and is a name like any other elsewhere", () => {
    const at = folder({ "a.txt": "one\n" });
    const root = new Root(at);
    for (const path of ["NUL", "sub/aux.ts", "a.txt:hidden", ".git./config"])
      expect(() => meant(root, path, true)).toThrow(/^Path cannot be used: .+ \(on Windows /);
    expect(meant(root, "a.txt:hidden", false).shown).toBe("a.txt:hidden");
    // Blanks around a name are never meant, on any system.
    expect(meant(root, "new.txt ", true).shown).toBe("new.txt");
    expect(meant(root, ".", true).shown).toBe(".");
    expect(readdirSync(at)).toEqual(["a.txt"]);
  });
});
