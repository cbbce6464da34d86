// Live events that tell of one thing once: where a step begins, and a limit that is met.

import { Agent, deadline, memoryJournal, type RondoEvent } from "@rondo/core";
import { call, fail, say, scripted, stall } from "@rondo/testkit";
import { expect, test } from "vitest";
import { echo, eventsOf, jumpingClock } from "./support.ts";

test("live events begin a step once, however many models are called for it, and once more in another process", async () => {
  const [away, here] = [scripted(() => fail("auth")), scripted([say("done")], { id: "here" })];
  const stepsOf = (events: readonly RondoEvent[]): string[] =>
    events.flatMap((event) => (/^(step|fallback|retry)/.test(event.type) ? [event.type] : []));
  const events = await eventsOf(new Agent({ model: away, fallback: [here] }), "go");
  expect(stepsOf(events)).toEqual(["step_start", "fallback", "step_end"]);
  // A process that dies between two attempts: whoever listens to the next one has not heard the step begin.
  const journal = memoryJournal();
  const retry = { baseMs: 60_000 };
  const left = await new Agent({ model: scripted([fail("network")]), retry, journal }).open("s");
  const failed = Promise.withResolvers<void>();
  left.subscribe(({ type }) => type === "retry" && failed.resolve());
  const running = left.send("go");
  await failed.promise;
  await left.drain();
  await running;
  const clock = jumpingClock(0);
  const taken = await new Agent({ model: scripted([say("done")]), retry, journal, clock }).open("s");
  const heard: RondoEvent[] = [];
  taken.subscribe((event) => void heard.push(event));
  expect((await taken.resume()).text).toBe("done");
  expect(stepsOf(heard)).toEqual(["step_start", "step_end"]);
});

test("live events end each step that begins, also if no model answers: failed for good, aborted, or out of time", async () => {
  const stepsOf = (events: readonly RondoEvent[]): unknown[] =>
    events.flatMap((event) =>
      /^(step_|run_end)/.test(event.type)
        ? [`${event.type} ${"step" in event ? event.step : ""}`.trim()]
        : [],
    );
  const tools = [echo("look")];
  const ends = ["step_start 1", "step_end 1", "step_start 2", "step_end 2", "run_end"];
  const failing = scripted([call("look"), fail("auth")]);
  expect(stepsOf(await eventsOf(new Agent({ model: failing, tools }), "go"))).toEqual(ends);
  const late = scripted([stall(), say("so far")]);
  const landing = new Agent({ model: late, rules: [deadline(1_000)], clock: jumpingClock(0) });
  expect(stepsOf(await eventsOf(landing, "go"))).toEqual(["step_start 1", "step_end 1", "run_end"]);
  const session = await new Agent({ model: scripted([call("look"), stall()]), tools }).open("s");
  const heard: RondoEvent[] = [];
  session.subscribe((event) => {
    heard.push(event);
    if (event.type === "request" && event.step === 2) session.abort();
  });
  await session.send("go").catch(() => {});
  expect(stepsOf(heard)).toEqual(ends);
});

test("live events report each limit once, whatever follows from it", async () => {
  for (const onLimit of ["land", "error", "refuse_tools", "stop"] as const) {
    const model = scripted((request, n) =>
      request.toolChoice === "none" ? say("so far") : call("look", { n }),
    );
    const agent = new Agent({ model, tools: [echo("look")], maxSteps: 2, onLimit });
    const met = (await eventsOf(agent, "go")).filter(({ type }) => type === "limit");
    const evidence = { steps: 2, max: 2 };
    const lands = onLimit === "land";
    expect(met).toEqual([{ type: "limit", rule: "max_steps", reason: "max_steps", evidence, lands }]);
  }
});
