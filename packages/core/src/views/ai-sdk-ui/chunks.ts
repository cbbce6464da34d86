// The room of chunks: a session's live events, as the stream of chunks that `useChat` reads.
//
// A page throws at a chunk about something that it does not know: a delta without a start, a result without a call. A run that
// is resumed may begin with such an event, so what is needed is written before it.

import type { ErrorData } from "../../errors.ts";
import type { CallView, Listener, RondoEvent } from "../../events.ts";
import type { AssistantMessage, Json, Part } from "../../message.ts";
import { fileOf, outputOf, sourcesIn, sourcesOf, textIn } from "./parts.ts";
import type { UiChunk, UiPart } from "./shapes.ts";

export interface UiChunksOptions {
  /** The AI SDK's major version on the page. 6 cannot take back what was shown of a discarded answer, and shows no steering. Default: 7. */
  version?: 6 | 7;
  /** What the page reads of a failure. Default: the error's kind, since its message may name hosts, accounts and files. */
  errorText?: ErrorText;
  /** Names of the tools whose calls the page answers (`addToolOutput`): they get no buttons. Default: none. */
  clientTools?: readonly string[];
  /** `session.pending`, if the message that goes on shows these calls. Default: none. */
  pending?: readonly CallView[];
}

/** A listener (`session.subscribe`) that writes each event as chunks of a message. The chunks `start` and `finish` are not among them. */
export function uiChunks(write: (chunk: UiChunk) => void, options: UiChunksOptions = {}): Listener {
  return chunksAfter([], write, options);
}

/** {@link uiChunks} that go on with a message. @param parts what it shows already: a page is given a call that it shows once */
export function chunksAfter(
  parts: readonly UiPart[],
  write: (chunk: UiChunk) => void,
  options: UiChunksOptions,
): Listener {
  const { version = 7, errorText = kindOf, clientTools = [], pending = [] } = options;
  const chunks = new Chunks(write, { version, errorText, clientTools, pending }, parts);
  return (event) => chunks.hear(event);
}

type ErrorText = (error: Pick<ErrorData, "kind" | "message">) => string;

/** The text of a failure by default. */
export const kindOf: ErrorText = ({ kind }) => kind;

class Chunks {
  readonly #write: (chunk: UiChunk) => void;
  readonly #options: Required<UiChunksOptions>;
  /** Texts and reasoning that are arriving. */
  readonly #open = new Map<string, "text" | "reasoning">();
  /** Calls whose arguments are arriving, by id: the names of their tools. */
  readonly #arriving = new Map<string, string>();
  /** Calls that the message shows, by id. */
  readonly #shown: Set<string>;
  /** Those of them that wait, or waited, for a person. */
  readonly #asked: Set<string>;
  /** The step on the page began in this stream: only then may it be reset. */
  #isOwnStep = false;
  /** How many sources the message shows. */
  #sources: number;

  constructor(write: (chunk: UiChunk) => void, options: Required<UiChunksOptions>, parts: readonly UiPart[]) {
    this.#write = write;
    this.#options = options;
    const ids = options.pending.map(({ id }) => id);
    const calls = parts.flatMap((part) => ("toolCallId" in part ? [part.toolCallId] : []));
    this.#shown = new Set([...calls, ...ids]);
    this.#sources = sourcesOf(parts);
    this.#asked = new Set(ids);
  }

