// The room of operators: what an assertion on a request may say, one entry each.
//
// An operator returns what is wrong, or nothing. Those that require something of all values also require that there is
// at least one.

import { isDeepStrictEqual } from "node:util";
import {
  type Ask,
  all,
  before,
  complaint,
  demand,
  got,
  has,
  isWellFormed,
  lengthOf,
  member,
  noneBefore,
  type Operator,
  parsedObject,
  pattern,
  shown,
  strictComplaints,
  strictParts,
  text,
  within,
} from "./ask.ts";
import { type Assertion, Unsupported } from "./format.ts";
import type { SeenRequest } from "./observation.ts";
import { extendsList, messagesOf, orphans, unanswered, unmarked } from "./pairs.ts";
import { find, findParent } from "./paths.ts";

/** Checks one assertion. @returns what is wrong, with the value found, or undefined */
export function check(
  assertion: Assertion,
  request: SeenRequest,
  previous: SeenRequest | undefined,
): string | undefined {
  for (const member of Object.keys(assertion))
    if (!["path", "op", "value", "note"].includes(member))
      throw new Unsupported(`unknown member of an assertion: ${member}`);
  const { path, op, value } = assertion;
  const operator = Object.hasOwn(operators, op) ? operators[op] : undefined;
  if (operator === undefined) throw new Unsupported(`unknown operator ${JSON.stringify(op)}`);
  const found = find(path, request, /^(?:not_)?(?:contains|matches)$/.test(op));
  return operator({ found, one: found.values[0], value, path, request, previous });
}

const bodies = ({ request, previous }: Ask): { now: unknown; was: unknown } | undefined =>
  previous === undefined ? undefined : { now: request.body, was: previous.body };

/** Whole bodies: lists may be extended, everything else must stay the same. */
function extendsBody({ now, was }: { now: unknown; was: unknown }): boolean {
  const bare = unmarked(now) as Record<string, unknown>;
  return Object.entries(unmarked(was) as Record<string, unknown>).every(([name, value]) => {
    const own = bare[name];
    return Array.isArray(value) && Array.isArray(own)
      ? extendsList(own, value)
      : isDeepStrictEqual(own, value);
  });
}

/** Whether a message holds results of tools alone: a text of the user's comes in a message of its own after it (F045, F038). */
function isOfResults({ content, parts }: { content?: unknown; parts?: unknown }): boolean {
  const blocks = content ?? parts;
  return (
    Array.isArray(blocks) &&
    blocks.length > 0 &&
    blocks.every(
      (block) =>
        member(block, "type") === "tool_result" ||
        member(block, "toolResult") !== undefined ||
        member(block, "functionResponse") !== undefined,
    )
  );
}

/** A value, and if it is a list of one text, that text: content may be sent as either. */
function spellings(value: unknown): unknown[] {
  const alone = Array.isArray(value) && value.length === 1 ? member(value[0], "text") : undefined;
  return typeof alone === "string" ? [value, alone] : [value];
}

const isSame = (value: unknown, wanted: unknown): boolean =>
  spellings(value).some((one) => isDeepStrictEqual(one, wanted));

const fits = (value: unknown, wanted: unknown): boolean =>
  spellings(value).some((one) => pattern(wanted).test(text(one)));

