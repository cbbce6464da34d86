// A model that speaks text only, for the tests of the text protocol: its mind is given, everything around it is real.

import type {
  AssistantMessage,
  Message,
  Model,
  ModelEvent,
  ModelFacts,
  ModelRequest,
  Part,
  StopKind,
  ToolCallPart,
  ToolDefinition,
} from "@rondo/core";
import { type PromptedOptions, promptedJson } from "../../src/index.ts";

export interface Mind {
  /** Characters a delta. Default: 7. */
  chunk?: number;
  wire?: StopKind;
  reasoning?: string;
  facts?: ModelFacts;
}

/** Says these texts, one a call; keeps what it was asked. */
export function speaking(
  says: string | readonly string[],
  mind: Mind = {},
): Model & { asked: ModelRequest[] } {
  const texts = typeof says === "string" ? [says] : says;
  const asked: ModelRequest[] = [];
  const origin = { api: "text", provider: "test", model: "text" };
  return {
    id: "test/text",
    origin,
    facts: { tools: false, ...mind.facts },
    asked,
    call: async (request, io): Promise<AssistantMessage> => {
      const text = texts[Math.min(asked.length, texts.length - 1)] ?? "";
      asked.push({ ...request, messages: [...request.messages] });
      const { chunk = 7, wire = "end_turn", reasoning } = mind;
      const content: Part[] = [];
      if (reasoning !== undefined) {
        io.emit({ type: "reasoning_delta", index: 0, text: reasoning });
        content.push({ type: "reasoning", text: reasoning });
      }
      for (let at = 0; at < text.length; at += chunk)
        io.emit({ type: "text_delta", index: content.length, text: text.slice(at, at + chunk) });
      content.push({ type: "text", text });
      return { role: "assistant", content, origin, stop: { kind: wire, wire, raw: "stop" } };
    },
  };
}

export const weather: ToolDefinition = {
  name: "weather",
  description: "Current weather of a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
export const list: ToolDefinition = {
  name: "list",
  description: "Lists files",
  inputSchema: { type: "object", properties: {} },
};

export const ask: ModelRequest = {
  system: "Be short.",
  messages: [{ role: "user", content: [{ type: "text", text: "Weather in Oslo?" }] }],
  tools: [weather, list],
  toolChoice: "auto",
  settings: {},
};

export interface Heard {
  answer: AssistantMessage;
  text: string;
  reasoning: string;
  calls: { name: string; args: unknown; argsError?: string }[];
  /** Text as it was shown while it arrived. */
  shown: string;
  warnings: string[];
  events: ModelEvent[];
}

/** What a text answer is read as. */
export async function heard(
  says: string,
  options: PromptedOptions & { mind?: Mind; request?: Partial<ModelRequest> } = {},
): Promise<Heard> {
  const { mind, request, ...prompted } = options;
  return await hear(promptedJson(speaking(says, mind), prompted), { ...ask, ...request });
}

export async function hear(model: Model, request: ModelRequest): Promise<Heard> {
  const events: ModelEvent[] = [];
  const answer = await model.call(request, {
    signal: new AbortController().signal,
    emit: (event) => events.push(event),
  });
  const parts = (type: Part["type"]): Part[] => answer.content.filter((part) => part.type === type);
  return {
    answer,
    text: parts("text")
      .map((part) => ("text" in part ? part.text : ""))
      .join("|"),
    reasoning: parts("reasoning")
      .map((part) => ("text" in part ? part.text : ""))
      .join("|"),
    calls: (parts("tool_call") as ToolCallPart[]).map(({ name, args, argsError }) => ({
      name,
      args,
      ...(argsError === undefined ? {} : { argsError }),
    })),
    shown: events.map((event) => (event.type === "text_delta" ? event.text : "")).join(""),
    warnings: events.flatMap((event) => (event.type === "warning" ? [event.code] : [])),
    events,
  };
}

/** A message's text. */
export function said(message: Message | undefined): string {
  return (message?.content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
}
