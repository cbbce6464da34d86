// The room of spans: a run, its requests and its calls as OpenTelemetry spans.
//
// Names and attributes follow OpenTelemetry's conventions for generative AI, which are still in development; attributes that
// they lack begin with `rondo.`. A sub-agent's run is below its call. Spans are made from events, and like those they are
// only for watching.

import { able, type Check, checkGiven, flag, having, membersOf, text } from "../checks.ts";
import type { ErrorData } from "../errors.ts";
import type { CallView, Listener, RondoEvent } from "../events.ts";
import { type AssistantMessage, addUsage, type ContentPart, type Usage } from "../message.ts";

/** The methods of a span that are used. */
export interface TraceSpan {
  setAttribute(name: string, value: string | number | string[]): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(): void;
}

/** The parts of `@opentelemetry/api` that are used: `import * as otel from "@opentelemetry/api"` fits. */
export interface OpenTelemetry<Span extends TraceSpan, Context> {
  readonly trace: {
    getTracer(name: string): { startSpan(name: string, options: { kind: number }, above: Context): Span };
    setSpan(context: Context, span: Span): Context;
  };
  readonly context: { active(): Context };
}

export interface TracedOptions<Span extends TraceSpan> {
  /** The parent of the runs' spans. Default: the span that is active when a run begins. */
  above?: Span;
  /** The agent's name, for a run's span and `gen_ai.agent.name`. Sub-agents have their tool's name. Default: none. */
  agent?: string;
  /** Whether spans contain the arguments and results of calls, which may be confidential; of files only the size. Default: false. */
  content?: boolean;
  /** `gen_ai.conversation.id`. Give `session.id` if another process may have begun the run. Default: the session's id, once a run begins. */
  conversation?: string;
}

/** A listener for one session at a time. */
export interface Tracer extends Listener {
  /**
   * Ends the spans that are open: for a run that is left parked, or by a process that stops. If the run continues, the rest of it
   * has a span of its own, in the same conversation. Without open spans nothing happens.
   */
  end(): void;
}

const otelFace = having('OpenTelemetry\'s API (import * as otel from "@opentelemetry/api")', {
  trace: able("its trace", "getTracer", "setSpan"),
  context: able("its context", "active"),
});
const tracedGiven: Check = membersOf<TracedOptions<TraceSpan> & { otel: unknown }>(
  {
    otel: otelFace,
    above: able("a span", "setAttribute", "end"),
    agent: text,
    content: flag,
    conversation: text,
  },
  ["otel"],
);

/** The kinds of spans that are used. */
const kind = { internal: 0, client: 2 };
const failed = 2;

/** Providers with another name in these conventions. */
const providerNames: Readonly<Record<string, string>> = {
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  google: "gcp.gemini",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  vertex: "gcp.vertex_ai",
  xai: "x_ai",
};

/** After `gen_ai.usage.`, or for a whole run after `rondo.usage.`. */
const usageNames: Readonly<Partial<Record<keyof Usage, string>>> = {
  inputTokens: "input_tokens",
  outputTokens: "output_tokens",
  cachedInputTokens: "cache_read.input_tokens",
  cacheWriteTokens: "cache_creation.input_tokens",
  reasoningTokens: "reasoning.output_tokens",
};

/**
 * Reports runs to OpenTelemetry: a span for each run, and below it one for each request, call and summary of the history.
 * @param otel OpenTelemetry's API, as its package exports it
 * @throws RondoError `invalid_request` for anything else, and for an unknown option
 * @returns a listener for one session at a time: `agent.run(task, { onEvent: traced(otel) })`
 */
export function traced<Span extends TraceSpan, Context>(
  otel: OpenTelemetry<Span, Context>,
  options: TracedOptions<Span> = {},
): Tracer {
  checkGiven(tracedGiven, { ...options, otel }, "traced");
  const spans = new Spans(otel, options);
  return Object.assign((event: RondoEvent) => spans.hear(event), { end: () => spans.end() });
}

