// What the tests of core share: tools whose moments the test decides, and clocks that are quick.

import {
  type Agent,
  type AgentOptions,
  type Clock,
  type Message,
  type RondoEvent,
  type Tool,
  textOf,
  tool,
} from "@rondo/core";

/** Waits that take no time worth speaking of. */
export const quick: Pick<AgentOptions, "retry" | "abortGraceMs"> = {
  retry: { baseMs: 1, capMs: 2 },
  abortGraceMs: 50,
};

/** A promise and its handles. */
export function deferred<T = void>(): {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (thrown: unknown) => void;
} {
  return Promise.withResolvers<T>();
}

/** A tool that says its own name back, by default a read. */
export function echo(name: string, options: Partial<Parameters<typeof tool>[0]> = {}): Tool {
  return tool({
    name,
    description: name,
    inputSchema: { type: "object", properties: {} },
    effect: "read",
    execute: () => `${name} ran`,
    ...options,
  });
}

/** All events of a run. */
export async function eventsOf(agent: Agent, task: string): Promise<RondoEvent[]> {
  const events: RondoEvent[] = [];
  for await (const event of agent.stream(task)) events.push(event);
  return events;
}

/** A conversation in short: role and text or calls. */
export function shortly(messages: readonly Message[]): string[] {
  return messages.map((message) => {
    const calls = message.content.flatMap((part) => (part.type === "tool_call" ? [`${part.name}()`] : []));
    return `${message.role}: ${[textOf(message), ...calls].filter(Boolean).join(" ")}`;
  });
}

/** Time passes only when somebody waits, or the test says so; chance is what the test says. */
export function jumpingClock(chance: number): Clock & { waits: number[]; pass(ms: number): void } {
  let time = 1_700_000_000_000;
  const waits: number[] = [];
  return {
    waits,
    now: () => time,
    random: () => chance,
    pass: (ms) => {
      time += ms;
    },
    after(ms, then) {
      let wanted = true;
      setImmediate(() => {
        if (!wanted) return;
        waits.push(ms);
        time += ms;
        then();
      });
      return () => {
        wanted = false;
      };
    },
  };
}

/** Time passes at once, up to whatever falls due first. */
export function orderlyClock(): Clock {
  let time = 0;
  const alarms = new Map<() => void, number>();
  const ring = (): void => {
    const [first] = [...alarms].sort(([, one], [, other]) => one - other);
    if (first === undefined) return;
    alarms.delete(first[0]);
    time = Math.max(time, first[1]);
    first[0]();
  };
  return {
    now: () => time,
    random: () => 0,
    after(ms, then) {
      const alarm = (): void => then();
      alarms.set(alarm, time + ms);
      setImmediate(ring);
      return () => void alarms.delete(alarm);
    },
  };
}
