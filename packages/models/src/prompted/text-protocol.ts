// The room of the text protocol: a request with tools becomes one without, and a text becomes an answer with calls.
//
// The tools are written into the system prompt and the history into text; the answer is parsed back into parts. Each call
// makes one call to the inner model. Text that cannot be parsed is reported in the answer's stop, and the loop decides what
// follows.

import {
  type AssistantMessage,
  callsOf,
  errorWith,
  type JsonObject,
  type Model,
  type ModelEvent,
  type ModelIo,
  type ModelRequest,
  type Origin,
  RondoError,
  type StopKind,
  type ToolDefinition,
} from "@rondo/core";
import { saidBefore } from "../answer/said-before.ts";
import { Answer } from "../answer.ts";
import { freshId } from "../codecs/openai/names.ts";
import { objectIn } from "../json-values.ts";
import type { WrittenCall } from "./calls.ts";
import { neutralised } from "./control-tokens.ts";
import { envelopeSchema, withoutFillers } from "./envelope.ts";
import { fromHarmony, speaksHarmony } from "./harmony.ts";
import { TextHistory } from "./history.ts";
import { protocolPrompt, reminder, strictPrompt } from "./prompt.ts";
import { type Reading, readAnswer } from "./read-answer.ts";
import { readStrict } from "./read-strict.ts";
import { splitStray, ThoughtSplitter } from "./thoughts.ts";
import { AnswerWatch } from "./watch.ts";

export interface PromptedOptions {
  /**
   * `strict` follows the protocol to the letter: its own system prompt replaces yours, one call per answer, and an answer
   * that is not JSON is text. `tolerant` also accepts what models really write, including calls in the notations that model
   * families were trained on. Default: `tolerant`.
   */
  mode?: "tolerant" | "strict";
  /** Break up control tokens of chat templates in the texts of users, tools and files. Default: true. */
  neutralise?: boolean;
  /** The chat template itself opens the reasoning: answers begin inside `<think>`. Default: false. */
  startsInThought?: boolean;
  /**
   * Constrain the model to the protocol with a JSON Schema, if the model supports one (`facts.output`). The request fails
   * if the server cannot take the schema. Default: false.
   */
  constrain?: boolean;
  /** Default: the model's own id. */
  id?: string;
  /** Default: the model's own, with `prompted-json` as its `api`. */
  origin?: Origin;
}

export class TextProtocol {
  readonly #face: Pick<Model, "id" | "origin">;
  readonly #model: Model;
  readonly #options: PromptedOptions;
  readonly #strict: boolean;
  readonly #history: TextHistory;
  /** The last tools and system prompt, and the prompt made of them: they seldom change within a session. */
  #told: { tools: readonly ToolDefinition[]; system: string | undefined; prompt: string } | undefined;