  hear(event: RondoEvent): void {
    switch (event.type) {
      case "step_start":
        this.#isOwnStep = true;
        this.#write({ type: "start-step" });
        break;
      case "text_delta":
        this.#said("text", event);
        break;
      case "reasoning_delta":
        this.#said("reasoning", event);
        break;
      case "tool_args_delta":
        this.#argued(event);
        break;
      case "message":
        this.#answered(event.message);
        break;
      case "retry":
      case "fallback":
      case "nudge":
        if (event.discard === true) this.#discard();
        else this.#close();
        break;
      case "tool_start":
        this.#show(event.call);
        break;
      case "approval_request":
        this.#show(event.call);
        this.#askFor(event.call);
        break;
      case "answer_request":
        this.#know(event.call);
        this.#write({
          type: "data-question",
          id: event.call.id,
          data: event.call.question?.asked ?? null,
        });
        break;
      case "tool_update":
        this.#know(event.call);
        this.#output(event.call, event.details ?? event.progress, true);
        break;
      case "tool_end":
        this.#know(event.call);
        this.#ended(event);
        break;
      case "child":
        this.#inside(event.call.id, event.event);
        break;
      case "message_delivered":
        if (event.lane === "steer" && this.#options.version >= 7)
          this.#write({ type: "steering-message", id: event.id, parts: event.message.content.map(fileOf) });
        break;
      case "step_end":
        this.#write({ type: "finish-step" });
        break;
      case "run_end":
        this.#close();
        if (event.end.reason === "aborted") this.#write({ type: "abort" });
        else if (event.end.error !== undefined)
          this.#write({ type: "error", errorText: this.#options.errorText(event.end.error) });
        break;
    }
  }

  #said(
    kind: "text" | "reasoning",
    { step, index, text: delta }: { step: number; index: number; text: string },
  ): void {
    const id = `${step}.${index}`;
    if (!this.#open.has(id)) {
      this.#open.set(id, kind);
      this.#write({ type: `${kind}-start`, id });
    }
    this.#write({ type: `${kind}-delta`, id, delta });
  }

  #argued({ id: toolCallId, name: toolName, delta }: RondoEvent & { type: "tool_args_delta" }): void {
    if (!this.#arriving.has(toolCallId)) this.#write({ type: "tool-input-start", toolCallId, toolName });
    this.#arriving.set(toolCallId, toolName);
    this.#write({ type: "tool-input-delta", toolCallId, inputTextDelta: delta });
  }

  #answered({ content }: AssistantMessage): void {
    // What is left was told of calls that the answer does not have: they were cut off.
    for (const part of content) if (part.type === "tool_call") this.#arriving.delete(part.id);
    this.#close();
    for (const part of content) this.#attach(part);
  }

  #attach(part: Part): void {
    if (part.type === "file") {
      const file = fileOf(part);
      if (file.type === "file") this.#write({ type: "file", mediaType: file.mediaType, url: file.url });
    }
    for (const source of part.type === "text" ? sourcesIn(part.citations, this.#sources) : []) {
      this.#sources += 1;
      this.#write(source);
    }
  }

  #askFor({ id, name }: CallView): void {
    if (this.#options.clientTools.includes(name)) return;
    this.#asked.add(id);
    this.#write({ type: "tool-approval-request", approvalId: id, toolCallId: id });
  }

  #ended(event: RondoEvent & { type: "tool_end" }): void {
    const { call, content } = event;
    // A page takes a denial only where it was asked.
    if (event.code === "denied" && this.#asked.has(call.id))
      this.#write({ type: "tool-output-denied", toolCallId: call.id });
    else if (event.isError)
      this.#write({ type: "tool-output-error", toolCallId: call.id, errorText: textIn(content) });
    else this.#output(call, outputOf(content, event.details));
  }

  /** What a sub-agent does is not shown, apart from calls that the page knows, because they waited for an answer. @param path the ids of the calls above it */
  #inside(path: string, event: RondoEvent): void {
    if (event.type === "child") this.#inside(`${path}/${event.call.id}`, event.event);
    else if (event.type === "tool_update" || event.type === "tool_end") {
      const call = { ...event.call, id: `${path}/${event.call.id}` };
      if (this.#shown.has(call.id)) this.hear({ ...event, call });
    }
  }

  #output({ id: toolCallId }: CallView, output: Json, preliminary?: true): void {
    this.#write({ type: "tool-output-available", toolCallId, output, ...(preliminary && { preliminary }) });
  }

  #know(call: CallView): void {
    if (!this.#shown.has(call.id)) this.#show(call);
  }

  #show({ id: toolCallId, name: toolName, args: input }: CallView): void {
    this.#shown.add(toolCallId);
    this.#write({ type: "tool-input-available", toolCallId, toolName, input });
  }

  /** Takes back what was shown of an answer that is discarded. */
  #discard(): void {
    if (this.#options.version < 7 || !this.#isOwnStep) this.#close();
    else {
      this.#open.clear();
      this.#arriving.clear();
      this.#write({ type: "reset-step" });
    }
  }

  /** Ends what is arriving. */
  #close(): void {
    for (const [id, kind] of this.#open) this.#write({ type: `${kind}-end`, id });
    this.#open.clear();
    for (const [toolCallId, toolName] of this.#arriving)
      this.#write({ type: "tool-input-error", toolCallId, toolName, input: {}, errorText: "discarded" });
    this.#arriving.clear();
  }
}
