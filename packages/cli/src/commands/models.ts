// The room of `rondo models`: lists the models whose window, limits and prices are known, with the date of the data.
//
// The catalogue does not restrict what may be used: any model of a known provider can be. An unknown value is shown as a
// dash, never as a zero.

import type { CatalogueEntry } from "@rondo/models";
import { jsonLine } from "../console/plain-text.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Command } from "../line/command.ts";
import { counted } from "../render/usage.ts";

export const models: Command = {
  name: "models",
  words: "[FILTER]",
  does: "List known models: context window, output limit, price, abilities",
  maxWords: 8,
  options: { json: { type: "boolean", does: "Print one JSON object per line" } },
  async act(args, console) {
    const { catalogueDate, catalogueSource, knownProviders, listModels } = await import("@rondo/models");
    const filter = args.words.join(" ");
    const found = listModels(filter);
    if (args.has("json")) for (const entry of found) console.line(jsonLine(asJson(entry)));
    else for (const line of asTable(found)) console.line(line);
    const about = `data of ${catalogueDate}, from ${catalogueSource}`;
    if (found.length === 0) {
      const providers = `any other model of ${knownProviders().join(", ")} can be used as well`;
      console.errorLine(`no known model is called ${JSON.stringify(filter)} (${about}); ${providers}`);
      return exitCodes.error;
    }
    console.errorLine(`${counted(found.length, "model")}; US dollars per million tokens; ${about}`);
    return exitCodes.completed;
  },
};

function asJson({ provider, model, facts, vision, reasoning }: CatalogueEntry): object {
  return { name: `${provider}/${model}`, ...facts, vision, reasoning };
}

const headings = ["MODEL", "WINDOW", "OUTPUT", "$ IN", "$ OUT", "ABILITIES"];

/** The models as lines of a table, numbers right-aligned. Its first line is the header. */
export function asTable(entries: readonly CatalogueEntry[]): string[] {
  const rows = [headings, ...entries.map(cellsOf)];
  const widths = headings.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return (entries.length === 0 ? [] : rows).map((row) =>
    row
      .map((cell, column) =>
        column === 0 || column === headings.length - 1
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}

function cellsOf({ provider, model, facts, vision, reasoning }: CatalogueEntry): string[] {
  const { contextWindow, maxOutputTokens, price, tools } = facts;
  const abilities = [tools ? "tools" : "", vision ? "vision" : "", reasoning ? "reasoning" : ""];
  return [
    `${provider}/${model}`,
    tokens(contextWindow),
    tokens(maxOutputTokens),
    price === undefined ? "-" : String(price.input),
    price === undefined ? "-" : String(price.output),
    abilities.filter(Boolean).join(" "),
  ];
}

/** `200k`, `1.05M`: rounded, and short as providers write it. */
function tokens(count: number | undefined): string {
  if (count === undefined) return "-";
  if (count < 1_000) return String(count);
  return count < 999_500 ? `${Math.round(count / 1_000)}k` : `${Number((count / 1e6).toFixed(2))}M`;
}
