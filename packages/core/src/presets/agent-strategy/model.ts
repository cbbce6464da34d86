// The room of the strategy's model: wraps a model so that its answers read as that system reads them.
//
// Calls that cannot be answered are left out. A call that was sent twice counts once. Arguments are read with the strategy's
// own words. A null message or a null text does no harm.

import { fittingOutput } from "../../context/guard/route.ts";
import { isObject } from "../../json/object.ts";
import type { AssistantMessage, Part, ToolCallPart } from "../../message.ts";
import {
  isAnswerLike,
  type Model,
  type ModelEvent,
  type ModelIo,
  type ModelRequest,
  modelFace,
} from "../../model.ts";
import { parseToolArguments } from "./arguments.ts";
import { modelMessages } from "./outputs.ts";

export interface StrategyModel {
  /** Whether deltas are emitted. `false`: an answer comes as a whole. */
  streams: boolean;
  /** Whether the model is sent images. `false`: images become words, as all files of users then do. */
  sees: boolean;
  /** Counts the tokens of a request, for a model with a known window and output limit. Default: one token for 4 characters. */
  countTokens?: (request: ModelRequest) => number;
}

/** The output limit that still fits into the window, at least 16 tokens. */
export function recalcMaxTokens(promptTokens: number, maxTokens: number, contextWindow: number): number {
  return fittingOutput(maxTokens, promptTokens, contextWindow);
}

/** The model as the strategy uses it. */
export function strategyModel(model: Model, options: StrategyModel): Model {
  const { streams, sees, countTokens = tokensOf } = options;
  return {
    ...modelFace(model),
    async call(request, io) {
      const shown = sees ? request : inWords(request);
      const message = (await model.call(fitted(shown, model, countTokens), heardBy(io, streams))) as
        | AssistantMessage
        | null
        | undefined;
      return read(message, model, io);
    },
  };
}

/** The request for a model that cannot see images. This is decided here, because a stand-in model may differ from the one it replaces. */
function inWords(request: ModelRequest): ModelRequest {
  const messages = [...request.messages];
  const shown = modelMessages(messages, true);
  return shown === messages ? request : { ...request, messages: shown };
}

function fitted(
  request: ModelRequest,
  model: Model,
  countTokens: (request: ModelRequest) => number,
): ModelRequest {
  const { maxOutputTokens } = request.settings;
  const window = model.facts?.contextWindow;
  if (maxOutputTokens === undefined || window === undefined) return request;
  const fits = recalcMaxTokens(countTokens(request), maxOutputTokens, window);
  return fits === maxOutputTokens
    ? request
    : { ...request, settings: { ...request.settings, maxOutputTokens: fits } };
}

function tokensOf(request: ModelRequest): number {
  let characters = (request.system?.length ?? 0) + JSON.stringify(request.tools).length;
  for (const message of request.messages)
    for (const part of message.content) characters += part.type === "file" ? 0 : JSON.stringify(part).length;
  return Math.ceil(characters / 4);
}

function heardBy(io: ModelIo, streams: boolean): ModelIo {
  return {
    ...io,
    emit(event: ModelEvent) {
      if (event.type === "progress" || event.type === "warning") io.emit(event);
      else if (!streams) io.emit({ type: "progress" });
      else if (typeof (event.type === "tool_args_delta" ? event.delta : event.text) === "string")
        io.emit(event);
    },
  };
}

function read(given: AssistantMessage | null | undefined, model: Model, io: ModelIo): AssistantMessage {
  const { origin } = model;
  const empty: AssistantMessage = {
    role: "assistant",
    content: [],
    origin,
    stop: { kind: "end_turn", wire: "end_turn" },
  };
  const message = isObject(given) ? { ...given, content: given.content ?? [] } : (given ?? empty);
  if (!isAnswerLike(message)) return message;
  const content = readParts(message.content, io, withoutIds.has(origin.api));
  const calls = content.some((part) => part.type === "tool_call");
  if (calls || message.stop.wire !== "tool_use") return { ...message, content };
  // The stop word says tool calls, but no call can be answered: so this is an answer without calls.
  return { ...message, content, stop: { ...message.stop, kind: "end_turn", wire: "end_turn" } };
}

/** Protocols without call ids: a call without an id is complete there, and the loop gives it one. */
const withoutIds: ReadonlySet<string> = new Set(["google-generative-ai"]);

function readParts(parts: readonly Part[], io: ModelIo, mayLackId: boolean): Part[] {
  const content: Part[] = [];
  const places = new Map<string, number>();
  for (const part of parts) {
    if (part.type !== "tool_call") {
      if (part.type !== "text" || typeof part.text === "string") content.push(part);
      continue;
    }
    const id = String(part.id ?? "").trim();
    const name = String(part.name ?? "").trim();
    if (name === "" || (id === "" && !mayLackId)) continue;
    const call = readCall({ ...part, id, name }, io);
    const place = id === "" ? undefined : places.get(id);
    if (place === undefined) places.set(id, content.push(call) - 1);
    else content[place] = call;
  }
  return content;
}

/** The arguments are written again from what was parsed; those that could not be parsed become `{}`. */
function readCall(part: ToolCallPart, io: ModelIo): ToolCallPart {
  const { argsError, ...call } = part;
  const parsed = parseToolArguments(part.rawArgs as unknown);
  if (parsed.ok && argsError === undefined) {
    const { args } = part;
    return { ...call, rawArgs: JSON.stringify(args) };
  }
  const error = parsed.ok ? "tool arguments must be valid JSON object" : parsed.error;
  io.emit({
    type: "warning",
    code: "tool_arguments",
    message: `${part.name}: ${error}: ${String(part.rawArgs).slice(0, 500)}`,
  });
  return { ...call, args: {}, rawArgs: "{}", argsError: error };
}
