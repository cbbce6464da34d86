// npm run -s catalogue
//
// The room of the catalogue's data: generates the snapshot that `@rondo/models` contains.
//
// The data come from a package that others keep up to date and that is far too large to depend on; npm downloads it into
// a temporary folder. A number the source does not know, and a price of 0 that is not marked as free, are left out:
// unknown is not zero. Run it after raising the version below.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { resolveIn } from "../packages/models/src/catalogue/names.ts";
import { CommandLine } from "./command-line.ts";

const asked: CommandLine = new CommandLine("catalogue");
asked.options({});

/** MIT. Follows models.dev and the providers' own lists; contains only chat models that can call tools. */
const source = { name: "@earendil-works/pi-ai", version: "1.5.2", folder: "package/dist/providers/data" };

/** Our providers, and the source's files. Not Azure: a deployment's name says nothing about its model. */
const files: { readonly [provider: string]: string } = {
  anthropic: "anthropic",
  bedrock: "amazon-bedrock",
  cerebras: "cerebras",
  deepseek: "deepseek",
  fireworks: "fireworks",
  google: "google",
  groq: "groq",
  mistral: "mistral",
  moonshot: "moonshotai",
  openai: "openai",
  openrouter: "openrouter",
  together: "together",
  vertex: "google-vertex",
  xai: "xai",
  zai: "zai",
};

interface SourceModel {
  id: string;
  type: string;
  reasoning?: boolean;
  input?: string[];
  contextWindow?: number;
  maxTokens?: number;
  cost?: Cost & { tiers?: (Cost & { inputTokensAbove: number })[] };
}

interface Cost {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
}

const folder = mkdtempSync(join(tmpdir(), "rondo-catalogue-"));
try {
  execFileSync(
    "npm",
    ["pack", "--silent", `${source.name}@${source.version}`, "--pack-destination", folder],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) throw new Error(`npm pack brought no ${source.name}`);
  execFileSync("tar", ["-xzf", join(folder, tarball), "-C", folder]);
  const data = join(folder, source.folder);
  const { generatedAt } = JSON.parse(readFileSync(join(data, ".manifest.json"), "utf8")) as {
    generatedAt: string;
  };
  const date = generatedAt.slice(0, 10);
  const blocks = Object.entries(files).map(
    ([provider, file]) =>
      `  ${provider}: \`\n${rowsOf(provider, join(data, `${file}.json`)).join("\n")}\n\`,`,
  );
  const text = `// Made by scripts/catalogue.ts from ${source.name} ${source.version} (MIT), data of ${date}. Not edited by hand.
// A row: model|window|output limit|input|output|cached input|cache write|v (sees images), r (reasons),
// and for each price of longer prompts another cell: above how many input tokens:input:output:cached input:cache write.
// Tokens, and US dollars per million of them. Empty is unknown.

export const date: string = "${date}";

export const source: string = "${source.name} ${source.version}";

export const snapshot: { readonly [provider: string]: string } = {
${blocks.join("\n")}
};
`;
  const target = new URL("../packages/models/src/catalogue/snapshot.generated.ts", import.meta.url);
  writeFileSync(target, text);
  console.log(
    `${text.split("\n").filter((line) => line.includes("|")).length - 1} models, ${text.length} bytes, data of ${date}`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function rowsOf(provider: string, file: string): string[] {
  const rows = new Map<string, string>();
  const atGoogle = new Map(
    provider === "vertex"
      ? modelsIn(join(dirname(file), "google.json")).map((model) => [model.id, model])
      : [],
  );
  for (const model of modelsIn(file))
    if (model.type === "chat" && /^[^|`\\$\s]+$/.test(model.id))
      rows.set(model.id, rowOf(withTiersOf(atGoogle.get(model.id), model)));
  // A dated or regional name that resolves to the same facts anyway needs no row of its own.
  for (const [id, row] of [...rows].sort(([a], [b]) => b.length - a.length)) {
    rows.delete(id);
    const found = resolveIn(provider, id, (name) => rows.get(name));
    if (found === undefined || !found.exactPrice || found.row !== row) rows.set(id, row);
  }
  return [...rows].map(([id, row]) => `${id}|${row}`).sort();
}

function modelsIn(file: string): SourceModel[] {
  const byApi = JSON.parse(readFileSync(file, "utf8")) as { [api: string]: { [key: string]: SourceModel } };
  return Object.values(byApi).flatMap((models) => Object.values(models));
}

/** Vertex has Google's prices of long prompts for the models that have Google's prices; the source lacks them there. */
function withTiersOf(other: SourceModel | undefined, model: SourceModel): SourceModel {
  const { cost = {} } = model;
  const { tiers, input, output } = other?.cost ?? {};
  if (tiers === undefined || cost.tiers !== undefined) return model;
  return input === cost.input && output === cost.output ? { ...model, cost: { ...cost, tiers } } : model;
}

function rowOf({ id, cost = {}, contextWindow, maxTokens, input = [], reasoning }: SourceModel): string {
  const free = id.endsWith(":free");
  const priced = free || ((cost.input ?? 0) > 0 && (cost.output ?? 0) > 0);
  const price = (value: number | undefined): string =>
    !priced || value === undefined || value < 0 ? "" : String(Number(value.toPrecision(6)));
  // No provider has a free cache: 0 means that the source does not know the price, or that there is no cache.
  const cache = (value: number | undefined): string => (value === 0 ? "" : price(value));
  const rates = (of: Cost): string[] => [
    price(of.input),
    price(of.output),
    cache(of.cacheRead),
    cache(of.cacheWrite),
  ];
  const window = contextWindow !== undefined && contextWindow > 0 ? contextWindow : undefined;
  const limit =
    maxTokens !== undefined && maxTokens > 0 ? Math.min(maxTokens, window ?? maxTokens) : undefined;
  return [
    window ?? "",
    limit ?? "",
    ...rates(cost),
    `${input.includes("image") ? "v" : ""}${reasoning === true ? "r" : ""}`,
    ...(priced ? (cost.tiers ?? []) : [])
      .filter((tier) => (tier.input ?? 0) > 0 && (tier.output ?? 0) > 0)
      .map((tier) => [tier.inputTokensAbove, ...rates(tier)].join(":")),
  ].join("|");
}
