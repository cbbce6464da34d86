// The one place that decides.
//
// `next` looks at the state and the rules and names the one thing to do now. It is pure: no I/O, no clock, no
// randomness, no await; time and chance come in with the records. It is total: every state has exactly one action.
//
// The decisions are a table that can be read aloud: in each phase the rows are tried from the top, and the first that
// applies names the action. `to` says which phases may follow; the model checker holds the code to it, and the
// documentation's diagram is drawn from it.

import type { AssistantMessage, Message } from "../message.ts";
import { textOf, userText } from "../message.ts";
import type { MessageList, Settings, ToolChoice, ToolDefinition } from "../model.ts";
import type { Decision, Rule, Rules } from "../rules/rule.ts";
import { inTurn, permissionOf, startable } from "./batch.ts";
import { judgeTurn, offeredTools } from "./judge.ts";
import { Log } from "./log.ts";
import type {
  CallKey,
  CallResult,
  Fact,
  HistoryEdit,
  HookName,
  ResultCode,
  RunEnd,
  ToolFacts,
} from "./records.ts";
import { type Call, inFlight, type Run, running, type State } from "./state.ts";

/** What a model is to be sent. */
export interface Request {
  system?: string;
  messages: MessageList;
  tools: readonly ToolDefinition[];
  toolChoice: ToolChoice;
  settings: Settings;
  outputSchema?: NonNullable<NonNullable<State["options"]>["output"]>["schema"];
}

/** A hook to be run: which, and about what. */
export type HookAsk =
  | { hook: "permission" | "beforeTool" | "afterTool"; call: CallKey }
  | { hook: "prepareStep" | "transformContext"; step: number }
  | { hook: "onFinish" };

/** The one thing to do now. `until`: come back at this time even if nothing happened. */
export type Action =
  /** Append these facts, as one group. */
  | { do: "record"; facts: Fact[] }
  | { do: "call_model"; step: number; attempt: number; model: number; request: Request }
  | { do: "start_tools"; calls: CallKey[] }
  /** Tell whoever watches that these calls need an approval. */
  | { do: "ask"; calls: CallKey[] }
  | { do: "check_output"; text: string }
  /** See to it that these hooks are running, and wait for whatever comes first. */
  | { do: "run_hook"; hooks: HookAsk[]; until?: number }
  /** Wait for whatever comes first of all that is in flight. */
  | { do: "wait"; until?: number }
  /** Nothing runs, and somebody outside is awaited. */
  | { do: "park"; until?: number }
  | { do: "done" };

/** What a run is about at a given moment. */
export type Phase = "idle" | "ready" | "thinking" | "judging" | "acting" | "finishing" | "cancelling";

/** The phase a state is in. */
export function phaseOf(state: State): Phase {
  const { run } = state;
  if (run === undefined || run.end !== undefined) return "idle";
  if (run.abort !== undefined || (run.cancelledAt !== undefined && inFlight(run))) return "cancelling";
  if (run.call !== undefined) return "thinking";
  if (run.failure !== undefined) return "judging";
  if (run.turn !== undefined) return run.turn.judged === undefined ? "judging" : "acting";
  return run.answer === undefined ? "ready" : "finishing";
}

/** One row of the table. */
export interface Row {
  /** When this row applies, in words. */
  when: string;
  /** What is done then, in words. */
  does: string;
  /** The phases that may follow. */
  to: readonly Phase[];
  /** The action, or undefined when the row does not apply. */
  act(state: State, rules: Rules): Action | undefined;
}

export type Table = { readonly [phase in Phase]: readonly Row[] };

