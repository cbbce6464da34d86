// The room of items that ask something of the client that only the caller's own code could do: approve a call of an MCP
// server, use a computer, run a command on this machine. The loop has no answer to them, and a conversation with such an
// item and no answer is refused from then on. So the answer fails, and says what was asked.

import { type AssistantMessage, errorWith, type JsonObject, type NativePart, RondoError } from "@rondo/core";
import { objectIn, textIn } from "../../json-values.ts";

/** What each kind of item asks for. */
const asked: ReadonlyMap<string, string> = new Map([
  ["mcp_approval_request", "the approval of a call of an MCP server"],
  ["computer_call", "an action on a computer"],
  ["local_shell_call", "a command in the client's shell"],
  ["shell_call", "a command in the client's shell"],
  ["apply_patch_call", "a change to the client's files"],
  ["tool_search_call", "a search among the client's tools"],
]);

const itemOf = ({ opaque }: NativePart): JsonObject => objectIn(opaque.item) ?? {};

/** Whether the client is to do it: tools may also be searched by the server. */
const asksClient = (part: NativePart): boolean =>
  asked.has(part.kind) && (part.kind !== "tool_search_call" || itemOf(part).execution === "client");

/** The error of an answer that asks for something that it did not get from the server itself; undefined for any other. */
export function unmetRequest(answer: AssistantMessage): RondoError | undefined {
  const { content, origin, stop, usage } = answer;
  const natives = content.filter((part) => part.type === "native");
  const isMet = (part: NativePart): boolean =>
    natives.some(
      (other) => other.kind === `${part.kind}_output` && itemOf(other).call_id === itemOf(part).call_id,
    );
  const unmet = natives.find((part) => asksClient(part) && !isMet(part));
  if (unmet === undefined) return undefined;
  const item = itemOf(unmet);
  const name = textIn(item.name);
  const server = textIn(item.server_label);
  const of = [...(name ? [`"${name}"`] : []), ...(server ? [`of the server "${server}"`] : [])].join(" ");
  const never = unmet.kind === "mcp_approval_request" ? '; set "require_approval": "never" for it' : "";
  const error = new RondoError(
    "capability",
    `${origin.provider}/${origin.model} asked for ${asked.get(unmet.kind)}${of === "" ? "" : ` (${of})`} with an item "${unmet.kind}", which Rondo does not answer${never}`,
  );
  const said = content.filter((part) => part.type !== "tool_call");
  return errorWith(error, { partial: { ...answer, content: said, stop: { ...stop, kind: "error" } }, usage });
}
