// The room of the estimate: how many tokens something will take, before the provider has counted it.
//
// Core has no tokenizer, so characters are weighted. An estimate may be off by a quarter; the provider's count in its last
// answer is exact, so a request is that count plus the estimate of what is newer (`estimateRequest`).
// A message is measured once, because messages never change.

import type { AssistantMessage, FilePart, Message, Part, Usage } from "../message.ts";
import type { MessageList, ToolDefinition } from "../model.ts";
import { oncePer } from "../once-per.ts";
import { partsOf, sumOf } from "./stage.ts";

/** Counts or estimates tokens. Its members need no `this`, and must be pure. */
export interface Estimator {
  message(message: Message): number;
  text(text: string): number;
  tools(tools: readonly ToolDefinition[]): number;
}

/** Weights, in characters of plain text. */
export interface CharWeights {
  /** How many characters make a token. */
  perToken: number;
  /**
   * `by_kind`: digits, capitals and punctuation weigh more than small letters, as in tokenizers: data and logs make twice
   * the tokens of prose. `by_length`: every character but `cjk` counts as one.
   */
  text: "by_kind" | "by_length";
  /** The weight of a Chinese, Japanese or Korean character. */
  cjk: number;
  /** Factor for the characters of a tool result. */
  toolResult: number;
  /** Factor for the characters of a result's `details`, as JSON: they are for programs, and not sent to a model. */
  details: number;
  /** An image, a sound, or another file whose text is unknown. */
  file: number;
  /** Factor for the characters of reasoning that cannot be read (signed, encrypted). */
  opaque: number;
  /** Added for each message: its role and its delimiters. */
  overhead: number;
  /** Added for each call: its name, its id and its delimiters. */
  call: number;
  /** Arguments that are not JSON. */
  badArguments: number;
  /** A message with an unknown role. */
  unknownRole: number;
}

/** Rondo's own weights. Measured against providers' counts: see `npm run -s bench -- --scenarios estimate`. */
export const plainWeights: Readonly<CharWeights> = {
  perToken: 4,
  text: "by_kind",
  cjk: 4,
  toolResult: 1,
  details: 0,
  file: 8_000,
  opaque: 0.75,
  overhead: 16,
  call: 64,
  badArguments: 128,
  unknownRole: 256,
};

/** The weights for pruning: a text weighs its length. */
export const pruneWeights: Readonly<CharWeights> = {
  ...plainWeights,
  text: "by_length",
  cjk: 1,
  opaque: 0,
  overhead: 0,
  call: 0,
};

/** The weights for the guard: tool results and their details count twice, because program output makes more tokens than prose. */
export const guardWeights: Readonly<CharWeights> = { ...pruneWeights, toolResult: 2, details: 1 };

/** The weight of a message, in characters. The same weights give the same function. */
export const charsBy: (weights: Readonly<CharWeights>) => (message: Message) => number = oncePer(
  (weights) => {
    const chars = oncePer((message: Message) => weigh(message, weights));
    return (message) => (typeof message === "object" && message !== null ? chars(message) : 0);
  },
);

/**
 * Estimates by characters, 4 to a token: digits, capitals and punctuation weigh more, Chinese, Japanese and Korean most, a
 * file counts 8,000. Within about a tenth of o200k for requests full of prose, code, data or logs. For models whose
 * tokenizers make more tokens of a text, lower `perToken`.
 * @param given weights that differ from `plainWeights`
 */
export function charEstimator(given: Partial<CharWeights> = {}): Estimator {
  const weights = Object.keys(given).length === 0 ? plainWeights : { ...plainWeights, ...given };
  const chars = charsBy(weights);
  const tokens = (weight: number): number => Math.ceil(weight / weights.perToken);
  const message = (one: Message): number => tokens(chars(one));
  const text = (one: string): number => tokens(charsIn(one, weights));
  return { message, text, tools: toolsBy((one) => tokens(jsonChars(one, weights) + weights.overhead)) };
}

/**
 * Estimates with a real tokenizer. Files, and content that only the provider can read, are still weighed by characters. A
 * long text is counted in slices: some tokenizers take quadratic time for a text without spaces.
 * @param countTokens tokens of a text, e.g. `(text) => encode(text).length` with the `encode` of `gpt-tokenizer`
 */