  /**
   * @param face whose id and origin the answers bear
   * @param model the model that is called
   */
  constructor(face: Pick<Model, "id" | "origin">, model: Model, options: PromptedOptions) {
    this.#face = face;
    this.#model = model;
    this.#options = options;
    this.#strict = options.mode === "strict";
    this.#history = new TextHistory({
      strict: this.#strict,
      neutralise: options.neutralise ?? !this.#strict,
    });
  }

  async call(request: ModelRequest, io: ModelIo): Promise<AssistantMessage> {
    const live = new LiveAnswer(this.#face.origin, io, {
      watch: !this.#strict && request.outputSchema === undefined,
      split: !this.#strict,
      startsInThought: this.#options.startsInThought ?? false,
      harmony: speaksHarmony(this.#face.origin.model),
    });
    let inner: AssistantMessage;
    try {
      inner = await this.#model.call(this.#rewritten(request), {
        ...io,
        emit: (event) => live.hear(event),
      });
    } catch (thrown) {
      throw live.failed(thrown);
    }
    return this.#finish(live, inner, request, io);
  }

  #rewritten(request: ModelRequest): ModelRequest {
    const { system: _, outputSchema, ...rest } = request;
    const known = request.tools.length > 0;
    const note = this.#strict ? undefined : reminder(request, known);
    const system = this.#system(request);
    const schema = this.#schema(request, outputSchema);
    return {
      ...rest,
      ...(system === undefined ? {} : { system }),
      messages: this.#history.render(request.messages, note),
      tools: [],
      toolChoice: "auto",
      ...(schema === undefined ? {} : { outputSchema: schema }),
    };
  }

  #schema(request: ModelRequest, outputSchema: JsonObject | undefined): JsonObject | undefined {
    const native = this.#model.facts?.output;
    if (native !== "native" && native !== "native_without_tools") return undefined;
    if (outputSchema !== undefined) return outputSchema;
    return this.#options.constrain === true && request.tools.length > 0
      ? envelopeSchema(request.tools, request.toolChoice)
      : undefined;
  }

  #system(request: ModelRequest): string | undefined {
    const { tools, system } = request;
    const { neutralise = !this.#strict } = this.#options;
    // Tool descriptions may come from a stranger, e.g. an MCP server.
    const told = (prompt: string): string => (neutralise ? neutralised(prompt) : prompt);
    if (this.#strict) return told(strictPrompt(tools));
    if (tools.length === 0) return system;
    const last = this.#told;
    const same =
      last !== undefined &&
      last.system === system &&
      last.tools.length === tools.length &&
      last.tools.every((tool, at) => tool === tools[at]);
    if (same) return last.prompt;
    const protocol = told(protocolPrompt(tools));
    const prompt = system === undefined || system.trim() === "" ? protocol : `${system}\n\n${protocol}`;
    this.#told = { tools: [...tools], system, prompt };
    return prompt;
  }

  #finish(live: LiveAnswer, inner: AssistantMessage, request: ModelRequest, io: ModelIo): AssistantMessage {
    const { answer } = live;
    answer.count(inner.usage ?? {});
    const body = live.whole(inner);
    const { raw, detail } = inner.stop;
    const end = { ...(raw === undefined ? {} : { raw }), ...(detail === undefined ? {} : { detail }) };
    let reading: Reading;
    try {
      reading = this.#read(body, live, inner.stop.wire, request);
    } catch (thrown) {
      throw live.failed(thrown);
    }
    for (const { code, message } of reading.warnings)
      io.emit({ type: "warning", code, message: this.#strict ? message : `${this.#face.id}: ${message}` });
    if (reading.text !== "") answer.textWhole("text", "text", reading.text);
    else answer.drop("text");
    // A server may parse its model's calls although the request had no tools, as those for gpt-oss do.
    const told = reading.calls.length > 0 || this.#strict || !mayCall(request) ? [] : toldCalls(inner);
    const calls = told.length > 0 ? told : reading.calls;
    this.#call(answer, calls, request, io);
    // The strict protocol reports only calls and ends of turns. For typed output the real stop must stay: output that the
    // limit cut off is not typed output.
    const strict = this.#strict && request.outputSchema === undefined;
    const wire = wireOf(inner.stop.wire, calls.length > 0, strict);
    const message = answer.finish({ ...end, wire });
    if (reading.malformed === undefined || calls.length > 0 || message.stop.kind === "max_tokens")
      return message;
    // Here the text is the wire: a call in it that cannot be parsed is a malformed call, as when a provider reports one.
    const word = "malformed_call" as const;
    return { ...message, stop: { ...message.stop, kind: word, wire: word, detail: reading.malformed } };
  }

  #call(answer: Answer, calls: readonly WrittenCall[], request: ModelRequest, io: ModelIo): void {
    const taken = request.settings.parallelToolCalls === false ? calls.slice(0, 1) : calls;
    if (taken.length < calls.length)
      io.emit({
        type: "warning",
        code: "calls_dropped",
        message: `${this.#face.id} made ${calls.length} calls where one was asked for: the first is taken`,
      });
    for (const [at, call] of taken.entries()) {
      const key = `call/${at}`;
      answer.call(key, { id: freshId(), name: call.name });
      const schema = request.tools.find(({ name }) => name === call.name)?.inputSchema;
      const filled = this.#options.constrain === true && schema !== undefined;
      answer.argsWhole(key, filled ? withoutFillers(call.args, schema) : call.args);
      if (call.fault !== undefined) answer.callFault(key, call.fault);
      answer.callEnd(key);
    }
  }

  #read(body: string, live: LiveAnswer, wire: StopKind, request: ModelRequest): Reading {
    const { outputSchema } = request;
    // Typed output is JSON too: an envelope around it is unwrapped only if the schema itself has no such member.
    if (outputSchema !== undefined && hasMember(outputSchema, ["response", "thought", "tool_call"]))
      return { text: body.trim(), calls: [], warnings: [] };
    if (this.#strict && outputSchema === undefined) return readStrict(body);
    const begun = live.response;
    return readAnswer(body, {
      known: new Set(outputSchema === undefined ? request.tools.map(({ name }) => name) : []),
      tools: mayCall(request),
      wire,
      isQuoted: saidBefore(request),
      ...(begun === undefined ? {} : { begun }),
    });
  }
}

const mayCall = ({ tools, toolChoice, outputSchema }: ModelRequest): boolean =>
  tools.length > 0 && toolChoice !== "none" && outputSchema === undefined;

