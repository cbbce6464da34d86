// The face of @rondo/core/driving: what a driver of another engine is made of.
//
// The loop is pure, so a run may be driven by whatever can perform what `next` names and keep what comes of it. Here is
// what the drivers share: the arms, the words that are written before something begins, and what is told of it. It is
// no part of the face of agents, and may change with any version.

export type { AgentParts } from "./agent.ts";
export { newsOf } from "./changes.ts";
export { SteadyClock } from "./clock.ts";
export { capArrival } from "./context/cap-arrival.ts";
export { readArgs, readInput, readMessage, type Start } from "./input.ts";
export { logEvent } from "./logger.ts";
export { checkArgs } from "./loop/act.ts";
export { announce } from "./loop/announce.ts";
export { askKey } from "./loop/ask-hooks.ts";
export { AtWork } from "./loop/at-work.ts";
export { modelStarted, summaryStarted, toolsStarted } from "./loop/begins.ts";
export type { LeftChild } from "./loop/child-facts.ts";
export { spentSince } from "./loop/children.ts";
export { leftChildOf } from "./loop/children-fold.ts";
export { nextOrEnd } from "./loop/next-or-end.ts";
export { Prefix, type PrefixNote } from "./loop/prefix.ts";
export type { Shell } from "./loop/shell.ts";
export { inFlight, isRunning, isThinking } from "./loop/state.ts";
export { timely } from "./loop/timely.ts";
export { windowOf } from "./loop/window.ts";
export { awaitingApproval, resultOf } from "./result.ts";
export { checkGrant } from "./rules/grants.ts";
export { type SessionParts, shellOf } from "./session/parts.ts";
export { answerOf, type SubAgentParts, subAgentOf, waitingIn } from "./sub-agent.ts";
