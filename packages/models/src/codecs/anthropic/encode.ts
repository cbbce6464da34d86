// The room of Anthropic requests: a conversation as the body the Messages protocol wants.
//
// The body is a join of JSON texts. Each message's text is made once and kept by the message's identity, so that a
// long session costs the new messages only, and so that the bytes of what was sent before never change: the cache of
// the provider lives from that. Only cache marks move.

import type { AssistantMessage, Json, JsonObject, ModelRequest, ToolDefinition } from "@rondo/core";
import type { Encoder, Target } from "../../codec.ts";
import { jsonOf, objectIn } from "../../json-values.ts";
import { bodyOf } from "../../kept-text.ts";
import { isSameOrigin } from "../../same-origin.ts";
import { anthropicTool } from "../../schemas/codecs.ts";
import {
  answerBlocks,
  anthropicAnswer,
  type Block,
  contentBlocks,
  longestName,
  resultBlock,
  type Warn,
} from "./blocks.ts";
import { placeMarks } from "./cache.ts";
import { containerField, containerOf, foundTools, namesContainer } from "./carried.ts";
import { withoutDeclined } from "./fallback.ts";
import { isBlank } from "./json.ts";
import { anthropicId, nameToWire } from "./names.ts";
import { type Options, optionsOf, providerOptions } from "./options.ts";
import { isThinkingLost, Pieces, type WireMessage } from "./pieces.ts";
import type { Waiting } from "./server-tools.ts";
import { type Turn, turnReaders } from "./turns.ts";

/** How one host of the protocol differs from the provider's own. */
export interface Host {
  path(target: Target, stream: boolean): string;
  /** Members that stand at the front of the body in place of `model` and `stream`. */
  front(target: Target, stream: boolean): { [name: string]: string | boolean };
  /** Beta names go into this member of the body; absent: into a header. */
  betasIn?: string;
  headers: { [name: string]: string };
}

export function anthropicEncoder(target: Target, host: Host): Encoder {
  const historyOf = turnReaders(anthropicId, (message) => isRefused(message, target));
  const pieces = new Pieces(target, {
    user: (content, warn) => contentBlocks(content, target, warn),
    assistant: (message, calls, warn) => {
      const blocks = answerBlocks(withoutDeclined(message), calls, target, warn, anthropicAnswer);
      return filled(blocks, calls.length > 0, target);
    },
    result: (answered, message, warn) => [
      resultBlock(answered, target, warn, isSameOrigin(message.origin, target.origin)),
    ],
    json: messageJson,
    text: (text) => jsonOf({ type: "text", text }),
    alternate: target.compat?.alternate === true,
  });
  const tools = new Tools(target);
  const stream = target.stream ?? true;

  return {
    encode(request) {
      const warnings = new Map<string, { code: string; message: string }>();
      const warn: Warn = (code, message) => void warnings.set(`${code} ${message}`, { code, message });
      const read = historyOf(request.messages);
      for (const { code, message } of read.warnings) warn(code, message);

      const told = providerOptions(request, target, "anthropic");
      const { serverTools, runsTools, container, waiting } = carriedOn(told, read, target);
      const { before, messages } = pieces.lay(read.turns, warn, waiting);
      const retired = retiredTools(request, read, serverTools, target);
      const hasTools = request.tools.length > 0 || retired.length > 0 || runsTools;
      const asked = { told, hasTools, runsTools, isThinkingLost: () => isThinkingLost(messages) };
      const options = optionsOf(request, target, asked, warn);
      const fields = container === undefined ? options.fields : { ...options.fields, container };
      const toolBlocks = [
        ...tools.blocks(request, options, warn),
        ...retired.map((name) => ({ json: retiredTool(name) })),
        ...serverTools.map((tool) => serverTool(tool)),
      ];
      const system = systemBlocks(
        request,
        read.lead.flatMap((message) => message.content),
        target,
        warn,
      );
      const dropped = placeMarks(options.mark, toolBlocks, system, messages);
      if (dropped > 0)
        warn("cache_marks_dropped", `${dropped} cache marks were left out: a request may hold four`);

      const betas = options.betas;
      const front = [
        ...Object.entries(host.front(target, stream)).map(([name, value]) => member(name, jsonOf(value))),
        member("max_tokens", String(options.maxTokens)),
        ...Object.entries(fields).map(([name, value]) => member(name, jsonOf(value))),
        ...(host.betasIn !== undefined && betas.length > 0 ? [member(host.betasIn, jsonOf(betas))] : []),
        ...(options.toolChoice === undefined ? [] : [member("tool_choice", jsonOf(options.toolChoice))]),
      ].join(",");
      const offered = toolBlocks.length === 0 ? "" : `,"tools":${list(toolBlocks)}`;
      const prompt = system.length === 0 ? "" : `,"system":${list(system)}`;
      const head = `{${front}${offered}${prompt},"messages":[`;
      const tail = `${messages.map((message) => pieces.text(message)).join(",")}]}`;
      return {
        path: host.path(target, stream),
        headers: {
          "content-type": "application/json",
          ...host.headers,
          ...(host.betasIn === undefined && betas.length > 0 ? { "anthropic-beta": betas.join(",") } : {}),
          ...request.settings.headers,
        },
        ...bodyOf(head, before, tail),
        warnings: [...warnings.values()],
      };
    },
  };
}

