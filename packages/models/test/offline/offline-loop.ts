// A tiny loop for the tests of the offline model: real tools, and a real history. No tests in here.

import {
  callsOf,
  type Message,
  type Model,
  type ModelRequest,
  type Tool,
  type ToolCallPart,
  ToolResult,
  textOf,
  userText,
} from "@rondo/core";

export interface Told {
  text: string;
  calls: ToolCallPart[];
  /** Calls of each message, in order. */
  batches: number[];
}

export class Talk {
  readonly messages: Message[] = [];
  readonly #model: Model;
  readonly #tools: readonly Tool[];

  constructor(model: Model, tools: readonly Tool[]) {
    this.#model = model;
    this.#tools = tools;
  }

  /** Says something and runs to the answer in text. */
  async ask(task: string, more: Partial<ModelRequest> = {}): Promise<Told> {
    this.messages.push(userText(task));
    const calls: ToolCallPart[] = [];
    const batches: number[] = [];
    for (let step = 0; step < 30; step++) {
      const answer = await this.#model.call(
        {
          messages: this.messages,
          tools: this.#tools.map((tool) => tool.definition),
          toolChoice: "auto",
          settings: {},
          ...more,
        },
        { signal: new AbortController().signal, emit: () => undefined },
      );
      this.messages.push(answer);
      const made = callsOf(answer);
      if (made.length === 0) return { text: textOf(answer), calls, batches };
      batches.push(made.length);
      calls.push(...made);
      this.messages.push(...(await Promise.all(made.map((call) => this.#run(call)))));
    }
    throw new Error(`no answer to ${JSON.stringify(task)} after 30 steps`);
  }

  async #run(call: ToolCallPart): Promise<Message> {
    const tool = this.#tools.find((one) => one.name === call.name);
    if (tool === undefined) throw new Error(`the planner called ${call.name}, which is no tool`);
    const check = await tool.check(call.args);
    if (!check.ok) throw new Error(`the planner's arguments for ${call.name} are wrong: ${check.error}`);
    const result = await tool.execute(check.value as never, {
      signal: new AbortController().signal,
      idempotencyKey: call.id,
      callId: call.id,
      session: "offline",
      update: () => undefined,
      messages: () => [],
      now: () => 0,
      deps: {},
      resolve: async (key) => key.create(),
    });
    if (!(result instanceof ToolResult)) throw new Error(`${call.name} gave no ToolResult`);
    return {
      role: "tool",
      callId: call.id,
      name: call.name,
      content: result.content,
      isError: result.isError,
    };
  }
}
