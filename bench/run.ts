// npm run -s bench: what the loop itself costs, in process, with a model that costs nothing.
//
// Ratios, not bounds: each row stands beside a floor measured in the same run, a plain while-loop that calls the same
// model and the same tool and keeps the messages. Nothing here fails; what is a bound is said in the docs.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import {
  Agent,
  type AssistantMessage,
  type Message,
  type Model,
  type ModelIo,
  type ModelRequest,
  maxSteps,
  tool,
  userText,
} from "@rondo/core";
import { measure, median, printTable } from "./measure.ts";

const runs = Number(process.argv[process.argv.indexOf("--runs") + 1]) || 5;
const origin = { api: "bench", provider: "bench", model: "bench" };

/** A model that calls a tool until `steps` answers were given, each with its own arguments, then answers in `deltas` pieces. */
function model(steps: number, deltas: number): Model {
  let answered = 0;
  return {
    id: "bench",
    origin,
    call(_request: ModelRequest, io: ModelIo): Promise<AssistantMessage> {
      answered += 1;
      if (answered % steps !== 0) {
        const args = { n: answered };
        const rawArgs = JSON.stringify(args);
        const part = { type: "tool_call" as const, id: `c${answered}`, name: "look", args, rawArgs };
        return Promise.resolve({
          role: "assistant",
          content: [part],
          origin,
          stop: { kind: "tool_use", wire: "tool_use" },
        });
      }
      for (let at = 0; at < deltas; at += 1) io.emit({ type: "text_delta", index: 0, text: "word " });
      const text = "word ".repeat(Math.max(1, deltas));
      return Promise.resolve({
        role: "assistant",
        content: [{ type: "text", text }],
        origin,
        stop: { kind: "end_turn", wire: "end_turn" },
      });
    },
  };
}

const look = tool({
  name: "look",
  description: "looks",
  inputSchema: { type: "object", properties: { n: { type: "number" } } },
  effect: "read",
  execute: (args) => `seen ${String(args.n)}`,
});

/** The floor: the same work in a while-loop that keeps no records, knows no rules, and stops at nothing. */
async function floor(steps: number, deltas: number): Promise<void> {
  const mind = model(steps, deltas);
  const messages: Message[] = [userText("go")];
  const list = { length: 0, at: () => undefined, [Symbol.iterator]: () => messages[Symbol.iterator]() };
  let heard = 0;
  const io: ModelIo = {
    signal: new AbortController().signal,
    emit: () => {
      heard += 1;
    },
  };
  for (;;) {
    const answer = await mind.call({ messages: list, tools: [], toolChoice: "auto", settings: {} }, io);
    messages.push(answer);
    const part = answer.content[0];
    if (part?.type !== "tool_call") {
      if (heard !== deltas) throw new Error(`heard ${heard} deltas of ${deltas}`);
      return;
    }
    const check = await look.check(part.args);
    const said = check.ok ? await look.execute(check.value as never, undefined as never) : check.error;
    messages.push({
      role: "tool",
      callId: part.id,
      name: part.name,
      content: [{ type: "text", text: String(said) }],
      isError: false,
    });
  }
}

async function rondo(steps: number, deltas: number): Promise<void> {
  const agent = new Agent({ model: model(steps, deltas), tools: [look], rules: [maxSteps(steps + 1)] });
  if (deltas === 0) {
    const { end } = await agent.run("go");
    if (end?.reason !== "completed") throw new Error(`the run ended ${String(end?.reason)}`);
    return;
  }
  let heard = 0;
  for await (const event of agent.stream("go")) if (event.type === "text_delta") heard += event.text.length;
  if (heard !== deltas * 5) throw new Error(`heard ${heard} characters of ${deltas * 5}`);
}

const micro = (value: number): string => value.toFixed(value < 10 ? 2 : 1);

const rows: string[][] = [];
for (const steps of [50, 400, 1000]) {
  // The same number of steps in all, so that the cells are equally warm.
  const times = Math.ceil(4000 / steps);
  const repeat = (one: () => Promise<void>) => async () => {
    for (let time = 0; time < times; time += 1) await one();
  };
  const ours = await measure(
    repeat(() => rondo(steps, 0)),
    runs,
  );
  const theirs = await measure(
    repeat(() => floor(steps, 0)),
    runs,
  );
  const per = times * steps;
  rows.push([
    `${steps} steps`,
    micro(ours.cpu / per),
    micro(theirs.cpu / per),
    (ours.cpu / theirs.cpu).toFixed(1),
  ]);
}
const deltas = 20_000;
const [heard, plain] = [
  await measure(() => rondo(1, deltas), runs * 3),
  await measure(() => floor(1, deltas), runs * 3),
];
rows.push([
  `${deltas} deltas`,
  micro(heard.cpu / deltas),
  micro(plain.cpu / deltas),
  (heard.cpu / plain.cpu).toFixed(1),
]);
printTable(["in process", "µs CPU each", "while-loop", "ratio"], rows);

/** Wall milliseconds of importing a module in a fresh process, inside that process. */
function importTime(specifier: string): number {
  const script = `const t = performance.now(); await import(${JSON.stringify(specifier)}); console.log(performance.now() - t);`;
  const args = [
    "--conditions=rondo-source",
    "--disable-warning=ExperimentalWarning",
    "--input-type=module",
    "-e",
    script,
  ];
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  return median(
    Array.from({ length: runs }, () =>
      Number(execFileSync(process.execPath, args, { cwd, encoding: "utf8" })),
    ),
  );
}

console.log();
printTable(
  ["import (unbuilt sources, fresh process)", "ms"],
  ["@rondo/core", "@rondo/models", "node:http"].map((name) => [name, importTime(name).toFixed(1)]),
);
