// The room of charsets: finds the encoding of a body from its byte order mark, its header, and its own declaration.
//
// In that order, as browsers do it: a byte order mark is never ambiguous, and a page's own declaration counts where the
// server gives none. Only the beginning is searched, where a page must declare it.

import { TextDecoder } from "node:util";

/** How much of a page is searched, in bytes. */
const prescanned = 1024;

const marks: readonly (readonly [label: string, mark: Buffer])[] = [
  ["utf-8", Buffer.from([0xef, 0xbb, 0xbf])],
  ["utf-16be", Buffer.from([0xfe, 0xff])],
  ["utf-16le", Buffer.from([0xff, 0xfe])],
];

/** The decoder for a body. Without a known charset it is UTF-8. */
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

/** The media type of a `content-type`, without its parameters. */
export const mediaOf = (type: string): string => (type.split(";")[0] ?? "").trim().toLowerCase();

function decoderOf(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}

/** Whether this is the name of a charset. */
export const isCharset = (label: string): boolean => decoderOf(label) !== undefined;

const isHtml = (media: string): boolean => media === "text/html" || media === "application/xhtml+xml";
const isXml = (media: string): boolean => /^(?:text|application)\/xml$|\+xml$/.test(media);

/** The charsets that an HTML page or XML document declares. A readable declaration cannot itself be in UTF-16. */
function ownWords(media: string, head: string): string[] {
  const declared = isXml(media) ? [/^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"'>]+)/.exec(head)?.[1]] : [];
  const named = isHtml(media) ? metaCharsets(head) : [];
  return [...declared, ...named].flatMap((label) =>
    label === undefined ? [] : [/^utf-?16/i.test(label) ? "utf-8" : label],
  );
}

/** A comment, or a tag with its attributes; `>` may occur in quotes. Names match whole, or a hostile page could force backtracking. */
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
