// The room of the world: everything that may happen to a run, as data.
//
// Given a state and what the loop wants done, it lists every answer the world could give: of the model, of tools,
// hooks and humans, and of the clock; what else may befall a run is in `disturbances.ts`. Nothing here decides what is right.

import {
  type Action,
  type AssistantMessage,
  type Call,
  type CallCheck,
  type CallResult,
  callsOf,
  type ErrorKind,
  errorKinds,
  type Fact,
  type HookAsk,
  type JsonObject,
  type Part,
  RondoError,
  type Spent,
  type State,
  type StopKind,
  type TextPart,
  userText,
  type WaitingCall,
} from "@rondo/core";
import { origin } from "./checked-options.ts";
import { disturbances, type Fuel, type WorldAnswer } from "./disturbances.ts";

/** What a model may answer, where it is not the world of the loop's own check. */
export interface World {
  /** Each with its name. The first holds no calls. */
  answers: readonly (readonly [name: string, message: AssistantMessage])[];
  /** Resources a call touches. */
  keysOf(name: string, args: JsonObject): string[] | null;
}

function message(stop: StopKind, ...content: Part[]): AssistantMessage {
  return {
    role: "assistant",
    content,
    origin,
    stop: { kind: stop, wire: stop },
    usage: { inputTokens: 1, outputTokens: 1 },
  };
}

const text = (words: string): Part => ({ type: "text", text: words });

const call = (name: string, argsError?: string): Part => ({
  type: "tool_call",
  id: "same",
  name,
  args: {},
  rawArgs: argsError === undefined ? "{}" : '{"a":',
  ...(argsError === undefined ? {} : { argsError }),
});

const answers: readonly [string, AssistantMessage][] = [
  ["text", message("end_turn", text("done"))],
  ["one call", message("tool_use", call("read"))],
  ["a write", message("tool_use", text("writing"), call("write"))],
  ["two calls", message("tool_use", call("read"), call("write"))],
  ["two reads", message("tool_use", call("read"), call("read"))],
  ["a guarded call", message("tool_use", call("guarded"), call("read"))],
  ["an unknown tool", message("tool_use", call("nowhere"))],
  ["malformed arguments", message("tool_use", call("read", "not valid JSON"))],
  ["four calls", message("tool_use", call("read"), call("read"), call("read"), call("write"))],
  ["cut-off text", message("max_tokens", text("so far"))],
  ["a cut-off call", message("max_tokens", call("write", "cut off"))],
  ["words and a cut-off call", message("max_tokens", text("so far"), call("write", "cut off"))],
  ["a malformed call", message("malformed_call")],
  ["nothing", message("end_turn")],
  ["a refusal", message("refusal", { type: "refusal", text: "no" })],
  ["a pause", message("pause", text("working"))],
];

const ownWorld: World = { answers, keysOf: () => null };

/** A model of few words: it says that it is done, or makes one call. */
export const plainWorld: World = { ...ownWorld, answers: answers.slice(0, 2) };

/** Every answer the world could give now. `fuel` bounds the disturbances. */
export function worldAnswers(
  state: State,
  action: Action,
  fuel: Fuel,
  world: World = ownWorld,
): WorldAnswer[] {
  return [...outcomes(state, action, world), ...clock(action, state), ...disturbances(state, fuel)];
}

function outcomes(state: State, action: Action, world: World): WorldAnswer[] {
  const { run } = state;
  if (run === undefined) return [];
  const list: WorldAnswer[] = [];
  if (run.call !== undefined) list.push(...modelAnswers(state, world));
  if (run.compacting?.call !== undefined) list.push(...summaries());
  for (const one of run.turn?.calls ?? []) {
    if (one.startedAt !== undefined && one.result === undefined) list.push(...toolAnswers(one.key, state));
    const waits = one.permission === undefined || one.permission.answer === "ask";
    if (one.asked && one.result === undefined && waits) list.push(...approvals(one.key));
    if (one.child !== undefined && one.result === undefined) list.push(...childAnswers(one));
  }
  if (action.do === "run_hook") for (const ask of action.hooks) list.push(...hookAnswers(ask));
  if (action.do === "reconcile") for (const key of action.calls) list.push(...reconciliations(key));
  if (action.do === "end_children") for (const key of action.calls) list.push(...endings(key));
  if (action.do === "check_output")
    list.push(
      { name: "output fits", facts: [{ type: "output_checked", ok: true, value: { ok: true } }] },
      { name: "output does not fit", facts: [{ type: "output_checked", ok: false, error: "not JSON" }] },
    );
  return list;
}

