// What is at work, by hand: the test holds the state, hears what is posted, and decides when a model or a tool comes back.

import {
  type AssistantMessage,
  type Fact,
  type Model,
  type ModelEvent,
  type ModelRequest,
  memoryJournal,
  type RondoEvent,
  type State,
  type Tool,
  type ToolContext,
} from "@rondo/core";
import { OngoingWork } from "../../src/loop/driving/ongoing.ts";
import type { Shell } from "../../src/loop/driving/shell.ts";
import { echo } from "../support.ts";
import { come, handClock, rules, stateOf } from "./support.ts";

const origin = { api: "checked", provider: "checked", model: "checked" };
export const call = { startedAt: 1, step: 1, attempt: 1 };
export const asks = {
  do: "call_model",
  step: 3,
  attempt: 1,
  model: 0,
  request: {} as ModelRequest,
  shape: {},
} as never;
const { run: _run, options: _options, ...empty } = stateOf();
/** A session in which nothing has begun. */
export const idle: State = empty;

/** A model whose moments the test decides. */
export class HandModel implements Model {
  readonly id: string;
  readonly origin = origin;
  readonly heard: { request: ModelRequest; signal: AbortSignal }[] = [];
  #emit: (event: ModelEvent) => void = () => {};
  #settle = Promise.withResolvers<AssistantMessage>();

  constructor(id = "first") {
    this.id = id;
  }

  call(request: ModelRequest, io: Parameters<Model["call"]>[1]): Promise<AssistantMessage> {
    this.heard.push({ request, signal: io.signal });
    this.#emit = io.emit;
    this.#settle = Promise.withResolvers<AssistantMessage>();
    return this.#settle.promise;
  }

  emit(event: ModelEvent): void {
    this.#emit(event);
  }

  async answers(message: unknown): Promise<void> {
    this.#settle.resolve(message as AssistantMessage);
    await come();
  }

  async fails(thrown: unknown): Promise<void> {
    this.#settle.reject(thrown);
    await come();
  }

  get signal(): AbortSignal {
    return this.heard.at(-1)?.signal as AbortSignal;
  }
}

export interface World {
  readonly ongoing: OngoingWork;
  readonly posted: Fact[];
  readonly told: RondoEvent[];
  readonly model: HandModel;
  /** What is so from now on. */
  is(state: State): void;
}

type ShellChange = Partial<Shell> & { with?: readonly Tool[] };

/** What a driver acts with, in which nothing happens unless the test says so. */
export function shellOf(change: ShellChange, model: Model): Shell {
  const tools = new Map((change.with ?? []).map((one) => [one.name, one]));
  return {
    session: "s",
    journal: { append: () => {} },
    rules,
    tools,
    models: [model],
    hooks: { hooks: {}, tools, modelIndex: () => undefined, session: "s", given: {} },
    checkOutput: () => Promise.reject(new Error("nobody asked")),
    clock: handClock(),
    given: {},
    maskToolErrors: false,
    journalOfChildren: memoryJournal(),
    ...change,
  };
}

export function worldOf(first: State, change: ShellChange = {}): World {
  let state = first;
  const posted: Fact[] = [];
  const told: RondoEvent[] = [];
  const model = new HandModel();
  const shell = shellOf(change, model);
  const ongoing = new OngoingWork(shell, {
    state: () => state,
    post: (fact) => void posted.push(fact),
    tell: (event) => void told.push(event),
  });
  return {
    ongoing,
    posted,
    told,
    model,
    is: (now) => {
      state = now;
    },
  };
}

/** Settles what it promised only when the test says so. */
export function heldTool(change: Partial<Tool> = {}): {
  tool: Tool;
  contexts: ToolContext[];
  settle(value: unknown): Promise<void>;
} {
  const contexts: ToolContext[] = [];
  let settleLast = (_value: unknown): void => {};
  const tool: Tool = {
    ...echo("write"),
    execute: (_args: never, context) => {
      contexts.push(context);
      return new Promise((settle) => {
        settleLast = settle;
      });
    },
    ...change,
  };
  return {
    tool,
    contexts,
    settle: async (value) => {
      settleLast(value);
      await come();
    },
  };
}
