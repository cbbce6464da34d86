// npm run -s compat -- [--check]
//
// Generates docs/guide/compatible-servers.md from the table of compatible servers: the columns are the comments of their
// type. `--check` writes nothing, and exits with 1 when the page is out of date.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CompatibleServer, compatibleServers } from "@rondo/models";
import { writeOrCheck } from "./docs/drawn.ts";
import { anchorOf } from "./docs/pages.ts";
import { root } from "./packages.ts";

const source = join(root, "packages/models/src/codecs/openai-chat/compat.ts");

interface Column {
  name: string;
  about: string;
}

/** The columns, in the order of their type, with their comments as one line each. */
function columns(): Column[] {
  const text = readFileSync(source, "utf8");
  const body = text.slice(text.indexOf("export interface OpenaiChatCompat {"));
  const found: Column[] = [];
  for (const match of body.slice(0, body.indexOf("\n}\n")).matchAll(/\/\*\*([\s\S]*?)\*\/\s*(\w+):/g))
    found.push({
      name: match[2] ?? "",
      about: (match[1] ?? "").replace(/\s*\n\s*\*?\s*/g, " ").trim(),
    });
  return found;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.map((one) => `\`${String(one)}\``).join(", ");
  return `\`${JSON.stringify(value)}\``;
}

function section(name: string, server: CompatibleServer, order: readonly string[]): string[] {
  const {
    title,
    baseURL,
    keyVariables,
    hosts,
    headers,
    compat,
    models = [],
    facts,
    answers,
    errors,
  } = server;
  const quirks = Object.entries(compat).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  return [
    `### ${title}`,
    "",
    `\`${name}/MODEL\`${baseURL === undefined ? "" : ` at <${baseURL}>`}. ${keyVariables.length === 0 ? "No key." : `Key: ${keyVariables.map((variable) => `\`${variable}\``).join(" or ")}.`}${hosts.length === 0 ? "" : ` Recognised by ${hosts.map((host) => `\`${host}\``).join(", ")}.`}`,
    "",
    ...quirks.map(([quirk, value]) => `- \`${quirk}\`: ${shown(value)}`),
    ...models.flatMap(({ match, compat: more }) =>
      Object.entries(more).map(
        ([quirk, value]) => `- \`${quirk}\`: ${shown(value)} for models like \`${match.source}\``,
      ),
    ),
    ...Object.entries(headers ?? {}).map(([header, value]) => `- header \`${header}: ${value}\``),
    ...Object.entries(facts ?? {}).map(
      ([fact, value]) => `- known of its models: \`${fact}\` is ${shown(value)}`,
    ),
    "",
    `Answers: ${answers}`,
    "",
    `Errors: ${errors}`,
    "",
  ];
}

/** Removes failure numbers, which are only for readers of the sources. */
const unnumbered = (line: string): string => line.replace(/ \(F\d{3}(?:, F\d{3})*\)|, F\d{3}(?=[,)])/g, "");

/** The whole page. */
export function drawPage(): string {
  const all = columns();
  const order = all.map(({ name }) => name);
  const servers = Object.entries(compatibleServers);
  return [
    "# Servers that speak OpenAI's Chat Completions",
    "",
    "<!-- drawn by `npm run -s compat` from packages/models/src/compat/ -->",
    "",
    "Many servers speak OpenAI's older protocol, and none of them quite as OpenAI does. Rondo knows these by name, and by",
    "their address whatever they are called; a server it does not know gets only what all of them take.",
    "",
    "```ts",
    'import { deepseek, modelFromName, openaiCompatible } from "@rondo/models";',
    "",
    'deepseek("deepseek-chat");',
    'await modelFromName("deepseek/deepseek-chat");',
    'openaiCompatible({ server: "deepseek", model: "deepseek-chat" });',
    "// A server of your own; every quirk can be set.",
    'openaiCompatible({ baseURL: "http://127.0.0.1:8000/v1", model: "qwen3", compat: { thinkTags: "starts_inside" } });',
    "```",
    "",
    "## Quirks",
    "",
    "Each can be set for one model with `compat`. What a row does not name has the default.",
    "",
    "| quirk | what it is |",
    "|---|---|",
    ...all.map(({ name, about }) => `| \`${name}\` | ${about.replaceAll("|", "\\|")} |`),
    "",
    "Of all servers alike: text alone goes as one text and never as a list; `tools: []` and `tool_calls: []` are never sent;",
    "arguments in the history are always a JSON object; blank answers are left out; unknown words that end an answer are",
    "decided from its content; calls are told apart whatever their numbers and ids; a token that ends a turn is no word of the",
    "answer before it, nor is what opens or closes calls beside them. A call that a server left at the end of a text does not run,",
    "and the model is asked again; it is an example where the words before it lead to it (a colon, a fence), or where somebody in",
    "the conversation wrote its marks. Kimi's calls go under ids that name the tool (`idForm`), wherever it is served.",
    "",
    "## Servers",
    "",
    `${servers.map(([, { title }]) => `[${title}](#${anchorOf(title)})`).join(", ")}.`,
    "",
    ...servers.flatMap(([name, server]) => section(name, server, order)),
  ]
    .map(unnumbered)
    .join("\n")
    .trimEnd()
    .concat("\n");
}

if (import.meta.main)
  writeOrCheck("compat", [{ path: "docs/guide/compatible-servers.md", text: drawPage() }]);
