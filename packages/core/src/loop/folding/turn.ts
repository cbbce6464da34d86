// The room of the open turn: an answer, its calls, and their results.
//
// The last result closes the turn: only then do the answer and all its results enter the history, together.

import { foldLedger } from "../../context/compact/ledger.ts";
import { countedWith, leastTokens } from "../../context/estimate.ts";
import type { AssistantMessage, ToolMessage } from "../../message.ts";
import { answerTextOf, callsOf, tokensOf } from "../../message.ts";
import { madeUpId } from "../call-id.ts";
import type { Names } from "../log.ts";
import { toolNamed } from "../offered-tools.ts";
import type { Because, CallKey, CallResult, Follows, RecordOf } from "../records.ts";
import { type Call, callIn, hasBegun, isOver, type Run, type State, type Turn, withRun } from "../state.ts";
import { settleCancel } from "./cancelled.ts";
import { leaveChild, rollUp } from "./children.ts";
import { refusedFilesOf } from "./refused-files.ts";
import { newCompaction } from "./shrink.ts";
import { spendMore } from "./spend.ts";

/** The answer has arrived: opens the turn. */
export function finishModel(state: State, run: Run, record: RecordOf<"model_finished">): State {
  if (run.call === undefined) return state;
  const { message, ids } = withUniqueIds(record.message, state.ids, record.seq);
  const { hooks, tools } = withRun(state).options;
  const hookless = !hooks.includes("afterTool");
  const { pruned, lands } = run.call;
  const calls = callsOf(message).map((part, at): Call => {
    const check = record.checks[at] ?? { ok: false, error: "not checked", code: "invalid_args" };
    const tool = toolNamed(tools, part.name);
    return {
      key: `${record.seq}.${at}`,
      id: part.id,
      name: part.name,
      args: check.ok ? check.args : part.args,
      rawArgs: part.rawArgs,
      check,
      asked: false,
      prepared: false,
      interrupted: false,
      settled: hookless,
      ...(part.argsError === undefined ? {} : { argsError: part.argsError }),
      ...(tool === undefined ? {} : { tool }),
    };
  });
  return {
    ...state,
    ids,
    ...(run.dropped.length === 0 ? {} : refusedFilesOf(withRun(state))),
    answers: state.answers + 1,
    lastTokens: tokensOf(record.message.usage),
    // The request is sent again unchanged.
    touchedAt: run.call.startedAt,
    run: settleCancel({
      ...run,
      call: undefined,
      modelCalls: run.modelCalls + 1,
      spend: spendMore(state, run, record.message),
      notes: [],
      spoken: [],
      turn: {
        seq: record.seq,
        message,
        calls,
        ...(pruned ? { pruned } : {}),
        ...(lands ? { lands } : {}),
        ...(state.offered === undefined ? {} : { offeredBefore: state.offered.length }),
      },
    }),
  };
}

/** Providers repeat ids or leave them out. In a session each call has a unique one. */
function withUniqueIds(
  message: AssistantMessage,
  ids: Names,
  seq: number,
): { message: AssistantMessage; ids: Names } {
  let names = ids;
  let calls = 0;
  let changed = false;
  const content = message.content.map((part) => {
    if (part.type !== "tool_call") return part;
    const isUnique = part.id !== "" && !names.has(part.id);
    const id = isUnique ? part.id : madeUpId(part.id, seq, calls);
    names = names.add(id);
    calls += 1;
    changed ||= !isUnique;
    return isUnique ? part : { ...part, id };
  });
  return { message: changed ? { ...message, content } : message, ids: names };
}

/** The turn, or the failure, has been judged. */
export function judge(state: State, run: Run, record: RecordOf<"turn_judged">): State {
  const because = { rule: record.rule, evidence: record.evidence };
  if (run.failure !== undefined) {
    const { error } = run.failure;
    const { follows } = record;
    const reduced =
      follows.do === "ask_again" && follows.reduce !== undefined ? { error, helped: false } : run.reduced;
    const failed = { ...run, failure: undefined, failures: run.failures + 1, reduced };
    return { ...state, run: follow(failed, record.follows, because) };
  }
  const { turn } = run;
  if (turn === undefined || turn.judged !== undefined) return state;
  const text = run.pausedText + answerTextOf(turn.message);
  // If another rule asks again, it wants a new answer, not a continuation of the paused one.
  const resumed = record.rule === "pauses" && record.follows.do === "ask_again" && record.store;
  const paused = resumed && turn.message.stop.kind === "pause";
  // The answer of a landing becomes the run's text, even if it is not stored in the history.
  const keptOut = turn.lands === true && state.options?.landing?.keepOut === true;
  const isText = record.store || (keptOut && record.withheld !== true);
  const judged: Run = {
    ...run,
    failures: 0,
    reduced: undefined,
    steps: paused ? run.steps : run.steps + 1,
    paused,
    pausedText: paused ? text : "",
    lastText: isText && text !== "" ? text : run.lastText,
    turn: {
      ...turn,
      judged: { follows: record.follows, store: record.store, text, ...because },
      calls: turn.calls.map((call, at) => {
        const verdict = record.verdicts[at];
        return verdict === undefined ? call : { ...call, verdict };
      }),
    },
  };
  return closeTurn(state, judged);
}

