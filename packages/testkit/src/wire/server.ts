// The room of the server: checks requests as their provider would, and answers from a script.
//
// It listens only on the loopback interface. It checks in a provider's order: the path, the key, the body's form, the rules,
// the model; only a request that passes all of these reaches the script.

import { isUtf8 } from "node:buffer";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Json, messageOf, parsedJson, RondoError, type Usage } from "@rondo/core";
import {
  anything,
  callable,
  checkGiven,
  count,
  either,
  flag,
  listOf,
  membersOf,
  needed,
  object,
  oneOf,
  text,
  whole,
} from "@rondo/core/checks";
import { membersIn } from "../json.ts";
import { notKept } from "../not-kept.ts";
import { checkScript } from "../scripted/check-script.ts";
import { usageChecks } from "../scripted/turns.ts";
import { type ErrorResponse, errorResponse, type Refusal, refusalWith } from "./errors.ts";
import type { Chunks, WireRequest, WireScript, WireTurn } from "./faults.ts";
import { isWireWord, planOf } from "./plan.ts";
import { type Protocol, protocols } from "./reply.ts";
import { type Route, refusedAtTheDoor, routeOf, violationsOf } from "./route.ts";
import type { ChatRules } from "./rules/openai-chat.ts";
import type { Violation } from "./rules/violation.ts";
import { send } from "./send.ts";
import { checkServerRequest, personalityOf, type ServerPersonality } from "./servers/index.ts";
import type { Plan } from "./steps.ts";

export interface WireOptions {
  /** The answers, in the order in which accepted requests arrive. */
  script: WireScript;
  /** Default: 0, which is any that is free. */
  port?: number;
  /** Loopback only. Default: `127.0.0.1`. */
  host?: "127.0.0.1" | "::1" | "localhost";
  /** Whether to answer 400, as the provider would, to a request that breaks its rules. `false`: only list it in `violations`. Default: true. */
  strict?: boolean;
  /** When the script runs out: play its last turn again. Default: answer 500, saying so. */
  repeatLast?: boolean;
  /** How bodies are handed to the socket. Default: `frame`. */
  chunks?: Chunks;
  /** Characters (code points) a delta where a part does not say. Default: a part is one delta. */
  chunk?: number;
  /** Usage of answers that do not tell their own. Default: counted roughly, four characters a token. */
  usage?: Usage;
  /** The only accepted API key. Default: any, but there must be one. */
  key?: string;
  /** The only existing models; another is answered as unknown. Default: any. */
  models?: readonly string[];
  /** Rules of single OpenAI-compatible servers. */
  chatRules?: ChatRules;
  /**
   * Speak Chat Completions as this compatible server does: its rules, its refusals, the quirks of its answers. A name of
   * `serverPersonalities` (`mistral`, `groq`, `ollama`, …) or a personality of your own. Default: OpenAI.
   */
  server?: string | ServerPersonality;
  /** `false`: `requests` stays empty, for servers that answer for hours. Default: true. */
  keepRequests?: boolean;
  /** Hears every request when it has been read. */
  onRequest?: (request: WireRequest) => void;
}

const wireOptions = membersOf<WireOptions>({
  script: anything,
  port: whole,
  host: text,
  strict: flag,
  repeatLast: flag,
  chunks: oneOf("frame", "byte", "whole"),
  chunk: count,
  usage: membersOf<Usage>(usageChecks),
  key: needed("a text that is not empty", (key) => typeof key === "string" && key !== ""),
  models: listOf(text),
  chatRules: object,
  server: either(object, text),
  keepRequests: flag,
  onRequest: callable,
});

/** Names for `urlFor`: a provider's, or a protocol's. */
export type WireName = "anthropic" | "openai" | "google" | "bedrock" | Protocol;

const wireName = membersOf<{ name: WireName }>({
  name: oneOf("anthropic", "openai", "google", "bedrock", ...protocols),
});

export interface RondoWire extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a path. */
  readonly url: string;
  /** The base URL to give to a provider, as its own SDK expects it. @throws RondoError `invalid_request` for any other name */
  urlFor(name: WireName): string;
  /** Every request on a known path, in order, unless `keepRequests` is false. */
  readonly requests: readonly WireRequest[];
  /** Everything that providers would have refused, in order. */
  readonly violations: readonly Violation[];
  /** What was wrong with the script: it ran out, or asked a protocol for what it cannot say. */
  readonly problems: readonly string[];
  /** Ends every connection, and the server. */
  close(): Promise<void>;
}

