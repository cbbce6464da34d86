// The room of control tokens: the tokens with which a chat template marks turns.
//
// They matter in two directions. In text that others wrote (a user, a file, a web page) they would become real turns once
// the server puts the text into its template: there they are visibly broken up (F237). In a model's answer they are leaks:
// a token that ends a turn ends the answer, others are left out (F236). All scans are linear.

import {
  base64,
  type ContentPart,
  type FilePart,
  type JsonObject,
  type Message,
  type Model,
  type ModelRequest,
  modelFace,
  type Part,
  parsedJson,
  type ToolCallPart,
  type ToolDefinition,
} from "@rondo/core";
import { textOfFile } from "../codecs/files.ts";
import { knownType } from "../codecs/media-types.ts";
import { parseDigits } from "../exact-json.ts";
import { parseJson } from "../json-values.ts";
import { anyOf } from "../patterns.ts";

/** Where a character begins a control token: one of these follows it. */
const begun = (first: string, ...ends: readonly RegExp[]): RegExp =>
  new RegExp(`${first}(?=${anyOf("", ...ends).source})`);

/** The first characters of all control tokens. */
const tokens: RegExp = anyOf(
  "g",
  begun(
    "<",
    // ChatML, Llama 3, Phi and many more.
    /\|[A-Za-z0-9_:.\-/"][A-Za-z0-9_ :.\-/"]{0,63}\|>/,
    // Gemma's, with one bar.
    /\|[a-z_]{1,32}>/,
    /[a-z_]{1,32}\|>/,
    // DeepSeek's, with wide bars.
    /｜[^｜<>\n]{1,64}｜>/,
    // Those without bars.
    /\/?s>/,
    /(?:start|end)_of_turn>/,
    /(?:start|end)_function_(?:call|response|declaration)>/,
    /escape>/,
    // MiniMax's.
    /\]minimax\[>\[/,
    /(?:seed:)?(?:bos|eos|sop|eop)>/,
    /SPECIAL_\d{1,4}>/,
    /<\/?SYS>>/,
  ),
  begun(
    "\\[",
    // Llama 2's and Mistral's.
    /\/?INST\]/,
    /\/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CALLS|TOOL_CONTENT|THINK|MODEL_SETTINGS|gMASK)\]/,
    // EXAONE's.
    /\|[a-z]{1,16}\|\]/,
    /e~\[/,
  ),
  begun("\\]", /~b\]/, /~!b\[/),
);

/** The text with every control token broken up by a space: `<|im_end|>` becomes `< |im_end|>`. */
export function neutralised(text: string): string {
  if (!text.includes("<") && !text.includes("[") && !text.includes("]~")) return text;
  return text.replace(tokens, "$& ");
}

/** The same for all texts, calls and text files of a message; the message itself if there is nothing to break up. */
export function neutralisedMessage(message: Message): Message {
  let changed = false;
  const content = (message.content as readonly (Part | ContentPart)[]).map((part) => {
    const clean = neutralisedPart(part);
    changed ||= clean !== part;
    return clean;
  });
  return changed ? ({ ...message, content } as Message) : message;
}

function neutralisedPart(part: Part): Part {
  if (part.type === "tool_call") return neutralisedCall(part);
  if (part.type === "file") return neutralisedFile(part);
  // Signed reasoning must stay unchanged.
  if (!("text" in part) || (part.type === "reasoning" && part.opaque !== undefined)) return part;
  const text = neutralised(part.text);
  return text === part.text ? part : { ...part, text };
}

/** Such a token can only be inside a string, so JSON stays valid. It may be hidden behind escapes, which a template undoes. */
function neutralisedCall(part: ToolCallPart): ToolCallPart {
  const args = JSON.stringify(part.args);
  const clean = neutralised(args);
  const bare = part.rawArgs.includes("\\u") ? parseJson(part.rawArgs, parseDigits) : undefined;
  const rawArgs = neutralised(bare === undefined || clean === args ? part.rawArgs : JSON.stringify(bare));
  if (rawArgs === part.rawArgs && clean === args) return part;
  return { ...part, rawArgs, args: parsedJson(clean) as JsonObject };
}

