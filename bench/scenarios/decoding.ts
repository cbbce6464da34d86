// The room of decoding: what 20,000 text deltas cost from bytes to events, without a network, with the same chunks for all.
//
// The floor reads as the hand-written loop does: TextDecoder, split at blank lines, JSON.parse, append the text.

import { Agent } from "@rondo/core";
import type { HttpClient } from "@rondo/models";
import { splitter } from "../by-hand.ts";
import { heardByAgent, heardByCall } from "../heard.ts";
import { type Figure, measure } from "../measure.ts";
import { type Protocol, protocols } from "../protocols.ts";
import type { Scenario } from "../scenario.ts";
import { writesOf } from "../server.ts";

const deltas = 20_000;

/** A client with a prepared answer. */
function replay(chunks: readonly Uint8Array[]): HttpClient {
  return {
    request: () =>
      Promise.resolve({
        status: 200,
        header: () => null,
        read(sink) {
          for (const chunk of chunks) if (sink(chunk) === false) break;
          return Promise.resolve();
        },
        discard() {},
      }),
  };
}

function byHand(protocol: Protocol, chunks: readonly Uint8Array[]): number {
  const utf8 = new TextDecoder();
  const feed = splitter(protocol);
  for (const chunk of chunks) feed(utf8.decode(chunk, { stream: true }));
  return feed("").length;
}

export const decoding: Scenario = {
  about: `${deltas} text deltas from bytes to events, no network; in units of TextDecoder, split and JSON.parse by hand`,
  unit: "delta",
  rounds: 5,
  async *run(rounds): AsyncGenerator<Figure[]> {
    for (const [name, protocol] of Object.entries(protocols))
      for (const perWrite of [1, 50]) {
        const utf8 = new TextEncoder();
        const chunks = writesOf({ protocol: name, deltas, perWrite }).map((text) => utf8.encode(text));
        const model = protocol.model({ baseURL: "http://localhost", http: replay(chunks), headers: {} });
        const agent = new Agent({ model });
        yield await measure(
          {
            title: `${name}, ${perWrite} a chunk`,
            floor: "by hand",
            per: deltas,
            subjects: {
              "by hand": () => Promise.resolve(byHand(protocol, chunks)),
              "Model.call": () => heardByCall(model),
              "Agent.stream": () => heardByAgent(agent),
            },
          },
          rounds,
        );
      }
  },
};
