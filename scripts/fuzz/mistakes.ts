// The room of mistakes: targets that are wrong on purpose, to test that it is noticed.
//
// Each parses a stream correctly except for one thing, which a few inputs in a hundred trigger.

import { SseDecoder } from "../../packages/models/src/transport/sse.ts";
import type { Chance } from "../chance.ts";
import { anyText } from "./mutate.ts";
import { bytesOf, cuts, type FuzzTarget, outcomeOf, same, utf8 } from "./target.ts";

const words = ["data: {}", "data: x", "\n\n", "event: a\n", ":", "data"];
const make = (chance: Chance): string => utf8(anyText(chance, words, 20));

function target(name: string, onData: (data: string, chunk: number, kept: string[]) => void): FuzzTarget {
  return {
    name: `mistake-${name}`,
    make,
    run(input) {
      if (typeof input !== "string") return undefined;
      const kept: string[] = [];
      const results = cuts(bytesOf(input)).map((pieces) => {
        const seen: string[] = [];
        let chunk = 0;
        const decoder = new SseDecoder(({ data }) => {
          onData(data, chunk, kept);
          seen.push(name === "chunking" && chunk < 3 ? `${data}!` : data);
        });
        return outcomeOf(() => {
          for (const piece of pieces) {
            decoder.push(piece);
            chunk += 1;
          }
          return [seen, decoder.end()];
        });
      });
      if (name !== "growth") same(results, "chunking");
      return [results, kept];
    },
  };
}

export const mistakenTargets: readonly FuzzTarget[] = [
  target("type-error", (data) => {
    if (data === "x") (undefined as unknown as { trim(): void }).trim();
  }),
  target("chunking", () => {}),
  target("hang", (data) => {
    if (data === "x") for (;;);
  }),
  target("slow", (data, _, kept) => {
    // Slow, but not endless, and once per input.
    if (data !== "x" || kept.length > 0) return;
    kept.push("");
    const from = process.threadCpuUsage().user;
    while (process.threadCpuUsage().user - from < 1_200_000);
  }),
  target("growth", (data, _, kept) => {
    if (data === "x") kept.push("x".repeat(1_000_000));
  }),
];
