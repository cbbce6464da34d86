// npm run -s compat -- [--check]
//
// Generates docs/guide/compatible-servers.md from the table of compatible servers: the columns are the comments of their
// type. Those of the other protocols' types are tables of their own. `--check` writes nothing, and exits with 1 when the page is out of date.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CompatibleServer, compatibleServers } from "@rondo/models";
import { writeOrCheck } from "./docs/drawn.ts";
import { anchorOf } from "./docs/pages.ts";
import { root } from "./packages.ts";

/** A type of quirks: the file below `codecs/`, and its name. Only some of its quirks, if they are named. */
type Source = readonly [file: string, type: string, only?: readonly string[]];

const chat: Source = ["openai-chat/compat.ts", "OpenaiChatCompat"];
const shared: Source = ["shared-compat.ts", "SharedCompat"];
const open: Source = ["shared-compat.ts", "OpenCompat"];
const messages = ["anthropic/compat.ts", "AnthropicOwnCompat"] as const;
const traits: Source = ["anthropic/traits.ts", "Traits"];

/** The other protocols: a title, what is said of it, and its types, without those that all have. */
const others: readonly (readonly [title: string, about: string, ...Source[]])[] = [
  [
    "Responses",
    "`openai`, `azure`.",
    ["openai-responses/settings.ts", "OpenaiResponsesCompat"],
    [...messages, ["lacksLevels"]],
  ],
  ["Anthropic's Messages", "`anthropic`, and Claude with `vertex`.", traits, messages],
  [
    "Amazon Bedrock's Converse",
    "`bedrock`.",
    traits,
    ["bedrock/compat.ts", "BedrockOwnCompat"],
    [...messages, ["unsignedThinking", "unbindsThinking", "lacksLevels", "resultsAlone"]],
  ],
  [
    "Google's Gemini",
    "`google`, `classicGemini`, and Gemini with `vertex`.",
    ["google/target.ts", "GoogleCompat"],
  ],
  ["Ollama's own protocol", "`ollama`.", ["ollama/compat.ts", "OllamaOwnCompat"]],
];

interface Column {
  name: string;
  about: string;
}

/** The columns, in the order of their type, with their comments as one line each. */
function columns([file, type, only]: Source): Column[] {
  const text = readFileSync(join(root, "packages/models/src/codecs", file), "utf8");
  const body = text.slice(text.indexOf(`export interface ${type} `));
  const found: Column[] = [];
  for (const match of body.slice(0, body.indexOf("\n}\n")).matchAll(/\/\*\*([\s\S]*?)\*\/\s*(\w+)\??:/g))
    found.push({
      name: match[2] ?? "",
      about: (match[1] ?? "").replace(/\s*\n\s*\*?\s*/g, " ").trim(),
    });
  return only === undefined ? found : found.filter(({ name }) => only.includes(name));
}

const table = (...sources: readonly Source[]): string[] => tableOf(sources.flatMap(columns));

const tableOf = (quirks: readonly Column[]): string[] => [
  "| quirk | what it is |",
  "|---|---|",
  ...quirks.map(({ name, about }) => `| \`${name}\` | ${about.replaceAll("|", "\\|")} |`),
  "",
];

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
  const order = columns(chat).map(({ name }) => name);
  const known = new Set([shared, open].flatMap(columns).map(({ name }) => name));
  const servers = Object.entries(compatibleServers);
  return [
    "# Servers that speak OpenAI's Chat Completions",
    "",
    "<!-- drawn by `npm run -s compat` from packages/models/src/compat/ -->",
    "",
    "Many servers speak OpenAI's Chat Completions protocol, and each of them deviates from OpenAI in some way. Rondo knows the deviations of the servers",
    "below; it recognises them by name or by host. To an unknown server it sends only what all of them accept.",
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
    "You can set each of these for a model with `compat`. A name that is not among them, or a value that its quirk does not have, is refused; `null` is the default, whatever is known of the server. A server below has the default of every quirk that its section does not mention.",
    "",
    ...table(chat),
    "For every server:",
    "",
    "- Requests: content that is only text is sent as a string, never as a list; `tools: []` and `tool_calls: []` are never sent; arguments in the",
    "  history are always a JSON object; blank answers are left out. Kimi's calls are sent under ids that contain the tool's name (`idForm`), whoever serves it.",
    "- Answers: an unknown `finish_reason` is resolved from the answer's content; calls are told apart whatever their indices and ids; end-of-turn",
    "  tokens, and tokens that open or close calls, are removed from the text, and from behind a call's arguments. A text that a server tells again (each delta",
    "  all of it so far, or all of it once more at the end) is kept once. Thinking that MiniMax's models leave in the text is read there, whoever serves them.",
    "- A call that a server left as text at the end of an answer does not run, and the model is asked again. It counts as an example instead, not as a call, if the text",
    "  leads up to it (a colon, a code fence), or if somebody in the conversation wrote the same marks. A call that came as a call, and in the text as well, runs once, and the text goes.",
    "",
    "## Servers",
    "",
    `${servers.map(([, { title }]) => `[${title}](#${anchorOf(title)})`).join(", ")}.`,
    "",
    ...servers.flatMap(([name, server]) => section(name, server, order)),
    "## Quirks of the other protocols",
    "",
    "Servers and models differ in the other protocols too. Their quirks are set with `compat` in the same way, and checked in the same way. Each protocol has these:",
    "",
    ...table(shared),
    "All but Google's also have these:",
    "",
    ...table(open),
    ...others.flatMap(([title, about, ...sources]) => [
      `### ${title}`,
      "",
      about,
      "",
      ...tableOf(sources.flatMap(columns).filter(({ name }) => !known.has(name))),
    ]),
  ]
    .map(unnumbered)
    .join("\n")
    .trimEnd()
    .concat("\n");
}

if (import.meta.main)
  writeOrCheck("compat", [{ path: "docs/guide/compatible-servers.md", text: drawPage() }]);
