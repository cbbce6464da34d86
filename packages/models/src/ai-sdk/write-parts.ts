// The room of the outgoing answer: our deltas and our answer as parts of the AI SDK.
//
// Deltas are sent as they come, but the ends of blocks only when the answer is whole: a block's opaque data is not known
// earlier, and the AI SDK takes it at the block's end. Parts of the answer that were not streamed come before the finish.

import type { AssistantMessage, ModelEvent, Origin, Part, ToolCallPart } from "@rondo/core";
import { finishReason, specUsage } from "./finish-and-usage.ts";
import { carry } from "./provider-metadata.ts";
import type { ByProvider, Content, StreamPart, Warning } from "./spec.ts";

/** The answer's whole parts. `positions`: each states its position in the answer. */
export function contentOf(message: AssistantMessage, version: number, positions: boolean = false): Content[] {
  return message.content.flatMap((part, at) => {
    const content = contentPart(part, metadataOf(part, message.origin, positions ? at : undefined), version);
    return content === undefined ? [] : [content];
  });
}

function contentPart(
  part: Part,
  metadata: { providerMetadata?: ByProvider },
  version: number,
): Content | undefined {
  switch (part.type) {
    case "text":
    case "refusal":
      return { type: "text", text: part.text, ...metadata };
    case "reasoning":
      return { type: "reasoning", text: part.text, ...metadata };
    case "tool_call": {
      const { id: toolCallId, name: toolName } = part;
      return { type: "tool-call", toolCallId, toolName, input: inputOf(part), ...metadata };
    }
    case "native":
      return version >= 4 ? { type: "custom", kind: `rondo.${part.kind}`, ...metadata } : undefined;
    case "file": {
      const { mediaType, data, url } = part;
      if (typeof data === "string")
        // Version 3 has the bytes untagged.
        return version >= 4
          ? { type: "file", mediaType, data: { type: "data", data }, ...metadata }
          : { type: "file", mediaType, data, ...metadata };
      // The AI SDK has no form for an address that is not a URL (Google's `files/abc`).
      return url !== undefined && URL.canParse(url) && version >= 4
        ? { type: "file", mediaType, data: { type: "url", url: new URL(url) }, ...metadata }
        : undefined;
    }
  }
}

function metadataOf(part: Part, origin: Origin, at: number | undefined): { providerMetadata?: ByProvider } {
  const metadata = carry(origin, {
    ...("opaque" in part && part.opaque !== undefined ? { opaque: part.opaque } : {}),
    ...(part.type === "refusal" ? { part: "refusal" as const } : {}),
    ...(part.type === "native" ? { part: "native" as const, kind: part.kind } : {}),
    ...(at === undefined ? {} : { at }),
  });
  return metadata === undefined ? {} : { providerMetadata: metadata };
}

/** Arguments as JSON text. Incomplete ones are made unparsable, so that nobody runs them. */
function inputOf({ args, rawArgs, argsError }: ToolCallPart): string {
  if (argsError !== undefined) return `${rawArgs} [${argsError}]`;
  return rawArgs.trimStart().startsWith("{") ? rawArgs : JSON.stringify(args);
}

interface Open {
  type: "text" | "reasoning";
  id: string;
  text: string;
}

export class PartWriter {
  readonly #write: (part: StreamPart) => void;
  readonly #version: number;
  readonly #open = new Map<number, Open>();
  /** Announced calls, by position; those without an id or a name yet wait, with their pieces. */
  readonly #calls = new Map<number, { id: string; announced: boolean; waiting: string }>();
  readonly #late: Warning[] = [];

  constructor(version: number, write: (part: StreamPart) => void) {
    this.#version = version;
    this.#write = write;
  }

  start(warnings: Warning[], origin: Origin): void {
    this.#write({ type: "stream-start", warnings });
    this.#write({ type: "response-metadata", modelId: origin.model });
  }

  event(event: ModelEvent): void {
    switch (event.type) {
      case "text_delta":
      case "reasoning_delta": {
        const type = event.type === "text_delta" ? "text" : "reasoning";
        let open = this.#open.get(event.index);
        if (open === undefined) {
          open = { type, id: String(event.index), text: "" };
          this.#open.set(event.index, open);
          this.#write({ type: `${type}-start`, id: open.id });
        }
        open.text += event.text;
        this.#write({ type: `${type}-delta`, id: open.id, delta: event.text });
        break;
      }
      case "tool_args_delta":
        this.#args(event);
        break;
      case "warning":
        // The AI SDK takes warnings only at the start; later ones are sent with the finish.
        this.#late.push(warningOf(event));
        break;
      case "progress":
        break;
    }
  }

