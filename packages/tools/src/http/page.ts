// The room of pages: what of an HTML page is for browsers alone.
//
// Scripts and style sheets are most of many a page, and stand before its text: a model that is shown the first part of it
// would read nothing else. They are left out; all other markup stays. One pass, without regular expressions over the page.

import { counted, sized } from "../reasons.ts";
import { mediaOf } from "./charset.ts";

const forBrowsers = ["script", "style"];
/** Smaller ones do not matter. */
const minLength = 200;

/** Data for a page's own scripts, or about it, may be the only text that a page has. */
const isData = (tag: string): boolean => /\btype\s*=\s*["']?[^"'\s>]*json/i.test(tag);
const maxData = 20_000;

/** Whether a body is an HTML page, by its `content-type`. */
export const isPage = (type: string): boolean =>
  /^(?:text\/html|application\/xhtml\+xml)$/.test(mediaOf(type));

/** A page without what is in its larger scripts and style sheets, and a note on them; the same page if it has none. */
export function forReaders(page: string): string {
  const low = asciiLower(page);
  const pieces: string[] = [];
  let left = 0;
  let chars = 0;
  let from = 0;
  for (let at = low.indexOf("<"); at >= 0; ) {
    if (low.startsWith("<!--", at)) {
      const end = low.indexOf("-->", at);
      at = end < 0 ? -1 : low.indexOf("<", end);
      continue;
    }
    const name = forBrowsers.find(
      (one) => low.startsWith(one, at + 1) && /[\s/>]/.test(low.charAt(at + 1 + one.length)),
    );
    const open = name === undefined ? -1 : low.indexOf(">", at);
    if (name === undefined) {
      at = low.indexOf("<", at + 1);
      continue;
    }
    // The page was cut inside of the tag.
    if (open < 0) break;
    const close = low.indexOf(`</${name}`, open);
    const end = close < 0 ? page.length : close;
    const length = end - open - 1;
    if (length >= minLength && !(length <= maxData && isData(page.slice(at, open)))) {
      pieces.push(page.slice(from, open + 1));
      from = end;
      left++;
      chars += length;
    }
    at = close < 0 ? -1 : low.indexOf("<", close + 1);
  }
  if (left === 0) return page;
  pieces.push(page.slice(from));
  const rest = pieces.join("");
  const made =
    textLength(rest) < minText
      ? "; hardly any text is left: the page is made by its scripts, in a browser"
      : "";
  return `${rest}\n[${counted(left, "script or style sheet", "scripts or style sheets")} left out, ${sized(chars)}; raw: true gives the page as it is${made}]`;
}

/** A page with less text than this has its text from elsewhere. */
const minText = 200;

/** The length of what is outside of tags, without whitespace. */
function textLength(page: string): number {
  let length = 0;
  for (let at = 0; at < page.length && length < minText; ) {
    const open = page.indexOf("<", at);
    const end = open < 0 ? page.length : open;
    length += page.slice(at, end).replace(/\s+/g, "").length;
    const close = open < 0 ? -1 : page.indexOf(">", open);
    at = close < 0 ? page.length : close + 1;
  }
  return length;
}

/** In lower case, at the same places: some letters have a longer lower case. */
const asciiLower = (text: string): string => text.replace(/[A-Z]+/g, (run) => run.toLowerCase());
