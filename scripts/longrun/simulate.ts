// The room of the long run: thousands of steps in a small window, with only the default options.
//
// The world is hostile on purpose. Results are from empty to a megabyte; the provider counts tokens in its own way,
// rejects what does not fit, and never tells a count in advance; its summaries contain nothing
// useful. So what is still known at the end is known because the loop kept it.

import {
  Agent,
  type AssistantMessage,
  charEstimator,
  type Estimator,
  type Journal,
  type LogRecord,
  type Message,
  type Model,
  type ModelRequest,
  memoryJournal,
  type Part,
  RondoError,
  type RondoEvent,
  textOf,
  tool,
  toolResult,
} from "@rondo/core";

export interface LongRunOptions {
  steps: number;
  /** Tokens of input and output together. */
  window: number;
  /** Number of facts planted, one per step from the first step on. */
  facts: number;
  journal?: Journal;
  /** Called after every `every` steps. */
  every?: number;
  onRow?(row: LongRunRow): void;
}

/** A stretch of steps. */
export interface LongRunRow {
  step: number;
  /** Tokens of the largest request, by the provider's count. */
  tokens: number;
  /** Messages of the largest request. */
  messages: number;
  /** CPU milliseconds of the whole process, including the simulated world. */
  cpuMs: number;
  /** Messages measured by the estimator; and messages that the previous request did not have, which are newly encoded. */
  measured: number;
  encoded: number;
  trims: number;
  compactions: number;
  /** Number of requests that do not begin like the previous one (broken prefix). */
  broken: number;
}

export interface LongRun {
  rows: LongRunRow[];
  /** How the run ended. */
  reason: string;
  steps: number;
  /** The largest request, by the provider's count. */
  largest: number;
  /** Number of requests that the provider rejected because they did not fit. */
  refused: number;
  /** Number of planted facts in the last answer. */
  found: number;
  planted: number;
  /** Number of broken prefixes that no stage had announced. */
  unexplained: number;
  /** Number of requests rebuilt from the records, and of those that differ. */
  replayed: number;
  different: number;
  operations: number;
  records: number;
}

const origin = { api: "simulated", provider: "simulated", model: "long" };

/** Runs it. */
export async function longRun(options: LongRunOptions): Promise<LongRun> {
  const world = new World(options);
  const journal = options.journal ?? memoryJournal();
  const agent = new Agent({
    model: world.model,
    tools: world.tools,
    system: "You look through the archive, step by step, and remember the facts.",
    maxSteps: options.steps + 20,
    journal,
    context: { window: options.window, estimator: world.estimator },
  });
  const result = await agent.run("Look at every page of the archive, then tell all facts.", {
    session: "long",
    onEvent: (event) => world.hear(event),
  });
  world.close();
  const session = await agent.open("long");
  const { requests } = await session.replay();
  const records = (await journal.read("long")) as readonly LogRecord[];
  return {
    rows: world.rows,
    reason: result.end?.reason ?? "parked",
    steps: world.step,
    largest: Math.max(...world.rows.map(({ tokens }) => tokens)),
    refused: world.refused,
    found: world.facts.filter((fact) => result.text.includes(fact)).length,
    planted: world.facts.length,
    unexplained: world.unexplained,
    replayed: requests.length,
    different: requests.filter(({ same }) => !same).length,
    operations: world.rows.reduce((sum, { measured, encoded }) => sum + measured + encoded, 0),
    records: records.length,
  };
}

