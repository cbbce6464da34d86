// The room of Converse's content blocks: one of our messages as the JSON text of theirs.
//
// Every block is an object with one member, its kind. Bytes are sent as base64, never as a URL; a document has a name of a
// narrow alphabet and needs a text beside it. Opaque data goes back to its own origin only.

import type { ContentPart, FilePart, JsonObject, Part } from "@rondo/core";
import { ownMember } from "@rondo/core/checks";
import type { Target } from "../../codec.ts";
import { jsonOf, objectIn, textIn } from "../../json-values.ts";
import { isBlank } from "../anthropic/blank-text.ts";
import {
  type AnswerWords,
  answeredFileNote,
  type Block,
  fileNote,
  hoisted,
  resultContent,
  withLastMark,
} from "../anthropic/blocks.ts";
import { hash, nameToWire } from "../anthropic/names.ts";
import { claudeVersion } from "../anthropic/traits.ts";
import type { Answered } from "../anthropic/turns.ts";
import { argsJson } from "../args-json.ts";
import { isAccepted } from "../files.ts";
import { typeOfFile } from "../media-types.ts";
import type { Warn } from "../warn.ts";

const longestName = 64;

export const isNova = ({ origin }: Target): boolean => /nova/.test(origin.model);

/** A tool name as Converse accepts it. Nova's calls fail on hyphens: "Model produced invalid sequence as part of ToolUse". */
export const bedrockName = (name: string, target: Target): string =>
  nameToWire(name, longestName, !isNova(target));

/** A cache point as its own block. */
export function cachePoint(ttl?: string): string {
  return jsonOf({ cachePoint: { type: "default", ...(ttl === undefined ? {} : { ttl }) } });
}

/** A caller's cache mark (`opaque: { cache_control: … }`) as a cache point after the block. */
function marked(json: string, opaque: JsonObject | undefined): Block {
  const mark = objectIn(opaque?.cache_control);
  return mark === undefined ? { json } : { json, mark: cachePoint(textIn(mark.ttl)) };
}

/**
 * The blocks of a user message or of a tool result.
 * @param where distinguishes this content from another with the same documents, whose names must differ
 */
export function bedrockContent(
  content: readonly ContentPart[],
  target: Target,
  warn: Warn,
  where: string,
): Block[] {
  const blocks: Block[] = [];
  let documents = 0;
  let texts = 0;
  for (const part of content) {
    if (part.type === "text") {
      if (isBlank(part.text)) continue;
      texts++;
      blocks.push(marked(jsonOf({ text: part.text }), part.opaque));
      continue;
    }
    const json = fileJson(part, target, `${where} ${documents}`);
    if (json === undefined) {
      texts++;
      blocks.push({ json: jsonOf({ text: fileNote(part, target, warn) }) });
    } else {
      const isDocument = json.startsWith('{"document"');
      if (isDocument) documents++;
      // Amazon ignores a cache point after a document that it converts to text.
      const isText = isDocument && typeOfFile(part) !== "application/pdf";
      blocks.push({ ...marked(json, part.opaque), ...(isText ? { unmarked: true } : {}) });
    }
  }
  if (documents > 0 && texts === 0) blocks.push({ json: jsonOf({ text: "(See the attached document.)" }) });
  return blocks;
}

const formats: { readonly [mediaType: string]: readonly [kind: string, format: string] } = {
  "image/png": ["image", "png"],
  "image/jpeg": ["image", "jpeg"],
  "image/gif": ["image", "gif"],
  "image/webp": ["image", "webp"],
  "video/mp4": ["video", "mp4"],
  "video/quicktime": ["video", "mov"],
  "video/webm": ["video", "webm"],
  "video/x-matroska": ["video", "mkv"],
  "video/mpeg": ["video", "mpeg"],
  "video/x-flv": ["video", "flv"],
  "video/x-ms-wmv": ["video", "wmv"],
  "video/3gpp": ["video", "three_gp"],
  "application/pdf": ["document", "pdf"],
  "text/csv": ["document", "csv"],
  "text/html": ["document", "html"],
  "text/markdown": ["document", "md"],
  "text/plain": ["document", "txt"],
  "application/msword": ["document", "doc"],
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ["document", "docx"],
  "application/vnd.ms-excel": ["document", "xls"],
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ["document", "xlsx"],
};

/** Any other text is text all the same. */
const plainText = ["document", "txt"] as const;

