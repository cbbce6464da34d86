// The room of outside actions: answers to calls that wait for approval, and files written behind the tools' back, with
// the synonyms that cases use.

import type { JsonObject, RunResult, Session } from "@rondo/core";
import { type CaseAction, Unsupported } from "./format.ts";

/** Synonyms for an outside change of a file. */
export const writes: RegExp =
  /^(?:external_|user_|other_|fs_)?(?:write|edit|modify|change|overwrite|replace|update|save|set|touch)(?:_files?|_fs)?(?:_externally)?$/;

/** The answer that an action gives to the first waiting call; undefined when it gives none. */
export function answerIn(action: CaseAction): ((session: Session) => Promise<RunResult>) | undefined {
  const { do: word, text, arguments: args } = action;
  if (/^(?:approve|allow|accept)(?:_call|_tool)?$/.test(word))
    return (session) => session.approve(waiting(session));
  if (/^(?:deny|reject|decline)(?:_call|_tool)?$/.test(word))
    return (session) => session.deny(waiting(session), text);
  if (/^(?:edit|change)(?:_call|_args|_arguments)?$/.test(word) && args !== undefined)
    return (session) => session.edit(waiting(session), args as JsonObject);
  return undefined;
}

function waiting({ pending }: Session): string {
  const [call] = pending;
  if (call === undefined) throw new Unsupported("actions[]: no call waits for an answer");
  return call.id;
}
