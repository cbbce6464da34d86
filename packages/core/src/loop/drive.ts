// The driver: a plain async task that performs what `next` names and appends what comes of it.
//
// There is no policy in it. It alone stamps records; it appends before it acts, and flushes before anything leaves
// the process or waits; it tells a sink what happened. What comes from outside (messages, approvals, aborts) and
// what comes back (answers, results) enters by one mailbox. What nobody waits for any more is told so by its signal,
// and what it still says is late.

import type { BlobStore } from "../blobs.ts";
import type { Clock } from "../clock.ts";
import { capArrival } from "../context/cap-arrival.ts";
import { type Given, resolver } from "../dependency.ts";
import { type ErrorData, messageOf, RondoError, toRondoError } from "../errors.ts";
import type { RondoEvent } from "../events.ts";
import type { Journal } from "../journal.ts";
import type { AssistantMessage } from "../message.ts";
import type { Model, ModelEvent } from "../model.ts";
import { answeringByTool } from "../output/by-tool.ts";
import type { Rules } from "../rules/rule.ts";
import { ChildWaits, type Tool, type ToolContext } from "../tool.ts";
import { act, checkCalls } from "./act.ts";
import type { Action, HookAsk } from "./action.ts";
import { announce, viewOf } from "./announce.ts";
import { type Asked, askHook, askKey } from "./ask-hooks.ts";
import { Children } from "./drive-children.ts";
import { offeredTools } from "./judge.ts";
import { next } from "./next.ts";
import { Prefix, requestName } from "./prefix.ts";
import { reconcileCall } from "./reconcile.ts";
import type { CallKey, CallResult, Fact, LogRecord } from "./records.ts";
import { reduce } from "./reduce.ts";
import { placeOf } from "./same-model.ts";
import { type Call, inFlight, isThinking, type State } from "./state.ts";
import { think } from "./think.ts";
import { windowOf } from "./window.ts";

/** What a driver acts with. */
export interface Shell {
  session: string;
  journal: Pick<Journal, "append">;
  /** Where the whole texts of cut results are kept. Absent: nowhere. */
  blobs?: BlobStore | undefined;
  rules: Rules;
  tools: ReadonlyMap<string, Tool>;
  /** In the order of the run's models. */
  models: readonly Model[];
  /** Sums up what is compacted, when it is not the model in use. */
  compactor?: Model | undefined;
  hooks: Asked;
  /** Checks a text against the output schema. */
  checkOutput(text: string): Promise<Fact & { type: "output_checked" }>;
  /** Told everything, synchronously. If it throws, the run ends and says so. */
  sink(event: RondoEvent): void;
  /** Asked before each model call; while it says no, the driver waits for `open` to be called. */
  gate?: { pass(): boolean; open: (() => void) | undefined };
  clock: Clock;
  /** What was given for the keys of tools. */
  given: Given;
  /** Whether the model reads a fixed text where a tool threw. */
  maskToolErrors: boolean;
  /** Where sub-agents keep their sessions. */
  journalOfChildren: Journal;
  /** Takes secrets out of a fact before it is one. */
  redact?: ((fact: Fact) => Fact) | undefined;
}

type Running = Exclude<Action, { do: "done" | "park" }>;

export class Driver {
  readonly #shell: Shell;
  #state: State;
  #unflushed: LogRecord[] = [];
  #flushed: number;
  readonly #mailbox: Fact[] = [];
  #wake: (() => void) | undefined;
  #running = false;
  #sinkFailed = false;
  /** Set once the journal refused a record: nothing that happens after it could be kept. */
  #failed: RondoError | undefined;
  #writing: Promise<void> | undefined;
  readonly #prefix = new Prefix();
  #modelCall: AbortController | undefined;
  readonly #toolCalls = new Map<CallKey, AbortController>();
  readonly #asking = new Set<string>();
  readonly #children: Children;
  /** Set once somebody wants the process back: `soon` at the next safe point, `now` whatever is under way. */
  #leaving: "soon" | "now" | undefined;
  /** What was started in an era that is over is nobody's any more. */
  #era = 0;

