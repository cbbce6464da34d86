// The room of what is at work: the model calls, tools and questions that were started and have not come back.
//
// The driver's arms under one roof. Nothing here decides: what is started was named by `next`, what comes back is posted
// as a fact, and what nobody waits for any more is told so by its signal.

import { messageOf, RondoError, type Thrown } from "../../errors.ts";
import type { RondoEvent } from "../../events.ts";
import type { Model } from "../../model.ts";
import { answeringInText } from "../../output/answers.ts";
import { areWordsMissing, inAnyWords } from "../../rules/own-texts.ts";
import type { Rules } from "../../rules/rule.ts";
import { renderThrown } from "../../tool/render.ts";
import { ChildWaits, type ToolContext } from "../../tool.ts";
import type { Action, HookAsk } from "../action.ts";
import type { BroughtResult } from "../child-facts.ts";
import { abandonedResult, unstartedResult } from "../deciding/closing.ts";
import { placeOf } from "../folding/same-model.ts";
import { offeredTools } from "../offered.ts";
import type { CallKey, CallResult, Fact, LogRecord } from "../records.ts";
import { type Call, callIn, isThinking, optionsOf, type Run, type State } from "../state.ts";
import { act, checkCalls, type Failures } from "./act.ts";
import { type Answered, askHook, askKey } from "./ask-hooks.ts";
import { Babble } from "./babble.ts";
import { broughtResult, toldBy, toldThrown } from "./brought.ts";
import { type Capping, cappingOf } from "./capping.ts";
import { Children } from "./children.ts";
import { endsOver } from "./failing.ts";
import { answerFrom, failureFrom } from "./model-answer.ts";
import { ModelCall } from "./model-call.ts";
import { type Ask, Questions } from "./questions.ts";
import { reconcileCall } from "./reconcile.ts";
import type { Shell } from "./shell.ts";
import { think } from "./think.ts";
import type { Arriving } from "./timely.ts";
import { noticing, toolContext } from "./tool-context.ts";

/** The driver, as those who work for it see it. */
interface Driving {
  state(): State;
  post(fact: Arriving): void;
  readonly tell: (event: RondoEvent) => void;
  /** What is done here can be kept no more: a sub-agent's records were refused. Absent: none is at work here. */
  lose?(error: RondoError): void;
}

export class AtWork {
  readonly #shell: Shell;
  readonly #driving: Driving;
  readonly #modelCall = new ModelCall();
  readonly #toolCalls = new Map<CallKey, AbortController>();
  /** Those whose tools have looked at their signal: they hear of an abort, and may have something to say to it. */
  readonly #listening = new WeakSet<AbortController>();
  /** Calls whose tools have not come back, whether anybody waits for them or not. */
  readonly #away = new Set<CallKey>();
  readonly #questions: Questions;
  readonly #children: Children;
  /** What was started in an era that is over is nobody's any more. */
  #era = 0;

  constructor(shell: Shell, driving: Driving) {
    this.#shell = shell;
    this.#driving = driving;
    this.#questions = new Questions(driving);
    this.#children = new Children(shell, driving);
  }