/** The transition table: phase by phase, row by row, the first that applies. */
export const table: Table = {
  idle: [row("no run is active", "there is nothing to do", ["idle"], () => ({ do: "done" }))],

  cancelling: [
    row(
      "something is in flight and its grace has not run out",
      "wait for it",
      ["cancelling", "ready", "idle"],
      (state) => {
        const until = graceEnd(state);
        return inFlight(runOf(state)) && state.now < until ? { do: "wait", until } : undefined;
      },
    ),
    row("the model's answer is still in flight", "give it up", ["cancelling", "ready"], (state) =>
      runOf(state).call === undefined ? undefined : record(givenUpModel()),
    ),
    row(
      "an answer came that nobody judged",
      "judge it: none of its calls runs",
      ["cancelling"],
      (state, rules) => unjudgedAfterAbort(state, rules),
    ),
    row(
      "calls are open",
      "close them, saying what is known of their outcome",
      ["cancelling", "acting", "ready"],
      (state, rules) =>
        closeAll(state, (call) =>
          call.startedAt !== undefined || call.interrupted
            ? result("aborted", rules.texts.aborted(call.name))
            : result("not_executed", rules.texts.notExecuted(call.name)),
        ),
    ),
    row("everything is closed", "end the run as aborted", ["idle"], (state) => endAborted(state)),
  ],

  ready: [
    row("a hook of the run failed", "end the run with its error", ["idle"], (state) => {
      const { broken } = runOf(state);
      return broken && end(state, { reason: "error", rule: "hooks", evidence: {}, error: broken });
    }),
    row("a judged turn said stop", "end the run", ["idle"], (state) => endStopped(state)),
    row("a rule's time has come", "record what it decided", ["ready", "idle"], (state, rules) =>
      timedDecision(state, rules),
    ),
    row("a retry waits for its time", "wait", ["ready", "cancelling"], (state, rules) =>
      waitForRetry(state, rules),
    ),
    row("somebody wrote while the run was working", "deliver the messages", ["ready"], (state) =>
      runOf(state).paused ? undefined : deliver(state, "steer"),
    ),
    row("a rule speaks", "record what it decided", ["ready", "idle"], (state, rules) =>
      ruleDecision(state, rules),
    ),
    row(
      "the prepareStep hook has not been asked about this step",
      "ask it",
      ["ready", "cancelling"],
      (state) =>
        runOf(state).landing !== undefined || runOf(state).prepared?.step === stepOf(state)
          ? undefined
          : runHook(state, "prepareStep", { hook: "prepareStep", step: stepOf(state) }),
    ),
    row(
      "the transformContext hook has not been asked about this step",
      "ask it",
      ["ready", "cancelling"],
      (state) =>
        runOf(state).transformed?.step === stepOf(state)
          ? undefined
          : runHook(state, "transformContext", { hook: "transformContext", step: stepOf(state) }),
    ),
    row("nothing stands against it", "ask the model", ["thinking"], (state, rules) =>
      callModel(state, rules),
    ),
  ],

  thinking: [
    row("a rule's time has come", "record what it decided", ["thinking", "cancelling"], (state, rules) =>
      timedDecision(state, rules),
    ),
    row(
      "the answer is on its way",
      "wait for it",
      ["thinking", "judging", "cancelling", "ready"],
      (state, rules) => wait(state, rules),
    ),
  ],

  judging: [
    row("the model answered or failed", "judge it, once", ["acting", "ready", "finishing"], (state, rules) =>
      record(judgeTurn(state, rules)),
    ),
  ],

  acting: [
    row(
      "a rule's time has come",
      "record what it decided",
      ["acting", "cancelling", "ready"],
      (state, rules) => timedDecision(state, rules),
    ),
    row("calls were judged not to run", "answer them", ["acting", "ready", "finishing"], (state) =>
      closeSome(state, (call) =>
        call.verdict?.do === "answer" ? result(call.verdict.code, call.verdict.text) : undefined,
      ),
    ),
    row(
      "a write was interrupted by a crash",
      "answer that its outcome is unknown",
      ["acting", "ready"],
      (state, rules) =>
        closeSome(state, (call) =>
          call.interrupted ? result("outcome_unknown", rules.texts.outcomeUnknown(call.name)) : undefined,
        ),
    ),
    row("calls were denied", "answer them with the reason", ["acting", "ready"], (state, rules) =>
      closeSome(state, (call) => deniedResult(call, state, rules)),
    ),
    row(
      "an edited call does not fit its schema",
      "answer it with what is wrong",
      ["acting", "ready"],
      (state, rules) =>
        closeSome(state, (call) =>
          call.startedAt === undefined && !call.check.ok
            ? result("invalid_args", rules.texts.invalidArgs(call.name, call.check.error))
            : undefined,
        ),
    ),
    row(
      "the run is to end, or to land",
      "skip the calls that have not started",
      ["acting", "ready"],
      (state, rules) =>
        runOf(state).stopping === undefined && runOf(state).landing === undefined
          ? undefined
          : closeSome(state, (call) =>
              call.startedAt === undefined
                ? result("skipped", rules.texts.skippedForEnd(call.name))
                : undefined,
            ),
    ),
    row(
      "somebody wrote between two calls in sequence",
      "skip the calls that have not started",
      ["acting", "ready"],
      (state, rules) =>
        state.options?.toolOrder !== "sequential" || !state.inbox.some((one) => one.lane === "steer")
          ? undefined
          : closeSome(state, (call) =>
              call.startedAt === undefined
                ? result("skipped", rules.texts.skippedForMessage(call.name))
                : undefined,
            ),
    ),
    row("a call has run past its time", "answer that it timed out", ["acting", "ready"], (state, rules) =>
      closeSome(state, (call) =>
        call.startedAt !== undefined && state.now >= timeoutAt(call)
          ? result("timeout", rules.texts.timeout(call.name, call.tool?.timeoutMs ?? 0))
          : undefined,
      ),
    ),
    row("calls may start", "start them", ["acting"], (state) => {
      const calls = state.options === undefined ? [] : startable(openCalls(state), state.options);
      return calls.length === 0 ? undefined : { do: "start_tools", calls };
    }),
    row("calls need somebody's approval", "ask", ["acting"], (state) => {
      const { options } = state;
      if (options === undefined) return undefined;
      const calls = inTurn(openCalls(state), options).filter(
        (call) => !call.asked && call.result === undefined && permissionOf(call, options) === "ask",
      );
      return calls.length === 0 ? undefined : { do: "ask", calls: calls.map((call) => call.key) };
    }),
    row(
      "hooks have not been asked about calls",
      "ask them",
      ["acting", "cancelling", "ready", "finishing"],
      (state, rules) => callHooks(state, rules),
    ),
    row(
      "tools are at work",
      "wait for them",
      ["acting", "cancelling", "ready", "finishing"],
      (state, rules) => (running(runOf(state)).length === 0 ? undefined : wait(state, rules)),
    ),
    row(
      "somebody's approval is all that is missing",
      "park",
      ["acting", "cancelling", "ready"],
      (state, rules) => {
        const until = wakeTime(state, rules);
        return { do: "park", ...(until === undefined ? {} : { until }) };
      },
    ),
  ],

  finishing: [
    row("a hook of the run failed", "end the run with its error", ["idle"], (state) => {
      const { broken } = runOf(state);
      return broken && end(state, { reason: "error", rule: "hooks", evidence: {}, error: broken });
    }),
    row("somebody wrote while the answer was made", "deliver the messages and go on", ["ready"], (state) =>
      deliver(state, "steer"),
    ),
    row("typed output is wanted and tools were in the way so far", "ask for it", ["ready"], (state) => {
      const { output, answer } = runOf(state);
      if (answer === undefined || state.options?.output === undefined || output !== undefined)
        return undefined;
      return offersOutput(state) ? undefined : outputMode(0);
    }),
    row("typed output has not been checked", "check it", ["finishing", "cancelling"], (state) => {
      const { answer, checked } = runOf(state);
      if (state.options?.output === undefined || checked !== undefined) return undefined;
      return { do: "check_output", text: answer?.text ?? "" };
    }),
    row(
      "the output does not fit its schema",
      "ask for it again, or end the run",
      ["ready", "idle"],
      (state) => badOutput(state),
    ),
    row(
      "the onFinish hook has not been asked",
      "ask it for more work",
      ["finishing", "ready", "cancelling"],
      (state) => (runOf(state).finishAsked ? undefined : runHook(state, "onFinish", { hook: "onFinish" })),
    ),
    row("more work is queued", "deliver it and go on", ["ready"], (state) => deliver(state, "follow_up")),
    row("the answer stands", "end the run as completed", ["idle"], (state) =>
      end(state, { reason: "completed", rule: "answer", evidence: { steps: runOf(state).steps } }),
    ),
  ],
};

