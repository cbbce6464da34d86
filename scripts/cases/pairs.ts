// The room of pairs: tool calls and their results in a request, in any protocol.

import { isDeepStrictEqual } from "node:util";

type Json = Record<string, unknown>;

/** One message, or one run of items, with its calls and results. */
export interface Beat {
  role: string;
  calls: string[];
  results: string[];
}

/** Splits the conversation in a request body into beats. */
export function beatsOf(body: unknown): Beat[] {
  const { messages, contents, input } = (body ?? {}) as {
    messages?: Json[];
    contents?: Json[];
    input?: unknown;
  };
  const told = hasTools(body) ? (beat: Beat): Beat => beat : withTexts;
  if (Array.isArray(contents)) return contents.map((content) => told(googleBeat(content), content));
  if (Array.isArray(input)) return responsesBeats(input as Json[], told);
  return merged((messages ?? []).map((message) => told(messageBeat(message), message)));
}

function hasTools(body: unknown): boolean {
  const { tools, toolConfig } = (body ?? {}) as Json;
  return tools !== undefined || toolConfig !== undefined;
}

/** Without declared tools, calls and results may be in texts, one JSON value per line; the name serves as id. */
function withTexts(beat: Beat, message: Json): Beat {
  const texts =
    typeof message.content === "string"
      ? [message.content]
      : list(message.content ?? message.parts).map((block) => String(block.text ?? ""));
  const named = (member: string): string[] =>
    texts
      .flatMap((text) => text.split("\n"))
      .flatMap((line) => {
        if (!line.startsWith("{") || !line.includes(`"${member}"`)) return [];
        try {
          const told = (JSON.parse(line) as Json)[member] as Json | undefined;
          return typeof told?.name === "string" ? [told.name] : [];
        } catch {
          return [];
        }
      })
      .map((name, at, all) => `${name}#${all.slice(0, at).filter((other) => other === name).length}`);
  const of = (role: string, member: string): string[] => (beat.role === role ? named(member) : []);
  return {
    ...beat,
    calls: [...beat.calls, ...of("assistant", "tool_call"), ...of("model", "tool_call")],
    results: [...beat.results, ...of("user", "tool_result")],
  };
}

/** Ids of all results in a request. */
export function resultIds(body: unknown): string[] {
  return beatsOf(body).flatMap((beat) => beat.results);
}

/** Complaints about calls without exactly one result in the next beat. */
export function unanswered(body: unknown): string[] {
  const beats = beatsOf(body);
  return beats.flatMap((beat, at) => {
    const answers = beats[at + 1]?.results ?? [];
    return beat.calls.flatMap((call) => {
      const times = answers.filter((id) => id === call).length;
      return times === 1 ? [] : [`call ${call} is answered ${times} times in the next message`];
    });
  });
}

/** Complaints about results that do not directly follow their call. */
export function orphans(body: unknown): string[] {
  const beats = beatsOf(body);
  return beats.flatMap((beat, at) => {
    const open = [...(beats[at - 1]?.calls ?? [])];
    return beat.results.flatMap((id) => {
      const found = open.indexOf(id);
      if (found < 0) return [`result ${id} has no call in the message before`];
      open.splice(found, 1);
      return [];
    });
  });
}

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const id = (value: unknown): string => String(value);

function messageBeat(message: Json): Beat {
  const blocks = list(message.content);
  const calls = [
    ...list(message.tool_calls).map((call) => id(call.id)),
    ...blocks.filter((block) => block.type === "tool_use").map((block) => id(block.id)),
    ...blocks.flatMap((block) =>
      block.toolUse === undefined ? [] : [id((block.toolUse as Json).toolUseId)],
    ),
  ];
  const results = [
    ...(message.role === "tool" ? [id(message.tool_call_id)] : []),
    ...blocks.filter((block) => block.type === "tool_result").map((block) => id(block.tool_use_id)),
    ...blocks.flatMap((block) =>
      block.toolResult === undefined ? [] : [id((block.toolResult as Json).toolUseId)],
    ),
  ];
  return { role: String(message.role), calls, results };
}

/** Chat Completions has one message per result; together they form one beat. */
function merged(beats: Beat[]): Beat[] {
  const out: Beat[] = [];
  for (const beat of beats) {
    const last = out.at(-1);
    if (beat.role === "tool" && last?.role === "tool") last.results.push(...beat.results);
    else out.push(beat);
  }
  return out;
}

/** Google pairs by position when there are no ids; then the name serves as id. */
function googleBeat(content: Json): Beat {
  const named = (member: string): string[] =>
    list(content.parts).flatMap((part) => {
      const one = part[member] as Json | undefined;
      return one === undefined ? [] : [id(one.id ?? one.name)];
    });
  const counted = (ids: string[]): string[] =>
    ids.map((one, at) => `${one}#${ids.slice(0, at).filter((other) => other === one).length}`);
  return {
    role: String(content.role),
    calls: counted(named("functionCall")),
    results: counted(named("functionResponse")),
  };
}

function responsesBeats(items: Json[], told: (beat: Beat, item: Json) => Beat): Beat[] {
  const out: Beat[] = [];
  for (const item of items) {
    const isOutput = /_output$/.test(String(item.type));
    const isCall = /_call$/.test(String(item.type)) && item.call_id !== undefined;
    const role = isOutput ? "tool" : isCall || item.type === "reasoning" ? "assistant" : String(item.role);
    let last = out.at(-1);
    if (last?.role !== role) {
      last = { role, calls: [], results: [] };
      out.push(last);
    }
    if (isCall) last.calls.push(id(item.call_id));
    if (isOutput) last.results.push(id(item.call_id));
    const { calls, results } = told({ role, calls: [], results: [] }, item);
    last.calls.push(...calls);
    last.results.push(...results);
  }
  return out;
}

// ---- whole conversations -----------------------------------------------------------------------------------------

/** The list of messages in a request, whatever its member is called. */
export function messagesOf(body: unknown): Json[] {
  const { messages, contents, input } = (body ?? {}) as {
    messages?: Json[];
    contents?: Json[];
    input?: Json[];
  };
  return list(messages ?? contents ?? input);
}

/** A value without cache markers. */
export function unmarked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unmarked).filter((one) => one !== undefined);
  if (typeof value !== "object" || value === null) return value;
  if ("cachePoint" in value) return undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      name === "cache_control" ? [] : [[name, unmarked(inner)]],
    ),
  );
}

/** Whether one list begins with all of another. */
export function extendsList(longer: readonly unknown[], shorter: readonly unknown[]): boolean {
  return shorter.every((one, at) => isDeepStrictEqual(unmarked(one), unmarked(longer[at])));
}
