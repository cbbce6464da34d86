// The room of the loop's cost: in process, with a model and a tool that cost nothing.
//
// The floor is a while loop that calls the same model and tool and keeps the messages: no records, no rules,
// no limits.

import {
  Agent,
  type AssistantMessage,
  type Message,
  type Model,
  maxSteps,
  tool,
  userText,
} from "@rondo/core";
import { type Figure, measure } from "../measure.ts";
import type { Scenario } from "../scenario.ts";

const origin = { api: "bench", provider: "bench", model: "bench" };

function answer(
  content: AssistantMessage["content"],
  kind: AssistantMessage["stop"]["kind"],
): AssistantMessage {
  return { role: "assistant", content, origin, stop: { kind, wire: kind } };
}

/** A model that calls a tool in `steps` answers, each with other arguments, then answers in `deltas` pieces. */
function model(steps: number, deltas: number): Model {
  let answered = 0;
  return {
    id: "bench",
    origin,
    call(_request, io) {
      answered += 1;
      if (answered < steps) {
        const args = { n: answered };
        return Promise.resolve(
          answer(
            [
              {
                type: "tool_call",
                id: `c${answered}`,
                name: "look",
                args,
                rawArgs: JSON.stringify(args),
              },
            ],
            "tool_use",
          ),
        );
      }
      for (let at = 0; at < deltas; at += 1) io.emit({ type: "text_delta", index: 0, text: "word " });
      return Promise.resolve(
        answer([{ type: "text", text: "word ".repeat(Math.max(1, deltas)) }], "end_turn"),
      );
    },
  };
}

const look = tool({
  name: "look",
  description: "looks",
  inputSchema: { type: "object", properties: { n: { type: "number" } } },
  effect: "read",
  execute: ({ n }) => `seen ${n}`,
});

async function whileLoop(steps: number, deltas: number): Promise<string> {
  const mind = model(steps, deltas);
  const messages: Message[] = [userText("go")];
  let heard = 0;
  const io = {
    signal: new AbortController().signal,
    emit: (event: { type: string; text?: string }) => {
      heard += event.text?.length ?? 0;
    },
  };
  for (;;) {
    const said = await mind.call(
      { messages, tools: [look.definition], toolChoice: "auto", settings: {} },
      io,
    );
    messages.push(said);
    const part = said.content[0];
    if (part?.type !== "tool_call") return `${messages.length} messages, ${heard} characters`;
    const check = await look.check(part.args);
    const result = check.ok ? await look.execute(check.value as never, undefined as never) : check.error;
    messages.push({
      role: "tool",
      callId: part.id,
      name: part.name,
      content: [{ type: "text", text: String(result) }],
      isError: false,
    });
  }
}

async function ours(steps: number, deltas: number): Promise<string> {
  const agent = new Agent({ model: model(steps, deltas), tools: [look], rules: [maxSteps(steps + 1)] });
  if (deltas === 0) {
    const { end, messages } = await agent.run("go");
    return end?.reason === "completed" ? `${messages.length} messages, 0 characters` : `ended ${end?.reason}`;
  }
  let heard = 0;
  const stream = agent.stream("go");
  for await (const event of stream) if (event.type === "text_delta") heard += event.text.length;
  return `${(await stream.result).messages.length} messages, ${heard} characters`;
}

/** Repeats one thing, so that every cell is equally warm. */
function repeated(times: number, one: () => Promise<string>): () => Promise<string> {
  return async () => {
    let last = "";
    for (let time = 0; time < times; time += 1) last = await one();
    return last;
  };
}

export const loop: Scenario = {
  about:
    "what the loop costs in process, beside a while-loop with the same model and tool that costs next to nothing",
  unit: "step or delta",
  rounds: 5,
  async *run(rounds): AsyncGenerator<Figure[]> {
    for (const steps of [50, 400, 1000]) {
      const times = 4000 / steps;
      yield await measure(
        {
          title: `${steps} steps`,
          floor: "while-loop",
          per: steps * times,
          subjects: {
            "while-loop": repeated(times, () => whileLoop(steps, 0)),
            "Agent.run": repeated(times, () => ours(steps, 0)),
          },
        },
        rounds,
      );
    }
    const deltas = 20_000;
    yield await measure(
      {
        title: `${deltas} deltas`,
        floor: "while-loop",
        per: deltas,
        subjects: { "while-loop": () => whileLoop(1, deltas), "Agent.stream": () => ours(1, deltas) },
      },
      rounds * 2,
    );
  },
};