class Spans<Span extends TraceSpan, Context> {
  readonly #otel: OpenTelemetry<Span, Context>;
  readonly #options: TracedOptions<Span>;
  readonly #children = new Map<string, Spans<Span, Context>>();
  readonly #calls = new Map<string, Span>();
  #run: Span | undefined;
  #request: Span | undefined;
  #summary: Span | undefined;
  #used: Usage = {};
  #conversation: string | undefined;

  constructor(otel: OpenTelemetry<Span, Context>, options: TracedOptions<Span>) {
    this.#otel = otel;
    this.#options = options;
    this.#conversation = options.conversation;
  }

  hear(event: RondoEvent): void {
    switch (event.type) {
      case "run_start":
        // A run that was left parked would not be ended by anything else.
        this.end();
        this.#ranIn(event.session);
        return;
      case "request":
        this.#ask(event);
        return;
      case "message":
        this.#answered(event.message);
        return;
      case "retry":
      case "fallback":
        this.#request = ended(this.#request, event.error);
        return;
      case "tool_start":
        if (event.code === undefined) this.#act(event.call);
        return;
      case "answer_request":
        if (event.call.child === undefined) this.#asks(event.call);
        return;
      case "tool_end":
        this.#acted(event);
        return;
      case "child":
        this.#childOf(event.call).hear(event.event);
        return;
      case "compaction_start":
        this.#summary = this.#start("compaction", kind.internal);
        this.#summary.setAttribute("rondo.rule", event.rule);
        return;
      case "compaction_end":
        this.#summary?.setAttribute("rondo.tokens.before", event.before);
        this.#summary?.setAttribute("rondo.tokens.after", event.after);
        this.#summary = ended(this.#summary);
        return;
      case "run_end": {
        const { reason, error } = event.end;
        this.#run?.setAttribute("rondo.end.reason", reason);
        this.end(error);
      }
    }
  }

  /** A sub-agent is in the conversation that it was called in. */
  #ranIn(session: string): void {
    this.#conversation = this.#options.conversation ?? session;
    const run = this.#begin();
    if (this.#conversation !== session) run.setAttribute("rondo.session", session);
  }

