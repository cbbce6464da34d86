// The room of error codes that are in no table: what the words in them say.
//
// Gateways invent codes by the dozen, each a few plain words joined together. These are read last, when neither the tables
// nor the status nor the message has said more than that something failed.

import type { ErrorKind } from "@rondo/core";
import { anyOf } from "../patterns.ts";

/** Matched against the letters of a code alone, however its words are joined. The first match counts. */
const families: readonly (readonly [kind: ErrorKind, pattern: RegExp])[] = [
  [
    "quota_exhausted",
    anyOf(
      "",
      /(?:insufficient|outof|no)(?:funds?|credits?|balance|quota)/,
      /(?:credits?|balance|quota|funds|pack(?:age)?)(?:limit)?(?:exhausted|depleted|exceeded)/,
      /paymentrequired/,
      /(?:spend(?:ing)?|billing|monthly|weekly|daily|usage|plan|budget)(?:limit)?(?:exceeded|reached)/,
      /arrear/,
      /overdue/,
    ),
  ],
  [
    "rate_limit",
    /ratelimit|toomany(?:concurrent)?requests|throttl|(?:requests?|concurrency|tpm|rpm|server)(?:limit)?(?:exceeded|reached)/,
  ],
  ["overloaded", /overload|(?:server|system|engine|model)busy|nocapacity|capacity(?:exceeded|error)/],
  ["overloaded", /(?:service|provider|temporarily|upstream)unavailable/],
  [
    "context_overflow",
    anyOf(
      "",
      /context(?:window|length|size)?(?:exceed(?:s|ed)?|toolong|toolarge|overflow|error)/,
      /(?:prompt|input|messages?|conversation|tokens|characters)(?:is|are)?too(?:long|large)/,
      /maxprompttokens/,
    ),
  ],
  [
    "content_filter",
    /content(?:filter|policy|blocked|moderat)|moderation|censor|guardrail|safety(?:error|block|violation)|policyviolation/,
  ],
  [
    "auth",
    /autherror|invalid(?:api|auth)?(?:key|token)|(?:token|key)(?:is)?expired|unauthori[sz]ed|unauthenticated/,
  ],
  ["permission", /(?<!extra)forbidden|(?:access|permission)denied|notactivated/],
  ["timeout", /timeout|timedout|deadlineexceeded/],
];

/** The kind that a code's words suggest; undefined if they decide nothing. */
export function familyOf(code: string): ErrorKind | undefined {
  const letters = code.toLowerCase().replace(/[^a-z]/g, "");
  return families.find(([, pattern]) => pattern.test(letters))?.[0];
}
