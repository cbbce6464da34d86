// Tools that results offer, told of in place: what a result names, what waits, and when the front of a request is as before.

import type { Call, Message, ModelRequest, State, ToolDefinition } from "@rondo/core";
import { reduce } from "@rondo/core";
import { describe, expect, test } from "vitest";
import type { RequestShape } from "../../src/loop/action.ts";
import { waitingTools } from "../../src/loop/offered-tools.ts";
import { Prefix } from "../../src/loop/request/prefix.ts";
import { requestOf } from "../../src/loop/request.ts";
import type { RunState } from "../../src/loop/state.ts";
import { acting, answerOf, finished, recordOf, rules, stateOf, toolOf } from "./support.ts";

const definition = (name: string): ToolDefinition => ({ name, description: name, inputSchema: {} });
const [search, deploy, restart] = ["search", "deploy", "restart"].map(definition) as [
  ToolDefinition,
  ToolDefinition,
  ToolDefinition,
];
const said: Message = { role: "user", content: [{ type: "text", text: "go" }] };
const result = (offers?: unknown): Message =>
  ({ role: "tool", callId: "c", name: "search", content: [], isError: false, offers }) as Message;

describe("the front of a request in which tools are told of in place", () => {
  const asked = (tools: ToolDefinition[], messages: Message[], system?: string): ModelRequest => ({
    messages,
    tools,
    toolChoice: "auto",
    settings: {},
    ...(system === undefined ? {} : { system }),
  });
  const shape = (offersInPlace: boolean): RequestShape => ({
    rewritten: [],
    by: [],
    notes: 0,
    ...(offersInPlace ? { offersInPlace } : {}),
  });
  const brokeBy = (next: ModelRequest, inPlace = true): string | undefined => {
    const prefix = new Prefix();
    prefix.note(asked([search], [said]), shape(inPlace));
    return prefix.note(next, shape(inPlace)).broke;
  };
  const front = "system or tools";

  test("is as before if a new result offers each tool that came behind the others", () => {
    expect(brokeBy(asked([search, deploy], [said, result(["deploy"])]))).toBeUndefined();
    expect(
      brokeBy(asked([search, deploy, restart], [said, result(["deploy"]), result(["restart"])])),
    ).toBeUndefined();
    expect(brokeBy(asked([search, deploy], [said, result(["deploy"])]), false)).toBe(front);
  });

  test("is another one if a tool came that no new result offers, or another went", () => {
    expect(brokeBy(asked([search, deploy, restart], [said, result(["deploy"])]))).toBe(front);
    expect(brokeBy(asked([search, deploy], [said, said]))).toBe(front);
    expect(brokeBy(asked([search, deploy], [said, result("deploy")]))).toBe(front);
    expect(brokeBy(asked([deploy, search], [said, result(["deploy"])]))).toBe(front);
    expect(brokeBy(asked([deploy], [said, result(["deploy"])]))).toBe(front);
    expect(brokeBy(asked([search, deploy], [said, { ...said, offers: ["deploy"] } as Message]))).toBe(front);
  });

  test("is another one if one of its tools changed, be it only the last", () => {
    const prefix = new Prefix();
    prefix.note(asked([search, restart], [said]), shape(true));
    const next = asked([search, deploy], [said, result(["deploy"])]);
    expect(prefix.note(next, shape(true)).broke).toBe(front);
  });

  test("is another one if the prompt changed, or the result is not new", () => {
    expect(brokeBy(asked([search, deploy], [said, result(["deploy"])], "Be brief."))).toBe(front);
    const prefix = new Prefix();
    const messages = [said, result(["deploy"])];
    prefix.note(asked([search], messages), shape(true));
    expect(prefix.note(asked([search, deploy], [...messages, said]), shape(true)).broke).toBe(front);
  });
});

describe("a history that a run begins with", () => {
  const begun = (history: Message[], before: string[] = []): readonly string[] | undefined => {
    const { run: _run, ...idle } = stateOf();
    const state = { ...idle, ...(before.length === 0 ? {} : { offered: before }) };
    return reduce(state, recordOf({ type: "run_started", input: [said], history }, 10, 2_000), rules).offered;
  };

  test("offers what its results offer, beside what was offered before", () => {
    expect(begun([said, answerOf([]), result(["deploy", 5]), result("restart"), result()])).toEqual([
      "deploy",
    ]);
    expect(begun([result(["restart"])], ["deploy"])).toEqual(["deploy", "restart"]);
    expect(begun([{ ...said, offers: ["deploy"] } as Message])).toBeUndefined();
    expect(begun([said], ["deploy"])).toEqual(["deploy"]);
  });
});

