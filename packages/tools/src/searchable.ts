// The room of many tools: the model is told of one tool that finds the others by words, and of those once it has found them.
//
// A hundred definitions fill a window and make a model choose badly. What a search finds is offered from then on in the whole
// session, after all other tools, so that the front of the request changes only with a search that finds something new.

import { type Json, type JsonObject, RondoError, type Tool, tool, toolResult, toolWith } from "@rondo/core";
import { able, checkGiven, count, listOf, membersOf, text } from "@rondo/core/checks";
import type MiniSearch from "minisearch";
import { clip } from "./text/text-file.ts";

export interface SearchableOptions {
  /** The name of the tool that searches. Default: `search_tools` */
  name?: string;
  /** The most tools that one search offers. Default: 5 */
  max?: number;
}

const given = membersOf<{ tools: readonly Tool[] } & SearchableOptions>(
  { tools: listOf(able("a tool", "check", "execute")), name: text, max: count },
  ["tools"],
);

/** How much of a tool's description a search tells, in characters: the whole of it comes with the tool. */
const toldChars = 200;
/** How many characters of names the tool that searches lists. */
const namesChars = 2_000;

/** A tool as it is found: by its name, what it does, and what it takes. */
interface Entry {
  readonly name: string;
  readonly description: string;
  readonly takes: string;
}

/**
 * The given tools, which the model is not offered until it finds them, and the tool that finds them: by words of their names,
 * descriptions and arguments, the best first.
 * @returns a list for `tools` of an agent; empty if there are no tools to find
 * @throws RondoError `invalid_request` for invalid tools or options, or if a tool has the name of the one that searches
 */
export function searchable(tools: readonly Tool[], options: SearchableOptions = {}): Tool[] {
  checkGiven(given, { ...options, tools }, "searchable");
  const { name = "search_tools", max = 5 } = options;
  if (tools.some((one) => one.name === name))
    throw new RondoError(
      "invalid_request",
      `searchable: one of the tools is named ${JSON.stringify(name)}: give the one that searches another name`,
    );
  if (tools.length === 0) return [];
  const entries = tools.map(entryOf);
  let index: Promise<MiniSearch<Entry>> | undefined;
  const search = tool({
    name,
    description: `Finds tools that are not listed yet, by what you need to do. What it finds can be called from your next answer on. There are ${tools.length}: ${namesIn(tools)}.`,
    inputSchema: {
      type: "object",
      properties: {
        query: {
          type: "string",
          description: 'Words for what the tool should do ("create an issue"), or names of tools.',
        },
      },
      required: ["query"],
    },
    effect: "read",
    async execute({ query }) {
      index ??= indexOf(entries);
      const found = foundBy(query, entries, await index).slice(0, max);
      if (found.length === 0)
        return "No tool fits these words. Try others: what it does, or what it is about.";
      const lines = found.map((one) => `- ${one.name}: ${cut(one.description, toldChars)}`);
      return toolResult(`You can call these tools from now on:\n${lines.join("\n")}`, {
        offers: found.map((one) => one.name),
      });
    },
  });
  return [search, ...tools.map((one) => toolWith(one, { when: "offered" }))];
}

/** Those whose names the query has come first, then those that its words fit, the best first. */
function foundBy(query: string, entries: readonly Entry[], index: MiniSearch<Entry>): Entry[] {
  const asked = new Set(query.split(/[\s,;"'`()]+/));
  const named = entries.filter(({ name }) => asked.has(name));
  const byName = new Map(entries.map((one) => [one.name, one]));
  const fitting = index.search(query).flatMap(({ id }) => byName.get(String(id)) ?? []);
  return [...new Set([...named, ...fitting])];
}

/** The library is loaded, and the index made, with the first search. */
async function indexOf(entries: readonly Entry[]): Promise<MiniSearch<Entry>> {
  const { default: Index } = await import("minisearch");
  const index = new Index<Entry>({
    idField: "name",
    fields: ["name", "description", "takes"],
    tokenize: wordsIn,
    searchOptions: {
      boost: { name: 3, description: 2 },
      prefix: (word) => word.length > 2,
      fuzzy: (word) => word.length > 4 && 0.2,
    },
  });
  index.addAll(entries);
  return index;
}

/** `createIssue`, `create_issue` and `create-issue` are two words. */
const wordsIn = (said: string): string[] =>
  said
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");

function entryOf({ name, definition: { description, inputSchema } }: Tool): Entry {
  const takes = Object.entries(membersIn(inputSchema.properties)).map(([key, value]) => {
    const { description: what = "" } = membersIn(value);
    return `${key} ${typeof what === "string" ? what : ""}`;
  });
  return { name, description, takes: takes.join(" ") };
}

const membersIn = (value: Json | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};

/** As many names as fit, and how many more there are. */
function namesIn(tools: readonly Tool[]): string {
  const names: string[] = [];
  let chars = 0;
  for (const { name } of tools) {
    chars += name.length + 2;
    if (chars > namesChars) break;
    names.push(name);
  }
  const more = tools.length - names.length;
  return more === 0 ? names.join(", ") : `${names.join(", ")}, and ${more} more`;
}

function cut(said: string, chars: number): string {
  const [line = ""] = said.trim().split("\n");
  return line.length <= chars ? line : `${clip(line, chars)}…`;
}
