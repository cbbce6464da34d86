// Streams that are damaged on their way, over sockets: the same answer, or a typed error, and never half of one.

import { type AssistantMessage, RondoError, textOf } from "@rondo/core";
import { say } from "@rondo/testkit";
import { contentType, corrupt, duplicate, garbage, plainJson, slow } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { attempt, callsIn, errorOf, type Row, rows, serve, sizeOf, telling } from "./stack.ts";

describe("a damaged stream", () => {
  it("of AWS's: a flipped bit is noticed at any position", async () => {
    const row = rows.find(({ name }) => name === "bedrock") as Row;
    const size = await sizeOf(row, true);
    const places = Array.from({ length: Math.floor(size / 13) }, (_, at) => at * 13);
    const wire = await serve((_, number) => [telling, corrupt(places[number - 1] ?? 0)], { chunk: 5 });
    const model = row.model(wire);
    for (const at of places) {
      const outcome = await attempt(model);
      expect(outcome instanceof RondoError ? outcome.kind : `whole, though byte ${at} was wrong`).toMatch(
        /^stream_(?:error|truncated)$/,
      );
    }
  });

  it.each(rows)(
    "$name: a nonsense frame is an error that contains it, never skipped silently",
    async (row) => {
      const wire = await serve([[say("One, two, three."), garbage("!{nonsense", 2)]]);
      const error = await errorOf(row.model(wire));
      expect(["stream_error", "protocol", "stream_truncated"]).toContain(error.kind);
      expect(error.retryable).toBe(true);
    },
  );

  it.each(rows)("$name: single bytes give the same answer", async (row) => {
    const wire = await serve([[telling, slow(1)], telling]);
    const dribbled = await attempt(row.model(wire));
    const plain = await attempt(row.model(wire));
    const bare = (one: AssistantMessage | RondoError): unknown =>
      one instanceof RondoError ? one : [textOf(one), callsIn(one), one.stop];
    expect(bare(dribbled)).toEqual(bare(plain));
  });

  it.each(rows)(
    "$name: a stream with another content type, and plain JSON in place of a stream, are read",
    async (row) => {
      const wire = await serve([
        [telling, contentType("text/plain")],
        [telling, plainJson()],
        [telling, plainJson(), contentType("text/event-stream")],
      ]);
      const model = row.model(wire);
      for (let nth = 0; nth < 3; nth++) {
        const outcome = await attempt(model);
        if (outcome instanceof RondoError) throw outcome;
        expect([textOf(outcome), callsIn(outcome)]).toEqual([
          "Looking for it.",
          [
            { name: "weather", args: { city: "Ōsaka" }, error: undefined },
            { name: "weather", args: { city: "Rome" }, error: undefined },
          ],
        ]);
      }
    },
  );

  it("Anthropic's and Responses' and Bedrock's: a start that comes twice does not double the answer", async () => {
    for (const row of rows.filter(({ name }) => ["anthropic", "openai", "bedrock"].includes(name))) {
      const wire = await serve([[telling, duplicate(0)]]);
      const outcome = await attempt(row.model(wire));
      if (outcome instanceof RondoError) throw outcome;
      expect(textOf(outcome)).toBe("Looking for it.");
    }
  });
});
