// The words that several pages share: changes, spans of time, and where a text is cut.

import { expect, it } from "vitest";
import { contentText } from "../src/console/shorten.ts";
import { changeLines } from "../src/render/changes.ts";
import { RunPage } from "../src/render/page.ts";
import { spanText } from "../src/render/usage.ts";

it("a change is shown around the place where it differs, and no character is cut in two", () => {
  const [was, is] = ["🎂", "🎁"].map((one) => `${"🎉".repeat(50)}${one}${"🎉".repeat(50)}`) as [
    string,
    string,
  ];
  for (const cut of [40, 41, 42, 43])
    for (const line of changeLines([{ what: "text", was, is }], cut)) expect(line).not.toMatch(/\\u\{d/);
  const [head, before, after] = changeLines([{ what: "text", was: `x${was}`, is: `x${is}` }], 40);
  expect([head, before?.match(/🎂/g)?.length, after?.match(/🎁/g)?.length]).toEqual(["text changed:", 1, 1]);
  expect(changeLines([{ what: "text", was, is }], Number.POSITIVE_INFINITY)[1]).toBe(`  - ${was}`);
});

it.each([1, 2, 3, 4])("a file of %d bytes in a result is told with its size", (bytes) => {
  const data = Buffer.alloc(bytes).toString("base64");
  const words = `[file, image/png, ${bytes} ${bytes === 1 ? "byte" : "bytes"}]`;
  for (const one of [data, data.replace(/=+$/, "")])
    expect(contentText([{ type: "file", mediaType: "image/png", data: one }])).toBe(words);
});

it("a long line of a page is cut between two characters", () => {
  const page = new RunPage({ full: false, paint: (_, text) => text, width: 100 });
  page.plain("🎉".repeat(1_500));
  expect(page.text()).toBe(`${"🎉".repeat(999)}…\n`);
});

it.each([
  [0, "0 ms"],
  [999.4, "999 ms"],
  [999.5, "1.0 s"],
  [59_949, "59.9 s"],
  [59_950, "1 min 0 s"],
  [3_599_499, "59 min 59 s"],
  [3_599_500, "1 h 0 min"],
])("a span of %d ms is %s", (ms, text) => {
  expect(spanText(ms)).toBe(text);
});
