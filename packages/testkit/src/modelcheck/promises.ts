// The room of the promises: what must hold in every state, whatever the world answered.
//
// Each check sees one transition: the state before, the record, the state after, and a shadow that remembers along
// the path what a state may forget. It returns what is broken, in words.

import {
  type Action,
  type Approval,
  type Call,
  type CallKey,
  isPaired,
  type LogRecord,
  type Phase,
  phaseOf,
  type Row,
  type RunEnd,
  repairTexts,
  type State,
  textOf,
} from "@rondo/core";
import { awaitsAnswer } from "@rondo/core/driving";

/** What is remembered along a path, beside the state. */
export interface Shadow {
  /** Writes that started: their keys. */
  readonly started: readonly string[];
  /** Ids of grants, once for each call they let run. */
  readonly granted: readonly string[];
  /** Message ids queued, delivered, and taken back while they waited, so far. */
  readonly queued: readonly string[];
  readonly delivered: readonly string[];
  readonly withdrawn: readonly string[];
  readonly ended: number;
  /** A result was cut and its whole text kept. */
  readonly cut: boolean;
  /** Names of the tools that results have offered. */
  readonly offers: readonly string[];
  /** Actions since the world last answered. */
  readonly busy: number;
}

export const noShadow: Shadow = {
  started: [],
  granted: [],
  queued: [],
  delivered: [],
  withdrawn: [],
  ended: 0,
  cut: false,
  offers: [],
  busy: 0,
};

/** Actions the loop may take in a row before the world answers something. */
const mostBusy = 25;

/** The calls that have started, but for one that may start again. */
const startedBut = ({ started }: Shadow, call: CallKey): readonly string[] =>
  started.filter((key) => key !== call);

/** The shadow after a record. */
export function shadowAfter(shadow: Shadow, record: LogRecord, before: State): Shadow {
  switch (record.type) {
    case "tool_started": {
      const call = callOf(before, record.call);
      return call?.tool?.effect === "write"
        ? { ...shadow, started: [...shadow.started, record.call] }
        : shadow;
    }
    case "tool_answered": {
      // Its tool goes on where it asked: another start, and not a second run of the same code.
      const call = callOf(before, record.call);
      return call !== undefined && awaitsAnswer(call)
        ? { ...shadow, started: startedBut(shadow, record.call) }
        : shadow;
    }
    case "reconciled":
      // It has not had its effect: what is forbidden is a second one.
      return record.found === "not_done" ? { ...shadow, started: startedBut(shadow, record.call) } : shadow;
    case "approval_given": {
      const call = callOf(before, record.call);
      const again = call?.interrupted === true && record.approval.answer !== "deny";
      const started = again ? startedBut(shadow, record.call) : shadow.started;
      const grant = grantIn(record.approval);
      return grant === undefined
        ? { ...shadow, started }
        : { ...shadow, started, granted: [...shadow.granted, grant] };
    }
    case "queued":
      return { ...shadow, queued: [...shadow.queued, record.id] };
    case "hook_answered": {
      // More work that came when the run had gone on already waits like a word from outside, under an id of its own.
      const { run } = before;
      if (
        record.hook !== "onFinish" ||
        run === undefined ||
        run.end !== undefined ||
        run.answer !== undefined
      )
        return shadow;
      const ids = record.messages.map((_, at) => `onFinish_${record.seq}_${at}`);
      return { ...shadow, queued: [...shadow.queued, ...ids] };
    }
    case "delivered":
      return { ...shadow, delivered: [...shadow.delivered, ...record.ids] };
    case "withdrawn": {
      const waits = before.inbox.some(({ id }) => id === record.id);
      return waits ? { ...shadow, withdrawn: [...shadow.withdrawn, record.id] } : shadow;
    }
    case "tool_finished": {
      const call = callOf(before, record.call);
      const taken = call !== undefined && call.result === undefined;
      if (!taken) return shadow;
      const { ref, offers = [] } = record.result;
      return { ...shadow, cut: shadow.cut || ref !== undefined, offers: [...shadow.offers, ...offers] };
    }
    case "run_ended":
      return { ...shadow, ended: shadow.ended + 1 };
    default:
      return shadow;
  }
}