/** What stands in the request for the provider's own tools, and what their calls may wait for. */
function carriedOn(
  told: JsonObject,
  history: Parameters<typeof containerOf>[0],
  target: Target,
): { serverTools: Json[]; runsTools: boolean; container: Json | undefined; waiting: Waiting } {
  const serverTools = Array.isArray(told.tools) ? told.tools : [];
  const runsTools = serverTools.length > 0;
  const container = containerField(told.container, () =>
    runsTools ? containerOf(history, target) : undefined,
  );
  const waiting = {
    runs: runsTools && target.compat?.resumesPauses !== false,
    inContainer: namesContainer(container),
  };
  return { serverTools, runsTools, container, waiting };
}

/** A tool turn of a server that wants to see thinking in each of them. */
function filled(blocks: Block[], hasCalls: boolean, { compat }: Target): Block[] {
  const fill = compat?.thinkingFill;
  if (typeof fill !== "string" || !hasCalls || blocks.some((block) => block.thinking === true)) return blocks;
  return [{ json: jsonOf({ type: "thinking", thinking: fill, signature: "" }), thinking: true }, ...blocks];
}

const member = (name: string, json: string): string => `${jsonOf(name)}:${json}`;

/** A refused turn is not shown again: it makes the next answer a refusal too. */
export function isRefused(message: AssistantMessage, target: Target): boolean {
  return message.stop.wire === "refusal" && message.origin.api === target.origin.api;
}

function messageJson(message: WireMessage): string {
  return `{"role":"${message.role}","content":${list(message.blocks, message.marks)}}`;
}

function list(
  blocks: readonly (Block | { json: string; mark?: string })[],
  marks?: Map<number, string>,
): string {
  // Put together with +, which copies nothing: all tools of a request may be one of the texts.
  let json = "[";
  for (const [at, block] of blocks.entries())
    json += (at === 0 ? "" : ",") + withMark(block.json, marks === undefined ? block.mark : marks.get(at));
  return `${json}]`;
}

function withMark(json: string, mark: string | undefined): string {
  return mark === undefined ? json : `${json.slice(0, -1)},"cache_control":${mark}}`;
}

function systemBlocks(
  request: ModelRequest,
  lead: Parameters<typeof contentBlocks>[0],
  target: Target,
  warn: Warn,
): Block[] {
  const own: Block[] = isBlank(request.system)
    ? []
    : [{ json: jsonOf({ type: "text", text: request.system }) }];
  return [...own, ...contentBlocks(lead, target, warn)];
}

const toolMembers = [
  "strict",
  "defer_loading",
  "eager_input_streaming",
  "allowed_callers",
  "input_examples",
] as const;

/** The tools of requests, each written once; all of them, for as long as the list and what is said of it are the same. */
class Tools {
  readonly #target: Target;
  readonly #one = new WeakMap<ToolDefinition, { options: string; json: string }>();
  #last: { tools: ModelRequest["tools"]; said: unknown; blocks: readonly Block[] } | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  /** In two blocks, all but the last in one: no other can be marked. */
  blocks({ tools, settings }: ModelRequest, options: Options, warn: Warn): readonly Block[] {
    const said = settings.providerOptions;
    if (this.#last?.tools !== tools || this.#last.said !== said) {
      const each = tools.map((tool) => this.#json(tool, options, warn));
      const last = each.splice(-1);
      const front = each.length === 0 ? [] : [each.join(",")];
      this.#last = { tools, said, blocks: [...front, ...last].map((json) => ({ json })) };
    }
    return this.#last.blocks;
  }

  #json(tool: ToolDefinition, options: Options, warn: Warn): string {
    const own = objectIn(options.toolOptions[tool.name]);
    const key = own === undefined ? "" : jsonOf(own);
    const found = this.#one.get(tool);
    if (found?.options === key) return found.json;
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
    this.#one.set(tool, { options: key, json });
    return json;
  }
}

/** The provider refuses a history with calls in it when no tool is declared. */
export function calledTools(turns: readonly Turn[]): string[] {
  const names = new Set<string>();
  for (const turn of turns)
    if (turn.kind === "results") for (const { call } of turn.calls) names.add(call.name);
  return [...names].sort();
}

/**
 * Tools that only the history knows, as on the wire: those that were called, where none is declared, and those that a
 * search has found. (What a set of tools of a server's holds, nobody knows here.)
 */
function retiredTools(
  { tools }: ModelRequest,
  { turns, natives }: { turns: readonly Turn[]; natives: readonly AssistantMessage[] },
  serverTools: readonly Json[],
  target: Target,
): string[] {
  const called = tools.length > 0 ? [] : calledTools(turns).map((name) => nameToWire(name, longestName));
  const found = natives.length === 0 ? [] : foundTools(natives, target);
  if (found.length === 0) return called;
  const own = serverTools.map((tool) => objectIn(tool));
  if (own.some((tool) => tool?.type === "mcp_toolset")) return called;
  const declared = new Set<Json | undefined>([
    ...tools.map(({ name }) => nameToWire(name, longestName)),
    ...own.map((tool) => tool?.name),
    ...called,
  ]);
  return [...called, ...found.filter((name) => !declared.has(name))];
}

function retiredTool(name: string): string {
  return jsonOf({
    name,
    description: "No longer available.",
    input_schema: { type: "object", properties: {} },
  });
}

function serverTool(tool: unknown): { json: string; mark?: string } {
  const { cache_control: mark, ...rest } = objectIn(tool) ?? {};
  return { json: jsonOf(rest), ...(objectIn(mark) === undefined ? {} : { mark: jsonOf(mark) }) };
}
