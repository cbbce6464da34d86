// The room of differences: what this Gemini, at this server, can do.
//
// Told by the target's facts and quirks where they speak, by the model's version where they are silent. A model whose
// version cannot be read from its name (`gemini-flash-latest`, a tuned model) is taken for a current one.

import { type JsonObject, RondoError } from "@rondo/core";
import type { Target } from "../../codec.ts";
import type { SchemaMode } from "../../schemas/dialects.ts";

/** Quirks of a server or model, in `Target.compat`. */
export interface GoogleCompat {
  /** Whose paths and options: the Gemini API's (default) or Vertex AI's. */
  variant?: "gemini" | "vertex";
  /** Vertex: project and location. Without a project the path is that of express mode. Location default: `global`. */
  project?: string;
  location?: string;
  /** Default: `v1beta`, on Vertex `v1`. */
  apiVersion?: string;
  /**
   * Tool and output schemas as JSON Schema (default), as the older OpenAPI subset, as that subset with the ranges of
   * structured output alone, or `strict`: JSON Schema of shapes and enums alone, for servers that fail on the rest.
   */
  schemas?: "json_schema" | "openapi" | "structured" | "strict";
  /** Rules that a schema loses on the way go in words into the tool's description. Default: false. */
  describeLostRules?: boolean;
  /** Whether a functionResponse may hold images and documents itself. Default: Gemini 3 and later. */
  mediaInResults?: boolean;
  /** Whether calls without a thoughtSignature are refused, so that foreign ones need the sentinel. Default: Gemini 3 and later. */
  needsSignatures?: boolean;
  /** Whether the model's own signatures, and what it thought, go back to it. Default: true. Without them the sentinel stands in. */
  ownSignatures?: boolean;
  /** How thinking is asked for. Default: by level from Gemini 3 on, by budget in Gemini 2.5, before that not at all. */
  thinking?: "level" | "budget" | "none";
  /** Levels of thinking that the model does not have, e.g. `["MINIMAL"]`. Default: by its name. */
  lacksLevels?: readonly string[];
  /** Whether a budget of 0 is refused. Default: of Pro models. */
  alwaysThinks?: boolean;
  /** Whether penalties for what was said are taken. Default: true. */
  penalties?: boolean;
  /** Who says the system prompt: `user` where a model takes none (Gemma before its fourth). Default: `system`. */
  systemRole?: "system" | "user";
  /** Call ids: echoed where they were received (default), always sent (Claude and gpt-oss behind Google), never sent. */
  callIds?: "echo" | "always" | "never";
  /** Vertex: stream the arguments of calls. */
  streamArguments?: boolean;
  /** Under which key a result's text is sent: `output`, and `error` for a failed one (default), or `result` for both. */
  resultKey?: "output" | "result";
}

export interface GoogleTraits {
  vertex: boolean;
  path: string;
  schemas: { field: "parameters" | "parametersJsonSchema"; tools: SchemaMode; output?: SchemaMode };
  mediaInResults: boolean;
  needsSignatures: boolean;
  ownSignatures: boolean;
  thinking: "level" | "budget" | "none";
  lacksLevels: readonly string[];
  alwaysThinks: boolean;
  penalties: boolean;
  systemRole: "system" | "user";
  callIds: "echo" | "always" | "never";
  streamArguments: boolean;
  resultKey: "output" | "result";
  output: "native" | "native_without_tools" | "none";
  /** Google's own tools (search, code execution) beside functions, in one request. */
  mixedTools: boolean;
}

/** The version of a Gemini in its name; Infinity for a Gemini whose name tells none; 0 for another house's model. */
function geminiVersion(model: string): number {
  const id = model.toLowerCase();
  const found = /gemini-(\d+(?:\.\d+)?)/.exec(id);
  if (found !== null) return Number(found[1]);
  return /gemini|^(?:tunedmodels|projects)\//.test(id) ? Number.POSITIVE_INFINITY : 0;
}

const schemaForms: { readonly [form in NonNullable<GoogleCompat["schemas"]>]: GoogleTraits["schemas"] } = {
  json_schema: { field: "parametersJsonSchema", tools: "tool" },
  openapi: { field: "parameters", tools: "google-openapi", output: "google-openapi" },
  structured: { field: "parameters", tools: "google-structured", output: "google-structured" },
  strict: { field: "parametersJsonSchema", tools: "google-strict", output: "google-structured" },
};