  /** The answer is whole: blocks are ended, calls sent, and then the finish. */
  finish(message: AssistantMessage): void {
    const ended = new Set<Open>();
    const blocks = contentOf(message, this.#version).map((content) => this.#blockOf(content, ended));
    // The AI SDK holds parts in the order in which they began. If that is not the answer's order, each states its position.
    const began = [...this.#open.values()].filter((open) => ended.has(open));
    const inOrder = blocks.every((block, at) => block === began[at]);
    for (const [at, content] of contentOf(message, this.#version, !inOrder).entries()) {
      if (content.type === "text" || content.type === "reasoning") this.#close(content, blocks[at], at);
      else if (content.type === "tool-call") this.#call(content);
      else this.#write(content);
    }
    for (const open of this.#open.values())
      if (!ended.has(open)) this.#write({ type: `${open.type}-end`, id: open.id });
    for (const { id, announced } of this.#calls.values())
      if (announced) this.#write({ type: "tool-input-end", id });
    const { stop, usage } = message;
    const rondo = {
      stop: { ...stop },
      ...(this.#late.length === 0 ? {} : { warnings: this.#late.map((one) => ({ ...one })) }),
    };
    this.#write({
      type: "finish",
      finishReason: finishReason(stop),
      usage: specUsage(usage),
      providerMetadata: { rondo },
    });
  }

  /** The answer will not become whole. */
  fail(error: unknown): void {
    for (const open of this.#open.values()) this.#write({ type: `${open.type}-end`, id: open.id });
    this.#write({ type: "error", error });
    this.#write({
      type: "finish",
      finishReason: { unified: "error", raw: undefined },
      usage: specUsage(),
    });
  }

  /** The block that was streamed for this part: the first open one of its kind whose text the part begins with. */
  #blockOf(content: Content, ended: Set<Open>): Open | undefined {
    if (content.type !== "text" && content.type !== "reasoning") return undefined;
    const block = [...this.#open.values()].find(
      (open) => !ended.has(open) && open.type === content.type && content.text.startsWith(open.text),
    );
    if (block !== undefined) ended.add(block);
    return block;
  }

  #close(content: Content & { type: "text" | "reasoning" }, block: Open | undefined, at: number): void {
    const { type, text, providerMetadata } = content;
    const id = block?.id ?? `whole-${at}`;
    if (block === undefined) this.#write({ type: `${type}-start`, id });
    const rest = text.slice(block?.text.length ?? 0);
    if (rest !== "") this.#write({ type: `${type}-delta`, id, delta: rest });
    this.#write({ type: `${type}-end`, id, ...(providerMetadata === undefined ? {} : { providerMetadata }) });
  }

  #args(event: ModelEvent & { type: "tool_args_delta" }): void {
    const { index, id, name, delta } = event;
    const call = this.#calls.get(index) ?? { id, announced: false, waiting: "" };
    this.#calls.set(index, call);
    if (!call.announced && (id === "" || name === "")) {
      call.waiting += delta;
      return;
    }
    if (!call.announced) {
      call.announced = true;
      call.id = id;
      this.#write({ type: "tool-input-start", id, toolName: name });
    }
    const told = call.waiting + delta;
    if (told !== "") this.#write({ type: "tool-input-delta", id: call.id, delta: told });
    call.waiting = "";
  }

  #call(content: Content & { type: "tool-call" }): void {
    const { toolCallId: id, toolName, input } = content;
    const known = [...this.#calls].find(([, call]) => call.announced && call.id === id);
    if (known === undefined) {
      this.#write({ type: "tool-input-start", id, toolName });
      this.#write({ type: "tool-input-delta", id, delta: input });
    } else this.#calls.delete(known[0]);
    this.#write({ type: "tool-input-end", id });
    this.#write(content);
  }
}

export function warningOf({ code, message }: { code: string; message: string }): Warning {
  return { type: "unsupported", feature: code, details: message };
}
