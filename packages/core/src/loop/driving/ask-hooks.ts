// The room of asking hooks: user code is called, and its answer becomes a fact.
//
// Fails closed: a permission hook that throws denies, a tool hook that throws makes its call an error, a hook of the
// run that throws ends the run. Whatever a hook changed is checked again.

import { stepWords } from "../../checks/other-words.ts";
import { model as modelCheck } from "../../checks/ready-made.ts";
import { settings as settingsCheck } from "../../checks/settings.ts";
import { editOf } from "../../context/edit.ts";
import { untorn } from "../../context/incomplete-turns.ts";
import { messageOf } from "../../errors.ts";
import type { CallView } from "../../events.ts";
import type { HookContext, Hooks, PermissionAnswer } from "../../hooks.ts";
import { inText, readPart } from "../../input.ts";
import { jsonCopy, shown } from "../../json/copy.ts";
import { isObject, kindOf } from "../../json/object.ts";
import { isRole, type Message, type UserMessage, userText } from "../../message.ts";
import type { Model } from "../../model.ts";
import { holdsSecret } from "../../redact.ts";
import { type Given, resolver } from "../../tool/dependency.ts";
import { renderResult } from "../../tool/render.ts";
import { toolResult } from "../../tool/tool-result.ts";
import { type Tool, toolsThere } from "../../tool.ts";
import type { HookAsk } from "../action.ts";
import { ownPermission } from "../batch.ts";
import type { Log } from "../log.ts";
import type { CallKey, Fact, HistoryEdit } from "../records.ts";
import { type Call, callIn, type Run, type State } from "../state.ts";
import { checkArgs } from "./act.ts";
import { viewOf } from "./announce.ts";

export interface Asked {
  hooks: Hooks;
  tools: ReadonlyMap<string, Tool>;
  /** The index of a model among the run's models; `undefined` if it is not one of them. */
  modelIndex(model: Model): number | undefined;
  session: string;
  /** The dependencies that the agent and the run give. */
  given: Given;
}

/** The same, for one question. */
interface Asking extends Asked {
  /** Fires when its answer is no longer wanted. */
  signal: AbortSignal;
  /** Removes secrets from what is stored. */
  redact?: ((fact: Fact) => Fact) | undefined;
}

/** A hook's answer, as a fact. */
export type Answered = Fact & { type: "hook_answered" };

/** Whether a hook's answer still matters: a deadline does not wait for answers about a step or an approval. */
export function isAwaited(ask: HookAsk, run: Run): boolean {
  if (ask.hook === "prepareStep") return run.landing === undefined;
  if (ask.hook !== "permission" && ask.hook !== "beforeTool") return true;
  const call = callIn(run, ask.call);
  return call !== undefined && call.result === undefined;
}

/** A key for a question, to tell whether it is being asked already. */
export function askKey(ask: HookAsk): string {
  return `${ask.hook}:${"call" in ask ? ask.call : "step" in ask ? ask.step : ""}`;
}

/** Asks one hook. Never rejects. */
export async function askHook(ask: HookAsk, state: State, asked: Asking): Promise<Answered> {
  try {
    // A copy goes into the records: the hook may still change what it returned, or it may hold what is not JSON.
    return jsonCopy(await answer(ask, state, asked), "", "lenient");
  } catch (thrown) {
    return refused(ask, messageOf(thrown));
  }
}

/** The fact for a hook that threw. */
function refused(ask: HookAsk, error: string): Answered {
  const failed = { type: "hook_answered" as const, error };
  const result = renderResult(toolResult(`Error: the ${ask.hook} hook failed: ${error}`, { isError: true }));
  switch (ask.hook) {
    case "permission":
      return { ...failed, ...ask, answer: "deny", reason: error };
    case "beforeTool":
    case "afterTool":
      return { ...failed, ...ask, result: { ...result, code: "hook_failed" } };
    case "prepareStep":
    case "transformContext":
      return { ...failed, ...ask };
    case "onFinish":
      return { ...failed, ...ask, messages: [] };
  }
}

