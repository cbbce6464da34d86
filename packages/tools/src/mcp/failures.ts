// The room of failed calls: what the model reads of them.
//
// The message of a server's error is often only its kind ("Internal error"); what happened, or the address where a person must log
// in, is in the data beside it, which no client puts into the error's text.

import { messageOf } from "@rondo/core";

/** Of a client's fault-finding: it lists what each kind of block lacks. */
const mostWhy = 500;

/** An error of a call with all that is known of it. */
export function failureOf(thrown: unknown): unknown {
  const { code, data } = Object(thrown) as { code?: unknown; data?: unknown };
  if (code === "INVALID_RESULT") {
    const why = messageOf(thrown).slice(0, mostWhy);
    return new Error(`the call was made, and the client cannot read its answer: ${why}`, { cause: thrown });
  }
  // An error of JSON-RPC has a number; the data of any other is the client's own.
  if (typeof code !== "number" || data === undefined || data === null) return thrown;
  const said = typeof data === "string" ? data : JSON.stringify(data);
  return messageOf(thrown).includes(said) ? thrown : withMore(thrown, ` (${said})`);
}

/** An error of a call whose server is gone. @param doubt what is not known of the call */
export const lossOf = (thrown: unknown, doubt: string): Error =>
  withMore(thrown, `: the connection to the MCP server is lost${doubt}`);

const withMore = (thrown: unknown, more: string): Error =>
  new Error(`${messageOf(thrown)}${more}`, { cause: thrown });