/** A call of the state's open turn, by its key. */
export const callOf = ({ run }: State, key: CallKey | null): Call | undefined =>
  run?.turn?.calls.find((one) => one.key === key);

/** What is broken about a record and the state it led to. */
export function brokenByRecord(record: LogRecord, before: State, after: State, shadow: Shadow): string[] {
  const broken: string[] = [];
  if (!isPaired(after.history))
    broken.push("P1: the stored history has a call without its one result behind it");
  broken.push(...brokenLeave(record, before, after, shadow));
  if (new Set(shadow.started).size !== shadow.started.length) broken.push("P4: a write started twice");
  if (
    ["trimmed", "compacted"].includes(record.type) &&
    tasksOf(before).some((task) => ![...after.history].map(textOf).includes(task))
  )
    broken.push("a message of a person was lost when the history was made smaller");
  broken.push(...brokenStart(record, before));
  if (
    record.type === "turn_judged" &&
    before.run?.failure !== undefined &&
    ["act", "finish"].includes(record.follows.do)
  )
    broken.push("a failed model call was judged as if it had answered");
  if (shadow.ended > 1) broken.push("P6: the run ended twice");
  if (new Set(shadow.delivered).size !== shadow.delivered.length)
    broken.push("P8: a message was delivered twice");
  const known = [...shadow.delivered, ...shadow.withdrawn, ...after.inbox.map((one) => one.id)].sort();
  if (known.join() !== [...new Set(shadow.queued)].sort().join())
    broken.push("P8: a queued message was lost");
  if (record.type === "run_ended") broken.push(...brokenEnd(record.end, before, after));
  return broken;
}

/** What must be so before something is set going. */
function brokenStart(record: LogRecord, before: State): string[] {
  const { run } = before;
  const broken: string[] = [];
  if (record.type === "summary_started" && run?.abort !== undefined)
    broken.push("P5: a summary was asked for after an abort");
  if (record.type !== "tool_started" && record.type !== "model_started") return broken;
  if (run?.abort !== undefined) broken.push(`P5: ${record.type} after an abort`);
  if (record.type === "model_started") {
    if (run?.paused !== true && before.inbox.some((one) => one.lane === "steer"))
      broken.push("P8: the model was asked before a steering message was delivered");
    return broken;
  }
  const call = callOf(before, record.call);
  if (call?.interrupted && call.tool?.effect === "write" && !call.again)
    broken.push("P4: an interrupted write started again");
  if (call !== undefined && awaitsAnswer(call))
    broken.push("P4: a call went on whose question nobody had answered");
  // Some tools take a text that is no JSON object as it is written; nothing takes half a text.
  const taken = call?.check.ok === true && (call.argsError === undefined || call.check.raw === true);
  if (call !== undefined && !taken)
    broken.push("a call started whose arguments were not whole or did not fit");
  return broken;
}

/** What must be so where a run ends. */
function brokenEnd(end: RunEnd, before: State, after: State): string[] {
  const broken: string[] = [];
  // One that only forgets the conversation leaves the words that wait to the next.
  if (end.reason === "completed" && before.run?.only !== "clearing" && after.inbox.length > 0)
    broken.push("P8: the run completed over a queued message");
  if (
    after.options?.output !== undefined &&
    (end.rule === "answer" || end.landed) &&
    before.run?.checked?.ok !== true
  )
    broken.push("a run came to an answer that was to be typed, and is not");
  if (before.left?.some(({ until }) => until > before.now))
    broken.push("P6: the run ended, and nobody had ended the sub-agent it left behind");
  if (end.rule === "" || end.evidence === undefined) broken.push("a run ended without naming its rule");
  return broken;
}

