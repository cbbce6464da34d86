// The room of settings that both protocols of the family share, each with its own members in the body.
//
// Models differ in what they refuse, and a refusal costs the whole request: a setting that a model is known to refuse is
// left out, with a warning. Provider options pass by whitelist.

import type { JsonObject, ModelRequest } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { sentOutput } from "../../schemas/codecs.ts";
import type { Warn } from "../warn.ts";
import { isBlank } from "./blank-text.ts";
import type { WireMessage } from "./pieces.ts";
import type { Traits } from "./traits.ts";

/** What is known of a request before its settings are read. */
export interface Asked {
  request: ModelRequest;
  target: Target;
  traits: Traits;
  /** The provider options. */
  told: JsonObject;
  /** Whether it has tools. */
  hasTools: boolean;
  /** Its last messages. */
  messages: readonly WireMessage[];
  warn: Warn;
}

/** The provider options of a request: those under the family's name, overridden by those under the provider's name. */
export function providerOptions(request: ModelRequest, target: Target, family: string): JsonObject {
  const all = request.settings.providerOptions;
  return { ...all?.[family], ...(target.origin.provider === family ? {} : all?.[target.origin.provider]) };
}

/**
 * The provider options that become members of the body.
 * @param members their order in the body
 * @param read the options that are read elsewhere and are not members
 */
export function passedOn(
  { told, warn }: Asked,
  family: string,
  members: readonly string[],
  read: readonly string[],
): JsonObject {
  for (const name of Object.keys(told))
    if (!members.includes(name) && !read.includes(name))
      warn("unsupported_option", `the provider option ${family}.${name} is not known and was left out`);
  const fields: JsonObject = {};
  for (const name of members) if (told[name] !== undefined) fields[name] = told[name];
  return fields;
}

/** Temperature, top-p and top-k as members of Anthropic's protocol, as far as the model takes them. */
export function sampling({ request, traits, warn }: Asked, thinks: boolean, fields: JsonObject): void {
  const { temperature, topP, topK } = request.settings;
  const asked = { temperature, top_p: topP, top_k: topK };
  for (const [name, value] of Object.entries(asked)) {
    if (value === undefined) continue;
    // While a model thinks, top-p must be close to 1 and the others may not be set.
    const refused =
      traits.sampling === "none"
        ? "this model takes no sampling settings"
        : thinks && !(name === "top_p" && value >= 0.95 && value <= 1)
          ? "it cannot be set while the model reasons"
          : name === "top_p" && traits.sampling === "one" && fields.temperature !== undefined
            ? "this model takes temperature or topP, not both"
            : undefined;
    if (refused !== undefined) warn("unsupported_setting", `${name} was left out: ${refused}`);
    else if (name === "temperature" && value > 1) {
      warn("adjusted_setting", `temperature ${value} is more than this protocol's 1: 1 was asked for`);
      fields.temperature = 1;
    } else fields[name] = value;
  }
}

/** The stop sequences, if any; blank ones are left out, because they are refused. */
export function stopTexts({ request, warn }: Asked): string[] | undefined {
  const asked = request.settings.stop ?? [];
  const texts = asked.filter((text) => !isBlank(text));
  if (texts.length < asked.length)
    warn("unsupported_setting", "a text to stop at that is blank was left out: this protocol refuses it");
  return texts.length === 0 ? undefined : texts;
}

const unknown = ["seed", "frequencyPenalty", "presencePenalty"] as const;

/** Warns about settings that the protocol does not have. */
export function leaveUnknown({ request, warn }: Asked, protocol: string): void {
  for (const name of unknown)
    if (request.settings[name] !== undefined)
      warn("unsupported_setting", `${name} is unknown to the ${protocol} protocol and was left out`);
}

/** The output schema as it is sent; undefined if there is none, or if the model does not support one. */
export function outputSchema({ request, target, traits, hasTools, warn }: Asked): JsonObject | undefined {
  if (request.outputSchema === undefined) return undefined;
  const can = target.facts.output ?? (traits.output ? "native" : "none");
  if (can === "native" || (can === "native_without_tools" && !hasTools))
    return sentOutput(request.outputSchema, "anthropic", { target, warn });
  warn(
    "unsupported_output_schema",
    `${target.origin.model} cannot be held to a JSON Schema${can === "none" ? "" : " while it has tools"}: the schema was left out, and a final tool or the prompt must ask for it`,
  );
  return undefined;
}

/** Whether a call may be forced; warns if not. */
export function mayForce({ traits, warn }: Asked, thinks: boolean): boolean {
  if (!thinks && traits.forcedTools) return true;
  warn(
    "unsupported_tool_choice",
    `a tool cannot be forced ${thinks ? "while the model reasons" : "on this model"}: the choice was left to the model`,
  );
  return false;
}
