// The managed context's compaction beside its description: for any answers, counts and summaries, over several runs, every
// request and every compaction is what the rules say.

import { DoneSignal, memoryJournal, textOf } from "@rondo/core";
import { call, fail, type SeenRequest, say, scripted, type Turn, usage } from "@rondo/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isSummary } from "../context/run-support.ts";
import { doing, play } from "./managed-support.ts";

interface Said {
  text: string;
  calls: number;
  /** A last call says that all is done. */
  ends?: boolean;
  tokens: number | undefined;
}

interface World {
  answers: Said[];
  summaries: { text: string; tokens: number | undefined }[];
  runs: number;
  maxIterations: number;
  retainLastTurns: number;
}

interface Told {
  /** Each request in lines; a summary's is one word. */
  requests: string[][];
  compactions: (boolean | string)[];
}

const window = 100_000;
const landing = "In short.";
const nothingMore: Said = { text: "done", calls: 0, tokens: undefined };
const noSummary = { text: "FAILS", tokens: undefined };

const block = (text: string, name: string): string | undefined =>
  text.match(new RegExp(`<${name}>(.*?)</${name}>`, "s"))?.[1]?.trim();

/** A message: of the system's own making where it has a `memory`. */
interface Line {
  role: "user" | "assistant" | "tool";
  text: string;
  memory?: true;
}

/** D2.6 to D2.11 and D8.37 to D8.44, written down once more; and the bounds that Rondo sets to it. */
function described({ answers, summaries, runs, maxIterations, retainLastTurns }: World): Told {
  const told: Told = { requests: [], compactions: [] };
  const retained: string[] = [];
  let history: Line[] = [];
  let tokens: number | undefined;
  let asked = 0;
  let answered = 0;
  let last: { answered: number; helped: boolean; inARow: number } | undefined;
  const lines = (): string[] => history.map(({ role, text }) => `${role}: ${text}`);

  /** The last turns, of which only words stay. */
  const tail = (): Line[] => {
    const users = history.flatMap(({ role, memory }, at) => (role === "user" && !memory ? [at] : []));
    const from = retainLastTurns === 0 ? history.length : (users.at(-retainLastTurns) ?? 0);
    const kept: Line[] = [];
    for (const line of history.slice(from)) {
      if (line.memory || line.role === "tool" || line.text === "") continue;
      const before = kept.at(-1);
      if (before?.role === "assistant" && line.role === "assistant")
        kept.splice(-1, 1, { ...line, text: `${before.text}\n\n${line.text}` });
      else kept.push(line);
    }
    return kept;
  };
  const summedUp = (): boolean => {
    if (history.every(({ memory }) => memory)) return false;
    told.requests.push(["summary"]);
    const { text, tokens: counted } = summaries[asked++] ?? noSummary;
    tokens = text === noSummary.text ? undefined : counted;
    if (text === noSummary.text) return false;
    const retain = block(text, "retain") ?? "";
    const summary = block(text, "summary") ?? text.replace(/<retain>.*<\/retain>/s, "").trim();
    if (retain === "" && summary === "") return false;
    if (retain !== "" && !retained.includes(retain)) retained.push(retain);
    const memory = (kind: string, words: string): Line[] =>
      words === "" ? [] : [{ role: "user", text: `[codelia.compaction.${kind}]\n${words}`, memory: true }];
    history = [...memory("retain", retained.join("\n\n")), ...memory("summary", summary), ...tail()];
    return true;
  };
  const check = (): void => {
    if (tokens === undefined || tokens < window * 0.8) return;
    if (last !== undefined && answered - last.answered < (last.helped && last.inARow < 3 ? 1 : 5)) return;
    const inARow = last !== undefined && answered - last.answered <= 1 ? last.inARow + 1 : 1;
    const helped = summedUp();
    last = { answered, helped, inARow };
    told.compactions.push("start", helped);
  };

  for (let run = 0; run < runs; run += 1) {
    history.push({ role: "user", text: `task ${run}` });
    let goesOn = true;
    for (let left = maxIterations; left > 0 && goesOn; left -= 1) {
      told.requests.push(lines());
      const said = answers[answered - landings(told)] ?? nothingMore;
      answered += 1;
      tokens = said.tokens;
      goesOn = said.calls > 0 && !said.ends;
      if (said.text !== "" || said.calls > 0 || said.ends)
        history.push({ role: "assistant", text: said.text });
      for (let at = 0; at < said.calls; at += 1) history.push({ role: "tool", text: "seen" });
      // D2.9: no compaction.
      if (said.ends) history.push({ role: "tool", text: "Task complete" });
      else check();
    }
    if (!goesOn) continue;
    told.requests.push([...lines(), "landing"]);
    answered += 1;
    tokens = undefined;
  }
  return told;
}

