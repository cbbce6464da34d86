// The room of the settings that both OpenAI protocols share: options by whitelist, effort, output schema.
//
// A body is written member by member, never spread from what the caller gave: an unknown field makes many servers refuse
// the whole request (F130). What cannot be sent becomes a warning.

import type { Json, JsonObject, ModelFacts, ModelRequest, Settings } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { jsonOf, objectIn } from "../../json-values.ts";
import type { SchemaRoom } from "../../schemas/codecs.ts";
import { type Level, learnedLacks, levelFor } from "../levels.ts";
import type { Warning, WarningCode } from "../warn.ts";

/** The members of a body under construction. Undefined ones are left out. */
export type Body = { [member: string]: Json | undefined };

export type Effort = "none" | Level;

/** The requested level of effort, or the nearest that the model has; a budget in tokens becomes a level. Either with a warning. */
export function effortOf(
  asked: Settings["reasoning"],
  target: Target,
  warnings: Warning[],
): Effort | undefined {
  if (asked === undefined) return undefined;
  if (asked === "off")
    return learnedLacks(target).includes("none") ? leastOf("low", target, warnings) : "none";
  if (typeof asked === "string")
    return levelFor(asked, learnedLacks(target), (code, message) => void warnings.push({ code, message }));
  const { budgetTokens } = asked;
  const level =
    budgetTokens <= 0 ? "none" : budgetTokens <= 2048 ? "low" : budgetTokens <= 12_288 ? "medium" : "high";
  warnings.push({
    code: "adjusted_setting",
    message: `a reasoning budget of ${budgetTokens} tokens cannot be asked for here; effort "${level}" is asked for in its place`,
  });
  return level;
}

/** The least effort of a model that always reasons, in place of none. With a warning. */
export function leastOf<E extends string>(effort: E, target: Target, warnings: Warning[]): E {
  warnings.push({
    code: "adjusted_setting",
    message: `${target.origin.model} always reasons: effort "${effort}" was asked for in place of none`,
  });
  return effort;
}

/** Warns that a setting is left out. @param code if a setting of this kind has one of its own */
export function unsupported(
  setting: string,
  target: Target,
  warnings: Warning[],
  code: WarningCode = "unsupported_setting",
): void {
  warnings.push({
    code,
    message: `${target.origin.provider} takes no ${setting} for ${target.origin.model}; it is left out`,
  });
}

/** Where schemas report what they lost. */
export function schemaRoom(target: Target, warnings: Warning[]): SchemaRoom {
  return { target, warn: (code, message) => void warnings.push({ code, message }) };
}

/**
 * Copies the caller's own fields for this provider into the body, as far as they are known to be accepted.
 * @param known those of the protocol
 * @param further those of this server
 */
export function providerOptions(
  request: ModelRequest,
  target: Target,
  known: readonly string[],
  further: readonly string[],
  warnings: Warning[],
): JsonObject {
  const given = request.settings.providerOptions?.[target.origin.provider] ?? {};
  const taken: JsonObject = {};
  for (const [name, value] of Object.entries(given)) {
    if (known.includes(name) || further.includes(name)) taken[name] = value;
    else
      warnings.push({
        code: "unsupported_option",
        message: `providerOptions.${target.origin.provider}.${name} is no option of ${target.origin.api}; it is left out`,
      });
  }
  return taken;
}

/**
 * The output schema, if the model supports one in this request.
 * @param can what is known of the server, which wins over what is known of the model
 */
export function heldSchema(
  { outputSchema, tools }: ModelRequest,
  target: Target,
  can: ModelFacts["output"],
  warnings: Warning[],
): JsonObject | undefined {
  if (outputSchema === undefined) return undefined;
  if (can === "none" || target.facts.output === "none") {
    unsupported("output schema", target, warnings, "unsupported_output_schema");
    return undefined;
  }
  const isAlone = [can, target.facts.output].includes("native_without_tools");
  if (!isAlone || tools.length === 0) return outputSchema;
  unsupported("output schema beside tools", target, warnings, "unsupported_output_schema");
  return undefined;
}

/** Removes from a body what the server refuses: fields, and members of one (`reasoning.summary`). */
export function leaveOut(omit: readonly string[], body: Body, target: Target, warnings: Warning[]): void {
  for (const path of omit) {
    const [field = "", member] = path.split(".");
    const { [member ?? ""]: inner, ...rest } = objectIn(body[field]) ?? {};
    if ((member === undefined ? body[field] : inner) === undefined) continue;
    unsupported(path, target, warnings);
    body[field] = member === undefined || Object.keys(rest).length === 0 ? undefined : rest;
  }
}

/** The body's members in order, without the closing brace: the messages follow, so that a longer history only appends. */
export function bodyHead(body: Body): string {
  // JSON.stringify leaves out what is undefined.
  return jsonOf(body).slice(0, -1);
}

/** The headers of a request with a JSON body. The caller's own come last. */
export function jsonHeaders(request: ModelRequest, target: Target): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: target.stream === false ? "application/json" : "text/event-stream",
    ...request.settings.headers,
  };
}
