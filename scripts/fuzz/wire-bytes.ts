// The room of wire bytes: frames as bytes, with valid checksums around any content.

import { crc32 } from "node:zlib";
import { eventStreamMessage } from "../../packages/testkit/src/wire/index.ts";
import type { Chance } from "../chance.ts";
import type { SeedFrame } from "./seeds.ts";
import { latin } from "./target.ts";

export const sseText = (frames: readonly SeedFrame[]): string =>
  frames
    .map(({ event, data }) => {
      const lines = data.split("\n").map((line) => `data: ${line}`);
      return `${event === undefined ? "" : `event: ${event}\n`}${lines.join("\n")}\n\n`;
    })
    .join("");

/** An AWS message as bytes in a text; sometimes with wrong headers and lengths, but valid checksums. */
export function messageBytes(frame: SeedFrame, chance: Chance): string {
  const bytes = eventStreamMessage(frame);
  if (chance.is(0.6)) return latin(bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headersLength = view.getUint32(4);
  for (let left = chance.few(4); left > 0; left -= 1)
    bytes[12 + chance.below(headersLength)] = chance.below(256);
  if (chance.is(0.2)) view.setUint32(4, chance.pick([0, 1, headersLength + 5, bytes.length, 0xffff_ffff]));
  if (chance.is(0.1)) view.setUint32(0, chance.pick([0, 12, 15, 16, 17, bytes.length - 1, 0x7fff_ffff]));
  view.setUint32(8, crc32(bytes.subarray(0, 8)));
  view.setUint32(bytes.length - 4, crc32(bytes.subarray(0, -4)));
  return latin(bytes);
}
