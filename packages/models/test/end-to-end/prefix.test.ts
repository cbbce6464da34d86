// P10 over sockets: the front of a request stays byte for byte as it was, from step to step, so that providers' caches hit.

import { Agent, tool } from "@rondo/core";
import { call, say, think } from "@rondo/testkit";
import type { RondoWire } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { expectValid, of, rows, serve, watched } from "./stack.ts";

const steps = 20;

const read = tool({
  name: "read",
  description: "Reads a file",
  inputSchema: z.object({ path: z.string(), from: z.number().optional() }),
  effect: "read",
  execute: ({ path }) =>
    path.endsWith("9") ? Promise.reject(new Error(`no ${path}`)) : `contents of ${path} “ü”`,
});
const write = tool({
  name: "write",
  description: "Writes a file",
  inputSchema: z.object({ path: z.string(), text: z.string() }),
  execute: () => "written",
});

/** A body without the marks that say where the cache may be cut: they move on with the conversation. */
function unmarked(text: string): string {
  return text.replaceAll(/,?"cache_control":\{[^}]*\}/g, "").replaceAll(/,?\{"cachePoint":\{[^}]*\}\}/g, "");
}

/** The bytes two texts have in common at their front. */
function common(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/** Every body is the one before it with messages added at the end of its messages, and nothing else. */
function expectExtending(wire: RondoWire): void {
  const bodies = wire.requests.map((request) => unmarked(request.text));
  for (const [at, body] of bodies.entries()) {
    const before = bodies[at - 1];
    if (before === undefined) continue;
    const same = common(before, body);
    const rest = before.slice(same);
    expect(
      rest.startsWith("]"),
      `request ${at + 1} leaves request ${at} at ${before.slice(same - 60, same + 60)}`,
    ).toBe(true);
    expect(body.endsWith(rest)).toBe(true);
    expect(body[same]).toBe(",");
  }
}

describe.each(rows)("a run of 20 steps on $name", (row) => {
  it("never changes the prefix, and each body extends the one before", async () => {
    const wire = await serve((_, number) => {
      if (number > steps - 1) return say("Done.");
      const path = `file-${number}`;
      const thought = think(`Step ${number}: what next?`);
      if (number % 3 === 0)
        return [thought, say("Two."), call("read", { path }), call("write", { path, text: "ü" })];
      return number % 3 === 1
        ? [thought, call("read", { path, from: number })]
        : [call("write", { path, text: "“" })];
    });
    const agent = new Agent({
      model: row.model(wire),
      system: "You read and write files. ".repeat(40),
      tools: [read, write],
      repeats: null,
      settings: { maxOutputTokens: 8000 },
    });
    const { result, events } = await watched(agent, "Copy everything.");
    expect(result).toMatchObject({ steps, end: { reason: "completed" }, text: "Done." });
    const requests = of(events, "request");
    expect(requests).toHaveLength(steps);
    expect(requests.map((event) => event.broke)).toEqual(Array.from({ length: steps }, () => undefined));
    expectExtending(wire);
    expectValid(wire, result);
  });

  it("does not change it in further runs of the session, nor in a retry", async () => {
    const wire = await serve([
      call("read", { path: "a" }),
      { wire: "status", status: 529, options: {} },
      say("One."),
      call("write", { path: "b", text: "c" }),
      say("Two."),
      say("Three."),
    ]);
    const agent = new Agent({ model: row.model(wire), tools: [read, write], retry: { baseMs: 1 } });
    const session = await agent.open("s");
    const broke: (string | undefined)[] = [];
    session.subscribe((event) => {
      if (event.type === "request") broke.push(event.broke);
    });
    for (const task of ["first", "second", "third"]) expectValid(wire, await session.send(task));
    expect(broke).toEqual(Array.from({ length: 6 }, () => undefined));
    const bodies = wire.requests.map((request) => request.text);
    expect(bodies[2]).toBe(bodies[1]);
    // The retry is the same request; without it each extends the one before.
    expectExtending({ ...wire, requests: wire.requests.toSpliced(2, 1) });
  });
});

describe("a change of the prefix", () => {
  it("is reported with the request: another system prompt, another tool", async () => {
    const [row] = rows;
    const wire = await serve([say("One."), say("Two.")]);
    if (row === undefined) throw new Error("no row");
    let step = 0;
    const agent = new Agent({
      model: row.model(wire),
      tools: [read, write],
      hooks: { prepareStep: () => (++step === 1 ? {} : { tools: ["read"] }) },
    });
    const session = await agent.open("s");
    const broke: (string | undefined)[] = [];
    session.subscribe((event) => {
      if (event.type === "request") broke.push(event.broke);
    });
    await session.send("first");
    await session.send("second");
    expect(broke).toEqual([undefined, "system or tools"]);
  });
});
