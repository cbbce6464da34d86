// What a compaction asks for, and what it leaves, is taken by every provider as strictly as it reads.

import {
  applyEdit,
  assemble,
  type CompactionSettings,
  compactionSettings,
  emptyLedger,
  type Message,
  type ModelRequest,
  type Part,
  planCompaction,
  summaryRequest,
  type ToolDefinition,
  userText,
} from "@rondo/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Provider, problemsIn, providers } from "./accepting.ts";

const look: ToolDefinition = {
  name: "look",
  description: "Looks.",
  inputSchema: { type: "object", properties: { at: { type: "string" } } },
};

const text = fc.constantFrom("hello", "find it", "ünï😀", "d".repeat(3000), "[tool output trimmed; ref=o1]");
const turns = fc.array(
  fc.record({
    asked: fc.option(text, { nil: undefined }),
    said: fc.option(text, { nil: undefined }),
    results: fc.array(text, { maxLength: 3 }),
    thinks: fc.boolean(),
  }),
  { minLength: 2, maxLength: 8 },
);

/** A conversation with this provider as it would be stored, what only the provider understands among it. */
function conversation(name: string, rows: typeof turns extends fc.Arbitrary<infer T> ? T : never): Message[] {
  const { codec, model } = providers[name] as Provider;
  const origin = { api: codec.api, provider: name, model };
  const signed = { signature: "c2ln", thoughtSignature: "c2ln" };
  return rows.flatMap(({ asked, said, results, thinks }, row): Message[] => {
    const calls = results.map(
      (_, at): Part => ({
        type: "tool_call",
        id: `call_${row}_${at}`,
        name: "look",
        args: { at: "x" },
        rawArgs: '{"at":"x"}',
        ...(name === "google" ? { opaque: { thoughtSignature: "c2ln" } } : {}),
      }),
    );
    const kind = calls.length > 0 ? "tool_use" : "end_turn";
    const content: Part[] = [
      ...(thinks && name === "anthropic" ? [{ type: "reasoning" as const, text: "hm", opaque: signed }] : []),
      ...(said === undefined && calls.length > 0 ? [] : [{ type: "text" as const, text: said ?? "well" }]),
      ...calls,
    ];
    return [
      ...(row === 0 || asked !== undefined ? [userText(`${asked ?? "start"} ${row}`)] : []),
      { role: "assistant", content, origin, stop: { kind, wire: kind } },
      ...results.map(
        (result, at): Message => ({
          role: "tool",
          callId: `call_${row}_${at}`,
          name: "look",
          content: [{ type: "text", text: result }],
          isError: false,
        }),
      ),
    ];
  });
}

const formats: CompactionSettings[] = [
  compactionSettings(),
  compactionSettings({ keepShare: 0 }),
  compactionSettings({ format: "tagged" }),
  compactionSettings({ format: "tagged", keepTask: true, keepTurns: 2 }),
  compactionSettings({ format: "tagged", form: "plain" }),
];
const estimator = (message: Message): number => Math.ceil(JSON.stringify(message.content).length / 4);
const reply =
  "<retain>keep ref=o9</retain><summary>what happened so far, in short</summary><left>- rest</left>";

describe.each(Object.keys(providers))("for %s", (name) => {
  test("D8.41 C10.66 the summarising request, and the history after a compaction, in the middle of a turn or at its end, are accepted", () => {
    let compactions = 0;
    fc.assert(
      fc.property(turns, fc.constantFrom(...formats), fc.boolean(), (rows, settings, goesOn) => {
        const history = conversation(name, rows);
        const plan = planCompaction(history, settings, { window: 3000, estimator });
        if (plan === undefined) return;
        const answers: string[] = [];
        for (let call = 0; call < plan.calls; call += 1) {
          const request = summaryRequest(history, plan, call, answers, emptyLedger, settings);
          expect(problemsIn(name, request)).toEqual([]);
          answers.push(reply);
        }
        const made = assemble(history, plan, answers, emptyLedger, settings, estimator);
        if (!("edit" in made)) return;
        compactions += 1;
        const after = applyEdit(history, made.edit);
        // Either the model goes on with what its tools said, or the user speaks.
        const last = history.at(-1)?.role === "tool" && goesOn ? [] : [userText("and then?")];
        const request: ModelRequest = {
          messages: [...after, ...last],
          tools: [look],
          toolChoice: "auto",
          settings: {},
        };
        expect(problemsIn(name, request)).toEqual([]);
      }),
      { numRuns: 150 },
    );
    expect(compactions).toBeGreaterThan(20);
  });
});
