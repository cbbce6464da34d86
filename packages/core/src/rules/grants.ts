// The room of grants: approvals given in advance, and which calls they cover.
//
// Closed by default: a grant covers what it says and nothing else. It is compared with the validated arguments that a call
// would run with, never with what the model wrote, and with whole values, never with parts. The time depends only on their
// size, whatever they contain. A grant never overrides a denial, and never lets an interrupted call run again.

import { anything, type Check, checkGiven, count, membersOf, name, needed } from "../checks.ts";
import { invalidRequest, messageOf, type RondoError } from "../errors.ts";
import { jsonCopy } from "../json/copy.ts";
import { canonical } from "../json/digest.ts";
import { isObject } from "../json/object.ts";
import type { Json, JsonObject } from "../message.ts";
import { matchesGlob, maxGlobLength } from "./glob.ts";

/**
 * Which arguments a grant covers. `exact`: these, in any order of keys. `like`: the same keys, each value equal, or a string
 * that its glob matches (`*` within a path segment or line, `**` anything, `?` one character, `\*` a star); in an argument
 * listed in the tool's `shellArgs`, no wildcard matches another command. `others: "any"` allows keys that are not named.
 */
export type ArgsPattern = { exact: JsonObject } | { like: JsonObject; others?: "any" };

/** An approval given in advance: calls that it covers run without a request for approval. */
export interface Grant {
  id: string;
  tool: string;
  /** Absent: any arguments. */
  args?: ArgsPattern;
  /** When it expires, in milliseconds since 1970. Absent: never, within its session. */
  until?: number;
  /** How many calls it may let run. Absent: any number. */
  uses?: number;
}

/** A grant and its use so far. */
export interface HeldGrant extends Grant {
  /** How many calls it has let run. */
  used: number;
  /** The tool's `version` when the grant was given: it covers no other. `null`: the tool had none. Absent: the tool was not known. */
  version?: number | string | null;
  revoked?: true;
}

/** What of a call is compared with grants. */
interface Asking {
  readonly name: string;
  readonly args: JsonObject;
  /** Whether its arguments are valid; `raw`: they could not be parsed. */
  readonly check: { readonly ok: boolean; readonly raw?: unknown };
  /** The tool as it was when the call was made. */
  readonly tool?: GrantedFacts;
}

/** What counts of a tool. */
interface GrantedFacts {
  /** Which arguments are shell code. */
  readonly shellArgs?: readonly string[];
  readonly version?: number | string;
}

/** The first grant that covers a call now. */
export function grantFor(
  grants: readonly HeldGrant[],
  call: Asking,
  now: number,
  today?: GrantedFacts,
): HeldGrant | undefined {
  return grants.find((grant) => isLiveGrant(grant, now) && covers(grant, call, today));
}

/** Whether a grant can let any call run at all. */
export function isLiveGrant(grant: HeldGrant, now: number): boolean {
  if (grant.revoked || (grant.until !== undefined && now >= grant.until)) return false;
  return grant.uses === undefined || grant.used < grant.uses;
}

/**
 * Whether a grant covers this call; not whether it is still in force.
 * @param today the call's tool as it is now, if it is still there: what either of them takes for shell code is treated as such, and
 * the grant is for one version of it
 */
export function covers(
  grant: Grant & Pick<HeldGrant, "version">,
  call: Asking,
  today?: GrantedFacts,
): boolean {
  const { tool, args: pattern, version } = grant;
  const { name, args, check } = call;
  if (name !== tool || !check.ok) return false;
  if (version !== undefined && today !== undefined && version !== (today.version ?? null)) return false;
  if (pattern === undefined) return true;
  // Raw arguments cannot be compared member by member.
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
    // A grant as another session shows it (with `used`) is accepted.
    used: anything,
    version: anything,
    revoked: anything,
  },
  ["tool", "id"],
);

/**
 * Checks a grant given by the user.
 * @param now milliseconds since 1970
 * @throws RondoError `invalid_request` saying what is wrong
 */
export function checkGrant(grant: Grant, now: number): Grant {
  const wrong = (message: string): RondoError => invalidRequest(`allow: ${message}`);
  // If a limit were misspelt and ignored, there would be none.
  checkGiven(grantMembers, grant, "allow");
  const { id, tool, until, uses } = grant;
  if (until !== undefined && until <= now) throw wrong(whenPast(until, now));
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

/** A grant that has expired would let no call run, and nobody would know why. Frequent causes are a duration, or a time in seconds. */
const whenPast = (until: number, now: number): string =>
  `until is ${until}, and that has passed: it is ${now}. Give milliseconds since 1970, e.g. Date.now() + 60_000`;

/** A copy as plain JSON: later changes to the given object, or values that are not data, must not change the grant. */
function ownPattern(args: Grant["args"], wrong: (message: string) => RondoError): Grant["args"] {
  try {
    return jsonCopy(args, "args");
  } catch (thrown) {
    throw wrong(messageOf(thrown));
  }
}

/** Length of the longest string in a value, in characters. */
function longest(value: Json): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((most, one) => Math.max(most, longest(one)), 0);
}
