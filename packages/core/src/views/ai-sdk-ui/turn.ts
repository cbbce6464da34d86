// The room of the turn: does in a session what a page has posted.
//
// The session knows the conversation, so of what is posted only the new is read: the user's last message, and answers to calls
// that wait. What else a page says was said, by the user, the model or a tool, is not believed.

import { checkGiven, having, listOf, membersOf, text } from "../../checks.ts";
import { invalidRequest } from "../../errors.ts";
import type { FileInput } from "../../input.ts";
import { type JsonObject, type TextPart, textOf } from "../../message.ts";
import type { RunResult } from "../../result.ts";
import type { Session } from "../../session.ts";
import type { Posted, PostedMessage } from "./shapes.ts";

export interface TurnOptions {
  /** Names of the tools whose calls the page answers (`addToolOutput`). A result that it gives for any other call is ignored, unless that call asks a question. Default: none. */
  clientTools?: readonly string[];
}

const postedBody = membersOf<Posted>(
  {
    id: text,
    messages: listOf(
      membersOf<PostedMessage>(
        { id: text, role: text, parts: listOf(having("a part", { type: text })) },
        ["id", "role", "parts"],
        "let_pass",
      ),
    ),
    trigger: text,
    messageId: text,
  },
  ["messages"],
  "let_pass",
);

/** @throws RondoError `invalid_request` saying what is wrong with the body of a request */
export const checkPosted = (posted: Posted): void =>
  checkGiven(postedBody, posted, "the body of a request of useChat");

/** Something of a posted message that answers a call. */
interface Answer {
  toolCallId: string;
  state: string;
  output?: unknown;
  errorText?: string;
  approval?: { approved?: boolean; reason?: string };
}

/**
 * Does what was posted: starts a run with the user's new message, or adds the message to the run, in which it takes the place of the
 * answers that it waits for; answers waiting calls; asks again (`regenerate`), or from an edited message on. What was posted before changes nothing. Resolves when the run ends or parks.
 * @returns the run's result; undefined if nothing was to be done
 * @throws RondoError `invalid_request` if it is no such body, or if the page's conversation is not the session's where it is to be
 *   rewritten; and what the session's methods throw
 */
export async function takeTurn<Output>(
  session: Session<Output>,
  posted: Posted,
  options: TurnOptions = {},
): Promise<RunResult<Output> | undefined> {
  checkPosted(posted);
  return takeChecked(session, posted, options);
}

/** {@link takeTurn} with a body that has been checked. */
export async function takeChecked<Output>(
  session: Session<Output>,
  posted: Posted,
  { clientTools = [] }: TurnOptions,
): Promise<RunResult<Output> | undefined> {
  const { messages, trigger } = posted;
  const last = messages.at(-1);
  if (isRewrite(posted)) return rewrite(session, messages, trigger !== "regenerate-message");
  let result: RunResult<Output> | undefined;
  for (const answer of messages.flatMap(answersIn)) {
    // Only what still waits is answered: a page may post its answers twice.
    const call = session.pending.find(({ id }) => id === answer.toolCallId);
    if (call === undefined) continue;
    const isPages = call.question !== undefined || clientTools.includes(call.name);
    if (answer.state === "approval-responded") {
      const { approved, reason } = answer.approval ?? {};
      result = await (approved === true ? session.approve(call.id) : session.deny(call.id, reason));
    } else if (isPages && answer.state === "output-available")
      result = await session.answer(call.id, answer.output);
    else if (isPages && answer.state === "output-error")
      result = await session.answer(call.id, new Error(answer.errorText));
  }
  // A message that is posted again has the same id, and is dropped.
  return last?.role === "user" ? session.tell(contentOf(last), last.id) : result;
}

/** Whether the page changes what it had posted before: by an edited message, or by asking again. */
export const isRewrite = ({ messages, trigger, messageId }: Posted): boolean => {
  const last = messages.at(-1);
  return trigger === "regenerate-message" || (last?.role === "user" && last.id === messageId);
};

/** Asks again for the answer to the page's last message, or (`isEdited`) replaces that message. What came after it is dropped. */
async function rewrite<Output>(
  session: Session<Output>,
  messages: readonly PostedMessage[],
  isEdited: boolean,
): Promise<RunResult<Output>> {
  const shown = messages.filter(({ role }) => role === "user");
  const history = session.messages;
  const said = history.flatMap((one, index) => (one.role === "user" ? [{ index, text: textOf(one) }] : []));
  const last = said[shown.length - 1];
  // After a summary, say, the page shows more than there is.
  const kept = isEdited ? shown.slice(0, -1) : shown;
  if (last === undefined || kept.some((one, nth) => textIn(one) !== said[nth]?.text))
    throw invalidRequest(
      "the conversation on the page is not the session's any more: load it again (uiMessages), then edit or regenerate",
    );
  if (session.status !== "idle") session.abort("the conversation is rewritten");
  const edited = shown.at(-1);
  if (!isEdited || edited === undefined) return session.send(history.slice(0, last.index + 1));
  return session.send([...history.slice(0, last.index), { role: "user", content: contentOf(edited) }]);
}

function answersIn({ role, parts }: PostedMessage): Answer[] {
  if (role !== "assistant") return [];
  return parts.filter(
    (part: { type: string } & Partial<Answer>): part is { type: string } & Answer =>
      typeof part.toolCallId === "string" && typeof part.state === "string",
  );
}

/** What the user wrote and attached. A URL that the page chose is not passed on. */
function contentOf({ parts }: PostedMessage): (TextPart | FileInput)[] {
  return (parts as readonly JsonObject[]).flatMap((part): (TextPart | FileInput)[] => {
    const { type, text: said, url, mediaType, filename } = part;
    if (type === "text" && typeof said === "string") return said === "" ? [] : [{ type, text: said }];
    if (type !== "file" || typeof url !== "string" || typeof mediaType !== "string") return [];
    if (!url.startsWith("data:")) return [];
    return [{ type, mediaType, url, ...(typeof filename === "string" ? { name: filename } : {}) }];
  });
}

const textIn = (message: PostedMessage): string =>
  contentOf(message)
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("");
