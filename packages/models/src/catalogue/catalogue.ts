// The room of the catalogue: what is known of a model, by its name.
//
// A dated snapshot of public data, small enough to be always included; a row is parsed only when somebody asks for it. What
// it does not contain stays unknown: no default, no zero, no guess from a similar name.

import type { ModelFacts, Rates } from "@rondo/core";
import { ownMember } from "@rondo/core/checks";
import { anthropicName, type Found, resolveIn } from "./names.ts";
import { date, snapshot, source } from "./snapshot.generated.ts";

/** The date of the catalogue's data, `YYYY-MM-DD`. */
export const catalogueDate: string = date;

/** Where the data comes from: a package and its version. */
export const catalogueSource: string = source;

/** A model in the catalogue. */
export interface CatalogueEntry {
  /** As in `modelFromName`: the part before the first slash. */
  provider: string;
  model: string;
  facts: ModelFacts;
  /** It accepts images. */
  vision: boolean;
  /** It can think before it answers. */
  reasoning: boolean;
}

/**
 * What is known of a model, e.g. `factsOf("anthropic", "claude-sonnet-4-5-20250929")`. Dated names, Bedrock's regional
 * prefixes and Vertex's `@` versions lead to the model they stand for. A Claude on Bedrock or Vertex without a row of its
 * own has the facts of Anthropic's row, without the price. Undefined if nothing is known, as for Azure deployments.
 * `override` wins, member by member.
 */
export function factsOf(provider: string, model: string, override?: ModelFacts): ModelFacts | undefined {
  const entry = entryOf(provider, model);
  if (entry === undefined) return override;
  return override === undefined ? entry.facts : { ...entry.facts, ...override };
}

/** As `factsOf`, plus what the loop does not use: vision and reasoning. */
export function entryOf(provider: string, model: string): CatalogueEntry | undefined {
  const found = lookUp(provider, model);
  if (found !== undefined) return entryFrom(provider, model, found);
  const claude = anthropicName(provider, model);
  const own = claude === undefined ? undefined : lookUp("anthropic", claude);
  return own === undefined ? undefined : entryFrom(provider, model, { ...own, exactPrice: false });
}

/** The models whose `provider/model` contains every word of the filter, ignoring case, sorted by provider and name. Default: all. */
export function listModels(filter: string = ""): CatalogueEntry[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return Object.entries(snapshot).flatMap(([provider, rows]) =>
    rows
      .trim()
      .split("\n")
      .flatMap((line) => {
        const end = line.indexOf("|");
        const model = line.slice(0, end);
        const name = `${provider}/${model}`.toLowerCase();
        if (!words.every((word) => name.includes(word))) return [];
        return [entryFrom(provider, model, { row: line.slice(end + 1), exactPrice: true })];
      }),
  );
}

function lookUp(provider: string, model: string): Found | undefined {
  const rows = ownMember(snapshot, provider);
  // A name with a separator in it would match across cells.
  if (rows === undefined || /[|\n]/.test(model)) return undefined;
  return resolveIn(provider, model, (name) => {
    const start = rows.indexOf(`\n${name}|`);
    if (start === -1) return undefined;
    const from = start + name.length + 2;
    return rows.slice(from, rows.indexOf("\n", from));
  });
}

function entryFrom(provider: string, model: string, { row, exactPrice }: Found): CatalogueEntry {
  const cells = row.split("|");
  const [window, limit, ...prices] = numbersIn(cells.slice(0, 6));
  const isClaude = provider === "anthropic" || anthropicName(provider, model) !== undefined;
  const rates = ratesIn(prices, isClaude);
  const longPrompts = cells.slice(7).flatMap((cell) => {
    const [above, ...those] = numbersIn(cell.split(":"));
    const more = ratesIn(those, isClaude);
    return above === undefined || more === undefined ? [] : [{ above, ...more }];
  });
  const flags = cells[6] ?? "";
  const vision = flags.includes("v");
  const accepts = acceptsOf(provider, vision);
  return {
    provider,
    model,
    vision,
    reasoning: flags.includes("r"),
    facts: {
      ...(window === undefined ? {} : { contextWindow: window }),
      ...(limit === undefined ? {} : { maxOutputTokens: limit }),
      ...(exactPrice && rates !== undefined
        ? { price: longPrompts.length === 0 ? rates : { ...rates, longPrompts } }
        : {}),
      ...(accepts === undefined ? {} : { accepts }),
      tools: true,
    },
  };
}

const numbersIn = (cells: readonly string[]): (number | undefined)[] =>
  cells.map((cell) => (cell === "" ? undefined : Number(cell)));

/** Input, output, cached input and cache write. The data has no price for an hour: for every Claude it is twice that of input. */
function ratesIn(
  [input, output, cachedInput, cacheWrite]: readonly (number | undefined)[],
  isClaude: boolean,
): Rates | undefined {
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    ...(cachedInput === undefined ? {} : { cachedInput }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...(cacheWrite === undefined || !isClaude ? {} : { cacheWrite1h: 2 * input }),
  };
}

/** What models accept that accept images. The data only covers images; the rest depends on the provider, for all of its models. */
const seeing: { readonly [provider: string]: readonly string[] } = {
  anthropic: ["image/*", "application/pdf", "text/*"],
  google: ["image/*", "audio/*", "video/*", "application/pdf", "text/*"],
  openai: ["image/*", "application/*", "text/*"],
};

/**
 * Codecs leave out what a model does not accept, so when in doubt this is undefined: for a model with vision, at a provider
 * whose other file types are not known. Bedrock's and OpenRouter's documents do not depend on vision.
 */
function acceptsOf(provider: string, vision: boolean): readonly string[] | undefined {
  if (vision) return seeing[provider];
  return provider === "bedrock" || provider === "openrouter" || provider === "mistral"
    ? ["application/*", "text/*"]
    : ["text/*"];
}
