// The room of the mind: the provider's answers for an agent, a function of seed, agent and request number.
//
// An agent's requests are sequential, so their number is a position in its course; helpers are counted separately.
// From some number on every mind wants to stop and the wire has no more faults: no agent runs forever.

import type { JsonObject } from "@rondo/core";
import { badArgs, call, refuse, say, stop, think } from "@rondo/testkit";
import type { Protocol, WireRequest, WireTurn } from "@rondo/testkit/wire";
import { Chance } from "../chance.ts";
import { faultNames, faults } from "./faults.ts";
import { type Plan, planOf } from "./plan.ts";

/** The name of the tool for a typed output. */
const outputTool = "final_output";

/** Steps of a helper before it wants to stop. */
const helperLength = 2;

export class Minds {
  readonly #seed: number;
  /** Number of requests so far, by agent and by its helpers. */
  readonly #counts = new Map<string, Map<string, number>>();
  /** Faults played, by name. */
  readonly played = new Map<string, number>();
  /** Total number of requests. */
  requests = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  answer(request: WireRequest): WireTurn {
    this.requests += 1;
    const name = request.model;
    const who = /\[for (h[\w.]+)\]/.exec(request.text)?.[1] ?? "";
    const counts = this.#counts.get(name) ?? new Map<string, number>();
    this.#counts.set(name, counts);
    const number = (counts.get(who) ?? 0) + 1;
    counts.set(who, number);
    const plan = planOf(this.#seed, name, isMortal(name));
    const chance = new Chance(this.#seed, name, who, number);
    const length = who === "" ? plan.length : helperLength;
    const said = number > length ? last(plan, request, who) : this.#turn(plan, chance, request, who, number);
    // A mind that has wanted to stop for a while gets no more faults.
    if (number > length + 2 || !chance.is(plan.trouble)) return said;
    const fault = chance.pick(faultNames);
    this.played.set(fault, (this.played.get(fault) ?? 0) + 1);
    const { instead, of } = faults[fault] as (typeof faults)[string];
    const done = of(chance, request.protocol);
    return instead === true ? done : [said, done];
  }

  /** The agent of this name has ended. */
  forget(name: string): void {
    this.#counts.delete(name);
  }

  #turn(plan: Plan, chance: Chance, request: WireRequest, who: string, number: number): WireTurn {
    if (isSummary(request)) return summary(request);
    const odd = chance.is(plan.trouble / 2) ? chance.below(8) : -1;
    const tools =
      who === ""
        ? plan.tools
        : ["look", "note", "publish", "order"].filter((one) => plan.tools.includes(one));
    const asked = chance.many(1 + chance.few(3), () => chance.pick(tools));
    const turn: WireTurn[] = [
      ...(chance.is(0.2) && request.protocol !== "openai-chat" ? [think("What is there to do?")] : []),
      ...(chance.is(0.7) ? [say(`Part ${number} of the work.`, { chunk: 5 })] : []),
      ...asked.map((name, at) => this.#call(chance, name, `${who}${number}.${at}`)),
    ];
    switch (odd) {
      case 0:
        return [...turn, stop("max_tokens")];
      case 1:
        return refuse("I will not.");
      case 2:
        return [];
      case 3:
        return [...turn, badArgs("note", '{"on": "x', {})];
      case 4:
        return [say("Something stands against it."), stop("content_filter")];
      case 5:
        return [...turn, call("no_such_tool", { on: "x" })];
      case 6:
        return [...turn, call("note", { roll: "many" })];
      case 7:
        return [
          call("look", { on: "again", roll: 1 }, { id: "twice" }),
          call("look", { on: "again", roll: 2 }, { id: "twice" }),
        ];
      default:
        return turn;
    }
  }

  #call(chance: Chance, name: string, on: string): WireTurn {
    const args: JsonObject = { on: name === "helper" ? `h${on}` : on, roll: chance.below(1_000) };
    return call(name, args, chance.is(0.3) ? { chunk: 3 } : {});
  }
}

export const isMortal = (name: string): boolean => name.startsWith("m");

const isSummary = ({ text }: WireRequest): boolean => text.includes("<summary>") && !text.includes('"look"');

const summary = ({ protocol }: { protocol: Protocol }): WireTurn =>
  say(`<summary>Some of the work is done, over ${protocol}; the rest is to be done.</summary>`, {
    chunk: 20,
  });

/** The answer of a mind that wants to stop. */
function last(plan: Plan, request: WireRequest, who: string): WireTurn {
  if (isSummary(request)) return summary(request);
  if (who !== "" || !plan.output) return say("Everything is done.", { chunk: 4 });
  if (request.text.includes(outputTool)) return call(outputTool, { answer: "everything is done" });
  return say('{"answer": "everything is done"}', { chunk: 4 });
}
