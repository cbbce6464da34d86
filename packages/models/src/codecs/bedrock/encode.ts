// The room of Converse requests: a conversation as the body Bedrock wants.
//
// Roles alternate strictly, so that neighbours of one role are one message; the results of an answer come first in
// theirs. As with Anthropic's own protocol the body is a join of texts that are made once a message.

import type { JsonObject, ModelRequest, ToolDefinition } from "@rondo/core";
import type { Encoder, Target } from "../../codec.ts";
import { jsonOf } from "../../json-values.ts";
import { bodyOf } from "../../kept-text.ts";
import { anthropicTool, type SchemaRoom } from "../../schemas/codecs.ts";
import { answerBlocks, type Block, type Warn } from "../anthropic/blocks.ts";
import { placeMarks } from "../anthropic/cache.ts";
import { calledTools, isRefused } from "../anthropic/encode.ts";
import { isBlank } from "../anthropic/json.ts";
import { bedrockId, nameToWire } from "../anthropic/names.ts";
import { isThinkingLost, Pieces, type WireMessage } from "../anthropic/pieces.ts";
import { type Turn, turnReaders } from "../anthropic/turns.ts";
import { bedrockAnswer, bedrockContent, bedrockResult, longestBedrockName } from "./blocks.ts";
import { bedrockOptions } from "./options.ts";

export function bedrockEncoder(target: Target): Encoder {
  const historyOf = turnReaders(bedrockId, (message) => isRefused(message, target));
  const pieces = new Pieces(target, {
    user: (content, warn) => bedrockContent(content, target, warn),
    assistant: (message, calls, warn) => answerBlocks(message, calls, target, warn, bedrockAnswer),
    result: (answered, _message, warn) => bedrockResult(answered, target, warn),
    json: messageJson,
    text: (text) => jsonOf({ text }),
    alternate: true,
  });
  const tools = new WeakMap<ToolDefinition, string>();
  const stream = target.stream ?? true;
  return {
    encode(request) {
      const warnings = new Map<string, { code: string; message: string }>();
      const warn: Warn = (code, message) => void warnings.set(`${code} ${message}`, { code, message });
      const read = historyOf(request.messages);
      for (const { code, message } of read.warnings) warn(code, message);

      const { before, messages } = pieces.lay(read.turns, warn);
      const { toolBlocks, hasTools } = toolsOf(request, read.turns, tools, { target, warn });
      const options = bedrockOptions(request, target, hasTools, () => isThinkingLost(messages), warn);
      const lead = read.lead.flatMap((message) => message.content);
      const system: Block[] = [
        ...(isBlank(request.system) ? [] : [{ json: jsonOf({ text: request.system }) }]),
        ...bedrockContent(lead, target, warn),
      ];
      const noTools: Block[] = [];
      const dropped = placeMarks(
        options.mark?.system,
        options.mark?.tools === undefined ? noTools : toolBlocks,
        system,
        messages,
      );
      if (dropped > 0)
        warn("cache_marks_dropped", `${dropped} cache marks were left out: a request may hold four`);

      const members = [
        ...Object.entries(options.fields).map(([name, value]) => `${jsonOf(name)}:${jsonOf(value)}`),
        ...(toolBlocks.length === 0
          ? []
          : [
              `"toolConfig":{"tools":${list(toolBlocks)}${
                options.toolChoice === undefined ? "" : `,"toolChoice":${jsonOf(options.toolChoice)}`
              }}`,
            ]),
        ...(system.length === 0 ? [] : [`"system":${list(system)}`]),
      ];
      const head = `{${[...members, ""].join(",")}"messages":[`;
      const tail = `${messages.map((message) => pieces.text(message)).join(",")}]}`;
      return {
        path: `/model/${encodeURIComponent(target.origin.model)}/${stream ? "converse-stream" : "converse"}`,
        headers: { "content-type": "application/json", ...request.settings.headers },
        ...bodyOf(head, before, tail),
        warnings: [...warnings.values()],
      };
    },
  };
}

function messageJson(message: WireMessage): string {
  return `{"role":"${message.role}","content":${list(message.blocks, message.marks)}}`;
}

/** Blocks as a list; a cache point follows what it marks. */
function list(blocks: readonly Block[], marks?: Map<number, string>): string {
  const texts: string[] = [];
  for (const [at, block] of blocks.entries()) {
    texts.push(block.json);
    const mark = marks === undefined ? block.mark : marks.get(at);
    if (mark !== undefined) texts.push(mark);
  }
  return `[${texts.join(",")}]`;
}

/**
 * The tools as blocks. None where none may be called and none stands in the history, since Converse has no word to
 * forbid them; but a history with calls in it needs them declared, even tools that are gone.
 */
function toolsOf(
  request: ModelRequest,
  turns: readonly Turn[],
  known: WeakMap<ToolDefinition, string>,
  room: SchemaRoom,
): { toolBlocks: Block[]; hasTools: boolean } {
  const called = calledTools(turns);
  if (request.toolChoice === "none" && called.length === 0) return { toolBlocks: [], hasTools: false };
  const toolBlocks =
    request.tools.length > 0
      ? request.tools.map((tool) => ({ json: toolJson(tool, known, room) }))
      : called.map((name) => ({
          json: specification(name, "No longer available.", { type: "object", properties: {} }),
        }));
  return { toolBlocks, hasTools: toolBlocks.length > 0 };
}

function toolJson(tool: ToolDefinition, known: WeakMap<ToolDefinition, string>, room: SchemaRoom): string {
  let json = known.get(tool);
  if (json === undefined) {
    const { description, schema } = anthropicTool(tool, false, room);
    json = specification(tool.name, description, schema);
    known.set(tool, json);
  }
  return json;
}

function specification(name: string, description: string, schema: JsonObject): string {
  return jsonOf({
    toolSpec: {
      name: nameToWire(name, longestBedrockName),
      ...(isBlank(description) ? {} : { description }),
      inputSchema: { json: schema },
    },
  });
}
