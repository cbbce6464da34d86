// The room of requests in Ollama's own chat protocol.
//
// Each message and each tool is encoded once and reused from then on. Settings without a field in the protocol become
// warnings. `num_ctx` is always worth setting: without it the server cuts a long prompt from the front without reporting it
// (F184).

import {
  type ContentPart,
  callsOf,
  isSameOrigin,
  type Json,
  type JsonObject,
  type Message,
  type ModelRequest,
  type Settings,
  type ToolDefinition,
  textOf,
} from "@rondo/core";
import type { Encoder, Target, WireRequest } from "../../codec.ts";
import { jsonOf, objectIn } from "../../json-values.ts";
import { bodyOf, KeptText } from "../../kept-text.ts";
import { plainMode, sentTool } from "../../schemas/codecs.ts";
import { argsJson } from "../args-json.ts";
import { isAccepted, textOfFile, whyLeftOut } from "../files.ts";
import { History } from "../history.ts";
import { fromLow, upToHigh } from "../levels.ts";
import { typeOfFile } from "../media-types.ts";
import { answeredNote, wireFile } from "../openai/files.ts";
import { schemaRoom } from "../openai/settings.ts";
import type { Warning } from "../warn.ts";

interface Piece {
  /** Empty: nothing of the message can be sent. */
  json: string;
  warnings: Warning[];
}

/** Messages joined so far, separated by commas, and the warnings about them. */
interface Joined {
  messages: KeptText;
  begun: boolean;
  /** A message other than the system's was added. */
  spoken: boolean;
  /** The role of the last message. */
  last: Message["role"] | undefined;
  warnings: Warning[];
}

const nothing = (): Joined => ({
  messages: new KeptText(),
  begun: false,
  spoken: false,
  last: undefined,
  warnings: [],
});

/** Ollama's chat templates look for a user message, and fail without one (F129). */
const onward: string = jsonOf({ role: "user", content: "Continue." });

export class OllamaEncoder implements Encoder {
  readonly #target: Target;
  readonly #messages = new WeakMap<Message, Piece>();
  readonly #history = new History<Joined>();
  readonly #tools = new WeakMap<ToolDefinition, Piece>();

  constructor(target: Target) {
    this.#target = target;
  }

  encode(request: ModelRequest): WireRequest {
    const { system } = request;
    const {
      messages,
      begun,
      spoken,
      last: speaker,
      warnings: told,
    } = this.#history.take(request.messages, "", nothing, (joined, message) => this.#add(joined, message));
    const warnings = [...told];
    const tools = offered(request, warnings).map((tool) => this.#tool(tool));
    warnings.push(...tools.flatMap((tool) => tool.warnings));
    const fields = this.#fields(request, warnings);
    if (request.settings.parallelToolCalls === false && tools.length > 0)
      warnings.push({
        code: "unsupported_setting",
        message: "Ollama cannot be told to make one call at most: parallelToolCalls has no effect",
      });
    // Something always follows it.
    const prompt =
      system === undefined || system === "" ? "" : `${jsonOf({ role: "system", content: system })},`;
    // Some models behind it accept no answer at the end (F127).
    const ends = spoken && !(speaker === "assistant" && this.#target.compat?.noAssistantLast === true);
    const last = ends ? "" : begun ? `,${onward}` : onward;
    const before = `{"model":${JSON.stringify(this.#target.origin.model)},"messages":[${prompt}`;
    const list = tools.length === 0 ? "" : `"tools":[${tools.map(({ json }) => json).join(",")}],`;
    return {
      path: "/api/chat",
      headers: {},
      ...bodyOf(before, messages.now(), `${last}],${list}${jsonOf(fields).slice(1)}`),
      warnings,
    };
  }

  /** The members of the body after messages and tools. */
  #fields({ settings, outputSchema }: ModelRequest, warnings: Warning[]): JsonObject {
    const { stream = true, compat = {} } = this.#target;
    const { options: ownOptions, ...ownFields } = settings.providerOptions?.ollama ?? {};
    const options: JsonObject = {
      ...(typeof compat.numCtx === "number" ? { num_ctx: compat.numCtx } : {}),
      ...sampling(settings),
      ...objectIn(ownOptions),
    };
    const format: Json | undefined = outputSchema ?? compat.format;
    const think = thinking(settings, compat.thinkLevels !== false, warnings);
    return {
      stream,
      ...(format === undefined ? {} : { format }),
      ...(Object.keys(options).length === 0 ? {} : { options }),
      ...(think === undefined ? {} : { think }),
      ...(compat.keepAlive === undefined ? {} : { keep_alive: compat.keepAlive }),
      ...ownFields,
    };
  }

  #add(joined: Joined, message: Message): void {
    const { json, warnings } = this.#message(message);
    joined.warnings.push(...warnings);
    if (json === "") return;
    if (message.role !== "system") {
      // At the start, not at the end: there it would move with every step.
      if (!joined.spoken && message.role !== "user") append(joined, onward);
      joined.spoken = true;
    }
    joined.last = message.role;
    append(joined, json);
  }

