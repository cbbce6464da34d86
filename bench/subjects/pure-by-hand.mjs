// The room of the "kept and pure" floor: the hand-written loop that keeps Rondo's promises, in Rondo's design.
//
// `next` is pure and returns one action, from a table of rows; what happens is a record, folded by an immutable reducer;
// rules fold and judge; a driver performs, appends before it acts, and receives outcomes through a mailbox; events
// are derived from records; the history has a neutral format that each protocol encodes and decodes. All of it minimal:
// nine one-line rules, no hooks, retries, resume, context stages, or helpful errors.

import { byHandProtocols, splitter } from "./by-hand.mjs";
import { canonical, control, Events, mostBytes, nameOf, wrongWith } from "./kept-by-hand.mjs";

// ---- rules -------------------------------------------------------------------------------------------------------

const silent = { init: () => undefined, fold: (memory) => memory };
const stop = (reason) => ({ follows: { do: "stop", reason } });

const rules = [
  {
    ...silent,
    name: "max_steps",
    speak: (_memory, { run, maxSteps }) => (run.step >= maxSteps ? stop("max_steps") : undefined),
  },
  {
    ...silent,
    name: "deadline",
    wakeAt: (_memory, { run }) => run.startedAt + 3_600_000,
    speak: (_memory, { run, now }) => (now >= run.startedAt + 3_600_000 ? stop("deadline") : undefined),
  },
  {
    name: "budget",
    init: () => 0,
    fold: (spent, record) => (record.type === "model_finished" ? spent + record.message.text.length : spent),
    speak: (spent) => (spent > 1e9 ? stop("budget") : undefined),
  },
  {
    name: "repeats",
    init: () => new Map(),
    fold(seen, record, { run }) {
      if (record.type !== "tool_finished") return seen;
      const call = run.turn.calls.find(({ key }) => key === record.call);
      const same = `${call.name} ${canonical(call.args)}`;
      const outcome = nameOf(record.result, 0);
      const before = seen.get(same);
      seen.set(same, { outcome, count: before?.outcome === outcome ? before.count + 1 : 1 });
      return seen;
    },
    speak(seen, { run }) {
      const last = run.last;
      return last !== undefined && seen.get(last)?.count >= 5 ? stop("no_progress") : undefined;
    },
  },
  {
    ...silent,
    name: "refusals",
    judge: (_memory, { run }) => (run.turn.refused ? stop("refused") : undefined),
  },
  {
    ...silent,
    name: "truncations",
    judge: (_memory, { run }) => (run.turn.message.stop === "length" ? stop("truncated") : undefined),
  },
  {
    ...silent,
    name: "malformed",
    judge: (_memory, { run }) =>
      run.turn.calls.length > 0 && run.turn.calls.every(({ wrong }) => wrong !== undefined)
        ? { follows: { do: "act" } }
        : undefined,
  },
  {
    ...silent,
    name: "empty",
    judge: (_memory, { run }) =>
      run.turn.calls.length === 0 && run.turn.message.text === "" ? stop("empty") : undefined,
  },
  {
    ...silent,
    name: "by_content",
    judge: (_memory, { run }) => ({ follows: { do: run.turn.calls.length > 0 ? "act" : "finish" } }),
  },
];

const judges = rules.flatMap((rule, at) => (rule.judge === undefined ? [] : [{ rule, at }]));
const speakers = rules.flatMap((rule, at) => (rule.speak === undefined ? [] : [{ rule, at }]));
const wakers = rules.flatMap((rule, at) => (rule.wakeAt === undefined ? [] : [{ rule, at }]));

function firstSaid(asked, moment, state) {
  for (const { rule, at } of asked) {
    const said = rule[moment](state.memories[at], state);
    if (said !== undefined) return { ...said, rule: rule.name };
  }
  return undefined;
}

