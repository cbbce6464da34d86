// The exports of @rondo/core/driving: the parts from which a driver for another engine is built.
//
// The loop is pure, so a run may be driven by anything that can perform the action `next` returns and record its outcome. Here
// is what all drivers share: running models and tools, the records that are written before work starts, and the events.
// It is not part of the public API, and may change with any version.

export type { AgentParts } from "./agent.ts";
export { SteadyClock } from "./clock.ts";
export { keepWhole } from "./context/cap/keep-whole.ts";
export { readArgs, readInput, readMessage, type Start } from "./input.ts";
export { frozen } from "./json/copy.ts";
export { logEvent } from "./logger.ts";
export type { LeftChild } from "./loop/child-facts.ts";
export { addSpent, spentInSession, spentSince } from "./loop/children.ts";
export { checkArgs } from "./loop/driving/act.ts";
export { announce } from "./loop/driving/announce.ts";
export { askKey } from "./loop/driving/ask-hooks.ts";
export { modelStarted, sentAt, summaryStarted, toolsStarted } from "./loop/driving/intents.ts";
export { isVoid, timely } from "./loop/driving/late-results.ts";
export { answerFrom } from "./loop/driving/model-answer.ts";
export { nextOrEnd } from "./loop/driving/next-or-end.ts";
export { OngoingWork } from "./loop/driving/ongoing.ts";
export type { Shell } from "./loop/driving/shell.ts";
export { leftChildOf } from "./loop/folding/children.ts";
export { Prefix, type PrefixNote, type Sent } from "./loop/request/prefix.ts";
export { windowOf } from "./loop/request/window.ts";
export { awaitsAnswer, inFlight, isRunning, isThinking } from "./loop/state.ts";
export { redactEvent, redaction, redactOptions } from "./redact.ts";
export { pendingIn, resultOf } from "./result.ts";
export { checkGrant } from "./rules/grants.ts";
export { alwaysIn, grantLike } from "./session/always-grant.ts";
export { approvable } from "./session/approvable.ts";
export { newsOf } from "./session/changes.ts";
export { lostChild, notChildOf } from "./session/child-of.ts";
export { checkContinuable } from "./session/continuable.ts";
export { type SessionParts, shellOf } from "./session/parts.ts";
export { answerInstead } from "./session/tell.ts";
export { answerOf, type SubAgentParts, subAgentOf, waitingIn } from "./sub-agent.ts";
export { givenBy, resolver } from "./tool/dependency.ts";
export { heardOf, renderExternalResult } from "./tool/external-result.ts";