function answer(ask: HookAsk, state: State, asked: Asking): Promise<Answered> {
  switch (ask.hook) {
    case "permission":
      return permission(ask, state, asked);
    case "beforeTool":
      return beforeTool(ask, state, asked);
    case "afterTool":
      return afterTool(ask, state, asked);
    case "prepareStep":
      return prepareStep(ask, state, asked);
    case "transformContext":
      return transformContext(ask, state, asked);
    case "onFinish":
      return onFinish(ask, state, asked);
  }
}

/** The context of a hook, made anew for each question. */
const contextOf = ({ session, given, signal }: Asking): HookContext => ({
  session,
  signal,
  deps: given,
  resolve: resolver(given),
});

type AskOf<H extends HookAsk["hook"]> = HookAsk & { hook: H };
const type = "hook_answered" as const;

async function permission(ask: AskOf<"permission">, state: State, asked: Asking): Promise<Answered> {
  const call = callOf(state, ask.call);
  const said = await asked.hooks.permission?.(viewFor(call), contextOf(asked));
  if (said === undefined) return { type, ...ask, answer: ownPermission(call) };
  const full = isObject(said) ? said : { answer: said as PermissionAnswer };
  if (!["allow", "deny", "ask", "stop"].includes(full.answer))
    throw notOf(answerIn(said), "allow, deny, ask or stop, { answer }");
  noOthers(full, "answer", "reason", "text");
  textOrNothing("reason", full.reason);
  textOrNothing("text", full.text);
  // A hook cannot change which call it is about.
  return { ...full, type, ...ask };
}

async function beforeTool(ask: AskOf<"beforeTool">, state: State, asked: Asking): Promise<Answered> {
  const { hooks, tools } = asked;
  const call = callOf(state, ask.call);
  const said = await hooks.beforeTool?.(viewFor(call), contextOf(asked));
  if (said === undefined) return { type, ...ask };
  if (!isObject(said as unknown) || !("args" in said || "result" in said))
    throw notOf(kindOf(said), "{ args }, { result }");
  noOthers(said, "args", "result", "isError", "done");
  if ("result" in said) {
    contentOrFault("result", said.result, said);
    return { type, ...ask, result: resultOf(said.result, said) };
  }
  noOthers(said, "args");
  if (!isObject(said.args)) throw new TypeError(`its args are ${kindOf(said.args)}, and an object is needed`);
  const tool = tools.get(call.name);
  const check =
    tool === undefined
      ? ({ ok: false, error: `unknown tool ${JSON.stringify(call.name)}`, code: "unknown_tool" } as const)
      : await checkArgs(tool, said.args);
  return { type, ...ask, args: said.args, check };
}

async function afterTool(ask: AskOf<"afterTool">, state: State, asked: Asking): Promise<Answered> {
  const call = callOf(state, ask.call);
  if (call.result === undefined) return { type, ...ask };
  const said = await asked.hooks.afterTool?.(viewFor(call), jsonCopy(call.result), contextOf(asked));
  if (said === undefined) return { type, ...ask };
  if (!isObject(said as unknown) || !("content" in said)) throw notOf(kindOf(said), "{ content }");
  noOthers(said, "content", "isError", "done");
  contentOrFault("content", said.content, said);
  const { content, isError = call.result.isError, done } = said;
  return { type, ...ask, result: { ...call.result, ...resultOf(content, { isError, done }) } };
}

/** @throws TypeError for anything that is not a model, such as a model's name, and for a model that the agent does not have */
function indexOf(model: Model, modelIndex: Asked["modelIndex"]): number {
  if (modelCheck(model) !== undefined)
    throw new TypeError(`it chose ${kindOf(model)}, and one of the agent's models is needed ${ofAgent}`);
  const index = modelIndex(model);
  if (index !== undefined) return index;
  throw new TypeError(`it chose ${model.id}, which is not among the agent's models ${ofAgent}`);
}

const ofAgent = "(model, fallback, models)";