/** What is wrong with a long run, in words; empty when it passes. */
export function faultsOf(run: LongRun, asked: Pick<LongRunOptions, "steps" | "window">): string[] {
  const half = Math.floor(run.rows.length / 2);
  const work = (rows: readonly LongRunRow[]): number =>
    rows.reduce((sum, { measured, encoded }) => sum + measured + encoded, 0) / rows.length;
  const grown = work(run.rows.slice(half)) / work(run.rows.slice(0, half));
  return [
    ...(run.reason === "completed" ? [] : [`it ended as ${run.reason}`]),
    ...(run.steps === asked.steps ? [] : [`it came to step ${run.steps} of ${asked.steps}`]),
    ...(run.largest <= asked.window ? [] : [`a request had ${run.largest} tokens`]),
    ...(run.refused === 0 ? [] : [`${run.refused} requests were refused`]),
    ...(run.found === run.planted ? [] : [`${run.planted - run.found} facts were lost`]),
    ...(run.unexplained === 0 ? [] : [`${run.unexplained} broken fronts that no stage told of`]),
    ...(run.different === 0 ? [] : [`${run.different} of ${run.replayed} requests differ in the replay`]),
    ...(grown <= 1.5 ? [] : [`the second half took ${grown.toFixed(2)} times the work of the first`]),
  ];
}

/** Half of the facts are in the middle of an output, half are noted by the tool. */
class World {
  readonly rows: LongRunRow[] = [];
  readonly facts: string[];
  row: LongRunRow = emptyRow(0);
  step = 0;
  refused = 0;
  unexplained = 0;
  #told = false;
  readonly #options: LongRunOptions;
  readonly #counts = new WeakMap<Message, number>();
  readonly #page: string;
  #cpu = process.cpuUsage();
  #random = 42;
  #encoded = new WeakSet<Message>();

  constructor(options: LongRunOptions) {
    this.#options = options;
    this.facts = Array.from({ length: options.facts }, (_, at) => `fact ${at + 1} is ${this.#code()}`);
    const lines: string[] = [];
    for (let size = 0; size < 1_100_000; size += (lines.at(-1) as string).length + 1)
      lines.push(
        `${lines.length} ${["the page says that", "GET /api/v2/items", '{"id": 7, "ok": true}', "所以", "error:"][lines.length % 5]} ${this.#code()} ${this.#code()}`,
      );
    this.#page = lines.join("\n");
  }

