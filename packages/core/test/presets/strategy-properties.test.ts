// The agent strategy beside its description: for any answers, what is told, logged and answered is what it says.

import { type StopKind, stripThoughts, thoughtBlock, toolIntent } from "@rondo/core";
import { badArgs, call, say, scripted, stop, type Turn } from "@rondo/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { answersOf, noting, order, play } from "./strategy-support.ts";

interface Said {
  text: string;
  calls: { name: string; q: string; raw: string | null; id: string | null }[];
  /** Text behind the calls. */
  late: string;
  wire: StopKind;
}

interface Options {
  maximumIterations: number;
  emitIntermediateThoughts: boolean;
  streams: boolean;
}

const part = (text: string): Turn => (text === "" ? [] : say(text));

const turnOf = ({ text, calls, late, wire }: Said): Turn => [
  part(text),
  ...calls.map(({ name, q, raw, id }) => {
    const options = id === null ? {} : { id };
    return raw === null ? call(name, { q }, options) : badArgs(name, raw, options);
  }),
  part(late),
  stop(wire),
];

/** E2.10, E5.24, E5.25, E5.27, E5.28. */
function answerOf(one: Said["calls"][number], round: number, max: number, failed: Set<string>): string {
  const { name, q, raw } = one;
  if (round === max && max > 1)
    return `Maximum iteration limit (${max}) reached. Cannot call tool '${name}'. Please consider increasing the iteration limit.`;
  if (raw === "[1]") return "tool arguments parse error: tool arguments must be a JSON object";
  if (raw !== null) return "tool arguments parse error: tool arguments must be valid JSON object";
  if (name === "nope") return "there is not a tool named nope";
  if (failed.has(`${name} ${q}`))
    return "tool invoke error: repeated failure detected; skipped duplicate call";
  if (q !== "boom") return `${name} ran`;
  failed.add(`${name} ${q}`);
  return "tool invoke error: failed to execute tool";
}

/** E4.18 to E4.23: the texts of an answer, before its calls run. */
function textsOf({ text, calls, late }: Said, tools: string[], last: boolean, options: Options): string[] {
  const whole = text + late;
  const written = (one: string): string[] => (one.trim() === "" ? [] : [one]);
  if (tools.length > 0 && !options.emitIntermediateThoughts && !last) return [];
  if (!options.emitIntermediateThoughts) return written(stripThoughts(whole));
  const intent = tools.length > 0 && whole.trim() === "" ? [toolIntent(tools)] : [];
  if (!options.streams) {
    const all = tools.length > 0 ? written(whole).map(thoughtBlock) : written(whole);
    return [...all, ...intent];
  }
  const live = text === "" ? [] : [text];
  const rest = calls.length > 0 && tools.length > 0 ? written(late).map(thoughtBlock) : written(late);
  return [...live, ...rest, ...intent];
}

/** E2.4 to E2.12 and E7.33, written down once more. */
function described(answers: readonly Said[], options: Options): { told: string[]; results: string[] } {
  const told: string[] = [];
  const results: string[] = [];
  const failed = new Set<string>();
  const max = options.maximumIterations;
  for (const [at, said] of answers.slice(0, max).entries()) {
    const round = at + 1;
    const calls = said.calls.filter(({ id }) => id === null);
    const names = calls.map(({ name }) => name);
    const texts = textsOf(said, names, round === max, options).map((text) => JSON.stringify(text));
    told.push(`start ROUND ${round}`, "start scripted Thought", ...texts, "finish scripted Thought");
    const came = calls.map((one) => answerOf(one, round, max, failed));
    results.push(...came);
    told.push(...names.flatMap((name) => [`start CALL ${name}`, `finish CALL ${name}`]));
    if (calls.length > 0) told.push(JSON.stringify("\n"));
    told.push(`finish ROUND ${round}`);
    if (max === 1) told.push(...came.map((text) => JSON.stringify(text)));
    if (calls.length === 0) break;
  }
  return { told: [...told, "json"], results };
}

test("E2.12 E4.21 E7.33 any answers give the texts, logs and results that the description gives them", async () => {
  const wires: StopKind[] = ["end_turn", "tool_use", "max_tokens", "stop_sequence", "unknown", "pause"];
  const calls: fc.Arbitrary<Said["calls"][number]> = fc.record({
    name: fc.constantFrom("look", "look", "draw", "nope"),
    q: fc.constantFrom("a", "boom", "boom"),
    raw: fc.constantFrom(null, null, null, null, "{", "[1]"),
    // One without an id is none.
    id: fc.constantFrom(null, null, null, " "),
  });
  const texts = fc.constantFrom("", "", "so", " <think>why</think> and", "Intent: to look", "<think>open");
  const said: fc.Arbitrary<Said> = fc.record({
    text: texts,
    calls: fc.array(calls, { maxLength: 3 }),
    late: fc.constantFrom("", "", "later"),
    wire: fc.constantFrom(...wires),
  });
  const options: fc.Arbitrary<Options> = fc.record({
    maximumIterations: fc.integer({ min: 1, max: 4 }),
    emitIntermediateThoughts: fc.boolean(),
    streams: fc.boolean(),
  });
  const tools = ["look", "draw"].map((name) =>
    noting(name, [], ({ q }) => {
      if (q === "boom") throw new Error("not to be seen");
      return `${name} ran`;
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(said, { minLength: 5, maxLength: 5 }), options, async (answers, given) => {
      const { streams, ...strategy } = given;
      const model = scripted(answers.map(turnOf));
      const features = streams ? (["stream_tool_call"] as const) : [];
      const { messages, result } = await play({ model, tools, features, ...strategy });
      expect({ told: order(messages), results: answersOf(result) }).toEqual(described(answers, given));
    }),
    { numRuns: 400 },
  );
});
