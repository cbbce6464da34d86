// The room of wording: how numbers, names and lists are written in an answer.

import { headOf } from "@rondo/core/checks";

/** `1 file`, `12 files`, `1,200 files`. */
export const counted = (count: number, noun: string, plural: string = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;

/** A name in code marks. */
export const code = (text: string): string => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``);

/** "a, b and c". */
export const humanList = (items: readonly string[]): string =>
  items.length <= 1 ? (items[0] ?? "") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;

/** "this folder" for the root, the path otherwise. */
export const placeName = (path: string): string => (path === "." ? "this folder" : code(path));

/** A list, one item per line, cut at `limit`, with the number of the rest. */
export function bullets(items: readonly string[], limit = 60, total: number = items.length): string {
  const shown = items.slice(0, limit).map((item) => `- ${item}`);
  if (total > shown.length) shown.push(`- … and ${total - shown.length} more`);
  return shown.join("\n");
}

/** Text in a fence that the text itself cannot close. */
export function fenced(lines: readonly string[]): string {
  let fence = "```";
  while (lines.some((line) => line.startsWith(fence))) fence += "`";
  return [fence, ...lines, fence].join("\n");
}

/** The beginning of a text, without splitting a surrogate pair. */
export const clip = (text: string, limit: number): string =>
  text.length <= limit ? text : `${headOf(text, limit)}…`;

export const plural: Record<string, string> = {
  file: "files",
  folder: "folders",
  entry: "entries",
  line: "lines",
  word: "words",
  character: "characters",
  byte: "bytes",
  function: "functions",
  class: "classes",
  interface: "interfaces",
  type: "types",
  heading: "headings",
  export: "exports",
  import: "imports",
};
