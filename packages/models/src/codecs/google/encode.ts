// The room of Google's requests: settings, tools and the system prompt form the head of a body.
//
// What stays the same from step to step comes first and the turns come last, so that a request is a byte prefix of the
// next. What this model or server cannot do becomes a warning; it is never sent to try.

import type { JsonObject, ModelRequest, Settings, ToolDefinition } from "@rondo/core";
import type { Encoder, Target, WireRequest } from "../../codec.ts";
import { jsonOf, listIn, objectIn } from "../../json-values.ts";
import { sentOutput, sentTool } from "../../schemas/codecs.ts";
import { noted } from "../bridges.ts";
import type { Warn, Warning } from "../warn.ts";
import { continued } from "./continuation.ts";
import { GoogleTurns } from "./messages.ts";
import { wireName } from "./names.ts";
import {
  type GoogleTraits,
  geminiKeys,
  generationKeys,
  googleTraits,
  reservedKeys,
  vertexKeys,
} from "./target.ts";
import { googleThinking } from "./thinking.ts";

/** Google accepts five stop sequences. */
const maxStops = 5;

export class GoogleEncoder implements Encoder {
  readonly #target: Target;
  readonly #traits: GoogleTraits;
  readonly #turns: GoogleTurns;
  readonly #tools = new WeakMap<ToolDefinition, string>();

  constructor(target: Target) {
    this.#target = target;
    this.#traits = googleTraits(target);
    this.#turns = new GoogleTurns(target, this.#traits);
  }

