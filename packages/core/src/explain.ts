// The exports of @rondo/core/explain: why a run did what it did, and where two sessions diverge.
//
// Both read only records, afterwards. A running agent does not need them, so they are an export of their own.

export { diff, type Moment, type SessionDiff, type Side } from "./explain/diff.ts";
export type { Reason, ReasonKind } from "./explain/reasons.ts";
export type { Remedy } from "./explain/remedy.ts";
export { type Explanation, explain, type StepReasons } from "./explain/run.ts";