const maxBodyBytes = 32 * 1024 * 1024;

/**
 * Starts a server that speaks five protocols from a script: Messages, Chat Completions, Responses, GenerateContent, Converse.
 *
 *     const wire = await rondoWire({ script: [call("weather", { city: "Oslo" }), say("It snows.")] });
 *     const agent = new Agent({ model: anthropic("claude-sonnet-5", { baseURL: wire.url, apiKey: "k" }), … });
 *
 * @throws RondoError `invalid_request` for a script that is none, options that cannot be used, and a host that is not the loopback; what the system says when the port is taken
 */
export async function rondoWire(options: WireOptions): Promise<RondoWire> {
  const script: unknown = Object(options).script;
  if (!Array.isArray(script) && typeof script !== "function")
    throw new RondoError(
      "invalid_request",
      "rondoWire takes a list of turns, or a function of the request: rondoWire({ script: [say(…)] })",
    );
  checkGiven(wireOptions, options, "rondoWire");
  if (Array.isArray(script)) checkScript("rondoWire", script, isWireWord);
  const host = options.host ?? "127.0.0.1";
  if (!["127.0.0.1", "::1", "localhost"].includes(host))
    throw new RondoError(
      "invalid_request",
      `host ${JSON.stringify(host)}: rondo-wire listens on the loopback only (127.0.0.1, ::1 or localhost)`,
    );
  const wire = new Wire(options);
  const server = createServer((message, response) => void wire.serve(message, response));
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://${host === "::1" ? "[::1]" : host}:${port}`;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    return closing;
  };
  return {
    url,
    urlFor: (name) => {
      checkGiven(wireName, { name }, "urlFor");
      return name.startsWith("openai") ? `${url}/v1` : url;
    },
    requests: wire.requests,
    violations: wire.violations,
    problems: wire.problems,
    close,
    [Symbol.asyncDispose]: close,
  };
}

class Wire {
  readonly requests: WireRequest[];
  readonly violations: Violation[] = [];
  readonly problems: string[] = [];
  readonly #options: WireOptions;
  /** Requests that reached the script. */
  #played = 0;
  readonly #personality: ServerPersonality | undefined;

  constructor(options: WireOptions) {
    this.#options = options;
    this.requests = options.keepRequests === false ? notKept : [];
    this.#personality = options.server === undefined ? undefined : personalityOf(options.server);
  }

