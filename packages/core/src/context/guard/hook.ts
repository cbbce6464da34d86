// The room of the guard as a hook: for users who run it with their own `transformContext`.

import { RondoError } from "../../errors.ts";
import type { Hooks } from "../../hooks.ts";
import type { Message } from "../../message.ts";
import { charEstimator, guardWeights } from "../estimate.ts";
import { type GuardOptions, guard } from "../guard.ts";
import { routeOf } from "./route.ts";
import { reducibleChars } from "./shorten.ts";

export type TransformContext = NonNullable<Hooks["transformContext"]>;

export interface GuardHookOptions extends GuardOptions {
  /** The model's window, in tokens. */
  contextWindow: number;
  /** Also find a route before the hard limit is reached, keeping so many tokens free for the answer. Default: no. */
  precheck?: { reserve: number };
}

/** A guarded `transformContext`. */
export interface GuardedContext extends TransformContext {
  /** Removes the guard. Returns the inner hook, if there is one. */
  uninstall(): TransformContext | undefined;
}

/**
 * A `transformContext` hook that first runs another one, if there is one, and then the guard. It throws `context_overflow`
 * if the messages do not fit; the error of a precheck has the route as `raw`.
 */
export function guardedContext(options: GuardHookOptions, inner?: TransformContext): GuardedContext {
  const { contextWindow, precheck } = options;
  const transform: TransformContext = async (given, at) => {
    const messages = (await inner?.(given, at)) ?? given;
    const guarded = guard(messages, options, { contextWindow });
    const fitting = [...guarded.messages];
    if (precheck !== undefined && fitting.at(-1)?.role === "tool") {
      const tokens = fitting.reduce((sum, message) => sum + estimator.message(message), 0);
      const { error, ...route } = routeOf({
        tokens,
        window: contextWindow,
        reserve: precheck.reserve,
        reducible: reducibleChars(fitting),
        messages: messages.length,
      });
      if (error !== undefined) throw new RondoError("context_overflow", error, { raw: { ...route } });
    }
    if (guarded.overflow !== undefined) throw new RondoError("context_overflow", guarded.overflow);
    return guarded.edits.length === 0 ? (messages as Message[]) : fitting;
  };
  return Object.assign(transform, { uninstall: () => inner });
}

const estimator = charEstimator(guardWeights);