function wakeTime(state) {
  let first;
  for (const { rule, at } of wakers) {
    const time = rule.wakeAt(state.memories[at], state);
    if (first === undefined || time < first) first = time;
  }
  for (const call of state.run.turn?.calls ?? [])
    if (call.startedAt !== undefined && call.result === undefined)
      first = Math.min(first ?? Infinity, call.startedAt + 120_000);
  return first;
}

// ---- the table ---------------------------------------------------------------------------------------------------

const record = (...facts) => ({ do: "record", facts });
const running = ({ turn }) =>
  turn.calls.some((call) => call.startedAt !== undefined && call.result === undefined);
const ends = (reason, rule, text = "") => record({ type: "run_ended", reason, rule, text });

function phaseOf({ run }) {
  if (run === undefined || run.end !== undefined) return "idle";
  if (run.call !== undefined) return "thinking";
  if (run.failure !== undefined) return "judging";
  if (run.turn !== undefined) return run.turn.judged === undefined ? "judging" : "acting";
  return run.answer === undefined ? "ready" : "finishing";
}

function decided(state) {
  const { run } = state;
  if (run.aborted !== undefined) return ends("aborted", "abort");
  const said = run.spokeAt === state.seq ? undefined : firstSaid(speakers, "speak", state);
  return said && ends(said.follows.reason, said.rule);
}

function timed(state) {
  const at = wakeTime(state);
  return at !== undefined && state.now >= at ? record({ type: "woke" }) : undefined;
}

const delivered = ({ inbox }) =>
  inbox.length === 0 ? undefined : record({ type: "delivered", ids: inbox.map(({ id }) => id) });

const table = {
  idle: [() => ({ do: "done" })],
  ready: [
    ({ run }) => run.stopping && ends(run.stopping.reason, run.stopping.rule),
    delivered,
    decided,
    (state) => ({
      do: "call_model",
      step: state.run.step + 1,
      request: { messages: state.messages, length: state.length },
    }),
  ],
  thinking: [timed, (state) => ({ do: "wait", until: wakeTime(state) })],
  judging: [
    ({ run }) => run.failure && ends("error", "model", run.failure),
    (state) => {
      const { follows, rule } = firstSaid(judges, "judge", state);
      const verdicts = state.run.turn.calls.map(({ wrong }) =>
        wrong === undefined ? { do: "run" } : { do: "fail", text: wrong },
      );
      return record({ type: "turn_judged", rule, follows, verdicts });
    },
  ],
  acting: [
    timed,
    ({ run }) => {
      const closed = run.turn.calls.filter(
        ({ verdict, result }) => verdict.do !== "run" && result === undefined,
      );
      return closed.length === 0
        ? undefined
        : record(
            ...closed.map(({ key, verdict }) => ({ type: "tool_finished", call: key, result: verdict.text })),
          );
    },
    ({ run }) => {
      if (run.aborted === undefined) return undefined;
      const open = run.turn.calls.filter(({ result }) => result === undefined);
      return record(...open.map(({ key }) => ({ type: "tool_finished", call: key, result: "aborted" })));
    },
    ({ run }) => {
      const calls = run.turn.calls.filter(
        ({ verdict, startedAt, result }) =>
          verdict.do === "run" && startedAt === undefined && result === undefined,
      );
      return calls.length === 0 ? undefined : { do: "start_tools", calls: calls.map(({ key }) => key) };
    },
    (state) => (running(state.run) ? { do: "wait", until: wakeTime(state) } : undefined),
  ],
  finishing: [delivered, ({ run }) => ends("completed", "by_content", run.answer)],
};

function next(state) {
  for (const row of table[phaseOf(state)]) {
    const action = row(state);
    if (action !== undefined) return action;
  }
  throw new Error("no row applies");
}

// ---- the fold ----------------------------------------------------------------------------------------------------

const withRun = (state, change) => ({ ...state, run: { ...state.run, ...change } });

/** An append-only history: one list shared by many states, each of which knows its length. */
function withMessages(state, more) {
  state.messages.push(...more);
  return { ...state, length: state.messages.length };
}

