// The room of Converse requests: a conversation as the body that Bedrock requires.
//
// Roles alternate strictly, so neighbours of one role become one message; the results of an answer come first in theirs. As
// with Anthropic's own protocol the body is a join of texts, each made once per message.

import type { JsonObject, ModelRequest, ToolDefinition } from "@rondo/core";
import type { Encoder, Target, WireRequest } from "../../codec.ts";
import { jsonOf } from "../../json-values.ts";
import { anthropicTool } from "../../schemas/codecs.ts";
import { isBlank } from "../anthropic/blank-text.ts";
import { answerBlocks, type Block } from "../anthropic/blocks.ts";
import { placeMarks } from "../anthropic/cache.ts";
import { bedrockId } from "../anthropic/names.ts";
import { type Dialect, Pieces } from "../anthropic/pieces.ts";
import { providerOptions } from "../anthropic/settings.ts";
import { joinedTools } from "../anthropic/tools.ts";
import { type Traits, traitsOf } from "../anthropic/traits.ts";
import { calledTools, type Turn, turnReaders } from "../anthropic/turns.ts";
import { noted } from "../bridges.ts";
import { type Told, type Warn, warnOnce } from "../warn.ts";
import { bedrockAnswer, bedrockContent, bedrockName, bedrockResult } from "./blocks.ts";
import { type BedrockOptions, bedrockOptions } from "./options.ts";

export class BedrockEncoder implements Encoder {
  readonly #target: Target;
  readonly #traits: Traits;
  readonly #historyOf: ReturnType<typeof turnReaders>;
  readonly #pieces: Pieces;
  readonly #tools = new WeakMap<ToolDefinition, string>();
  /** The last list of tools, and its blocks. */
  #last: { tools: ModelRequest["tools"]; blocks: readonly Block[] } | undefined;

  constructor(target: Target) {
    this.#target = target;
    this.#traits = traitsOf(target);
    this.#historyOf = turnReaders(bedrockId, target.origin.api);
    this.#pieces = new Pieces(target, dialectOf(target));
  }

  encode(request: ModelRequest): WireRequest {
    const target = this.#target;
    const warnings: Told = new Map();
    const warn = warnOnce(warnings);
    const history = this.#historyOf(request.messages, warn);
    const told = providerOptions(request, target, "bedrock");
    const conversation = this.#pieces.lay(history.turns, warn);
    const { messages } = conversation;
    const tools = this.#toolBlocks(request, history.turns, warn);
    const hasTools = tools.length > 0;
    const asked = { request, target, traits: this.#traits, told, hasTools, messages, warn };
    const options = bedrockOptions(asked);
    const prompt = this.#pieces.system(request.system, history.lead, warn);
    const bySystem = target.compat?.systemRole !== "user";
    const system = bySystem ? prompt : [];
    placeMarks(options.mark, { tools: options.marksTools ? tools : [], system, messages }, warn);
    const verb = target.stream === false ? "converse" : "converse-stream";
    return {
      path: `/model/${encodeURIComponent(target.origin.model)}/${verb}`,
      headers: { "content-type": "application/json", ...request.settings.headers },
      ...this.#pieces.body(
        headOf(options, tools, system) + (bySystem ? "" : saidByUser(prompt)),
        conversation,
      ),
      warnings: [...warnings.values()],
    };
  }

  /**
   * The tools as blocks. None if calls are forbidden and the history has none, because Converse cannot forbid calls; but a
   * history with calls needs their tools declared, even those that are gone.
   */
  #toolBlocks({ tools, toolChoice }: ModelRequest, turns: readonly Turn[], warn: Warn): Block[] {
    const called = calledTools(turns);
    if (toolChoice === "none" && called.length === 0) return [];
    if (tools.length === 0) {
      const schema = { type: "object", properties: {} };
      return called.map((name) => ({ json: this.#specification(name, "No longer available.", schema) }));
    }
    if (this.#last?.tools !== tools)
      this.#last = { tools, blocks: joinedTools(tools.map((tool) => this.#toolJson(tool, warn))) };
    // A copy: the last block may be marked for one request.
    return [...this.#last.blocks];
  }

  #toolJson(tool: ToolDefinition, warn: Warn): string {
    let json = this.#tools.get(tool);
    if (json === undefined) {
      const { description, schema } = anthropicTool(tool, false, { target: this.#target, warn });
      json = this.#specification(tool.name, description, schema);
      this.#tools.set(tool, json);
    }
    return json;
  }

  #specification(name: string, description: string, schema: JsonObject): string {
    return jsonOf({
      toolSpec: {
        name: bedrockName(name, this.#target),
        ...(isBlank(description) ? {} : { description }),
        inputSchema: { json: schema },
      },
    });
  }
}

/** How Converse differs within the family. */
const dialectOf = (target: Target, words = bedrockAnswer(target)): Dialect => ({
  user: (content, warn, place) => bedrockContent(content, target, warn, place),
  assistant: (message, calls, warn) => answerBlocks(message, calls, target, warn, words),
  result: (answered, _message, warn) => bedrockResult(answered, target, warn),
  text: (text) => jsonOf({ text }),
  list,
  alternate: true,
  namesFiles: true,
  ...standsAloneOf(target),
});

function standsAloneOf({ compat }: Target): Pick<Dialect, "standsAlone"> {
  if (compat?.callsAlone === true) return { standsAlone: isCallOrResult };
  return compat?.resultsAlone === true ? { standsAlone: isResult } : {};
}

const isResult = ({ json }: Block): boolean => json.startsWith('{"toolResult"');

const isCallOrResult = ({ json }: Block): boolean => /^\{"tool(?:Use|Result)"/.test(json);

/** The body up to its first message. */
function headOf({ fields, toolChoice }: BedrockOptions, tools: Block[], system: Block[]): string {
  const choice = toolChoice === undefined ? "" : `,"toolChoice":${jsonOf(toolChoice)}`;
  const members = [
    jsonOf(fields).slice(1, -1),
    tools.length === 0 ? "" : `"toolConfig":{"tools":${list(tools)}${choice}}`,
    system.length === 0 ? "" : `"system":${list(system)}`,
    '"messages":[',
  ];
  return `{${members.filter((member) => member !== "").join(",")}`;
}

/** The prompt for a model without a system role: the first thing that a user says. */
const saidByUser = (prompt: readonly Block[]): string =>
  prompt.length === 0
    ? ""
    : `{"role":"user","content":${list(prompt)}},${jsonOf({ role: "assistant", content: [{ text: noted }] })},`;

/** Blocks as a list; a cache point follows the block that it marks. */
function list(blocks: readonly Block[], marks?: ReadonlyMap<number, string>): string {
  // Joined with +, which does not copy: one of the texts may be all tools of a request.
  let json = "";
  for (const [at, block] of blocks.entries()) {
    const mark = marks === undefined ? block.mark : marks.get(at);
    json += (at === 0 ? "" : ",") + block.json + (mark === undefined ? "" : `,${mark}`);
  }
  return `[${json}]`;
}
