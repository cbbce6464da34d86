// The room of ongoing work: the model calls, tools and questions that were started and have not come back.
//
// Keeps track of all work for the driver. Nothing here decides: `next` says what starts, outcomes are posted as facts,
// and when the loop stops waiting for something, its signal is fired.

import { messageOf, RondoError, type Thrown } from "../../errors.ts";
import type { RondoEvent } from "../../events.ts";
import { answeringInText } from "../../output/answers.ts";
import { areWordsMissing, inAnyWords } from "../../rules/custom-texts.ts";
import { failedRule, type Rules } from "../../rules/rule.ts";
import { renderThrown } from "../../tool/render.ts";
import { WaitForAnswer } from "../../tool/tool-result.ts";
import { ChildWaits, type ToolContext } from "../../tool.ts";
import type { Action, HookAsk } from "../action.ts";
import type { BroughtResult } from "../child-facts.ts";
import { abandonedResult, unstartedResult } from "../deciding/closing.ts";
import { modelOf } from "../folding/same-model.ts";
import { offeredTools } from "../offered-tools.ts";
import type { CallKey, CallResult, Fact } from "../records.ts";
import { type Call, callIn, isThinking, type State, summariserOf, withRun } from "../state.ts";
import { act, checkCalls, type Failures, whyGone } from "./act.ts";
import { type AwaitedAnswer, eventsSoFar, type Heard } from "./arriving.ts";
import { type Answered, askHook, askKey, isAwaited } from "./ask-hooks.ts";
import { type Capping, cappingOf } from "./capping.ts";
import { Children } from "./children.ts";
import { answerIn, type BroughtFact, externalResult, toldBy, toldThrown } from "./external-result.ts";
import { hearing } from "./hearing.ts";
import type { Arriving } from "./late-results.ts";
import { answerFrom, failureFrom } from "./model-answer.ts";
import { ModelCall } from "./model-call.ts";
import { type Ask, PendingCallbacks } from "./pending-callbacks.ts";
import { reconcileCall } from "./reconcile.ts";
import type { Shell } from "./shell.ts";
import { think } from "./think.ts";
import { endsOver } from "./thrown.ts";
import { ToldIds } from "./told-ids.ts";
import { noticing, toolContext } from "./tool-context.ts";

/** What this room needs of the driver. */
interface Driving {
  state(): State;
  post(fact: Arriving): void;
  readonly tell: (event: RondoEvent) => void;
  /** Called if a sub-agent's records were refused: outcomes can no longer be stored. Absent: no sub-agents run here. */
  lose?(error: RondoError): void;
}

export class OngoingWork {
  readonly #shell: Shell;
  readonly #driving: Driving;
  readonly #modelCall = new ModelCall();
  #answer: AwaitedAnswer | undefined;
  readonly #toolCalls = new Map<CallKey, AbortController>();
  /** Calls whose tools have read their `signal`: they may react to an abort, and so are waited for. */
  readonly #listening = new WeakSet<AbortController>();
  /** Calls whose tools have not returned, whether they are still waited for or not. */
  readonly #away = new Set<CallKey>();
  readonly #questions: PendingCallbacks;
  readonly children: Children;
  /** Increased when all work is abandoned: results from an earlier era are dropped. */
  #era = 0;

  constructor(shell: Shell, driving: Driving) {
    this.#shell = shell;
    this.#driving = driving;
    this.#questions = new PendingCallbacks(driving);
    this.children = new Children(shell, driving);
  }