/** A call got a result; the first one counts. */
export function finishTool(state: State, run: Run, key: CallKey, result: CallResult): State {
  const call = callIn(run, key);
  if (call === undefined || call.result !== undefined) return state;
  const ran = hasBegun(call) || result.code === "reconciled" || result.code === "answered";
  const counted: Run = {
    ...rollUp(run, result.spent),
    toolCalls: ran ? run.toolCalls + 1 : run.toolCalls,
    ...stoppedBy(run, call, result),
  };
  const known = noteResult(leaveChild(state, run, call, result), run, call, result);
  return changeCall(known, counted, key, (one) => ({ ...one, result, settled: one.settled || !ran }));
}

/** The state with what a result adds to it besides the history: the ref of its full text, entries of the ledger, and tools that it offers. */
export function noteResult(state: State, run: Run, call: Call, result: CallResult): State {
  const { ref, capped, ledger: entries = [], offers } = result;
  const cut = capped !== undefined && ref !== undefined;
  const noted = cut ? [...entries, { kind: "output" as const, ref, tool: call.name }] : entries;
  return {
    ...state,
    ledger: foldLedger(state.ledger, noted, run.steps),
    ...(ref === undefined ? {} : { outputs: state.outputs.push(ref) }),
    ...(cut ? { readable: true as const } : {}),
    ...alsoOffered(state, offers),
  };
}

/** With the tools that a result, or a message of a history from elsewhere, offers. */
export function alsoOffered(
  { offered }: State,
  offers: readonly string[] | undefined,
): Pick<State, "offered"> {
  return offers === undefined ? {} : { offered: [...new Set([...(offered ?? []), ...offers])] };
}

/** Whether a result ends its run. */
const ends = ({ done }: CallResult): boolean => done !== undefined && done !== false;

/** How a result ends the run. Of several in one turn the first call's counts, in whatever order they arrive: so a crash between them changes nothing. */
export function stoppedBy(run: Run, call: Call, result: CallResult): Pick<Run, "stopping"> {
  const isFirst = (one: Call): boolean => one === call || (one.result !== undefined && ends(one.result));
  if (!ends(result) || run.turn?.calls.find(isFirst) !== call) return {};
  const stopping: NonNullable<Run["stopping"]> = {
    reason: "done_tool",
    rule: "done_tool",
    evidence: { tool: call.name, call: call.key },
    ...(typeof result.done === "string" ? { text: result.done } : {}),
  };
  return { stopping };
}

/** The tool has reported what became of an interrupted call. */
export function reconcile(state: State, run: Run, record: RecordOf<"reconciled">): State {
  return changeCall(state, run, record.call, (call) => {
    if (!call.interrupted || call.result !== undefined) return call;
    if (record.found === "done") return { ...call, reconciled: record.result };
    if (record.found === "unknown") return { ...call, reconciled: "unknown" };
    // It had no effect: what had let it run still applies.
    return { ...call, interrupted: false, permission: { answer: "allow" } };
  });
}

/** A call that waited for an approval was answered. */
export function approve(state: State, run: Run, record: RecordOf<"approval_given">): State {
  const { approval } = record;
  const denied = approval.answer === "deny" ? approval : undefined;
  const evidence = { call: record.call, ...(denied?.reason === undefined ? {} : { said: denied.reason }) };
  const stopped: Run =
    denied?.stop === true
      ? { ...run, stopping: { reason: "turn_stopped", rule: "approval", evidence } }
      : run;
  return changeCall(state, stopped, record.call, (call) => {
    if (call.permission !== undefined && call.permission.answer !== "ask") return call;
    if (approval.answer === "deny")
      return {
        ...call,
        permission: { answer: "deny", ...(approval.reason === undefined ? {} : { reason: approval.reason }) },
      };
    const edited =
      approval.answer === "edit"
        ? { args: approval.args, check: approval.check, argsError: undefined }
        : call;
    const { check, argsError } = edited;
    return {
      ...call,
      args: check.ok ? check.args : edited.args,
      check,
      argsError,
      permission: { answer: "allow", approved: true },
      ...(call.interrupted && check.ok ? { again: true } : {}),
    };
  });
}