const landings = ({ requests }: Told): number => requests.filter((one) => one.at(-1) === "landing").length;

const counted = (tokens: number | undefined): Turn[] =>
  tokens === undefined ? [] : [usage({ inputTokens: tokens - 1, outputTokens: 1 })];

/** A request in lines, without the word that lets every provider go on after an answer. */
function linesOf(request: SeenRequest): string[] {
  if (isSummary(request)) return ["summary"];
  const lines = request.messages.map((message) => `${message.role}: ${textOf(message)}`);
  return lines
    .filter((line) => line !== "user: Continue.")
    .map((line) => (line.startsWith("user: You are generating the final response") ? "landing" : line));
}

async function played(world: World): Promise<Told> {
  const answers = [...world.answers];
  const summaries = [...world.summaries];
  const model = scripted(
    (request) => {
      if (isSummary(request)) {
        const { text, tokens } = summaries.shift() ?? noSummary;
        return text === noSummary.text ? fail("server_error") : [say(text), ...counted(tokens)];
      }
      if (request.tools.length === 0) return say(landing);
      const { text, calls, ends, tokens } = answers.shift() ?? nothingMore;
      const looks = Array.from({ length: calls }, () => call("look"));
      const end = ends ? [call("finish")] : [];
      return [...(text === "" ? [] : [say(text)]), ...looks, ...end, ...counted(tokens)];
    },
    { facts: { contextWindow: window } },
  );
  const { maxIterations, retainLastTurns } = world;
  const managed = {
    model,
    tools: [doing("look", () => "seen"), doing("finish", () => new DoneSignal())],
    maxIterations,
    toolOutputCache: null,
    compaction: { retainLastTurns },
  };
  const agent = { journal: memoryJournal() };
  const compactions: Told["compactions"] = [];
  for (let run = 0; run < world.runs; run += 1)
    for (const event of (await play(managed, { input: `task ${run}`, agent, run: { session: "s" } })).events)
      if (event.type === "compaction_start") compactions.push("start");
      else if (event.type === "compaction_complete") compactions.push(event.compacted);
  return { requests: model.requests.map(linesOf), compactions };
}

test("D2.10 D8.37 D8.43 any answers, counts and summaries give the requests and compactions of the description", async () => {
  const tokens = fc.constantFrom(undefined, 10, 79_999, 80_000, 90_000);
  const words = [
    "<retain>R1</retain><summary>S1</summary>",
    "<retain>R2</retain>",
    "plain",
    "<summary></summary>",
  ];
  const world: fc.Arbitrary<World> = fc.record({
    answers: fc.array(
      fc.record({
        text: fc.constantFrom("", "so"),
        calls: fc.integer({ min: 0, max: 2 }),
        ends: fc.constantFrom(false, false, true),
        tokens,
      }),
      { maxLength: 8 },
    ),
    summaries: fc.array(
      fc.record({
        text: fc.constantFrom(...words, noSummary.text),
        tokens: fc.constantFrom(undefined, 5, 90_000),
      }),
      { maxLength: 5 },
    ),
    runs: fc.integer({ min: 1, max: 3 }),
    maxIterations: fc.integer({ min: 1, max: 4 }),
    retainLastTurns: fc.integer({ min: 0, max: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(world, async (given) => {
      expect(await played(given)).toEqual(described(given));
    }),
    { numRuns: 100 },
  );
});
