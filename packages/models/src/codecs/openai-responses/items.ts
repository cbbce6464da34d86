// The room of encoding one message for the Responses API: a canonical message in, input items out.
//
// A reasoning item and the item after it are one unit (F111): the server refuses either alone. So reasoning waits for the
// next item and is dropped if there is none; and an item whose reasoning was dropped, here or earlier, is sent without its
// id, which is what ties the two together. Ids and reasoning only mean something to their own origin.

import {
  type AssistantMessage,
  type ContentPart,
  isSameOrigin,
  type Json,
  type JsonObject,
  type Message,
  type RefusalPart,
  type TextPart,
  type ToolCallPart,
  type ToolMessage,
} from "@rondo/core";
import type { Target } from "../../codec.ts";
import { jsonOf, objectIn, textIn } from "../../json-values.ts";
import { textOfFile } from "../files.ts";
import { answeredNote, type FileNote, wireFile } from "../openai/files.ts";
import { type IdForm, wireId, wireName } from "../openai/names.ts";
import { argumentsText } from "../openai-chat/messages.ts";
import { withSpeltRefs } from "../spelt-refs.ts";
import type { Warning } from "../warn.ts";
import { withinLimits } from "./argument-limits.ts";
import { itemOfPicture } from "./pictures.ts";
import { form, isEncrypted, reasoningItem, reasoningTold } from "./reasoning-item.ts";
import type { OpenaiResponsesCompat } from "./settings.ts";

export interface ResponsesPiece {
  role: Message["role"];
  /** The items' JSON, joined by commas. */
  json: string;
  /** The content of a user's message, so that neighbours can be merged if roles must alternate. */
  parts?: JsonObject[];
  /** Ids of its calls that were sent as custom tool calls: their results are of another type. */
  custom?: string[];
  /** By call id: the caller, if the call was made by a program of the model's; the results must name it too. */
  callers?: readonly (readonly [callId: string, caller: JsonObject])[];
  /** Files that must follow the results of the turn, if results can only hold text. */
  files?: JsonObject[];
  /** The items' ids. */
  ids?: readonly string[];
}

export interface ResponsesRoom {
  target: Target;
  compat: OpenaiResponsesCompat;
  ids: IdForm;
  warn(warning: Warning): void;
}

/**
 * @param stored the server keeps the items, so reasoning without encrypted content can be referred to by id
 * @param taken the ids of the items before, if one of them is this message's as well: then its items go without ids
 */
export function responsesPiece(
  message: Message,
  room: ResponsesRoom,
  stored: boolean,
  taken?: ReadonlySet<string>,
): ResponsesPiece | undefined {
  switch (message.role) {
    case "system": {
      const text = message.content.map((part) => part.text).join("\n");
      if (text.trim() === "") return undefined;
      return room.compat.systemFirstOnly ? userItem([inputText(text)]) : systemItem(text, room);
    }
    case "user":
      return userItem(message.content.flatMap((part) => userPart(part, room)));
    case "assistant": {
      const items = assistantItems(message, room, stored, taken);
      const ids = items.flatMap(({ id }) => textIn(id) ?? []);
      if (taken === undefined && new Set(ids).size < ids.length)
        return responsesPiece(message, room, stored, new Set());
      return items.length === 0
        ? undefined
        : {
            role: "assistant",
            ids,
            json: items.map((item) => jsonOf(item)).join(","),
            ...ofResults(message, isSameOrigin(message.origin, room.target.origin)),
          };
    }
    case "tool":
      return toolItem(message, room);
  }
}

export function systemItem(text: string, { compat }: ResponsesRoom): ResponsesPiece {
  const role = compat.systemRole;
  if (role === "user") return userItem([inputText(text)]);
  return { role: "system", json: jsonOf({ role, content: text }) };
}

export function userItem(parts: JsonObject[]): ResponsesPiece {
  const kept = parts.filter((part) => part.type !== "input_text" || String(part.text).trim() !== "");
  if (kept.length === 0) kept.push(inputText("(no text)"));
  return { role: "user", json: jsonOf({ role: "user", content: kept }), parts: kept };
}

function inputText(text: string): JsonObject {
  return { type: "input_text", text };
}

function noted({ note, code }: FileNote, room: ResponsesRoom): JsonObject {
  room.warn({ code, message: note });
  return inputText(note);
}

function userPart(part: ContentPart, room: ResponsesRoom): JsonObject[] {
  if (part.type === "text") return [inputText(part.text)];
  const file = wireFile(part, room.target);
  if ("note" in file) return [noted(file, room)];
  if (file.kind === "audio") {
    const note = `[${file.name} (${file.mediaType}) is left out: sound is not taken here]`;
    return [noted({ note, code: "unsupported_file" }, room)];
  }
  if (file.kind === "image")
    return [
      { type: "input_image", image_url: file.url, detail: textIn(objectIn(part.opaque)?.detail) ?? "auto" },
    ];
  if (file.data === undefined) return [{ type: "input_file", file_url: file.url }];
  if (file.kind === "text") return [inputText(`${file.name}:\n${textOfFile(file.data)}`)];
  return [{ type: "input_file", filename: file.name, file_data: file.url }];
}

