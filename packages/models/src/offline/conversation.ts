// The room of the conversation: which task is open, what its tools have returned so far, and what was mentioned before.
//
// A turn lasts from a user message to the answer in text. Within it a later user message replaces the task, adds to it
// ("also …"), or, if it is a note by the loop, changes nothing. Only results that came after the task count: a question
// asked again is looked up again.

import { callsOf, type Message, type MessageList, textOf } from "@rondo/core";
import type { Goal } from "./goal.ts";
import { goalsOf } from "./grammar.ts";
import type { Outcome } from "./plan.ts";
import { keyOf } from "./toolbox.ts";

/** One turn: what the user said in it, and every result with how many of the user's messages came before it. */
interface Turn {
  said: string[];
  results: { key: string; outcome: Outcome; after: number }[];
}

export interface Task {
  goals: Goal[];
  results: Map<string, Outcome>;
  /** Calls made for it so far. */
  made: number;
  /** Something said in mid-turn from which no goal resulted. */
  missed: string | undefined;
}

export interface Conversation {
  task: Task;
  /** The tasks before it, newest last, for "it" and "and the others". */
  before: Task[];
}

const remembered = 6;

/** Reads the end of a history. */
export function readConversation(messages: MessageList): Conversation {
  const turns = turnsOf(messages);
  const before: Task[] = [];
  let goals: Goal[] = [];
  let open = turns.pop() ?? { said: [], results: [] };
  // A note that asks for another form of the answer is about the task before it.
  while (open.said.every(isNotice) && turns.length > 0) {
    const last = turns.pop() as Turn;
    open = {
      said: [...last.said, ...open.said],
      results: [
        ...last.results,
        ...open.results.map((one) => ({ ...one, after: one.after + last.said.length })),
      ],
    };
  }
  for (const turn of turns) {
    const task = taskOf(turn, goals);
    if (task.goals.some(isUnderstood)) {
      goals = task.goals.filter(isUnderstood);
      before.push(task);
    }
  }
  return { task: taskOf(open, goals), before };
}

export const isUnderstood = (goal: Goal): boolean => goal.do !== "beyond" && goal.do !== "about_me";

/** The last turns of a history, oldest first; the last one is open. */
function turnsOf(messages: MessageList): Turn[] {
  let start = messages.length;
  let ends = 0;
  while (start > 0 && ends <= remembered) {
    const message = messages.at(start - 1) as Message;
    if (start < messages.length && isAnswer(message)) ends++;
    if (ends > remembered) break;
    start--;
  }
  const turns: Turn[] = [{ said: [], results: [] }];
  const keys = new Map<string, string>();
  for (let at = start; at < messages.length; at++) {
    const message = messages.at(at) as Message;
    const turn = turns.at(-1) as Turn;
    if (message.role === "user") turn.said.push(textOf(message));
    else if (message.role === "assistant") {
      for (const call of callsOf(message)) keys.set(call.id, keyOf(call.name, call.args));
      if (isAnswer(message) && turn.said.length > 0 && at < messages.length - 1)
        turns.push({ said: [], results: [] });
    } else if (message.role === "tool") {
      const key = keys.get(message.callId);
      if (key === undefined) continue;
      const text = textOf(message);
      turn.results.push({
        key,
        after: turn.said.length,
        outcome: message.isError
          ? { text, error: text === "" ? "the tool failed without a word" : text }
          : { text },
      });
    }
  }
  return turns;
}

const isAnswer = (message: Message): boolean =>
  message.role === "assistant" && callsOf(message).length === 0 && textOf(message).trim() !== "";

/** What loops write in the user's place: about limits, repeats, formats. None begins like a user's order, which may mention all of that. */
const isNotice = (text: string): boolean =>
  !/^\s*(please\s+)?(how|what|which|where|who|is|are|do|does|list|show|find|search|count|read|open|print|grep|look|locate|compare|describe|explain|outline)\b/i.test(
    text,
  ) &&
  /\b(no more tools|tool calls?|JSON format|final (answer|response)|best answer you can|last answer was empty|has been called|reached (a|its) limit|same arguments)\b/i.test(
    text,
  ) &&
  !/\?\s*$/.test(text);

const joins = /^\s*(also|and|plus|additionally|as well|one more)\b/i;

/** A call that the loop skipped never ran: it may be made again, once. */
const neverRan = (outcome: Outcome): boolean =>
  outcome.error !== undefined && /\bwas (skipped|not executed)\b/.test(outcome.error);

function taskOf(turn: Turn, before: readonly Goal[]): Task {
  let goals: Goal[] = [];
  let from = 0;
  let missed: string | undefined;
  turn.said.forEach((text, at) => {
    if (at > 0 && isNotice(text)) return;
    const fresh = goalsOf(text, goals.length > 0 && goals.some(isUnderstood) ? goals : before);
    if (goals.length === 0) goals = fresh;
    else if (fresh.some(isUnderstood)) {
      if (joins.test(text)) goals = [...goals, ...fresh];
      else {
        goals = fresh;
        from = at + 1;
      }
      missed = undefined;
    } else missed = text;
  });
  const results = new Map<string, Outcome>();
  const skipped = new Set<string>();
  let made = 0;
  for (const result of turn.results) {
    made++;
    if (result.after < Math.max(from, 1)) continue;
    if (neverRan(result.outcome) && !skipped.has(result.key)) skipped.add(result.key);
    else if (!results.has(result.key) || !neverRan(result.outcome)) results.set(result.key, result.outcome);
  }
  return {
    goals,
    results,
    made: from > 0 ? turn.results.filter((one) => one.after >= from).length : made,
    missed,
  };
}
