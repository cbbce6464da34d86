// The room of calls that a server could not read, and handed on as the answer's text, where tools are native.
//
// Such a text never runs (F234), and it is no answer either: it is malformed. What counts as one depends on the server.
//
// - Of a server on this machine, which is known for it, any call that would run if tools were text (`leakedCall`): not one
//   that the model only reads out.
// - Of any other, an answer that ends in calls in a family's own marks, of tools that are there (`withoutLeakedCalls`); one that
//   names a tool there and cannot be read, cut or garbled, which is what those servers make of a call; and one whose end begins
//   a call. But not where the words before it are about it, as behind a colon or in a fence, nor where somebody in the
//   conversation wrote of these marks: what a person asked to be shown is an answer. Where the server itself says that there
//   are calls, and gives none, marks are calls for certain.
//
// What reads calls is loaded with the first text that may be one.

import { type AssistantMessage, type Model, type ModelRequest, modelFace, textOf } from "@rondo/core";
import { introduces, isSpokenOf, saidBefore } from "../answer/said-before.ts";
import { loadOnce } from "../load-once.ts";
import type { Reading } from "./read-answer.ts";

const families = loadOnce(() => import("./native-calls.ts"));
const reader = loadOnce(() => import("./read-answer.ts"));
/** What every family's marks begin with. */
const mayHoldMarks = /[<[]|\bfunc|\bcall:|\bdeclaration:|```/;

/** The tool that an answer without calls calls in its text; undefined where it is a text. */
export async function leakedCall(
  answer: AssistantMessage,
  request: ModelRequest,
): Promise<string | undefined> {
  if (!mayLeak(answer, request)) return undefined;
  const known = namesIn(request);
  const { calls } = await reading(textOf(answer).trim(), request);
  return calls.find(({ name, fault }) => known.has(name) && fault === undefined)?.name;
}

/** The model, none of whose answers is nothing but calls as text. */
export function withoutLeakedCalls(model: Model): Model {
  return {
    ...modelFace(model),
    async call(request, io): Promise<AssistantMessage> {
      const answer = await model.call(request, io);
      const detail = mayLeak(answer, request) ? await leakIn(answer, request) : undefined;
      return detail === undefined
        ? answer
        : { ...answer, stop: { ...answer.stop, kind: "malformed_call", detail } };
    },
  };
}

/** @param detail what is wrong with the answer, which the model may be told */
export function malformed(
  answer: AssistantMessage,
  tool: string,
  detail: string = inText(`a call of ${tool}`),
): AssistantMessage {
  return { ...answer, stop: { ...answer.stop, kind: "malformed_call", detail } };
}

const inText = (what: string): string => `${what} stands in the answer's text, where nothing runs`;

/** What is wrong with an answer that ends in calls; undefined where it stands. */
async function leakIn(answer: AssistantMessage, request: ModelRequest): Promise<string | undefined> {
  const text = textOf(answer).trim();
  if (!mayHoldMarks.test(text)) return undefined;
  const { firstNamed, opening, opensOnly } = await families();
  const begun = opening.exec(text);
  if (begun === null) return undefined;
  const [mark] = begun;
  const isAnnounced = answer.stop.wire === "tool_use";
  if (!isAnnounced && (isAbout(text.slice(0, begun.index), mark) || isSpokenOf(mark, request)))
    return undefined;
  const leak = text.slice(begun.index);
  if (opensOnly(leak)) return "the answer's text begins a call, and the call itself is missing";
  const known = namesIn(request);
  const named = firstNamed(leak, known);
  if (isAnnounced) return inText(named === undefined ? "a call" : `a call of ${named}`);
  const { calls, text: said, warnings, malformed: isBroken } = await reading(leak, request);
  if (said !== "") return undefined;
  const isCall =
    warnings.length === 0 && calls.every(({ name, fault }) => known.has(name) && fault === undefined);
  const tool = isBroken !== undefined ? named : isCall ? calls[0]?.name : undefined;
  return tool === undefined ? undefined : inText(`a call of ${tool}`);
}

/** Whether the words before a mark are about it, or a fence stands around it. */
function isAbout(words: string, mark: string): boolean {
  if (words === "") return false;
  return mark.startsWith("`") || introduces.test(words) || words.split("```").length % 2 === 0;
}

function mayLeak(answer: AssistantMessage, { tools, toolChoice, outputSchema }: ModelRequest): boolean {
  if (tools.length === 0 || toolChoice === "none" || outputSchema !== undefined) return false;
  return answer.stop.kind === "end_turn" && !answer.content.some(({ type }) => type === "tool_call");
}

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
