// The room of mending: makes one message, and each of its parts, valid.
//
// Other programs leave members out, put null and strings in place of lists, and cut emoji in two. What cannot be read is
// left out. Signed content is never changed, because a provider would refuse it then.

import { isObject } from "../../json/object.ts";
import {
  type AssistantMessage,
  type ContentPart,
  type FilePart,
  holdsFile,
  isSameOrigin,
  type Json,
  type Message,
  type Origin,
  type Part,
  type Stop,
  type StopKind,
  type TextPart,
  type ToolCallPart,
} from "../../message.ts";
import { headOf, tailOf } from "../../text/size.ts";
import { sameItems } from "./pairing.ts";
import type { RepairPolicy, RepairTexts } from "./policy.ts";

const namePattern = /^[A-Za-z0-9_-]{1,64}$/;

/** The repaired message; the same object if nothing was wrong; undefined if nothing of it can be used. */
export function mendMessage(given: Message, policy: RepairPolicy, texts: RepairTexts): Message | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const content = mendContent(given, policy, texts);
  const kept = Array.isArray(given.content) && sameItems(content, given.content) ? given.content : content;
  switch (given.role) {
    case "system":
    case "user":
      if (content.every((part) => part.type === "text" && part.text === "")) return undefined;
      return kept === given.content ? given : ({ ...given, content: kept } as Message);
    case "assistant":
      return mendAnswer(given, kept as Part[]);
    case "tool": {
      const callId = idIn(given.callId);
      const name = nameIn(given.name);
      const isError = given.isError === true;
      const same = callId === given.callId && name === given.name && isError === given.isError;
      if (same && kept === given.content) return given;
      return { ...given, callId, name, content: kept as ContentPart[], isError };
    }
    default:
      return undefined;
  }
}

const unknownOrigin: Origin = { api: "unknown", provider: "unknown", model: "unknown" };

/** Every answer gets an origin and a stop reason, `unknown` if need be: other programs have other words for them, or none. */
function mendAnswer(given: AssistantMessage, content: Part[]): AssistantMessage {
  const origin = isObject(given.origin) ? given.origin : unknownOrigin;
  const kind: StopKind = content.some((part) => part.type === "tool_call") ? "tool_use" : "end_turn";
  const stop: Stop = typeof given.stop?.kind === "string" ? given.stop : { kind, wire: kind };
  if (origin === given.origin && stop === given.stop && content === given.content) return given;
  return { ...given, content, origin, stop };
}

function mendContent(given: Message, policy: RepairPolicy, texts: RepairTexts): Part[] {
  const content: unknown = given.content;
  if (typeof content === "string")
    return content.trim() === "" ? [] : [{ type: "text", text: cut(content.toWellFormed(), policy, texts) }];
  if (!Array.isArray(content)) return [];
  const own =
    given.role === "assistant" && policy.origin !== undefined && isSameOrigin(given.origin, policy.origin);
  const parts = content.flatMap((part: Part): Part[] => {
    if (typeof part !== "object" || part === null) return [];
    if (given.role !== "assistant" && part.type !== "text" && part.type !== "file") return [];
    return mendPart(part, policy, texts, own);
  });
  // An empty part says nothing and is refused everywhere; a message that has nothing else is dropped.
  const said = parts.filter((part) => part.type !== "text" || part.text !== "" || part.opaque !== undefined);
  if (given.role === "tool" && said.length === 0) return parts;
  return said.every((part) => part.type === "text" && part.text.trim() === "" && part.opaque === undefined)
    ? []
    : said;
}

function mendPart(part: Part, policy: RepairPolicy, texts: RepairTexts, own: boolean): Part[] {
  switch (part.type) {
    case "text":
    case "refusal": {
      const text = cut(textIn(part.text).toWellFormed(), policy, texts);
      return [text === part.text ? part : { ...part, text }];
    }
    case "reasoning":
      return mendReasoning(part, policy, own);
    case "tool_call":
      return mendCall(part, policy);
    case "file":
      if (
        typeof part.data === "string" &&
        part.data.length > (policy.maxPartChars ?? Number.POSITIVE_INFINITY)
      )
        return [{ type: "text", text: texts.cut.replace("{n}", String(part.data.length)).trim() }];
      return mendFile(part);
    case "native":
      return typeof part.opaque === "object" && part.opaque !== null ? [part] : [];
    default:
      return [];
  }
}

function mendFile(part: FilePart): Part[] {
  if (typeof part.mediaType !== "string" || !holdsFile(part)) return [];
  const { data, ...rest } = part as Omit<FilePart, "data"> & { data?: FilePart["data"] | null };
  return [data === null ? rest : part];
}

function mendReasoning(part: Part & { type: "reasoning" }, policy: RepairPolicy, own: boolean): Part[] {
  if (policy.dropReasoning === true) return [];
  const foreign = policy.origin !== undefined && !own;
  if (foreign && policy.foreignReasoning === "drop") return [];
  const text = textIn(part.text);
  if (foreign && policy.foreignReasoning === "text")
    return text.trim() === "" ? [] : [{ type: "text", text: text.toWellFormed() } satisfies TextPart];
  if (part.opaque !== undefined) return [part];
  const mended = text.toWellFormed();
  if (mended === "") return [];
  return [mended === part.text ? part : { ...part, text: mended }];
}

function mendCall(part: ToolCallPart, policy: RepairPolicy): ToolCallPart[] {
  const isWhole = isObject(part.args);
  const name = nameIn(part.name);
  const id = idIn(part.id);
  if (policy.malformed === "drop" && (!isWhole || id === "" || !namePattern.test(name))) return [];
  const args = isWhole ? (wellFormedJson(part.args) as ToolCallPart["args"]) : {};
  const rawArgs =
    typeof part.rawArgs === "string" ? part.rawArgs.toWellFormed() : JSON.stringify(part.args ?? {});
  const argsError = isWhole ? part.argsError : (part.argsError ?? "the arguments are no JSON object");
  const same =
    name === part.name &&
    id === part.id &&
    args === part.args &&
    rawArgs === part.rawArgs &&
    argsError === part.argsError;
  if (same) return [part];
  return [{ ...part, id, name, args, rawArgs, ...(argsError === undefined ? {} : { argsError }) }];
}

/** Cuts out the middle of a long text, at whole characters. */
function cut(text: string, { maxPartChars: most }: RepairPolicy, texts: RepairTexts): string {
  if (most === undefined || text.length <= most) return text;
  const noteFor = (left: number): string => texts.cut.replace("{n}", String(left));
  const room = Math.max(0, most - noteFor(text.length).length);
  const head = headOf(text, Math.ceil(room / 2));
  const tail = tailOf(text, Math.floor(room / 2));
  return head + noteFor(text.length - head.length - tail.length) + tail;
}

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

/** The id that a call and its result share, repaired in the same way on both sides; a blank one counts as none. */
function idIn(value: unknown): string {
  const id = textIn(value).toWellFormed();
  return id.trim() === "" ? "" : id;
}

const nameIn = (value: unknown): string => textIn(value).toWellFormed().trim();

/** The value without lone surrogates: one of them makes a whole request body unreadable (F094). */
function wellFormedJson(value: Json): Json {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) {
    const items = value.map(wellFormedJson);
    return sameItems(items, value) ? value : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(
    ([key, member]) => [key.toWellFormed(), wellFormedJson(member)] as const,
  );
  return members.every(([key, member]) => value[key] === member) ? value : Object.fromEntries(members);
}
