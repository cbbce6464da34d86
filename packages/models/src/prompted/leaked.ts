// The room of calls that a server could not parse and passed on as the answer's text, although tools are native.
//
// Such text never runs (F234), and is not an answer either: it is malformed. What counts as a call depends on the server.
//
// - For a local server known to do this: any call that would run if tools were text (`leakedCall`), unless the model only
// reads it out.
// - For any other: an answer that ends in calls to existing tools in a model family's notation (`withoutLeakedCalls`); one
// that names such a tool but cannot be parsed, because it is truncated or garbled; and one whose end begins a call. But not
// if the words before it introduce it, as with a colon or in a fence, nor if anybody in the conversation wrote such tokens:
// an example that a user asked for is an answer. If the server itself reports calls but sends none, such tokens are
// certainly calls.
//
// The parser is loaded with the first text that may contain calls.

import { type AssistantMessage, type Model, type ModelRequest, modelFace, textOf } from "@rondo/core";
import { introduces, isSpokenOf, saidBefore } from "../answer/said-before.ts";
import { loadOnce } from "../load-once.ts";
import type { Reading } from "./read-answer.ts";

const families = loadOnce(() => import("./native-calls.ts"));
const copies = loadOnce(() => import("./copied.ts"));
const reader = loadOnce(() => import("./read-answer.ts"));
/** OpenAI's models write where a call goes; their vendor's own server leaves that in texts, too. */
export const addresses: RegExp =
  /\bto=(?:functions|multi_tool_use)\.\w|"recipient_name"\s{0,9}:\s{0,9}"(?:(?:functions|multi_tool_use)\.|mcp__)\w/;
/** How the tokens of every family begin. */
const mayHoldMarks =
  /[<[✿]|>>>|\bfunc|\bcall:|\bdeclaration:|\bto=|\binvoke name=|"recipient_name"|"tool_call|```/;

/** The tool called in the text of an answer without calls; undefined if it is ordinary text. */
export async function leakedCall(
  answer: AssistantMessage,
  request: ModelRequest,
): Promise<string | undefined> {
  if (!mayLeak(answer, request)) return undefined;
  const known = namesIn(request);
  const { calls } = await reading(textOf(answer).trim(), request);
  return calls.find(({ name, fault }) => known.has(name) && fault === undefined)?.name;
}

/**
 * The model; an answer that ends in calls as text becomes a malformed one.
 * @param marks what its text must hold to be looked at
 */
export function withoutLeakedCalls(model: Model, marks: RegExp = mayHoldMarks): Model {
  return {
    ...modelFace(model),
    async call(request, io): Promise<AssistantMessage> {
      const answer = await model.call(request, io);
      if (answer.content.some(({ type }) => type === "tool_call")) return await once(answer, request);
      const isLeaky = mayLeak(answer, request) && marks.test(textOf(answer));
      const detail = isLeaky ? await leakIn(answer, request) : undefined;
      return detail === undefined
        ? answer
        : { ...answer, stop: { ...answer.stop, kind: "malformed_call", detail } };
    },
  };
}

/** The answer, whose calls its text must not hold as well. */
async function once(answer: AssistantMessage, request: ModelRequest): Promise<AssistantMessage> {
  if (!mayHoldMarks.test(textOf(answer))) return answer;
  const { withoutCopies } = await copies();
  return withoutCopies(answer, namesIn(request));
}

/** @param detail what is wrong with the answer; the model may be told */
export function malformed(
  answer: AssistantMessage,
  tool: string,
  detail: string = inText(`a call of ${tool}`),
): AssistantMessage {
  return { ...answer, stop: { ...answer.stop, kind: "malformed_call", detail } };
}

const inText = (what: string): string => `${what} stands in the answer's text, where nothing runs`;

/** What is wrong with an answer that ends in calls; undefined if it is fine. */
async function leakIn(answer: AssistantMessage, request: ModelRequest): Promise<string | undefined> {
  const text = textOf(answer).trim();
  const {
    firstNamed,
    inventsResult,
    isAddress,
    isNumbered,
    isUnopened,
    leftOpening,
    opensOnly,
    opensParameter,
    saysBehind,
  } = await families();
  const begun = leftOpening.exec(text);
  if (begun === null) return undefined;
  const [mark] = begun;
  const isAnnounced = answer.stop.wire === "tool_use";
  const isQuoted = !isNumbered(mark) && isAbout(text.slice(0, begun.index), mark);
  if (!isAnnounced && (isQuoted || isSpokenOf(mark, request))) return undefined;
  const leak = text.slice(begun.index);
  if (opensOnly(leak)) return "the answer's text begins a call, and the call itself is missing";
  if (opensParameter(leak)) return inText("a part of a call");
  const known = namesIn(request);
  const named = firstNamed(leak, known);
  if (isAnnounced) return inText(named === undefined ? "a call" : `a call of ${named}`);
  if (isAddress(mark) || isUnopened(leak))
    return named === undefined ? undefined : inText(`a call of ${named}`);
  const { calls, text: said, warnings, malformed: isBroken } = await reading(leak, request);
  if (said !== "") return undefined;
  // A text that goes on behind its calls is about them, but for LFM's, and for results that the model made up.
  const isOnly = warnings.length === 0 || inventsResult(leak) || (leak === text && saysBehind(text));
  const isCall = isOnly && calls.every(({ name, fault }) => known.has(name) && fault === undefined);
  const tool = isBroken !== undefined ? named : isCall ? calls[0]?.name : undefined;
  return tool === undefined ? undefined : inText(`a call of ${tool}`);
}

/** Whether the words before a token introduce it, or it is inside a fence. */
function isAbout(words: string, mark: string): boolean {
  if (words === "") return false;
  return mark.startsWith("`") || introduces.test(words) || words.split("```").length % 2 === 0;
}

function mayLeak(answer: AssistantMessage, { tools, toolChoice, outputSchema }: ModelRequest): boolean {
  if (tools.length === 0 || toolChoice === "none" || outputSchema !== undefined) return false;
  return ends.has(answer.stop.kind) && !answer.content.some(({ type }) => type === "tool_call");
}

/** An end that says nothing of calls: also a word that nobody knows, or a text to stop at, which may be what closes a call. */
const ends: ReadonlySet<string> = new Set(["end_turn", "stop_sequence", "unknown"]);

const namesIn = ({ tools }: ModelRequest): Set<string> => new Set(tools.map(({ name }) => name));

async function reading(text: string, request: ModelRequest): Promise<Reading> {
  const { readAnswer } = await reader();
  return readAnswer(text, {
    known: namesIn(request),
    tools: true,
    wire: "end_turn",
    isQuoted: saidBefore(request),
  });
}