/** A call that asks runs only after somebody said so, for the arguments it runs with, and no grant says so too often. */
function brokenLeave(record: LogRecord, before: State, after: State, shadow: Shadow): string[] {
  const broken: string[] = [];
  for (const { id, uses, used } of after.grants) {
    const granted = shadow.granted.filter((one) => one === id).length;
    if (uses !== undefined && granted > uses) broken.push("a grant let more calls run than it says");
    if (used !== granted) broken.push("the uses of a grant were miscounted");
  }
  const call = "call" in record ? callOf(before, record.call) : undefined;
  const by = record.type === "approval_given" ? grantIn(record.approval) : undefined;
  if (by !== undefined) {
    const grant = before.grants.find((one) => one.id === by);
    if (grant === undefined || grant.revoked || before.now >= (grant.until ?? Number.POSITIVE_INFINITY))
      broken.push("a grant let a call run that does not hold any more");
    if (call?.interrupted) broken.push("P4: a grant let an interrupted write run again");
    if (grant?.tool !== call?.name) broken.push("a grant let a call of another tool run");
  }
  if (
    record.type === "tool_started" &&
    call?.check.ok &&
    (call.check.permission ?? call.tool?.permission) === "ask" &&
    call.permission?.answer !== "allow"
  )
    broken.push("a call that asks started, and nobody had said that it may");
  return broken;
}

/** The id of the grant by which a call was let run. */
const grantIn = (approval: Approval): string | undefined =>
  approval.answer === "approve" ? approval.grant : undefined;

/** What is said of a state that was asked about twice, and in which not the same was decided. */
export const twoDecisions = "P2: the same state led to two decisions";

/** What is broken about a decision. */
export function brokenByDecision(
  state: State,
  decided: { action: Action; row: Row },
  again: { action: Action; row: Row },
  shadow: Shadow,
): string[] {
  const broken: string[] = [];
  const { action } = decided;
  if (again.row !== decided.row || JSON.stringify(again.action) !== JSON.stringify(action))
    broken.push(twoDecisions);
  if (shadow.busy > mostBusy) broken.push(`P2: ${mostBusy} actions in a row without a word from the world`);
  if (action.do === "record" && action.facts.length === 0) broken.push("P2: an empty record");
  if (
    state.run?.abort !== undefined &&
    ["call_model", "summarise", "start_tools", "run_hook", "ask"].includes(action.do)
  )
    broken.push(`P5: ${action.do} after an abort`);
  if (
    (action.do === "wait" || action.do === "run_hook") &&
    action.until !== undefined &&
    action.until <= state.now
  )
    broken.push("P2: a wait for a time that has passed");
  if (action.do === "call_model") {
    const offered = new Set(action.request.tools.map(({ name }) => name));
    for (const { definition, when } of state.options?.tools ?? []) {
      const { name } = definition;
      if (when === "capped" && offered.has(name) !== shadow.cut)
        broken.push("the tools that read what was cut are offered exactly when something was");
      if (when === "offered" && offered.has(name) !== shadow.offers.includes(name))
        broken.push("a tool that waits to be offered is offered exactly when a result did so");
    }
  }
  if (action.do === "park" && state.run?.end === undefined && !waitsForSomebody(state))
    broken.push("P6: the run parked, and nobody was asked anything");
  return broken;
}

function waitsForSomebody(state: State): boolean {
  return (
    state.run?.turn?.calls.some(
      (call) =>
        call.result === undefined && (call.asked || call.child?.parked === true || awaitsAnswer(call)),
    ) ?? false
  );
}

/** Whether the table said that this phase may follow. */
export function brokenByTable(row: Row, from: Phase, after: State): string[] {
  const to = phaseOf(after);
  return to === from || row.to.includes(to)
    ? []
    : [`the table does not know: in ${from}, when ${row.when}, ${row.does}, and then ${to}`];
}

/** The task, where the settings keep it, and what a person said last: the last that is no memory of a compaction, nor its word to go on. */
function tasksOf({ history, options }: State): string[] {
  const said = [...history].filter(({ role }) => role === "user").map(textOf);
  const isMemory = (text: string): boolean => text.startsWith("[");
  const goesOn = said.some(isMemory) ? repairTexts.proceed : undefined;
  const own = said.filter((text) => !isMemory(text) && text !== goesOn);
  const kept = options?.context?.compaction?.keepTask === false ? own.slice(-1) : [own.at(0), own.at(-1)];
  return kept.filter((text) => text !== undefined);
}
