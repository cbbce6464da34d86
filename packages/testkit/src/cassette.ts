// The room of cassettes: plays a run's journal as a model, tools and a clock, and as a one-line test.
//
// Everything else is real: the agent's rules, schemas, hooks and stages run as usual, and must lead to the same
// requests and the same end. Nothing leaves the process.

import {
  Agent,
  type AgentOptions,
  type Clock,
  canonical,
  type Journal,
  type Json,
  type JsonObject,
  type LogRecord,
  type Model,
  type ModelIo,
  type ModelRef,
  type ModelRequest,
  memoryJournal,
  RecordedResult,
  type RecordOf,
  RondoError,
  type RunEnd,
  type RunResult,
  type Session,
  systemClock,
  type Tool,
  type ToolContext,
  tool,
  toolWith,
  WaitForAnswer,
} from "@rondo/core";
import { Said } from "./cassette/said.ts";
import { type Recording, Tape } from "./cassette/tape.ts";

/** The main model of a recording, and its other parts. */
export interface Cassette extends Model {
  /** The models of the recorded run, the main one first. */
  readonly models: readonly Model[];
  /** The summarising model, if the run had one. */
  readonly compactor: Model | undefined;
  /** Time and chance as they were: waits that ran out in the recording run out at once, longer ones when they are over. */
  readonly clock: Clock;
  /** The recorded tools, or these of yours, which then check and are declared as they are, and give the recorded results. */
  tools(own?: readonly Tool[]): Tool[];
  /** How many recorded model calls have not been made yet. */
  readonly left: number;
}

/**
 * Makes a model that gives the recorded answers to the recorded requests, in order. Any other request fails with an error
 * that says how it differs from the nearest recorded one.
 * @param recording a session's records, or a file of them
 * @param agent the texts, estimator and rules that the recorded agent had. Default: none of its own
 */
export function cassette(recording: Recording, agent: Partial<AgentOptions> = {}): Cassette {
  return cassetteOf(new Tape(recording, agent));
}

/** The tools of a recording, each of which gives the results that were recorded for it. */
export function cassetteTools(recording: Recording, own?: readonly Tool[]): Tool[] {
  return toolsOf(new Tape(recording), own);
}

function cassetteOf(tape: Tape): Cassette {
  const { models: refs = [], compactor } = tape.options ?? {};
  const models = refs.map((ref, at) => playing(tape, ref, at));
  const [main] = models;
  if (main === undefined) throw new RondoError("invalid_request", "the recording names no model");
  return {
    ...main,
    models,
    compactor: compactor === undefined ? undefined : playing(tape, compactor, undefined),
    clock: clockOf(tape),
    tools: (own) => toolsOf(tape, own),
    get left() {
      return tape.left;
    },
  };
}

function playing(tape: Tape, { id, origin, facts }: ModelRef, at: number | undefined): Model {
  return {
    id,
    origin,
    facts,
    async call(request: ModelRequest, io: ModelIo) {
      // A summary is asked of the model in use where there is none for it: those requests are told by their names.
      const outcome = tape.answer(request, tape.nextIsSummary ? undefined : at);
      // Also where there is nothing to wait for: no model emits before its promise is there.
      await undefined;
      if (outcome.type === "model_finished" || outcome.type === "summary_finished") {
        outcome.message.content.forEach((part, index) => {
          if (part.type === "text") io.emit({ type: "text_delta", index, text: part.text });
          if (part.type === "reasoning") io.emit({ type: "reasoning_delta", index, text: part.text });
          if (part.type === "tool_call")
            io.emit({ type: "tool_args_delta", index, id: part.id, name: part.name, delta: part.rawArgs });
        });
        return outcome.message;
      }
      const { kind, message, ...rest } = outcome.error;
      // What was cancelled in the recording waits to be cancelled again.
      if (kind === "aborted") await aborted(io.signal);
      throw new RondoError(kind, message, {
        ...rest,
        ...("partial" in outcome && outcome.partial !== undefined ? { partial: outcome.partial } : {}),
        ...(outcome.usage === undefined ? {} : { usage: outcome.usage }),
      });
    },
  };
}

/** Resolves when the signal fires, at once where it has. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

/** What `execute` gets: the arguments as JSON beside the value that the tool's own schema made of them. */
interface Checked {
  args: JsonObject;
  value: unknown;
}

function toolsOf(tape: Tape, own?: readonly Tool[]): Tool[] {
  const list: readonly Tool[] =
    own ??
    (tape.options?.tools ?? []).map(({ definition, effect, permission, resumes, timeoutMs, version }) =>
      tool({
        ...definition,
        effect,
        permission,
        timeoutMs,
        ...(version === undefined ? {} : { version }),
        execute: () => "",
        ...(resumes === undefined ? {} : { resume: () => "" }),
      }),
    );
  return list.map((one) => played(tape, one));
}

function played(tape: Tape, one: Tool): Tool {
  const { keys } = one;
  const give = async (args: JsonObject, signal: AbortSignal): Promise<RecordedResult | WaitForAnswer> => {
    const result = tape.result(one.name, args);
    if (result instanceof WaitForAnswer) return result;
    // It never came by itself: the loop gave it up, and will again.
    if (result.code === "timeout" || result.code === "aborted") await aborted(signal);
    return new RecordedResult(result);
  };
  return toolWith(one, {
    check: async (args, defaults) => {
      const check = await one.check(args, defaults);
      return check.ok
        ? { ...check, value: { args: check.args, value: check.value } satisfies Checked }
        : check;
    },
    ...(keys === undefined
      ? {}
      : { keys: (({ value }: Checked) => keys.call(one, value as never)) as never }),
    execute: (({ args }: Checked, { signal }: { signal: AbortSignal }) => give(args, signal)) as never,
    ...(one.resume === undefined
      ? {}
      : { resume: (({ args }: Checked, _: Json, { signal }: ToolContext) => give(args, signal)) as never }),
    ...(one.executeRaw === undefined ? {} : { executeRaw: (raw, { signal }) => give({ _raw: raw }, signal) }),
  });
}