  /** A run's span. For a run that another process began, it begins with the first event that comes here. */
  #begin(): Span {
    const { agent, above } = this.#options;
    const active = this.#otel.context.active();
    const context = above === undefined ? active : this.#otel.trace.setSpan(active, above);
    const span = this.#tracer().startSpan(
      agent === undefined ? "invoke_agent" : `invoke_agent ${agent}`,
      { kind: kind.internal },
      context,
    );
    span.setAttribute("gen_ai.operation.name", "invoke_agent");
    if (agent !== undefined) span.setAttribute("gen_ai.agent.name", agent);
    this.#inConversation(span);
    this.#run = span;
    this.#used = {};
    return span;
  }

  /** A span below the run's. */
  #start(name: string, of: number): Span {
    const run = this.#run ?? this.#begin();
    const { trace, context } = this.#otel;
    return this.#tracer().startSpan(name, { kind: of }, trace.setSpan(context.active(), run));
  }

  #inConversation(span: Span): void {
    if (this.#conversation !== undefined) span.setAttribute("gen_ai.conversation.id", this.#conversation);
  }

  #tracer(): ReturnType<OpenTelemetry<Span, Context>["trace"]["getTracer"]> {
    return this.#otel.trace.getTracer("rondo");
  }

  #ask({ origin, step, attempt, output }: RondoEvent & { type: "request" }): void {
    ended(this.#request);
    const { provider, model } = origin;
    const span = this.#start(`chat ${model}`, kind.client);
    span.setAttribute("gen_ai.operation.name", "chat");
    span.setAttribute("gen_ai.provider.name", providerNames[provider] ?? provider);
    span.setAttribute("gen_ai.request.model", model);
    if (output === true) span.setAttribute("gen_ai.output.type", "json");
    this.#inConversation(span);
    span.setAttribute("rondo.step", step);
    span.setAttribute("rondo.attempt", attempt);
    this.#request = span;
  }

  #answered({ stop, usage = {} }: AssistantMessage): void {
    if (this.#request === undefined) return;
    this.#request.setAttribute("gen_ai.response.finish_reasons", [stop.raw ?? stop.kind]);
    tellUsage(this.#request, "gen_ai.usage", usage);
    this.#used = addUsage(this.#used, usage);
    this.#request = ended(this.#request);
  }

  #act({ key, id, name, args }: CallView): void {
    // A sub-agent that continues after it had waited has its span.
    if (this.#calls.has(key)) return;
    const span = this.#start(`execute_tool ${name}`, kind.internal);
    span.setAttribute("gen_ai.operation.name", "execute_tool");
    span.setAttribute("gen_ai.tool.name", name);
    span.setAttribute("gen_ai.tool.type", "function");
    span.setAttribute("gen_ai.tool.call.id", id);
    if (this.#options.content === true) span.setAttribute("gen_ai.tool.call.arguments", JSON.stringify(args));
    this.#calls.set(key, span);
  }

  /** How long somebody takes to answer is not the tool's time. */
  #asks({ key }: CallView): void {
    this.#calls.get(key)?.end();
    this.#calls.delete(key);
  }

  #acted({ call, content, isError, code }: RondoEvent & { type: "tool_end" }): void {
    const span = this.#calls.get(call.key);
    this.#calls.delete(call.key);
    this.#children.delete(call.key);
    const result = this.#options.content === true ? JSON.stringify(content.map(withoutBytes)) : undefined;
    if (result !== undefined) span?.setAttribute("gen_ai.tool.call.result", result);
    const error = code ?? "tool_error";
    ended(span, isError ? { kind: error, message: result ?? error } : undefined);
  }

  /** The spans of a sub-agent, below its call's span. */
  #childOf({ key, name }: CallView): Spans<Span, Context> {
    const known = this.#children.get(key);
    if (known !== undefined) return known;
    const above = this.#calls.get(key) ?? this.#run ?? this.#begin();
    const child = new Spans(this.#otel, {
      ...this.#options,
      above,
      agent: name,
      ...(this.#conversation === undefined ? {} : { conversation: this.#conversation }),
    });
    this.#children.set(key, child);
    return child;
  }

  /** Ends what is still open together with the run: it has failed for good, or nobody waits for it any more. */
  end(error?: Pick<ErrorData, "kind" | "message">): void {
    this.#request = ended(this.#request, error);
    this.#summary = ended(this.#summary);
    for (const child of this.#children.values()) child.end();
    for (const call of this.#calls.values()) call.end();
    this.#children.clear();
    this.#calls.clear();
    // Not as `gen_ai.usage`: whoever adds that up over all spans of a trace would count everything twice.
    if (this.#run !== undefined) tellUsage(this.#run, "rondo.usage", this.#used);
    this.#run = ended(this.#run, error);
  }
}

/** Ends a span if there is one, and returns undefined in its place. */
function ended(span: TraceSpan | undefined, error?: { kind: string; message: string }): undefined {
  if (error !== undefined) {
    span?.setAttribute("error.type", error.kind);
    span?.setStatus({ code: failed, message: error.message });
  }
  span?.end();
}

function tellUsage(span: TraceSpan, under: "gen_ai.usage" | "rondo.usage", usage: Usage): void {
  for (const [kind, value] of Object.entries(usage) as [keyof Usage, number | undefined][]) {
    const name = usageNames[kind];
    if (value !== undefined && name !== undefined) span.setAttribute(`${under}.${name}`, value);
  }
}

/** A file's bytes would make a span so large that its exporter drops it, with all that are sent together with it. */
function withoutBytes(part: ContentPart): ContentPart {
  if (part.type !== "file" || typeof part.data !== "string") return part;
  const padding = part.data.endsWith("==") ? 2 : Number(part.data.endsWith("="));
  return { ...part, data: `${Math.floor(((part.data.length - padding) * 3) / 4)} bytes` };
}
