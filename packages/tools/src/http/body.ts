// The room of bodies: decompresses a response and decodes it as text, up to a limit.

import type { IncomingMessage } from "node:http";
import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { codeOf, Refusal, sized } from "../reasons.ts";
import { binaryKind } from "../text/text-file.ts";
import { decoderFor, isCharset, mediaOf } from "./charset.ts";

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** For `accept-encoding`. Not `deflate`: servers send either of its two formats, and do not say which. */
export const encodings = "gzip, br, zstd";
/** Nobody compresses more often. */
const maxEncodings = 2;

/** What servers write there though it is no compression: S3 keeps whatever an upload said, among it charsets. */
const isNoEncoding = (name: string): boolean =>
  ["identity", "none", "binary", "7bit", "8bit", "chunked", "aws-chunked"].includes(name) || isCharset(name);

/** Error codes of the decoders. */
const ofDecoders = /^(?:Z_|ZSTD_|ERR_)/;

/**
 * The body of a response as text for the model. Beyond the limit the connection is closed.
 * @param shaped what is made of the text, without the note that it was cut
 */
export async function bodyText(
  response: IncomingMessage,
  maxBytes: number,
  shaped: (text: string) => string = (text) => text,
): Promise<string> {
  const type = response.headers["content-type"] ?? "";
  const applied = (response.headers["content-encoding"] ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && !isNoEncoding(name));
  if (applied.length > maxEncodings || applied.some((name) => !Object.hasOwn(decoders, name))) {
    response.destroy();
    return `[compressed as ${applied.join(", ")}, which cannot be read; not shown]`;
  }
  const { bytes, more } = await read(decoded(response, applied.reverse()), maxBytes);
  response.destroy();
  const told = Number(response.headers["content-length"]);
  const whole = applied.length === 0 && told > maxBytes ? `, of ${sized(told)}` : "";
  const kind = bytes.length === 0 ? undefined : kindOf(type, bytes);
  if (kind !== undefined)
    return `[${kind}, ${more ? `more than ${sized(maxBytes)}${whole}` : sized(bytes.length)}, not shown]`;
  const decoder = decoderFor(type, bytes);
  // An incomplete character at the end stays in the decoder.
  const text = shaped(inLines(decoder.decode(bytes, { stream: more })));
  if (!more) return text;
  return `${text}\n[... cut after ${sized(maxBytes)}${whole}: the body is larger, and the rest was not read ...]`;
}

/** A lone carriage return ends a line too; shown raw in a result, it would make the line overwrite itself. */
const inLines = (text: string): string => text.replace(/\r(?!\n)/g, "\n");

function decoded(response: IncomingMessage, applied: readonly string[]): Readable {
  let body: Readable = response;
  for (const name of applied) body = pipeline(body, decoders[name]!(), () => {});
  return body;
}

async function read(body: Readable, maxBytes: number): Promise<{ bytes: Buffer; more: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) break;
    }
  } catch (thrown) {
    const code = codeOf(thrown) ?? "";
    if (!ofDecoders.test(code) || code === "ERR_STREAM_PREMATURE_CLOSE") throw thrown;
    throw new Refusal("the body cannot be decompressed");
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), more: size > maxBytes };
}

const textual =
  /^(?:text\/|application\/(?:json|xml|javascript|ecmascript|x-ndjson|yaml|x-yaml|toml|sql|graphql|x-www-form-urlencoded)$)|\+(?:json|xml|yaml)$/;
const never = /^(?:image|audio|video|font)\/|^application\/(?:pdf|zip|gzip|wasm)$/;

/** A description of the bytes if they are not text. */
function kindOf(type: string, bytes: Buffer): string | undefined {
  const media = mediaOf(type);
  const isText = textual.test(media);
  if (!isText && never.test(media)) return media;
  // UTF-16 is full of zero bytes, and still text.
  if ((isText || media === "") && decoderFor(type, bytes).encoding !== "utf-8") return undefined;
  const kind = binaryKind(bytes);
  return kind === undefined || media === "" || isText ? kind : media;
}
