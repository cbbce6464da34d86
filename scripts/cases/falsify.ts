// The room of falsification: makes every expectation of a case false, one at a time.
//
// If the case still passes, that expectation asserts nothing. A run does not depend on what is expected of it, so all
// falsehoods are judged against the same observation.

import type { Assertion, Case, Expect, ExpectedCall, RetryLimits } from "./format.ts";
import { judge } from "./judge.ts";
import type { Observation } from "./observation.ts";
import { alternativesOf } from "./outcomes.ts";

/** A case with one expectation made false. */
export interface Falsehood {
  /** Which expectation, and what it was changed to. */
  what: string;
  one: Case;
}

const never = "this was never said";

/** Expectations that can be made false without the case failing. */
export function toothless(one: Case, seen: Observation): string[] {
  return falsehoods(one, seen)
    .filter((falsehood) => judge(falsehood.one, seen).length === 0)
    .map((falsehood) => falsehood.what);
}

/** Every falsehood of a case. @param seen provides values that are known to occur */
export function falsehoods(one: Case, seen: Observation): Falsehood[] {
  const out: Falsehood[] = [];
  // An outcome of the whole run is also true at its first answer.
  const inTheEnd = alternativesOf(one.final_expect?.loop_outcome ?? "final");
  const inside = (name: string, expect: Expect | undefined, put: (changed: Expect) => Case): void => {
    for (const [member, value] of Object.entries(expect ?? {}))
      for (const [what, other] of othersOf(
        member,
        value,
        expect as Expect,
        seen,
        name === "expect" ? inTheEnd : [],
      ))
        out.push({ what: `${name}.${member}: ${what}`, one: put({ ...expect, [member]: other } as Expect) });
  };
  inside("expect", one.expect, (expect) => ({ ...one, expect }));
  inside("final_expect", one.final_expect, (final_expect) => ({ ...one, final_expect }));
  for (const list of ["turns", "turns_after"] as const)
    one[list]?.forEach((turn, at) => {
      const changed = (change: object): Case => ({
        ...one,
        [list]: one[list]?.map((other, place) => (place === at ? { ...turn, ...change } : other)),
      });
      inside(`${list}[${at}]`, turn.expect, (expect) => changed({ expect }));
      for (const member of ["this_request_must", "next_request_must"] as const)
        inside(`${list}[${at}]`, turn[member] && { [member]: turn[member] }, (expect) =>
          changed({ [member]: expect[member] }),
        );
    });
  return out;
}

type Other = [what: string, value: unknown];

const contrasts = [
  "final",
  "final_refused",
  "final_empty",
  "fail",
  "aborted",
  "stop_budget",
  "stop_loop_detected",
  "run_tools_then_continue",
  "second_run_rejected",
];

/** Outcome words that can hold together: a failed run may have failed because of a detected loop, for example. */
const compatible: { readonly [word: string]: readonly string[] } = {
  final_with_warning: ["final"],
  retry_request: [],
};

function othersOf(
  member: string,
  value: unknown,
  expect: Expect,
  seen: Observation,
  inTheEnd: readonly string[],
): Other[] {
  switch (member) {
    case "note":
      return [];
    case "loop_outcome": {
      if (value === null) return [];
      const own = alternativesOf(String(value));
      const same = new Set([...own, ...own.flatMap((word) => compatible[word] ?? [])]);
      // A run that ends by the empty-answer rule is both.
      if (expect.error_kind === "empty_response" && same.has("fail")) same.add("final_empty");
      if (inTheEnd[0] !== "final") for (const word of inTheEnd) same.add(word);
      return contrasts.filter((word) => !same.has(word)).map((word) => [word, word]);
    }
    case "stop_reason":
      return value === null ? [] : [other(value, "stop_sequence", "pause")];
    case "error_kind":
      return value === null
        ? [["capability", "capability"]]
        : [
            other(value, "permission", "capability"),
            // A full window may be read as a stop alone.
            ...(expect.loop_outcome === null || expect.stop_reason === "context_overflow"
              ? []
              : [["null", null] as Other]),
          ];
    case "text":
      return value === null ? [] : [["another text", `${String(value)} ${never}`]];
    case "tool_calls":
      return otherCalls(value as ExpectedCall[] | null);
    case "retry":
      return otherRetries(value as Expect["retry"]);
    case "this_request_must":
    case "next_request_must":
      return (value as Assertion[]).flatMap((assertion, at): Other[] => {
        const wrong = otherAssertion(assertion);
        return [
          [
            `${assertion.path} ${assertion.op}`,
            (value as Assertion[]).map((one, place) => (place === at ? wrong : one)),
          ],
        ];
      });
    case "must_not_emit_tool_call_id": {
      const told = seen.responses.flatMap((one) => one.toldCalls)[0];
      return [["an id that was told", told ?? value]];
    }
    case "sinks_must_not_contain":
      return [["something that is there", seen.sinks.find((sink) => sink !== "")?.slice(0, 20) ?? value]];
    case "history_not_contains":
    case "text_not_contains":
    case "tool_result_not_contains":
    case "error_message_not_contains":
      return [["the empty text", ""]];
    case "text_matches":
    case "error_message_matches":
      return [["nothing", "(?!)"]];
    case "tools_not_executed":
    case "files_absent":
      // "Must not contain" is falsified by forbidding what is there; without any value it cannot be falsified.
      return [];
    case "structured":
      return [["another value", { [never]: true }]];
    case "files_after":
      return Object.entries(value as Record<string, { contains?: string[]; lines?: number }>).flatMap(
        ([name, wants]): Other[] => [
          [`${name} contains`, { [name]: { ...wants, contains: [...(wants.contains ?? []), never] } }],
          ...(wants.lines === undefined
            ? []
            : [[`${name} lines`, { [name]: { ...wants, lines: wants.lines + 1 } }] as Other]),
        ],
      );
    default:
      return otherValue(member, value);
  }
}