function mapCall(state, key, change) {
  const { turn } = state.run;
  const calls = turn.calls.map((call) => (call.key === key ? { ...call, ...change } : call));
  return withRun(state, { turn: { ...turn, calls } });
}

function closeTurn(state) {
  const { turn } = state.run;
  if (turn.judged === undefined || turn.calls.some(({ result }) => result === undefined)) return state;
  const { message, calls, judged } = turn;
  const results = calls.map(({ id, name, result }) => ({ role: "tool", id, name, text: result }));
  const last = calls.at(-1);
  const after = withMessages(state, [message, ...results]);
  return withRun(after, {
    turn: undefined,
    ...(last === undefined ? {} : { last: `${last.name} ${canonical(last.args)}` }),
    ...(judged.do === "finish" ? { answer: message.text } : {}),
    ...(judged.do === "stop" ? { stopping: judged } : {}),
  });
}

function changed(state, fact) {
  switch (fact.type) {
    case "run_started":
      return withMessages({ ...state, maxSteps: fact.maxSteps, run: { step: 0, startedAt: state.now } }, [
        { role: "user", text: fact.input },
      ]);
    case "model_started":
      return withRun(state, { step: fact.step, call: { step: fact.step, startedAt: state.now } });
    case "model_finished": {
      const calls = fact.message.calls.map(({ id, name }, at) => ({
        key: `${fact.seq}.${at}`,
        id,
        name,
        args: fact.checks[at].value,
        wrong: fact.checks[at].wrong,
        startedAt: undefined,
        result: undefined,
        verdict: undefined,
      }));
      return withRun(state, { call: undefined, turn: { message: fact.message, calls, judged: undefined } });
    }
    case "model_failed":
      return withRun(state, { call: undefined, failure: fact.error });
    case "turn_judged": {
      const { turn } = state.run;
      const calls = turn.calls.map((call, at) => ({ ...call, verdict: fact.verdicts[at] }));
      return closeTurn(
        withRun(state, { turn: { ...turn, calls, judged: { ...fact.follows, rule: fact.rule } } }),
      );
    }
    case "tool_started":
      return mapCall(state, fact.call, { startedAt: state.now });
    case "tool_finished":
      return mapCall(state, fact.call, { result: fact.result });
    case "queued":
      return { ...state, inbox: [...state.inbox, fact.message] };
    case "delivered":
      return withMessages({ ...state, inbox: [] }, state.inbox);
    case "abort_asked":
      return withRun(state, { aborted: fact.reason });
    case "woke":
      return state;
    case "run_ended":
      return withRun(state, { end: { reason: fact.reason, rule: fact.rule, text: fact.text } });
  }
}

function reduce(before, fact) {
  const state = changed({ ...before, seq: fact.seq + 1, now: fact.at }, fact);
  let memories = state.memories;
  for (let at = 0; at < rules.length; at += 1) {
    const memory = rules[at].fold(memories[at], fact, state);
    if (memory === memories[at]) continue;
    if (memories === state.memories) memories = [...memories];
    memories[at] = memory;
  }
  const folded = memories === state.memories ? state : { ...state, memories };
  return fact.type === "tool_finished" ? closeTurn(folded) : folded;
}

const emptyState = () => ({
  seq: 0,
  now: 0,
  messages: [],
  length: 0,
  inbox: [],
  maxSteps: 0,
  run: undefined,
  memories: rules.map(({ init }) => init()),
});

// ---- events ------------------------------------------------------------------------------------------------------

const view = ({ key, id, name, args }) => ({ key, id, name, args });

/** The event that a record becomes. */
function announce(fact, before, after) {
  switch (fact.type) {
    case "run_started":
      return [{ type: "run_start", input: fact.input }];
    case "model_started":
      return [
        { type: "step_start", step: fact.step },
        { type: "request", step: fact.step, digest: fact.digest },
      ];
    case "model_finished":
      return [{ type: "message", step: after.run.step, message: fact.message }];
    case "tool_started":
      return [{ type: "tool_start", call: view(before.run.turn.calls.find(({ key }) => key === fact.call)) }];
    case "tool_finished": {
      const call = view(before.run.turn.calls.find(({ key }) => key === fact.call));
      const told = { type: "tool_end", call, content: fact.result };
      return after.run.turn === undefined ? [told, { type: "step_end", step: after.run.step }] : [told];
    }
    case "run_ended":
      return [{ type: "run_end", reason: fact.reason }];
    default:
      return [];
  }
}