function modelAnswers(state: State, { answers: told, keysOf }: World): WorldAnswer[] {
  const tools = new Set(state.options?.tools.map(({ definition }) => definition.name));
  const answered = ([name, one]: World["answers"][number]): WorldAnswer => ({
    name: `model answers ${name}`,
    facts: [
      {
        type: "model_finished",
        message: one,
        checks: callsOf(one).map((part): CallCheck => {
          if (!tools.has(part.name)) return { ok: false, code: "unknown_tool", error: "no such tool" };
          if (part.argsError !== undefined) return { ok: false, code: "invalid_args", error: part.argsError };
          return { ok: true, args: part.args, keys: keysOf(part.name, part.args) };
        }),
      },
    ],
  });
  const failed = (kind: ErrorKind, partial: boolean): WorldAnswer => ({
    name: `model fails: ${kind}${partial ? " with a partial answer" : ""}`,
    facts: [
      {
        type: "model_failed",
        error: new RondoError(kind, kind).toJSON(),
        ...(partial ? { partial: message("error", text("par")) } : {}),
      },
    ],
  });
  const aborted = [failed("aborted", false), failed("aborted", true)];
  if (state.run?.cancelledAt !== undefined) {
    const late = told.filter(([name], at) => at === 0 || name === "a write");
    return [...aborted, ...late.map(answered)];
  }
  return [
    ...told.map(answered),
    ...errorKinds.map((kind) => failed(kind, kind.startsWith("stream_"))),
    {
      name: "model fails: its history's reasoning is refused",
      facts: [
        {
          type: "model_failed",
          error: new RondoError("invalid_request", "refused", { repair: "reasoning" }).toJSON(),
        },
      ],
    },
  ];
}

function summaries(): WorldAnswer[] {
  const summed = (name: string, one: AssistantMessage): WorldAnswer => ({
    name: `summary: ${name}`,
    facts: [{ type: "summary_finished", message: one }],
  });
  const failed = (kind: ErrorKind): WorldAnswer => ({
    name: `summary fails: ${kind}`,
    facts: [{ type: "summary_failed", error: new RondoError(kind, kind).toJSON() }],
  });
  return [
    summed("short", message("end_turn", text("all went well"))),
    summed("as long as what it sums up", message("end_turn", text("all went well. ".repeat(400)))),
    summed("a call and no text", message("tool_use", call("read"))),
    ...(["aborted", "context_overflow", "overloaded"] as const).map(failed),
  ];
}

function toolAnswers(key: (Fact & { type: "tool_finished" })["call"], state: State): WorldAnswer[] {
  const finished = (name: string, result: (Fact & { type: "tool_finished" })["result"]): WorldAnswer => ({
    name: `tool ${key}: ${name}`,
    facts: [{ type: "tool_finished", call: key, result }],
  });
  const said = (words: string) => [{ type: "text" as const, text: words }];
  return [
    finished("ok", { content: said("ok"), isError: false }),
    finished("error", { content: said("Error: no"), isError: true, code: "threw" }),
    finished("done", { content: said("done"), isError: false, done: true }),
    ...(state.options?.context?.cap === undefined ? [] : [finished("cut", cut)]),
  ];
}

const cut: CallResult = {
  content: [text("cut") as TextPart],
  isError: false,
  ref: "out_1",
  capped: { bytes: 100, keptBytes: 3, lines: 1 },
};

function reconciliations(call: (Fact & { type: "reconciled" })["call"]): WorldAnswer[] {
  const type = "reconciled" as const;
  const result: CallResult = { content: [text("was done") as TextPart], isError: false, code: "reconciled" };
  return [
    { name: `tool ${call}: it was done`, facts: [{ type, call, found: "done", result }] },
    { name: `tool ${call}: it was not done`, facts: [{ type, call, found: "not_done" }] },
    { name: `tool ${call}: who knows`, facts: [{ type, call, found: "unknown", error: "no answer" }] },
  ];
}

const spent: Spent = {
  usage: { inputTokens: 1, outputTokens: 1 },
  tokens: 2,
  usd: 0,
  uncounted: 0,
  modelCalls: 1,
  agents: 0,
};