/** Codecs write the content of a text file into the prompt. */
function neutralisedFile(part: FilePart): FilePart {
  if (typeof part.data !== "string" || !knownType(part.mediaType).startsWith("text/")) return part;
  const text = textOfFile(part.data);
  const clean = neutralised(text);
  return clean === text ? part : { ...part, data: base64(new TextEncoder().encode(clean)) };
}

/** Tool descriptions may come from a stranger, e.g. an MCP server. Returns the same list for the same list. */
export function neutralisedTools(tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
  const known = cleanTools.get(tools);
  if (known !== undefined) return known;
  const clean = tools.map(neutralisedTool);
  const list = clean.some((tool, at) => tool !== tools[at]) ? clean : tools;
  cleanTools.set(tools, list);
  return list;
}

const cleanTools = new WeakMap<readonly ToolDefinition[], readonly ToolDefinition[]>();

function neutralisedTool(tool: ToolDefinition): ToolDefinition {
  const told = JSON.stringify([tool.description, tool.inputSchema]);
  const clean = neutralised(told);
  if (clean === told) return tool;
  const [description, inputSchema] = parsedJson<[string, JsonObject]>(clean);
  return { ...tool, description, inputSchema };
}

/**
 * The model, with control tokens broken up in the conversation's texts and the tools' descriptions. For servers that put
 * texts into a chat template without escaping them, as local ones do. The system prompt is yours, and stays as it is.
 */
export function neutralTokens(model: Model): Model {
  const seen = new WeakMap<Message, Message>();
  const clean = (message: Message): Message => {
    if (message.role === "system") return message;
    let known = seen.get(message);
    if (known === undefined) {
      known = neutralisedMessage(message);
      seen.set(message, known);
    }
    return known;
  };
  return {
    ...modelFace(model),
    call: (request: ModelRequest, io) =>
      model.call(
        {
          ...request,
          messages: Array.from(request.messages, clean),
          tools: neutralisedTools(request.tools),
        },
        io,
      ),
  };
}

/** Tokens that end a turn, or begin one that is not the assistant's: nothing after them belongs to the answer. */
const turnEnds: RegExp = anyOf(
  "",
  /<\|(?:im_end|end|eot_id|eom_id|end_of_text|endoftext|end_of_turn|return|user|system|observation)\|>/,
  /<turn\|>/,
  /<\|turn>(?!model)/,
  /<\|im_start\|>(?!assistant)/,
  /<\|start_header_id\|>(?!assistant)/,
  /<end_of_turn>/,
  /<｜end▁of▁sentence｜>/,
  /<\/s>$/,
);

/** Other parts of its template that a server left in an answer. */
const leaks: RegExp = anyOf(
  "g",
  /\]<\]minimax\[>\[/,
  /<\|(?:open|close)\|>\w{1,16}<\|sep\|>/,
  /<\|[A-Za-z0-9_ ]{1,64}\|>(?:assistant\b[ \t]*\n?)?/,
  /<\|(?:channel|turn|tool_call|tool_response)>(?:model\n)?/,
  /<(?:channel|tool_call|tool_response)\|>/,
  /<(?:start|end)_function_call>/,
  /<｜[^｜<>\n]{1,64}｜>/,
  /<start_of_turn>model\n?/,
  /<\/?s>$/,
  /^<s>/,
);

/** An answer's text without leaked control tokens, and without what the model wrote after the end of its turn. */
export function withoutLeaks(text: string): string {
  if (!text.includes("<")) return text;
  const lead =
    /^\s*(?:(?:<\|im_start\|>|<\|start_header_id\|>)assistant(?:<\|end_header_id\|>)?\s*)?/.exec(text)?.[0] ??
    "";
  const rest = text.slice(lead.length);
  const end = rest.search(turnEnds);
  return (end === -1 ? rest : rest.slice(0, end)).replace(leaks, "");
}