  async serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const path = message.url ?? "/";
      const route = routeOf(path);
      const body = await bodyOf(message);
      if (body === undefined) {
        if (route === undefined) respond(response, 413, { error: "the request is too large" });
        else this.#refuse(response, route.protocol, refusalWith(route.protocol, 413));
        return;
      }
      if (route === undefined || message.method !== "POST") {
        respond(response, route === undefined ? 404 : 405, {
          error: { message: `rondo-wire has nothing at ${message.method} ${path}`, type: "not_found_error" },
        });
        return;
      }
      await this.#answer(message, response, route, body);
    } catch (thrown) {
      // A client that went away while it was read needs no answer; anything else is a defect, and is told.
      if (message.errored || response.destroyed) return;
      this.problems.push(messageOf(thrown));
      if (response.headersSent) response.destroy();
      else respond(response, 500, { error: { message: messageOf(thrown) } });
    }
  }

  async #answer(
    message: IncomingMessage,
    response: ServerResponse,
    route: Route,
    body: Buffer,
  ): Promise<void> {
    const { protocol } = route;
    const options = this.#options;
    const request = this.#read(message, route, body);
    if (options.keepRequests !== false) this.requests.push(request);
    this.violations.push(...request.violations);
    options.onRequest?.(request);
    const refusal =
      refusedAtTheDoor(protocol, request.path, message.headers, options.key) ?? this.#refusalOf(request);
    if (refusal !== undefined) {
      const [first] = request.violations;
      const own =
        protocol === "openai-chat" && refusal.message === first?.message ? this.#personality : undefined;
      if (own !== undefined && first !== undefined)
        respondWith(response, { headers: { "content-type": "application/json" }, ...own.refuse(first) });
      else this.#refuse(response, protocol, refusal);
      return;
    }
    const number = ++this.#played;
    let plan: Plan;
    try {
      plan = planOf(await this.#turn(request, number), {
        protocol,
        model: request.model,
        stream: request.stream,
        asArray: route.asArray,
        tellsUsage: asksForUsage(request),
        number,
        chunk: options.chunk,
        usage: options.usage,
        requestChars: request.text.length,
        now: Date.now(),
        ...(this.#personality === undefined ? {} : { server: this.#personality }),
      });
    } catch (thrown) {
      const problem = `request ${number} (${protocol}): ${messageOf(thrown)}`;
      this.problems.push(problem);
      const refused = errorResponse(
        protocol,
        { ...refusalWith(protocol, 500), message: `rondo-wire: ${problem}` },
        { headers: { "x-should-retry": "false" } },
        Date.now(),
      );
      respondWith(response, refused);
      return;
    }
    await send(response, plan, options.chunks ?? "frame");
  }

  #read(message: IncomingMessage, route: Route, bytes: Buffer): WireRequest {
    const text = bytes.toString();
    let body: Json = null;
    let unreadable = unreadableWhy(message, bytes);
    try {
      body = parsedJson(text);
    } catch (thrown) {
      unreadable ??= `not valid JSON: ${messageOf(thrown)}`;
    }
    const members = membersIn(body);
    const model = route.model ?? (typeof members.model === "string" ? members.model : "");
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(message.headers))
      if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
    return {
      protocol: route.protocol,
      method: message.method ?? "",
      path: message.url ?? "",
      headers,
      model,
      stream: route.stream ?? members.stream === true,
      body,
      text,
      violations:
        unreadable !== undefined
          ? [{ path: "", message: `The request body is ${unreadable}` }]
          : this.#personality !== undefined && route.protocol === "openai-chat"
            ? checkServerRequest(this.#personality, text, headers)
            : violationsOf(route.protocol, body, model, this.#options.chatRules ?? {}),
    };
  }

  /** What the provider refuses about a request that was let in. */
  #refusalOf(request: WireRequest): Refusal | undefined {
    const { strict = true, models } = this.#options;
    const [first] = request.violations;
    if (first !== undefined && (strict || request.body === null))
      return { ...refusalWith(request.protocol, 400), message: first.message, param: first.path };
    if (models === undefined || models.includes(request.model)) return undefined;
    const refusal = refusalWith(request.protocol, 404);
    return { ...refusal, message: refusal.message.replaceAll("no-such-model", request.model) };
  }

  #turn(request: WireRequest, number: number): WireTurn | Promise<WireTurn> {
    const { script, repeatLast } = this.#options;
    if (typeof script === "function") return script(request, number);
    const turn = script[number - 1] ?? (repeatLast === true ? script.at(-1) : undefined);
    if (turn !== undefined) return typeof turn === "function" ? turn(request, number) : turn;
    throw new Error(
      `the script has ${script.length} ${script.length === 1 ? "turn" : "turns"}: add a turn, or set repeatLast`,
    );
  }

  #refuse(response: ServerResponse, protocol: Protocol, refusal: Refusal): void {
    respondWith(response, errorResponse(protocol, refusal, {}, Date.now()));
  }
}

/** Chat Completions tells the usage of a stream only when it is asked to; the others always do. */
function asksForUsage({ protocol, body }: WireRequest): boolean {
  if (protocol !== "openai-chat") return true;
  return membersIn(membersIn(body).stream_options).include_usage === true;
}

/** The body; undefined when it is larger than any provider takes. */
async function bodyOf(message: IncomingMessage): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of message as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length <= maxBodyBytes) pieces.push(piece);
  }
  return length > maxBodyBytes ? undefined : Buffer.concat(pieces);
}

/** What keeps a body from being read as a text. */
function unreadableWhy({ headers }: IncomingMessage, body: Buffer): string | undefined {
  const { "content-encoding": coding = "identity" } = headers;
  if (coding !== "identity")
    return `compressed (content-encoding: ${coding}): rondo-wire takes only plain ones`;
  return isUtf8(body) ? undefined : "not valid UTF-8";
}

function respond(response: ServerResponse, status: number, body: Json): void {
  respondWith(response, {
    status,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

function respondWith(response: ServerResponse, { status, headers, body }: ErrorResponse): void {
  response.writeHead(status, { ...headers, "content-length": String(Buffer.byteLength(body)) });
  response.end(body);
}