async function prepareStep(ask: AskOf<"prepareStep">, { history }: State, asked: Asking): Promise<Answered> {
  const { hooks, tools, modelIndex } = asked;
  const step = { step: ask.step, messages: shown(history) };
  const said = await hooks.prepareStep?.(step, contextOf(asked));
  if (said === undefined) return { type, ...ask };
  if (!isObject(said as unknown))
    throw notOf(kindOf(said), "{ model, tools, toolChoice, settings }, { stop }");
  if ("stop" in said) return { type, ...ask, ...stopOf(said) };
  const meant = Object.keys(said).find((name) => stepWords(name) !== undefined);
  if (meant !== undefined) throw new TypeError(`it returned ${meant}: ${stepWords(meant)}`);
  noOthers(said, "model", "tools", "toolChoice", "settings");
  const index = said.model === undefined ? undefined : indexOf(said.model, modelIndex);
  checkPrepared(said, tools);
  if (holdsSecret(said.settings ?? {}, asked.redact))
    throw new TypeError(
      "its settings hold a secret, which would be kept with the run; give it to the model instead",
    );
  return {
    type,
    ...ask,
    ...(index === undefined ? {} : { model: index }),
    ...(said.tools === undefined ? {} : { tools: said.tools }),
    ...(said.toolChoice === undefined ? {} : { toolChoice: said.toolChoice }),
    ...(said.settings === undefined ? {} : { settings: said.settings }),
  };
}

/** Checks the end of the run that a hook asks for. An empty or invalid reason is refused, because it would not explain the end. */
function stopOf(said: { stop: string; text?: string }): { stop: string; text?: string } {
  noOthers(said, "stop", "text");
  const { stop, text } = said;
  if (typeof stop !== "string" || stop.trim() === "")
    throw new TypeError("its stop must be a reason, in words");
  textOrNothing("text", text);
  return { stop, ...(text === undefined ? {} : { text }) };
}

/** Checks a text that the model or the run's caller would read, if one is given. */
function textOrNothing(name: string, said: unknown): void {
  if (said !== undefined && typeof said !== "string") throw new TypeError(`its ${name} must be a text`);
}

async function transformContext(
  ask: AskOf<"transformContext">,
  { history }: State,
  asked: Asking,
): Promise<Answered> {
  const at = { step: ask.step, ...contextOf(asked) };
  const said = await asked.hooks.transformContext?.(shown(history), at);
  if (said === undefined) return { type, ...ask };
  return { type, ...ask, edit: editFrom(history, sendable(messagesOf(said).map(inText), history)) };
}

async function onFinish(ask: AskOf<"onFinish">, state: State, asked: Asking): Promise<Answered> {
  const run = { text: state.run?.answer?.text ?? "", messages: shown(state.history) };
  const said = await asked.hooks.onFinish?.(run, contextOf(asked));
  if (said === undefined) return { type, ...ask, messages: [] };
  const messages =
    typeof said === "string"
      ? [userText(said.toWellFormed())]
      : messagesOf(said, "a text, a list of messages");
  return { type, ...ask, messages: messages.map(workOf).filter(saysSomething) };
}

/** The call as a hook sees it, a copy: writing into it changes nothing. */
const viewFor = (call: Call): CallView => jsonCopy(viewOf(call));

function callOf(state: State, key: CallKey): Call {
  const call = callIn(state.run, key);
  if (call === undefined) throw new Error(`the call ${key} is no longer open`);
  return call;
}

/** What a hook says of a result besides its content. */
interface Marks {
  readonly isError?: boolean | undefined;
  readonly done?: boolean | string | undefined;
}

const resultOf = (content: Parameters<typeof toolResult>[0], { isError = false, done = false }: Marks) =>
  renderResult(toolResult(content, { isError, done }));

/** The error for an answer of another shape. Only `undefined` means "leave it as it is", not `null`. */
const notOf = (given: string, needed: string): TypeError =>
  new TypeError(`it returned ${given}, and ${needed} or nothing is needed`);

/** A hook's answer, in words, for the error. */
function answerIn(said: unknown): string {
  if (isObject(said))
    return said.answer === undefined
      ? `{ ${Object.keys(said).join(", ")} }`
      : `{ answer: ${answerIn(said.answer)} }`;
  return ["string", "boolean", "number"].includes(typeof said) ? JSON.stringify(said) : kindOf(said);
}

