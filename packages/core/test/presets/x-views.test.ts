// One run, seen from everywhere: what it resolves with, its events, and each view of them say the same (property).

import {
  type CallView,
  callsOf,
  memoryJournal,
  type RondoEvent,
  type RunResult,
  type StepEvent,
  stripThoughts,
  textOf,
} from "@rondo/core";
import {
  type AgentEvent,
  agentEvents,
  type StrategyMessage,
  strategyMessages,
  trace,
  usageSummary,
} from "@rondo/core/presets";
import { badArgs, call, fail, say, stop, type Turn, think, usage } from "@rondo/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { agentOf, systemNames } from "./systems.ts";

const failing = fail("server_error");
const name = fc.constantFrom("look", "boom", "look", "nope");
const anyCall = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(name, fc.integer({ min: 0, max: 4 })).map(([tool, at]) => call(tool, { at })),
  },
  { weight: 1, arbitrary: name.map((tool) => badArgs(tool, "{")) },
);
const anyTurn: fc.Arbitrary<Turn> = fc
  .record({
    thought: fc.constantFrom("", "hm"),
    text: fc.constantFrom("", "one", "two words", "three\nlines\nof it"),
    list: fc.array(anyCall, { maxLength: 3 }),
    end: fc.constantFrom(undefined, undefined, undefined, stop("end_turn"), stop("max_tokens"), failing),
    count: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
    chunk: fc.constantFrom(1, 3, 100),
  })
  .map(({ thought, text, list, end, count, chunk }) => [
    ...(thought === "" ? [] : [think(thought, { chunk })]),
    ...(text === "" ? [] : [say(text, { chunk })]),
    ...list,
    // What a failed attempt cost is the run's and the journal's to know: there is no event of an answer to tell it.
    ...(count === undefined || end === failing ? [] : [usage({ inputTokens: count, outputTokens: 2 })]),
    ...(end === undefined ? [] : [end]),
  ]);

async function* replayed(events: readonly RondoEvent[]): AsyncGenerator<RondoEvent, void, undefined> {
  yield* events;
}

/** A text without what differs by design: how parts are joined, and what stands around them. */
const bare = (text: string): string => text.replaceAll(/\s+/g, "");

type Told = readonly [tool: string, id: string, result: string, isError: boolean];
type Ended = RondoEvent & { type: "tool_end" };

const resultText = (content: readonly { type: string; text?: string }[]): string =>
  content.map((part) => part.text ?? "").join("");
const place = (call: CallView): number => {
  const [seq, at] = call.key.split(".");
  return Number(seq) * 1_000 + Number(at);
};

/** Calls with their results in the order the model wrote them, without those that never came to their turn. */
function callsIn(events: readonly RondoEvent[]): Told[] {
  const ended = events.filter((event): event is Ended => event.type === "tool_end");
  return ended
    .filter(({ code }) => code !== "not_executed" && code !== "skipped")
    .sort((one, other) => place(one.call) - place(other.call))
    .map(({ call: { name, id }, content, isError }) => [name, id, resultText(content), isError]);
}

function callsOfSteps(steps: readonly StepEvent[]): Told[] {
  return steps.flatMap((step, at): Told[] => {
    if (step.type !== "tool_result" || step.code === "skipped") return [];
    expect(steps[at - 1]).toEqual({ type: "tool_call", call: step.call });
    return [[step.call.name, step.call.id, resultText(step.content), step.isError]];
  });
}

function callsOfAgentEvents(told: readonly AgentEvent[]): Told[] {
  return told.flatMap((event): Told[] =>
    event.type === "tool_result"
      ? [[event.tool, event.tool_call_id, event.result, event.is_error ?? false]]
      : [],
  );
}

/** Names, ids and results as the logs of the strategy view have them. */
function callsOfStrategy(messages: readonly StrategyMessage[]): [string, string, string][] {
  return messages.flatMap((message): [string, string, string][] => {
    if (message.type !== "log" || message.status === "start" || !message.label.startsWith("CALL ")) return [];
    const { tool_call_id: id, tool_response: text } = message.data.output as Record<string, string>;
    return [[message.label.slice(5), String(id), String(text)]];
  });
}

