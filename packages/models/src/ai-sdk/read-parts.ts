// The room of the incoming answer: parts of the AI SDK, streamed or whole, become our answer.
//
// Ids of text blocks may be reused after their end, so a block's key is chosen at its start. A call counts only once its
// whole `tool-call` arrived; its announcement alone never runs. What the provider ran itself is not a call of ours.

import {
  type AssistantMessage,
  base64,
  isBytes,
  type Json,
  type JsonObject,
  type ModelEvent,
  type Origin,
  parsedJson,
  type RondoError,
} from "@rondo/core";
import { isCommentary } from "../answer/blocks.ts";
import { Answer } from "../answer.ts";
import { objectIn, parseJson } from "../json-values.ts";
import { asRecord, countsOf, stopWords, text } from "./finish-and-usage.ts";
import { opaqueOf } from "./provider-metadata.ts";

type Told = { readonly [name: string]: unknown };

export class PartReader {
  readonly #answer: Answer;
  readonly #emit: (event: ModelEvent) => void;
  /** Open text and reasoning blocks: the specification's id to our key. */
  readonly #open = new Map<string, string>();
  /** Announced calls: ours (false until they arrived whole), and the provider's own. */
  readonly #calls = new Map<string, boolean>();
  #nameless = 0;
  readonly #theirs = new Set<string>();
  /** Sources that came before the text they belong to. */
  #sources: Json[] = [];
  #lastText: string | undefined;
  #blocks = 0;
  #end: { reason: unknown; metadata: unknown } | undefined;
  #response: { [name: string]: Json } = {};
  /** The provider's error. */
  error: { thrown: unknown } | undefined;

  constructor(origin: Origin, emit: (event: ModelEvent) => void) {
    this.#answer = new Answer({ origin }, emit);
    this.#emit = emit;
  }

