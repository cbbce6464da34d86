// What the tests of the context in the loop share: results of a size, a clock that jumps, and who is asked for what.

import {
  Agent,
  type AgentOptions,
  charEstimator,
  type LogRecord,
  type MemoryJournal,
  type Message,
  type ModelRequest,
  memoryJournal,
  type RondoEvent,
  type Session,
  type Tool,
  textOf,
  tool,
} from "@rondo/core";
import type { SeenRequest } from "@rondo/testkit";

/** A text of so many tokens, as the loop estimates them, that says what it is. */
export const words = (tokens: number, about = "words"): string =>
  `${about} ${"word ".repeat(tokens)}`.slice(0, tokens * 5 - 5);

/** A tool whose result takes about so many tokens. */
export function reader(tokens: number, options: Partial<Parameters<typeof tool>[0]> = {}): Tool {
  let calls = 0;
  return tool({
    name: "read",
    description: "Reads a page",
    inputSchema: { type: "object", properties: {} },
    effect: "read",
    execute: () => {
      calls += 1;
      return words(tokens, `page ${calls}`);
    },
    ...options,
  });
}

/** Whether a model is asked to sum up, not to go on. */
export const isSummary = (request: SeenRequest): boolean =>
  request.tools.length === 0 && textOf(request.messages[0] as Message).includes("material to summarize");

/** Whether summaries are to be joined. */
export const isJoining = (request: SeenRequest): boolean =>
  textOf(request.messages[0] as Message).includes("consecutive parts of one conversation");

const estimator = charEstimator();

/** Tokens of a request, all of them estimated. */
export function estimated({
  system = "",
  messages,
  tools,
}: Pick<ModelRequest, "system" | "messages" | "tools">): number {
  return [...messages].reduce(
    (sum, message) => sum + estimator.message(message),
    estimator.text(system) + estimator.tools(tools),
  );
}

export interface Played {
  session: Session;
  journal: MemoryJournal;
  events: RondoEvent[];
  records(): LogRecord[];
}

/** A session of an agent with these options, whose events are kept. */
export async function opened(
  options: AgentOptions,
  journal: MemoryJournal = memoryJournal(),
): Promise<Played> {
  const session = (await new Agent({
    journal,
    repeats: null,
    ...options,
    // The cap has tests of its own; here results are as large as they say.
    context: { cap: null, ...options.context },
  }).open("s")) as Session;
  const events: RondoEvent[] = [];
  session.subscribe((event) => events.push(event));
  return { session, journal, events, records: () => journal.read("s") };
}

/** Events of one type. */
export const only = <T extends RondoEvent["type"]>(
  events: readonly RondoEvent[],
  type: T,
): (RondoEvent & { type: T })[] =>
  events.filter((event): event is RondoEvent & { type: T } => event.type === type);

/** Records of one type. */
export const recordsOf = <T extends LogRecord["type"]>(
  records: readonly LogRecord[],
  type: T,
): (LogRecord & { type: T })[] =>
  records.filter((record): record is LogRecord & { type: T } => record.type === type);