function fileJson(file: FilePart, target: Target, where: string): string | undefined {
  const mediaType = typeOfFile(file);
  const known = ownMember(formats, mediaType) ?? (mediaType.startsWith("text/") ? plainText : undefined);
  if (known === undefined || !isAccepted(file, target)) return undefined;
  const [kind, format] = known;
  const source =
    typeof file.data === "string"
      ? { bytes: file.data }
      : file.url?.startsWith("s3://")
        ? { s3Location: { uri: file.url } }
        : undefined;
  if (source === undefined) return undefined;
  if (kind !== "document") return jsonOf({ [kind]: { format, source } });
  const context = textIn(file.opaque?.context);
  const citations = objectIn(file.opaque?.citations);
  return jsonOf({
    document: {
      format,
      name: documentName(file, where),
      source,
      ...(context === undefined ? {} : { context }),
      ...(citations === undefined ? {} : { citations }),
    },
  });
}

/** A name of letters, digits, single spaces, hyphens and brackets; different for each document, and for each place it is in. */
function documentName(file: FilePart, where: string): string {
  const name = (file.name ?? "document")
    .replace(/[^a-zA-Z0-9\-()[\]]+/g, " ")
    .trim()
    .slice(0, 150);
  const data = typeof file.data === "string" ? file.data : (file.url ?? "");
  return `${name || "document"}-${hash(`${where} ${data.length} ${data.slice(0, 4096)} ${data.slice(-4096)}`).slice(0, 8)}`;
}

/** The result of one call: exactly one block, never empty; and for after all results, what this model does not accept inside one. */
export function bedrockResult(answered: Answered, target: Target, warn: Warn): Block[] {
  const { id, call, result } = answered;
  const all = result === undefined ? [] : bedrockContent(result.content, target, warn, id);
  // Only some families accept a status; for the others the text must report the error, and ours does.
  const status = (result?.isError ?? true) && knowsStatus(target) ? ',"status":"error"' : "";
  const text = (words: string): string => jsonOf({ text: words });
  const takesFiles = status === "" && takesFilesInResults(target);
  const { within, behind } = takesFiles ? { within: all, behind: [] } : hoisted(all, call.name, text);
  const content = resultContent(within, answered, text);
  const json = `{"toolResult":{"toolUseId":${jsonOf(id)},"content":${content}${status}}}`;
  return [withLastMark(json, within), ...behind];
}

/** The other families refuse a file in a result, though not in a message. Claude refuses one only in an error result. */
const takesFilesInResults = (target: Target): boolean =>
  knowsStatus(target) || /llama4/.test(target.origin.model);

function knowsStatus(target: Target): boolean {
  return claudeVersion(target.origin.model) !== undefined || /nova|^arn:/.test(target.origin.model);
}

/** How Converse writes an answer's parts. */
export const bedrockAnswer = (target: Target): AnswerWords => ({
  call: (part, id) => ({
    json: `{"toolUse":{"toolUseId":${jsonOf(id)},"name":${jsonOf(bedrockName(part.name, target))},"input":${argsJson(part)}}}`,
  }),
  part: partBlock,
});

function partBlock(
  part: Exclude<Part, { type: "tool_call" }>,
  target: Target,
  warn: Warn,
  same: boolean,
): Block | undefined {
  switch (part.type) {
    case "text":
      if (isBlank(part.text)) return undefined;
      return same && part.citations !== undefined && part.citations.length > 0
        ? {
            json: jsonOf({ citationsContent: { content: [{ text: part.text }], citations: part.citations } }),
          }
        : { json: jsonOf({ text: part.text }) };
    case "refusal":
      return isBlank(part.text) ? undefined : { json: jsonOf({ text: part.text }) };
    case "reasoning":
      return same ? reasoningBlock(part.text, part.opaque, target) : undefined;
    case "native": {
      if (!same) return undefined;
      const opens = textIn(objectIn(part.opaque.toolUse)?.toolUseId);
      const closes = textIn(objectIn(part.opaque.toolResult)?.toolUseId);
      return {
        json: jsonOf(part.opaque),
        ...(opens === undefined ? {} : { opens }),
        ...(closes === undefined ? {} : { closes }),
      };
    }
    case "file": {
      // What the model drew goes back as it came.
      const drawn = same && part.opaque?.drawn === true ? fileJson(part, target, "") : undefined;
      if (drawn !== undefined) return { json: drawn };
      return { json: jsonOf({ text: answeredFileNote(part, warn) }) };
    }
  }
}

function reasoningBlock(text: string, opaque: JsonObject | undefined, target: Target): Block | undefined {
  const redacted = textIn(opaque?.redacted);
  if (redacted !== undefined)
    return { json: jsonOf({ reasoningContent: { redactedContent: redacted } }), thinking: true };
  const signature = textIn(opaque?.signature);
  if (!signature && target.compat?.unsignedThinking !== true) return undefined;
  return {
    json: jsonOf({ reasoningContent: { reasoningText: { text, ...(signature ? { signature } : {}) } } }),
    thinking: true,
  };
}