const plainOutput = "function_call_output";

/** A result as an item, for a call that was sent as a custom tool call. */
export function customResult(json: string): string {
  return json.replace(plainOutput, "custom_tool_call_output");
}

/** A result as an item, for a call that a program made. */
export function calledResult(json: string, caller: JsonObject): string {
  return `${json.slice(0, -1)},"caller":${jsonOf(caller)}}`;
}

/** What the results of a message's calls have to repeat. */
function ofResults(message: AssistantMessage, own: boolean): Pick<ResponsesPiece, "custom" | "callers"> {
  const calls = message.content.filter((part) => part.type === "tool_call");
  const callers = calls.flatMap((call) => {
    const caller = own ? objectIn(call.opaque?.caller) : undefined;
    return caller === undefined ? [] : [[call.id, caller] as const];
  });
  return { custom: calls.flatMap((call) => (isCustom(call, own) ? [call.id] : [])), callers };
}

const withTextSpelt = (part: ContentPart): ContentPart =>
  part.type === "text" ? { ...part, text: withSpeltRefs(part.text) } : part;

function toolItem(message: ToolMessage, room: ResponsesRoom): ResponsesPiece {
  const id = wireId(message.callId, room.ids);
  const parts = message.content.flatMap((part) =>
    userPart(room.compat.spellRefs ? withTextSpelt(part) : part, room),
  );
  const files = parts.filter((part) => part.type !== "input_text");
  const texts = parts.filter((part) => part.type === "input_text").map((part) => String(part.text));
  const apart = files.length > 0 && !room.compat.toolFiles;
  if (apart)
    texts.push(
      `[${files.length === 1 ? "a file" : `${files.length} files`} of this result: in the message after the results]`,
    );
  const text = texts.join("\n");
  const output: Json = files.length > 0 && !apart ? parts : text.trim() === "" ? "(no output)" : text;
  const status = room.compat.itemStatus ? { status: "completed" } : {};
  const json = jsonOf({ type: plainOutput, call_id: id, output, ...status });
  if (!apart) return { role: "tool", json };
  return {
    role: "tool",
    json,
    files: [inputText(`Of the result of ${wireName(message.name)} (${id}):`), ...files],
  };
}

/** A message under construction: consecutive texts of one output message are its content parts. */
interface OpenMessage {
  id: string | undefined;
  after: Json | undefined;
  phase: Json | undefined;
  content: JsonObject[];
}

const unfinished: ReadonlySet<string> = new Set([
  "in_progress",
  "searching",
  "interpreting",
  "generating",
  "incomplete",
]);

function assistantItems(
  message: AssistantMessage,
  room: ResponsesRoom,
  stored: boolean,
  taken?: ReadonlySet<string>,
): JsonObject[] {
  const own = isSameOrigin(message.origin, room.target.origin);
  const items = new Items(taken);
  for (const part of message.content) {
    if (part.type === "text" || part.type === "refusal") {
      items.say(part, own);
      continue;
    }
    const drawn = part.type === "file" && own ? itemOfPicture(part) : undefined;
    if (drawn !== undefined) {
      items.close();
      items.addNative(drawn, true);
      continue;
    }
    if (part.type === "file") {
      const { note, code } = answeredNote(part);
      room.warn({ code, message: note });
      items.close();
      items.say({ type: "text", text: note }, false);
      continue;
    }
    items.close();
    if (part.type === "reasoning") {
      items.addReasoning(own ? reasoningTold(objectIn(part.opaque?.item), room.compat, stored) : undefined);
    } else if (part.type === "tool_call") addCall(part, own, items, room.ids);
    else if (part.type === "native" && own) items.addNative(part.opaque, isTaken(part.opaque, room));
  }
  items.close();
  const { omitInItems, itemStatus } = room.compat;
  const all = itemStatus ? items.all.map((item) => ({ status: "completed", ...item })) : items.all;
  if (omitInItems.length === 0) return all;
  return all.map((item) =>
    Object.fromEntries(Object.entries(item).filter(([member]) => !omitInItems.includes(member))),
  );
}

/** Whether the server takes back what a tool of its own did. */
function isTaken({ item }: JsonObject, { compat }: ResponsesRoom): boolean {
  const container = textIn(objectIn(item)?.container_id);
  return compat.nativeItems && (container === undefined || !compat.lostContainers.includes(container));
}

/** The items of one message under construction. */
class Items {
  readonly all: JsonObject[] = [];
  #waiting: JsonObject[] = [];
  /** Reasoning before this was dropped: the items that followed it must lose their ids. */
  #untied = false;
  #open: OpenMessage | undefined;
  /** The ids that other items have. Set: some of these items have them as well, so none is told that can do without. */
  readonly #taken: Set<string> | undefined;

  constructor(taken?: ReadonlySet<string>) {
    this.#taken = taken && new Set(taken);
  }

