// The room of the world: everything that may happen to a run, as data.
//
// Given a state and what the loop wants done, it lists every answer the world could give: of the model, of tools,
// hooks and humans, and of the clock; what else may befall a run is in `disturbances.ts`. Nothing here decides what is right.

import {
  type Action,
  type Approval,
  type Call,
  type CallCheck,
  type CallKey,
  type CallResult,
  callsOf,
  type ErrorKind,
  errorKinds,
  type Fact,
  type HookAsk,
  type RecordOf,
  RondoError,
  type Spent,
  type State,
  type TextPart,
  userText,
  type WaitingCall,
} from "@rondo/core";
import { awaitsAnswer } from "@rondo/core/driving";
import { call, say, stop, type Turn } from "../scripted/turns.ts";
import { answerOf, ownWorld, type World } from "./answers.ts";
import { disturbances, type Fuel, type WorldAnswer } from "./disturbances.ts";

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
    if (one.startedAt !== undefined && one.result === undefined) list.push(...toolAnswers(one, state));
    if (awaitsAnswer(one)) list.push(...questionAnswers(one.key));
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
        ...(partial ? { partial: answerOf([say("par"), stop("error")]) } : {}),
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
  const summed = (name: string, turn: Turn): WorldAnswer => ({
    name: `summary: ${name}`,
    facts: [{ type: "summary_finished", message: answerOf(turn) }],
  });
  const failed = (kind: ErrorKind): WorldAnswer => ({
    name: `summary fails: ${kind}`,
    facts: [{ type: "summary_failed", error: new RondoError(kind, kind).toJSON() }],
  });
  return [
    summed("short", say("all went well")),
    summed("as long as what it sums up", say("all went well. ".repeat(400))),
    summed("a call and no text", call("read")),
    ...(["aborted", "context_overflow", "overloaded"] as const).map(failed),
  ];
}

function toolAnswers({ key, child, question }: Call, state: State): WorldAnswer[] {
  const finished = (name: string, result: CallResult): WorldAnswer => ({
    name: `tool ${key}: ${name}`,
    facts: [{ type: "tool_finished", call: key, result }],
  });
  const tools = state.options?.tools ?? [];
  const late = tools.filter(({ when }) => when === "offered").map(({ definition }) => definition.name);
  return [
    finished("ok", { content: text("ok"), isError: false }),
    finished("error", { content: text("Error: no"), isError: true, code: "threw" }),
    finished("done", { content: text("done"), isError: false, done: true }),
    ...(state.options?.context?.cap === undefined ? [] : [finished("cut", cut)]),
    ...(late.length === 0 ? [] : [finished("offers", { content: text("ok"), isError: false, offers: late })]),
    ...(child === undefined && (question?.round ?? 0) < mostQuestions
      ? [
          {
            name: `tool ${key}: asks`,
            facts: [{ type: "tool_waits", call: key, question: "why?" } satisfies Fact],
          },
        ]
      : []),
  ];
}

/** How many questions one call may ask: with more, what is rare is not met any more in as many states. */
const mostQuestions = 1;

/** What may be said to a question. */
function questionAnswers(call: CallKey): WorldAnswer[] {
  const result: CallResult = { content: text("given"), isError: false, code: "answered" };
  return [
    { name: `tool ${call}: is answered`, facts: [{ type: "tool_answered", call, answer: "so" }] },
    { name: `tool ${call}: is given its result`, facts: [{ type: "tool_finished", call, result }] },
  ];
}

const text = (words: string): [TextPart] => [{ type: "text", text: words }];

const cut: CallResult = {
  content: text("cut"),
  isError: false,
  ref: "out_1",
  capped: { bytes: 100, keptBytes: 3, lines: 1 },
};

function reconciliations(call: CallKey): WorldAnswer[] {
  const type = "reconciled" as const;
  const result: CallResult = { content: text("was done"), isError: false, code: "reconciled" };
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
  const waiting = child?.waiting ?? [];
  return [
    ...(startedAt === undefined
      ? []
      : [
          fact("comes to its end", {
            type: "tool_finished",
            call: key,
            result: { content: text("from a child"), isError: false, spent },
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
function endings(call: CallKey): WorldAnswer[] {
  const over = (name: string, more: Partial<RecordOf<"late_result">>): WorldAnswer => ({
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

function approvals(key: CallKey): WorldAnswer[] {
  const given = (name: string, approval: Approval): WorldAnswer => ({
    name: `approval ${key}: ${name}`,
    facts: [{ type: "approval_given", call: key, approval }],
  });
  const brought: Fact = {
    type: "tool_finished",
    call: key,
    result: { content: [], isError: false, code: "answered" },
  };
  return [
    { name: `approval ${key}: its result`, facts: [brought] },
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
  const answer = (name: string, said: object = {}): WorldAnswer => ({
    name: `hook ${ask.hook}: ${name}`,
    facts: [{ type: "hook_answered", ...ask, ...said } as Fact],
  });
  switch (ask.hook) {
    case "permission":
      return ["allow", "deny", "ask", "stop"].map((said) => answer(said, { answer: said }));
    case "beforeTool":
      return [answer("nothing"), answer("a result", { result: { content: [], isError: false } })];
    case "afterTool":
      return [answer("nothing"), answer("another result", { result: { content: [], isError: true } })];
    case "prepareStep":
      return [
        answer("nothing"),
        answer("fewer tools", { tools: ["read"] }),
        answer("stop", { stop: "enough" }),
        answer("throws", { error: "boom" }),
      ];
    case "transformContext":
      return [
        answer("nothing"),
        answer("one message", { edit: [{ put: userText("only this") }] }),
        answer("more than fits", { edit: [{ put: userText("and so on ".repeat(1_000)) }] }),
      ];
    case "onFinish":
      return [
        answer("nothing", { messages: [] }),
        answer("more work", { messages: [userText("more")] }),
        answer("throws", { messages: [], error: "boom" }),
      ];
  }
}

/** Nothing happened until the time the loop asked to be woken at: a tool hangs, a wait runs out. */
function clock(action: Action, state: State): WorldAnswer[] {
  const until = "until" in action ? action.until : undefined;
  if (until === undefined) return [];
  return [{ name: "time passes", facts: [{ type: "woke" }], after: Math.max(1, until - state.now) }];
}
