// The room of the model over HTTP: a codec, an address and credentials make a `Model`.
//
// One call is one attempt: encode, send, decode. The loop does retries and fall-backs, and keeps the clocks between events. A
// second request is sent only in two cases:
//
// - a token was refused, and the credential callback gives another one;
// - a refusal, or an empty answer, shows a quirk of the server that calls for a different request. The
//   quirk is kept for this model from then on, unless the second request shows that the guess was wrong.
//
// Every error that leaves names the model and holds no key.

import {
  type AssistantMessage,
  errorWith,
  type Model,
  type ModelFacts,
  type ModelIo,
  type ModelRequest,
  type Origin,
  RondoError,
  textRedaction,
  toRondoError,
} from "@rondo/core";
import { withOutputAsText } from "./answer/output-in-reasoning.ts";
import { factsOf } from "./catalogue/catalogue.ts";
import type { Codec, ErrorResponse, Target, WireRequest } from "./codec.ts";
import { redactedJson, secretsOf } from "./credentials.ts";
import { withoutAffinity } from "./http-model/affinity.ts";
import { ofEmptyRefusal } from "./http-model/empty-refusal.ts";
import { keepingRaw } from "./http-model/keep-raw.ts";
import { KnownServer, type Made, quirksBetween } from "./http-model/known-server.ts";
import { demandOtherWords, isNews, judgeLesson, newsIn } from "./http-model/lessons.ts";
import { ModelCredentials } from "./http-model/model-credentials.ts";
import { withoutEmptyBudget } from "./http-model/no-budget.ts";
import {
  type Asked,
  type Attempt,
  askedOf,
  type Call,
  type Refusal,
  type Sent,
} from "./http-model/one-call.ts";
import { demandRoom, warnOverWindow } from "./http-model/over-window.ts";
import { RefusedSettings } from "./http-model/refused-settings.ts";
import { loadedOf } from "./load-once.ts";
import { checkedOptions, type ModelOptions, type Send } from "./model-options.ts";
import { listening } from "./receive/listening.ts";
import { receive, receiveFrames } from "./receive.ts";
import { forRequest } from "./refusals/for-request.ts";
import { asRefusal, refusalIn, responseIn } from "./refusals/non-http.ts";
import { unlessAdded } from "./refusals/not-sent.ts";
import { refusesStream, refusesWhole } from "./refusals/stream.ts";
import { bearer, joinURL, merged } from "./request-head.ts";
import { namesInUse, strangeOptions } from "./strange-options.ts";
import { defaultClient } from "./transport/default-client.ts";
import { bodyText, type HttpClient, type HttpClocks, type HttpResponse } from "./transport/http.ts";
import { fetchClient } from "./transport/http-fetch.ts";
import { abortedError, codeOf, networkError } from "./transport/network.ts";

/** A model that speaks `codec`'s protocol with the server at `baseURL`. */
export function createModel(options: ModelOptions): Model {
  return new HttpModel(checkedOptions(options));
}

class HttpModel implements Model {
  readonly id: string;
  readonly origin: Origin;
  readonly facts?: ModelFacts;
  readonly clocks?: HttpClocks;
  readonly #options: ModelOptions;
  readonly #server: KnownServer;
  readonly #refusedSettings = new RefusedSettings();
  readonly #credentials: ModelCredentials;
  #codec: Promise<Codec> | undefined;
  #client: HttpClient | undefined;
  /** The address of the last request; mostly the next one has the same. */
  #address: { path: string; url: string } | undefined;

  constructor(options: ModelOptions) {
    const { provider, model, codec, stream, compat } = options;
    const facts = factsOf(provider, model, options.facts);
    this.id = `${provider}/${model}`;
    this.origin = { api: codec.api, provider, model };
    namesInUse.add(provider);
    this.#options = options;
    this.#credentials = new ModelCredentials(options, this.id);
    if (options.clocks !== undefined) this.clocks = options.clocks;
    const target: Target = {
      origin: this.origin,
      facts: facts ?? {},
      ...(stream === undefined ? {} : { stream }),
      ...(compat === undefined ? {} : { compat }),
    };
    this.#server = new KnownServer(target);
    const output = options.output?.(target);
    const outputFacts = typeof output === "string" ? { output } : output;
    const allFacts = outputFacts === undefined ? facts : { ...outputFacts, ...facts };
    if (allFacts !== undefined) this.facts = allFacts;
  }

