// The room of Anthropic's content blocks: one of our messages as the JSON text of theirs.
//
// Whitelist only: nothing but the members written here reaches the wire. What only one origin understands (signatures,
// encrypted reasoning, blocks of tools that the provider ran) goes back byte for byte to that origin, and to no other.

import {
  type AssistantMessage,
  type ContentPart,
  type FilePart,
  isSameOrigin,
  type Json,
  type JsonObject,
  offersOf,
  type Part,
  type TextPart,
  type ToolCallPart,
} from "@rondo/core";
import type { Target } from "../../codec.ts";
import { jsonOf, objectIn, textIn } from "../../json-values.ts";
import { argsJson } from "../args-json.ts";
import { isAccepted, isReadable, textOfFile } from "../files.ts";
import { tellsInPlace } from "../in-place.ts";
import { knownType, typeOfFile } from "../media-types.ts";
import type { Warn } from "../warn.ts";
import { isBlank } from "./blank-text.ts";
import { isContainer } from "./container.ts";
import { nameToWire } from "./names.ts";
import { withoutRefusedMembers } from "./refused-members.ts";
import { type Answered, noResult } from "./turns.ts";

/** One block as JSON text, without its cache mark. */
export interface Block {
  json: string;
  /** A cache mark that the caller asked for, as JSON text. */
  mark?: string;
  /** It may not get a cache mark from us. */
  unmarked?: true;
  /** For server-run tools: the id of the call that this block is, or of the call whose result it is. */
  opens?: string;
  closes?: string;
  /** For a call made by code that the provider runs: the id of that code's block, and this block without the reference. */
  calledBy?: { id: string; alone: string };
  thinking?: boolean;
  /** A summary written by the provider: a paused answer may end with it. */
  summary?: true;
  /** It goes after all results, not between them. */
  behind?: true;
}

export const longestName = 128;

/** The text that replaces a file that cannot be sent. */
function placeholder({ name, mediaType, url }: FilePart): string {
  return `[${[name, knownType(mediaType), url].filter((word) => word !== undefined).join(", ")}: not shown]`;
}

/** The same for a file from a user or a tool, with a warning. */
export function fileNote(file: FilePart, { origin }: Target, warn: Warn): string {
  const { data, url } = file;
  const mediaType = knownType(file.mediaType);
  if (typeof data === "object")
    warn(
      "file_not_loaded",
      `the bytes of a file (${mediaType}) are still in the blob store: a note stands in its place`,
    );
  else {
    const what = `a file (${url === undefined ? mediaType : `${mediaType}, ${url}`})`;
    const why = isReadable(file) ? `cannot be sent to ${origin.provider}/${origin.model}` : "cannot be read";
    warn("unsupported_file", `${what} ${why}: a note stands in its place`);
  }
  return placeholder(file);
}

/** The same for a file in an answer. */
export function answeredFileNote(file: FilePart, warn: Warn): string {
  warn("unsupported_file", `a file (${file.mediaType}) in an answer cannot be sent back: a note stands in`);
  return placeholder(file);
}

/** The blocks of a user message or a tool result. Blank text is left out, because the provider refuses it. */
export function contentBlocks(content: readonly ContentPart[], target: Target, warn: Warn): Block[] {
  const blocks: Block[] = [];
  for (const part of content) {
    const block = part.type === "text" ? textBlock(part, false) : fileBlock(part, target, warn);
    if (block !== undefined) blocks.push(block);
  }
  return blocks;
}

function textBlock(part: TextPart, withCitations: boolean): Block | undefined {
  if (isBlank(part.text)) return undefined;
  const json =
    withCitations && part.citations !== undefined && part.citations.length > 0
      ? jsonOf({ type: "text", text: part.text, citations: part.citations })
      : jsonOf({ type: "text", text: part.text });
  return withCallersMark({ json }, part.opaque);
}

/** The cache mark that a caller put on one of their parts: `opaque: { cache_control: { type: "ephemeral" } }`. */
function withCallersMark(block: Block, opaque: JsonObject | undefined): Block {
  const mark = objectIn(opaque?.cache_control);
  return mark === undefined ? block : { ...block, mark: jsonOf(mark) };
}

const imageTypes: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

function fileBlock(file: FilePart, target: Target, warn: Warn): Block {
  const json = isAccepted(file, target) ? fileJson(file, target) : undefined;
  if (json !== undefined) return withCallersMark({ json }, file.opaque);
  return { json: jsonOf({ type: "text", text: fileNote(file, target, warn) }) };
}

