// The room of the trace: a run as lines of a glass-box agent, one tag a line, for a person at a terminal.
//
// It only renders events. Texts of a model or a tool are shown without control sequences that a terminal would obey. The end
// of the loop is shown only when the run has ended, because other rules than the stop reason may continue it.

import type { CallView, RondoEvent } from "../events.ts";
import { cleanOutput } from "../input/terminal-text.ts";
import { placeIn } from "../loop/call-key.ts";
import { type AssistantMessage, type ContentPart, callsOf, type Message, textOf } from "../message.ts";
import { stopReasonOf } from "../presets/think-act-observe/stop.ts";
import { iterationsOf } from "../presets/think-act-observe.ts";

export interface TraceOptions {
  /** Where lines are written: a function that takes a line, or a stream such as `process.stderr`. Default: `console.log`. */
  to?: ((line: string) => void) | TraceStream;
  /** ANSI colours. Default: if `to` is a terminal, unless NO_COLOR is set in `env`. */
  colors?: boolean;
  /** Where `NO_COLOR` is looked up. Default: the environment of the process, if there is one. */
  env?: Readonly<Record<string, string | undefined>>;
  /** The N of `Iteration i/N`, as given to the preset. Default: 10. */
  maxIterations?: number | null;
}

/** The methods of a text stream that the trace needs. */
export interface TraceStream {
  write(text: string): unknown;
  isTTY?: boolean;
}

/**
 * A listener that writes a run's events as lines: pass it as `onEvent`, or to a session's `subscribe`.
 * @throws RondoError `invalid_request` if `maxIterations` is not a whole number, or below 0
 */
export function trace(options: TraceOptions = {}): (event: RondoEvent) => void {
  const { to } = options;
  const write = writerTo(to);
  const view = new TraceView(write, options.colors ?? wantsColors(options), options.maxIterations);
  return (event) => view.hear(event);
}

/**
 * A run's events as lines. If you stop iterating, the events stop too, which aborts the run.
 * @param events of `agent.stream(…)`
 * @param options without `to`; there are colours only if `colors` asks for them
 */
export async function* traceLines(
  events: AsyncIterable<RondoEvent>,
  options: Omit<TraceOptions, "to" | "env"> = {},
): AsyncGenerator<string, void, undefined> {
  const ready: string[] = [];
  const view = new TraceView((line) => ready.push(line), options.colors ?? false, options.maxIterations);
  for await (const event of events) {
    view.hear(event);
    yield* ready.splice(0);
  }
}

type Tag = "AGENT" | "HISTORY" | "LLM" | "THINK" | "ACT" | "OBSERVE";

/** SGR numbers, the same in every terminal. */
const sgr = { bold: 1, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36, gray: 90 } as const;

const tagColors: { readonly [tag in Tag]: keyof typeof sgr } = {
  AGENT: "cyan",
  HISTORY: "gray",
  LLM: "blue",
  THINK: "yellow",
  ACT: "magenta",
  OBSERVE: "green",
};

const endings = {
  endTurn: "LLM decided to respond without tools - ending loop",
  noCalls: "No tool calls found - ending loop",
};

interface TracedCall {
  call: CallView;
  told: boolean;
  over: boolean;
  end?: RondoEvent & { type: "tool_end" };
}

class TraceView {
  readonly #write: (line: string) => void;
  readonly #colors: boolean;
  readonly #max: number;
  /** The line about the last answer, written once the run has ended with it. */
  #ending: string | undefined;
  /** Calls of the current answer, by their position in it. */
  readonly #calls = new Map<number, TracedCall>();
  /** The position of the call that is shown next. Undefined: the answer came to another process, and calls are shown as they begin. */
  #place: number | undefined;
  /** The answer may be the last one: its calls are shown once they have run. */
  #holds = false;
  /** A model call is running: a warning that comes now is about its answer. */
  #asking = false;

  constructor(write: (line: string) => void, colors: boolean, maxIterations: number | null | undefined) {
    this.#write = write;
    this.#colors = colors;
    this.#max = iterationsOf(maxIterations);
  }