  /** The events so far of the step whose answer is awaited. */
  get arriving(): RondoEvent[] {
    return eventsSoFar(this.#driving.state(), this.#answer);
  }

  /** Whether a question has not been answered. */
  get isAsking(): boolean {
    return this.#questions.areOpen;
  }

  /** A drain. `soon`: sub-agents stop where they are. `now`: all work in flight is abandoned. */
  leave(when: "soon" | "now", why: RondoError = new RondoError("aborted", "the process leaves")): void {
    if (when === "now") {
      this.#era += 1;
      this.#away.clear();
    }
    // Before the signals fire, so that a sub-agent does not take them for an abort.
    this.children.leave(when);
    if (when === "soon") return;
    this.stopAll(why);
    this.#questions.forget();
  }

  /** Revokes a `leave`. */
  stay(): void {
    this.children.stay();
  }

  /** Asks the model, unless that is no longer wanted. */
  think(action: Action & { do: "call_model" }): void {
    const { models, tools, clock, rules, session } = this.#shell;
    const now = this.#driving.state();
    if (now.run?.call === undefined) return;
    const state = withRun(now);
    const { options, run } = state;
    const by = options.models[action.model];
    const named = modelOf(models, state, action.model);
    const model = named && answeringInText(named, action.request);
    // An abort may have arrived during the write: nothing starts after it.
    if (run.cancelledAt !== undefined) {
      const message = "the model call was not started: the run was cancelled";
      this.#driving.post({ type: "model_failed", error: { kind: "aborted", message, retryable: false } });
      return;
    }
    if (model === undefined) {
      const message = `model ${action.model} (${by?.id}) is not among the agent's models`;
      this.#driving.post({ type: "model_failed", error: { kind: "internal", message, retryable: false } });
      return;
    }
    const ids = new ToldIds(state.ids, state.seq);
    const heard: Heard = new Map();
    this.#answer = { call: run.call, heard };
    const { tell } = this.#driving;
    const audience = { step: action.step, isThere: true, tell, shown: false, ids, heard };
    const { controller, came } = this.#modelCall.begins(this.#poster(), by, audience);
    const offered = offeredTools(state);
    const listening = hearing(rules.list, state);
    const caller = { clocks: options.clocks, session };
    think(model, action.request, controller, caller, clock, audience, listening)
      .then(async (said) => {
        const message = ids.named(answerFrom(model, said));
        came({ type: "model_finished", message, checks: await checkCalls(message, offered, tools) });
      })
      .catch((thrown: unknown) => {
        if (failedRule(thrown) !== undefined) this.#driving.post(endsOver(thrown));
        const failure = failureFrom(model, thrown);
        const shown = audience.shown && failure.partial === undefined;
        came({ type: "model_failed", ...failure, ...(shown ? { shown } : {}) });
      });
  }

  /** Asks for a summary, unless that is no longer wanted: a model call like any other, but its deltas are not emitted. */
  summarise({ model: at, request }: Action & { do: "summarise" }): void {
    const now = this.#driving.state();
    if (now.run?.compacting?.call === undefined) return;
    const state = withRun(now);
    const { options, run } = state;
    const { compactor, models, clock, session } = this.#shell;
    const model = at === undefined ? compactor : modelOf(models, state, at);
    if (run.cancelledAt !== undefined || model === undefined) {
      const why = model === undefined ? "its model is not among the agent's models" : "the run was cancelled";
      const message = `the summary was not asked for: ${why}`;
      this.#driving.post({ type: "summary_failed", error: { kind: "aborted", message, retryable: false } });
      return;
    }
    const { controller, came } = this.#modelCall.begins(this.#poster(), summariserOf(state));
    think(model, request, controller, { clocks: options.clocks, session }, clock)
      .then((said) => came({ type: "summary_finished", message: answerFrom(model, said) }))
      .catch((thrown: unknown) => came({ type: "summary_failed", ...failureFrom(model, thrown) }));
  }

  /** Runs a call, unless that is no longer wanted. */
  act(key: CallKey): void {
    const { run } = this.#driving.state();
    const call = callIn(run, key);
    if (call === undefined || call.result !== undefined) return;
    const { rules, tools } = this.#shell;
    const tool = tools.get(call.name);
    if (run?.cancelledAt !== undefined) {
      const result = inAnyWords(rules, (worded) => unstartedResult(call, worded));
      this.#driving.post({ type: "tool_finished", call: key, result });
      return;
    }
    const gone = whyGone(call, tool);
    if (tool === undefined || gone !== undefined) {
      const text = `Error: the tool ${call.name} ${gone}.`;
      const result = {
        content: [{ type: "text" as const, text }],
        isError: true,
        code: "unknown_tool" as const,
      };
      this.#driving.post({ type: "tool_finished", call: key, result });
      return;
    }
    const { controller, context, capping } = this.#begin(key, call);
    const failures = this.#failures(call, rules);
    const post = this.#poster();
    const era = this.#era;
    this.#away.add(key);
    void act(tool, call, context, failures)
      .then((whole) =>
        whole instanceof ChildWaits || whole instanceof WaitForAnswer ? whole : capping.arrived(whole),
      )
      .catch((thrown: unknown) => {
        if (areWordsMissing(thrown)) post(endsOver(thrown));
        // Without a result the loop would wait for the call for ever.
        return renderThrown(`Error: ${messageOf(thrown)}`);
      })
      .then((result) => {
        if (this.#toolCalls.get(key) === controller) this.#toolCalls.delete(key);
        if (era === this.#era) this.#away.delete(key);
        if (result instanceof WaitForAnswer) {
          post({ type: "tool_waits", call: key, question: result.question });
          return;
        }
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

  /** Ends an abandoned sub-agent, unless that is in progress. One that is still running was aborted. */
  endChild(key: CallKey): void {
    const left = this.#driving.state().left?.find(({ call }) => call === key);
    if (left === undefined || this.#away.has(key)) return;
    this.#questions.ask(`end:${key}`, () => this.children.end(left));
  }

  /** Tells running sub-agents of an abort that is not in the records yet: otherwise each level of a tree would hear of it only once the one above had written it. */
  abortChildren(reason: string): void {
    const { run } = this.#driving.state();
    for (const [key, controller] of this.#toolCalls)
      if (callIn(run, key)?.child !== undefined) controller.abort(unwanted(reason));
  }

  /** Asks the tool of an interrupted call for the outcome (`reconcile`), unless that is in progress. */
  reconcile(key: CallKey): void {
    const call = callIn(this.#driving.state().run, key);
    if (call === undefined) return;
    this.#questions.ask(`reconcile:${key}`, async () => {
      const { controller, context, capping } = this.#begin(key, call);
      const found = await reconcileCall(
        this.#shell.tools.get(call.name),
        call,
        context,
        this.#shell.clock,
        capping.arrived,
      );
      if (this.#toolCalls.get(key) === controller) this.#toolCalls.delete(key);
      // After the timeout the tool need not continue.
      controller.abort(new RondoError("aborted", `the result of ${call.name} is no longer wanted`));
      return found;
    });
  }

  /** What a call of a tool needs: its context, the signal's controller, and the cap for its result. */
  #begin(key: CallKey, call: Call): { controller: AbortController; context: ToolContext; capping: Capping } {
    const controller = new AbortController();
    this.#toolCalls.set(key, controller);
    const child = this.children.startOf(
      call,
      () => this.#toolCalls.get(key) === controller && !controller.signal.aborted,
    );
    const whole = toolContext(call, controller, this.#shell, this.#driving, this.#toolCalls, child);
    const context = call.tool?.effect === "read" ? noticing(whole, controller, this.#listening) : whole;
    return { controller, context, capping: this.#capping(call) };
  }

  /** What was given to `answer`: the answer that the call's tool goes on with, or else the call's result, rendered and cut like a tool's. */
  brought(key: CallKey, given: BroughtResult): BroughtFact | Promise<BroughtFact> {
    const { rules, tools } = this.#shell;
    const call = callIn(this.#driving.state().run, key);
    const settled = (result: CallResult): BroughtFact => ({ type: "tool_finished", call: key, result });
    if (call === undefined) return settled(externalResult(given));
    const answer = answerIn(given, call);
    if (answer !== undefined) return { type: "tool_answered", call: key, answer };
    const { arrived } = this.#capping(call);
    const whole = toldBy(tools.get(call.name), call.name, given, rules, this.#failures(call, rules));
    const cut = whole instanceof Promise ? whole.then(arrived) : arrived(whole);
    return cut instanceof Promise ? cut.then(settled) : settled(cut);
  }

  /** The result of a call that ran elsewhere, such as a sub-agent on another machine, rendered and cut like one from here. */
  returned(key: CallKey, whole: CallResult, threw?: Thrown): CallResult | Promise<CallResult> {
    const { rules } = this.#shell;
    const call = callIn(this.#driving.state().run, key);
    if (call === undefined) return whole;
    const told =
      threw === undefined ? whole : toldThrown(call.name, threw, rules, this.#failures(call, rules));
    return this.#capping(call).arrived(told);
  }

  /** What the model and the listeners read if this call fails. */
  #failures({ name, id }: Call, { texts }: Rules): Failures {
    const report = (why: string): void => this.#warn("tool_error", `${name} (${id}): ${why}`);
    return { texts, masked: this.#shell.maskToolErrors, report };
  }

  #capping(call: Call): Capping {
    return cappingOf(this.#shell, this.#driving.state(), call, (code, message) => this.#warn(code, message));
  }

  #warn(code: string, message: string): void {
    this.#driving.tell({ type: "warning", code, message });
  }

  /** A function that posts the outcome of work started now; it does nothing if that work was abandoned. */
  #poster(): (fact: Fact) => void {
    const era = this.#era;
    return (fact) => {
      if (era === this.#era) this.#driving.post(fact);
    };
  }

  /** Asks a hook, unless it is being asked already. */
  askHook(ask: HookAsk): void {
    const asking = async (signal: AbortSignal): Promise<Fact> =>
      this.#cut(
        await askHook(ask, this.#driving.state(), {
          ...this.#shell.hooks,
          signal,
          redact: this.#shell.redact,
        }),
      );
    const question = ask.hook === "transformContext" ? this.#ofNow(asking) : asking;
    this.#questions.ask(askKey(ask), question, (run) => isAwaited(ask, run));
  }

  /** Checks the text of a typed output, unless one is being checked already. */
  checkOutput(text: string): void {
    this.#questions.ask(
      "check_output",
      this.#ofNow(() => this.#shell.checkOutput(text)),
    );
  }

  /** The same question; its answer records which version of the history it is about. */
  #ofNow(ask: Ask): Ask {
    const { seq: asked } = this.#driving.state();
    return async (signal) => ({ ...(await ask(signal)), asked });
  }

  /** A result that a hook gave, cut like a tool's. */
  async #cut(fact: Answered): Promise<Answered> {
    if (!("result" in fact) || fact.result === undefined) return fact;
    const call = callIn(this.#driving.state().run, fact.call);
    if (call === undefined) return fact;
    return { ...fact, result: await this.#capping(call).given(fact.result) };
  }

  /** Fires the signal of everything that is still running and no longer wanted. */
  release(): void {
    // All that has arrived of an answer is let go once the answer is recorded.
    if (this.#answer?.call !== this.#driving.state().run?.call) this.#answer = undefined;
    const isThought = this.#modelCall.isUnderWay;
    // Mostly nothing is running when a step's records are written.
    if (!isThought && this.#toolCalls.size === 0 && !this.#questions.areOpen) return;
    const state = this.#driving.state();
    const { run } = state;
    const cancelled = run?.cancelledAt !== undefined;
    const thinking = run !== undefined && isThinking(run);
    if (isThought && (cancelled || !thinking)) this.#modelCall.stop(reasonOf(state), thinking);
    this.#questions.release(reasonOf);
    for (const [key, controller] of this.#toolCalls) {
      const call = callIn(run, key);
      const over = call === undefined || call.result !== undefined;
      if (over) this.#toolCalls.delete(key);
      if (over || cancelled) controller.abort(reasonOf(state));
      if (!over && cancelled) this.#giveUpDeaf(key, call, controller);
    }
  }

  /** After an abort, abandons a `read` that never accessed its `signal`: it cannot react to it. Others are waited for, because their outcome is worth knowing. */
  #giveUpDeaf(key: CallKey, call: Call, controller: AbortController): void {
    const counts = this.#listening.has(controller) || call.tool?.effect !== "read";
    if (counts || !this.#away.has(key)) return;
    this.#toolCalls.delete(key);
    const { rules } = this.#shell;
    const result = inAnyWords(rules, (worded) => abandonedResult(call, this.#driving.state(), worded));
    this.#driving.post({ type: "tool_finished", call: key, result });
  }

  /** Fires the signals of everything that is running. */
  stopAll(error: RondoError): void {
    this.#modelCall.stop(error);
    for (const controller of this.#toolCalls.values()) controller.abort(error);
    this.#toolCalls.clear();
    this.#questions.stopAll(error);
  }
}

function reasonOf(state: State): RondoError {
  const { run } = state;
  return unwanted(
    run?.abort?.reason ?? run?.landing?.reason ?? run?.stopping?.reason ?? "its result is settled",
  );
}

const unwanted = (reason: string): RondoError => new RondoError("aborted", `no longer wanted: ${reason}`);