export function tokenizerEstimator(
  countTokens: (text: string) => number,
  given: Partial<CharWeights> = {},
): Estimator {
  const weights = { ...plainWeights, ...given };
  const text = (one: string): number => {
    let tokens = 0;
    for (let at = 0; at < one.length; ) {
      let end = Math.min(one.length, at + slice);
      if (end < one.length && (one.codePointAt(end - 1) as number) > 0xffff) end += 1;
      tokens += countTokens(one.slice(at, end));
      at = end;
    }
    return tokens;
  };
  const message = oncePer((one: Message) => {
    const said: string[] = [];
    const rest = weigh(one, weights, (words) => said.push(words));
    return Math.ceil(rest / weights.perToken) + text(said.join("\n"));
  });
  return {
    message,
    text,
    tools: toolsBy((one) => text(jsonOf(one) ?? "") + Math.ceil(weights.overhead / weights.perToken)),
  };
}

const slice = 8_192;

/** Definitions are compared by identity, the whole list first. */
function toolsBy(one: (tool: ToolDefinition) => number): Estimator["tools"] {
  const each = oncePer(one);
  return oncePer((tools: readonly ToolDefinition[]) => tools.reduce((sum, tool) => sum + each(tool), 0));
}

/** What a request will take, in tokens. */
export interface RequestEstimate {
  tokens: number;
  /** How many of them the provider counted itself. */
  counted: number;
  /** The first message that was estimated; everything before it was counted. 0: nothing was counted. */
  since: number;
}

/**
 * The tokens of a request: what the provider counted with its last answer (input and output, including cached input) plus
 * the estimate of what came after it. If nothing was counted, everything is estimated. If a stage has changed counted
 * messages, subtract what its note says it saved, until the next answer is counted.
 * @param from answers before this message do not count: their count is out of date, because a stage or a compaction
 * changed the history. Default: 0.
 */
export function estimateRequest(
  request: { system?: string; messages: MessageList; tools?: readonly ToolDefinition[] },
  estimator: Estimator,
  from: number = 0,
): RequestEstimate {
  const { messages, system, tools = [] } = request;
  const last = lastCounted(messages, from);
  if (last !== undefined) {
    const since = last.at + 1;
    return { tokens: last.tokens + sumOf(messages, estimator.message, since), counted: last.tokens, since };
  }
  const front = (system === undefined ? 0 : estimator.text(system)) + estimator.tools(tools);
  return { tokens: front + sumOf(messages, estimator.message), counted: 0, since: 0 };
}

/** The last answer whose count is known, including all that was sent for it. */
export function lastCounted(
  messages: MessageList,
  from: number = 0,
): { at: number; tokens: number } | undefined {
  for (let at = messages.length - 1; at >= from; at -= 1) {
    const message = messages.at(at);
    const tokens = message?.role === "assistant" ? countedWith(message) : undefined;
    if (tokens !== undefined) return { at, tokens };
  }
  return undefined;
}

/**
 * What the window held after an answer, as its provider counted it. Undefined if it was not counted, or if the provider
 * ran tools of its own: then the count is a sum over several rounds.
 */
export function countedWith(answer: AssistantMessage): number | undefined {
  return answer.content.some(({ type }) => type === "native") ? undefined : countedTokens(answer.usage);
}

/** Counted tokens of a request and its answer. Undefined if the input was not counted. */
export function countedTokens(usage: Usage | undefined): number | undefined {
  const input = usage?.inputTokens;
  // Some servers send zeros if they did not count.
  if (input === undefined || !Number.isFinite(input) || input <= 0) return undefined;
  return input + (usage?.outputTokens ?? 0);
}

/** More characters than any tokenizer puts into one token, except of a row of equal ones. */
const mostInToken = 16;

/**
 * Fewer tokens than a message takes, by its words alone: not every provider reads reasoning again, and files are unlike. A count
 * below that is one of something else: of what was new to the server's cache, for example.
 */
export function leastTokens(message: Message): number {
  let chars = 0;
  for (const part of partsOf(message)) {
    const words = part.type === "text" ? part.text : part.type === "tool_call" ? part.rawArgs : "";
    if (typeof words === "string") chars += words.length;
  }
  return chars / mostInToken;
}

/** Weighs a message. If `said` is given, texts go to it instead of being weighed. */
function weigh(message: Message, weights: Readonly<CharWeights>, said?: (text: string) => void): number {
  const words = (text: unknown): number => {
    if (typeof text !== "string") return 0;
    if (said === undefined) return charsIn(text, weights);
    said(text);
    return 0;
  };
  switch (message?.role) {
    case "system":
    case "user":
    case "assistant":
    case "tool":
      break;
    default:
      return weights.unknownRole;
  }
  let chars = 0;
  for (const part of partsOf(message)) chars += weighPart(part, weights, words);
  if (message.role === "tool") {
    const { details } = message;
    if (details !== undefined && weights.details > 0)
      chars += (jsonOf(details)?.length ?? weights.unknownRole) * weights.details;
    chars = Math.ceil(chars * weights.toolResult);
  }
  return chars + weights.overhead;
}

