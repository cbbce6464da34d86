// The room of the tools in a request to Anthropic: ours, those that are only in the history, and the provider's own.

import type { Json, JsonObject, ModelRequest, ToolDefinition } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { jsonOf, objectIn } from "../../json-values.ts";
import { anthropicTool } from "../../schemas/codecs.ts";
import type { Warn } from "../warn.ts";
import { isBlank } from "./blank-text.ts";
import { type Block, longestName } from "./blocks.ts";
import type { Carried } from "./carried-over.ts";
import { nameToWire } from "./names.ts";

/** Extra members that the caller may set on one of our tools. */
const toolMembers = [
  "strict",
  "defer_loading",
  "eager_input_streaming",
  "allowed_callers",
  "input_examples",
] as const;

/** The tools of requests. Each of ours is encoded once; the whole list is reused as long as it and its options stay the same. */
export class Tools {
  readonly #target: Target;
  readonly #one = new WeakMap<ToolDefinition, { options: string; json: string }>();
  #last: { tools: ModelRequest["tools"]; said: unknown; blocks: readonly Block[] } | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  /** @param options extra members of our tools, by tool name */
  blocks(request: ModelRequest, options: JsonObject, { retired, serverTools }: Carried, warn: Warn): Block[] {
    return [
      ...this.#ours(request, options, warn),
      ...retired.map((name) => retiredTool(name)),
      ...serverTools.map((tool) => serverTool(tool)),
    ];
  }

  #ours({ tools, settings }: ModelRequest, options: JsonObject, warn: Warn): readonly Block[] {
    const said = settings.providerOptions;
    if (this.#last?.tools !== tools || this.#last.said !== said) {
      const each = tools.map((tool) => this.#json(tool, objectIn(options[tool.name]), warn));
      this.#last = { tools, said, blocks: joinedTools(each) };
    }
    return this.#last.blocks;
  }

  #json(tool: ToolDefinition, own: JsonObject | undefined, warn: Warn): string {
    const options = own === undefined ? "" : jsonOf(own);
    const found = this.#one.get(tool);
    if (found?.options === options) return found.json;
    const room = { target: this.#target, warn };
    const { description, schema } = anthropicTool(tool, own?.strict === true, room);
    const json = jsonOf({
      name: nameToWire(tool.name, longestName),
      ...(isBlank(description) ? {} : { description }),
      input_schema: schema,
      ...Object.fromEntries(
        toolMembers.filter((name) => own?.[name] !== undefined).map((name) => [name, own?.[name]]),
      ),
    });
    this.#one.set(tool, { options, json });
    return json;
  }
}

/** Tools as at most two blocks: all but the last one, and the last, since only that one can be marked. */
export function joinedTools(each: readonly string[]): Block[] {
  const blocks = each.slice(-1).map((json): Block => ({ json }));
  return each.length < 2 ? blocks : [{ json: each.slice(0, -1).join(",") }, ...blocks];
}

/** @param name the wire name */
function retiredTool(name: string): Block {
  return {
    json: jsonOf({
      name,
      description: "No longer available.",
      input_schema: { type: "object", properties: {} },
    }),
  };
}

/** A tool that the provider runs, as the caller wrote it. */
function serverTool(tool: Json): Block {
  const { cache_control: mark, ...rest } = objectIn(tool) ?? {};
  return { json: jsonOf(rest), ...(objectIn(mark) === undefined ? {} : { mark: jsonOf(mark) }) };
}
