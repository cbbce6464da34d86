// The room of the batch: which calls may start now.
//
// A pure function of the open turn. No batch is stored: whatever may start is started, results arrive as records, and the
// function is called again. Sequential, parallel and keyed execution all follow from it.

import type { Permission } from "../tool/effect.ts";
import type { CallKey } from "./records.ts";
import type { RunOptions } from "./run-options.ts";
import { awaitsAnswer, type Call, hasBegun, isOver, isRunning } from "./state.ts";

/** The calls that may start: cleared to run, without a conflict with running or earlier calls, within `maxConcurrentTools`. */
export function startable(calls: readonly Call[], options: RunOptions): CallKey[] {
  const keys: CallKey[] = [];
  let free = options.maxConcurrentTools - calls.filter(isRunning).length;
  calls.forEach((call, at) => {
    if (free <= 0 || !isCleared(call, options)) return;
    // A call also waits for earlier ones that have not started: their order is what the model wrote.
    const isInTheWay = (other: Call, place: number): boolean =>
      (place < at ? !isOver(other) : place > at && isRunning(other)) &&
      conflict(call, other, options.toolOrder);
    if (calls.some(isInTheWay)) return;
    keys.push(call.key);
    free -= 1;
  });
  return keys;
}

/** The calls that hooks and people may be asked about now: all open ones, or under `sequential` the first. */
export function askable(calls: readonly Call[], options: RunOptions): readonly Call[] {
  const open = calls.filter((call) => !isOver(call));
  if (options.toolOrder !== "sequential") return open;
  const first = open.find((call) => !isQuestion(call));
  return first === undefined ? open.slice(0, 1) : [first];
}

/** A call that only asks a person, and touches nothing, does not block others: they run meanwhile. */
const isQuestion = (call: Call): boolean =>
  ownPermission(call) === "ask" && call.tool?.effect === "read" && keysOf(call)?.length === 0;

/** Whether everything that must be decided before a call may run has been decided. */
function isCleared(call: Call, options: RunOptions): boolean {
  if (call.result !== undefined || isRunning(call)) return false;
  if (call.interrupted && !call.again) return false;
  if (awaitsAnswer(call)) return false;
  // A parked child is resumed when there is a new answer for it.
  if (call.child?.parked && call.child.answers.length <= call.child.told) return false;
  if (call.verdict?.do !== "run") return false;
  if (permissionOf(call, options) !== "allow") return false;
  return isPrepared(call, options);
}

/** Whether the beforeTool hook need not be asked about a call: it has answered, there is none, or the call has begun. */
export const isPrepared = (call: Call, { hooks }: RunOptions): boolean =>
  call.prepared || hasBegun(call) || !hooks.includes("beforeTool");

/** A call's permission to run: the answer, or `unasked` if the hook must be asked first. */
export function permissionOf(call: Call, options: RunOptions): "allow" | "deny" | "ask" | "stop" | "unasked" {
  if (call.permission !== undefined) return call.permission.answer;
  // What let it run still applies: neither hooks nor tools of a process that takes over judge a call that has begun.
  if (hasBegun(call)) return "allow";
  const own = ownPermission(call);
  if (own === "deny") return "deny";
  // An approval was already requested, by a process without a permission hook: a person must answer it.
  if (call.asked) return "ask";
  if (options.hooks.includes("permission")) return "unasked";
  return own;
}

/** What the call's tool says, of this call if its `permission` is a function. */
export function ownPermission({ check, tool }: Call): Permission {
  const general = tool?.permission ?? "allow";
  const own = check.ok && general !== "deny" ? check.permission : undefined;
  return own ?? general;
}

function conflict(one: Call, other: Call, order: RunOptions["toolOrder"]): boolean {
  if (isQuestion(one) || isQuestion(other)) return false;
  if (order === "sequential") return true;
  // A call that will be answered without running blocks no other.
  if (other.verdict?.do === "answer") return false;
  const bothRead = one.tool?.effect === "read" && other.tool?.effect === "read";
  if (bothRead) return false;
  const keys = keysOf(one);
  const others = keysOf(other);
  if (keys === null || others === null) return order === "by_effect";
  return keys.some((key) => others.includes(key));
}

const keysOf = (call: Call): readonly string[] | null => (call.check.ok ? call.check.keys : null);