/** Time stands at the record that was played last; a wait that ran out there is over at once. */
function clockOf(tape: Tape): Clock {
  let ahead = 0;
  let stamped = 0;
  const now = (): number => Math.max(ahead, (tape.records[Math.max(0, tape.at)] as LogRecord).at);
  return {
    now,
    random: () => tape.records[stamped++]?.rand ?? 0.5,
    after(ms, then) {
      const until = now() + ms;
      const next = tape.records.findIndex(
        ({ type, seq }) =>
          seq > tape.at && (type === "woke" || type === "model_finished" || type === "tool_finished"),
      );
      const due = tape.records[next];
      if (due?.type !== "woke" || due.at < until)
        return systemClock.after(ms, () => {
          // It was waited for: whoever looks at the time again must not find it where it was, and wait for ever.
          ahead = Math.max(ahead, until);
          then();
        });
      return systemClock.after(0, () => {
        ahead = until;
        tape.play(due.seq);
        then();
      });
    },
  };
}

/**
 * Replays a recorded session with an agent, offline: messages, approvals and aborts are given again, and the agent must
 * make the same requests and end the same way. Resolves with its last result.
 * @param options the agent's; its models and its tools' results come from the recording
 * @throws RondoError saying what differs: the first request, the conversation, or the end
 */
export async function replayTest<Output = unknown>(
  options: Omit<AgentOptions<Output>, "model"> & { model?: Model },
  recording: Recording,
): Promise<RunResult<Output>> {
  const given = options as AgentOptions<Output>;
  const tape = new Tape(recording, given as AgentOptions);
  const agent = new Agent<Output>({ ...given, ...playedOptions(given, tape) });
  const journal = memoryJournal();
  const append = (...group: Parameters<Journal["append"]>): void => {
    journal.append(...group);
    said.afterGroup(group[2]);
  };
  const session = await agent.open("replayed", { journal: { ...journal, append } });
  const said = new Said(tape.records, session as Session);
  tape.heard = (seq) => said.until(seq);
  let result: RunResult<Output> | undefined;
  for (const run of tape.records.filter((record) => record.type === "run_started")) {
    said.until(run.seq);
    result = await begunAs(run, session);
    while (result.parked !== undefined) {
      const goingOn = said.answer();
      if (goingOn === undefined) break;
      result = (await goingOn) as RunResult<Output>;
    }
    // What was not recorded is a failure of the model: the first thing to say.
    const { error } = result.end ?? {};
    if (error?.message.startsWith("cassette: ")) throw new RondoError("internal", error.message);
  }
  if (result === undefined) throw new RondoError("invalid_request", "the recording holds no run");
  compare(tape, session as Session, result);
  return result;
}

/** Begins a run as it was begun. */
async function begunAs<Output>(
  run: RecordOf<"run_started">,
  session: Session<Output>,
): Promise<RunResult<Output>> {
  const { history, input, only } = run;
  if (only === "compaction") return session.compact();
  if (only === "clearing") {
    await session.clear();
    return session.resume();
  }
  const content = input[0]?.role === "user" ? input[0].content : [];
  return history === undefined && content.length === 0
    ? session.continue()
    : session.send(history ?? (content as never));
}

/** What the recording has in place of an agent's own models, tools and clock. */
function playedOptions<Output>(
  { context, tools = [] }: AgentOptions<Output>,
  tape: Tape,
): Partial<AgentOptions<Output>> {
  const played = cassetteOf(tape);
  const { compactor, clock } = played;
  const [model, ...others] = played.models;
  const fallbacks = tape.options?.fallbacks ?? others.length;
  const compaction = context?.compaction;
  return {
    model: model as Model,
    fallback: others.slice(0, fallbacks),
    models: others.slice(fallbacks),
    ...(compaction == null || compactor === undefined
      ? {}
      : { context: { ...context, compaction: { ...compaction, model: compactor } } }),
    tools: played.tools(tools),
    clock,
  };
}

/** @throws RondoError for the first thing that is otherwise than it was recorded */
function compare(tape: Tape, session: Session, result: RunResult): void {
  const same = (what: string, was: unknown, is: unknown): void => {
    if (canonical((was ?? null) as never) !== canonical((is ?? null) as never))
      throw new RondoError(
        "internal",
        `cassette: ${what}: recorded ${JSON.stringify(was)}, now ${JSON.stringify(is)}`,
      );
  };
  const endOf = (end: RunEnd | undefined) => (end ? { reason: end.reason, rule: end.rule } : "parked");
  same("the run ends otherwise", endOf(tape.state.run?.end), endOf(result.end));
  same("fewer model calls were made", tape.calls.length, tape.calls.length - tape.left);
  const before = [...tape.state.history];
  const after = session.messages;
  for (let at = 0; at < Math.max(before.length, after.length); at += 1)
    same(`message ${at + 1} of the conversation differs`, before[at], after[at]);
}
