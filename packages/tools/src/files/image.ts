// The room of images: whether a file is an image that a model can be shown.
//
// A provider refuses a request with an image it cannot read, and every later request too, since the image stays in the
// history. So an image is checked before it goes there: it must be complete, and no larger than providers accept.

import { crc32 } from "node:zlib";

/** The longest side in pixels; Anthropic refuses longer ones. */
const maxSide = 8000;

interface Size {
  width: number;
  height: number;
}

/** Why an image is not shown; `undefined` if it can be. */
export function imageFault(bytes: Buffer, mediaType: string): string | undefined {
  const size = sizeOf(bytes, mediaType);
  if (size === undefined || size.width === 0 || size.height === 0) return "damaged or cut off";
  const { width, height } = size;
  const pixels = `${width.toLocaleString("en-US")} × ${height.toLocaleString("en-US")} pixels`;
  return Math.max(width, height) > maxSide
    ? `${pixels}, more than ${maxSide.toLocaleString("en-US")} on a side`
    : undefined;
}

/** The size of a complete image. */
function sizeOf(bytes: Buffer, mediaType: string): Size | undefined {
  try {
    if (mediaType === "image/png") return sizeOfPng(bytes);
    if (mediaType === "image/jpeg") return sizeOfJpeg(bytes);
    return mediaType === "image/gif" ? sizeOfGif(bytes) : sizeOfWebp(bytes);
  } catch (thrown) {
    // Read past the end.
    if (thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}

function sizeOfPng(bytes: Buffer): Size | undefined {
  let size: Size | undefined;
  let hasData = false;
  for (let at = 8; ; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString("latin1", at + 4, at + 8);
    const end = at + 8 + length;
    if (bytes.readUInt32BE(end) !== crc32(bytes.subarray(at + 4, end))) return undefined;
    if (type === "IHDR") size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) };
    if (type === "IDAT") hasData = true;
    if (type === "IEND") return hasData ? size : undefined;
    at = end + 4;
  }
}

function sizeOfJpeg(bytes: Buffer): Size | undefined {
  let size: Size | undefined;
  for (let at = 2; ; ) {
    if (bytes.readUInt8(at) !== 0xff) return undefined;
    const marker = bytes.readUInt8(at + 1);
    // Fill bytes, and markers without a length.
    if (marker === 0xff || marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
      at += marker === 0xff ? 1 : 2;
      continue;
    }
    // After the start of a scan come its data, up to the end of the image.
    if (marker === 0xda) return bytes.lastIndexOf(Buffer.from([0xff, 0xd9])) > at ? size : undefined;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
}

function sizeOfGif(bytes: Buffer): Size | undefined {
  const size = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  return bytes.includes(0x2c, 13) && bytes.lastIndexOf(0x3b) > 13 ? size : undefined;
}

function sizeOfWebp(bytes: Buffer): Size | undefined {
  if (bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.readUInt32LE(4) + 8 > bytes.length) return undefined;
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}
