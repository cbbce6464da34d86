// The room of the tools in a request to Anthropic: ours, those that are only in the history, and the provider's own.
//
// A deferred tool is declared like any other, but the model is told of it only where a result refers to it. The provider
// prepares a request differently once it has a deferred tool, so one is declared from the first request on.

import type { Json, JsonObject, ModelRequest, ToolDefinition } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { jsonOf, objectIn } from "../../json-values.ts";
import { anthropicTool } from "../../schemas/codecs.ts";
import { tellsInPlace } from "../in-place.ts";
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

/** The tools of a request: those of which the last may be marked, and behind them the deferred ones, which may not. */
interface ToolBlocks {
  front: Block[];
  deferred: readonly Block[];
}

/** Our tools of a request, and what they were made from. */
interface Ours {
  tools: ModelRequest["tools"];
  said: unknown;
  inPlace: ReadonlySet<string>;
  /** How many tools had been offered in place. */
  size: number;
  front: readonly Block[];
  deferred: readonly Block[];
}

/** The tools of requests. Each of ours is encoded once; the whole list is reused as long as it and its options stay the same. */
export class Tools {
  readonly #target: Target;
  readonly #one = new WeakMap<ToolDefinition, { options: string; json: string }>();
  #last: Ours | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  /** @param options extra members of our tools, by tool name */
  blocks(request: ModelRequest, options: JsonObject, carried: Carried, warn: Warn): ToolBlocks {
    const { retired, serverTools } = carried;
    const { front, deferred } = this.#ours(request, options, carried, warn);
    return {
      front: [
        ...front,
        ...retired.map((name) => retiredTool(name)),
        ...serverTools.map((tool) => serverTool(tool)),
      ],
      deferred,
    };
  }

  #ours(request: ModelRequest, options: JsonObject, { inPlace }: Carried, warn: Warn): Ours {
    const { tools, settings } = request;
    const said = settings.providerOptions;
    const last = this.#last;
    const { size } = inPlace;
    if (last?.tools === tools && last.said === said && last.inPlace === inPlace && last.size === size)
      return last;
    const json = (tool: ToolDefinition, more?: JsonObject): string => {
      const own = objectIn(options[tool.name]);
      return this.#json(tool, more === undefined ? own : { ...own, ...more }, warn);
    };
    const offered = size === 0 ? [] : tools.filter(({ name }) => inPlace.has(name));
    // The provider refuses a request all of whose tools are deferred.
    const placed = offered.length === tools.length ? [] : offered;
    const front = placed.length === 0 ? tools : tools.filter((tool) => !placed.includes(tool));
    const first = tellsInPlace(this.#target) && front.length > 0 ? (request.waiting?.slice(0, 1) ?? []) : [];
    const ours: Ours = {
      tools,
      said,
      inPlace,
      size,
      front: joinedTools(front.map((tool) => json(tool))),
      deferred: [...placed, ...first].map((tool) => ({ json: json(tool, { defer_loading: true }) })),
    };
    this.#last = ours;
    return ours;
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
