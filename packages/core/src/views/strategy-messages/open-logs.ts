// The room of the strategy's open logs: each is emitted when it starts, and again under the same id when it is finished.

import type { JsonObject } from "../../message.ts";
import type { StrategyMessage } from "./message.ts";

export interface OpenLog {
  readonly id: string;
  readonly label: string;
  /** The id of its parent log. */
  readonly parent?: string;
  /** In seconds since 1970. */
  readonly startedAt: number;
  /** Who did the work. Empty: nobody is named. */
  provider: string;
}

export class OpenLogs {
  readonly #push: (message: StrategyMessage) => void;
  readonly #now: () => number;
  #count = 0;

  /** @param now in seconds since 1970 */
  constructor(push: (message: StrategyMessage) => void, now: () => number) {
    this.#push = push;
    this.#now = now;
  }

  start(
    label: string,
    of: { readonly parent?: string | undefined; readonly provider?: string; readonly at?: number } = {},
  ): OpenLog {
    const { parent, provider = "", at = this.#now() } = of;
    this.#count += 1;
    const id = `log-${this.#count}`;
    this.#push({
      type: "log",
      id,
      label,
      ...(parent === undefined ? {} : { parent_id: parent }),
      status: "start",
      data: {},
      metadata: { started_at: at, ...(provider === "" ? {} : { provider }) },
    });
    return { id, label, ...(parent === undefined ? {} : { parent }), startedAt: at, provider };
  }

  /** @param how with an `error`: it failed */
  finish(
    { id, label, parent, startedAt, provider }: OpenLog,
    how: {
      readonly data?: JsonObject;
      readonly figures?: JsonObject;
      readonly at?: number;
      readonly error?: string | undefined;
    },
  ): void {
    const { data = {}, figures = {}, at = this.#now(), error } = how;
    this.#push({
      type: "log",
      id,
      label,
      ...(parent === undefined ? {} : { parent_id: parent }),
      status: error === undefined ? "success" : "error",
      data,
      metadata: {
        started_at: startedAt,
        finished_at: at,
        elapsed_time: Math.max(0, at - startedAt),
        provider,
        ...figures,
      },
      ...(error === undefined ? {} : { error }),
    });
  }
}