  #tool(tool: ToolDefinition): Piece {
    let piece = this.#tools.get(tool);
    if (piece === undefined) {
      const { name } = tool;
      const mode = plainMode(this.#target.compat) ?? "tool";
      const warnings: Warning[] = [];
      const { description, schema } = sentTool(tool, mode, schemaRoom(this.#target, warnings));
      // Some templates fail on a schema without properties (F141).
      const parameters = { ...schema, type: "object", properties: schema.properties ?? {} };
      piece = { json: jsonOf({ type: "function", function: { name, description, parameters } }), warnings };
      this.#tools.set(tool, piece);
    }
    return piece;
  }

  #message(message: Message): Piece {
    let piece = this.#messages.get(message);
    if (piece === undefined) {
      piece = this.#encoded(message);
      this.#messages.set(message, piece);
    }
    return piece;
  }

  #encoded(message: Message): Piece {
    switch (message.role) {
      case "system": {
        const text = message.content.map((part) => part.text).join("\n");
        return { json: text.trim() === "" ? "" : jsonOf({ role: "system", content: text }), warnings: [] };
      }
      case "user":
        return withContent({ role: "user" }, message.content, this.#target);
      case "tool":
        return withContent(
          { role: "tool", tool_name: named(message.name), tool_call_id: message.callId },
          message.content,
          this.#target,
        );
      case "assistant": {
        const thought = isSameOrigin(message.origin, this.#target.origin)
          ? message.content.map((part) => (part.type === "reasoning" ? part.text : "")).join("")
          : "";
        const refusal = message.content.map((part) => (part.type === "refusal" ? part.text : "")).join("");
        const calls = callsOf(message).map(
          (call) =>
            `{"id":${jsonOf(call.id)},"function":{"name":${jsonOf(named(call.name))},"arguments":${argsJson(call)}}}`,
        );
        const notes = message.content.flatMap((part) => (part.type === "file" ? [answeredNote(part)] : []));
        const said = [textOf(message) + refusal, ...notes.map(({ note }) => note)]
          .filter((text) => text !== "")
          .join("\n");
        // A blank message says nothing, but templates would make a turn of it (F122).
        if (said.trim() === "" && calls.length === 0) return { json: "", warnings: [] };
        const json = jsonOf({
          role: "assistant",
          content: said,
          ...(thought === "" ? {} : { thinking: thought }),
        });
        return {
          json: calls.length === 0 ? json : `${json.slice(0, -1)},"tool_calls":[${calls.join(",")}]}`,
          warnings: notes.map(({ note, code }) => ({ code, message: note })),
        };
      }
    }
  }
}

/** A call without a tool name got an error result, and needs some name in the history. */
const named = (tool: string): string => (tool === "" ? "unnamed_tool" : tool);

function append(joined: Joined, json: string): void {
  joined.messages.append(joined.begun ? `,${json}` : json);
  joined.begun = true;
}

/** Text, text files and images of a message; a file that cannot be sent is mentioned in the text, so that the model knows of it. */
function withContent(fields: JsonObject, content: readonly ContentPart[], target: Target): Piece {
  const texts: string[] = [];
  const images: string[] = [];
  const warnings: Warning[] = [];
  for (const part of content) {
    if (part.type === "text") {
      texts.push(part.text);
      continue;
    }
    const file = wireFile(part, target);
    if (!("note" in file) && file.kind === "text" && file.data !== undefined) {
      texts.push(`${file.name}:\n${textOfFile(file.data)}`);
      continue;
    }
    const mediaType = typeOfFile(part);
    const accepted = isAccepted(part, target);
    if (accepted && mediaType.startsWith("image/") && typeof part.data === "string") images.push(part.data);
    else {
      const what = part.name ?? mediaType;
      const why = accepted ? "Ollama takes images and texts as bytes only" : whyLeftOut(part, target);
      texts.push(`[the file ${what} is not shown]`);
      warnings.push({
        code: "unsupported_file",
        message: `${what} is named to the model, not sent: ${why}`,
      });
    }
  }
  const text = texts.join("\n");
  const blank = fields.role === "tool" ? "(no output)" : "(no text)";
  const json = jsonOf({
    role: fields.role ?? "user",
    content: text.trim() === "" && images.length === 0 ? blank : text,
    ...(images.length === 0 ? {} : { images }),
    ...fields,
  });
  return { json, warnings };
}

/** The tools to send: Ollama has no tool choice, so a choice narrows the list. */
function offered(request: ModelRequest, warnings: Warning[]): readonly ToolDefinition[] {
  const { toolChoice, tools } = request;
  if (toolChoice === "auto" || tools.length === 0) return tools;
  if (toolChoice === "none") return [];
  warnings.push({
    code: "unsupported_tool_choice",
    message: "Ollama cannot force a call: the model may answer without one",
  });
  return typeof toolChoice === "object" ? tools.filter(({ name }) => name === toolChoice.tool) : tools;
}

function sampling(settings: Settings): JsonObject {
  const pairs: readonly (readonly [string, Json | undefined])[] = [
    ["temperature", settings.temperature],
    ["top_p", settings.topP],
    ["top_k", settings.topK],
    ["num_predict", settings.maxOutputTokens],
    ["stop", settings.stop],
    ["seed", settings.seed],
    ["frequency_penalty", settings.frequencyPenalty],
    ["presence_penalty", settings.presencePenalty],
  ];
  return Object.fromEntries(pairs.filter((pair): pair is [string, Json] => pair[1] !== undefined));
}

/** @param levels whether the model has levels of thinking */
function thinking(settings: Settings, levels: boolean, warnings: Warning[]): Json | undefined {
  const { reasoning } = settings;
  if (reasoning === undefined) return undefined;
  if (reasoning === "off") return false;
  if (typeof reasoning === "object") {
    warnings.push({
      code: "adjusted_setting",
      message: "Ollama has no budget for thinking: it is switched on without one",
    });
    return true;
  }
  if (levels) return fromLow(upToHigh(reasoning, (code, message) => void warnings.push({ code, message })));
  warnings.push({
    code: "adjusted_setting",
    message: `this model has no levels of thinking: it was asked to think, without the level ${reasoning}`,
  });
  return true;
}