/** The one thing to do now. */
export function next(state: State, rules: Rules): Action {
  return decide(state, rules).action;
}

/** The one thing to do now, and the row that says so. */
export function decide(state: State, rules: Rules, rows: Table = table): { action: Action; row: Row } {
  const phase = phaseOf(state);
  for (const one of rows[phase]) {
    const action = one.act(state, rules);
    if (action !== undefined) return { action, row: one };
  }
  throw new Error(`no row of the table applies in phase ${phase}: this is a defect of the table`);
}

function row(when: string, does: string, to: readonly Phase[], act: Row["act"]): Row {
  return { when, does, to, act };
}

const record = (...facts: Fact[]): Action => ({ do: "record", facts });

function runOf(state: State): Run {
  if (state.run === undefined) throw new Error("there is no run: this is a defect of the table");
  return state.run;
}

const stepOf = (state: State): number => runOf(state).steps + 1;

const openCalls = (state: State): readonly Call[] => runOf(state).turn?.calls ?? [];

function result(code: ResultCode, text: string): CallResult {
  return { content: [{ type: "text", text }], isError: true, code };
}

// ---- calls -----------------------------------------------------------------------------------------------------

function closeSome(state: State, resultOf: (call: Call) => CallResult | undefined): Action | undefined {
  const facts: Fact[] = [];
  for (const call of openCalls(state)) {
    const closed = call.result === undefined ? resultOf(call) : undefined;
    if (closed !== undefined) facts.push({ type: "tool_finished", call: call.key, result: closed });
  }
  return facts.length === 0 ? undefined : { do: "record", facts };
}