  constructor(shell: Shell, state: State) {
    this.#shell = shell;
    this.#state = state;
    this.#flushed = state.seq;
    this.#children = new Children(shell, {
      state: () => this.#state,
      post: (fact) => this.post(fact),
      tell: (event) => this.#tell(event),
    });
  }

  get state(): State {
    return this.#state;
  }

  get running(): boolean {
    return this.#running;
  }

  /**
   * Hands in a fact. While the driver runs it is taken up at the next turn of the loop; otherwise it is appended at
   * once, and durable when the journal says so (see `settled`).
   */
  post(fact: Fact): void {
    if (this.#running) {
      this.#mailbox.push(fact);
      this.#wake?.();
      return;
    }
    if (isOutcome(fact)) {
      this.#keepLate(fact);
      return;
    }
    if (this.#failed !== undefined) throw this.#failed;
    this.#append([fact]);
    this.#writing = this.#flush();
    // Whoever waits for it hears of a failure; until then it is nobody's unhandled rejection.
    this.#writing?.catch(() => {});
  }

  /** Resolves when everything posted while nobody drove is durable. */
  async settled(): Promise<void> {
    const writing = this.#writing;
    this.#writing = undefined;
    if (writing !== undefined) await writing;
  }

  /** What comes when nobody drives any more is written down, if it still can be. */
  #keepLate(fact: Fact): void {
    if (this.#failed !== undefined) return;
    this.#append([this.#timely(fact)]);
    try {
      this.#flush()?.catch(() => {});
    } catch {
      // The journal may be closed by now; a late result is nobody's loss.
    }
  }

  /**
   * Drives until the run has ended or waits for somebody outside.
   * @throws RondoError when the journal refused a record: nothing more is done then
   */
  async run(): Promise<"done" | "parked" | "left"> {
    if (this.#running)
      throw new RondoError("internal", `session ${this.#shell.session} is being driven already`);
    this.#running = true;
    try {
      await this.settled();
      for (;;) {
        this.#takeMail();
        const action = next(this.#state, this.#shell.rules);
        if (action.do === "done" || action.do === "park") {
          await this.#flush();
          // What was said while the journal wrote is not lost: it is taken down before anybody leaves.
          if (this.#mailbox.length > 0) continue;
          return action.do === "done" ? "done" : "parked";
        }
        if (this.#leaves(action)) {
          await this.#flush();
          if (this.#mailbox.length > 0 && this.#leaving !== "now") continue;
          return "left";
        }
        const waiting = this.#perform(this.#held(action));
        if (waiting !== undefined) await waiting;
      }
    } catch (thrown) {
      this.#abandon(toRondoError(thrown));
      throw thrown;
    } finally {
      this.#running = false;
    }
  }

  /**
   * Nothing more is started: `run` resolves once what is under way has come back, and the run stays open. It holds for
   * a `run` that is about to begin as well, until `stay`.
   */
  leave(): void {
    this.#leaving ??= "soon";
    this.#children.leave("soon");
    this.#wake?.();
  }

  /** What is under way is given up: it is lost as in a crash, and `run` resolves. */
  leaveNow(): void {
    this.#leaving = "now";
    this.#era += 1;
    this.#asking.clear();
    // Before their signals fire: a sub-agent that is left behind must not take that for an abort.
    this.#children.leave("now");
    this.#stopAll(new RondoError("aborted", "the process leaves"));
    this.#wake?.();
  }

  /** Nobody leaves any more. */
  stay(): void {
    this.#leaving = undefined;
    this.#children.stay();
  }

  /** Whether this is the safe point to leave at: nothing is under way, and what comes next can as well be done by another process. */
  #leaves(action: Action): boolean {
    if (this.#leaving === undefined) return false;
    if (this.#leaving === "now") return true;
    const { run } = this.#state;
    const busy = this.#asking.size > 0 || (run !== undefined && inFlight(run));
    return action.do !== "record" && action.do !== "ask" && !busy;
  }

  /** Who leaves starts nothing: what is under way is waited for instead. */
  #held(action: Running): Running {
    const starts =
      action.do === "call_model" ||
      action.do === "summarise" ||
      action.do === "start_tools" ||
      action.do === "check_output" ||
      action.do === "run_hook";
    if (this.#leaving === undefined || !starts) return action;
    const until = action.do === "run_hook" ? action.until : undefined;
    return { do: "wait", ...(until === undefined ? {} : { until }) };
  }

  #perform(action: Running): Promise<void> | undefined {
    switch (action.do) {
      case "record":
        this.#append(action.facts);
        return undefined;
      case "call_model":
        return this.#callModel(action);
      case "summarise":
        return this.#summarise(action);
      case "start_tools":
        return this.#startTools(action);
      case "ask":
        this.#append([{ type: "approval_asked", calls: action.calls }]);
        return undefined;
      case "reconcile":
        for (const key of action.calls) this.#reconcile(key);
        return this.#wait(action.until);
      case "check_output":
        this.#once("check_output", () => this.#shell.checkOutput(action.text));
        return this.#wait(undefined);
      case "run_hook":
        for (const ask of action.hooks) this.#askHook(ask);
        return this.#wait(action.until);
      case "wait":
        return this.#wait(action.until);
    }
  }

  // ---- records -------------------------------------------------------------------------------------------------

  #append(facts: readonly Fact[]): void {
    const { rules, session, clock, redact } = this.#shell;
    for (const fact of facts) {
      const before = this.#state;
      const record: LogRecord = {
        ...(redact === undefined ? fact : redact(fact)),
        seq: before.seq,
        at: Math.max(clock.now(), before.now),
        rand: clock.random(),
      };
      this.#state = reduce(before, record, rules);
      this.#unflushed.push(record);
      for (const event of announce(record, before, this.#state, session)) this.#tell(event);
      this.#children.see(record, before);
    }
    this.#release();
  }

  #flush(): Promise<void> | undefined {
    if (this.#failed !== undefined) throw this.#failed;
    if (this.#unflushed.length === 0) return undefined;
    const records = this.#unflushed;
    this.#unflushed = [];
    const expected = this.#flushed;
    this.#flushed += records.length;
    const refused = (thrown: unknown): never => {
      this.#failed = toRondoError(thrown);
      throw this.#failed;
    };
    try {
      const written = this.#shell.journal.append(this.#shell.session, expected, records);
      return written === undefined ? undefined : written.catch(refused);
    } catch (thrown) {
      return refused(thrown);
    }
  }

  #takeMail(): void {
    if (this.#mailbox.length === 0) return;
    const facts = this.#mailbox.splice(0);
    for (const fact of facts) this.#append([this.#timely(fact)]);
  }

  /** What came too late is kept as what it is. */
  #timely(fact: Fact): Fact {
    const { run } = this.#state;
    if (fact.type === "model_finished" || fact.type === "model_failed")
      return run?.call === undefined ? { type: "late_result", call: null } : fact;
    if (fact.type === "summary_finished" || fact.type === "summary_failed")
      return run?.compacting?.call === undefined ? { type: "late_result", call: null } : fact;
    if (fact.type !== "tool_finished" && fact.type !== "child_waits") return fact;
    const call = run?.turn?.calls.find((one) => one.key === fact.call);
    if (call !== undefined && call.result === undefined) return fact;
    if (fact.type === "tool_finished") return { type: "late_result", call: fact.call, result: fact.result };
    const { spent } = fact;
    const stopped = { content: [], isError: true, ...(spent === undefined ? {} : { spent }) };
    return { type: "late_result", call: fact.call, result: stopped };
  }

  #tell(event: RondoEvent): void {
    if (this.#sinkFailed) return;
    try {
      this.#shell.sink(event);
    } catch (thrown) {
      this.#sinkFailed = true;
      const message = `a listener failed on ${event.type}: ${messageOf(thrown)}`;
      this.post({
        type: "abort_asked",
        reason: message,
        error: { kind: "internal", message, retryable: false },
      });
    }
  }

  // ---- what is in flight ---------------------------------------------------------------------------------------

  #callModel(action: Action & { do: "call_model" }): Promise<void> | undefined {
    const { gate } = this.#shell;
    if (gate !== undefined && !gate.pass()) {
      gate.open = () => this.#wake?.();
      return this.#wait(undefined, () => gate.pass());
    }
    const { request, step, attempt, shape } = action;
    const { digest, broke } = this.#prefix.note(request, shape);
    this.#append([
      {
        type: "model_started",
        step,
        attempt,
        model: action.model,
        digest,
        ...(broke === undefined ? {} : { broke }),
        ...(action.stages === undefined ? {} : { stages: action.stages }),
      },
    ]);
    const call = (): void => this.#think(action);
    const flushed = this.#flush();
    if (flushed === undefined) call();
    return flushed?.then(call);
  }

  #think(action: Action & { do: "call_model" }): void {
    const { models, tools } = this.#shell;
    const { options } = this.#state;
    const named = modelOf(models, this.#state, action.model);
    const model = named && answeringByTool(named, action.request);
    if (options === undefined || this.#state.run?.call === undefined || this.#leaving === "now") return;
    // An abort may have come while the journal was written: nothing starts after it.
    this.#takeMail();
    if (this.#state.run.cancelledAt !== undefined) {
      this.post({ type: "model_failed", error: neverStarted("the model call") });
      return;
    }
    if (model === undefined) {
      const message = `model ${action.model} (${options.models[action.model]?.id}) is not among the agent's models`;
      this.post({ type: "model_failed", error: { kind: "internal", message, retryable: false } });
      return;
    }
    const controller = new AbortController();
    this.#modelCall = controller;
    const offered = offeredTools(this.#state);
    const post = this.#poster();
    const came = (fact: Fact): void => {
      if (this.#modelCall === controller) this.#modelCall = undefined;
      post(fact);
    };
    think(model, action.request, controller, options.clocks, this.#shell.clock, (event) => {
      if (this.#modelCall === controller) this.#hear(event, action.step);
    })
      .then(async (message) =>
        came({ type: "model_finished", message, checks: await checkCalls(valid(message), offered, tools) }),
      )
      .catch((thrown: unknown) => {
        const error = toRondoError(thrown);
        const { partial, usage } = error;
        came({
          type: "model_failed",
          error: error.toJSON(),
          ...(partial === undefined ? {} : { partial }),
          ...(usage === undefined ? {} : { usage }),
        });
      });
  }

  /** Asks for a summary: a model call like any other, of which nobody is shown the deltas. */
  #summarise(action: Action & { do: "summarise" }): Promise<void> | undefined {
    const { request, part, of, attempt } = action;
    this.#append([{ type: "summary_started", part, of, attempt, digest: requestName(request) }]);
    const ask = (): void => {
      this.#takeMail();
      const { options, run } = this.#state;
      if (options === undefined || run?.compacting?.call === undefined || this.#leaving === "now") return;
      const { compactor, models, clock } = this.#shell;
      const model = action.model === undefined ? compactor : modelOf(models, this.#state, action.model);
      if (run.cancelledAt !== undefined || model === undefined) {
        const why =
          model === undefined ? "its model is not among the agent's models" : "the run was cancelled";
        const message = `the summary was not asked for: ${why}`;
        this.post({ type: "summary_failed", error: { kind: "aborted", message, retryable: false } });
        return;
      }
      const controller = new AbortController();
      this.#modelCall = controller;
      const post = this.#poster();
      const came = (fact: Fact): void => {
        if (this.#modelCall === controller) this.#modelCall = undefined;
        post(fact);
      };
      think(model, request, controller, options.clocks, clock, () => {})
        .then((message) => came({ type: "summary_finished", message: valid(message) }))
        .catch((thrown: unknown) => {
          const error = toRondoError(thrown);
          const { usage } = error;
          came({ type: "summary_failed", error: error.toJSON(), ...(usage === undefined ? {} : { usage }) });
        });
    };
    const flushed = this.#flush();
    if (flushed === undefined) ask();
    return flushed?.then(ask);
  }

  #hear(event: ModelEvent, step: number): void {
    switch (event.type) {
      case "text_delta":
      case "reasoning_delta":
      case "tool_args_delta":
        this.#tell({ ...event, step });
        return;
      case "warning":
        this.#tell(event);
        return;
      case "progress":
        return;
    }
  }

  async #startTools({ calls: keys, reserved }: Action & { do: "start_tools" }): Promise<void> {
    this.#append(
      keys.map((call): Fact => {
        const idempotencyKey = `${this.#shell.session}:${call}`;
        const given = reserved?.[call];
        // The key is the child's session as well: it is the same whenever the call is started again.
        const child = given === undefined ? {} : { child: idempotencyKey, reserved: given };
        return { type: "tool_started", call, idempotencyKey, ...child };
      }),
    );
    const flushed = this.#flush();
    if (flushed !== undefined) await flushed;
    this.#takeMail();
    if (this.#leaving === "now") return;
    for (const key of keys) this.#act(key);
  }

  #act(key: CallKey): void {
    const call = this.#state.run?.turn?.calls.find((one) => one.key === key);
    if (call === undefined || call.result !== undefined) return;
    const { maskToolErrors, rules, tools } = this.#shell;
    const tool = tools.get(call.name);
    if (this.#state.run?.cancelledAt !== undefined) {
      const text = neverStarted(call.name).message;
      const result = { content: [{ type: "text" as const, text }], isError: true, code: "aborted" as const };
      this.post({ type: "tool_finished", call: key, result });
      return;
    }
    if (tool === undefined) {
      const text = `Error: the tool ${call.name} is not here any more.`;
      const result = {
        content: [{ type: "text" as const, text }],
        isError: true,
        code: "unknown_tool" as const,
      };
      this.post({ type: "tool_finished", call: key, result });
      return;
    }
    const { controller, context, cap, warn } = this.#begin(key, call);
    const report = (message: string): void => warn("tool_error", `${call.name} (${call.id}): ${message}`);
    const failures = { texts: rules.texts, ...(maskToolErrors ? { masked: { report } } : {}) };
    const post = this.#poster();
    void act(tool, call, context, failures)
      .then((whole) => (whole instanceof ChildWaits ? whole : cap(whole)))
      .then((result) => {
        if (this.#toolCalls.get(key) === controller) this.#toolCalls.delete(key);
        post(
          result instanceof ChildWaits
            ? {
                type: "child_waits",
                call: key,
                pending: result.pending,
                parked: true,
                ...(result.left ? { left: true as const } : {}),
                spent: result.spent,
              }
            : { type: "tool_finished", call: key, result },
        );
      });
  }

  /** Asks the tool of a call that was cut off what came of it, unless it is at that already. */
  #reconcile(key: CallKey): void {
    const call = this.#state.run?.turn?.calls.find((one) => one.key === key);
    if (call === undefined) return;
    this.#once(`reconcile:${key}`, async () => {
      const { controller, context, cap } = this.#begin(key, call);
      const found = await reconcileCall(
        this.#shell.tools.get(call.name),
        call,
        context,
        this.#shell.clock,
        cap,
      );
      if (this.#toolCalls.get(key) === controller) this.#toolCalls.delete(key);
      // One that was too slow need not go on looking.
      controller.abort(new RondoError("aborted", `what came of ${call.name} is no longer asked`));
      return found;
    });
  }

  /** What a tool works with: its context, the signal behind it, and what cuts its result. */
  #begin(
    key: CallKey,
    call: Call,
  ): {
    controller: AbortController;
    context: ToolContext;
    cap: (whole: CallResult) => CallResult | Promise<CallResult>;
    warn: (code: string, message: string) => void;
  } {
    const { session, blobs, clock, given } = this.#shell;
    const controller = new AbortController();
    this.#toolCalls.set(key, controller);
    const context: ToolContext = {
      signal: controller.signal,
      idempotencyKey: `${session}:${key}`,
      callId: call.id,
      update: (progress: string): void => {
        if (this.#toolCalls.get(key) === controller)
          this.#tell({ type: "tool_update", call: viewOf(call), progress });
      },
      now: () => clock.now(),
      deps: given,
      resolve: resolver(given),
      output: async (ref: string): Promise<string | undefined> => blobs?.get(session, ref),
      outputs: () => [...this.#state.outputs],
      ...this.#children.startOf(
        call,
        () => this.#toolCalls.get(key) === controller && !controller.signal.aborted,
      ),
    };
    const warn = (code: string, message: string): void => this.#tell({ type: "warning", code, message });
    const place = { tool: call.name, callId: call.id, window: windowOf(this.#state) };
    const facts = this.#state.options?.context?.cap;
    const cap = (whole: CallResult): CallResult | Promise<CallResult> =>
      capArrival(whole, facts, place, { session, blobs, warn });
    return { controller, context, cap, warn };
  }

  /** Posts what comes of something that is started now; once that was given up, nothing. */
  #poster(): (fact: Fact) => void {
    const era = this.#era;
    return (fact) => {
      if (era === this.#era) this.post(fact);
    };
  }

  #askHook(ask: HookAsk): void {
    this.#once(askKey(ask), () => askHook(ask, this.#state, this.#shell.hooks));
  }

  /** Asks a question that is not being asked already; its answer comes by mail, unless the run has ended meanwhile. */
  #once(key: string, ask: () => Promise<Fact>): void {
    const asked = `${this.#state.run?.number}/${key}`;
    if (this.#asking.has(asked)) return;
    this.#asking.add(asked);
    const { run } = this.#state;
    const era = this.#era;
    const settle = (fact: Fact): void => {
      if (era !== this.#era) return;
      this.#asking.delete(asked);
      const now = this.#state.run;
      if (now?.number === run?.number && now?.end === undefined) this.post(fact);
    };
    ask().then(settle, (thrown: unknown) =>
      settle({ type: "abort_asked", reason: messageOf(thrown), error: toRondoError(thrown).toJSON() }),
    );
  }

  /** Fires the signal of everything that is still at work and no longer wanted. */
  #release(): void {
    const { run } = this.#state;
    const cancelled = run?.cancelledAt !== undefined;
    const thinking = run !== undefined && isThinking(run);
    if (this.#modelCall !== undefined && (cancelled || !thinking)) {
      const controller = this.#modelCall;
      if (!thinking) this.#modelCall = undefined;
      if (!controller.signal.aborted) controller.abort(reasonOf(this.#state));
    }
    for (const [key, controller] of this.#toolCalls) {
      const call = run?.turn?.calls.find((one) => one.key === key);
      const over = call === undefined || call.result !== undefined;
      if (over) this.#toolCalls.delete(key);
      if ((over || cancelled) && !controller.signal.aborted) controller.abort(reasonOf(this.#state));
    }
  }

  /** The journal failed: nothing that happens now could be kept, so nothing more is let happen. */
  #abandon(error: RondoError): void {
    this.#failed = error;
    this.#stopAll(error);
  }

  #stopAll(error: RondoError): void {
    this.#modelCall?.abort(error);
    this.#modelCall = undefined;
    for (const controller of this.#toolCalls.values()) controller.abort(error);
    this.#toolCalls.clear();
  }

  // ---- waiting -------------------------------------------------------------------------------------------------

  /** Waits for mail, for `until`, or for `ready`. A wait that ran out is a fact. */
  async #wait(until: number | undefined, ready: () => boolean = () => false): Promise<void> {
    const flushed = this.#flush();
    if (flushed !== undefined) await flushed;
    if (this.#mailbox.length > 0 || ready() || this.#leaving === "now") return;
    const { clock } = this.#shell;
    let cancel = (): void => {};
    const ranOut = await new Promise<boolean>((resolve) => {
      this.#wake = () => resolve(false);
      if (until === undefined) return;
      const left = Math.min(Math.max(0, until - clock.now()), 2 ** 31 - 1);
      cancel = clock.after(left, () => resolve(true));
    });
    cancel();
    this.#wake = undefined;
    if (ranOut && until !== undefined && clock.now() >= until) this.#append([{ type: "woke" }]);
  }
}

const outcomes: ReadonlySet<Fact["type"]> = new Set<Fact["type"]>([
  "child_waits",
  "tool_finished",
  "model_finished",
  "model_failed",
  "summary_finished",
  "summary_failed",
]);

/** The model a run means: it may have been begun when they stood in another order. */
const modelOf = (models: readonly Model[], { options }: State, at: number): Model | undefined =>
  models[placeOf(models, options?.models[at], at)];

/** Facts that come of something the driver started. */
const isOutcome = (fact: Fact): boolean => outcomes.has(fact.type);

const neverStarted = (what: string): ErrorData => ({
  kind: "aborted",
  message: `${what} was not started: the run was cancelled`,
  retryable: false,
});

/** What a model returned must be an answer; a wrong one is its failure, not the loop's. */
function valid(message: AssistantMessage): AssistantMessage {
  const shaped = message as Partial<AssistantMessage> | undefined;
  if (shaped?.role !== "assistant" || !Array.isArray(shaped.content) || shaped.stop === undefined)
    throw new RondoError("protocol", "the model returned something that is no assistant message");
  return message;
}

function reasonOf(state: State): RondoError {
  const { run } = state;
  const reason =
    run?.abort?.reason ?? run?.landing?.reason ?? run?.stopping?.reason ?? "its result is settled";
  return new RondoError("aborted", `no longer wanted: ${reason}`);
}
