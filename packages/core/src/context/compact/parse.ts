// The room of the summary: parses a summariser's answer.
//
// Models forget tags, leave them open, put them into code fences, and think aloud first. The text is read once from start to
// end, whatever it contains; everything that is not one of our tags is text.

import { splitThoughts } from "../../prompt/thoughts.ts";
import { headOf } from "../../text/size.ts";
import type { CompactionSettings } from "./settings.ts";

export interface Summary {
  /** May be empty if something was retained. */
  summary: string;
  /** Tagged format. */
  retain?: string;
  /** Structured format. */
  decisions?: string[];
  done?: string[];
  left?: string[];
  next?: string[];
}

export const listNames = ["decisions", "done", "left", "next"] as const;

/** The parts of a summariser's answer; undefined if it has nothing to keep. */
export function parseSummary(text: string, settings: CompactionSettings): Summary | undefined {
  // Thoughts come first; a tag of theirs further on belongs to the conversation that is summarised.
  const pieces = splitThoughts(text.toWellFormed(), { blocks: "leading" });
  const seen = pieces.map((piece) => (piece.type === "text" ? piece.text : "")).join("");
  const parsed = settings.format === "tagged" ? readTagged(seen, settings) : readStructured(seen);
  const lists = listNames.some((name) => (parsed[name]?.length ?? 0) > 0);
  if (isHollow(parsed.summary) && isHollow(parsed.retain ?? "") && !lists) return undefined;
  const length = listNames.reduce(
    (sum, name) => sum + (parsed[name] ?? []).join("").length,
    parsed.summary.length + (parsed.retain ?? "").length,
  );
  if (length < settings.minSummaryCharacters) return undefined;
  return bounded(parsed, settings);
}

