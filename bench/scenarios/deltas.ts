// The room of deltas: what 20,000 text deltas cost from socket to listener, per protocol, over a real server.
//
// The floor is a hand-written fetch loop. The model's own call is measured over both of our HTTP clients, and the whole
// path (loop, events, stream) as Agent.stream.

import { Agent, type Model } from "@rondo/core";
import { fetchClient, type HttpClient, nodeClient } from "@rondo/models";
import { type Ask, byFetch, byNode } from "../by-hand.ts";
import { heardByAgent, heardByCall } from "../heard.ts";
import { type Figure, measure, type Subject } from "../measure.ts";
import { protocols } from "../protocols.ts";
import type { Scenario } from "../scenario.ts";
import { startServer, type Wish } from "../server.ts";

const count = 20_000;

function subjectsOf(url: string, wish: Wish): Record<string, Subject> {
  const protocol = protocols[wish.protocol];
  if (protocol === undefined) throw new Error(`there is no protocol ${wish.protocol}`);
  const headers = { "x-bench": JSON.stringify(wish) };
  const body = protocol.body([{ role: "user", content: "hi" }]);
  const byHand = (ask: Ask) => async () => (await ask(protocol, headers, body)).length;
  const model = (http: HttpClient): Model => protocol.model({ baseURL: url, http, headers });
  const [portable, node] = [model(fetchClient()), model(nodeClient())];
  const agent = new Agent({ model: node });
  return {
    "fetch by hand": byHand(byFetch(url)),
    "node:http by hand": byHand(byNode(url)),
    "Rondo over fetch": () => heardByCall(portable),
    "Rondo over node:http": () => heardByCall(node),
    "Agent.stream, node:http": () => heardByAgent(agent),
  };
}

export const deltas: Scenario = {
  about: `${count} text deltas from the socket to the listener; in units of a fetch loop written by hand`,
  unit: "delta",
  rounds: 5,
  async *run(rounds): AsyncGenerator<Figure[]> {
    const server = await startServer();
    try {
      for (const protocol of Object.keys(protocols))
        for (const perWrite of [1, 50])
          yield await measure(
            {
              title: `${protocol}, ${perWrite} a write`,
              floor: "fetch by hand",
              per: count,
              subjects: subjectsOf(server.url, { protocol, deltas: count, perWrite }),
            },
            rounds,
          );
    } finally {
      await server.close();
    }
  },
};