describe("the result of a call", () => {
  const tools = ["a", "b", "c"].map((name) => toolOf(name, name === "c" ? {} : { when: "offered" }));
  const folded = (state: State, fact: object): State => reduce(state, recordOf(fact), rules);
  /** The results in the history after a turn of two calls, of which the second settles last. */
  const stored = (offers: (string[] | undefined)[], offered?: string[]): unknown => {
    const calls = offers.map((names, at) => {
      const { result: one, ...call } = finished(`5.${at}`);
      return { ...call, startedAt: 1, result: { ...one, ...(names && { offers: names }) } } as Call;
    });
    const { turn } = acting(calls, {}, {}, {}).run;
    const last = calls.at(-1) as Call;
    const { result: lastResult, ...open } = last;
    const before = { ...turn, ...(offered && { offeredBefore: offered.length }) };
    const state = stateOf(
      { turn: { ...before, calls: [...calls.slice(0, -1), open] } as never },
      offered === undefined ? {} : { offered },
      { tools },
    );
    const earlier = calls
      .slice(0, -1)
      .flatMap(({ result: one }) => (one as { offers?: string[] }).offers ?? []);
    const known = [...(offered ?? []), ...earlier];
    const now = known.length === 0 ? state : { ...state, offered: known };
    const { history } = folded(now, { type: "tool_finished", call: last.key, result: lastResult });
    return [...history]
      .slice(-calls.length)
      .map((message) => ("offers" in message ? message.offers : "none"));
  };

  test("names in the history what it was the first to offer, of the tools that waited", () => {
    expect(stored([["a"], ["b"]])).toEqual([["a"], ["b"]]);
    expect(stored([["a"], ["a", "b"]])).toEqual([["a"], ["b"]]);
    expect(stored([["a"], ["a"]])).toEqual([["a"], "none"]);
    expect(stored([["a", "c"], undefined])).toEqual([["a"], "none"]);
    expect(stored([["a"], ["a", "b"]], ["a"])).toEqual(["none", ["b"]]);
    expect(stored([["nobody"], undefined])).toEqual(["none", "none"]);
  });

  test("is measured against what was offered when its answer came", () => {
    const message = answerOf([{ type: "tool_call", id: "1", name: "c", args: {}, rawArgs: "{}" }]);
    const call = { startedAt: 1, attempt: 1, step: 1, model: 0 } as never;
    const turn = (more: object): unknown =>
      folded(stateOf({ call }, more, { tools }), {
        type: "model_finished",
        message,
        checks: [{ ok: true, args: {}, keys: null }],
      }).run?.turn;
    expect(turn({ offered: ["a", "b"] })).toMatchObject({ offeredBefore: 2 });
    expect(turn({})).not.toHaveProperty("offeredBefore");
  });
});

describe("the tools that wait", () => {
  const late = { when: "offered" } as const;
  const tools = [toolOf("a", late), toolOf("b"), toolOf("c", late)];
  const at = (change: object = {}, run: object = {}): RunState => stateOf(run, change, { tools }) as RunState;
  const names = (state: RunState): string[] => waitingTools(state).map(({ definition: { name } }) => name);

  test("are those that no result has offered and no hook has chosen for the step", () => {
    expect(names(at())).toEqual(["a", "c"]);
    expect(names(at({ offered: ["c"] }))).toEqual(["a"]);
    const step = (at({}).run.steps ?? 0) + 1;
    expect(names(at({}, { prepared: { step, tools: ["b", "c"] } }))).toEqual(["a"]);
    expect(names(at({}, { prepared: { step } }))).toEqual(["a", "c"]);
  });

  test("are in the request beside its tools, the same list each time, and in none without tools", () => {
    const waiting = (state: RunState): unknown => requestOf(state, rules).waiting?.map(({ name }) => name);
    expect(waiting(at())).toEqual(["a", "c"]);
    expect(requestOf(at(), rules).waiting).toBe(requestOf(at(), rules).waiting);
    expect(waiting(at({ offered: ["a", "c"] }))).toBeUndefined();
    const alone = stateOf({}, {}, { tools: [toolOf("a", late)] }) as RunState;
    expect(requestOf(alone, rules)).not.toHaveProperty("waiting");
    const landing = { landing: { reason: "max_steps", rule: "max_steps", evidence: {} } } as const;
    const omitting = stateOf(landing, {}, { tools, landing: { omitTools: true } as never }) as RunState;
    expect(requestOf(omitting, rules)).not.toHaveProperty("waiting");
    const typed = (landing: object, more: object): ModelRequest => {
      const output = { schema: { type: "object" }, decodeRetries: 0, way: "tool", ...more };
      const run = { landing: { reason: "max_steps", rule: "max_steps", evidence: {} } } as const;
      return requestOf(stateOf(run, {}, { tools, landing, output } as never) as RunState, rules);
    };
    expect(typed({ omitTools: false }, {})).toMatchObject({ tools: [{}, {}], waiting: [{}, {}] });
    for (const alone of [typed({ omitTools: true }, {}), typed({ omitTools: false }, { tools: "none" })]) {
      expect(alone.tools).toHaveLength(1);
      expect(alone).not.toHaveProperty("waiting");
    }
  });
});