export const operators: { readonly [op: string]: Operator } = {
  // Null is also what a member that is not there has.
  eq: (ask) =>
    demand(
      ask.found.many ? isDeepStrictEqual(ask.found.values, ask.value) : isSame(ask.one ?? null, ask.value),
      () => `must be ${shown(ask.value)}; ${got(ask)}`,
    ),
  in: (ask) =>
    demand(
      Array.isArray(ask.value) && ask.value.some((one) => isSame(ask.one ?? null, one)),
      () => `must be one of ${shown(ask.value)}; ${got(ask)}`,
    ),
  lte: (ask) =>
    demand(
      typeof ask.one === "number" && ask.one <= Number(ask.value),
      () => `must be at most ${shown(ask.value)}; ${got(ask)}`,
    ),
  type: (ask) => {
    const { one } = ask;
    const type = one === null ? "null" : Array.isArray(one) ? "array" : typeof one;
    return demand(type === ask.value, () => `must be of type ${shown(ask.value)}; it is ${type}`);
  },
  is_object: (ask) =>
    demand(
      typeof ask.one === "object" && ask.one !== null && !Array.isArray(ask.one),
      () => `must be an object; ${got(ask)}`,
    ),
  matches: (ask) =>
    demand(
      ask.found.values.some((value) => value !== undefined && fits(value, ask.value)),
      () => `must match ${shown(ask.value)}; ${got(ask)}`,
    ),
  not_matches: (ask) =>
    demand(
      !ask.found.values.some((value) => value !== undefined && pattern(ask.value).test(text(value))),
      () => `must not match ${shown(ask.value)}; ${got(ask)}`,
    ),
  contains: (ask) => demand(has(ask), () => `must contain ${shown(ask.value)}; ${got(ask)}`),
  not_contains: (ask) => demand(!has(ask), () => `must not contain ${shown(ask.value)}; ${got(ask)}`),
  len: (ask) =>
    demand(
      lengthOf(ask) === ask.value,
      () => `must have length ${shown(ask.value)}, not ${lengthOf(ask)}; ${got(ask)}`,
    ),
  len_lte: (ask) =>
    demand(
      (lengthOf(ask) ?? Number.POSITIVE_INFINITY) <= Number(ask.value),
      () => `must be no longer than ${shown(ask.value)}; it has ${lengthOf(ask)}`,
    ),
  len_increased_by: (ask) => {
    const pair = before(ask);
    if (pair === undefined) return noneBefore;
    const grown = lengthOf(ask)! - (Array.isArray(pair.was) ? pair.was.length : Number.NaN);
    return demand(grown === ask.value, () => `must have grown by ${shown(ask.value)}; it grew by ${grown}`);
  },
  present: (ask) =>
    demand(
      ask.found.values.some((value) => value !== undefined),
      () => "must be present",
    ),
  absent: (ask) =>
    demand(
      ask.found.values.every((value) => value === undefined),
      () => `must be absent; ${got(ask)}`,
    ),
  same_as: (ask) => {
    const other = find(String(ask.value), ask.request).values[0];
    return demand(
      ask.one !== undefined && isDeepStrictEqual(ask.one, other),
      () => `must be the same as ${String(ask.value)}, which is ${shown(other)}; ${got(ask)}`,
    );
  },
  valid_json_object: (ask) =>
    demand(parsedObject(ask.one), () => `must be the JSON text of an object; ${got(ask)}`),

  all_eq: all(
    (value, ask) => isSame(value, ask.value),
    (ask) => `all must be ${shown(ask.value)}`,
  ),
  // Blocks of other kinds do not have this member; but at least one must have it.
  all_match: (ask) => {
    const values = ask.found.values.filter((value) => value !== undefined);
    const isMet = values.length > 0 && values.every((value) => fits(value, ask.value));
    return demand(isMet, () => `all must match ${shown(ask.value)}; ${got(ask)}`);
  },
  all_present: all(
    (value) => value !== undefined,
    () => "all must be present",
  ),
  all_absent: all(
    (value) => value === undefined,
    () => "all must be absent",
    false,
  ),
  all_valid_json_object: all(parsedObject, () => "all must be JSON texts of objects", false),
  all_unique: (ask) => {
    const values = ask.found.values.filter((value) => value !== undefined);
    const seen = new Set(values.map((value) => JSON.stringify(value)));
    return demand(values.length > 0 && seen.size === values.length, () => `all must differ; ${got(ask)}`);
  },
  none_eq: all(
    (value, ask) => !isDeepStrictEqual(value, ask.value),
    (ask) => `none may be ${shown(ask.value)}`,
    false,
  ),
  none_with_type: all(
    (value, ask) => member(value, "type") !== ask.value,
    (ask) => `none may have type ${shown(ask.value)}`,
    false,
  ),
  none_with_status: all(
    (value, ask) => member(value, "status") !== ask.value,
    (ask) => `none may have status ${shown(ask.value)}`,
    false,
  ),
  some_with_type: (ask) =>
    demand(
      ask.found.values.some((value) => member(value, "type") === ask.value),
      () => `some must have type ${shown(ask.value)}; ${got(ask)}`,
    ),
  no_empty_array: all(
    (value) => !(Array.isArray(value) && value.length === 0),
    () => "none may be an empty list",
    false,
  ),
  count_where: (ask) => {
    const { n, ...where } = ask.value as { n: number; [member: string]: unknown };
    const items = ask.found.many ? ask.found.values : Array.isArray(ask.one) ? (ask.one as unknown[]) : [];
    const count = items.filter((item) =>
      Object.entries(where).every(([name, value]) => isDeepStrictEqual(member(item, name), value)),
    ).length;
    return demand(count === n, () => `${n} must have ${shown(where)}, not ${count}; ${got(ask)}`);
  },

  every_tool_use_has_result_next: (ask) => complaint(unanswered(ask.request.body)),
  no_orphan_tool_result: (ask) => complaint(orphans(ask.request.body)),
  tool_calls_followed_by_all_tool_messages: (ask) =>
    complaint([...unanswered(ask.request.body), ...orphans(ask.request.body)]),
  function_call_pairs_complete: (ask) => {
    const items = messagesOf(ask.request.body);
    const ids = (type: RegExp): unknown[] =>
      items
        .filter((item) => type.test(String(item.type)) && item.call_id !== undefined)
        .map((item) => item.call_id);
    const calls = ids(/_call$/).sort();
    const outputs = ids(/_call_output$/).sort();
    return demand(
      isDeepStrictEqual(calls, outputs),
      () => `each call needs its one output: calls ${shown(calls)}, outputs ${shown(outputs)}`,
    );
  },
  no_reasoning_without_following_item: (ask) => {
    const items = messagesOf(ask.request.body);
    const alone = items.filter((item, at) => {
      if (item.type !== "reasoning") return false;
      const next = items.slice(at + 1).find((other) => other.type !== "reasoning");
      return next === undefined || next.role === "user" || /_output$/.test(String(next.type));
    });
    return demand(alone.length === 0, () => `reasoning without the item that follows it: ${shown(alone)}`);
  },
  roles_alternate: (ask) => {
    const roles = messagesOf(ask.request.body)
      .filter((message) => message.role !== "system" && message.role !== "developer")
      .map((message) => (isOfResults(message) ? "tool" : String(message.role ?? message.type)));
    const spoken = roles.filter((role) => role !== "tool");
    const twice = spoken.findIndex((role, at) => {
      if (at === 0 || role !== spoken[at - 1]) return false;
      // Tool results may come between two answers of the model.
      const places = roles.flatMap((one, place) => (one === "tool" ? [] : [place]));
      return (places[at] as number) - (places[at - 1] as number) === 1;
    });
    return demand(
      twice < 0 && spoken[0] === "user",
      () => `roles must alternate, a user first; got ${shown(roles)}`,
    );
  },
  no_role_pair: (ask) => {
    const [a, b] = ask.value as [string, string];
    const roles = messagesOf(ask.request.body).map((message) => message.role);
    const at = roles.findIndex(
      (role, place) =>
        place > 0 && ((roles[place - 1] === a && role === b) || (roles[place - 1] === b && role === a)),
    );
    return demand(at < 0, () => `${a} and ${b} must not stand side by side; got ${shown(roles)}`);
  },
  present_if_tool_blocks: (ask) => {
    const used =
      messagesOf(ask.request.body).length > 0 &&
      /"(?:tool_use|toolUse|tool_calls|functionCall|function_call)"/.test(ask.request.text);
    return demand(
      !used || ask.one !== undefined,
      () => "must be present, for there are tool blocks in the conversation",
    );
  },
  no_type_arrays: (ask) => {
    const lists = [...within(ask.found.values)].filter((one) => Array.isArray(one.type));
    return demand(lists.length === 0, () => `no type may be a list; got ${shown(lists)}`);
  },
  strict_valid: (ask) =>
    complaint(strictParts(ask.found.values).flatMap((part) => [...within(part)].flatMap(strictComplaints))),
  not_both_forced_and_enabled: (ask) => {
    const body = ask.request.body as Record<string, unknown>;
    const choice = member(body.tool_choice, "type") ?? body.tool_choice;
    const forced = ["any", "tool", "required", "function"].includes(String(choice));
    const enabled = ["enabled", "adaptive"].includes(String(member(body.thinking, "type")));
    return demand(
      !(forced && enabled),
      () => `tool choice ${shown(body.tool_choice)} and thinking ${shown(body.thinking)} exclude each other`,
    );
  },
  well_formed_utf16: (ask) =>
    demand(
      isWellFormed(ask.path === "$" ? ask.request.body : ask.found.values),
      () => "half a surrogate pair stands in it",
    ),
  count_matches_lte: (ask) => {
    const { pattern: source, n } = ask.value as { pattern: string; n: number };
    const count = [...text(ask.one).matchAll(pattern(source, "g"))].length;
    return demand(
      count <= n,
      () => `${shown(source)} must match at most ${n} times; it matches ${count} times`,
    );
  },

  same_as_previous_request: (ask) => {
    const pair = before(ask);
    if (pair === undefined) return noneBefore;
    return demand(
      isDeepStrictEqual(pair.now, pair.was),
      () => `must be as in the request before, which had ${shown(pair.was)}; ${got(ask)}`,
    );
  },
  differs_from_previous_request: (ask) => {
    const pair = before(ask);
    if (pair === undefined) return noneBefore;
    return demand(
      !isDeepStrictEqual(pair.now, pair.was),
      () => `must differ from the request before; ${got(ask)}`,
    );
  },
  extends_previous_request_ignoring_cache_control: (ask) => {
    const pair = ask.path === "$" ? bodies(ask) : before(ask);
    if (pair === undefined) return noneBefore;
    if (ask.path === "$")
      return demand(extendsBody(pair), () => `must begin with all of the request before; ${got(ask)}`);
    if (Array.isArray(pair.now) && Array.isArray(pair.was))
      return demand(
        extendsList(pair.now, pair.was),
        () => `must begin with all of the request before, ${shown(pair.was)}; ${got(ask)}`,
      );
    return demand(
      isDeepStrictEqual(unmarked(pair.now), unmarked(pair.was)),
      () => `must be as in the request before, ${shown(pair.was)}; ${got(ask)}`,
    );
  },

  absent_or_prefix: all(
    (value, ask) => value === undefined || String(value).startsWith(String(ask.value)),
    (ask) => `each must be absent or begin with ${shown(ask.value)}`,
    false,
  ),
  eq_or_no_function_call: (ask) => {
    const part = findParent(ask.path, ask.request).values[0];
    const lenient = part !== undefined && member(part, "functionCall") === undefined;
    return demand(
      lenient || isDeepStrictEqual(ask.one, ask.value),
      () => `must be ${shown(ask.value)}, or no call; ${got(ask)}`,
    );
  },
};
