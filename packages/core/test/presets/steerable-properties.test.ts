// The steerable loop beside its description: for any answers, and whatever is said or aborted meanwhile, every request, call
// and end is what the rules say.

import { Agent, type Message, type Session, type StopKind, textOf, tool } from "@rondo/core";
import { steerable } from "@rondo/core/presets";
import { call, fail, say, scripted, stop, type Turn } from "@rondo/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";

interface Said {
  text: string;
  calls: string[];
  wire: StopKind;
}

/** What happens while the nth answer is made, or the nth call runs. */
interface Meanwhile {
  during: "answer" | "call";
  nth: number;
  comes: "steer" | "follow" | "abort";
}

interface Told {
  requests: string[][];
  ran: string[];
  ends: string[];
}

const skipped = "skipped";

const resultOf = (name: string): string =>
  name === "nope" ? "Tool nope not found" : name === "boom" ? "kaput" : "seen";

/** C1.2 to C1.10, written down once more. Two runs, so that what stays queued is seen as well. */
function described(answers: readonly Said[], meanwhile: readonly Meanwhile[]): Told {
  const told: Told = { requests: [], ran: [], ends: [] };
  const history: string[] = [];
  const queues = { steer: [] as string[], follow: [] as string[] };
  let words = 0;
  let aborted = false;
  const passes = (during: Meanwhile["during"], nth: number): void => {
    for (const { comes } of meanwhile.filter((one) => one.during === during && one.nth === nth))
      if (comes === "abort") aborted = true;
      else queues[comes].push(`${comes} ${++words}`);
  };
  const run = (task: string): string => {
    let pending = [task, ...queues.steer.splice(0)];
    for (let goesOn = true; goesOn || pending.length > 0; ) {
      history.push(...pending.splice(0).map((text) => `user: ${text}`));
      told.requests.push([...history]);
      passes("answer", told.requests.length);
      const { text, calls, wire } = answers[told.requests.length - 1] ?? {
        text: "",
        calls: [],
        wire: "error",
      };
      if (aborted) return "aborted";
      if (wire === "error") return "error";
      if (text !== "" || calls.length > 0) history.push(`assistant: ${text}`);
      let asked = true;
      for (const name of calls) {
        const runs = asked && !aborted;
        if (runs && name !== "nope") passes("call", told.ran.push(name));
        // A tool that does not exist is told as such at once, also behind what is skipped.
        history.push(`tool: ${name === "nope" || runs ? resultOf(name) : skipped}`);
        asked = asked && queues.steer.length === 0;
      }
      if (aborted) return "aborted";
      pending = queues.steer.splice(0);
      goesOn = calls.length > 0;
      if (!goesOn && pending.length === 0) {
        pending = queues.follow.splice(0);
        if (pending.length === 0) return wire === "max_tokens" ? "truncated" : "completed";
      }
    }
    return "never";
  };
  for (const task of ["first", "second"]) {
    aborted = false;
    told.ends.push(run(task));
  }
  return told;
}

const turnOf = ({ text, calls, wire }: Said): Turn =>
  wire === "error"
    ? fail("server_error")
    : [...(text === "" ? [] : [say(text)]), ...calls.map((name) => call(name)), stop(wire)];

/** A conversation in lines. What is said in place of a result that was not waited for is not the description's to say. */
const linesOf = (messages: readonly Message[]): string[] =>
  messages.map((message) => {
    const text = textOf(message);
    const own = message.role !== "tool" || text === resultOf(message.name);
    return `${message.role}: ${own ? text : skipped}`;
  });

async function played(answers: readonly Said[], meanwhile: readonly Meanwhile[]): Promise<Told> {
  const ran: string[] = [];
  const ends: string[] = [];
  let words = 0;
  const pass = (session: Session, during: Meanwhile["during"], nth: number): void => {
    for (const { comes } of meanwhile.filter((one) => one.during === during && one.nth === nth))
      if (comes === "abort") session.abort();
      else if (comes === "steer") session.steer(`steer ${++words}`);
      else session.followUp(`follow ${++words}`);
  };
  const model = scripted((_request, nth) => {
    pass(session, "answer", nth);
    return turnOf(answers[nth - 1] ?? { text: "", calls: [], wire: "error" });
  });
  const tools = ["look", "boom"].map((name) =>
    tool({
      name,
      description: name,
      inputSchema: { type: "object" },
      execute: () => {
        pass(session, "call", ran.push(name));
        if (name === "boom") throw new Error("kaput");
        return "seen";
      },
    }),
  );
  const session = await new Agent(steerable({ model, tools })).open("s");
  for (const task of ["first", "second"]) ends.push((await session.send(task)).end?.reason ?? "parked");
  return { requests: model.requests.map(({ messages }) => linesOf(messages)), ran, ends };
}

test("C1.2 C1.4 C1.7 any answers, and any messages meanwhile, give the requests, calls and ends of the description", async () => {
  const wires: StopKind[] = ["end_turn", "tool_use", "tool_use", "max_tokens", "stop_sequence", "pause"];
  const said: fc.Arbitrary<Said> = fc.record({
    text: fc.constantFrom("", "so"),
    calls: fc.array(fc.constantFrom("look", "look", "boom", "nope"), { maxLength: 3 }),
    wire: fc.constantFrom(...wires, "unknown", "error"),
  });
  const passing: fc.Arbitrary<Meanwhile> = fc.record({
    during: fc.constantFrom("answer", "call"),
    nth: fc.integer({ min: 1, max: 6 }),
    comes: fc.constantFrom("steer", "steer", "follow", "follow", "abort"),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(said, { minLength: 1, maxLength: 9 }),
      fc.array(passing, { maxLength: 4 }),
      async (answers, meanwhile) => {
        expect(await played(answers, meanwhile)).toEqual(described(answers, meanwhile));
      },
    ),
    { numRuns: 200 },
  );
});