  call(given: ModelRequest, io: ModelIo): Promise<AssistantMessage> {
    return this.#refusedSettings.call(withoutEmptyBudget(given), io, (request) => this.#call(request, io));
  }

  async #call(request: ModelRequest, io: ModelIo): Promise<AssistantMessage> {
    const sent: Sent[] = [];
    try {
      if (io.signal.aborted) throw abortedError(io.signal);
      const codec = await this.#loaded();
      const made = this.#server.make({ codec, request, io });
      const { providerOptions } = request.settings;
      if (providerOptions !== undefined) warnOf(await strangeOptions(providerOptions, this.origin), io);
      warnOf(made.wire.warnings, io);
      const { send } = this.#options;
      if (send !== undefined) return await this.#sendBy(send, askedOf({ codec, request, io }, made));
      const credentials = await this.#credentials.get({ refresh: false }, io.signal);
      const call: Call = { codec, request, made, credentials, io, sent, renewed: false, lessons: [] };
      const first = await this.#attempt(call);
      if ("answer" in first) return await this.#unsuspected(first.answer, call);
      return await this.#sentAgain(first, call);
    } catch (thrown) {
      throw this.#named(thrown, sent, io.signal);
    }
  }

  /** The answer; or, if it makes a quirk of the server likely, the answer to the request with that quirk, if that confirms it. */
  async #unsuspected(answer: AssistantMessage, call: Call): Promise<AssistantMessage> {
    const { codec, made, io } = call;
    const suspicion = codec.suspected?.(answer, made.target);
    const suspect = this.#server.quirked(made.target, suspicion?.compat);
    const other = suspect && this.#server.otherwise(suspect, call, made);
    if (suspicion === undefined || other === undefined) return answer;
    const again = await this.#attempt(call, other).catch((thrown: unknown) => {
      other.forget();
      throw thrown;
    });
    if ("answer" in again && codec.suspected?.(again.answer, made.target) === undefined) {
      const suspected = suspicion.warning === undefined ? [] : [suspicion.warning];
      warnOf([...suspected, ...newsIn(other.wire, made.wire)], io);
      return again.answer;
    }
    other.forget();
    return answer;
  }

  /**
   * The answer to a request that was refused, sent again: as the refusals require it, as long as each teaches something new
   * (a new server may show several quirks, one per refusal), and once with a fresh token.
   * @throws RondoError the last refusal, if nothing is left to change
   */
  async #sentAgain(first: Refusal, refusedCall: Call): Promise<AssistantMessage> {
    let refusal = first;
    let call = refusedCall;
    for (;;) {
      const taught = this.#taught(refusal, call);
      if (taught === undefined && call.lesson !== undefined) demandOtherWords(call.lesson, refusal.refused);
      const next = taught ?? (await this.#withFreshToken(refusal.refused, call));
      if (next === undefined) {
        const { refused, response } = refusal;
        const isFirst = call === refusedCall;
        const judged = isFirst ? unlessAdded(refused, response, call.made.wire) : refused;
        throw this.#credentials.unlessAccepted(judged, call.credentials, response.body);
      }
      const attempt = await this.#attempt(next);
      if ("answer" in attempt) return attempt.answer;
      if (next.lesson !== undefined) judgeLesson(next.lesson, attempt.refused);
      refusal = attempt;
      call = next;
    }
  }

  /** The call with the request as its refusal requires it; undefined if that is the same request, or teaches nothing new. */
  #taught(refusal: Refusal, call: Call): Call | undefined {
    const { made, io, lessons } = call;
    const isStream = made.target.stream !== false;
    const isTurned = isStream ? refusesStream(refusal.response) : refusesWhole(refusal.response);
    const better = isTurned ? this.#server.streaming(!isStream) : this.#quirked(refusal, call);
    const quirks = isTurned ? ["stream"] : quirksBetween(made.target, better);
    const other = better && isNews(quirks, lessons) ? this.#server.otherwise(better, call, made) : undefined;
    if (other === undefined) return undefined;
    if (isTurned) warnOf([this.#turnedWarning(isStream)], io);
    warnOf(newsIn(other.wire, made.wire), io);
    const lesson = { refused: refusal.refused, made: other, quirks };
    return { ...call, made: other, lesson, lessons: [...lessons, lesson] };
  }

  /** The server with the quirks that a refusal shows; undefined if it shows none. */
  #quirked({ refused, response }: Refusal, { codec, made }: Call): Target | undefined {
    const refusal = asRefusal(response, refused);
    const taught = withoutAffinity(refusal, made.target) ?? codec.learned?.(refusal, made.target);
    return this.#server.quirked(made.target, taught);
  }

  #turnedWarning(wasStream: boolean): { code: string; message: string } {
    const [asked, now] = wasStream ? ["a stream", "whole"] : ["a whole answer", "as streams"];
    const message = `${this.id} was asked for ${asked} and refused it: its answers come ${now} from now on`;
    return { code: "unsupported_setting", message };
  }

  /** The same call with a fresh token, if the old one was refused (Amazon does so with a 403) and there is another. */
  async #withFreshToken(refused: RondoError, call: Call): Promise<Call | undefined> {
    // A 401 may be about money: another token does not help then.
    const isAboutToken =
      refused.kind === "auth" || (refused.status === 401 && refused.kind !== "quota_exhausted");
    if (!isAboutToken || call.renewed || this.#options.credentials === undefined) return undefined;
    const fresh = await this.#credentials.get({ refresh: true }, call.io.signal);
    if (JSON.stringify(fresh) === JSON.stringify(call.credentials)) return undefined;
    return { ...call, credentials: fresh, renewed: true, lesson: undefined };
  }

  #loaded(): Promise<Codec> {
    const { codec, keepRaw } = this.#options;
    const withRaw = (loaded: Codec): Codec => (keepRaw === true ? keepingRaw(loaded) : loaded);
    if (!("load" in codec)) return Promise.resolve(withRaw(codec));
    this.#codec ??= loadedOf(codec)
      .then(withRaw)
      .catch((thrown: unknown) => {
        this.#codec = undefined;
        throw thrown;
      });
    return this.#codec;
  }

  async #attempt(call: Call, made: Made = call.made): Promise<Attempt> {
    const asked = askedOf(call, made);
    const response = await this.#response(call, made.wire);
    const isSuccess = response.status >= 200 && response.status < 300;
    if (!isSuccess) return await this.#refused(response, asked);
    const attempt = await this.#answered(response, asked);
    // A key may also be refused in a response that began as a success.
    if ("answer" in attempt || attempt.refused.kind !== "auth") this.#credentials.accepted(call.credentials);
    return attempt;
  }

  /** Signs and sends a request, and returns the response. */
  async #response({ credentials, request, io, sent }: Call, wire: WireRequest): Promise<HttpResponse> {
    const { clocks, authorize = bearer, headers: own = {} } = this.#options;
    const url = this.#urlOf(wire.path);
    const plain = merged({ "content-type": "application/json" }, wire.headers, own);
    sent.push({ credentials, headers: {} });
    const signed = await authorize(credentials, { url, headers: plain, body: wire.body });
    const headers = merged(plain, signed, credentials.headers ?? {}, request.settings.headers ?? {});
    sent.push({ credentials: {}, headers });
    return await this.#http().request({
      method: "POST",
      url,
      headers,
      body: wire.body,
      ...(wire.parts === undefined ? {} : { parts: wire.parts }),
      signal: io.signal,
      clocks: { ...io.clocks, ...clocks },
    });
  }

  /** The answer in a successful response, or the refusal that was sent as a success. */
  async #answered(response: HttpResponse, asked: Asked): Promise<Attempt> {
    const { codec, target, io } = asked;
    const heard = listening(io);
    try {
      return { answer: this.#accepted(await receive(response, codec, target, heard.io), asked) };
    } catch (thrown) {
      // Deltas that were emitted would be emitted again.
      const refusal = heard.anything() ? undefined : refusalIn(thrown);
      if (refusal === undefined) throw thrown;
      return { refused: this.#refusedFor(thrown as RondoError, refusal, asked), response: refusal };
    }
  }

  /** The refusal in a failed response, or the answer that was sent as a failure. */
  async #refused(response: HttpResponse, asked: Asked): Promise<Attempt> {
    const { codec, target, wire } = asked;
    let body = "";
    try {
      body = await bodyText(response, maxErrorChars);
    } catch (thrown) {
      // If the body breaks off, the status is enough; an abort matters more than the status.
      if (thrown instanceof RondoError && thrown.kind === "aborted") throw thrown;
    }
    const refusal = { status: response.status, header: (name: string) => response.header(name), body };
    const answer = codec.answerOf?.(refusal, target);
    if (answer !== undefined) return { answer };
    const error = this.#refusedFor(codec.errorOf(refusal), refusal, asked);
    const { facts = {} } = this;
    return { refused: ofEmptyRefusal(error, refusal, wire.body.length, facts, target), response: refusal };
  }

  /** The answer, or an error if nothing here can do what it asks for, or the prompt left no room for one. Warns if some of the prompt may have been cut. */
  #accepted(answer: AssistantMessage, { codec, request, io }: Asked): AssistantMessage {
    const unmet = codec.unmet?.(answer);
    if (unmet !== undefined) throw unmet;
    demandRoom(this.id, answer, this.facts);
    warnOverWindow(this.id, answer, this.facts, io);
    return withOutputAsText(answer, request, io);
  }

  #urlOf(path: string): string {
    if (this.#address?.path !== path) this.#address = { path, url: joinURL(this.#options.baseURL, path) };
    return this.#address.url;
  }

  /** The error, with the repair that this request allows. */
  #refusedFor(error: RondoError, { body }: ErrorResponse, asked: Asked): RondoError {
    const { request, wire } = asked;
    return forRequest(
      error,
      body,
      wire,
      request,
      (other) => this.#server.make({ ...asked, request: other }).wire,
    );
  }

  async #sendBy(send: Send, asked: Asked): Promise<AssistantMessage> {
    const { codec, wire, target, io } = asked;
    try {
      const sent = await send(wire, io);
      if (!(Symbol.asyncIterator in sent))
        return this.#accepted(codec.decodeWhole(sent.whole, target, io.emit), asked);
      const decoder = codec.decoder(target, io.emit);
      return this.#accepted(await receiveFrames(sent, decoder, io.signal), asked);
    } catch (thrown) {
      if (io.signal.aborted && !(thrown instanceof RondoError)) throw abortedError(io.signal);
      const response = responseIn(thrown);
      if (response !== undefined) {
        const answer = codec.answerOf?.(response, target);
        if (answer !== undefined) return answer;
        throw this.#refusedFor(codec.errorOf(response), response, asked);
      }
      throw codeOf(thrown) === undefined ? thrown : networkError(thrown, this.#options.baseURL);
    }
  }

  #http(): HttpClient {
    const { http, fetch } = this.#options;
    this.#client ??= http ?? (fetch === undefined ? defaultClient() : fetchClient({ fetch }));
    return this.#client;
  }

  /** The error for the caller: it names the model, says what to do about a key, and holds no key. */
  #named(thrown: unknown, sent: readonly Sent[], signal: AbortSignal): RondoError {
    const error =
      signal.aborted && !(thrown instanceof RondoError) ? abortedError(signal) : toRondoError(thrown);
    let words = error.message;
    if (words.startsWith("the provider ")) words = `${this.id}${words.slice("the provider".length)}`;
    else if (!words.includes(this.id)) words = `${this.id}: ${words}`;
    const names = this.#options.keyVariables ?? [];
    if (error.kind === "auth" && error.status !== undefined && names.length > 0)
      words += ` Check the key: it comes from ${this.#credentials.source}.`;
    // "ollama" is a common key for Ollama, and not a secret: a key that is part of the model's name is not taken out.
    const known = `${this.id} ${this.#options.baseURL}`;
    const secrets = sent.flatMap(({ credentials, headers }) => secretsOf(credentials, headers));
    const redact = textRedaction({ secrets: secrets.filter((secret) => !known.includes(secret)) });
    return errorWith(error, {
      message: redact(words),
      raw: error.raw === undefined ? undefined : redactedJson(error.raw, redact),
    });
  }
}

const warnOf = (warnings: WireRequest["warnings"], io: ModelIo): void => {
  for (const { code, message } of warnings) io.emit({ type: "warning", code, message });
};

const maxErrorChars = 1_000_000;
