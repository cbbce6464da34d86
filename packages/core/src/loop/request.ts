// The room of the request: what the model is sent, made from the state alone (P7).

import type { Message } from "../message.ts";
import { userText } from "../message.ts";
import type { MessageList, ModelRequest, Settings, ToolDefinition } from "../model.ts";
import { outputWay, toolsWithOutput } from "../output/ways.ts";
import type { Rules } from "../rules/rule.ts";
import { offeredTools } from "./judge.ts";
import { Log } from "./log.ts";
import type { HistoryEdit, ToolFacts } from "./records.ts";
import type { Run, State } from "./state.ts";
import { runOf, stepOf } from "./state.ts";

/** What the model is to be sent now: a function of the state alone (P7). */
export function requestOf(state: State, rules: Rules): ModelRequest {
  const { options } = state;
  const run = runOf(state);
  if (options === undefined) throw new Error("there are no options: this is a defect of the table");
  const toolless = run.landing !== undefined || run.output !== undefined;
  const asked = options.output !== undefined && offersOutput(state) ? options.output : undefined;
  const way = asked === undefined ? undefined : outputWay(state);
  const prepared = run.prepared?.step === stepOf(state) ? run.prepared : undefined;
  return {
    ...(options.system === undefined ? {} : { system: options.system }),
    messages: requestMessages(state, rules),
    // The tools stay declared when they may not be used: their calls are in the history, and the prefix stays the same.
    ...toolsWithOutput(definitionsOf(offeredTools(state)), asked, way, {
      toolless,
      toolChoice: prepared?.toolChoice ?? options.toolChoice,
    }),
    settings: settingsOf(options.settings, run),
    ...(asked !== undefined && way?.by === "native" ? { outputSchema: asked.schema } : {}),
  };
}

function settingsOf(settings: Settings, run: Run): Settings {
  const { maxOutputTokens } = run;
  // Reasoning that was not asked for is not switched off: models without any refuse the very word.
  const off = run.dropped.includes("reasoning") && settings.reasoning !== undefined;
  if (maxOutputTokens === undefined && !off) return settings;
  return {
    ...settings,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(off ? { reasoning: "off" } : {}),
  };
}

const definitions = new WeakMap<readonly ToolFacts[], readonly ToolDefinition[]>();

/** The same list of tools gives the same list of definitions, so that whoever encodes them can tell by identity. */
function definitionsOf(tools: readonly ToolFacts[]): readonly ToolDefinition[] {
  let known = definitions.get(tools);
  if (known === undefined) {
    known = tools.map((tool) => tool.definition);
    definitions.set(tools, known);
  }
  return known;
}

/** Whether the schema of the typed output goes with the request: not while tools are in use. */
export function offersOutput(state: State): boolean {
  const run = runOf(state);
  return run.output !== undefined || run.landing !== undefined || (state.options?.tools.length ?? 0) === 0;
}

function requestMessages(state: State, rules: Rules): MessageList {
  const run = runOf(state);
  const edit = run.transformed?.step === stepOf(state) ? run.transformed.edit : undefined;
  const whole = edit === undefined ? state.history : Log.of(edited(state.history, edit));
  const history = run.dropped.includes("reasoning") ? Log.of(withoutReasoning(whole)) : whole;
  const notes = run.notes.map(userText);
  const { output } = state.options ?? {};
  if (run.output !== undefined && output?.request !== "stored")
    notes.push(userText(rules.texts.finalOutput(run.output.error)));
  if (run.landing !== undefined) notes.push(userText(rules.texts.landing(run.landing.reason)));
  if (output !== undefined && offersOutput(state) && outputWay(state).by === "prompted")
    notes.push(userText(rules.texts.outputSchema(JSON.stringify(output.schema))));
  return notes.length === 0 ? history : Log.of<Message>([...history, ...notes]);
}

const unreasoned = new WeakMap<Message, Message | null>();

/** The same messages without their reasoning; an answer that was nothing else is left out. Each is copied once, so that it stays the same object. */
function withoutReasoning(messages: Iterable<Message>): Message[] {
  const kept: Message[] = [];
  for (const message of messages) {
    let copy = unreasoned.get(message);
    if (copy === undefined) {
      copy = unreasonedCopy(message);
      unreasoned.set(message, copy);
    }
    if (copy !== null) kept.push(copy);
  }
  return kept;
}

function unreasonedCopy(message: Message): Message | null {
  if (message.role !== "assistant") return message;
  const content = message.content.filter((part) => part.type !== "reasoning");
  if (content.length === message.content.length) return message;
  return content.length === 0 ? null : { ...message, content };
}

function edited(history: Log<Message>, edit: HistoryEdit): Message[] {
  return edit.flatMap((one) => ("put" in one ? [one.put] : history.slice(one.keep[0], one.keep[1])));
}
