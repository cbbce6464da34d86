// The room of a state's name: which of the states that were found are the same one.
//
// Two are, where nothing that is decided from them can differ. What has no say in that is left out, or made relative.

import { type Rules, type State, textOf } from "@rondo/core";
import type { Fuel } from "./disturbances.ts";
import { plain, told } from "./memories.ts";
import type { Shadow } from "./promises.ts";

/**
 * A state's name: everything something is decided from, with times and sequence numbers made relative.
 * @param toTheLetter names of rules in whose memories nothing is
 */
export function keyOf(
  { state, shadow, fuel }: { state: State; shadow: Shadow; fuel: Fuel },
  { rules, toTheLetter }: { rules: Rules; toTheLetter?: ReadonlySet<string> },
): string {
  const { history, inbox, run, memories, windows, refusedFiles, now, seq } = state;
  const past = [...history].map((message) => {
    const shape = message.content
      .map((part) => (part.type === "tool_call" ? part.name + argsKey(part.args) : part.type))
      .join();
    const cut = textOf(message).startsWith("[tool output") ? "~" : "";
    return `${message.role}:${shape}${message.role === "tool" && message.isError ? "!" : ""}${cut}`;
  });
  const age = Math.floor((now - (run?.startedAt ?? now)) / 100);
  const late = (run?.turn?.calls ?? []).map(
    (call) => now - (call.startedAt ?? now) >= (call.tool?.timeoutMs ?? 0),
  );
  const grace = run?.cancelledAt === undefined ? 0 : Math.min(2, Math.ceil((now - run.cancelledAt) / 50));
  // Long chains of the loop's own acts are told apart, so that a circle among them shows.
  const chain = Math.max(0, shadow.busy - 10);
  const rest = [
    chain,
    age,
    late,
    grace,
    state.readable ?? false,
    state.offered ?? [],
    inbox.map((one) => one.id),
    (state.left ?? []).map(({ notBefore = now, until }) => [notBefore > now, until > now]),
    // What is a time or an id in the loop's own words may be anything in a user's.
    memories.map((memory, at) =>
      toTheLetter?.has(rules.list[at]?.name ?? "") === true ? told(memory) : memory,
    ),
    windows ?? [],
    [...(refusedFiles ?? [])].map(([model, { files }]) => [model, ...files]),
    state.grants.map(({ id, used, revoked, until }) => [
      id,
      used,
      revoked,
      until !== undefined && now >= until,
    ]),
    shadow.granted.length,
    fuel,
    shadow.ended,
  ];
  // What was spent is only looked at by a budget, and perhaps by a user's rule.
  const countsSpend = rules.list.some(({ name }) => name === "budget" || toTheLetter?.has(name) === true);
  return JSON.stringify([past, run, rest], (name, value: unknown) => {
    if (name === "spend" && !countsSpend) return undefined;
    if (name === "key" || name === "seq" || name === "id" || name === "startedAt")
      return value === undefined ? 0 : 1;
    if (name === "at" || name === "cancelledAt" || name === "notBefore")
      return typeof value === "number" ? value > now : value;
    if (name === "seen") return undefined;
    // It is for those who watch.
    if (name === "stepBegun") return undefined;
    return value === seq ? 0 : plain(value);
  });
}

const argsKey = (args: object): string => (Object.keys(args).length === 0 ? "" : JSON.stringify(args));
