// Answers that are cut at every place, over sockets: each is whole or an error that is worth another try, and no half of a
// call ever shows.

import { RondoError, textOf } from "@rondo/core";
import { type CutHow, cutAt } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { attempt, callsIn, rows, serve, sizeOf, telling } from "./stack.ts";

describe.each(
  rows.flatMap((row) =>
    [true, false].map((stream) => ({ row, stream, name: `${row.name}, ${stream ? "streamed" : "whole"}` })),
  ),
)("an answer of $name that is cut", ({ row, stream }) => {
  it.each(["end", "close"] as const)(
    "at any byte (%s) gives a complete answer or an error, and half a call never shows",
    async (how: CutHow) => {
      const wire = await serve(
        (_, number) => (number === 1 ? telling : [telling, cutAt(places[number - 2] ?? 0, how)]),
        { chunk: 5 },
      );
      const model = row.model(wire, { stream });
      const size = await sizeOf(row, stream);
      // Every byte would take minutes: a stride that meets every place of a frame over the frames, and the ends.
      const places = [
        0,
        1,
        ...Array.from({ length: Math.floor(size / 7) }, (_, at) => at * 7 + 2),
        size - 2,
        size - 1,
      ];
      const whole = await attempt(model);
      if (whole instanceof RondoError) throw whole;
      const told: { [kind: string]: number } = {};
      for (const at of places) {
        const outcome = await attempt(model);
        if (outcome instanceof RondoError) {
          told[outcome.kind] = (told[outcome.kind] ?? 0) + 1;
          expect(
            ["stream_truncated", "network", "empty_response", "stream_error"],
            `${at}: ${outcome.message}`,
          ).toContain(outcome.kind);
          expect(outcome.retryable, `${at}: ${outcome.kind}`).toBe(true);
          for (const part of outcome.partial?.content ?? []) expect(part.type).not.toBe("tool_call");
        } else {
          // Only what followed the finish is missing: counts, or the end of the line.
          expect(callsIn(outcome), `cut at ${at} of ${size}`).toEqual(callsIn(whole));
          expect(textOf(outcome)).toBe(textOf(whole));
        }
      }
      expect(Object.keys(told)).not.toEqual([]);
    },
  );
});
