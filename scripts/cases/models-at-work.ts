// The room of a play's models: who calls, through which client, and whether a call is in progress.

import type { Model } from "@rondo/core";
import { fetchClient, type HttpClient, nodeClient } from "@rondo/models";
import type { Script } from "./script.ts";
import type { Watch } from "./watch.ts";
import type { WireServer } from "./wire-server.ts";

/** The real client, unless the case makes the network itself fail. */
export function failingClient(script: Script, server: WireServer): HttpClient {
  const real = nodeClient();
  return {
    request: (request) => {
      const wire = script.peek();
      if (wire?.transport_error === undefined && wire?.transport_throws === undefined)
        return real.request(request);
      const served = script.next({ body: undefined });
      server.exchanges.push({
        url: request.url,
        headers: { ...request.headers },
        text: request.body ?? "",
        body: JSON.parse(request.body ?? "null"),
        served,
        closedByClient: false,
        resting: true,
      });
      if (wire.transport_throws !== undefined) throw new Error(wire.transport_throws);
      const { message, cause, ...own } = wire.transport_error as { message?: string; cause?: object };
      const reason = Object.assign(new Error("cause"), cause ?? own);
      const error = Object.assign(new TypeError(message ?? "fetch failed", { cause: reason }), own);
      return fetchClient({ fetch: () => Promise.reject(error) }).request(request);
    },
  };
}

export class ModelsAtWork {
  /** Number of model calls in progress. */
  thinking = 0;
  readonly #watch: Watch;
  readonly #server: WireServer;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(watch: Watch, server: WireServer) {
    this.#watch = watch;
    this.#server = server;
  }

  /** The model, with a record of its own exchanges. */
  watched(model: Model): Model {
    const counted = this.#counted(model);
    return {
      ...counted,
      call: (request, io) => {
        this.#watch.callStarts(this.#server.exchanges.length);
        const answer = counted.call(request, io);
        const over = (): void => this.#watch.callEnds(this.#server.exchanges.length);
        answer.then(over, over);
        return answer;
      },
    };
  }

  /** The model of sub-agents. The server's tap follows one exchange at a time, so they take turns. */
  queued(model: Model): Model {
    const counted = this.#counted(model);
    return {
      ...counted,
      call: (request, io) => {
        const answer = this.#turn.then(() => counted.call(request, io));
        this.#turn = answer.catch(() => {});
        return answer;
      },
    };
  }

  /** The model, counted while it works; sub-agents' too. */
  #counted(model: Model): Model {
    return {
      id: model.id,
      origin: model.origin,
      ...(model.facts === undefined ? {} : { facts: model.facts }),
      call: (request, io) => {
        this.thinking += 1;
        const over = (): void => {
          this.thinking -= 1;
        };
        const answer = model.call(request, io);
        answer.then(over, over);
        return answer;
      },
    };
  }
}
