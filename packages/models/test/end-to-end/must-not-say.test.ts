// Words that must not be said, over sockets: the stream is left at once, and the provider's next answer counts.

import { Agent, mustNotSay, textOf } from "@rondo/core";
import { say, stall } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { cells, expectValid, serve } from "./stack.ts";

describe.each(cells)("$name", ({ row, mode }) => {
  test("an answer is broken off at words that must not be said, and its server is not waited for", async () => {
    const first = say("We call it Bluebird, and it costs 3 million, as far as I know.");
    // The rest of a stream never comes: whoever waits for it waits for ever.
    const wire = await serve([mode.stream ? [first, stall()] : first, say("I cannot tell.")], mode);
    const agent = new Agent({
      model: row.model(wire, { stream: mode.stream }),
      rules: [mustNotSay(["Bluebird", /\d million/])],
    });
    let heard = "";
    let isVoid = false;
    const result = await agent.run("What is it called?", {
      onEvent(event) {
        if (event.type === "text_delta") heard += event.text;
        if (event.type === "nudge") isVoid = event.discard === true;
      },
    });
    expect([result.end?.reason, result.text, isVoid]).toEqual(["completed", "I cannot tell.", true]);
    expect(heard).not.toMatch(/Bluebird|million/);
    expect(result.messages.map(textOf)).toEqual(["What is it called?", "I cannot tell."]);
    expect(wire.requests).toHaveLength(2);
    expectValid(wire, result);
  });
});