// ---- codecs ------------------------------------------------------------------------------------------------------

/** Encodes the neutral history for a protocol. Each message is encoded once. */
class Writer {
  #said = [];
  #written = 0;

  constructor(protocol, system, declared) {
    this.protocol = protocol;
    this.system = system;
    this.declared = declared;
  }

  body({ messages, length }) {
    for (; this.#written < length; this.#written += 1) {
      const message = messages[this.#written];
      if (message.role === "user") this.#said.push(...this.protocol.start(this.system, message.text));
      if (message.role !== "assistant") continue;
      const results = messages.slice(this.#written + 1, this.#written + 1 + message.calls.length);
      this.#said.push(
        ...this.protocol.said(
          message,
          results.map(({ text }) => text),
        ),
      );
    }
    return this.protocol.body(this.system, this.#said, this.declared);
  }
}

/** Calls the model with the hand-written codec: resolves with the answer, a text and calls whose arguments are text. */
function askingByHand(protocol, send, { system, declared }) {
  const writer = new Writer(protocol, system, declared);
  return (request, hear, hearArgs, watch) => {
    const { answer, take } = protocol.answer(hear, hearArgs);
    return send(writer.body(request), splitter(take), watch).then(() => answer);
  };
}

// ---- the driver --------------------------------------------------------------------------------------------------

/** A journal in memory: an append names its expected position. */
class Journal {
  #sessions = new Map();

  append(session, expected, records) {
    const kept = this.#sessions.get(session) ?? [];
    if (kept.length !== expected) throw new Error("conflict");
    kept.push(...records);
    this.#sessions.set(session, kept);
  }
}

class Driver {
  #state = emptyState();
  #unflushed = [];
  #flushed = 0;
  #mailbox = [];
  #wake;
  #named = 0;
  #namedTo = 0;
  #modelCall;
  #toolCalls = new Map();

  constructor(session, { journal, byName, ask, events }) {
    Object.assign(this, { session, journal, byName, ask, events });
  }

  post(fact) {
    this.#mailbox.push(fact);
    this.#wake?.();
  }

  async run(first) {
    this.#append([first]);
    for (;;) {
      for (const fact of this.#mailbox.splice(0)) this.#append([fact]);
      const action = next(this.#state);
      if (action.do === "done") {
        this.#flush();
        return this.#state.run.end;
      }
      await this.#perform(action);
    }
  }

  #perform(action) {
    switch (action.do) {
      case "record":
        this.#append(action.facts);
        return undefined;
      case "call_model":
        this.#append([{ type: "model_started", step: action.step, digest: this.#nameOf(action.request) }]);
        this.#flush();
        this.#think(action);
        return undefined;
      case "start_tools":
        this.#append(
          action.calls.map((call) => ({ type: "tool_started", call, key: `${this.session}:${call}` })),
        );
        this.#flush();
        for (const key of action.calls) this.#act(key);
        return undefined;
      case "wait":
        return this.#wait(action.until);
    }
  }

  #append(facts) {
    for (const fact of facts) {
      const before = this.#state;
      const record = { ...fact, seq: before.seq, at: Math.max(before.now, Date.now()), rand: Math.random() };
      this.#state = reduce(before, record);
      this.#unflushed.push(record);
      for (const event of announce(record, before, this.#state)) this.events.push(event);
    }
    const { run } = this.#state;
    if (run.aborted === undefined) return;
    this.#modelCall?.abort();
    for (const controller of this.#toolCalls.values()) controller.abort();
  }

  #flush() {
    if (this.#unflushed.length === 0) return;
    this.journal.append(this.session, this.#flushed, this.#unflushed);
    this.#flushed += this.#unflushed.length;
    this.#unflushed = [];
  }

  #nameOf({ messages, length }) {
    for (; this.#namedTo < length; this.#namedTo += 1)
      this.#named = nameOf(JSON.stringify(messages[this.#namedTo]), this.#named);
    return this.#named;
  }

  #think({ step, request }) {
    const controller = new AbortController();
    this.#modelCall = controller;
    const { events } = this;
    const hear = (text) => events.push({ type: "text_delta", step, index: 0, text });
    const hearArgs = (delta) => events.push({ type: "tool_args_delta", step, index: 1, delta });
    const watch = { signal: controller.signal, firstByteMs: 120_000, idleMs: 60_000 };
    this.ask(request, hear, hearArgs, watch).then(
      (answer) => {
        const message = { role: "assistant", ...answer, stop: "end" };
        const checks = answer.calls.map(({ name, args }) => {
          try {
            const value = JSON.parse(args);
            return { value, wrong: wrongWith(this.byName.get(name).parameters, value) };
          } catch (thrown) {
            return { value: undefined, wrong: String(thrown) };
          }
        });
        this.post({ type: "model_finished", message, checks });
      },
      (thrown) => this.post({ type: "model_failed", error: String(thrown) }),
    );
  }

  #act(key) {
    const call = this.#state.run.turn.calls.find((one) => one.key === key);
    const controller = new AbortController();
    this.#toolCalls.set(key, controller);
    const context = {
      signal: controller.signal,
      idempotencyKey: `${this.session}:${key}`,
      update: (progress) => this.events.push({ type: "tool_update", call: view(call), progress }),
    };
    void Promise.resolve()
      .then(() => this.byName.get(call.name).execute(call.args, context))
      .then(
        (value) => {
          let result = typeof value === "string" ? value : JSON.stringify(value);
          if (control.test(result)) result = result.replaceAll(/\p{Cc}(?<![\t\n\r])/gu, "");
          return Buffer.byteLength(result) > mostBytes ? result.slice(0, mostBytes) : result;
        },
        (thrown) => String(thrown),
      )
      .then((result) => {
        this.#toolCalls.delete(key);
        this.post({ type: "tool_finished", call: key, result });
      });
  }

  async #wait(until) {
    this.#flush();
    if (this.#mailbox.length > 0) return;
    let timer;
    const ranOut = await new Promise((resolve) => {
      const wake = () => resolve(false);
      this.#wake = wake;
      if (until !== undefined) timer = setTimeout(() => resolve(true), until - Date.now());
    });
    clearTimeout(timer);
    this.#wake = undefined;
    if (ranOut) this.#append([{ type: "woke" }]);
  }
}

/** A subject: `asking()` gives each run a function that calls its model, like `askingByHand`. */
export function pureOver(asking, { tools, maxSteps }) {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const journal = new Journal();
  let sessions = 0;
  return async (prompt) => {
    sessions += 1;
    let heard = 0;
    const events = new Events((event) => {
      if (event.type === "text_delta") heard += event.text.length;
    });
    const driver = new Driver(`session ${sessions}`, { journal, byName, ask: asking(), events });
    const { reason, text } = await driver.run({ type: "run_started", input: prompt, maxSteps });
    if (events.failed !== undefined) throw events.failed;
    if (reason !== "completed") throw new Error(`the run ended: ${reason}`);
    return { text, heard };
  };
}

/** A subject for a transport: `send(body, onText, watch)` resolves when the answer is complete. */
export function pureByHand(name, sender) {
  const protocol = byHandProtocols[name];
  return function prepare(setup) {
    const { base, system, tools } = setup;
    const send = sender(base + protocol.path, { "content-type": "application/json", ...protocol.headers });
    const declared = protocol.tools(tools);
    return pureOver(() => askingByHand(protocol, send, { system, declared }), setup);
  };
}