/** Closes every call, also those whose result the afterTool hook has yet to see: a cancelled run asks no hooks. */
function closeAll(state: State, resultOf: (call: Call) => CallResult): Action | undefined {
  const unseen = openCalls(state)
    .filter((call) => call.result !== undefined && !call.settled)
    .map((call): Fact => ({ type: "hook_answered", hook: "afterTool", call: call.key }));
  const closed = closeSome(state, resultOf);
  const facts = [...unseen, ...(closed?.do === "record" ? closed.facts : [])];
  return facts.length === 0 ? undefined : { do: "record", facts };
}

function deniedResult(call: Call, state: State, rules: Rules): CallResult | undefined {
  if (state.options === undefined || call.startedAt !== undefined) return undefined;
  const permission = permissionOf(call, state.options);
  if (permission !== "deny" && permission !== "stop") return undefined;
  return result("denied", rules.texts.denied(call.permission?.reason));
}

const timeoutAt = (call: Call): number => (call.startedAt ?? 0) + (call.tool?.timeoutMs ?? 0);

function callHooks(state: State, rules: Rules): Action | undefined {
  const { options } = state;
  if (options === undefined) return undefined;
  const hooks: HookAsk[] = [];
  for (const call of inTurn(openCalls(state), options)) {
    const ask = hookFor(call, options.hooks, permissionOf(call, options));
    if (ask !== undefined) hooks.push({ hook: ask, call: call.key });
  }
  const until = wakeTime(state, rules);
  return hooks.length === 0
    ? undefined
    : { do: "run_hook", hooks, ...(until === undefined ? {} : { until }) };
}

function hookFor(
  call: Call,
  hooks: readonly HookName[],
  permission: ReturnType<typeof permissionOf>,
): "permission" | "beforeTool" | "afterTool" | undefined {
  if (call.result !== undefined) return call.settled ? undefined : "afterTool";
  if (call.startedAt !== undefined || call.verdict?.do !== "run") return undefined;
  if (permission === "unasked") return "permission";
  if (permission === "allow" && !call.prepared && hooks.includes("beforeTool")) return "beforeTool";
  return undefined;
}

// ---- time ------------------------------------------------------------------------------------------------------

const graceEnd = (state: State): number =>
  (runOf(state).cancelledAt ?? 0) + (state.options?.abortGraceMs ?? 0);

/** The earliest time at which something must be looked at again, if there is one. */
function wakeTime(state: State, rules: Rules): number | undefined {
  const times = running(runOf(state)).map(timeoutAt);
  if (runOf(state).landing === undefined)
    rules.list.forEach((rule, at) => {
      const time = rule.wakeAt?.(state.memories[at], state);
      // A rule whose time has come was asked already; waiting for it again would be waiting for ever, at full speed.
      if (time !== undefined && time > state.now) times.push(time);
    });
  return times.length === 0 ? undefined : Math.min(...times);
}

function wait(state: State, rules: Rules): Action {
  const until = wakeTime(state, rules);
  return { do: "wait", ...(until === undefined ? {} : { until }) };
}

function waitForRetry(state: State, rules: Rules): Action | undefined {
  const { notBefore } = runOf(state);
  if (notBefore === undefined || state.now >= notBefore) return undefined;
  return { do: "wait", until: Math.min(notBefore, wakeTime(state, rules) ?? notBefore) };
}

