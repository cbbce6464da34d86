// The room of Anthropic requests: a conversation as the body of the Messages protocol.
//
// The body is a join of JSON texts. Each message's text is made once and kept by the message's identity, so that a long
// session only pays for new messages, and the bytes of earlier ones never change: the provider's prompt cache depends on
// that. Only cache marks move.

import { isSameOrigin, type ModelRequest } from "@rondo/core";
import type { Encoder, Target, WireRequest } from "../../codec.ts";
import { jsonOf } from "../../json-values.ts";
import { type Told, warnOnce } from "../warn.ts";
import { answerBlocks, anthropicAnswer, type Block, contentBlocks, resultBlocks } from "./blocks.ts";
import { placeMarks } from "./cache.ts";
import { carriedOn } from "./carried-over.ts";
import { withoutDeclined } from "./fallback.ts";
import { anthropicId, signedAnthropicId } from "./names.ts";
import { type Options, optionsOf } from "./options.ts";
import { type Dialect, Pieces } from "./pieces.ts";
import { providerOptions } from "./settings.ts";
import { Tools } from "./tools.ts";
import { type Traits, traitsOf } from "./traits.ts";
import { turnReaders } from "./turns.ts";

/** How one host of the protocol differs from Anthropic's own API. */
export interface Host {
  path(target: Target, stream: boolean): string;
  /** Members at the front of the body in place of `model` and `stream`. */
  front(target: Target, stream: boolean): { [name: string]: string | boolean };
  /** The body's member for beta names. Absent: they go into a header. */
  betasIn?: string;
  /** Its name for what happens to earlier thinking that no longer fits, if it is another than that of Anthropic's own API. */
  binding?: string;
  /** Whether its models fetch files from their addresses. Default: true. The quirk `fetchesUrls` overrides it. */
  fetchesUrls?: boolean;
  headers: { [name: string]: string };
}

export class AnthropicEncoder implements Encoder {
  readonly #target: Target;
  readonly #host: Host;
  readonly #stream: boolean;
  readonly #traits: Traits;
  readonly #historyOf: ReturnType<typeof turnReaders>;
  readonly #pieces: Pieces;
  readonly #tools: Tools;

  constructor(given: Target, host: Host) {
    const target = onHost(given, host);
    this.#target = target;
    this.#host = host;
    this.#stream = target.stream ?? true;
    this.#traits = traitsOf(target);
    const ids = target.compat?.signedIds === true ? signedAnthropicId : anthropicId;
    this.#historyOf = turnReaders(ids, target.origin.api);
    this.#pieces = new Pieces(target, dialectOf(target));
    this.#tools = new Tools(target);
  }

  encode(request: ModelRequest): WireRequest {
    const target = this.#target;
    const warnings: Told = new Map();
    const warn = warnOnce(warnings);
    const history = this.#historyOf(request.messages, warn);
    const told = providerOptions(request, target, "anthropic");
    const carried = carriedOn(request, told, history, target);
    const conversation = this.#pieces.lay(history.turns, warn, carried.waiting);
    const { messages } = conversation;
    const hasTools = request.tools.length + carried.retired.length + carried.serverTools.length > 0;
    const asked = { request, target, traits: this.#traits, told, hasTools, messages, warn };
    const options = optionsOf(asked, carried, this.#host.binding ?? "prefix_mismatch_behavior");
    const tools = this.#tools.blocks(request, options.toolOptions, carried, warn);
    const system = this.#pieces.system(request.system, history.lead, warn);
    placeMarks(options.mark, { tools: tools.front, system, messages }, warn);
    return {
      path: this.#host.path(target, this.#stream),
      headers: this.#headers(request, options),
      ...this.#pieces.body(this.#head(options, [...tools.front, ...tools.deferred], system), conversation),
      warnings: [...warnings.values()],
    };
  }

  #headers({ settings }: ModelRequest, { betas }: Options): Record<string, string> {
    const { betasIn, headers } = this.#host;
    return {
      "content-type": "application/json",
      ...headers,
      ...(betasIn === undefined && betas.length > 0 ? { "anthropic-beta": betas.join(",") } : {}),
      ...settings.headers,
    };
  }

  /** The body up to its first message. */
  #head({ fields, maxTokens, betas, toolChoice }: Options, tools: Block[], system: Block[]): string {
    const { betasIn } = this.#host;
    const front = jsonOf({
      ...this.#host.front(this.#target, this.#stream),
      max_tokens: maxTokens,
      ...fields,
      ...(betasIn !== undefined && betas.length > 0 ? { [betasIn]: betas } : {}),
      ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
    });
    const offered = tools.length === 0 ? "" : `,"tools":${list(tools)}`;
    const prompt = system.length === 0 ? "" : `,"system":${list(system)}`;
    return `${front.slice(0, -1)}${offered}${prompt},"messages":[`;
  }
}

/** How Anthropic's own protocol differs within the family. */
/** The target with the quirks of the host. */
const onHost = (target: Target, { fetchesUrls }: Host): Target =>
  fetchesUrls === undefined ? target : { ...target, compat: { fetchesUrls, ...target.compat } };

const dialectOf = (target: Target): Dialect => ({
  user: (content, warn) => contentBlocks(content, target, warn),
  assistant: (message, calls, warn) => {
    const blocks = answerBlocks(withoutDeclined(message), calls, target, warn, anthropicAnswer);
    return filled(blocks, calls.length > 0, target);
  },
  result: (answered, message, warn) =>
    resultBlocks(answered, target, warn, isSameOrigin(message.origin, target.origin)),
  text: (text) => jsonOf({ type: "text", text }),
  list,
  alternate: target.compat?.alternate === true,
  ...(target.compat?.resultsAlone === true ? { standsAlone: isResult } : {}),
});

const isResult = ({ json }: Block): boolean => json.startsWith('{"type":"tool_result"');

/** Adds thinking to a tool turn, for a server that requires it in each of them. */
function filled(blocks: Block[], hasCalls: boolean, { compat }: Target): Block[] {
  const fill = compat?.thinkingFill;
  if (typeof fill !== "string" || !hasCalls || blocks.some((block) => block.thinking === true)) return blocks;
  return [{ json: jsonOf({ type: "thinking", thinking: fill, signature: "" }), thinking: true }, ...blocks];
}

function list(blocks: readonly Block[], marks?: ReadonlyMap<number, string>): string {
  // Joined with +, which does not copy: one of the texts may be all tools of a request.
  let json = "[";
  blocks.forEach((block, at) => {
    json += (at === 0 ? "" : ",") + withMark(block.json, marks === undefined ? block.mark : marks.get(at));
  });
  return `${json}]`;
}

function withMark(json: string, mark: string | undefined): string {
  return mark === undefined ? json : `${json.slice(0, -1)},"cache_control":${mark}}`;
}
