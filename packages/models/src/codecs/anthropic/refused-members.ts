// The room of members of its own blocks that a server does not take back.
//
// A block goes back as it came, but some servers refuse a member of what they sent (the encrypted content of a summary, the
// message of a failed search, citations on Bedrock), and then every later request. The path in the refusal names the block's
// type and the member; what is between them may be names of the server's own classes, so the member is left out wherever it
// is in a block of that type. Thinking is never changed.

import type { Json, JsonObject, Part } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { listIn, objectIn } from "../../json-values.ts";

const refused: RegExp =
  /\bmessages\.\d+\.content\.\d+\.(\w+)(?:\.\w+){0,8}\.(\w+)[`'"\\]*: extra inputs are not permitted/i;
/** What is ours, and what must stay as it is. */
const untouched: ReadonlySet<string> = new Set([
  "tool_result",
  "image",
  "document",
  "thinking",
  "redacted_thinking",
]);
/** Without them there is no block. */
const needed: ReadonlySet<string> = new Set(["type", "id", "tool_use_id", "cache_control"]);

/** The member that a refusal names, as `type.member`. */
export function refusedMember(words: string): string | undefined {
  const [, type = "", member = ""] = refused.exec(words) ?? [];
  return type === "" || untouched.has(type) || needed.has(member) ? undefined : `${type}.${member}`;
}

/** The part without the members that its server has refused. */
export function withoutRefusedMembers<P extends Part>(part: P, { compat }: Target): P {
  const all = listIn(compat?.refusedMembers);
  if (all.length === 0) return part;
  const type = part.type === "native" ? part.opaque.type : part.type === "tool_call" ? "tool_use" : part.type;
  const members = new Set(
    all.flatMap((one) =>
      typeof one === "string" && one.startsWith(`${type}.`) ? one.slice(`${type}.`.length) : [],
    ),
  );
  if (members.size === 0) return part;
  const { citations: _, ...uncited } = part as P & { citations?: Json };
  const kept = (members.has("citations") && part.type === "text" ? uncited : part) as P;
  if (!("opaque" in kept) || kept.opaque === undefined) return kept;
  return { ...kept, opaque: without(kept.opaque as JsonObject, members) };
}

function without(value: Json, members: ReadonlySet<string>): Json {
  if (Array.isArray(value)) return value.map((one) => without(one, members));
  const object = objectIn(value);
  if (object === undefined) return value;
  return Object.fromEntries(
    Object.entries(object)
      .filter(([name]) => !members.has(name))
      .map(([name, inner]) => [name, without(inner, members)]),
  );
}
