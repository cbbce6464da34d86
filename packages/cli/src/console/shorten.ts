// The room of shortening: cuts long things so that a person still knows what was cut, and wraps lines.

import type { ContentPart, Json, JsonObject } from "@rondo/core";
import { joinedLines, plainLines, plainText } from "./plain-text.ts";

/** A text on one line, at most `limit` characters. */
export function oneLine(text: string, limit: number): string {
  return shortened(plainText(text).replace(/\s+/g, " ").trim(), limit);
}

/** A text of at most `limit` characters; if it was cut, the last one is an ellipsis. */
export function shortened(text: string, limit: number): string {
  const characters = text.length > limit ? [...text] : [];
  return characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : text;
}

/** Arguments in short: a single text as it is, everything else as JSON. */
export function shortArgs(args: JsonObject, limit: number = 100): string {
  const values = Object.values(args);
  if (values.length === 0) return "";
  const [only] = values;
  if (values.length === 1 && typeof only === "string") return oneLine(only, limit);
  return oneLine(
    Object.entries(args)
      .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
      .join(", "),
    limit,
  );
}

/**
 * About `limit` lines of a text, each at most `width` characters; the last one says how many more there are. If only one
 * more is left, it is shown instead.
 */
export function someLines(text: string, limit: number, width: number): string[] {
  const lines = plainLines(text);
  const fits = lines.length <= limit + 1;
  const shown = lines.slice(0, fits ? lines.length : limit).map((line) => cutLine(line, width));
  return fits ? shown : [...shown, `… ${lines.length - limit} more lines`];
}

function cutLine(line: string, width: number): string {
  if (line.length <= width) return line;
  const characters = [...line];
  const more = characters.length - width;
  return more <= 0 ? line : `${characters.slice(0, width).join("")}… ${more} more characters`;
}

/** Wraps a text at a column, at spaces where possible. */
export function wrapped(text: string, column: number): string[] {
  const characters = [...text];
  const lines: string[] = [];
  let from = 0;
  while (characters.length - from > column) {
    const space = characters.slice(from, from + column + 1).lastIndexOf(" ");
    const end = from + (space > column / 2 ? space : column);
    lines.push(characters.slice(from, end).join(""));
    from = characters[end] === " " ? end + 1 : end;
  }
  return [...lines, characters.slice(from).join("")];
}

/** Content as text: files are described by type and size. */
export function contentText(content: readonly ContentPart[]): string {
  return content
    .map((part) => {
      if (part.type === "text") return part.text;
      const size = typeof part.data === "string" ? `, ${bytesText(part.data)}` : "";
      return `[file${part.name === undefined ? "" : ` ${part.name}`}, ${part.mediaType}${size}${part.url === undefined ? "" : `, ${part.url}`}]`;
    })
    .join("\n");
}

/** How many bytes a base64 text stands for, with or without its padding. */
function bytesText(base64: string): string {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  const bytes = Math.floor(((base64.length - padding) * 3) / 4);
  return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
}

/** A rule and its evidence: `rule max_steps: steps 5, max 5`. */
export function ruleText({ rule, evidence }: { rule: string; evidence: JsonObject }): string {
  const seen = evidenceText(evidence);
  return `rule ${rule}${seen === "" ? "" : `: ${seen}`}`;
}

/** A rule's evidence on one line: `steps 5, max 5`. It may include text of a model or a provider. */
export function evidenceText(evidence: { readonly [name: string]: Json }): string {
  const words = Object.entries(evidence).map(
    ([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return joinedLines(words.join(", "), " ⏎ ");
}