test("run(), the events and every view of one run agree on text, calls, order and usage", async () => {
  let [completed, called, failed] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...systemNames),
      fc.array(anyTurn, { maxLength: 5 }),
      fc.boolean(),
      async (system, script, retries) => {
        const journal = memoryJournal();
        const { agent } = agentOf(system, [...script, say("the end")], {
          retry: retries ? { baseMs: 0, capMs: 0, attempts: 2 } : null,
          journal,
        });
        const events: RondoEvent[] = [];
        const lines: string[] = [];
        const tracing = trace({ to: (line) => lines.push(line), colors: false });
        const pulled = agent.steps("go", {
          session: "s",
          onEvent: (event) => {
            events.push(event);
            tracing(event);
          },
        });
        const steps: StepEvent[] = [];
        let thrown: unknown;
        try {
          for await (const step of pulled) steps.push(step);
        } catch (error) {
          thrown = error;
        }
        const session = await agent.open("s");
        const result = session.result as RunResult;
        const over = events.at(-1);
        if (over?.type !== "run_end") throw new Error("the last event is not the end");
        const { end } = over;

        // run() and its events.
        expect([over.text, end]).toEqual([result.text, result.end]);
        const rejected = await pulled.result.then(
          () => false,
          () => true,
        );
        expect([rejected, thrown !== undefined]).toEqual([rejected, rejected]);
        const answers = events.flatMap((event) => (event.type === "message" ? [event.message] : []));
        const stored = result.messages.filter((message) => message.role === "assistant");
        // What is stored was told, in that order.
        let from = 0;
        for (const message of stored) {
          const at = answers.findIndex(
            (told, index) =>
              index >= from &&
              textOf(told) === textOf(message) &&
              callsOf(told).length === callsOf(message).length,
          );
          expect(at).toBeGreaterThanOrEqual(from);
          from = at + 1;
        }

        // Agent events.
        const agentTold: AgentEvent[] = [];
        let broke: Error | undefined;
        try {
          for await (const event of agentEvents(replayed(events))) agentTold.push(event);
        } catch (error) {
          broke = error as Error;
        }
        const final = agentTold.find((event) => event.type === "final");
        expect(broke?.message).toBe(end.landed ? undefined : end.error?.message);
        if (final?.type === "final") expect(bare(final.content)).toBe(bare(result.text));

        // Strategy messages.
        const strategy: StrategyMessage[] = [];
        for await (const message of strategyMessages(replayed(events))) strategy.push(message);
        const shown = strategy.map((message) => (message.type === "text" ? message.text : "")).join("");

        // Text.
        const last = steps.at(-1);
        // A policy may end a run without an answer and call that completed, too.
        if (end.rule === "answer") {
          completed += 1;
          expect(last).toMatchObject({ type: "final_response", text: result.text });
          expect(bare(stripThoughts(shown)).endsWith(bare(result.text))).toBe(true);
          const ending = lines.filter((line) => line.startsWith("[THINK] Text: ")).at(-1) ?? "";
          const traced = lines.slice(lines.indexOf(ending)).join("\n");
          if (result.text !== "") expect(bare(traced)).toContain(bare(result.text));
        } else if (!end.landed) expect(last?.type).not.toBe("final_response");

        // Calls, their results and their order.
        const calls = callsIn(events);
        called += calls.length;
        failed += Number(end.reason === "error");
        expect(callsOfSteps(steps)).toEqual(calls);
        // Of a last turn without tools that view tells the text alone, whatever the model wrote (D6.31).
        const refused = new Set(
          events.flatMap((event) =>
            end.landed && event.type === "tool_end" && event.code === "limit" ? [event.call.id] : [],
          ),
        );
        expect(callsOfAgentEvents(agentTold)).toEqual(calls.filter(([, id]) => !refused.has(id)));
        const every = new Set(calls.map(([, id]) => id));
        const inHistory = result.messages.flatMap((message) =>
          message.role === "tool" && every.has(message.callId)
            ? [[message.name, message.callId, textOf(message), message.isError]]
            : [],
        );
        expect(inHistory).toEqual(calls);
        expect(callsOfStrategy(strategy).filter(([, id]) => every.has(id))).toEqual(
          calls.map(([tool, id, text]) => [tool, id, text]),
        );
        const acts = lines.flatMap((line) => (line.startsWith("[ACT] Tool ID: ") ? [line.slice(15)] : []));
        expect(acts.filter((id) => every.has(id))).toEqual(calls.map(([, id]) => id));

        // Usage.
        const sum = (of: "inputTokens" | "outputTokens"): number =>
          answers.reduce((total, { usage: spent }) => total + (spent?.[of] ?? 0), 0);
        expect([result.usage.inputTokens ?? 0, result.usage.outputTokens ?? 0]).toEqual([
          sum("inputTokens"),
          sum("outputTokens"),
        ]);
        const told = events.flatMap((event) =>
          event.type === "step_end" ? [event.usage?.inputTokens ?? 0] : [],
        );
        expect(told.reduce((total, tokens) => total + tokens, 0)).toBe(sum("inputTokens"));
        const bill = strategy.at(-1);
        if (bill?.type !== "json") throw new Error("the bill is not the last message");
        expect(bill.json.execution_metadata).toMatchObject({
          prompt_tokens: sum("inputTokens"),
          completion_tokens: sum("outputTokens"),
        });
        const summary = usageSummary(await journal.read("s"));
        expect([summary.input_tokens, summary.output_tokens]).toEqual([
          sum("inputTokens"),
          sum("outputTokens"),
        ]);
      },
    ),
    { numRuns: 300 },
  );
  expect(Math.min(completed, called, failed)).toBeGreaterThan(10);
});
