// The room of differences: what this Gemini, at this server, can do.
//
// Decided by the target's facts and quirks, or else by the model's version. A model whose version is not in its name
// (`gemini-flash-latest`, a tuned model) counts as a current one.

import { type JsonObject, RondoError } from "@rondo/core";
import type { Target } from "../../codec.ts";
import type { SchemaMode } from "../../schemas/dialects.ts";
import type { SharedCompat } from "../shared-compat.ts";

/** Quirks of a server or model, in `Target.compat`. */
export interface GoogleCompat {
  /** Which paths and options are used: the Gemini API's (`gemini`, the default) or Vertex AI's (`vertex`). */
  variant?: "gemini" | "vertex";
  /** Vertex: the project. Without one the path is that of express mode. */
  project?: string;
  /** Vertex: the location. Default: `global`. */
  location?: string;
  /** Default: `v1beta`, on Vertex `v1`. */
  apiVersion?: string;
  /**
   * The form of tool and output schemas: JSON Schema (`json_schema`, the default), the older OpenAPI subset (`openapi`),
   * that subset plus ranges for structured output only (`structured`), or `strict`: JSON Schema with shapes and enums only, for
   * servers that fail on the rest.
   */
  schemas?: "json_schema" | "openapi" | "structured" | "strict";
  /** Rules that are left out of a schema are described in the tool's description. Default: false. */
  describeLostRules?: boolean;
  /** Whether a functionResponse itself may hold images and documents. Default: Gemini 3 and later. */
  mediaInResults?: boolean;
  /** Whether a `$ref` in a result is spelt `dollar_ref`, because the server reads it as the name of a file. Default: false. */
  spellRefs?: boolean;
  /** Whether calls without a thoughtSignature are refused, so that calls by other models need the sentinel. Default: Gemini 3 and later. */
  needsSignatures?: boolean;
  /** Whether the model's own signatures and reasoning are sent back to it. Default: true. Otherwise the sentinel replaces signatures. */
  ownSignatures?: boolean;
  /** How thinking is requested. Default: by `level` from Gemini 3 on, by `budget` in Gemini 2.5, before that not at all (`none`). */
  thinking?: "level" | "budget" | "none";
  /** Thinking levels that the model does not have, e.g. `["MINIMAL"]`. Default: by its name. */
  lacksLevels?: string[];
  /** Whether it has the level `XHIGH`. Default: by its name. */
  xhigh?: boolean;
  /** Whether a budget of 0 is refused. Default: for Pro models. */
  alwaysThinks?: boolean;
  /** Whether frequency and presence penalties are accepted. Default: true. */
  penalties?: boolean;
  /** The role of the system prompt: `user` for a model that takes none (Gemma before version 4). Default: `system`. */
  systemRole?: "system" | "user";
  /** Roles must alternate: a short turn of the model is put between two of the user. Default: false. */
  alternate?: boolean;
  /** Whether an answer that was too long for one request is continued with its token. Default: true. Otherwise it is sent back. */
  resumesPauses?: boolean;
  /** Call ids: sent back if they were received (`echo`, the default), `always` sent (Claude and gpt-oss behind Google), or `never` sent. */
  callIds?: "echo" | "always" | "never";
  /** Vertex: stream the arguments of calls. */
  streamArguments?: boolean;
  /** The key under which a result's text is sent: `output`, and `error` for a failed one (default), or `result` for both. */
  resultKey?: "output" | "result";
}

/** All quirks of a Gemini server. */
export interface GeminiCompat extends Required<GoogleCompat>, SharedCompat {}

export interface GoogleTraits {
  vertex: boolean;
  path: string;
  schemas: { field: "parameters" | "parametersJsonSchema"; tools: SchemaMode; output?: SchemaMode };
  mediaInResults: boolean;
  spellRefs: boolean;
  needsSignatures: boolean;
  ownSignatures: boolean;
  thinking: "level" | "budget" | "none";
  lacksLevels: readonly string[];
  xhigh: boolean;
  alwaysThinks: boolean;
  penalties: boolean;
  systemRole: "system" | "user";
  alternate: boolean;
  resumesPauses: boolean;
  callIds: "echo" | "always" | "never";
  streamArguments: boolean;
  resultKey: "output" | "result";
  output: "native" | "native_without_tools" | "none";
  /** Whether a request may have both Google's own tools (search, code execution) and functions. */
  mixedTools: boolean;
}

/** The version in a Gemini's name; Infinity for a Gemini without one; 0 for another vendor's model. */
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
  const hydrogen = /gemini-4-hydrogen\b/i.test(model);
  const fromLow = pro || hydrogen || (version >= 3.7 && /-flash\b(?!-lite)/i.test(model));
  return {
    vertex,
    path: pathOf(target, compat, vertex),
    schemas: schemaForms[compat.schemas ?? "json_schema"] ?? schemaForms.json_schema,
    mediaInResults: compat.mediaInResults ?? current,
    spellRefs: compat.spellRefs ?? false,
    needsSignatures: compat.needsSignatures ?? current,
    ownSignatures: compat.ownSignatures ?? true,
    thinking: compat.thinking ?? (current ? "level" : version >= 2.5 ? "budget" : "none"),
    lacksLevels: compat.lacksLevels ?? [
      ...(fromLow ? ["MINIMAL"] : []),
      ...(/gemini-3-pro/i.test(model) ? ["MEDIUM"] : []),
    ],
    xhigh: compat.xhigh ?? hydrogen,
    alwaysThinks: compat.alwaysThinks ?? pro,
    penalties: compat.penalties ?? true,
    systemRole: compat.systemRole ?? "system",
    alternate: compat.alternate ?? false,
    resumesPauses: compat.resumesPauses ?? true,
    callIds: compat.callIds ?? "echo",
    resultKey: compat.resultKey ?? "output",
    streamArguments: vertex && compat.streamArguments === true,
    output: googleOutput(target),
    mixedTools: current,
  };
}

/** Whether a model's output can be constrained to a schema: together with tools from Gemini 3 on, for another vendor's model not at all. */
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

/** `providerOptions.google`: members of Google's request, unchanged. Those of `generationConfig` may be at the top level. */
export interface GoogleOptions {
  safetySettings?: { category: string; threshold: string; method?: string }[];
  thinkingConfig?: { includeThoughts?: boolean; thinkingBudget?: number; thinkingLevel?: string };
  /** Google's own tools, e.g. `[{ googleSearch: {} }]`. */
  tools?: JsonObject[];
  /** E.g. `{ functionCallingConfig: { mode: "VALIDATED" } }`; used while the model may choose. */
  toolConfig?: JsonObject;
  /** A cache made beforehand, which then contains the system prompt and the tools. */
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

/** Options that belong in `generationConfig`. */
export const generationKeys: ReadonlySet<string> = new Set([
  "thinkingConfig",
  "responseModalities",
  "mediaResolution",
  "speechConfig",
  "imageConfig",
  "audioTranscriptionConfig",
  "translationConfig",
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
  "responseFormat",
]);

/** Options of Vertex AI that the Gemini API refuses. */
export const vertexKeys: ReadonlySet<string> = new Set([
  "modelArmorConfig",
  "audioTimestamp",
  "routingConfig",
  "modelSelectionConfig",
  "generationOutputConfig",
]);

/** Options of the Gemini API that Vertex AI refuses. */
export const geminiKeys: ReadonlySet<string> = new Set(["store", "enableEnhancedCivicAnswers"]);

/** Members that are made from the conversation and cannot be options. */
export const reservedKeys: ReadonlySet<string> = new Set(["contents", "systemInstruction", "model"]);
