// The room of the excerpt: one large text as a header that describes it, its beginning and its end.

import { byteLength } from "../../text/size.ts";
import { headEnd, moreSuffix, tailStart, withSuffix } from "./head-tail.ts";

/** The facts for the header. An absent one has no line. */
export interface ExcerptAbout {
  tool?: string;
  callId?: string;
  status?: string;
  exitCode?: number;
  exitSignal?: string;
  isError?: boolean;
  ref?: string;
  /** What did the cutting. Default: `Rondo`. */
  by?: string;
}

/** An excerpt of at most `max` characters; the same text if it fits. */
export function excerptOf(text: string, max: number, about: ExcerptAbout = {}): string {
  if (text.length <= max) return text;
  const header = headerOf(text, max, about);
  const first = "\n\n--- first excerpt ---\n";
  const middle = (omitted: number): string =>
    `\n\n--- middle omitted: ${omitted} chars ---\n\n--- last excerpt ---\n`;
  const suffix = moreSuffix(Math.max(1, text.length - max));
  const room = max - header.length - first.length - middle(text.length).length - suffix.length;
  if (room < 2) return withSuffix(header, text.length, max, moreSuffix);
  const tail = Math.min(Math.max(1, Math.floor(room * 0.4)), 4_000);
  const end = headEnd(text, Math.max(1, room - tail), 0.75);
  const start = tailStart(text, tail, 0.25, end);
  const kept = header + first + text.slice(0, end) + middle(start - end) + text.slice(start);
  return withSuffix(kept, text.length, max, moreSuffix);
}

function headerOf(text: string, max: number, about: ExcerptAbout): string {
  const line = (label: string, value: string | number | undefined): string[] =>
    value === undefined || value === "" ? [] : [`${label}: ${value}`];
  return [
    `⚠️ ${about.by ?? "Rondo"} truncated an oversized tool result before adding it to live session context.`,
    ...line("Tool", about.tool),
    ...line("Tool call", about.callId),
    ...line("Status", about.status),
    ...line("Exit code", about.exitCode),
    ...line("Exit signal", about.exitSignal),
    ...(about.isError === true ? ["Tool result marked error: true"] : []),
    `Original size: ${text.length} chars, ${byteLength(text)} UTF-8 bytes`,
    `Live transcript budget: ${max} chars`,
    ...line("Full output reference", about.ref),
    "Only the first and last excerpts follow; what is between them can be read by the reference, where there is one.",
  ].join("\n");
}
