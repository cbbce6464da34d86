// The room of tool parameters by provider and model: whose schemas need cleaning, judged by their names.
//
// Gateways sell other vendors' models, and a vendor refuses the same schemas behind any gateway.

import type { Json, JsonObject } from "@rondo/core";
import { isObject, listIn } from "../json-values.ts";
import { adaptSchema } from "./adapt.ts";
import { objectRoot } from "./object-root.ts";

/** The mode in which a provider's model takes tools; undefined: unchanged. */
export function toolModeOf(provider: string, model = ""): "google-strict" | "xai" | undefined {
  const house = provider.toLowerCase();
  const id = model.toLowerCase();
  if (/google|gemini/.test(house) && !house.includes("anthropic")) return "google-strict";
  const isXai =
    house === "xai" ||
    house === "x-ai" ||
    (house === "openrouter" && id.startsWith("x-ai/")) ||
    (house === "venice" && id.includes("grok-"));
  return isXai ? "xai" : undefined;
}

/** A tool with a schema, whatever else it has. */
export interface ToolLike {
  name: string;
  inputSchema: Json;
}

/**
 * A tool whose schema its provider accepts: an object at its root, and cleaned if the provider needs that. The same tool if
 * nothing had to change.
 */
export function normalizeToolParameters<T extends ToolLike>(
  tool: T,
  options: { provider?: string; model?: string } = {},
): T {
  const given = tool.inputSchema;
  if (!isObject(given)) return tool;
  const isWhole = given.type !== undefined && isObject(given.properties);
  const isUnion = Array.isArray(given.anyOf) || (Array.isArray(given.oneOf) && !isWhole);
  const isBare = given.type === undefined && (isObject(given.properties) || Array.isArray(given.required));
  const top = isUnion ? opened(objectRoot(given).schema) : isBare ? { ...given, type: "object" } : given;
  const mode = toolModeOf(options.provider ?? "", options.model);
  const inputSchema = mode === undefined ? top : adaptSchema(top, mode).schema;
  return inputSchema === given ? tool : { ...tool, inputSchema };
}

/** An object made of alternatives is left open, unless it said itself whether it is. */
function opened(schema: JsonObject): JsonObject {
  return schema.additionalProperties === undefined ? { ...schema, additionalProperties: true } : schema;
}

export interface Sanitized<T> {
  tools: readonly T[];
  /** The paths of keywords that Google refuses, at most 12 per tool: `search.parameters.properties.since.format`. */
  violations: string[];
}

/** Providers that use Google's strict schemas, and the wire protocol that implies it too. */
const googleProviders: ReadonlySet<string> = new Set(["google-gemini-cli", "google-antigravity"]);

/** Tools cleaned for Google's strict servers; for any other provider the same array. */
export function sanitizeToolsForGoogle<T extends ToolLike>(
  tools: readonly T[],
  target: { provider: string; api?: string },
): Sanitized<T> {
  if (!googleProviders.has(target.provider) && target.api !== "google-generative-ai")
    return { tools, violations: [] };
  const violations: string[] = [];
  const cleaned = tools.map((tool) => {
    if (!isObject(tool.inputSchema)) return tool;
    violations.push(...violationsIn(tool.inputSchema, `${tool.name}.parameters`).slice(0, 12));
    return { ...tool, inputSchema: adaptSchema(tool.inputSchema, "google-strict").schema };
  });
  return { tools: cleaned, violations };
}

const refused: ReadonlySet<string> = new Set(
  "patternProperties additionalProperties $schema $id $ref $defs definitions examples minLength maxLength minimum maximum multipleOf pattern format minItems maxItems uniqueItems minProperties maxProperties".split(
    " ",
  ),
);

function violationsIn(schema: Json, path: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap((one, at) => violationsIn(one, `${path}[${at}]`));
  if (!isObject(schema)) return [];
  return Object.entries(schema).flatMap(([word, value]) => {
    const at = `${path}.${word}`;
    if (word === "properties" && isObject(value))
      return Object.entries(value).flatMap(([name, one]) => violationsIn(one, `${at}.${name}`));
    if (refused.has(word)) return [at];
    const holds = isObject(value) || (word !== "enum" && word !== "required" && listIn(value).some(isObject));
    return holds && word !== "default" && word !== "const" ? violationsIn(value, at) : [];
  });
}
