// One result is bounded when it arrives.

import { Agent } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { capResult, capText } from "../src/context/cap.ts";
import { echo } from "./support.ts";

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

describe("a capped result", () => {
  test("keeps whole lines, and says how much there was", () => {
    const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`).join("\n");
    const capped = capText(lines, 200);
    expect(capped).toMatch(
      /^line 0\nline 1\n[\s\S]*line \d+\n\n\[tool output truncated: the first \d+ of 789 bytes\]$/,
    );
    const kept = capped.slice(0, capped.indexOf("\n\n["));
    expect(lines.startsWith(`${kept}\n`)).toBe(true);
    expect(capped).toContain(`the first ${bytesOf(kept)} of ${bytesOf(lines)} bytes`);
  });

  test("is never longer than it may be, is well-formed, and starts as the text did", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 0, maxLength: 400 }),
        fc.integer({ min: 80, max: 500 }),
        (text, max) => {
          const capped = capText(text, max);
          expect(bytesOf(capped)).toBeLessThanOrEqual(max);
          expect(capped.isWellFormed()).toBe(true);
          if (bytesOf(text) <= max) expect(capped).toBe(text);
          else
            expect(text.startsWith(capped.slice(0, capped.lastIndexOf("\n\n[tool output truncated")))).toBe(
              true,
            );
        },
      ),
    );
  });

  test("comes back by identity when it fits, and leaves files alone", () => {
    const file = { type: "file" as const, mediaType: "image/png", data: "A".repeat(1000) };
    const small = { content: [{ type: "text" as const, text: "small" }, file], isError: false };
    expect(capResult(small, 100)).toBe(small);
    const large = {
      content: [
        file,
        { type: "text" as const, text: "x".repeat(500) },
        { type: "text" as const, text: "more" },
      ],
      isError: false,
    };
    const { content } = capResult(large, 100);
    expect(content).toHaveLength(2);
    expect(content[0]).toBe(file);
  });

  test("is what the model and the journal get, when the agent is told to cap", async () => {
    const big = echo("big", { execute: () => "😀 line\n".repeat(100_000) });
    const model = scripted([call("big"), say("done")]);
    const { messages } = await new Agent({ model, tools: [big], context: { cap: { bytes: 1000 } } }).run(
      "go",
    );
    const part = messages[2]?.content[0];
    expect(part?.type === "text" && bytesOf(part.text)).toBeLessThanOrEqual(1000);
  });
});
