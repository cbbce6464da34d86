// The room of grants: permission that was given in advance, and which call it covers.
//
// Closed by default: a grant covers what it says and nothing else. It is held against the checked arguments a call
// would run with, never against what the model wrote; against whole values, never against parts; and in time that
// grows with their size alone, whatever stands in them. A grant never stands over a denial, and never lets an
// interrupted call run again: that is another question.

import { anything, type Check, checkGiven, count, membersOf, name, needed } from "../checks.ts";
import { invalidRequest, messageOf, type RondoError } from "../errors.ts";
import { jsonCopy } from "../json/copy.ts";
import { canonical } from "../json/digest.ts";
import { isObject } from "../json/object.ts";
import type { Json, JsonObject } from "../message.ts";
import { matchesGlob, maxGlobLength } from "./glob.ts";

/**
 * Which arguments a grant is for. `exact`: these, whatever the order of their keys. `like`: the same keys, each value
 * equal, or a text that its glob matches (`*` within a path segment or line, `**` anything, `?` one character, `\*` a
 * star); in an argument that its tool names in `shellArgs` no wildcard stands for what would be another command.
 * `others: "any"` lets keys be there that are not named.
 */
export type ArgsPattern = { exact: JsonObject } | { like: JsonObject; others?: "any" };

/** Permission to call a tool without being asked. */
export interface Grant {
  id: string;
  tool: string;
  /** Absent: any arguments. */
  args?: ArgsPattern;
  /** It holds before this time, in milliseconds since 1970. Absent: for the life of the session. */
  until?: number;
  /** How many calls it lets run. Absent: any number. */
  uses?: number;
}

/** A grant, and what has become of it. */
export interface HeldGrant extends Grant {
  /** How many calls it has let run. */
  used: number;
  revoked?: true;
}

/** What is held against grants. */
interface Asking {
  readonly name: string;
  readonly args: JsonObject;
  /** Whether its arguments fit; `raw`: they could not be read. */
  readonly check: { readonly ok: boolean; readonly raw?: unknown };
  /** The tool as it was when the call was made. */
  readonly tool?: ShellFacts;
}

/** Which arguments of a tool are programs for a shell. */
interface ShellFacts {
  readonly shellArgs?: readonly string[];
}

/** The first grant that covers a call now. */
export function grantFor(
  grants: readonly HeldGrant[],
  call: Asking,
  now: number,
  today?: ShellFacts,
): HeldGrant | undefined {
  return grants.find((grant) => isLiveGrant(grant, now) && covers(grant, call, today));
}

/** Whether a grant can let any call run at all. */
export function isLiveGrant(grant: HeldGrant, now: number): boolean {
  if (grant.revoked || (grant.until !== undefined && now >= grant.until)) return false;
  return grant.uses === undefined || grant.used < grant.uses;
}

/**
 * Whether a grant says that this call may run; whether it still holds is another question.
 * @param today the call's tool as it is now, where that is other than it was: what either takes for a program is one
 */
export function covers({ tool, args: pattern }: Grant, call: Asking, today?: ShellFacts): boolean {
  const { name, args, check } = call;
  if (name !== tool || !check.ok) return false;
  if (pattern === undefined) return true;
  // Arguments taken as they are written have no parts that could be told from each other.
  if (check.raw) return false;
  if ("exact" in pattern) return canonical(pattern.exact) === canonical(args);
  const isProgram = (key: string): boolean =>
    [call.tool, today].some((facts) => facts?.shellArgs?.includes(key) === true);
  return likeObject(pattern.like, args, pattern.others === "any", isProgram);
}

function like(pattern: Json, value: Json, isProgram: boolean): boolean {
  if (typeof pattern === "string") return typeof value === "string" && matchesGlob(pattern, value, isProgram);
  if (Array.isArray(pattern))
    return (
      Array.isArray(value) &&
      value.length === pattern.length &&
      pattern.every((one, at) => like(one, value[at] as Json, isProgram))
    );
  if (!isObject(pattern)) return pattern === value;
  return isObject(value) && likeObject(pattern, value, false, () => isProgram);
}

function likeObject(
  pattern: JsonObject,
  value: JsonObject,
  othersToo: boolean,
  isProgram: (key: string) => boolean,
): boolean {
  const named = Object.keys(pattern);
  if (!othersToo && Object.keys(value).length !== named.length) return false;
  return named.every(
    (key) => Object.hasOwn(value, key) && like(pattern[key] as Json, value[key] as Json, isProgram(key)),
  );
}

const grantMembers: Check = membersOf<HeldGrant>(
  {
    id: name,
    tool: name,
    args: anything,
    until: needed("a time in milliseconds since 1970", Number.isFinite),
    uses: count,
    // One that is held elsewhere may be given here as it is shown.
    used: anything,
    revoked: anything,
  },
  ["tool", "id"],
);

/**
 * Checks a grant as it comes from a user.
 * @throws RondoError `invalid_request` saying what is wrong
 */
export function checkGrant(grant: Grant): Grant {
  const wrong = (message: string): RondoError => invalidRequest(`allow: ${message}`);
  // A limit that is misspelt would be none.
  checkGiven(grantMembers, grant, "allow");
  const { id, tool, until, uses } = grant;
  const args = ownPattern(grant.args, wrong);
  if (args !== undefined) {
    if (!isObject(args)) throw wrong(`args must be an object, not ${JSON.stringify(args)}`);
    const said = "exact" in args ? args.exact : "like" in args ? args.like : undefined;
    if (!isObject(said))
      throw wrong("args must be { exact: {…} } or { like: {…} }, each with an object of arguments");
    if ("like" in args && args.others !== undefined && args.others !== "any")
      throw wrong(`args.others is "any" or left out, not ${JSON.stringify(args.others)}`);
    if ("like" in args && longest(args.like) > maxGlobLength)
      throw wrong(
        `a pattern in args.like has more than ${maxGlobLength} characters: use exact for long texts`,
      );
  }
  return {
    id,
    tool,
    ...(args === undefined ? {} : { args }),
    ...(until === undefined ? {} : { until }),
    ...(uses === undefined ? {} : { uses }),
  };
}

/** A copy as plain JSON: what is changed afterwards, or is no data, is not what was allowed. */
function ownPattern(args: Grant["args"], wrong: (message: string) => RondoError): Grant["args"] {
  try {
    return jsonCopy(args, "args");
  } catch (thrown) {
    throw wrong(messageOf(thrown));
  }
}

/** Characters of the longest text in a value. */
function longest(value: Json): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((most, one) => Math.max(most, longest(one)), 0);
}