// ---- rules -----------------------------------------------------------------------------------------------------

function ruleDecision(state: State, rules: Rules): Action | undefined {
  return decided(state, rules, () => true);
}

/** Rules whose time has come are heard while the model or a tool is at work. */
function timedDecision(state: State, rules: Rules): Action | undefined {
  return decided(state, rules, (rule, memory) => {
    const time = rule.wakeAt?.(memory, state);
    return time !== undefined && time <= state.now;
  });
}

function decided(
  state: State,
  rules: Rules,
  asked: (rule: Rule, memory: unknown) => boolean,
): Action | undefined {
  const run = runOf(state);
  if (run.landing !== undefined) return undefined;
  for (let at = 0; at < rules.list.length; at += 1) {
    const rule = rules.list[at];
    if (rule?.decide === undefined || !asked(rule, state.memories[at])) continue;
    const decision = rule.decide(state.memories[at], state);
    // A rule that only talks may do so once between two model calls, or it could talk for ever.
    if (decision === undefined || (talks(decision) && run.spoken.includes(rule.name))) continue;
    return recorded(state, rule, decision);
  }
  return undefined;
}

const talks = (decision: Decision): boolean => decision.do === "nudge" || decision.do === "hide_tool";

function recorded(state: State, rule: Rule, decision: Decision): Action {
  const because = { rule: rule.name, evidence: decision.evidence };
  switch (decision.do) {
    case "land":
      return record({
        type: "mode",
        mode: "landing",
        reason: decision.reason,
        cancel: decision.cancel ?? false,
        ...because,
      });
    case "nudge":
      return record({ type: "noted", text: decision.text, ...because });
    case "hide_tool":
      return record({ type: "mode", mode: "hide_tool", tool: decision.tool, ...because });
    case "stop":
      if (inFlight(runOf(state)) || runOf(state).turn !== undefined)
        return record({
          type: "mode",
          mode: "stopping",
          reason: decision.reason,
          cancel: true,
          ...because,
          ...(decision.error === undefined ? {} : { error: decision.error }),
        });
      return end(state, {
        reason: decision.reason,
        ...because,
        ...(decision.error === undefined ? {} : { error: decision.error }),
      });
  }
}

// ---- messages --------------------------------------------------------------------------------------------------

function deliver(state: State, lane: "steer" | "follow_up"): Action | undefined {
  const ids = state.inbox.filter((one) => one.lane === lane).map((one) => one.id);
  return ids.length === 0 ? undefined : record({ type: "delivered", lane, ids });
}

function runHook(state: State, name: HookName, ask: HookAsk): Action | undefined {
  return state.options?.hooks.includes(name) ? { do: "run_hook", hooks: [ask] } : undefined;
}

// ---- the request -----------------------------------------------------------------------------------------------

function callModel(state: State, rules: Rules): Action {
  const run = runOf(state);
  const step = stepOf(state);
  const model = run.prepared?.step === step ? (run.prepared.model ?? run.model) : run.model;
  return { do: "call_model", step, attempt: run.failures + 1, model, request: requestOf(state, rules) };
}

/** What the model is to be sent now: a function of the state alone (P7). */
export function requestOf(state: State, rules: Rules): Request {
  const { options } = state;
  const run = runOf(state);
  if (options === undefined) throw new Error("there are no options: this is a defect of the table");
  const toolless = run.landing !== undefined || run.output !== undefined;
  const prepared = run.prepared?.step === stepOf(state) ? run.prepared : undefined;
  const settings =
    run.maxOutputTokens === undefined
      ? options.settings
      : { ...options.settings, maxOutputTokens: run.maxOutputTokens };
  return {
    ...(options.system === undefined ? {} : { system: options.system }),
    messages: requestMessages(state, rules),
    // The tools stay declared when they may not be used: their calls are in the history, and the prefix stays the same.
    tools: definitionsOf(offeredTools(state)),
    toolChoice: toolless ? "none" : (prepared?.toolChoice ?? options.toolChoice),
    settings,
    ...(options.output !== undefined && offersOutput(state) ? { outputSchema: options.output.schema } : {}),
  };
}

const definitions = new WeakMap<readonly ToolFacts[], readonly ToolDefinition[]>();

