// The room of charsets: in which encoding a body is text, by what its first bytes, its header and its own words say.
//
// In that order, as browsers have it: a byte order mark is never meant otherwise, and a page speaks for itself where its
// server does not. Only its beginning is looked at, for so much is all that a page may need to say it.

import { TextDecoder } from "node:util";

/** How much of a page is looked at, in bytes. */
const prescanned = 1024;

const marks: readonly (readonly [label: string, mark: Buffer])[] = [
  ["utf-8", Buffer.from([0xef, 0xbb, 0xbf])],
  ["utf-16be", Buffer.from([0xfe, 0xff])],
  ["utf-16le", Buffer.from([0xff, 0xfe])],
];

/** What reads a body. Where nobody says a charset that is known, it is UTF-8. */
export function decoderFor(type: string, bytes: Buffer): TextDecoder {
  const media = mediaOf(type);
  const labels = [
    marks.find(([, mark]) => bytes.subarray(0, mark.length).equals(mark))?.[0],
    /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(type)?.[1],
    ...ownWords(media, bytes.subarray(0, prescanned).toString("latin1")),
  ];
  for (const label of labels) {
    const decoder = label === undefined ? undefined : decoderOf(label);
    if (decoder !== undefined) return decoder;
  }
  return new TextDecoder();
}

/** The media type of a `content-type`, without what stands behind it. */
export const mediaOf = (type: string): string => (type.split(";")[0] ?? "").trim().toLowerCase();

function decoderOf(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}

const isHtml = (media: string): boolean => media === "text/html" || media === "application/xhtml+xml";
const isXml = (media: string): boolean => /^(?:text|application)\/xml$|\+xml$/.test(media);

/** The charsets that a page or a document of XML names itself. It could not say so in two bytes a character. */
function ownWords(media: string, head: string): string[] {
  const declared = isXml(media) ? [/^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"'>]+)/.exec(head)?.[1]] : [];
  const named = isHtml(media) ? metaCharsets(head) : [];
  return [...declared, ...named].flatMap((label) =>
    label === undefined ? [] : [/^utf-?16/i.test(label) ? "utf-8" : label],
  );
}

/** A comment, or a tag with its attributes; `>` may stand between quotes. A name is whole, or a page could have each way to cut it tried. */
const tags = /<!--.*?(?:-->|$)|<([a-z][^\s/>]*)(?=[\s/>])((?:"[^"]*"|'[^']*'|[^'">])*)>/gis;
const attributes = /([^\s=/>"']+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g;

function metaCharsets(head: string): string[] {
  const found: string[] = [];
  for (const [, name = "", within = ""] of head.matchAll(tags)) {
    if (name.toLowerCase() !== "meta") continue;
    const said = new Map<string, string>();
    for (const [, key = "", one, other, bare] of within.matchAll(attributes))
      if (!said.has(key.toLowerCase())) said.set(key.toLowerCase(), (one ?? other ?? bare ?? "").trim());
    const isType = said.get("http-equiv")?.toLowerCase() === "content-type";
    const inType = isType
      ? /charset\s*=\s*["']?([^\s"';]+)/i.exec(said.get("content") ?? "")?.[1]
      : undefined;
    const label = said.get("charset") ?? inType;
    if (label !== undefined) found.push(label);
  }
  return found;
}