function fileJson(file: FilePart, target: Target): string | undefined {
  const isImage = typeOfFile(file).startsWith("image/");
  const source = fileSource(file, target);
  if (source === undefined) return undefined;
  if (isImage) {
    const transformations = objectIn(file.opaque?.transformations);
    return jsonOf({ type: "image", source, ...(transformations === undefined ? {} : { transformations }) });
  }
  const title = textIn(file.opaque?.title) ?? file.name;
  const context = textIn(file.opaque?.context);
  const citations = objectIn(file.opaque?.citations);
  return jsonOf({
    type: "document",
    source,
    ...(title === undefined ? {} : { title: title.slice(0, 500) }),
    ...(context === undefined ? {} : { context }),
    ...(citations === undefined ? {} : { citations }),
  });
}

function fileSource(file: FilePart, { compat }: Target): JsonObject | undefined {
  const id = textIn(file.opaque?.file_id);
  if (id !== undefined) return { type: "file", file_id: id };
  const { data, url } = file;
  const mediaType = typeOfFile(file);
  const isImage = mediaType.startsWith("image/");
  if (isImage ? !imageTypes.has(mediaType) && mediaType !== "image/*" : !isDocument(mediaType))
    return undefined;
  if (typeof data === "string") {
    if (mediaType.startsWith("text/"))
      return { type: "text", media_type: "text/plain", data: textOfFile(data).toWellFormed() };
    return mediaType === "image/*" ? undefined : { type: "base64", media_type: mediaType, data };
  }
  if (url === undefined || mediaType.startsWith("text/") || compat?.fetchesUrls === false) return undefined;
  return { type: "url", url };
}

function isDocument(mediaType: string): boolean {
  return mediaType === "application/pdf" || mediaType.startsWith("text/");
}

/** The result of one call: exactly one block, never empty. An error result may hold only text, so its files follow all results. */
export function resultBlocks(answered: Answered, target: Target, warn: Warn, sameOrigin: boolean): Block[] {
  const { id, call, result } = answered;
  const all = result === undefined ? [] : contentBlocks(result.content, target, warn);
  const isError = result?.isError ?? true;
  const text = (words: string): string => jsonOf({ type: "text", text: words });
  const offers = result === undefined || isError || !tellsInPlace(target) ? [] : offersOf(result);
  const { within, behind } = placed(all, { isError, offers, tool: call.name, text });
  const content = resultContent(within, answered, text);
  const toolset = sameOrigin ? textIn(call.opaque?.toolset_name) : undefined;
  const json = `{"type":"tool_result","tool_use_id":${jsonOf(id)},"content":${content}${isError ? ',"is_error":true' : ""}${
    toolset === undefined ? "" : `,"toolset_name":${jsonOf(toolset)}`
  }}`;
  return [withLastMark(json, within), ...behind];
}

/** What of a result may be in it, and what must follow all results: of an error its files, of one with references all else. */
function placed(
  all: readonly Block[],
  {
    isError,
    offers,
    tool,
    text,
  }: { isError: boolean; offers: readonly string[]; tool: string; text: ToText },
): { within: readonly Block[]; behind: Block[] } {
  if (offers.length > 0)
    return { within: offers.map(reference), behind: behindResults(`(What ${tool} returned:)`, all, text) };
  return isError ? hoisted(all, tool, text) : { within: all, behind: [] };
}

/** A text as a block. */
type ToText = (text: string) => string;

/** A result without its files, and the files for after the results, introduced by a text that says whose they are. */
export function hoisted(
  all: readonly Block[],
  tool: string,
  text: (text: string) => string,
): { within: Block[]; behind: Block[] } {
  // How any text block begins.
  const begins = text("").slice(0, -2);
  const within = all.filter(({ json }) => json.startsWith(begins));
  const files = all.filter((block) => !within.includes(block));
  if (files.length === 0) return { within, behind: [] };
  within.push({ json: text("(Its files stand behind the results.)") });
  return { within, behind: behindResults(`(Files that ${tool} returned:)`, files, text) };
}

/** Blocks for after the results, introduced by a text. */
function behindResults(said: string, blocks: readonly Block[], text: ToText): Block[] {
  if (blocks.length === 0) return [];
  return [{ json: text(said) }, ...blocks].map((block): Block => ({ ...block, behind: true }));
}

/** Where the model is told of a deferred tool. A result with references may hold nothing else. */
const reference = (tool: string): Block => ({
  json: jsonOf({ type: "tool_reference", tool_name: nameToWire(tool, longestName) }),
});

