// The room of words that the lines of several records share.

import type { Amounts, CallKey, CallResult, ErrorData, JsonObject, LogRecord, State } from "@rondo/core";
import { ruleText } from "../console/shorten.ts";
import { spanText } from "./usage.ts";

export type RecordOf<Type extends LogRecord["type"]> = LogRecord & { type: Type };

/** Amounts in words; a deadline is relative to `at`. */
export function amountsText({ until, usd, ...rest }: Amounts, at: number): string {
  const names = { tokens: "tokens", modelCalls: "model calls", agents: "sub-agents" };
  return [
    ...Object.entries(rest).map(([name, amount]) => `${amount} ${names[name as keyof typeof rest]}`),
    ...(usd === undefined ? [] : [`$${usd}`]),
    ...(until === undefined ? [] : [`${until - at} ms`]),
  ].join(", ");
}

export const attemptText = (attempt: number): string => (attempt === 1 ? "" : `, attempt ${attempt}`);

export const doneText = ({ done }: CallResult): string | undefined => (done ? "ends the run" : undefined);

export const byText = ({ by }: { by?: string }): string => (by === undefined ? "" : ` by ${by}`);

export const because = (decided: { rule: string; evidence: JsonObject }): string => ` (${ruleText(decided)})`;

export const errorText = ({ kind, message, status }: ErrorData): string =>
  `${kind}${status === undefined ? "" : ` ${status}`}: ${message}`;

export const since = (start: number | undefined, at: number): string =>
  start === undefined ? "" : `, ${spanText(at - start)}`;

export function called(state: State, key: CallKey | string): string {
  const name = state.run?.turn?.calls.find((call) => call.key === key)?.name;
  return name === undefined ? key : `${key} ${name}`;
}