export function googleTraits(target: Target): GoogleTraits {
  const compat = (target.compat ?? {}) as GoogleCompat;
  const model = target.origin.model;
  const version = geminiVersion(model);
  const current = version >= 3;
  const vertex = compat.variant === "vertex";
  // Pro models cannot stop thinking.
  const pro = /-pro\b/i.test(model);
  return {
    vertex,
    path: pathOf(target, compat, vertex),
    schemas: schemaForms[compat.schemas ?? "json_schema"] ?? schemaForms.json_schema,
    mediaInResults: compat.mediaInResults ?? current,
    needsSignatures: compat.needsSignatures ?? current,
    ownSignatures: compat.ownSignatures ?? true,
    thinking: compat.thinking ?? (current ? "level" : version >= 2.5 ? "budget" : "none"),
    lacksLevels: compat.lacksLevels ?? [
      ...(pro ? ["MINIMAL"] : []),
      ...(/gemini-3-pro/i.test(model) ? ["MEDIUM"] : []),
    ],
    alwaysThinks: compat.alwaysThinks ?? pro,
    penalties: compat.penalties ?? true,
    systemRole: compat.systemRole ?? "system",
    callIds: compat.callIds ?? "echo",
    resultKey: compat.resultKey ?? "output",
    streamArguments: vertex && compat.streamArguments === true,
    output: googleOutput(target),
    mixedTools: current,
  };
}

/** Whether a model behind this protocol can be held to a schema: beside tools from Gemini 3 on, another house's not at all. */
export function googleOutput({ facts, origin }: Target): GoogleTraits["output"] {
  const version = geminiVersion(origin.model);
  return facts.output ?? (version >= 3 ? "native" : version > 0 ? "native_without_tools" : "none");
}

function pathOf(target: Target, compat: GoogleCompat, vertex: boolean): string {
  const version = compat.apiVersion ?? (vertex ? "v1" : "v1beta");
  const { model } = target.origin;
  const name = vertex
    ? model.includes("/")
      ? model
      : compat.project === undefined
        ? `publishers/google/models/${model}`
        : `projects/${compat.project}/locations/${compat.location ?? "global"}/publishers/google/models/${model}`
    : model.includes("/")
      ? model
      : `models/${model}`;
  const segments = `${version}/${name}`.split("/");
  if (segments.some((segment) => segment === "" || segment === "." || segment === ".."))
    throw new RondoError(
      "invalid_request",
      `${JSON.stringify(model)} is no name of a Google model: give one like "gemini-3-pro" or "tunedModels/mine"`,
    );
  const verb = target.stream === false ? "generateContent" : "streamGenerateContent?alt=sse";
  return `/${segments.map(encodeURIComponent).join("/")}:${verb}`;
}

/** `providerOptions.google`: members of Google's request, as they are. Those of `generationConfig` may stand at the top. */
export interface GoogleOptions {
  safetySettings?: { category: string; threshold: string; method?: string }[];
  thinkingConfig?: { includeThoughts?: boolean; thinkingBudget?: number; thinkingLevel?: string };
  /** Google's own tools, e.g. `[{ googleSearch: {} }]`. */
  tools?: JsonObject[];
  /** E.g. `{ functionCallingConfig: { mode: "VALIDATED" } }`, for as long as the model may choose. */
  toolConfig?: JsonObject;
  /** A cache made beforehand, which then holds the system prompt and the tools. */
  cachedContent?: string;
  generationConfig?: JsonObject;
  responseModalities?: string[];
  mediaResolution?: string;
  speechConfig?: JsonObject;
  imageConfig?: JsonObject;
  candidateCount?: number;
  responseLogprobs?: boolean;
  logprobs?: number;
  audioTimestamp?: boolean;
  serviceTier?: string;
  store?: boolean;
  /** Vertex only. */
  labels?: { [label: string]: string };
  modelArmorConfig?: JsonObject;
}

/** Options that belong into `generationConfig`. */
export const generationKeys: ReadonlySet<string> = new Set([
  "thinkingConfig",
  "responseModalities",
  "mediaResolution",
  "speechConfig",
  "imageConfig",
  "candidateCount",
  "responseLogprobs",
  "logprobs",
  "audioTimestamp",
  "enableAffectiveDialog",
  "enableEnhancedCivicAnswers",
  "routingConfig",
  "modelSelectionConfig",
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
]);

/** Options the Gemini API refuses, because they are Vertex AI's. */
export const vertexKeys: ReadonlySet<string> = new Set([
  "modelArmorConfig",
  "audioTimestamp",
  "routingConfig",
  "modelSelectionConfig",
  "generationOutputConfig",
]);

/** Options Vertex AI refuses, because they are the Gemini API's. */
export const geminiKeys: ReadonlySet<string> = new Set(["store", "enableEnhancedCivicAnswers"]);

/** Members that are made from the conversation, and are no options. */
export const reservedKeys: ReadonlySet<string> = new Set(["contents", "systemInstruction", "model"]);