  hear(event: RondoEvent): void {
    switch (event.type) {
      case "run_start":
        for (const message of event.input) this.#added(message);
        return;
      case "message_delivered":
        this.#added(event.message);
        return;
      case "step_start":
        this.#ending = undefined;
        this.#line("AGENT", `Iteration ${this.#paint("bold", String(event.step))}/${this.#max}`);
        return;
      case "request":
        this.#line("THINK", "Calling LLM for next action...");
        this.#asking = true;
        return;
      case "warning":
        if (this.#asking) this.#line("LLM", `Warning: ${word(event.message)}`);
        return;
      case "message":
        this.#asking = false;
        this.#message(event.message);
        return;
      case "tool_start":
        this.#toolStart(event.call);
        return;
      case "tool_end": {
        const open = this.#calls.get(placeIn(event.call.key));
        if (open !== undefined) open.end = event;
        this.#tellCalls();
        return;
      }
      case "run_end":
        if (this.#ending !== undefined && event.end.reason === "completed") this.#line("THINK", this.#ending);
        this.#ending = undefined;
        this.#asking = false;
        return;
      default:
        return;
    }
  }

  #added(message: Message): void {
    if (message.role === "user")
      this.#line("HISTORY", `Added user message: ${firstOf(clean(textOf(message)), 50)}...`);
  }

  #message(message: AssistantMessage): void {
    const reason = stopReasonOf(message);
    const calls = callsOf(message);
    const text = clean(textOf(message));
    this.#line("LLM", `Response stop_reason: ${reason}`);
    if (text !== "") this.#line("THINK", `Text: ${preview(text, 100)}`);
    for (const call of calls) this.#line("THINK", `Tool call: ${this.#paint("magenta", word(call.name))}`);
    this.#calls.clear();
    this.#place = 0;
    this.#holds = reason === "end_turn" && calls.length > 0;
    this.#ending = reason === "end_turn" ? endings.endTurn : calls.length === 0 ? endings.noCalls : undefined;
  }

  /** A call that continues after it had waited has begun already. */
  #toolStart(call: CallView): void {
    const place = placeIn(call.key);
    if (!this.#calls.has(place)) this.#calls.set(place, { call, told: false, over: false });
    this.#tellCalls();
  }

  #nextCall(): TracedCall | undefined {
    if (this.#place !== undefined) return this.#calls.get(this.#place);
    return [...this.#calls.values()].find(({ over }) => !over);
  }

  /** Shows calls in their order: one that has its result before an earlier one ran waits for that. */
  #tellCalls(): void {
    for (;;) {
      const open = this.#nextCall();
      if (open === undefined) return;
      const { call, end } = open;
      // A call of the last answer that did not run has a result only to keep the history valid.
      const hidden = this.#holds && end?.code === "not_executed";
      if (!open.told && !hidden && (!this.#holds || end !== undefined)) {
        this.#act(call);
        open.told = true;
      }
      if (end === undefined) return;
      if (!hidden) this.#observe(end.content);
      open.over = true;
      if (this.#place !== undefined) this.#place += 1;
    }
  }

  #act({ name, id, args }: CallView): void {
    this.#line("ACT", `Executing tool: ${this.#paint("magenta", word(name))}`);
    this.#line("ACT", `Tool ID: ${this.#paint("gray", word(id))}`);
    this.#line("ACT", `Input: ${word(JSON.stringify(args))}`);
  }

  #observe(content: readonly ContentPart[]): void {
    this.#line("OBSERVE", `Result preview: ${this.#paint("gray", preview(clean(resultText(content)), 200))}`);
  }

  #line(tag: Tag, text: string): void {
    this.#write(`${this.#paint(tagColors[tag], `[${tag}]`)} ${text}`);
  }

  #paint(style: keyof typeof sgr, text: string): string {
    return this.#colors ? `\u001b[${sgr[style]}m${text}\u001b[0m` : text;
  }
}

/** A text without control sequences that a terminal would obey or that change the direction of writing; its lines stay. */
const clean = (text: string): string => cleanOutput(text).replace(/[\u2028-\u202e\u2066-\u2069]/g, "");

/** The same on one line: a name must not look like a line of the trace. */
const word = (text: string): string => clean(text).replaceAll("\n", " ");

function resultText(content: readonly ContentPart[]): string {
  return content.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("");
}

/** The first characters of a text, never half of one. */
function firstOf(text: string, count: number): string {
  if (text.length <= count) return text;
  return [...text.slice(0, 2 * count)].slice(0, count).join("");
}

/** A text, or its first characters and `...` if it has more. */
function preview(text: string, count: number): string {
  const first = firstOf(text, count);
  return first.length === text.length ? text : `${first}...`;
}

interface Host {
  process?: { env?: Readonly<Record<string, string | undefined>>; stdout?: { isTTY?: boolean } };
}

const hostProcess = (): NonNullable<Host["process"]> => (globalThis as Host).process ?? {};

function writerTo(to: TraceOptions["to"]): (line: string) => void {
  // biome-ignore lint/suspicious/noConsole: the console is where this goes unless another place is named
  if (to === undefined) return (line) => console.log(line);
  return typeof to === "function" ? to : (line) => void to.write(`${line}\n`);
}

function wantsColors({ to, env = hostProcess().env ?? {} }: TraceOptions): boolean {
  const terminal = to === undefined ? hostProcess().stdout : to;
  return typeof terminal === "object" && terminal.isTTY === true && !env.NO_COLOR;
}