/** A heading, a label without text, or a word that says that there is nothing. */
const hollow =
  /^(?:#{1,6}\s.*|\*\*[^*]{1,80}\*\*:?|[^:]{1,80}:|(?:[-*•+]|\d{1,3}[.)])?\s*(?:\(?(?:none|n\/a|nothing|no|tbd)\)?|\[[^\]]{0,80}\]|[-—….])?[.\s]*)$/i;

/** Whether a text is only a skeleton: sections without content. */
const isHollow = (text: string): boolean => text.split("\n").every((line) => hollow.test(line.trim()));

/** The content of an earlier memory; undefined if there was none. */
export function readEarlier(text: string): Summary | undefined {
  return text.trim() === "" ? undefined : readStructured(text);
}

/** Characters of a token, at most as a rule: a summary within its limit of tokens is not cut. */
const mostInToken = 5;

/** Cuts a summary that exceeds its limit: memories must not grow from one compaction to the next. */
function bounded(parsed: Summary, settings: CompactionSettings): Summary {
  if (settings.summaryMaxTokens === null) return parsed;
  const most = settings.summaryMaxTokens * mostInToken;
  const cut = (text: string): string =>
    text.length <= most ? text : `${headOf(text, most)}\n[cut at ${most} characters]`;
  return {
    ...parsed,
    summary: cut(parsed.summary),
    ...(parsed.retain === undefined ? {} : { retain: cut(parsed.retain) }),
  };
}

/**
 * The first retain block and the first summary block; without a summary block, the text without retained text and stray
 * tags. Retained text that was not asked for is ignored.
 */
function readTagged(text: string, { retainPrompt }: CompactionSettings): Summary {
  const retain = firstBlock(text, "retain");
  const summary = firstBlock(text, "summary");
  const rest = (): string =>
    (retain === undefined ? text : text.slice(0, retain.from) + text.slice(retain.to))
      .replace(/<\/?summary>/gi, "")
      .trim();
  return {
    summary: summary === undefined ? rest() : summary.inside,
    ...(retain === undefined || retain.inside === "" || retainPrompt === null
      ? {}
      : { retain: retain.inside }),
  };
}

function firstBlock(text: string, name: string): { inside: string; from: number; to: number } | undefined {
  const lower = asciiLower(text);
  const from = lower.indexOf(`<${name}>`);
  if (from < 0) return undefined;
  const start = from + name.length + 2;
  const end = lower.indexOf(`</${name}>`, start);
  if (end < 0) return undefined;
  return { inside: text.slice(start, end).trim(), from, to: end + name.length + 3 };
}

/** Keeps the length of the text: `toLowerCase` turns some letters into two. */
const asciiLower = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/**
 * Sections by their tags: each ends at its closing tag, the next section or the end. If there is no section, the text
 * outside is the summary.
 */
function readStructured(text: string): Summary {
  const sections = new Map<string, string[]>();
  const outside: string[] = [];
  const tag = /<(\/?)(summary|retain|decisions|done|left|next|ledger|refs)(?:\s[^<>]{0,100})?>/gi;
  /** The open sections, the innermost last. Answers do not nest them; a few levels are kept for an answer that quotes a tag. */
  const open: string[] = [];
  let from = 0;
  const take = (to: number): void => {
    const piece = text.slice(from, to);
    const name = open.at(-1);
    const pieces = name === undefined ? outside : sections.get(name);
    if (pieces !== undefined) pieces.push(piece);
    else sections.set(name as string, [piece]);
  };
  for (let match = tag.exec(text); match !== null; match = tag.exec(text)) {
    take(match.index);
    from = tag.lastIndex;
    const name = (match[2] as string).toLowerCase();
    if (match[1] !== "") open.splice(open.lastIndexOf(name) < 0 ? open.length : open.lastIndexOf(name));
    else if (open.push(name) > 4) open.shift();
  }
  take(text.length);
  const of = (section: string): string => (sections.get(section) ?? []).join("\n");
  const summary = unfenced(of("summary")) || unfenced(outside.join("\n"));
  const retain = unfenced(of("retain"));
  return {
    summary,
    ...(retain === "" ? {} : { retain }),
    ...Object.fromEntries(listNames.map((list) => [list, itemsOf(of(list))])),
  };
}

/** The text without a code fence around it. */
function unfenced(text: string): string {
  const lines = text.trim().split("\n");
  const isFence = (line: string | undefined): boolean => /^\s*`{3,}[\w-]*\s*$/.test(line ?? "");
  while (lines.length > 0 && isFence(lines[0])) lines.shift();
  while (lines.length > 0 && isFence(lines.at(-1))) lines.pop();
  return lines.join("\n").trim();
}

const nothing = /^(?:none|n\/a|nothing|no|-|—)?[.\s]*$/i;
const maxItems = 100;
const maxItemCharacters = 1000;

/** The items of a list: one a line, without its bullet; an indented line continues the item before it. */
function itemsOf(text: string): string[] {
  const items: string[] = [];
  for (const line of unfenced(text).split("\n")) {
    const bare = line.replace(/^\s*(?:[-*•+]|\d{1,3}[.)])\s+/, "");
    const item = bare.trim().replace(/^\((.*)\)$/, "$1");
    if (nothing.test(item)) continue;
    const goesOn = bare === line && /^\s{2,}\S/.test(line) && items.length > 0;
    if (goesOn) items.push(`${items.pop()} ${bare.trim()}`);
    else items.push(bare.trim());
  }
  return [...new Set(items)]
    .slice(0, maxItems)
    .map((item) => (item.length <= maxItemCharacters ? item : `${headOf(item, maxItemCharacters)}…`));
}

/** A structured summary in its tags, without empty sections. In text that looks like one of our tags, `<` becomes `‹`. */
export function summaryBlocks(summary: Summary): string[] {
  return [
    ...(summary.summary === "" ? [] : [tagged("summary", summary.summary)]),
    ...(summary.retain === undefined ? [] : [tagged("retain", summary.retain)]),
    ...listNames.flatMap((name) => {
      const items = summary[name] ?? [];
      return items.length === 0 ? [] : [tagged(name, items.map((item) => `- ${item}`).join("\n"))];
    }),
  ];
}

/** A text in a tag that nothing in the text can close. */
export function tagged(name: string, text: string): string {
  const sanitized = text.replace(/<(?=\/?(?:summary|retain|decisions|done|left|next|ledger|refs)\b)/gi, "‹");
  return `<${name}>\n${sanitized}\n</${name}>`;
}
