// The room of the options of a session's methods: what each of them may be given.

import { runWords } from "../checks/other-words.ts";
import { abortSignal } from "../checks/ready-made.ts";
import { anything, type Check, callable, from0, membersOf, text } from "../checks.ts";
import type { Listener } from "../events.ts";
import type { ParentFacts } from "../loop/child-facts.ts";

export const sending: Check = membersOf<{ signal?: AbortSignal; parent?: ParentFacts }>(
  { signal: abortSignal, parent: anything },
  [],
  runWords,
);
export const going: Check = membersOf<{ signal?: AbortSignal }>({ signal: abortSignal }, [], runWords);
export const draining: Check = membersOf<{ withinMs?: number }>({ withinMs: from0 });
export const heard: Check = membersOf<{ listener: Listener }>({ listener: callable }, ["listener"]);
export const queuedId: Check = membersOf<{ id?: string }>({ id: text });
export const withdrawal: Check = membersOf<{ id: string }>({ id: text }, ["id"]);
