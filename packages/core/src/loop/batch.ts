// The room of the batch: which calls may start now.
//
// A pure question about the open turn. Nothing here remembers a batch: whatever may start is started, completions
// arrive as records, and the question is asked again. Sequential, parallel and keyed are this one question.

import type { CallKey } from "./records.ts";
import type { RunOptions } from "./run-options.ts";
import { type Call, isRunning } from "./state.ts";

/** The calls that may start: cleared to run, free of conflicts with all that run or come before, within the cap. */
export function startable(calls: readonly Call[], options: RunOptions): CallKey[] {
  const keys: CallKey[] = [];
  let free = options.maxConcurrentTools - calls.filter(isRunning).length;
  calls.forEach((call, at) => {
    if (free <= 0 || !isCleared(call, options)) return;
    // A call also waits for earlier ones that have not started: their order is what the model wrote.
    const isInTheWay = (other: Call, place: number): boolean =>
      (place < at ? !isDone(other) : place > at && isRunning(other)) &&
      conflict(call, other, options.toolOrder);
    if (calls.some(isInTheWay)) return;
    keys.push(call.key);
    free -= 1;
  });
  return keys;
}

/** The calls that hooks and humans are to be asked about now: all of them, or the first that is not done. */
export function inTurn(calls: readonly Call[], options: RunOptions): readonly Call[] {
  const open = calls.filter((call) => !isDone(call));
  if (options.toolOrder !== "sequential") return open;
  const first = open.find((call) => !isQuestion(call));
  return first === undefined ? open.slice(0, 1) : [first];
}

/** A call that asks somebody and touches nothing holds nobody up: what else there is to do is done meanwhile. */
const isQuestion = (call: Call): boolean =>
  call.tool?.permission === "ask" && call.tool.effect === "read" && keysOf(call)?.length === 0;

/** Whether everything that must be said before a call may run has been said. */
function isCleared(call: Call, options: RunOptions): boolean {
  if (call.result !== undefined || isRunning(call)) return false;
  if (call.interrupted && !call.again) return false;
  // A child that has stopped goes on when there is something new to tell it.
  if (call.child?.parked && call.child.answers.length <= call.child.told) return false;
  if (call.verdict?.do !== "run") return false;
  if (permissionOf(call, options) !== "allow") return false;
  return call.prepared || !options.hooks.includes("beforeTool");
}

/** What is known about permission to run: an answer, or that the hook has yet to be asked. */
export function permissionOf(call: Call, options: RunOptions): "allow" | "deny" | "ask" | "stop" | "unasked" {
  if (call.permission !== undefined) return call.permission.answer;
  if (call.tool?.permission === "deny") return "deny";
  // Somebody was asked already, under a process that had no hook: it is theirs to answer.
  if (call.asked) return "ask";
  if (options.hooks.includes("permission")) return "unasked";
  return call.tool?.permission ?? "allow";
}

const isDone = (call: Call): boolean => call.result !== undefined && call.settled;

function conflict(one: Call, other: Call, order: RunOptions["toolOrder"]): boolean {
  if (isQuestion(one) || isQuestion(other)) return false;
  if (order === "sequential") return true;
  // What will be answered without running stands in nobody's way.
  if (other.verdict?.do === "answer") return false;
  const bothRead = one.tool?.effect === "read" && other.tool?.effect === "read";
  if (bothRead) return false;
  const keys = keysOf(one);
  const others = keysOf(other);
  if (keys === null || others === null) return order === "by_effect";
  return keys.some((key) => others.includes(key));
}

const keysOf = (call: Call): readonly string[] | null => (call.check.ok ? call.check.keys : null);
