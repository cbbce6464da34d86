// The room of the reader tools: how a model reads the rest of a result that was cut.
//
// Two read-only tools, offered once a text was cut and kept. They read through the context of their call, so they see only
// the texts of their own session.

import { messageOf } from "../errors.ts";
import { safeRef } from "../journal/blobs.ts";
import { type ToolResult, toolResult } from "../tool/tool-result.ts";
import { type Tool, type ToolContext, tool } from "../tool.ts";
import type { ReaderOptions } from "./cap/cap-options.ts";
import { type Kept, readLine, readLines } from "./reader-tools/pages.ts";
import { PatternError, searchLines } from "./reader-tools/search.ts";

interface SearchArgs {
  ref_id?: string;
  pattern: string;
  regex?: boolean;
  before?: number;
  after?: number;
  max_matches?: number;
}

const ref = { type: "string", description: "The ref of the output, as its note gives it." } as const;
const integer = (minimum: number, description: string) =>
  ({ type: "integer", minimum, description }) as const;

/** The tools that read and search kept texts, under the given names. */
export function readerTools(options: Required<ReaderOptions>): Tool[] {
  return [reader(options), searcher(options)].map((one): Tool => ({ ...one, when: "capped" }));
}

function reader({ read, maxLineLength }: Required<ReaderOptions>): Tool {
  return tool({
    name: read,
    description:
      "Reads the whole text of a tool output that was truncated, by its ref: numbered lines from an offset on, or a part of one long line.",
    effect: "read",
    inputSchema: {
      type: "object",
      properties: {
        ref_id: ref,
        offset: integer(0, "Lines to skip. Default 0."),
        limit: integer(1, "The most lines to return. Default: as many as fit."),
        line_number: integer(1, "Read only this line (counted from 1), in full."),
        char_offset: integer(0, "With line_number: characters of the line to skip. Default 0."),
        char_limit: integer(1, "With line_number: the most characters, up to 100000. Default 10000."),
      },
      required: ["ref_id"],
    },
    execute: async (ask, context) =>
      withKept(ask.ref_id, read, context, (kept) => {
        const { offset, limit, line_number: line, char_offset: chars, char_limit: most } = ask;
        if (line === undefined)
          return readLines(kept, { maxLineLength, ...ifGiven("offset", offset), ...ifGiven("limit", limit) });
        return readLine(kept, { line, ...ifGiven("offset", chars), ...ifGiven("limit", most) });
      }),
  });
}

function searcher({ read, search }: Required<ReaderOptions>): Tool {
  return tool({
    name: search,
    description:
      "Searches the whole text of a tool output that was truncated, by its ref, line by line; without a ref, all outputs that were kept.",
    effect: "read",
    inputSchema: {
      type: "object",
      properties: {
        ref_id: {
          ...ref,
          description: "The ref of the output, as its note gives it. Default: all of them, oldest first.",
        },
        pattern: {
          type: "string",
          minLength: 1,
          description: "What to look for, literally unless regex is true.",
        },
        regex: {
          type: "boolean",
          description: "The pattern is a regular expression (RE2 syntax). Default false.",
        },
        before: integer(0, "Lines to show before each match. Default 0."),
        after: integer(0, "Lines to show after each match. Default 0."),
        max_matches: integer(1, "The most matches to return. Default 50."),
      },
      required: ["pattern"],
    },
    execute: async (ask, context) => {
      const find = (kept: Kept | AsyncIterable<Kept>) => found(kept, ask, context.signal);
      if (ask.ref_id !== undefined) return withKept(ask.ref_id, read, context, find);
      const lost: string[] = [];
      const said = await find(allKept(read, context, lost));
      const [why] = lost;
      if (why === undefined || typeof said !== "string") return said;
      const outputs = lost.length === 1 ? "One output" : `${lost.length} outputs`;
      return `${said}\n\n(${outputs} could not be searched: ${why})`;
    },
  });
}

/** The result of the search, or why its pattern is invalid. */
async function found(
  kept: Kept | AsyncIterable<Kept>,
  { pattern, regex, before, after, max_matches: most }: SearchArgs,
  signal: AbortSignal,
): Promise<string | ToolResult> {
  const wanted = {
    pattern,
    ...ifGiven("regex", regex),
    ...ifGiven("before", before),
    ...ifGiven("after", after),
    ...ifGiven("maxMatches", most),
  };
  try {
    return await searchLines(kept, wanted, signal);
  } catch (thrown) {
    if (!(thrown instanceof PatternError)) throw thrown;
    const text = `Error: the regular expression cannot be used: ${thrown.message}. Search literally, or write it without look-around and back-references.`;
    return toolResult(text, { isError: true });
  }
}

/**
 * All texts of the session, oldest first. Texts that the store has deleted are skipped.
 * @param lost collects why texts cannot be read: they must not hide the others
 */
async function* allKept(readTool: string, context: ToolContext, lost: string[]): AsyncIterable<Kept> {
  for (const name of new Set(context.outputs?.() ?? [])) {
    let text: string | undefined;
    try {
      text = await context.output?.(name);
    } catch (thrown) {
      lost.push(messageOf(thrown));
    }
    if (text !== undefined) yield { text, ref: name, readTool };
  }
}

async function withKept(
  given: string,
  readTool: string,
  context: ToolContext,
  use: (kept: Kept) => string | ToolResult | Promise<string | ToolResult>,
): Promise<string | ToolResult> {
  const name = safeRef(given.trim());
  const text = await context.output?.(name);
  if (text !== undefined) return use({ text, ref: name, readTool });
  return toolResult(`Error: no output is kept under the ref ${JSON.stringify(given.slice(0, 100))}.`, {
    isError: true,
  });
}

/** A member that is absent if its value is. */
function ifGiven<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}