/** The open turn with each call changed. */
export function mapCalls(run: Run, change: (call: Call) => Call): { turn?: Turn } {
  if (run.turn === undefined) return {};
  return { turn: { ...run.turn, calls: run.turn.calls.map(change) } };
}

/** The state with one call changed; closes the turn if it was the last to settle. */
export function changeCall(state: State, run: Run, key: CallKey, change: (call: Call) => Call): State {
  const changed = mapCalls(run, (call) => (call.key === key && !isOver(call) ? change(call) : call));
  return closeTurn(state, { ...run, ...changed });
}

/** If every call has settled the turn is over: the answer and its results enter the history together. */
function closeTurn(state: State, run: Run): State {
  const open = { ...state, run };
  const { turn } = run;
  if (turn?.judged === undefined) return open;
  const results: ToolMessage[] = [];
  const news = new Set(state.offered?.slice(turn.offeredBefore));
  for (const { id, name, result, settled } of turn.calls) {
    if (result === undefined || !settled) return open;
    const { content, isError, ref, details } = result;
    const offers = newAmong(news, result.offers, state);
    results.push({
      role: "tool",
      callId: id,
      name,
      content,
      isError,
      ...(ref === undefined ? {} : { ref }),
      ...(details === undefined ? {} : { details }),
      ...(offers === undefined ? {} : { offers }),
    });
  }
  const closed = { ...run, stepBegun: undefined, turn: undefined };
  const { judged } = turn;
  return {
    ...state,
    run: settleCancel(
      follow(closed, judged.follows, { rule: judged.rule, evidence: judged.evidence }, judged.text),
    ),
    // An answer without parts is not stored: every provider would refuse it.
    ...(judged.store && turn.message.content.length > 0 ? kept(state, turn, results) : {}),
  };
}

/** Of the names that a result offers, those of tools that waited for it; each counts as new once. Undefined: none. */
function newAmong(news: Set<string>, offers: CallResult["offers"], { options }: State): string[] | undefined {
  const names = offers?.filter(
    (name) => toolNamed(options?.tools ?? [], name)?.when === "offered" && news.delete(name),
  );
  return names === undefined || names.length === 0 ? undefined : names;
}

/**
 * The history with an answer and its results, and the provider's count up to the answer. If the request was pruned
 * for this one time, the count is too low for the next one, which may be sent in full. A count that is too low for what was sent
 * is none: some servers count what their cache did not hold.
 */
function kept(state: State, { message, pruned }: Turn, results: readonly ToolMessage[]): Partial<State> {
  const history = state.history.push(message, ...results);
  const tokens = pruned === true ? undefined : countedWith(message);
  // Of a request that a hook made, the history does not tell what was sent.
  const least = state.options?.hooks.includes("transformContext") ? 0 : state.history.sum(leastTokens);
  if (tokens === undefined || (message.usage?.inputTokens ?? 0) < least) return { history };
  return { history, counted: { tokens, length: state.history.length + 1 } };
}

/** Switches to another model, whatever a hook has chosen for the step. */
function fallBack({ prepared }: Run, model: number): Pick<Run, "model" | "failures" | "prepared"> {
  const { model: _chosen, ...rest } = prepared ?? { step: 0 };
  return { model, failures: 0, prepared: prepared && rest };
}

/** The run after a judgement. */
export function follow(run: Run, follows: Follows, because: Because, text: string = ""): Run {
  switch (follows.do) {
    case "act":
      return run;
    case "ask_again":
      return {
        ...run,
        notBefore: follows.until,
        ...(follows.note === undefined ? {} : { notes: [...run.notes, follows.note] }),
        ...(follows.model === undefined ? {} : fallBack(run, follows.model)),
        ...(follows.maxOutputTokens === undefined ? {} : { maxOutputTokens: follows.maxOutputTokens }),
        ...(follows.drop === undefined ? {} : { dropped: [...run.dropped, follows.drop] }),
        ...(follows.reduce === "compact" ? { compacting: newCompaction(because) } : {}),
      };
    case "finish":
      return { ...run, answer: { text: follows.text ?? text } };
    case "land":
      return { ...run, landing: run.landing ?? { reason: follows.reason, ...because } };
    case "stop":
      return {
        ...run,
        stopping: run.stopping ?? {
          reason: follows.reason,
          ...because,
          ...(follows.text === undefined ? {} : { text: follows.text }),
          ...(follows.error === undefined ? {} : { error: follows.error }),
        },
      };
  }
}
