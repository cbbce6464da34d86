// The room of the options of a session's methods: what each of them may be given.

import { runWords } from "../checks/other-words.ts";
import { abortSignal } from "../checks/ready-made.ts";
import { anything, type Check, callable, from0, membersOf, text } from "../checks.ts";
import type { Listener } from "../events.ts";
import type { ParentFacts } from "../loop/child-facts.ts";

export const sendOptions: Check = membersOf<{ signal?: AbortSignal; parent?: ParentFacts }>(
  { signal: abortSignal, parent: anything },
  [],
  runWords,
);
/** Of `continue`, `compact` and `resume`. */
export const signalOptions: Check = membersOf<{ signal?: AbortSignal }>(
  { signal: abortSignal },
  [],
  runWords,
);
export const drainOptions: Check = membersOf<{ withinMs?: number }>({ withinMs: from0 });
/** Of `subscribe`. */
export const listenerArgument: Check = membersOf<{ listener: Listener }>({ listener: callable }, [
  "listener",
]);
/** Of `stream`. A task is given to another method. */
export const streamArgument: Check = membersOf<{ act: () => unknown }>(
  {
    act: (value) =>
      typeof value === "string"
        ? {
            at: "",
            says: "a function is needed: () => session.send(task); or agent.stream(task, { session })",
          }
        : callable(value),
  },
  ["act"],
);
/** Of `steer` and `followUp`. */
export const newIdArgument: Check = membersOf<{ id?: string }>({ id: text });
/** Of `withdraw`. */
export const idArgument: Check = membersOf<{ id: string }>({ id: text }, ["id"]);