  /** @param after the id of the reasoning before the item */
  add(item: JsonObject, id: string | undefined, after: Json | undefined, keepsReasoning = true): void {
    if (keepsReasoning) this.all.push(...this.#waiting);
    else if (this.#waiting.length > 0) this.#untied = true;
    this.#waiting = [];
    const isNamed = id !== undefined && this.#taken === undefined && !this.#untied && this.#isLed(after);
    this.all.push(isNamed ? { ...item, id } : item);
  }

  /** Reasoning that waits for the item after it. Undefined: it cannot be sent. */
  addReasoning(item: JsonObject | undefined): void {
    if (item === undefined) {
      this.#untied = true;
      return;
    }
    const sent = reasoningItem(item);
    if (this.#taken !== undefined && isEncrypted(item)) delete sent.id;
    this.#waiting.push(sent);
  }

  /**
   * A server-run call is tied to its reasoning like any other item, but cannot be sent without an id.
   * @param isTaken the server takes its own items back
   */
  addNative(opaque: JsonObject, isTaken: boolean): void {
    const item = objectIn(opaque.item);
    // A compaction replaces everything before it, and is tied to nothing.
    if (item === undefined) return;
    if (item.type !== "compaction" && (this.#untied || !this.#isLed(opaque.after))) return;
    if (
      unfinished.has(String(item.status)) ||
      (!(isTaken && this.#isAlone(item)) && item.type !== "compaction")
    ) {
      // It was in progress when the answer broke off, or is refused: neither it nor its reasoning can be sent.
      this.#waiting = [];
      this.#untied = true;
    } else this.add(item, undefined, undefined);
  }

  /** Whether no other item has its id. */
  #isAlone({ id }: JsonObject): boolean {
    const isAlone = this.#taken?.has(String(id)) !== true;
    this.#taken?.add(String(id));
    return isAlone;
  }

  say(part: TextPart | RefusalPart, own: boolean): void {
    const opaque = part.type === "text" && own ? part.opaque : undefined;
    const id = part.type === "refusal" ? this.#open?.id : textIn(opaque?.id);
    if (this.#open !== undefined && this.#open.id !== id) this.close();
    this.#open ??= { id, after: opaque?.after, phase: opaque?.phase, content: [] };
    this.#open.content.push(
      part.type === "refusal"
        ? { type: "refusal", refusal: part.text }
        : { type: "output_text", text: part.text, ...(own ? { annotations: part.citations ?? [] } : {}) },
    );
  }

  /** Ends the open message, if there is one. */
  close(): void {
    if (this.#open === undefined) return;
    const { id, after, phase, content } = this.#open;
    this.#open = undefined;
    if (content.every((part) => String(part.text ?? part.refusal).trim() === "")) return;
    // An id that is not in the API's own form is refused. A message without one is accepted, but no longer as the server's
    // own output: strict servers (vLLM) accept no content parts in it.
    const known = this.#taken === undefined ? form(id, "msg") : undefined;
    const plain = known === undefined && content.every(({ type }) => type === "output_text");
    this.add(
      {
        type: "message",
        role: "assistant",
        content: plain ? content.map(({ text }) => text).join("") : content,
        ...(known === undefined ? {} : { status: "completed" }),
        ...(phase === undefined ? {} : { phase }),
      },
      known,
      after,
    );
  }

  /** Whether the reasoning before an item is here: it may have been removed from the history since. */
  #isLed(after: Json | undefined): boolean {
    return (
      after === undefined ||
      // Who numbers items anew ties nothing to them.
      this.#taken !== undefined ||
      [...this.all, ...this.#waiting].some(({ type, id }) => type === "reasoning" && id === after)
    );
  }
}

function isCustom(call: ToolCallPart, own: boolean): boolean {
  return own && call.opaque?.custom === true && call.argsError === undefined;
}

function addCall(call: ToolCallPart, own: boolean, items: Items, ids: IdForm): void {
  const opaque = own ? call.opaque : undefined;
  const callId = wireId(call.id, ids);
  const name = wireName(call.name);
  // What did not arrive whole cannot be sent as the server's own: such a call is sent as a plain one (F029).
  const broken = call.argsError !== undefined;
  const id = textIn(opaque?.id);
  // The members that say where its tool is declared and who called it are needed for a broken call as well: it is refused
  // without them.
  const rest: JsonObject = {};
  for (const member of ["namespace", "caller"]) {
    const value = opaque?.[member];
    if (value !== undefined) rest[member] = value;
  }
  if (isCustom(call, own)) {
    items.add(
      { type: "custom_tool_call", call_id: callId, name, input: textIn(call.args.input) ?? "", ...rest },
      form(id, "ctc"),
      opaque?.after,
    );
    return;
  }
  const args = withinLimits(argumentsText(call), call.args);
  items.add(
    { type: "function_call", call_id: callId, name, arguments: args, ...rest },
    broken ? undefined : form(id, "fc"),
    opaque?.after,
    !broken,
  );
}
