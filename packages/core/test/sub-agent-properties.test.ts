// What sub-agents are given, as a property of the pure loop: whatever the world answers, never more than there is.

import { type Amounts, freeAmounts, resolve, spentBy } from "@rondo/core";
import { scripted } from "@rondo/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkedOptions, parentOptions } from "../../testkit/src/modelcheck/checked-options.ts";
import type { Subject } from "../../testkit/src/modelcheck/explore.ts";
import { walk } from "../../testkit/src/modelcheck/walk.ts";

const names = ["tokens", "usd", "modelCalls", "agents"] as const;
const anyChoices = fc.array(fc.nat(999), { minLength: 10, maxLength: 120 });

test("sub-agents never get more than their parent has left, however many there are, and whatever crashes", () => {
  let begun = 0;
  let together = 0;
  fc.assert(
    fc.property(
      anyChoices,
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 2, max: 12 }),
      fc.nat(5),
      (choices, tokens, modelCalls, maxSubAgents) => {
        const { rules } = resolve({
          model: scripted([]),
          maxSteps: 6,
          budget: { tokens, modelCalls },
          maxSubAgents,
          repeats: null,
        });
        const options = checkedOptions({ ...parentOptions(), toolOrder: "parallel", maxConcurrentTools: 3 });
        const fuel = { abort: 1, steer: 1, followUp: 0, crash: 2 };
        const subject: Subject = { name: "given", options, rules, fuel };
        const { decisions, states, records } = walk(subject, choices);
        for (const { after, action } of decisions) {
          const state = states[after];
          if (action.do !== "start_tools" || action.reserved === undefined || state === undefined) continue;
          const calls = state.run?.turn?.calls ?? [];
          const fresh = action.calls.filter((key) =>
            calls.some(
              (call) => call.key === key && call.tool?.agent !== undefined && call.child === undefined,
            ),
          );
          const free = freeAmounts(state, rules);
          for (const name of names) {
            const sum = fresh.reduce(
              (all, key) => all + (action.reserved?.[key]?.[name] ?? 0) + (name === "agents" ? 1 : 0),
              0,
            );
            const there = free[name];
            if (there !== undefined) expect(sum).toBeLessThanOrEqual(there);
          }
          for (const key of fresh) expect(action.reserved[key]?.modelCalls).toBeGreaterThanOrEqual(1);
          begun += fresh.length;
          together += fresh.length > 1 ? 1 : 0;
        }
        // A child that goes on after a crash has what it was first given.
        const given = new Map<string, Amounts | undefined>();
        for (const record of records) {
          if (record.type !== "tool_started" || record.child === undefined) continue;
          if (given.has(record.call)) expect(record.reserved).toEqual(given.get(record.call));
          given.set(record.call, record.reserved);
        }
        const last = states.at(-1);
        if (last?.run !== undefined) expect(given.size).toBeLessThanOrEqual(maxSubAgents);
      },
    ),
    { numRuns: 1000 },
  );
  expect(begun).toBeGreaterThan(100);
  expect(together).toBeGreaterThan(5);
});

test("what sub-agents spent is counted once, whenever and however often they park", () => {
  fc.assert(
    fc.property(anyChoices, (choices) => {
      const { rules } = resolve({ model: scripted([]), maxSteps: 6, repeats: null });
      const options = checkedOptions(parentOptions());
      const fuel = { abort: 1, steer: 0, followUp: 0, crash: 2 };
      const { records, states } = walk({ name: "counted", options, rules, fuel }, choices);
      let tokens = 0;
      for (const [at, record] of records.entries()) {
        const before = states[at]?.run;
        const call =
          "call" in record ? before?.turn?.calls.find((one) => one.key === record.call) : undefined;
        const isOpen = call !== undefined && call.result === undefined;
        if (record.type === "model_finished" || record.type === "model_failed") {
          const usage = record.type === "model_finished" ? record.message.usage : record.usage;
          if (before?.call !== undefined) tokens += (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
        }
        if (record.type === "tool_finished" && isOpen) tokens += record.result.spent?.tokens ?? 0;
        if (record.type === "child_waits" && isOpen && record.parked) tokens += record.spent?.tokens ?? 0;
        if (record.type === "late_result") tokens += record.result?.spent?.tokens ?? 0;
        const after = states[at + 1];
        if (after?.run !== undefined) expect(spentBy(after).tokens).toBe(tokens);
      }
    }),
    { numRuns: 300 },
  );
});
