// The room of cut content: cuts parts whose texts together are too large. Files stay as they are.

import type { ContentPart, TextPart } from "../../message.ts";
import type { HeadTailNumbers } from "./cap-options.ts";
import { type ExcerptAbout, excerptOf } from "./excerpt.ts";
import { capText, noticeSuffix } from "./head-tail.ts";

const isText = (part: ContentPart): part is TextPart => part.type === "text";

/** How many characters (UTF-16 code units) the text parts have together. */
export function textLength(content: readonly ContentPart[]): number {
  let length = 0;
  for (const part of content) if (isText(part)) length += part.text.length;
  return length;
}

/** The text of all parts, joined by line ends. */
export function joinedText(content: readonly ContentPart[], between: string = "\n"): string {
  return content
    .filter(isText)
    .map((part) => part.text)
    .join(between);
}

/** The parts as one text; a file becomes a word in brackets. */
export function projection(content: readonly ContentPart[]): string {
  return content
    .map((part) => {
      if (isText(part)) return part.text;
      return part.mediaType.startsWith("image/") ? "[image]" : "[document]";
    })
    .join("\n");
}

/** The parts with one text in place of all texts, at the position of the first. */
export function withOneText(content: readonly ContentPart[], text: string): ContentPart[] {
  const first = content.find(isText);
  return content.flatMap((part): ContentPart[] => {
    if (!isText(part)) return [part];
    return part === first ? [{ ...part, text }] : [];
  });
}

/** The parts cut to `max` characters of text; the same list if they fit. */
export function cutContent(
  content: readonly ContentPart[],
  max: number,
  numbers: HeadTailNumbers,
  about: ExcerptAbout,
): readonly ContentPart[] {
  const total = textLength(content);
  if (total <= max) return content;
  if (numbers.form === "excerpt") {
    const text = excerptOf(joinedText(content, "\n\n"), max, { by: numbers.by, ...about });
    return [{ ...content.find(isText), type: "text", text }, ...content.filter((part) => !isText(part))];
  }
  const suffix = noticeSuffix + (about.ref === undefined ? "" : `\n[full output: ref=${about.ref}]`);
  const least = numbers.minKeep + suffix.length;
  return content.map((part) => {
    if (!isText(part)) return part;
    const share = Math.max(least, Math.floor((max * part.text.length) / total));
    const text = capText(part.text, share, { suffix, minKeep: numbers.minKeep });
    return text === part.text ? part : { ...part, text };
  });
}
