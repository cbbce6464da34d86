// The room of calls that a server could not read, and handed on as the answer's text, where tools are native.
//
// Such a text never runs (F234), and it is no answer either: it is malformed. What counts as one depends on the server.
//
// - Of a server on this machine, which is known for it, any call that would run if tools were text (`leakedCall`): not one
//   that the model only reads out.
// - Of any other, an answer that is nothing but calls in a family's own marks, of tools that are there (`withoutLeakedCalls`);
//   and one that begins so, names a tool and cannot be read, cut or garbled, which is what those servers make of a call. But not
//   where somebody in the conversation wrote of these marks: what a person asked to be shown is an answer.
//
// What reads calls is loaded with the first text that may be one.

import { type AssistantMessage, type Model, type ModelRequest, modelFace, textOf } from "@rondo/core";
import { loadOnce } from "../load-once.ts";
import { withoutEndToken } from "./end-token.ts";
import type { Reading } from "./read-answer.ts";
import { isSpokenOf, saidBefore } from "./said-before.ts";

const families = loadOnce(() => import("./native-calls.ts"));
const reader = loadOnce(() => import("./read-answer.ts"));
/** What every family's marks begin with. */
const mayBeMark = /^(?:[<[\]]|func|call:|declaration:|```)/;

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

/** The model, none of whose answers is nothing but calls as text, or ends in a token of its template. */
export function withoutLeakedCalls(model: Model): Model {
  const clean = withoutEndToken(model);
  return {
    ...modelFace(model),
    async call(request, io): Promise<AssistantMessage> {
      const answer = await clean.call(request, io);
      const leaked = mayLeak(answer, request) ? await wholeLeak(textOf(answer).trim(), request) : undefined;
      return leaked === undefined ? answer : malformed(answer, leaked);
    },
  };
}

/** @param detail what is wrong with the answer, which the model may be told */
export function malformed(
  answer: AssistantMessage,
  tool: string,
  detail: string = `a call of ${tool} stands in the answer's text, where nothing runs`,
): AssistantMessage {
  return { ...answer, stop: { ...answer.stop, kind: "malformed_call", detail } };
}

/** The first tool that a text calls which says nothing else. */
async function wholeLeak(text: string, request: ModelRequest): Promise<string | undefined> {
  if (!mayBeMark.test(text)) return undefined;
  const { firstNamed, opening, opensCalls } = await families();
  if (!opensCalls(text) || isSpokenOf(opening.exec(text)?.[0] ?? "", request)) return undefined;
  const known = namesIn(request);
  const { calls, text: said, warnings, malformed: isBroken } = await reading(text, request);
  if (isBroken !== undefined && said === "") return firstNamed(text, known);
  const isWhole = said === "" && warnings.length === 0;
  return isWhole && calls.every(({ name, fault }) => known.has(name) && fault === undefined)
    ? calls[0]?.name
    : undefined;
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
