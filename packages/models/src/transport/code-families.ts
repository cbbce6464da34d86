// The room of codes that nobody has listed: what their words say.
//
// Gateways make up codes by the dozen, each a few plain words put together. A code that is in the table means what the table
// says; this is asked last, when neither status nor words have said more than that something failed.

import type { ErrorKind } from "@rondo/core";

/** By the letters of a code alone, however they are joined. The first that fits. */
const families: readonly (readonly [kind: ErrorKind, pattern: RegExp])[] = [
  [
    "quota_exhausted",
    /(?:insufficient|outof|no)(?:funds|credits?|balance|quota)|(?:credits?|balance|quota|funds|pack(?:age)?)(?:limit)?(?:exhausted|depleted|exceeded)|paymentrequired|(?:spend(?:ing)?|billing|monthly|weekly|daily|usage|plan|budget)(?:limit)?(?:exceeded|reached)|arrear|overdue/,
  ],
  [
    "rate_limit",
    /ratelimit|toomany(?:concurrent)?requests|throttl|(?:requests?|concurrency|tpm|rpm)(?:limit)?(?:exceeded|reached)/,
  ],
  ["overloaded", /overload|(?:server|system|engine|model)busy|nocapacity|capacity(?:exceeded|error)/],
  ["overloaded", /(?:service|provider|temporarily|upstream)unavailable/],
  [
    "context_overflow",
    /context(?:window|length|size)?(?:exceeded|toolong|toolarge|overflow|error)|(?:prompt|input|messages?|conversation)(?:is|are)?too(?:long|large)|maxprompttokens/,
  ],
  [
    "content_filter",
    /content(?:filter|policy|blocked|moderat)|moderation|guardrail|safety(?:error|block|violation)|policyviolation/,
  ],
  ["auth", /invalid(?:api|auth)?(?:key|token)|(?:token|key)(?:is)?expired|unauthori[sz]ed|unauthenticated/],
  ["permission", /(?<!extra)forbidden|(?:access|permission)denied/],
  ["timeout", /timeout|timedout|deadlineexceeded/],
];

/** What a code's words say; undefined where they say nothing that decides anything. */
export function familyOf(code: string): ErrorKind | undefined {
  const letters = code.toLowerCase().replace(/[^a-z]/g, "");
  return families.find(([, pattern]) => pattern.test(letters))?.[0];
}
