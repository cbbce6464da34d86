import { expect, test } from "vitest";
import { Agent, type Clock, type Model, RondoError } from "../src/index.ts";

/** Time passes only when somebody waits. */
function jumpingClock(): Clock & { waits: number[] } {
  let time = 1_700_000_000_000;
  const waits: number[] = [];
  return {
    waits,
    now: () => time,
    random: () => 0,
    after(ms, then) {
      let wanted = true;
      setImmediate(() => {
        if (!wanted) return;
        waits.push(ms);
        time += ms;
        then();
      });
      return () => {
        wanted = false;
      };
    },
  };
}

test("a back-off waits by the clock of the agent's options, and its record tells that clock's time", async () => {
  const origin = { api: "test", provider: "test", model: "m" };
  let calls = 0;
  const model: Model = {
    id: "test/m",
    origin,
    call: () => {
      calls += 1;
      if (calls < 3) return Promise.reject(new RondoError("overloaded", "later", { retryAfterMs: 30_000 }));
      return Promise.resolve({
        role: "assistant",
        content: [{ type: "text", text: "there" }],
        origin,
        stop: { kind: "end_turn", wire: "end_turn" },
      });
    },
  };
  const clock = jumpingClock();
  const { text, end } = await new Agent({ model, clock }).run("go");
  expect(text).toBe("there");
  expect(end?.reason).toBe("completed");
  expect(clock.waits).toEqual([30_000, 30_000]);
});