const other = (value: unknown, first: string, second: string): Other => {
  const word = value === first ? second : first;
  return [word, word];
};

/** Narrows limits, and changes numbers, words and booleans, member by member. */
function otherValue(member: string, value: unknown): Other[] {
  const isBound = /^max_|_max$|within_ms$/.test(member);
  if (typeof value === "number" && /^min_|_min$/.test(member)) return [["a million", 1e6]];
  if (typeof value === "number") return [[isBound ? "-1" : "one more", isBound ? -1 : value + 1]];
  if (typeof value === "boolean") return [[String(!value), !value]];
  if (typeof value === "string")
    return member === "history_invariant" || member === "role" ? [] : [["another text", `${value} ${never}`]];
  if (Array.isArray(value)) return [["one more", [...(value as unknown[]), never]]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    otherValue(name, inner).map(
      ([what, changed]): Other => [`${name} ${what}`, { ...value, [name]: changed }],
    ),
  );
}

function otherCalls(calls: ExpectedCall[] | null): Other[] {
  if (calls === null) return [];
  const changed = (at: number, change: object): ExpectedCall[] =>
    calls.map((call, place) => (place === at ? { ...call, ...change } : call));
  return [
    ["one more", [...calls, { id: "*", name: never, arguments: {} }]],
    ...(calls.length === 0 ? [] : [["none", []] as Other]),
    ...calls.flatMap((call, at): Other[] => [
      [`[${at}].name`, changed(at, { name: `${call.name}_` })],
      [`[${at}].arguments`, changed(at, { arguments: { ...(call.arguments as object | null), [never]: 1 } })],
      ...(call.arguments_raw === undefined
        ? []
        : [
            [
              `[${at}].arguments_raw`,
              changed(at, { arguments_raw: `${call.arguments_raw} ${never}` }),
            ] as Other,
          ]),
      ...(call.id === undefined || call.id === "*"
        ? []
        : [[`[${at}].id`, changed(at, { id: `${call.id}_` })] as Other]),
    ]),
  ];
}

function otherRetries(retry: Expect["retry"]): Other[] {
  if (retry === null || retry === undefined) return [];
  if (typeof retry === "boolean") return [[String(!retry), !retry]];
  const limits = retry as RetryLimits;
  return [
    ...(limits.max_attempts === undefined
      ? []
      : [["max_attempts -1", { ...limits, max_attempts: -1 }] as Other]),
    ...(limits.min_delay_ms === undefined
      ? []
      : [["min_delay_ms too high", { ...limits, min_delay_ms: 1e9 }] as Other]),
    ...(limits.max_delay_ms === undefined
      ? []
      : [["max_delay_ms too low", { ...limits, max_delay_ms: 0 }] as Other]),
  ];
}

/** The opposite of operators without a value, and another value for the others. */
const opposites: { readonly [op: string]: Partial<Assertion> } = {
  present: { op: "absent" },
  absent: { op: "present" },
  all_present: { op: "all_absent" },
  all_absent: { op: "present" },
  all_unique: { op: "all_eq", value: never },
  no_empty_array: { op: "absent" },
  all_valid_json_object: { op: "absent" },
  valid_json_object: { op: "eq", value: never },
  is_object: { op: "type", value: "string" },
  none_with_type: { op: "some_with_type" },
  some_with_type: { op: "none_with_type" },
  none_with_status: { op: "some_with_type", value: never },
  same_as_previous_request: { op: "differs_from_previous_request" },
  differs_from_previous_request: { op: "same_as_previous_request" },
  extends_previous_request_ignoring_cache_control: { op: "same_as_previous_request" },
  every_tool_use_has_result_next: { path: "nowhere", op: "present" },
  no_orphan_tool_result: { path: "nowhere", op: "present" },
  tool_calls_followed_by_all_tool_messages: { path: "nowhere", op: "present" },
  function_call_pairs_complete: { path: "nowhere", op: "present" },
  no_reasoning_without_following_item: { path: "nowhere", op: "present" },
  roles_alternate: { path: "nowhere", op: "present" },
  well_formed_utf16: { path: "nowhere", op: "present" },
  no_type_arrays: { path: "nowhere", op: "present" },
  strict_valid: { path: "nowhere", op: "present" },
  present_if_tool_blocks: { op: "absent" },
  not_both_forced_and_enabled: { path: "nowhere", op: "present" },
  not_contains: { op: "contains" },
  not_matches: { op: "matches" },
  none_eq: { op: "all_eq" },
  matches: { value: "(?!)" },
  all_match: { value: "(?!)" },
  contains: { value: never },
  absent_or_prefix: { op: "all_match", value: "(?!)" },
};

function otherAssertion(assertion: Assertion): Assertion {
  const { op, value } = assertion;
  const opposite = opposites[op];
  if (opposite !== undefined) return { ...assertion, ...opposite };
  if (op === "in") return { ...assertion, value: [] };
  if (op === "no_role_pair") return { ...assertion, op: "eq", value: never };
  if (typeof value === "number") return { ...assertion, value: /lte$/.test(op) ? -1 : value + 1 };
  if (typeof value === "object" && value !== null && "n" in value)
    return { ...assertion, value: { ...value, n: op.endsWith("lte") ? -1 : (value.n as number) + 1 } };
  return { ...assertion, value: never };
}
