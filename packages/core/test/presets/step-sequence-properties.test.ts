// The step sequence beside its description: for any answers, what is pulled, asked and thrown is what the tables say.

import { type EndReason, type StopKind, type Tool, tool } from "@rondo/core";
import { call, say, stop, type Turn } from "@rondo/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { pulled, sequence } from "./step-sequence-support.ts";

interface Said {
  text: string;
  calls: { name: string; n: number }[];
  wire: StopKind;
}

interface Options {
  withTools: boolean;
  withOutput: boolean;
  maxSteps: number;
  maxDuplicateToolCalls: number;
  maxToolCallsPerTool: number | null;
  maxDecodeRetries: number;
  autoExecuteTools: boolean;
}

interface Told {
  steps: string[];
  /** `tools` and `schema`, of each request. */
  asked: [boolean, boolean][];
  end: string;
}

const value = '{"ok":true}';
const output = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] } as const;

type Decided = "tools" | { text: string } | { ends: EndReason };

/** B4.24 to B4.28. */
function decided({ text, calls, wire }: Said): Decided {
  const tools = calls.length > 0 ? ("tools" as const) : undefined;
  const said = text === "" ? undefined : { text };
  switch (wire) {
    case "tool_use":
      return tools ?? { ends: "unexpected_stop" };
    case "end_turn":
      return tools ?? said ?? { ends: "completed" };
    case "max_tokens":
      return said ?? { ends: "unexpected_stop" };
    case "stop_sequence":
      return said ?? { ends: "completed" };
    default:
      return tools ?? said ?? { ends: "empty_response" };
  }
}

/** B5.31 to B5.33: the calls that ran before this answer count, those of it do not. */
function oneTooMany(calls: Said["calls"], ran: readonly Said["calls"][number][], options: Options): Decided {
  for (const { name, n } of calls) {
    const named = ran.filter((one) => one.name === name);
    if (named.length >= (options.maxToolCallsPerTool ?? Number.POSITIVE_INFINITY))
      return { ends: "tool_call_limit" };
    if (named.filter((one) => one.n === n).length >= options.maxDuplicateToolCalls)
      return { ends: "duplicate_call" };
  }
  return "tools";
}

const resultOf = ({ name, n }: Said["calls"][number]): string =>
  name === "nope" ? "Error: Tool not found: nope" : n === 9 ? "Error: boom" : `${name} ${n}`;

/** B2.9 to B3.21, written down once more. */
function described(answers: readonly Said[], options: Options): Told {
  const told: Told = { steps: [], asked: [], end: "" };
  const ran: Said["calls"] = [];
  let attempts: number | undefined;
  for (const said of answers) {
    if (told.asked.length >= options.maxSteps) return { ...told, end: "maxStepsExceeded" };
    const tools = options.withTools && attempts === undefined;
    told.asked.push([tools, options.withOutput && !tools]);
    const first = decided(said);
    const next = first === "tools" ? oneTooMany(said.calls, ran, options) : first;
    if (next === "tools") {
      if (!options.autoExecuteTools) return { ...told, end: "requires_action" };
      ran.push(...said.calls);
      told.steps.push(
        ...said.calls.flatMap((one) => [`call ${one.name}`, `result ${one.name}: ${resultOf(one)}`]),
      );
    } else if ("ends" in next) return { ...told, end: next.ends };
    else if (options.withOutput && tools) {
      attempts = 0;
      told.steps.push(`thinking ${said.text}`);
    } else if (!options.withOutput || next.text === value) {
      told.steps.push(`final ${next.text}`);
      return { ...told, end: "completed" };
    } else if (attempts !== undefined && attempts < options.maxDecodeRetries) {
      attempts += 1;
      told.steps.push(`thinking ${said.text}`);
    } else return { ...told, end: "outputDecodingFailed" };
  }
  return told;
}

const named = (name: string): Tool =>
  tool({
    name,
    description: name,
    inputSchema: { type: "object", properties: { n: { type: "number" } } },
    effect: "read",
    execute: ({ n }) => {
      if (n === 9) throw new Error("boom");
      return `${name} ${String(n)}`;
    },
  });

const turnOf = ({ text, calls, wire }: Said): Turn => [
  ...(text === "" ? [] : [say(text)]),
  ...calls.map(({ name, n }) => call(name, { n })),
  stop(wire),
];

test("B2.9 B4.25 B5.31 any answers give the steps, requests and end that the description gives them", async () => {
  const calls = fc.record({
    name: fc.constantFrom("look", "look", "touch", "nope"),
    n: fc.constantFrom(1, 1, 2, 9),
  });
  const wires: StopKind[] = ["end_turn", "tool_use", "tool_use", "max_tokens", "stop_sequence", "unknown"];
  const said: fc.Arbitrary<Said> = fc.record({
    text: fc.constantFrom("", "so", "so", value, "{}"),
    calls: fc.array(calls, { maxLength: 2 }),
    wire: fc.constantFrom(...wires),
  });
  const options = fc.record({
    withTools: fc.boolean(),
    withOutput: fc.boolean(),
    maxSteps: fc.integer({ min: 0, max: 6 }),
    maxDuplicateToolCalls: fc.integer({ min: 1, max: 3 }),
    maxToolCallsPerTool: fc.constantFrom(null, 1, 2, 5),
    maxDecodeRetries: fc.integer({ min: 0, max: 2 }),
    autoExecuteTools: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(said, { minLength: 7, maxLength: 7 }), options, async (written, given) => {
      const { withTools, withOutput, ...rest } = given;
      const answers = withTools ? written : written.map((one) => ({ ...one, calls: [] }));
      const expected = described(answers, given);
      const { agent, model } = sequence(answers.map(turnOf), {
        ...rest,
        tools: withTools ? [named("look"), named("touch")] : [],
        ...(withOutput ? { output } : {}),
      });
      const { steps, thrown, result } = await pulled(agent);
      const asked = model.requests.map((one): [boolean, boolean] => [
        one.tools.length > 0,
        one.outputSchema !== undefined,
      ]);
      const end = (thrown as { code?: string } | undefined)?.code ?? result?.end?.reason ?? "";
      expect({ steps, asked, end }).toEqual(expected);
    }),
    { numRuns: 400 },
  );
});
