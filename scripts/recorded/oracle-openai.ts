// The room of OpenAI's own client, which compatible providers recommend too.

import OpenAI from "openai";
import { isObject, type Loose, type Recording } from "./corpus.ts";
import { fetchOf } from "./fetch-of.ts";
import { counted, responsesCalls, type Said, type Theirs } from "./said.ts";

function clientOf(recording: Recording): OpenAI {
  return new OpenAI({ apiKey: "none", maxRetries: 0, fetch: fetchOf(recording) });
}

export async function chatSaid(recording: Recording): Promise<Theirs> {
  const ask = { model: "m", messages: [] };
  if (recording.whole) {
    const completion = (await clientOf(recording).chat.completions.create(ask)) as unknown as Loose;
    const [choice] = completion.choices as Loose[];
    const message = isObject(choice?.message) ? choice.message : {};
    return {
      ...wordsOf(message),
      calls: ((message.tool_calls ?? []) as Loose[]).map(callOf),
      stop: stopOf(choice),
      usage: chatUsage(completion.usage),
    };
  }
  // The client's helper does not know reasoning, nor how compatible servers use indexes and lists: so its typed chunks are
  // combined here, and the helper's result is compared with that.
  const said: Said = { text: "", reasoning: "", calls: [], stop: undefined, usage: {} };
  const calls = new Map<string, { name: string; arguments: string }>();
  const quirks = new Set<string>();
  let last = "";
  for await (const chunk of await clientOf(recording).chat.completions.create({ ...ask, stream: true })) {
    const loose = chunk as unknown as Loose;
    const [choice] = (loose.choices ?? []) as Loose[];
    const usage = [loose.usage, (loose.x_groq as Loose | undefined)?.usage, choice?.usage].find(isObject);
    if (usage !== undefined) said.usage = chatUsage(usage);
    if (choice === undefined) continue;
    said.stop = stopOf(choice) ?? said.stop;
    const delta = isObject(choice.delta) ? choice.delta : {};
    const words = wordsOf(delta);
    if (Array.isArray(delta.content))
      quirks.add("content comes as a list of parts, which the client's helper joins as if it were text");
    said.text += words.text;
    said.reasoning += words.reasoning;
    for (const piece of (delta.tool_calls ?? []) as Loose[]) {
      const told = isObject(piece.function) ? piece.function : {};
      const index = String(piece.index ?? "");
      const id = piece.id ? String(piece.id) : "";
      if (piece.index === undefined)
        quirks.add("calls come without an index, and the client's helper drops them");
      const known = [...calls.keys()].findLast((key) => key.startsWith(`${index}/`));
      const key = id === "" ? (known ?? (last || `${index}/`)) : `${index}/${id}`;
      if (known !== undefined && known !== key)
        quirks.add("two calls come under one index, and the client's helper runs them together");
      const call = calls.get(key) ?? { name: "", arguments: "" };
      call.name ||= String(told.name ?? "");
      call.arguments += String(told.arguments ?? "");
      calls.set(key, call);
      last = key;
    }
  }
  said.calls = [...calls.values()].map((call) => callOf({ function: call }));
  const helper = await helped(recording);
  return helper === undefined ? said : { ...said, helper: { said: helper, quirks: [...quirks] } };
}

/** The result of the client's own stream helper; undefined when it fails on a stream that the client can read. */
async function helped(
  recording: Recording,
): Promise<(Pick<Said, "text" | "stop"> & { calls: unknown[] }) | undefined> {
  let completion: Loose;
  try {
    const stream = clientOf(recording).chat.completions.stream({ model: "m", messages: [] });
    completion = (await stream.finalChatCompletion()) as unknown as Loose;
  } catch {
    return undefined;
  }
  const [choice] = completion.choices as Loose[];
  const message = isObject(choice?.message) ? choice.message : {};
  const calls = ((message.tool_calls ?? []) as Loose[]).map((call) => {
    const told = isObject(call.function) ? call.function : {};
    return { name: told.name, args: parsed(told.arguments) };
  });
  return { text: String(message.content ?? ""), calls, stop: stopOf(choice) };
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text || "{}"));
  } catch {
    return text;
  }
}

function stopOf(choice: Loose | undefined): string | undefined {
  return typeof choice?.finish_reason === "string" ? choice.finish_reason : undefined;
}

