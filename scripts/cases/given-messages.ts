// The room of a run's beginning: the task or history of a case, as Rondo's messages.
//
// Every member that a case uses for a message or a part is mapped here, or refused.

import type {
  AssistantMessage,
  ContentPart,
  JsonObject,
  Message,
  Origin,
  Part,
  ToolMessage,
} from "@rondo/core";
import { type Data, demandKnown, type Given, repeated, Unsupported, unescaped } from "./format.ts";
import { apiOf, defaultModel, originProvider, protocolOf } from "./providers.ts";
import type { Protocol } from "./wire.ts";

/** A text of about this many tokens. */
export const words = (tokens: number): string => "word ".repeat(tokens).trim();

/**
 * The input of the run: a task, or a history. A case about overflow that has neither assumes a conversation that can be
 * compacted, so it gets one.
 */
export function inputOf(given: Given, provider: string, overflows: boolean): string | Message[] {
  const said = given.history ?? given.prompt ?? given.estimated_prompt_tokens;
  if (overflows && said === undefined) return historyOf({ ...given, history: longConversation }, provider);
  if (given.history !== undefined) return historyOf(given, provider);
  if (given.prompt !== undefined) return given.prompt;
  return given.estimated_prompt_tokens === undefined ? "go" : words(given.estimated_prompt_tokens);
}

const longConversation: NonNullable<Given["history"]> = [
  { role: "user", text: "Read the report" },
  { role: "assistant", parts: [{ text: "It says this. ".repeat(200) }] },
  { role: "user", text: "go" },
];

const messageMembers =
  "role text text_escaped text_repeat parts tool_calls results model provider timestamp created_at metadata duration_ms stop_reason note";

export function historyOf(given: Given, provider: string): Message[] {
  const names = new Map<string, string>();
  return (given.history ?? []).flatMap((one): Message[] => {
    demandKnown("given.history[]", one, messageMembers);
    const inner = extras(one);
    switch (one.role) {
      case "user":
        return [{ role: "user", content: contentOf(one), ...inner }];
      case "system":
        return [{ role: "system", content: contentOf(one) as { type: "text"; text: string }[], ...inner }];
      case "assistant":
        return [{ ...assistantOf(one, given, provider, names), ...inner }];
      case "tool":
        return ((one.results ?? []) as Data[]).map((result) => ({ ...resultOf(result, names), ...inner }));
      default:
        throw new Unsupported(`given.history[].role ${JSON.stringify(one.role)}`);
    }
  });
}

const hostsOwn: ReadonlySet<string> = new Set(["timestamp", "created_at", "metadata", "duration_ms"]);

/** The host's own members of a message, which must never reach a provider. */
function extras(one: Data): object {
  return Object.fromEntries(
    Object.entries(one).filter(([name]) => hostsOwn.has(name) || name.startsWith("_")),
  );
}

function textIn(one: Data): string | undefined {
  if (typeof one.text === "string") return one.text;
  if (typeof one.text_escaped === "string") return unescaped(one.text_escaped);
  if (one.text_repeat !== undefined) return repeated(one.text_repeat as { unit: string });
  return undefined;
}

function contentOf(one: Data): ContentPart[] {
  const text = textIn(one);
  const parts = ((one.parts ?? []) as Data[]).map((part) => contentPart(part));
  return text === undefined ? parts : [{ type: "text", text }, ...parts];
}

export function contentPart(part: Data): ContentPart {
  demandKnown("part", part, "text text_escaped text_repeat image file cache_control");
  const text = textIn(part);
  const mark =
    part.cache_control === undefined ? {} : { opaque: { cache_control: part.cache_control as JsonObject } };
  if (text !== undefined) return { type: "text", text, ...mark };
  const file = (part.image ?? part.file) as Data | undefined;
  if (file === undefined) throw new Unsupported(`a part with ${Object.keys(part).join(", ")}`);
  demandKnown("image", file, "media_type data data_repeat url name");
  const data = file.data_repeat === undefined ? file.data : repeated(file.data_repeat as { unit: string });
  return {
    type: "file",
    mediaType: String(file.media_type ?? "image/png"),
    ...(data === undefined ? {} : { data: String(data) }),
    ...(file.url === undefined ? {} : { url: String(file.url) }),
    ...(file.name === undefined ? {} : { name: String(file.name) }),
  };
}

function assistantOf(one: Data, given: Given, own: string, names: Map<string, string>): AssistantMessage {
  const provider = String(one.provider ?? own);
  const protocol = protocolOf(provider);
  const sameModel = given.model ?? defaultModel(protocol);
  const origin: Origin = {
    api: apiOf[protocol],
    provider: originProvider(provider),
    model: String(one.model ?? (provider === own ? sameModel : defaultModel(protocol))),
  };
  const text = textIn(one);
  const calls = ((one.tool_calls ?? []) as Data[]).map((call) => ({ tool_call: call }));
  const parts = [...((one.parts ?? []) as Data[]), ...calls].map((part) =>
    assistantPart(part, names, protocol),
  );
  const content: Part[] = text === undefined ? parts : [{ type: "text", text }, ...parts];
  const usual = content.some((part) => part.type === "tool_call") ? "tool_use" : "end_turn";
  const kind = (one.stop_reason ?? usual) as AssistantMessage["stop"]["kind"];
  return { role: "assistant", content, origin, stop: { kind, wire: kind } };
}