  /** Takes a part of a stream. */
  push(part: unknown): void {
    const told = asRecord(part);
    const id = text(told.id);
    switch (told.type) {
      case "stream-start":
        this.warn(told.warnings);
        break;
      case "response-metadata":
        this.respond(told);
        break;
      case "text-start":
      case "reasoning-start":
        this.#start(told.type === "text-start" ? "text" : "reasoning", id, told);
        break;
      case "text-delta":
      case "reasoning-delta":
        this.#delta(told.type === "text-delta" ? "text" : "reasoning", id, told);
        break;
      case "text-end":
      case "reasoning-end":
        this.#stop(told.type === "text-end" ? "text" : "reasoning", id, told);
        break;
      case "tool-input-start":
        this.#announce(id, told);
        break;
      case "tool-input-delta":
        if (this.#theirs.has(id)) this.#emit({ type: "progress" });
        else this.#answer.args(`call:${id}`, text(told.delta));
        break;
      case "finish":
        this.#end = { reason: told.finishReason, metadata: told.providerMetadata };
        this.#answer.count(countsOf(told.usage));
        break;
      case "error":
        this.error ??= { thrown: told.error };
        break;
      case "tool-input-end":
      case "raw":
      case "ping":
        break;
      default:
        this.content(part);
    }
  }

  /** Takes a whole part, from an answer that came at once or of a kind that is never streamed in pieces. */
  content(part: unknown): void {
    const told = asRecord(part);
    switch (told.type) {
      case "text":
      case "reasoning":
        this.#start(told.type, "", told);
        this.#delta(told.type, "", { delta: told.text });
        this.#stop(told.type, "", { citations: told.citations });
        break;
      case "tool-call":
        if (told.providerExecuted === true) this.#native(`call:${text(told.toolCallId)}`, told);
        else this.#call(told);
        break;
      case "tool-result":
        // A preliminary result has the same key and is replaced by the next.
        this.#native(`result:${text(told.toolCallId)}`, told);
        break;
      case "file":
        this.#file(told);
        break;
      case "source":
        this.#sources.push(plain(told));
        this.#cite();
        break;
      case "tool-approval-request":
        this.#emit({
          type: "warning",
          code: "unsupported_approval",
          message:
            "the provider asks for the approval of a tool it runs itself; it cannot be given through the AI SDK bridge",
        });
        this.#native(`approval:${text(told.approvalId)}`, told);
        break;
      default:
        this.#native(`block:${this.#blocks++}`, told);
    }
  }

  warn(warnings: unknown): void {
    for (const warning of Array.isArray(warnings) ? warnings : []) {
      const { type, feature, setting, tool, details, message } = asRecord(warning);
      const name = text(feature) || text(setting) || text(asRecord(tool).name);
      const words = [name, text(details) || text(message)].filter(Boolean).join(": ");
      this.#emit({ type: "warning", code: text(type).replaceAll("-", "_") || "other", message: words });
    }
  }

  /** Id, model and time of the response, as far as they are known. */
  respond({ id, modelId, timestamp }: Told): void {
    if (typeof id === "string") this.#response.id = id;
    if (typeof modelId === "string") this.#response.modelId = modelId;
    if (timestamp instanceof Date && !Number.isNaN(timestamp.getTime()))
      this.#response.timestamp = timestamp.toISOString();
  }

  /**
   * The whole answer.
   * @throws RondoError `stream_truncated` with what had arrived, if no finish came, or if it says that the stream broke off
   */
  finish(keepRaw: boolean): AssistantMessage {
    const { wire, raw, unified } = stopWords(this.#end?.reason);
    if (this.#end === undefined || unified === "interrupted") throw this.#answer.truncated("AI SDK");
    for (const [id, whole] of this.#calls)
      if (!whole && wire !== "max_tokens" && wire !== "context_overflow")
        this.#answer.callFault(`call:${id}`, "the provider announced the call and never finished it");
    const message = this.#answer.finish({ wire, ...(raw === undefined ? {} : { raw }) });
    if (!keepRaw) return message;
    const metadata = opaqueOf(this.#end.metadata);
    return {
      ...message,
      raw: { response: this.#response, ...(metadata === undefined ? {} : { providerMetadata: metadata }) },
    };
  }

  /** True if the answer ended with nothing but an error: then it is a failure, not a message. */
  get failed(): boolean {
    return this.error !== undefined || stopWords(this.#end?.reason).wire === "error";
  }

  /** The provider's finish reason for the failure, if it gave one. */
  get word(): string | undefined {
    return stopWords(this.#end?.reason).raw;
  }

  partial(kind: "error" | "aborted"): AssistantMessage | undefined {
    return this.#answer.partial(kind);
  }

  get usage(): RondoError["usage"] {
    return this.#answer.usage;
  }

  #start(type: "text" | "reasoning", id: string, told: Told): void {
    const key = `${type}:${this.#blocks++}`;
    this.#open.set(`${type}:${id}`, key);
    if (type === "text") {
      this.#answer.text(key, "");
      this.#lastText = key;
      this.#cite();
    } else this.#answer.reasoning(key, "");
    this.#attach(key, told);
  }

  #delta(type: "text" | "reasoning", id: string, told: Told): void {
    if (!this.#open.has(`${type}:${id}`)) this.#start(type, id, {});
    const key = this.#open.get(`${type}:${id}`) ?? "";
    const delta = text(told.delta ?? told.textDelta);
    if (type === "text") this.#answer.text(key, delta);
    else this.#answer.reasoning(key, delta);
    this.#attach(key, told);
  }

  #stop(type: "text" | "reasoning", id: string, told: Told): void {
    const key = this.#open.get(`${type}:${id}`);
    if (key === undefined) return;
    this.#attach(key, told);
    for (const citation of Array.isArray(told.citations) ? told.citations : [])
      this.#answer.attach(key, { citation: plain(citation) });
    this.#open.delete(`${type}:${id}`);
  }

  #announce(id: string, told: Told): void {
    if (told.providerExecuted === true) {
      this.#theirs.add(id);
      this.#emit({ type: "progress" });
      return;
    }
    this.#calls.set(id, false);
    this.#answer.call(`call:${id}`, { id, name: text(told.toolName) });
  }

  #call(told: Told): void {
    const id = text(told.toolCallId);
    // Each call without an id is a call of its own.
    const key = id === "" && this.#calls.get(id) ? `call:/${this.#nameless++}` : `call:${id}`;
    this.#calls.set(id, true);
    this.#answer.call(key, { id, name: text(told.toolName) });
    // Version 4 requires text; a provider that sends the value itself is accepted all the same.
    this.#answer.argsWhole(key, typeof told.input === "string" ? told.input : plain(told.input ?? {}));
    this.#answer.callEnd(key);
    this.#attach(key, told);
  }

  #native(key: string, told: Told): void {
    const block = asObject(plain(told));
    const input =
      told.type === "tool-call" && typeof told.input === "string" ? parseJson(told.input) : undefined;
    if (input !== undefined) block.input = input;
    if (told.type === "reasoning-file") block.data = bytesOf(told.data) ?? "";
    this.#answer.native(key, text(told.type) || "unknown", block);
  }

  #file(told: Told): void {
    const data = bytesOf(told.data);
    const { url } = asRecord(told.data);
    const opaque = opaqueOf(told.providerMetadata);
    this.#answer.part(`file:${this.#blocks++}`, {
      type: "file",
      mediaType: text(told.mediaType),
      ...(data === undefined ? {} : { data }),
      ...(url instanceof URL || typeof url === "string" ? { url: String(url) } : {}),
      ...(opaque === undefined ? {} : { opaque }),
    });
  }

  #attach(key: string, told: Told): void {
    const opaque = opaqueOf(told.providerMetadata);
    if (opaque === undefined) return;
    // A provider may send the members one by one: earlier ones stay.
    const before = this.#answer.opaqueOf(key) ?? {};
    const merged = Object.fromEntries(
      Object.entries(opaque).map(([name, value]) => [
        name,
        { ...asObject(before[name]), ...asObject(value) },
      ]),
    );
    const commentary = Object.values(merged).some(isCommentary);
    this.#answer.attach(key, { opaque: merged, ...(commentary ? { commentary } : {}) });
  }

  #cite(): void {
    if (this.#lastText === undefined) return;
    for (const source of this.#sources) this.#answer.attach(this.#lastText, { citation: source });
    this.#sources = [];
  }
}

/** The bytes of a generated file in base64, from any version's form. */
function bytesOf(data: unknown): string | undefined {
  const bare = asRecord(data).type === "data" ? asRecord(data).data : data;
  if (typeof bare === "string") return bare;
  return isBytes(bare) ? base64(bare) : undefined;
}

function plain(value: unknown): Json {
  return parsedJson(JSON.stringify(value ?? null));
}

const asObject = (value: unknown): JsonObject => objectIn(value) ?? {};
