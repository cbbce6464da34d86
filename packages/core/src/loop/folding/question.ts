// The room of the question's fold: how a record changes a call whose tool asks something after it has begun.
//
// While it waits nothing of it runs: its timeout does not count, and a crash interrupts nothing.

import type { Json } from "../../message.ts";
import { type Call, openQuestion } from "../state.ts";

/** The tool has stopped, and waits for an answer. */
export function askQuestion(call: Call, asked: Json): Call {
  if (call.startedAt === undefined) return call;
  const { startedAt: _startedAt, ...stopped } = call;
  const question = { asked, round: (call.question?.round ?? 0) + 1 };
  return { ...stopped, question };
}

/** The question was answered; the first answer counts. */
export function answerQuestion(call: Call, value: Json): Call {
  const question = openQuestion(call);
  return question === undefined ? call : { ...call, question: { ...question, answer: { value } } };
}