function assistantPart(part: Data, names: Map<string, string>, protocol: Protocol): Part {
  if (part.tool_call !== undefined) return callPart(part, names);
  if (part.reasoning_item !== undefined || part.reasoning !== undefined) return itemPart(part);
  const { redacted_thinking: redacted = part.redacted, refusal } = part;
  if (redacted !== undefined)
    return {
      type: "reasoning",
      text: "",
      opaque: { redacted: String((redacted as { data?: unknown }).data ?? redacted) },
    };
  if (refusal !== undefined) return { type: "refusal", text: String(refusal) };
  const native = nativePart(part);
  if (native !== undefined) return native;
  if (part.thinking !== undefined) {
    demandKnown("part", part, "thinking signature thinking_escaped id item_id encrypted_content");
    const { signature, id = part.item_id, encrypted_content } = part;
    // On the Responses API the reasoning item's encrypted content takes the place of a signature.
    const isItem = protocol === "openai-responses" && signature !== undefined;
    if (isItem || id !== undefined || encrypted_content !== undefined)
      return itemPart({
        reasoning: { id, encrypted_content: encrypted_content ?? signature, summary: part.thinking },
      });
    return {
      type: "reasoning",
      text: String(part.thinking),
      ...(signature === undefined ? {} : { opaque: { signature: String(signature) } }),
    };
  }
  return contentPart(part);
}

/** A block that only its provider understands: unchanged, under `native`, `raw` or `block`, or under its own type. */
function nativePart(part: Data): Part | undefined {
  const [[name, given] = ["", undefined]] = Object.entries(part);
  if (!/^(?:native|raw|block|server_tool_\w+|\w+_tool_result|web_search_call)$/.test(name)) return undefined;
  if (typeof given !== "object" || given === null || Object.keys(part).length > 1) return undefined;
  const block = /^(?:native|raw|block)$/.test(name) ? (given as JsonObject) : { type: name, ...given };
  return { type: "native", kind: String(block.type ?? name), opaque: block as JsonObject };
}

/** Reasoning as in the Responses API: an item with an id and encrypted content. */
function itemPart(part: Data): Part {
  const { reasoning_item, reasoning, ...beside } = part;
  const given = (reasoning_item ?? reasoning) as Data | string;
  const said: Data = { ...beside, ...(typeof given === "string" ? { summary: given } : given) };
  demandKnown("reasoning_item", said, "type id summary text encrypted_content status");
  const text = typeof said.summary === "string" ? said.summary : String(said.text ?? "");
  const summary = text === "" ? [] : [{ type: "summary_text", text }];
  const { id, encrypted_content: encrypted } = said;
  const item = {
    type: "reasoning",
    ...(id === undefined ? {} : { id }),
    summary: Array.isArray(said.summary) ? said.summary : summary,
    ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
  };
  return { type: "reasoning", text, opaque: { item: item as JsonObject } };
}

function callPart(part: Data, names: Map<string, string>): Part {
  demandKnown("part", part, "tool_call signature thought_signature item_id");
  const call = part.tool_call as Data;
  demandKnown("tool_call", call, "id name arguments arguments_raw item_id extra_content");
  const id = String(call.id);
  const name = String(call.name);
  names.set(id, name);
  const signature = part.thought_signature ?? part.signature;
  const itemId = part.item_id ?? call.item_id;
  const own = {
    ...(signature === undefined ? {} : { thoughtSignature: String(signature) }),
    ...(itemId === undefined ? {} : { id: String(itemId) }),
    ...(call.extra_content === undefined ? {} : { extra_content: call.extra_content as JsonObject }),
  };
  const opaque = Object.keys(own).length === 0 ? {} : { opaque: own };
  if (call.arguments_raw === undefined) {
    const args = (call.arguments ?? {}) as JsonObject;
    return { type: "tool_call", id, name, args, rawArgs: JSON.stringify(args), ...opaque };
  }
  const rawArgs = String(call.arguments_raw);
  try {
    const args = JSON.parse(rawArgs) as unknown;
    if (typeof args === "object" && args !== null && !Array.isArray(args))
      return { type: "tool_call", id, name, args: args as JsonObject, rawArgs, ...opaque };
  } catch {
    // Kept as it is: unreadable arguments.
  }
  const argsError = "the arguments are no JSON object";
  return { type: "tool_call", id, name, args: {}, rawArgs, argsError, ...opaque };
}

function resultOf(result: Data, names: Map<string, string>): ToolMessage {
  demandKnown(
    "results[]",
    result,
    "id text text_escaped text_repeat parts is_error name timestamp duration_ms",
  );
  const callId = String(result.id);
  return {
    role: "tool",
    callId,
    name: String(result.name ?? names.get(callId) ?? "unknown"),
    content: contentOf(result),
    isError: result.is_error === true,
    ...extras(result),
  };
}
