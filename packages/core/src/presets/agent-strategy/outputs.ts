// The room of the strategy's tool outputs: what the model reads of them, and what only the user gets.
//
// The model reads one text. Images and files are for the user: they are in the result after the text, marked, so that the
// journal and the view have them, and they are removed from every request.

import { messageOf } from "../../errors.ts";
import { base64, isBytes } from "../../json/base64.ts";
import type { ContentPart, FilePart, JsonObject, Message } from "../../message.ts";
import { textFor as shownAsText } from "../../tool/outputs.ts";
import { lazinessOf } from "../../tool/render.ts";
import { resultWith, ToolResult } from "../../tool/tool-result.ts";

/** Reads a local file for the user. Undefined: there is no such file. Rejects if it must not or cannot be read. */
export type LocalFiles = (path: string) => Promise<{ data: Uint8Array; name: string } | undefined>;

/** The mark of a part that the model does not get. `meta` is passed to the user's program with a blob. */
export const forUser = "for_user";

const failedFile = "Failed to process generated image file.";

/**
 * Turns what a tool returned into one result.
 * @param root local images start with it and a slash
 * @param failed gets the reason why a local file could not be read: the user only reads a fixed text, because the reason
 * may contain a path
 * @throws Error saying why a value is not a result yet
 */
export async function strategyResult(
  value: unknown,
  localFiles: LocalFiles | undefined,
  root: string,
  failed: (reason: string) => void,
): Promise<ToolResult> {
  const lazy = lazinessOf(value);
  if (lazy !== undefined) throw new Error(lazy);
  const given = value instanceof ToolResult ? value : undefined;
  const outputs = outputsOf(given === undefined ? value : given.content);
  let text = "";
  const files: ContentPart[] = [];
  for (const output of outputs) {
    text += textFor(output);
    if (typeof output !== "object" || output === null) continue;
    const shaped = output as Shaped;
    if (isImage(shaped)) {
      const { url } = shaped;
      if (typeof url === "string" && url.startsWith(`${root}/`) && localFiles !== undefined)
        files.push(...(await localFile(url, localFiles, failed)));
    }
    if (isImage(shaped) || isBlob(shaped)) files.push(original(shaped));
  }
  const content: ContentPart[] = [{ type: "text", text }, ...files];
  return given === undefined ? new ToolResult(content, false, false) : resultWith(given, content);
}

async function localFile(
  path: string,
  read: LocalFiles,
  failed: (reason: string) => void,
): Promise<ContentPart[]> {
  try {
    const file = await read(path);
    if (file === undefined) return [];
    const meta: JsonObject = { mime_type: "image/png", filename: file.name };
    return [
      {
        type: "file",
        mediaType: "image/png",
        data: base64(file.data),
        name: file.name,
        opaque: { [forUser]: { kind: "blob", meta } },
      },
    ];
  } catch (thrown) {
    failed(messageOf(thrown));
    return [{ type: "text", text: failedFile, opaque: { [forUser]: { kind: "text" } } }];
  }
}

type Shaped = Partial<Record<string, unknown>>;

function outputsOf(value: unknown): unknown[] {
  if (Array.isArray(value) && value.length > 0 && value.every(isOutput)) return value;
  return value === undefined || value === null ? [] : [value];
}

function isOutput(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const one = value as Shaped;
  if (isImage(one) || isBlob(one)) return true;
  if (one.type === "text") return typeof one.text === "string";
  if (one.type === "link") return typeof one.url === "string";
  return one.type === "json" && "json" in one;
}

const isImage = (one: Shaped): boolean =>
  one.type === "image" || (one.type === "file" && String(one.mediaType).startsWith("image/"));

const isBlob = (one: Shaped): boolean =>
  one.type === "blob" || (one.type === "file" && typeof one.mediaType === "string" && !isImage(one));

/** The text of one output for the model. */
function textFor(output: unknown): string {
  if (typeof output === "string") return output;
  if (typeof output !== "object" || output === null) return `tool response: ${String(output)}.`;
  const one = output as Shaped;
  if (isOutput(one)) {
    if (one.type === "text") return one.text as string;
    if (one.type === "link") return `result link: ${one.url as string}. please tell user to check it.`;
    if (isImage(one)) return "image generated and sent to user. Tell user to review it now.";
    if (isBlob(one)) return "Generated file ... ";
    return `tool response: ${jsonText(one.json)}.`;
  }
  return `tool response: ${jsonText(output)}.`;
}

/** A value as JSON, including what JavaScript has and JSON lacks: collections, errors, circular objects. */
function jsonText(value: unknown): string {
  if (typeof value === "object" && value !== null) return shownAsText(value);
  return JSON.stringify(value) ?? String(value);
}

/** The output as the user's program gets it, unchanged by what else was made of it. */
function original(output: Shaped): FilePart {
  const data = isBytes(output.data) ? base64(output.data) : output.data;
  const mediaType =
    typeof output.mediaType === "string"
      ? output.mediaType
      : isImage(output)
        ? "image/png"
        : "application/octet-stream";
  return {
    type: "file",
    mediaType,
    ...(data === undefined ? {} : { data: data as NonNullable<FilePart["data"]> }),
    ...(typeof output.url === "string" ? { url: output.url } : {}),
    ...(typeof output.name === "string" ? { name: output.name } : {}),
    opaque: { [forUser]: { kind: "original" } },
  };
}

/**
 * The messages for one request: without what is only for the user, and with the user's images and files as words, if the
 * model cannot see or has seen them already. Returns the same list if nothing changes.
 */
export function modelMessages(messages: readonly Message[], hideFiles: boolean): readonly Message[] {
  let changed = false;
  const shown = messages.map((message): Message => {
    const other =
      message.role === "tool" ? withoutUserParts(message) : hideFiles ? inWords(message) : message;
    if (other !== message) changed = true;
    return other;
  });
  return changed ? shown : messages;
}

function withoutUserParts(message: Message & { role: "tool" }): Message {
  const content = message.content.filter((part) => part.opaque?.[forUser] === undefined);
  return content.length === message.content.length ? message : { ...message, content };
}

function inWords(message: Message): Message {
  if (message.role !== "user" || message.content.every((part) => part.type === "text")) return message;
  const words = message.content.map((part) =>
    part.type === "text" ? part.text : part.mediaType.startsWith("image/") ? "[image]" : "[file]",
  );
  return { role: "user", content: [{ type: "text", text: words.join("\n") }] };
}
