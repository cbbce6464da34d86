// The room of the prediction: what must come of a run, told without the loop's state, rules and table.

import type { AgentOptions } from "@rondo/core";

export type Answer =
  | ("look" | "boom" | "misfit" | "unknown" | "cut call")
  | ("text" | "json" | "output" | "bad json" | "empty" | "refuse" | "cut" | "pause")
  | ("overloaded" | "auth" | "broken");

export interface Trial {
  /** What the models answer, one after another, again and again. */
  answers: Answer[];
  tools: boolean;
  /** How a typed output is asked for; `none`: there is no schema. */
  way: "none" | "auto" | "native" | "tool" | "prompted";
  stored: boolean;
  decodeRetries: number | { afterTools: number };
  /** 0: no retries. */
  attempts: number;
  fallbacks: number;
  maxSteps: number;
  onLimit: NonNullable<AgentOptions["onLimit"]>;
  tokens: number;
  modelCalls: number;
  /** A rule asks again after every third answer without calls. */
  turnsDown: boolean;
  /** A landing's answer stays out of the history. */
  keepsOut: boolean;
}

export interface Predicted {
  reason: string;
  landed: boolean;
  /** Its end has an error. */
  failed: boolean;
  output: unknown;
  text: string;
  steps: number;
  modelCalls: number;
  toolCalls: number;
  tokens: number;
  /** A word a message: an answer's text, `call`, `result`, `go`, or that the output was `asked` for. */
  history: string[];
}

/** What each answer is told to have taken. */
export const used = { inputTokens: 10, outputTokens: 1 };
const tokensEach = used.inputTokens + used.outputTokens;

/** A value that fits the schema. */
export const numbered = (n: number): string => JSON.stringify({ n });

/** After so many calls there are only values that fit: every run comes to its end. */
const lastCall = 40;

export const kindAt = ({ answers }: Trial, n: number): Answer =>
  n > lastCall ? "json" : (answers[n % answers.length] as Answer);

const callKinds: readonly Answer[] = ["look", "boom", "misfit", "unknown", "cut call"];
const failures: readonly Answer[] = ["overloaded", "auth", "broken"];

/** The answer as the loop meets it: a call of no tool is the output, where the output is asked for as a call. */
function met(trial: Trial, n: number, asksByCall: boolean): { kind: Answer; text: string } {
  const kind = kindAt(trial, n);
  if (asksByCall && (trial.tools ? kind === "unknown" : callKinds.includes(kind)))
    return {
      kind: kind === "cut call" ? "cut" : "text",
      text: JSON.stringify({ k: kind === "misfit" ? "none" : n }),
    };
  const texts: { [kind in Answer]?: string } = {
    text: `text ${n}`,
    json: numbered(n),
    output: numbered(n),
    "bad json": '{"n":"none"}',
    cut: `cut ${n}`,
    pause: `pause ${n}`,
  };
  return { kind, text: texts[kind] ?? "" };
}

const valueIn = (text: string): unknown => {
  const found = /\{"n":\d+\}/.exec(text);
  return found === null ? undefined : (JSON.parse(found[0]) as unknown);
};

/** What must come of a run. */
export function predict(trial: Trial): Predicted {
  const { tools, way, attempts, maxSteps, onLimit, decodeRetries } = trial;
  const isTyped = way !== "none";
  const again = typeof decodeRetries === "number" ? decodeRetries : tools ? decodeRetries.afterTools : 0;
  const history = ["go"];
  const count = { steps: 0, modelCalls: 0, toolCalls: 0, tokens: 0 };
  const row = { failures: 0, pauses: 0 };
  const all = { empty: 0, cut: 0 };
  let model = 0;
  let landing: string | undefined;
  /** How often the output was asked for in a request of its own; without tools every request asks for it. */
  let asked = tools ? -1 : 0;
  let paused = "";
  let last = "";

  const ends = (reason: string, more: Partial<Predicted> = {}): Predicted => ({
    ...{ reason, landed: false, failed: false, output: undefined, text: last, history },
    ...count,
    ...more,
  });
  const keep = (...words: string[]): void => void history.push(...words);
  /** The limit of the budget that is reached: the last call is the landing's. */
  const overBudget = (): string | undefined => {
    if (count.tokens >= trial.tokens) return "token_budget";
    return count.modelCalls >= trial.modelCalls - 1 ? "max_steps" : undefined;
  };

  for (;;) {
    landing ??= overBudget();
    if (landing === undefined && count.steps >= maxSteps) {
      if (onLimit !== "land") return ends("max_steps", { failed: onLimit === "error" });
      landing = "max_steps";
    }

    const isAsked = isTyped && (asked >= 0 || landing !== undefined);
    const { kind, text } = met(trial, count.modelCalls, isAsked && way === "tool");
    const isRefusedByTurn = trial.turnsDown && count.modelCalls % 3 === 0;
    const words = `refused ${count.modelCalls}`;
    count.modelCalls += 1;
    if (kind !== "overloaded" && kind !== "auth") count.tokens += tokensEach;

    if (failures.includes(kind)) {
      const mayPass = kind !== "auth" && row.failures + 1 < attempts;
      const mayFallBack = model < trial.fallbacks;
      if ((landing === undefined || row.failures < 2) && (mayPass || mayFallBack)) {
        row.failures = mayPass ? row.failures + 1 : 0;
        if (!mayPass) model += 1;
        continue;
      }
      return ends(landing ?? "error", { failed: true });
    }
    row.failures = 0;

    if (landing !== undefined) {
      count.steps += 1;
      const isKept = kind !== "refuse" && kind !== "empty";
      const isCall = callKinds.includes(kind);
      if (isKept && !trial.keepsOut) keep(...(isCall ? ["call", "result"] : [text]));
      if ((isKept || trial.keepsOut) && paused + text !== "") last = paused + text;
      if (!isTyped) return ends(landing, { landed: true, ...(kind === "refuse" ? { text: words } : {}) });
      const output = valueIn(last);
      return output === undefined
        ? ends("output_invalid", { failed: true })
        : ends(landing, { landed: true, output });
    }

    if (kind === "pause") {
      paused += text;
      last = paused;
      keep(text);
      row.pauses += 1;
      if (row.pauses <= 5) continue;
      count.steps += 1;
      return ends("unexpected_stop");
    }
    row.pauses = 0;
    count.steps += 1;
    const whole = paused + text;
    paused = "";

    if (kind === "refuse") return ends("refused", { text: words });
    if (kind === "empty") {
      all.empty += 1;
      if (all.empty > 1) return ends("empty_response");
      continue;
    }
    if (callKinds.includes(kind)) {
      keep("call", "result");
      if (whole !== "") last = whole;
      if (kind === "cut call") {
        all.cut += 1;
        if (all.cut > 2) landing = "truncated";
        continue;
      }
      if (onLimit === "refuse_tools" && count.steps >= maxSteps) return ends("max_steps");
      if (tools && !isAsked && (kind === "look" || kind === "boom")) count.toolCalls += 1;
      continue;
    }
    if (kind === "cut") {
      keep(text);
      last = whole;
      return ends("truncated", { failed: isTyped });
    }
    if (isRefusedByTurn) continue;

    keep(text);
    last = whole;
    if (!isTyped) return ends("completed");
    const output = asked < 0 ? undefined : valueIn(whole);
    if (output !== undefined) return ends("completed", { output });
    if (asked >= again && asked >= 0) return ends("output_invalid", { failed: true });
    asked += 1;
    if (trial.stored) keep("asked");
  }
}