/** The same list of tools gives the same list of definitions, so that whoever encodes them can tell by identity. */
function definitionsOf(tools: readonly ToolFacts[]): readonly ToolDefinition[] {
  let known = definitions.get(tools);
  if (known === undefined) {
    known = tools.map((tool) => tool.definition);
    definitions.set(tools, known);
  }
  return known;
}

/** Whether the schema of the typed output goes with the request: not while tools are in use. */
function offersOutput(state: State): boolean {
  const run = runOf(state);
  return run.output !== undefined || run.landing !== undefined || (state.options?.tools.length ?? 0) === 0;
}

function requestMessages(state: State, rules: Rules): MessageList {
  const run = runOf(state);
  const edit = run.transformed?.step === stepOf(state) ? run.transformed.edit : undefined;
  const history = edit === undefined ? state.history : Log.of(edited(state.history, edit));
  const notes = run.notes.map(userText);
  if (run.output !== undefined) notes.push(userText(rules.texts.finalOutput(run.output.error)));
  if (run.landing !== undefined) notes.push(userText(rules.texts.landing(run.landing.reason)));
  return notes.length === 0 ? history : Log.of<Message>([...history, ...notes]);
}

function edited(history: Log<Message>, edit: HistoryEdit): Message[] {
  return edit.flatMap((one) => ("put" in one ? [one.put] : history.slice(one.keep[0], one.keep[1])));
}

// ---- the end ---------------------------------------------------------------------------------------------------

function outputMode(attempt: number): Action {
  return record({ type: "mode", mode: "output", attempt, rule: "output", evidence: { attempt } });
}

function badOutput(state: State): Action | undefined {
  const { checked, output } = runOf(state);
  if (checked === undefined || checked.ok) return undefined;
  const retries = output?.attempt ?? 0;
  const allowed = state.options?.output?.decodeRetries ?? 0;
  if (retries < allowed) return outputMode(retries + 1);
  const evidence = { attempts: retries + 1, error: checked.error ?? "" };
  const error = {
    kind: "structured_output" as const,
    message: `the output does not fit its schema: ${checked.error ?? "unknown"}`,
    retryable: false,
  };
  return end(state, { reason: "output_invalid", rule: "output", evidence, error });
}

function givenUpModel(): Fact {
  const message = "the model's answer did not stop when it was told to, and was given up";
  return { type: "model_failed", error: { kind: "aborted", message, retryable: false } };
}

function unjudgedAfterAbort(state: State, rules: Rules): Action | undefined {
  const { turn } = runOf(state);
  if (turn === undefined || turn.judged !== undefined) return undefined;
  const text = textOf(turn.message).trim() !== "";
  return record({
    type: "turn_judged",
    verdicts: turn.calls.map((call) => ({
      do: "answer",
      code: "not_executed",
      text: rules.texts.notExecuted(call.name),
    })),
    follows: { do: "stop", reason: "aborted" },
    store: text || turn.calls.length > 0,
    rule: "abort",
    evidence: { reason: runOf(state).abort?.reason ?? "" },
  });
}

function endAborted(state: State): Action {
  const { abort, failure } = runOf(state);
  const partial = failure?.partial;
  const keep = partial !== undefined && textOf(partial).trim() !== "" ? partial : undefined;
  const why = { rule: "abort", evidence: { reason: abort?.reason ?? "" } };
  return end(
    state,
    abort?.error === undefined
      ? { reason: "aborted", ...why }
      : { reason: "error", ...why, error: abort.error },
    keep === undefined ? undefined : { ...keep, stop: { ...keep.stop, kind: "aborted" } },
  );
}

function endStopped(state: State): Action | undefined {
  const { stopping } = runOf(state);
  if (stopping === undefined) return undefined;
  const { text: _text, ...why } = stopping;
  return end(state, why);
}

type Why = Omit<RunEnd, "resumable" | "landed">;

function end(state: State, why: Why, keep?: AssistantMessage): Action {
  const run = runOf(state);
  const landed = run.landing !== undefined && why.reason === run.landing.reason && why.error === undefined;
  return record({
    type: "run_ended",
    end: { ...why, landed, resumable: why.reason !== "refused" },
    text: run.stopping?.text ?? run.answer?.text ?? (keep === undefined ? run.lastText : textOf(keep)),
    ...(keep === undefined ? {} : { keep }),
  });
}