/** The calls of an answer that the server reported as calls, not as text. */
const toldCalls = (answer: AssistantMessage): WrittenCall[] =>
  callsOf(answer).map(({ name, rawArgs, argsError }) => ({
    name,
    args: rawArgs,
    ...(argsError === undefined ? {} : { fault: argsError }),
  }));

function hasMember({ properties }: JsonObject, names: readonly string[]): boolean {
  const members = objectIn(properties) ?? {};
  return names.some((name) => Object.hasOwn(members, name));
}

/** The stop in the protocol's terms: a call, or the end of the turn. In tolerant mode a stop that cut the answer off stays. */
function wireOf(inner: StopKind, called: boolean, strict: boolean): StopKind {
  if (strict) return called ? "tool_use" : "end_turn";
  return called && (inner === "end_turn" || inner === "stop_sequence" || inner === "unknown")
    ? "tool_use"
    : inner;
}

interface HowToHear {
  /** Emit text as soon as it cannot be part of a call. */
  watch: boolean;
  /** Separate reasoning from text. */
  split: boolean;
  startsInThought: boolean;
  harmony: boolean;
}

/** The answer while it arrives: reasoning is emitted at once, text as soon as it cannot be part of a call. */
class LiveAnswer {
  readonly answer: Answer;
  readonly #io: ModelIo;
  readonly #watch: AnswerWatch | undefined;
  readonly #how: HowToHear;
  readonly #thoughts: ThoughtSplitter;
  #shown = "";
  #heardText = false;

  constructor(origin: Origin, io: ModelIo, how: HowToHear) {
    this.answer = new Answer({ origin }, (event) => io.emit(event));
    this.#io = io;
    this.#watch = how.watch ? new AnswerWatch() : undefined;
    this.#how = how;
    this.#thoughts = new ThoughtSplitter(how.startsInThought);
  }

  get response(): string | undefined {
    return this.#watch?.response;
  }

  hear(event: ModelEvent): void {
    if (event.type === "reasoning_delta") this.answer.reasoning("thought", event.text);
    else if (event.type === "text_delta") this.#hearText(event.text);
    else if (event.type === "tool_args_delta") this.#io.emit({ type: "progress" });
    else this.#io.emit(event);
  }

  #hearText(text: string): void {
    this.#heardText = true;
    if (!this.#how.split) {
      this.#io.emit({ type: "progress" });
      return;
    }
    this.#take(this.#thoughts.push(text));
  }

  #take({ reasoning, body }: { reasoning: string; body: string }): void {
    if (reasoning !== "") this.answer.reasoning("thought", reasoning);
    if (body === "") {
      if (reasoning === "") this.#io.emit({ type: "progress" });
      return;
    }
    const show = this.#watch?.push(body) ?? "";
    if (show === "") this.#io.emit({ type: "progress" });
    else {
      this.#shown += show;
      this.answer.text("text", show);
    }
  }

  /** The whole answer: its text without the reasoning. Parts that are not text are kept as they are. */
  whole(inner: AssistantMessage): string {
    let text = "";
    for (const [at, part] of inner.content.entries())
      if (part.type === "text") text += part.text;
      else if (part.type === "reasoning") {
        if (!this.answer.has("thought")) this.answer.reasoning("thought", part.text);
      } else if (part.type === "refusal") this.answer.refusal(`refusal/${at}`, part.text);
      else if (part.type !== "tool_call") this.answer.part(`part/${at}`, part);
    if (!this.#heardText && text !== "") this.#hearText(text);
    if (!this.#how.split) return text;
    this.#take(this.#thoughts.end());
    const channels = this.#how.harmony ? fromHarmony(text) : undefined;
    if (channels !== undefined) {
      if (channels.reasoning !== "") this.answer.reasoning("thought", channels.reasoning);
      return channels.body;
    }
    // Split again from the whole text, which is what counts: the deltas were only for display.
    const again = new ThoughtSplitter(this.#how.startsInThought);
    const [head, tail] = [again.push(text), again.end()];
    const split = splitStray(head.body + tail.body);
    if (split.reasoning.trim() !== "" && this.#shown === "")
      this.answer.reasoning("thought", split.reasoning);
    return split.body;
  }

  /** The error, with what could be shown as its partial answer instead of a fragment of raw JSON. */
  failed(thrown: unknown): unknown {
    if (!(thrown instanceof RondoError)) return thrown;
    const partial = this.answer.partial(thrown.kind === "aborted" ? "aborted" : "error");
    return errorWith(thrown, { partial });
  }
}
