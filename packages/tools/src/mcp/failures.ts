// The room of failed calls: what the model reads of them.
//
// The message of a server's error is often only its kind ("Internal error"); what happened, or the address where a person must log
// in, is in the data beside it, which no client puts into the error's text. Of a broken network it is only "fetch failed". And a
// call whose answer was lost may have had its effect: who does not know that makes it again.

import { causesOf, messageOf, thrownIn } from "@rondo/core";

/** What is not known of a write that may have been made. */
export const doubt = "; whether the call had an effect is unknown";

/** Of a client's fault-finding: it lists what each kind of block lacks. */
const mostWhy = 500;

/**
 * An error of a call with all that is known of it.
 * @param mayRepeat whether the call may be made again anyway: then it does not matter that it may have been made
 */
export function failureOf(thrown: unknown, mayRepeat: boolean): unknown {
  const { code, data, status } = Object(thrown) as { code?: unknown; data?: unknown; status?: unknown };
  const open = mayRepeat ? "" : doubt;
  if (code === "INVALID_RESULT") {
    const why = messageOf(thrown).slice(0, mostWhy);
    return new Error(`the call was made, and the client cannot read its answer: ${why}`, { cause: thrown });
  }
  if (isUnreadable(thrown)) {
    const why = messageOf(thrown).slice(0, mostWhy);
    return new Error(`the client cannot read the server's answer: ${why}${open}`, { cause: thrown });
  }
  // The first clients give the status as `code`; the numbers of JSON-RPC are negative.
  const http = [status, code].find(
    (one): one is number => typeof one === "number" && one >= 100 && one < 600,
  );
  if (http !== undefined) return withMore(thrown, ` (HTTP ${http})${mayHaveBegun(http) ? open : ""}`);
  if (typeof code === "number") return withData(thrown, data);
  const network = networkCode(thrown);
  if (network === undefined) return thrown;
  return new Error(`${thrownIn(thrown).why}${unreached.has(network) ? "" : open}`, { cause: thrown });
}

/** An error of a call whose server is gone. @param more what is not known of the call */
export const lossOf = (thrown: unknown, more: string): Error =>
  withMore(thrown, `: the connection to the MCP server is lost${more}`);

/** Whether a client found no message in what was answered: no JSON, other JSON, or another kind of content, such as a page. */
function isUnreadable(thrown: unknown): boolean {
  const { code, issues } = Object(thrown) as { code?: unknown; issues?: unknown };
  if (thrown instanceof SyntaxError || (code === undefined && Array.isArray(issues))) return true;
  // The first clients' code for the content. A server's own error may have it too, and beside it a place for data.
  return code === -1 && !("data" in Object(thrown));
}

const withMore = (thrown: unknown, more: string): Error =>
  new Error(`${messageOf(thrown)}${more}`, { cause: thrown });

/** An error of JSON-RPC. The data of any other is the client's own. */
function withData(thrown: unknown, data: unknown): unknown {
  if (data === undefined || data === null) return thrown;
  const said = typeof data === "string" ? data : JSON.stringify(data);
  return messageOf(thrown).includes(said) ? thrown : withMore(thrown, ` (${said})`);
}

/** Whether a server, or a gateway in front of it, failed with a call that may have begun. It refuses with any other status: 501 and 505 say that it cannot do such a thing at all. */
const mayHaveBegun = (status: number): boolean => status >= 500 && status !== 501 && status !== 505;

/** The system's or undici's code for what happened to a connection. */
function networkCode(thrown: unknown): string | undefined {
  const codes = causesOf(thrown).map((cause) => (Object(cause) as { code?: unknown }).code);
  return codes.find(
    (code): code is string => typeof code === "string" && /^(?:E[A-Z_]+|UND_ERR_\w+)$/.test(code),
  );
}

/** The server was not reached. */
const unreached: ReadonlySet<string> = new Set([
  ..."ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH UND_ERR_CONNECT_TIMEOUT".split(" "),
]);
