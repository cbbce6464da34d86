// The room of spellings of a file's content: in its URL, on several lines, or in the alphabet for URLs.
//
// Most providers take a URL or bytes, and none takes a data URL as a URL. So from here on it is bytes, in the one spelling of
// base64 that every provider reads.

import { base64 } from "../json/base64.ts";

interface FileWords {
  mediaType?: unknown;
  data?: unknown;
  url?: unknown;
}

const form: RegExp = /^data:([^;,]*)((?:;[^;,]*)*),/i;

/** The file with its content as plain base64, and the media type of its URL; any other file unchanged. */
export function unwrapped<File extends FileWords>(given: File): File {
  const file = outOfUrl(given);
  const { mediaType, data } = file;
  if (typeof data !== "string" || typeof mediaType !== "string" || !bytesOnly.test(mediaType)) return file;
  if (!otherSpelling.test(data)) return file;
  const plain = data.replaceAll(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/");
  return { ...file, data: plain.padEnd(Math.ceil(plain.length / 4) * 4, "=") };
}

/** Files of other types may hold their text itself. */
const bytesOnly = /^(?:image|audio|video)\/|^application\/pdf/i;
const otherSpelling = /[\s_-]/;

function outOfUrl<File extends FileWords>(file: File): File {
  const { url } = file;
  const held = typeof file.data === "string" ? file.data : typeof url === "string" ? url : "";
  const [head, mediaType, words = ""] = form.exec(held) ?? [];
  if (head === undefined) return file;
  const said = held.slice(head.length);
  const data = /;base64$/i.test(words) ? said : bytesOf(said);
  if (data === undefined) return file;
  const { url: _, ...rest } = file;
  return {
    ...(held === url ? rest : file),
    ...(mediaType === "" ? {} : { mediaType }),
    data,
  } as File;
}

/** What stands in an address letter by letter, as base64; undefined if it cannot be read. */
function bytesOf(said: string): string | undefined {
  try {
    return base64(new TextEncoder().encode(decodeURIComponent(said)));
  } catch {
    return undefined;
  }
}