function weighPart(part: Part, weights: Readonly<CharWeights>, words: (text: unknown) => number): number {
  switch (part.type) {
    case "text":
    case "refusal":
      return words(part.text);
    case "reasoning":
      if (part.text !== "" || part.opaque === undefined || weights.opaque === 0) return words(part.text);
      return Math.ceil((jsonOf(part.opaque)?.length ?? 0) * weights.opaque);
    case "tool_call": {
      const args = jsonOf(part.args ?? {});
      return args === undefined ? weights.badArguments : words(args) + weights.call;
    }
    case "file":
      return weighFile(part, weights);
    case "native":
      return weighNative(part.opaque, weights, words);
    default:
      // A part that is newer than this code, or another program's, is weighed as JSON.
      return words(jsonOf(part));
  }
}

/** How the base64 of PNG, JPEG, WebP and GIF begins, and an image in a data URL. */
const picture = /^(?:iVBORw0KGgo|\/9j\/|UklGR|R0lGOD|data:image\/)/;
/** Encrypted content: no readable text is this long without a space. */
const sealed = /^[\w+/-]{1000,}={0,2}$/;

/** Content that only its provider understands is weighed as JSON; images and encrypted parts in it have their own weights. */
function weighNative(
  opaque: unknown,
  weights: Readonly<CharWeights>,
  words: (text: unknown) => number,
): number {
  let more = 0;
  const rest = jsonOf(opaque, (value) => {
    if (typeof value !== "string") return value;
    if (value.length > weights.file && picture.test(value)) more += weights.file;
    else if (sealed.test(value)) more += Math.ceil(value.length * weights.opaque);
    else return value;
    return "";
  });
  return words(rest) + more;
}

/** A text file weighs its text. Of a document every tenth byte counts: a model sees pages as images, and on disk it is mostly fonts. */
function weighFile(part: FilePart, weights: Readonly<CharWeights>): number {
  const bytes = typeof part.data === "string" ? Math.floor(part.data.length * 0.75) : part.data?.bytes;
  if (bytes === undefined || typeof part.mediaType !== "string") return weights.file;
  if (/^text\/|[/+](json|xml|yaml)$/.test(part.mediaType)) return bytes;
  return part.mediaType === "application/pdf" ? Math.max(weights.file, Math.ceil(bytes / 10)) : weights.file;
}

function jsonChars(value: unknown, weights: Readonly<CharWeights>): number {
  const json = jsonOf(value);
  return json === undefined ? weights.badArguments : charsIn(json, weights);
}

function jsonOf(value: unknown, change?: (value: unknown) => unknown): string | undefined {
  try {
    return JSON.stringify(value, change && ((_key, one) => change(one)));
  } catch {
    return undefined;
  }
}

/** The weight of a text, in characters. */
export function charsIn(text: string, { text: how, cjk }: Pick<CharWeights, "text" | "cjk">): number {
  if (how === "by_length" && cjk === 1) return text.length;
  let weight = 0;
  let before = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 128) weight += isCjk(code) ? cjk : how === "by_length" ? 1 : foreign;
    else if (how === "by_length") weight += 1;
    // Several spaces in a row are one token, or few.
    else weight += code === space && before === space ? spaceAgain : (kinds[code] as number);
    before = code;
  }
  return Math.ceil(weight);
}

const space = 0x20;
const spaceAgain = 0.35;
/** Letters of other alphabets. */
const foreign = 1.6;

/** The weight of an ASCII character, fitted to tokenizers' counts of prose, code, JSON, logs, listings and tables. */
const kinds: Float64Array = Float64Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (character === "\n") return 6;
  if (/[a-z]/.test(character)) return 0.74;
  if (/[A-Z]/.test(character)) return 3;
  if (/[0-9]/.test(character)) return 2.8;
  return /\s/.test(character) ? 1 : 1.7;
});

function isCjk(code: number): boolean {
  if (code < 0x1100) return false;
  return (
    code < 0x1200 ||
    (code >= 0x2e80 && code < 0xa000) ||
    (code >= 0xa960 && code < 0xa980) ||
    (code >= 0xac00 && code < 0xd7b0) ||
    (code >= 0xf900 && code < 0xfb00) ||
    (code >= 0xfe30 && code < 0xfe50) ||
    (code >= 0xff00 && code < 0xfff0)
  );
}
