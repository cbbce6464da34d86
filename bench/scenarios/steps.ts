// The room of growing histories: one request per step, each longer by an answer of ten deltas and a message of 400 characters.

import { type Message, type Model, userText } from "@rondo/core";
import { fetchClient, type HttpClient, nodeClient } from "@rondo/models";
import { type Ask, byFetch, byNode } from "../by-hand.ts";
import { type Figure, measure, type Subject } from "../measure.ts";
import { type Protocol, protocols } from "../protocols.ts";
import type { Scenario } from "../scenario.ts";
import { startServer } from "../server.ts";

const more = "x".repeat(400);

async function byHand(
  protocol: Protocol,
  ask: Ask,
  headers: Record<string, string>,
  steps: number,
): Promise<number> {
  const messages = [{ role: "user", content: "hi" }];
  let length = 0;
  for (let step = 0; step < steps; step += 1) {
    const text = await ask(protocol, headers, protocol.body(messages));
    length += text.length;
    messages.push({ role: "assistant", content: text }, { role: "user", content: more });
  }
  return length;
}

async function ours(model: Model, steps: number): Promise<number> {
  const messages: Message[] = [userText("hi")];
  const { signal } = new AbortController();
  let length = 0;
  const emit = (event: { type: string; text?: string }): void => {
    if (event.type === "text_delta") length += event.text?.length ?? 0;
  };
  for (let step = 0; step < steps; step += 1) {
    const request = { messages, tools: [], toolChoice: "auto" as const, settings: {} };
    messages.push(await model.call(request, { signal, emit }), userText(more));
  }
  return length;
}

function subjectsOf(url: string, name: string, steps: number): Record<string, Subject> {
  const protocol = protocols[name];
  if (protocol === undefined) throw new Error(`there is no protocol ${name}`);
  const headers = { "x-bench": JSON.stringify({ protocol: name, deltas: 10, perWrite: 10 }) };
  const [fetched, node] = [byFetch(url), byNode(url)];
  // A new model each time: what it caches of messages must be built up in the run.
  const model = (http: HttpClient): Model => protocol.model({ baseURL: url, http, headers });
  const [portable, own] = [fetchClient(), nodeClient()];
  return {
    "fetch by hand": () => byHand(protocol, fetched, headers, steps),
    "node:http by hand": () => byHand(protocol, node, headers, steps),
    "Rondo over fetch": () => ours(model(portable), steps),
    "Rondo over node:http": () => ours(model(own), steps),
  };
}

export const steps: Scenario = {
  about: "requests with a growing history, answers of ten deltas; in units of a fetch loop written by hand",
  unit: "step",
  rounds: 3,
  async *run(rounds): AsyncGenerator<Figure[]> {
    const server = await startServer();
    try {
      for (const name of ["openai-chat", "anthropic-messages"])
        for (const count of [50, 400])
          yield await measure(
            {
              title: `${name}, ${count} steps`,
              floor: "fetch by hand",
              per: count,
              subjects: subjectsOf(server.url, name, count),
            },
            rounds,
          );
    } finally {
      await server.close();
    }
  },
};