/** The content of a result, as a JSON list that is never empty. */
export function resultContent(
  blocks: readonly Block[],
  { result }: Answered,
  text: (text: string) => string,
): string {
  if (blocks.length === 0) return `[${text(result === undefined ? noResult : "(no output)")}]`;
  return `[${blocks.map(({ json }) => json).join(",")}]`;
}

/** A result as a block, with the cache mark of the last marked block in it. */
export function withLastMark(json: string, blocks: readonly Block[]): Block {
  const mark = blocks.findLast((block) => block.mark !== undefined)?.mark;
  return mark === undefined ? { json } : { json, mark };
}

/** How a protocol writes the parts of an answer. `same`: it goes back to its own origin. */
export interface AnswerWords {
  call(part: ToolCallPart, id: string, same: boolean): Block;
  part(part: Exclude<Part, ToolCallPart>, target: Target, warn: Warn, same: boolean): Block | undefined;
}

/** The blocks of an answer, for its own origin or for another one. */
export function answerBlocks(
  message: AssistantMessage,
  calls: readonly Answered[],
  target: Target,
  warn: Warn,
  words: AnswerWords,
): Block[] {
  const same = isSameOrigin(message.origin, target.origin);
  const blocks: Block[] = [];
  let nth = 0;
  for (const whole of message.content) {
    const part = same ? withoutRefusedMembers(whole, target) : whole;
    const block =
      part.type === "tool_call"
        ? words.call(part, calls[nth++]?.id ?? part.id, same)
        : words.part(part, target, warn, same);
    if (block !== undefined) blocks.push(block);
  }
  return blocks;
}

/** How Anthropic's protocol writes an answer's parts. */
export const anthropicAnswer: AnswerWords = { call: callBlock, part: partBlock };

function callBlock(part: ToolCallPart, id: string, same: boolean): Block {
  const caller = same ? objectIn(part.opaque?.caller) : undefined;
  const toolset = same ? textIn(part.opaque?.toolset_name) : undefined;
  const front = `{"type":"tool_use","id":${jsonOf(id)},"name":${jsonOf(nameToWire(part.name, longestName))},"input":${argsJson(part)}`;
  const back = `${toolset === undefined ? "" : `,"toolset_name":${jsonOf(toolset)}`}}`;
  if (caller === undefined) return { json: front + back };
  const json = `${front},"caller":${jsonOf(caller)}${back}`;
  const code = textIn(caller.tool_id);
  return code === undefined ? { json } : { json, calledBy: { id: code, alone: front + back } };
}

function partBlock(
  part: Exclude<Part, ToolCallPart>,
  target: Target,
  warn: Warn,
  same: boolean,
): Block | undefined {
  switch (part.type) {
    case "text":
      return textBlock(part, same);
    case "refusal":
      return isBlank(part.text) ? undefined : { json: jsonOf({ type: "text", text: part.text }) };
    case "reasoning":
      return same ? thinkingBlock(part.text, part.opaque, target) : undefined;
    case "native": {
      if (!same || isContainer(part) || isRefusedKind(part.opaque.type, target)) return undefined;
      const { caller, ...alone } = part.opaque;
      const opens = part.kind.endsWith("tool_use") ? textIn(part.opaque.id) : undefined;
      const closes = textIn(part.opaque.tool_use_id);
      const code = textIn(objectIn(caller)?.tool_id);
      return {
        json: jsonOf(part.opaque),
        ...(opens === undefined ? {} : { opens }),
        ...(closes === undefined ? {} : { closes }),
        ...(code === undefined ? {} : { calledBy: { id: code, alone: jsonOf(alone) } }),
        ...(part.opaque.type === "compaction" ? { summary: true } : {}),
      };
    }
    case "file":
      return { json: jsonOf({ type: "text", text: answeredFileNote(part, warn) }) };
  }
}

/** Whether this server has refused blocks of this type, usually because their feature is no longer requested. */
function isRefusedKind(type: Json | undefined, { compat }: Target): boolean {
  return type !== undefined && Array.isArray(compat?.refusedBlocks) && compat.refusedBlocks.includes(type);
}

function thinkingBlock(text: string, opaque: JsonObject | undefined, target: Target): Block | undefined {
  const redacted = textIn(opaque?.redacted);
  if (redacted !== undefined)
    return { json: jsonOf({ type: "redacted_thinking", data: redacted }), thinking: true };
  const signature = textIn(opaque?.signature);
  if (signature) return { json: jsonOf({ type: "thinking", thinking: text, signature }), thinking: true };
  // Compatible servers that do not sign reasoning and yet require it back.
  if (target.compat?.unsignedThinking === true && text !== "")
    return { json: jsonOf({ type: "thinking", thinking: text, signature: "" }), thinking: true };
  return undefined;
}