/** What a sub-agent may come to, and what may be said to it. */
function childAnswers({ key, child, startedAt }: Call): WorldAnswer[] {
  const inside: WaitingCall = { id: "inside", name: "press", args: {}, session: "child", agents: [] };
  const fact = (name: string, one: Fact): WorldAnswer => ({ name: `child ${key}: ${name}`, facts: [one] });
  const content = [{ type: "text" as const, text: "from a child" }];
  const waiting = child?.waiting ?? [];
  return [
    ...(startedAt === undefined
      ? []
      : [
          fact("comes to its end", {
            type: "tool_finished",
            call: key,
            result: { content, isError: false, spent },
          }),
          fact("is left where it is", {
            type: "child_waits",
            call: key,
            pending: [],
            parked: true,
            left: true,
          }),
          fact("asks somebody", { type: "child_waits", call: key, pending: [inside], parked: false }),
          fact("stops for somebody", {
            type: "child_waits",
            call: key,
            pending: [inside],
            parked: true,
            spent,
          }),
        ]),
    ...(waiting.length === 0 || (child?.answers.length ?? 0) > 0
      ? []
      : [
          fact("is answered", {
            type: "approval_passed",
            call: key,
            inside: "inside",
            said: { answer: "approve" },
          }),
        ]),
  ];
}

/** What may come of ending a sub-agent that was left behind. */
function endings(call: Call["key"]): WorldAnswer[] {
  const over = (name: string, more: Partial<Fact & { type: "late_result" }>): WorldAnswer => ({
    name: `child ${call}: ${name}`,
    facts: [{ type: "late_result", call, ...more }],
  });
  const result: CallResult = { content: [], isError: true, spent };
  return [
    over("is over", {}),
    over("is over, and spent more", { result }),
    over("has only stopped", { result, open: true }),
    over("cannot be ended now", { error: "no journal", open: true }),
    over("cannot be ended", { error: "no such sub-agent" }),
  ];
}

function approvals(key: (Fact & { type: "approval_given" })["call"]): WorldAnswer[] {
  const given = (name: string, approval: (Fact & { type: "approval_given" })["approval"]): WorldAnswer => ({
    name: `approval ${key}: ${name}`,
    facts: [{ type: "approval_given", call: key, approval }],
  });
  return [
    given("approve", { answer: "approve" }),
    given("approve for good", { answer: "approve", always: { id: "always", tool: "guarded", uses: 1 } }),
    given("deny", { answer: "deny", reason: "no" }),
    given("deny and stop", { answer: "deny", stop: true }),
    given("edit", { answer: "edit", args: { a: 1 }, check: { ok: true, args: { a: 1 }, keys: null } }),
    given("edit badly", {
      answer: "edit",
      args: { a: 2 },
      check: { ok: false, error: "no", code: "invalid_args" },
    }),
  ];
}

function hookAnswers(ask: HookAsk): WorldAnswer[] {
  const answer = (name: string, fact: Fact): WorldAnswer => ({
    name: `hook ${ask.hook}: ${name}`,
    facts: [fact],
  });
  const type = "hook_answered" as const;
  switch (ask.hook) {
    case "permission":
      return (["allow", "deny", "ask", "stop"] as const).map((said) =>
        answer(said, { type, hook: ask.hook, call: ask.call, answer: said }),
      );
    case "beforeTool":
      return [
        answer("nothing", { type, hook: ask.hook, call: ask.call }),
        answer("a result", { type, hook: ask.hook, call: ask.call, result: { content: [], isError: false } }),
      ];
    case "afterTool":
      return [
        answer("nothing", { type, hook: ask.hook, call: ask.call }),
        answer("another result", {
          type,
          hook: ask.hook,
          call: ask.call,
          result: { content: [], isError: true },
        }),
      ];
    case "prepareStep":
      return [
        answer("nothing", { type, hook: ask.hook, step: ask.step }),
        answer("fewer tools", { type, hook: ask.hook, step: ask.step, tools: ["read"] }),
        answer("throws", { type, hook: ask.hook, step: ask.step, error: "boom" }),
      ];
    case "transformContext":
      return [
        answer("nothing", { type, hook: ask.hook, step: ask.step }),
        answer("one message", {
          type,
          hook: ask.hook,
          step: ask.step,
          edit: [{ put: userText("only this") }],
        }),
        answer("more than fits", {
          type,
          hook: ask.hook,
          step: ask.step,
          edit: [{ put: userText("and so on ".repeat(1_000)) }],
        }),
      ];
    case "onFinish":
      return [
        answer("nothing", { type, hook: ask.hook, messages: [] }),
        answer("more work", { type, hook: ask.hook, messages: [userText("more")] }),
        answer("throws", { type, hook: ask.hook, messages: [], error: "boom" }),
      ];
  }
}

/** Nothing happened until the time the loop asked to be woken at: a tool hangs, a wait runs out. */
function clock(action: Action, state: State): WorldAnswer[] {
  const until = "until" in action ? action.until : undefined;
  if (until === undefined) return [];
  return [{ name: "time passes", facts: [{ type: "woke" }], after: Math.max(1, until - state.now) }];
}