  /** Counts what the stages did, and the prefixes they broke. */
  hear(event: RondoEvent): void {
    if (event.type === "context" && event.stage === "trim") this.row.trims += 1;
    if (event.type === "compaction_end") this.row.compactions += 1;
    if (event.type === "context" && event.stage !== "cap") this.#told = true;
    if (event.type !== "request") return;
    // From the first kept text on the reader tools are offered: no stage does that, and it happens once.
    if (event.broke !== undefined) {
      this.row.broken += 1;
      if (!this.#told && event.broke !== "system or tools") this.unexplained += 1;
    }
    this.#told = false;
  }

  /** Ends the last stretch. */
  close(): void {
    const { user, system } = process.cpuUsage(this.#cpu);
    this.#cpu = process.cpuUsage();
    this.row.cpuMs = Math.round((user + system) / 1000);
    this.row.step = this.step;
    this.rows.push(this.row);
    this.#options.onRow?.(this.row);
    this.row = emptyRow(this.step);
  }

  readonly estimator: Estimator = counting(charEstimator(), () => {
    this.row.measured += 1;
  });

  readonly tools = [
    tool({
      name: "look",
      description: "One page of the archive",
      inputSchema: { type: "object", properties: { page: { type: "integer" } }, required: ["page"] },
      effect: "read",
      execute: (args) => this.#result((args as { page: number }).page),
    }),
  ];

  readonly model: Model = {
    id: "simulated/long",
    origin,
    call: (request) => this.#answer(request),
  };

  /** Sizes from nothing to a megabyte, most of them small; an eighth is over a hundred kilobytes. */
  #result(page: number): ReturnType<typeof toolResult> {
    const fact = this.facts[page - 1];
    const size = Math.floor(1_000_000 * this.#chance() ** 6);
    const from = Math.floor(this.#chance() * (this.#page.length - size));
    const body = `page ${page}\n${this.#page.slice(from, from + size)}`;
    if (fact === undefined)
      return toolResult(body, { ledger: [{ kind: "file_read", path: `archive/${page}` }] });
    if (page % 2 === 0) return toolResult(body, { ledger: [{ kind: "decision", text: fact }] });
    const middle = this.#page.slice(0, 60_000);
    return toolResult(`${body}\n${middle}\n${fact}\n${middle}`);
  }

  async #answer(request: ModelRequest): Promise<AssistantMessage> {
    const messages = [...request.messages];
    const counted = messages.reduce((sum, message) => sum + this.#countOf(message), 800);
    this.row.tokens = Math.max(this.row.tokens, counted);
    this.row.messages = Math.max(this.row.messages, messages.length);
    for (const message of messages)
      if (!this.#encoded.has(message)) {
        this.#encoded.add(message);
        this.row.encoded += 1;
      }
    if (counted > this.#options.window) {
      this.refused += 1;
      throw new RondoError("context_overflow", `${counted} tokens are more than ${this.#options.window}`);
    }
    const usage = { inputTokens: counted, outputTokens: 60 };
    if (request.tools.length === 0) return answer([{ type: "text", text: forgetful }], usage);
    if (this.step >= this.#options.steps) return this.#tell(messages, usage);
    this.step += 1;
    if (this.step % (this.#options.every ?? 100) === 0) this.close();
    return answer([called("look", { page: this.step }, `look_${this.step}`)], usage);
  }

  /** The last answers: what the conversation still contains, and what a search of the kept outputs finds. */
  #tell(messages: readonly Message[], usage: AssistantMessage["usage"]): AssistantMessage {
    const last = messages.at(-1);
    const seen = messages.map(textOf).join("\n");
    if (last?.role !== "tool" || last.name !== "search_output")
      return answer([called("search_output", { pattern: "fact " }, "search")], usage);
    const told = this.facts.filter((fact) => seen.includes(fact));
    return answer([{ type: "text", text: told.join("\n") || "nothing is known any more" }], usage);
  }

  /** How this provider counts: by letters, words and punctuation, unlike our estimate. */
  #countOf(message: Message): number {
    let count = this.#counts.get(message);
    if (count === undefined) {
      const text = JSON.stringify(message.content);
      const signs = text.match(/[^\p{L}\s]/gu)?.length ?? 0;
      const wide = text.match(/[\u3000-\u9fff]/g)?.length ?? 0;
      count = 6 + Math.ceil((text.length - signs - wide) / 4.4 + signs * 0.42 + wide);
      this.#counts.set(message, count);
    }
    return count;
  }

  #code(): string {
    return Math.floor(this.#chance() * 36 ** 7)
      .toString(36)
      .padStart(7, "0");
  }

  #chance(): number {
    this.#random = (this.#random + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#random ^ (this.#random >>> 15), 1 | this.#random);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

const forgetful =
  "The archive is being looked through, page by page. Nothing needs to be done again; the next page is next.";

function answer(content: Part[], usage: AssistantMessage["usage"]): AssistantMessage {
  const kind = content.some((part) => part.type === "tool_call") ? "tool_use" : "end_turn";
  return {
    role: "assistant",
    content,
    origin,
    stop: { kind, wire: kind },
    ...(usage === undefined ? {} : { usage }),
  };
}

function called(name: string, args: { [key: string]: string | number }, id: string): Part {
  return { type: "tool_call", id, name, args, rawArgs: JSON.stringify(args) };
}

function counting(estimator: Estimator, count: () => void): Estimator {
  return {
    ...estimator,
    message: (message) => {
      count();
      return estimator.message(message);
    },
  };
}

const emptyRow = (step: number): LongRunRow => ({
  step,
  tokens: 0,
  messages: 0,
  cpuMs: 0,
  measured: 0,
  encoded: 0,
  trims: 0,
  compactions: 0,
  broken: 0,
});
