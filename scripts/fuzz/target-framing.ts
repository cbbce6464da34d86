// The room of the framing targets: bytes in any chunking become frames, or a typed error.

import { EventStreamDecoder } from "../../packages/models/src/transport/event-stream.ts";
import { NdjsonDecoder } from "../../packages/models/src/transport/ndjson.ts";
import { SseDecoder } from "../../packages/models/src/transport/sse.ts";
import { protocols } from "../../packages/testkit/src/wire/index.ts";
import type { Chance } from "../chance.ts";
import { anyJson, anyText, mutateText } from "./mutate.ts";
import { seedsOf } from "./seeds.ts";
import { bytesOf, cuts, type FuzzTarget, outcomeOf, same, utf8 } from "./target.ts";
import { messageBytes, sseText } from "./wire-bytes.ts";

interface Framer {
  push(chunk: Uint8Array): void;
  end(): boolean;
}

type Open = (onFrame: (frame: unknown) => void) => Framer;

function run(input: unknown, open: Open): unknown {
  if (typeof input !== "string") return undefined;
  const results = cuts(bytesOf(input)).map((pieces) => {
    const frames: unknown[] = [];
    const framer = open((frame) => frames.push(frame));
    return {
      frames,
      end: outcomeOf(() => {
        for (const piece of pieces) framer.push(piece);
        return framer.end();
      }),
    };
  });
  same(results, "chunking");
  return results[0];
}

const sseWords = [
  "data:",
  "data: ",
  "event: a",
  "id: 1",
  "retry: 5",
  ":",
  "\n",
  "\r",
  "\r\n",
  "\n\n",
  "{}",
  "[DONE]",
  "x",
];

const seedText = (chance: Chance): string => {
  const { streams } = seedsOf(chance.pick(protocols));
  return sseText(chance.pick(streams).slice(0, 12));
};

export const framingTargets: readonly FuzzTarget[] = [
  {
    name: "sse",
    make: (chance) =>
      utf8(chance.is(0.4) ? anyText(chance, sseWords, 60) : mutateText(chance, seedText(chance), sseWords)),
    run: (input) => run(input, (onFrame) => new SseDecoder(onFrame)),
  },
  {
    // A limit that inputs do reach. Where it strikes may depend on the chunks, but not that it does, with a typed error.
    name: "sse-bound",
    make: (chance) => utf8(anyText(chance, sseWords, 60)),
    run: (input) => {
      if (typeof input !== "string") return undefined;
      return cuts(bytesOf(input)).map((pieces) => {
        const framer = new SseDecoder(() => {}, undefined, 16);
        return outcomeOf(() => {
          for (const piece of pieces) framer.push(piece);
          return framer.end();
        });
      });
    },
  },
  {
    name: "ndjson",
    make: (chance) => {
      const lines = chance.many(chance.below(6), () => JSON.stringify(anyJson(chance)));
      return utf8(mutateText(chance, lines.join(chance.pick(["\n", "\r\n", "\n\n"])), ["\n", "{", "}"]));
    },
    run: (input) => run(input, (onFrame) => new NdjsonDecoder(onFrame)),
  },
  {
    name: "event-stream",
    make: (chance) => {
      const frames = chance.pick(seedsOf("bedrock-converse").streams).slice(0, 6);
      const texts = frames.map((frame) => messageBytes(frame, chance));
      const whole = texts.join("");
      return chance.is(0.3)
        ? whole
        : mutateText(chance, whole, ["\u0000\u0000\u0000\u0010", "\u0000", "\u00ff"]);
    },
    run: (input) => run(input, (onFrame) => new EventStreamDecoder(onFrame)),
  },
];