function callOf(call: Loose): { name: string; args: unknown } {
  const told = isObject(call.function) ? call.function : {};
  return { name: String(told.name), args: JSON.parse(String(told.arguments || "{}")) };
}

function wordsOf(message: Loose): { text: string; reasoning: string } {
  const words = { text: "", reasoning: String(message.reasoning_content ?? message.reasoning ?? "") };
  if (typeof message.content === "string") words.text = message.content;
  else
    for (const part of (message.content ?? []) as Loose[]) {
      if (part.type === "text") words.text += String(part.text);
      if (part.type === "thinking")
        for (const piece of part.thinking as Loose[]) words.reasoning += String(piece.text);
    }
  return words;
}

function chatUsage(value: unknown): Said["usage"] {
  if (!isObject(value)) return {};
  const input = value.prompt_tokens as number;
  const details = isObject(value.completion_tokens_details) ? value.completion_tokens_details : {};
  const prompt = isObject(value.prompt_tokens_details) ? value.prompt_tokens_details : {};
  const reasoning = (details.reasoning_tokens ?? value.reasoning_tokens) as number | undefined;
  let output = value.completion_tokens as number;
  // Some servers count reasoning separately; the total shows it.
  if (reasoning && value.total_tokens === input + output + reasoning) output += reasoning;
  return counted({
    inputTokens: input,
    outputTokens: output,
    cachedInputTokens: prompt.cached_tokens ?? value.prompt_cache_hit_tokens ?? value.cached_tokens,
    reasoningTokens: reasoning,
  });
}

export async function responsesSaid(recording: Recording): Promise<Said> {
  if (recording.whole)
    return responseSaid(
      (await clientOf(recording).responses.create({ model: "m", input: "" })) as unknown as Loose,
    );
  try {
    const stream = clientOf(recording).responses.stream({ model: "m", input: "" });
    const response = (await stream.finalResponse()) as unknown as Loose;
    if ((response.output as unknown[]).length > 0) return responseSaid(response);
  } catch {
    // The helper requires more of a stream than some servers send; its raw events still work.
  }
  const output: Loose[] = [];
  let response: Loose = {};
  const raw = await clientOf(recording).responses.create({ model: "m", input: "", stream: true });
  for await (const event of raw) {
    if (event.type === "response.output_item.done")
      output[event.output_index] = event.item as unknown as Loose;
    if (event.type === "response.completed" || event.type === "response.incomplete")
      response = event.response as unknown as Loose;
    if (event.type === "response.failed" || event.type === "error")
      throw new Error("the stream is an error and no response");
  }
  return responseSaid({ ...response, output: output.filter((item) => item !== undefined) });
}

function responseSaid(response: Loose): Said {
  const items = (response.output ?? []) as Loose[];
  const details = isObject(response.incomplete_details) ? response.incomplete_details : {};
  const usage = isObject(response.usage) ? response.usage : undefined;
  const input = isObject(usage?.input_tokens_details) ? usage.input_tokens_details : {};
  const output = isObject(usage?.output_tokens_details) ? usage.output_tokens_details : {};
  return {
    text: items
      .flatMap((item) => (item.type === "message" ? (item.content as Loose[]) : []))
      .map((part) => (part.type === "output_text" ? String(part.text) : ""))
      .join(""),
    reasoning: items
      .map((item) =>
        item.type === "reasoning"
          ? [...((item.summary ?? []) as Loose[]), ...((item.content ?? []) as Loose[])]
              .map((part) => String(part.text))
              .filter((text) => text !== "")
              .join("\n\n")
          : "",
      )
      .join(""),
    calls: items.flatMap((item) =>
      item.type === "function_call"
        ? responsesCalls(String(item.name), JSON.parse(String(item.arguments || "{}")))
        : [],
    ),
    stop: (details.reason ?? response.status) as string | undefined,
    usage:
      usage === undefined
        ? {}
        : counted({
            inputTokens: usage.input_tokens,
            outputTokens: usage.output_tokens,
            cachedInputTokens: input.cached_tokens,
            cacheWriteTokens: input.cache_write_tokens,
            reasoningTokens: output.reasoning_tokens,
          }),
  };
}
