// The face of @rondo/core/explain: why a run did what it did, and where two sessions part.
//
// Both read records alone, after the fact. No agent needs them at work, so who runs one does not load them.

export { diff, type Moment, type SessionDiff, type Side } from "./explain/diff.ts";
export type { Reason, ReasonKind } from "./explain/reasons.ts";
export type { Remedy } from "./explain/remedy.ts";
export { type Explanation, explain, type StepReasons } from "./explain/run.ts";