  get #state(): State {
    return this.#driving.state();
  }

  /** Whether a question has not been answered. */
  get isAsking(): boolean {
    return this.#questions.areOpen;
  }

  /** Takes note of what happened to calls that are sub-agents. */
  see(record: LogRecord): void {
    this.#children.see(record);
  }

  /** The process leaves: `soon`, and sub-agents stop where they are; `now`, and all that is under way is nobody's any more. */
  leave(when: "soon" | "now", why: RondoError = new RondoError("aborted", "the process leaves")): void {
    if (when === "now") {
      this.#era += 1;
      this.#away.clear();
    }
    // Before their signals fire: a sub-agent that is left behind must not take that for an abort.
    this.#children.leave(when);
    if (when === "soon") return;
    this.stopAll(why);
    this.#questions.forget();
  }

  /** Nobody leaves any more. */
  stay(): void {
    this.#children.stay();
  }

  /** Asks the model, unless that is no longer wanted. */
  think(action: Action & { do: "call_model" }): void {
    const { models, tools } = this.#shell;
    if (this.#state.run?.call === undefined) return;
    const options = optionsOf(this.#state);
    const named = modelOf(models, this.#state, action.model);
    const model = named && answeringInText(named, action.request);
    // An abort may have come while the journal was written: nothing starts after it.
    if (this.#state.run.cancelledAt !== undefined) {
      const message = "the model call was not started: the run was cancelled";
      this.#driving.post({ type: "model_failed", error: { kind: "aborted", message, retryable: false } });
      return;
    }
    if (model === undefined) {
      const message = `model ${action.model} (${options.models[action.model]?.id}) is not among the agent's models`;
      this.#driving.post({ type: "model_failed", error: { kind: "internal", message, retryable: false } });
      return;
    }
    const audience = { step: action.step, isThere: true, tell: this.#driving.tell, shown: false };
    const { controller, came } = this.#modelBegins(audience);
    const offered = offeredTools(this.#state);
    think(
      model,
      action.request,
      controller,
      options.clocks,
      this.#shell.clock,
      audience,
      Babble.under(this.#shell.rules, this.#state),
    )
      .then(async (said) => {
        const message = answerFrom(model, said);
        came({ type: "model_finished", message, checks: await checkCalls(message, offered, tools) });
      })
      .catch((thrown: unknown) => {
        const failure = failureFrom(model, thrown);
        const shown = audience.shown && failure.partial === undefined;
        came({ type: "model_failed", ...failure, ...(shown ? { shown } : {}) });
      });
  }

  /** Asks for a summary, unless that is no longer wanted: a model call like any other, of which nobody is shown the deltas. */
  summarise({ model: at, request }: Action & { do: "summarise" }): void {
    const { run } = this.#state;
    if (run?.compacting?.call === undefined) return;
    const { compactor, models, clock } = this.#shell;
    const model = at === undefined ? compactor : modelOf(models, this.#state, at);
    if (run.cancelledAt !== undefined || model === undefined) {
      const why = model === undefined ? "its model is not among the agent's models" : "the run was cancelled";
      const message = `the summary was not asked for: ${why}`;
      this.#driving.post({ type: "summary_failed", error: { kind: "aborted", message, retryable: false } });
      return;
    }
    const { controller, came } = this.#modelBegins();
    think(model, request, controller, optionsOf(this.#state).clocks, clock)
      .then((said) => came({ type: "summary_finished", message: answerFrom(model, said) }))
      .catch((thrown: unknown) => {
        const { partial: _, ...failure } = failureFrom(model, thrown);
        came({ type: "summary_failed", ...failure });
      });
  }

  /** A model call that begins: its signal, and where what comes of it goes. */
  #modelBegins(audience?: { isThere: boolean }): {
    controller: AbortController;
    came: (fact: Fact) => void;
  } {
    const { controller, came } = this.#modelCall.begins(audience);
    const post = this.#poster();
    return { controller, came: (fact) => post(came(fact)) };
  }

  /** Runs a call, unless that is no longer wanted. */
  act(key: CallKey): void {
    const call = callIn(this.#state.run, key);
    if (call === undefined || call.result !== undefined) return;
    const { rules, tools } = this.#shell;
    const tool = tools.get(call.name);
    if (this.#state.run?.cancelledAt !== undefined) {
      const result = inAnyWords(rules, (worded) => unstartedResult(call, worded));
      this.#driving.post({ type: "tool_finished", call: key, result });
      return;
    }
    if (tool === undefined) {
      const text = `Error: the tool ${call.name} is not here any more.`;
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
      .then((whole) => (whole instanceof ChildWaits ? whole : capping.arrived(whole)))
      .catch((thrown: unknown) => {
        if (areWordsMissing(thrown)) post(endsOver(thrown));
        // A call without a result would be waited for for ever.
        return renderThrown(`Error: ${messageOf(thrown)}`);
      })
      .then((result) => {
        if (this.#toolCalls.get(key) === controller) this.#toolCalls.delete(key);
        if (era === this.#era) this.#away.delete(key);
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

  /** Ends a sub-agent that was left behind, unless it is at that already: one that is at work was told to stop. */
  endChild(key: CallKey): void {
    const left = this.#state.left?.find(({ call }) => call === key);
    if (left === undefined || this.#away.has(key)) return;
    this.#questions.ask(`end:${key}`, () => this.#children.end(left));
  }

  /** Asks the tool of a call that was cut off what came of it, unless it is at that already. */
  reconcile(key: CallKey): void {
    const call = callIn(this.#state.run, key);
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
      // One that was too slow need not go on looking.
      controller.abort(new RondoError("aborted", `what came of ${call.name} is no longer asked`));
      return found;
    });
  }

  /** What a tool works with: its context, the signal behind it, and what cuts its result. */
  #begin(key: CallKey, call: Call): { controller: AbortController; context: ToolContext; capping: Capping } {
    const controller = new AbortController();
    this.#toolCalls.set(key, controller);
    const child = this.#children.startOf(
      call,
      () => this.#toolCalls.get(key) === controller && !controller.signal.aborted,
    );
    const whole = toolContext(call, controller, this.#shell, this.#driving, this.#toolCalls, child);
    const context = call.tool?.effect === "read" ? noticing(whole, controller, this.#listening) : whole;
    return { controller, context, capping: this.#capping(call) };
  }

  /** A result that somebody brings is told and cut like a tool's. */
  brought(key: CallKey, given: BroughtResult): CallResult | Promise<CallResult> {
    const { rules, tools } = this.#shell;
    const call = callIn(this.#state.run, key);
    if (call === undefined) return broughtResult(given);
    const whole = toldBy(tools.get(call.name), call.name, given, rules, this.#failures(call, rules));
    const { arrived } = this.#capping(call);
    return whole instanceof Promise ? whole.then(arrived) : arrived(whole);
  }

  /** What a tool came to that was at work elsewhere, as a sub-agent in another place, is told and cut like one's here. */
  returned(key: CallKey, whole: CallResult, threw?: Thrown): CallResult | Promise<CallResult> {
    const { rules } = this.#shell;
    const call = callIn(this.#state.run, key);
    if (call === undefined) return whole;
    const told =
      threw === undefined ? whole : toldThrown(call.name, threw, rules, this.#failures(call, rules));
    return this.#capping(call).arrived(told);
  }

  /** What the model and the watchers read of it where this call fails. */
  #failures({ name, id }: Call, { texts }: Rules): Failures {
    const report = (why: string): void => this.#warn("tool_error", `${name} (${id}): ${why}`);
    return { texts, masked: this.#shell.maskToolErrors, report };
  }

  #capping(call: Call): Capping {
    return cappingOf(this.#shell, this.#state, call, (code, message) => this.#warn(code, message));
  }

  #warn(code: string, message: string): void {
    this.#driving.tell({ type: "warning", code, message });
  }

  /** Posts what comes of something that is started now; once that was given up, nothing. */
  #poster(): (fact: Fact) => void {
    const era = this.#era;
    return (fact) => {
      if (era === this.#era) this.#driving.post(fact);
    };
  }

  /** Asks a hook, unless it is at that already. */
  askHook(ask: HookAsk): void {
    const asking = async (signal: AbortSignal): Promise<Fact> =>
      this.#cut(
        await askHook(ask, this.#state, { ...this.#shell.hooks, signal, redact: this.#shell.redact }),
      );
    const question = ask.hook === "transformContext" ? this.#ofNow(asking) : asking;
    this.#questions.ask(askKey(ask), question, (run) => isAwaited(ask, run));
  }

  /** Checks a text that was to be typed, unless one is being checked already. */
  checkOutput(text: string): void {
    this.#questions.ask(
      "check_output",
      this.#ofNow(() => this.#shell.checkOutput(text)),
    );
  }

  /** The same question, whose answer says of which conversation it is. */
  #ofNow(ask: Ask): Ask {
    const { seq: asked } = this.#state;
    return async (signal) => ({ ...(await ask(signal)), asked });
  }

  /** A result that a hook gave is cut like a tool's. */
  async #cut(fact: Answered): Promise<Answered> {
    if (!("result" in fact) || fact.result === undefined) return fact;
    const call = callIn(this.#state.run, fact.call);
    if (call === undefined) return fact;
    return { ...fact, result: await this.#capping(call).given(fact.result) };
  }

  /** Fires the signal of everything that is still at work and no longer wanted. */
  release(): void {
    const { run } = this.#state;
    const cancelled = run?.cancelledAt !== undefined;
    const thinking = run !== undefined && isThinking(run);
    if (this.#modelCall.isUnderWay && (cancelled || !thinking))
      this.#modelCall.stop(reasonOf(this.#state), thinking);
    this.#questions.release(reasonOf);
    for (const [key, controller] of this.#toolCalls) {
      const call = callIn(run, key);
      const over = call === undefined || call.result !== undefined;
      if (over) this.#toolCalls.delete(key);
      if (over || cancelled) controller.abort(reasonOf(this.#state));
      if (!over && cancelled) this.#giveUpDeaf(key, call, controller);
    }
  }

  /** A tool that never looked at its signal hears of no abort. Where it only reads, waiting for it would be for nothing; what others have done is worth knowing. */
  #giveUpDeaf(key: CallKey, call: Call, controller: AbortController): void {
    const counts = this.#listening.has(controller) || call.tool?.effect !== "read";
    if (counts || !this.#away.has(key)) return;
    this.#toolCalls.delete(key);
    const { rules } = this.#shell;
    const result = inAnyWords(rules, (worded) => abandonedResult(call, this.#state, worded));
    this.#driving.post({ type: "tool_finished", call: key, result });
  }

  /** Everything that is at work is told to stop. */
  stopAll(error: RondoError): void {
    this.#modelCall.stop(error);
    for (const controller of this.#toolCalls.values()) controller.abort(error);
    this.#toolCalls.clear();
    this.#questions.stopAll(error);
  }
}

/** Whether a hook's answer still has a say: a deadline waits for none about a step or about leave. */
function isAwaited(ask: HookAsk, run: Run): boolean {
  if (ask.hook === "prepareStep") return run.landing === undefined;
  if (ask.hook !== "permission" && ask.hook !== "beforeTool") return true;
  const call = callIn(run, ask.call);
  return call !== undefined && call.result === undefined;
}

/** The model a run means: it may have been begun when they stood in another order. */
const modelOf = (models: readonly Model[], state: State, at: number): Model | undefined =>
  models[placeOf(models, optionsOf(state).models[at], at)];

function reasonOf(state: State): RondoError {
  const { run } = state;
  const reason =
    run?.abort?.reason ?? run?.landing?.reason ?? run?.stopping?.reason ?? "its result is settled";
  return new RondoError("aborted", `no longer wanted: ${reason}`);
}
