// The room between codecs and schemas: a tool's schema or an output schema as a request contains it.
//
// What the provider cannot be sent becomes a warning. With the quirk `describeLostRules` it is also described in the
// description of the tool or schema.

import type { JsonObject, ToolDefinition } from "@rondo/core";
import type { Target } from "../codec.ts";
import type { Warn } from "../codecs/warn.ts";
import { type Adapted, adaptSchema, adaptToolSchema } from "./adapt.ts";
import type { SchemaMode } from "./dialects.ts";
import { withItems } from "./lists.ts";
import { byPlace } from "./names.ts";
import { declarable } from "./property-names.ts";
import { type Removed, renderRemoved } from "./removed.ts";
import { closed, isStrict } from "./strict.ts";

/** How a codec sends schemas: for which provider, and where losses are reported. */
export interface SchemaRoom {
  target: Target;
  readonly warn: Warn;
}

export interface SentTool {
  description: string;
  schema: JsonObject;
  /** Whether strict mode is requested from the provider. */
  strict: boolean;
}

/** The mode in which tools are sent with the quirk `plainSchemas`; undefined without it. */
export const plainMode = (compat: Target["compat"]): "plain" | "plain-typed" | undefined =>
  compat?.plainSchemas === "typed" ? "plain-typed" : compat?.plainSchemas === true ? "plain" : undefined;

/** A tool, adapted to a mode. */
export function sentTool(tool: ToolDefinition, mode: SchemaMode, room: SchemaRoom): SentTool {
  return sent(tool, adaptToolSchema(tool.inputSchema, mode), room, false);
}

/** A tool as Anthropic accepts it, strict or not, wherever its models are served; with the quirk `plainSchemas` only shapes and enums. */
export function anthropicTool(tool: ToolDefinition, strict: boolean, room: SchemaRoom): SentTool {
  const mode = strict ? "anthropic" : (plainMode(room.target.compat) ?? "tool");
  const whole = sentTool(tool, mode, room);
  const members = declarable(whole.schema);
  if (members === undefined) return whole;
  const { schema, lost, told } = members;
  room.warn(
    "schema_members_undeclared",
    `members of tool ${tool.name} have names that ${room.target.origin.provider} does not take and are described in its description: ${lost.map((name) => JSON.stringify(name)).join(", ")}`,
  );
  const words = whole.description.trim() === "" ? [] : [whole.description];
  return { ...whole, schema, description: [...words, told].join("\n") };
}

/**
 * A tool as OpenAI accepts it: strict if its schema allows that unchanged or, with the quirk `adaptStrict`, if only rules
 * on values are lost. Never adapted so far that the model could not write what the tool would accept.
 */
export function strictTool(tool: ToolDefinition, mode: SchemaMode, room: SchemaRoom): SentTool {
  const plain = adaptToolSchema(tool.inputSchema, mode);
  if (isStrict(plain.schema)) return sent(tool, plain, room, true);
  const strict = bentToStrict(() => adaptToolSchema(tool.inputSchema, "openai-strict"), room.target);
  return sent(tool, strict ?? plain, room, strict !== undefined);
}

/** An output schema, adapted to a mode. */
export function sentOutput(schema: JsonObject, mode: SchemaMode, room: SchemaRoom): JsonObject {
  return output(schema, adapted(schema, mode), room);
}

/** An output schema as OpenAI accepts it, strict as with tools. */
export function strictOutput(schema: JsonObject, room: SchemaRoom): { schema: JsonObject; strict: boolean } {
  const plain = adapted(schema, "openai");
  if (isStrict(plain.schema)) return { schema: output(schema, plain, room), strict: true };
  const strict = bentToStrict(() => adapted(schema, "openai-strict"), room.target);
  const sent = output(schema, strict ?? plain, room);
  return { schema: strict === undefined ? withItems(sent) : sent, strict: strict !== undefined };
}

/**
 * An output schema as the AI SDK's providers accept it: they request strict mode unless told otherwise, so this says when
 * it would be refused.
 */
export function aiSdkOutput(schema: JsonObject): { schema: JsonObject; strict: boolean } {
  const placed = byPlace(schema);
  const whole = closed(placed);
  return isStrict(whole) ? { schema: whole, strict: true } : { schema: withItems(placed), strict: false };
}

function bentToStrict(adapt: () => Adapted, target: Target): Adapted | undefined {
  if (target.compat?.adaptStrict !== true) return undefined;
  const bent = adapt();
  return bent.narrowed.length === 0 && isStrict(bent.schema) ? bent : undefined;
}

function sent(
  tool: ToolDefinition,
  { schema, removed }: Adapted,
  room: SchemaRoom,
  strict: boolean,
): SentTool {
  warnOf(`the schema of tool ${tool.name}`, removed, room);
  return { description: described(tool.description, removed, room), schema, strict };
}

function output(schema: JsonObject, { schema: own, removed }: Adapted, room: SchemaRoom): JsonObject {
  warnOf("the output schema", removed, room);
  const said = typeof schema.description === "string" ? schema.description : "";
  const description = described(said, removed, room);
  return description === said ? own : { ...own, description };
}

/** Output schemas stay the same object from step to step, and are adapted once. */
const known = new WeakMap<JsonObject, Map<SchemaMode, Adapted>>();

function adapted(schema: JsonObject, mode: SchemaMode): Adapted {
  const modes = known.get(schema) ?? new Map<SchemaMode, Adapted>();
  known.set(schema, modes);
  const found = modes.get(mode) ?? adaptSchema(schema, mode);
  modes.set(mode, found);
  return found;
}

function described(description: string, removed: readonly Removed[], { target }: SchemaRoom): string {
  if (removed.length === 0 || target.compat?.describeLostRules !== true) return description;
  return [...(description.trim() === "" ? [] : [description]), ...renderRemoved(removed)].join("\n");
}

function warnOf(what: string, removed: readonly Removed[], { target, warn }: SchemaRoom): void {
  if (removed.length === 0) return;
  const rules = removed
    .slice(0, 12)
    .map(({ type, fieldPath }) => (fieldPath === "" ? type : `${fieldPath}: ${type}`));
  const more = removed.length > rules.length ? `, and ${removed.length - rules.length} more` : "";
  warn(
    "schema_rules_removed",
    `${what} has rules that ${target.origin.provider} does not take and was sent without ${rules.join(", ")}${more}; what comes back is checked against all of them`,
  );
}