/** Checks a hook's messages: an invalid one in the history would fail every later request. */
function messagesOf<M extends Message>(said: M[], needed = "a list of messages"): M[] {
  if (!Array.isArray(said)) throw notOf(kindOf(said), needed);
  const wrong = said.findIndex(
    (one: Partial<M> | null) => !isRole(one?.role) || !Array.isArray(one?.content),
  );
  if (wrong >= 0)
    throw new TypeError(
      `item ${wrong} of what it returned is no message: a role and a list of parts are needed`,
    );
  return said;
}

/** Refuses an empty list of messages: a provider would refuse the request, or answer nothing. */
function sendable(said: readonly Message[], history: Log<Message>): readonly Message[] {
  const messages = untorn(said, history);
  if (messages.length === 0) throw new TypeError("it returned no message that could be sent");
  return messages;
}

/** Checks more work: it must be user messages. Anything else would stay in the history for good, such as an answer whose calls have no results. */
function workOf(message: UserMessage, at: number): UserMessage {
  if (message.role !== "user")
    throw new TypeError(`item ${at} of what it returned is no user's message: its role is ${message.role}`);
  return { ...message, content: message.content.map(readPart) };
}

const saysSomething = ({ content }: UserMessage): boolean =>
  content.some((part) => part.type !== "text" || part.text.trim() !== "");

/** Checks the content of a result. @param name the member's name in the hook's answer */
function contentOrFault(name: string, content: unknown, { isError, done }: Marks): void {
  if (typeof content !== "string" && !Array.isArray(content))
    throw new TypeError(`its ${name} is ${kindOf(content)}, and a text or a list of parts is needed`);
  if (isError !== undefined && typeof isError !== "boolean")
    throw new TypeError("its isError must be true or false");
  if (done !== undefined && typeof done !== "boolean" && typeof done !== "string")
    throw new TypeError("its done must be true, false or a text");
}

/** Refuses unknown members: ignoring a misspelt one could be unsafe, such as a restricted list of tools or sanitised arguments. */
function noOthers(said: object, ...known: readonly string[]): void {
  const other = Object.entries(said).find(([name, value]) => !known.includes(name) && value !== undefined);
  if (other !== undefined)
    throw new TypeError(`it returned ${other[0]}, and what it may return is ${known.join(", ")}`);
}

/** Checks what prepareStep answered. A text in place of a list of tools would be taken for a list of its letters. */
function checkPrepared(
  { tools, toolChoice, settings }: { tools?: unknown; toolChoice?: unknown; settings?: unknown },
  own: ReadonlyMap<string, Tool>,
): void {
  if (tools !== undefined && !(Array.isArray(tools) && tools.every((name) => typeof name === "string")))
    throw new TypeError("its tools must be a list of names of tools");
  const unknown = (tools as readonly string[] | undefined)?.find((name) => !own.has(name));
  if (unknown !== undefined)
    throw new TypeError(`its tools name ${JSON.stringify(unknown)}, and ${toolsThere(own)}`);
  const wrong = settings === undefined ? undefined : settingsCheck(settings);
  if (wrong !== undefined) throw new TypeError(`its settings${wrong.at}: ${wrong.says}`);
  const word = typeof toolChoice === "string" ? toolChoice : undefined;
  const { tool } = (toolChoice ?? {}) as { tool?: unknown };
  if (toolChoice !== undefined && typeof tool !== "string" && !["auto", "any", "none"].includes(word ?? ""))
    throw new TypeError('its toolChoice must be "auto", "any", "none" or { tool }');
  if (typeof tool === "string" && !own.has(tool))
    throw new TypeError(`its toolChoice is ${JSON.stringify(tool)}, and ${toolsThere(own)}`);
  if (typeof tool === "string" && Array.isArray(tools) && !tools.includes(tool))
    throw new TypeError(`its toolChoice is ${JSON.stringify(tool)}, which is not among its tools`);
}

/** The new list as ranges kept and messages added, so that the record is only as large as the change. */
function editFrom(history: Log<Message>, messages: readonly Message[]): HistoryEdit {
  const places = new Map<Message, number>();
  for (let at = 0; at < history.length; at += 1) places.set(history.at(at) as Message, at);
  return editOf(messages.map((message) => places.get(message) ?? message));
}