  encode(request: ModelRequest): WireRequest {
    const warnings: Warning[] = [];
    const warn: Warn = (code, message) => {
      warnings.push({ code, message });
    };
    const { length, token } = this.#traits.resumesPauses
      ? continued(request.messages, this.#target)
      : { length: request.messages.length, token: undefined };
    const options: JsonObject = {
      ...optionsOf(this.#target, request.settings),
      ...(token === undefined ? {} : { continuationToken: token }),
    };
    const { turns, system } = this.#turns.encode(request.messages, length, warn);
    const cached = options.cachedContent !== undefined;
    const members: string[] = [];

    const prompts = [...(request.system ? [request.system] : []), ...system];
    const bySystem = this.#traits.systemRole === "system";
    if (prompts.length > 0 && !cached && bySystem)
      members.push(`"systemInstruction":${jsonOf({ parts: prompts.map((text) => ({ text })) })}`);
    if (!cached) members.push(...this.#toolMembers(request, options, warn));
    const generation = this.#generation(request, options, warn);
    if (Object.keys(generation).length > 0) members.push(`"generationConfig":${jsonOf(generation)}`);
    members.push(...this.#otherMembers(options, warn));
    if (cached && (prompts.length > 0 || request.tools.length > 0))
      warn(
        "unsupported_setting",
        "with cachedContent the system prompt and the tools are those of the cache; the request's own were not sent",
      );
    return {
      path: this.#traits.path,
      headers: { "content-type": "application/json", ...request.settings.headers },
      // The history is joined with +, which does not copy: a join would copy it once more than sending it does.
      body: `{${[...members, ""].join(",")}"contents":[${cached || bySystem ? "" : saidByUser(prompts, this.#traits.alternate)}${turns}]}`,
      warnings,
    };
  }

  #toolMembers(request: ModelRequest, options: JsonObject, warn: Warn): string[] {
    const tools: string[] = [];
    if (request.tools.length > 0)
      tools.push(
        `{"functionDeclarations":[${request.tools.map((tool) => this.#declaration(tool, warn)).join(",")}]}`,
      );
    const own = listIn(options.tools);
    const mixed = own.length > 0 && tools.length > 0;
    if (mixed && !this.#traits.mixedTools)
      warn(
        "unsupported_setting",
        `${this.#target.origin.model} takes either functions or Google's own tools in one request; Google's were left out`,
      );
    else tools.push(...own.map((tool) => jsonOf(tool)));
    const config = this.#toolConfig(
      request,
      options,
      mixed && this.#traits.mixedTools && !this.#traits.vertex,
      warn,
    );
    return [
      ...(tools.length === 0 ? [] : [`"tools":[${tools.join(",")}]`]),
      ...(config === undefined ? [] : [`"toolConfig":${jsonOf(config)}`]),
    ];
  }

  #declaration(tool: ToolDefinition, warn: Warn): string {
    const known = this.#tools.get(tool);
    if (known !== undefined) return known;
    const { tools: mode, field } = this.#traits.schemas;
    const { description, schema } = sentTool(tool, mode, { target: this.#target, warn });
    // The older form refuses an object without properties: a tool without arguments then gets no schema.
    const silent = field === "parameters" && schema.properties === undefined;
    const text = jsonOf({ name: wireName(tool.name), description, ...(silent ? {} : { [field]: schema }) });
    this.#tools.set(tool, text);
    return text;
  }

  #toolConfig(
    request: ModelRequest,
    options: JsonObject,
    mixed: boolean,
    warn: Warn,
  ): JsonObject | undefined {
    const given = objectIn(options.toolConfig) ?? {};
    const config: JsonObject = { ...given, ...(mixed ? { includeServerSideToolInvocations: true } : {}) };
    if (request.tools.length === 0) {
      delete config.functionCallingConfig;
      return Object.keys(config).length === 0 ? undefined : config;
    }
    if (request.settings.parallelToolCalls === false)
      warn(
        "unsupported_setting",
        "Google cannot be held to one call an answer; parallelToolCalls was left out",
      );
    const calling: JsonObject = {
      ...objectIn(given.functionCallingConfig),
      ...callingOf(request),
      ...(this.#traits.streamArguments && this.#target.stream !== false
        ? { streamFunctionCallArguments: true }
        : {}),
    };
    if (Object.keys(calling).length > 0) config.functionCallingConfig = calling;
    return Object.keys(config).length === 0 ? undefined : config;
  }

  #generation(request: ModelRequest, options: JsonObject, warn: Warn): JsonObject {
    const { settings } = request;
    const generation: JsonObject = {};
    const numbers = {
      temperature: settings.temperature,
      topP: settings.topP,
      topK: settings.topK,
      maxOutputTokens: settings.maxOutputTokens,
      seed: settings.seed,
      frequencyPenalty: settings.frequencyPenalty,
      presencePenalty: settings.presencePenalty,
    };
    for (const [name, value] of Object.entries(numbers)) {
      if (value === undefined) continue;
      if (this.#traits.penalties || !name.endsWith("Penalty")) generation[name] = value;
      else
        warn("unsupported_setting", `${this.#target.origin.model} takes no penalties; ${name} was left out`);
    }
    if (settings.stop !== undefined && settings.stop.length > 0) {
      generation.stopSequences = settings.stop.slice(0, maxStops);
      if (settings.stop.length > maxStops)
        warn("adjusted_setting", `Google takes ${maxStops} stop sequences; the rest was left out`);
    }
    const thinking = googleThinking(settings, this.#traits, this.#target.origin.model, warn);
    if (thinking !== undefined) generation.thinkingConfig = thinking;
    Object.assign(generation, this.#output(request, warn));
    for (const [name, value] of Object.entries(options))
      if (generationKeys.has(name) && this.#allowed(name, warn)) generation[name] = value;
    return { ...generation, ...objectIn(options.generationConfig) };
  }

  #output(request: ModelRequest, warn: Warn): JsonObject {
    if (request.outputSchema === undefined) return {};
    const { output } = this.#traits;
    const { model } = this.#target.origin;
    if (output === "none" || (output === "native_without_tools" && request.tools.length > 0)) {
      const why =
        output === "none" ? "cannot be held to a schema" : "cannot be held to a schema while it has tools";
      warn("unsupported_output_schema", `${model} ${why}; the output schema was not sent`);
      return {};
    }
    const mode = this.#traits.schemas.output;
    return {
      responseMimeType: "application/json",
      ...(mode === undefined
        ? { responseJsonSchema: request.outputSchema }
        : { responseSchema: sentOutput(request.outputSchema, mode, { target: this.#target, warn }) }),
    };
  }

  #otherMembers(options: JsonObject, warn: Warn): string[] {
    const members: string[] = [];
    for (const [name, value] of Object.entries(options)) {
      if (generationKeys.has(name) || handledKeys.has(name)) continue;
      if (reservedKeys.has(name))
        warn(
          "unsupported_option",
          `providerOptions.google.${name} is made from the conversation and was left out`,
        );
      else if (this.#allowed(name, warn)) members.push(`${jsonOf(name)}:${jsonOf(value)}`);
    }
    return members;
  }

  #allowed(name: string, warn: Warn): boolean {
    const { vertex } = this.#traits;
    if (!(vertex ? geminiKeys : vertexKeys).has(name)) return true;
    const [theirs, ours] = vertex ? ["the Gemini API", "Vertex AI"] : ["Vertex AI", "the Gemini API"];
    warn("unsupported_option", `${name} is an option of ${theirs}, not of ${ours}; it was left out`);
    return false;
  }
}

/** The system prompt as a user turn before all others, with the model's after it if roles must alternate. */
function saidByUser(prompts: readonly string[], alternate: boolean): string {
  const parts = prompts.map((text) => ({ text }));
  if (parts.length === 0) return "";
  const answer = alternate ? `${jsonOf({ role: "model", parts: [{ text: noted }] })},` : "";
  return `${jsonOf({ role: "user", parts })},${answer}`;
}

const handledKeys: ReadonlySet<string> = new Set(["generationConfig", "tools", "toolConfig"]);

/** The options for this provider: those under its own name win over those under `google`. */
function optionsOf(target: Target, settings: Settings): JsonObject {
  const all = settings.providerOptions ?? {};
  const { provider } = target.origin;
  return {
    ...(Object.hasOwn(all, "google") ? all.google : {}),
    ...(provider !== "google" && Object.hasOwn(all, provider) ? all[provider] : {}),
  };
}

/** Our own if the loop constrains the tool choice; if the model may choose, the options may say how (`VALIDATED`). */
function callingOf(request: ModelRequest): JsonObject {
  switch (request.toolChoice) {
    case "auto":
      return {};
    case "any":
      return { mode: "ANY" };
    case "none":
      return { mode: "NONE" };
    default:
      return { mode: "ANY", allowedFunctionNames: [wireName(request.toolChoice.tool)] };
  }
}
