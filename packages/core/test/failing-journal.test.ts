// A journal of one's own that fails: whose failure it is, which of its functions, and what it said.

import { Agent, type Journal, memoryJournal, RondoError, subAgent, tool } from "@rondo/core";
import { call, say, scripted, stall } from "@rondo/testkit";
import { describe, expect, it } from "vitest";

const failing = new Error("connection refused");

const refuses = (): never => {
  throw failing;
};
const rejects = async (): Promise<never> => {
  throw failing;
};
/** As a query builder gives it: no Promise, and one can wait for it. */
const later = (): never =>
  // biome-ignore lint/suspicious/noThenProperty: what is tested
  ({ then: (_: unknown, failed: (thrown: unknown) => void) => failed(failing) }) as never;

const agent = (given: Partial<Journal>): Agent =>
  new Agent({ model: scripted([say("hi")]), journal: { ...memoryJournal(), ...given } });

async function thrownBy(act: () => unknown): Promise<RondoError> {
  try {
    await act();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(RondoError);
    return thrown as RondoError;
  }
  throw new Error("nothing was thrown");
}

describe.each([
  ["throws", refuses],
  ["rejects", rejects],
  ["gives what can be waited for, and it fails", later],
] as const)(
  "a user's journal that %s causes a storage error that names the failed function",
  (_how, fails) => {
    it.each([
      ["append", "a run", (one: Agent) => one.run("go", { session: "s" })],
      ["read", "a run", (one: Agent) => one.run("go", { session: "s" })],
      ["lease", "a run", (one: Agent) => one.run("go", { session: "s" })],
      ["read", "a fork", (one: Agent) => one.fork("s", "t")],
      ["read", "whoever follows", (one: Agent) => one.follow("s").next()],
    ] as const)("%s, for %s", async (what, _whose, act) => {
      const error = await thrownBy(() => act(agent({ [what]: fails })));
      expect(error).toMatchObject({ kind: "storage", cause: failing });
      expect(error.message).toMatch(
        new RegExp(`^journal\\.${what} of session "[st]" failed: connection refused$`),
      );
    });
  },
);

it("a failed append of a fork, and a failed watch of a follower, are reported alike", async () => {
  const journal = memoryJournal();
  await new Agent({ model: scripted([say("hi")]), journal }).run("go", { session: "s" });
  const one = new Agent({ model: scripted([]), journal: { ...journal, append: refuses, watch: refuses } });
  expect((await thrownBy(() => one.fork("s", "t"))).message).toMatch(
    /^journal\.append of session "t" failed: /,
  );
  expect((await thrownBy(() => one.follow("s"))).message).toMatch(/^journal\.watch of session "s" failed: /);
});

it("a RondoError is passed on unchanged", async () => {
  const full = new RondoError("payload_too_large", "runs.db: 3 MB");
  const append = (): never => {
    throw full;
  };
  expect(await thrownBy(() => agent({ append }).run("go", { session: "s" }))).toBe(full);
});

it.each([
  [undefined, "a list is needed, not undefined"],
  [null, "a list is needed, not null"],
  [{ rows: [] }, "a list is needed, not an object"],
  ["[]", 'a list is needed, not "[]"'],
  [[null], "[0]: an object is needed, not null"],
])("a journal that reads %j is refused by name", async (given, says) => {
  const error = await thrownBy(() => agent({ read: (() => given) as never }).run("go", { session: "s" }));
  expect(error.kind).toBe("storage");
  expect(error.message).toBe(`journal.read of session "s" gave no list of records: ${says}`);
});

it("a sub-agent whose parent's journal failed is left as it is, and continues when the parent's run does", async () => {
  const memory = memoryJournal();
  let fails = false;
  const journal: Journal = {
    ...memory,
    append: (session, ...group) => (fails && session === "s" ? refuses() : memory.append(session, ...group)),
  };
  const below = scripted([stall(), say("the child's word")]);
  const tools = [subAgent({ name: "helper", description: "helps", agent: new Agent({ model: below }) })];
  const model = scripted([call("helper", { task: "look" }), say("done")]);
  const session = await new Agent({ model, tools, journal }).open("s");
  const running = session.send("go");
  await expect.poll(() => below.calls).toBe(1);
  fails = true;
  session.steer("hurry");
  expect((await thrownBy(() => running)).kind).toBe("storage");
  await expect.poll(() => session.status).toBe("interrupted");
  fails = false;
  expect((await (await new Agent({ model, tools, journal }).open("s")).resume()).text).toBe("done");
  expect(memory.read("s").find(({ type }) => type === "tool_finished")).toMatchObject({
    result: { content: [{ text: "the child's word" }], isError: false },
  });
  expect(memory.read("s:2.0").map(({ type }) => type)).not.toContain("abort_asked");
});

it("a sub-agent whose own records are refused is no failed call: its parent's run stops there, and both continue later", async () => {
  const memory = memoryJournal();
  let fails = true;
  const journal: Journal = {
    ...memory,
    append: (session, seq, records, token) =>
      fails && session !== "s" && records.some(({ type }) => type === "tool_finished")
        ? refuses()
        : memory.append(session, seq, records, token),
  };
  let notes = 0;
  const note = tool({
    name: "note",
    description: "notes",
    inputSchema: { type: "object" },
    execute: () => {
      notes += 1;
    },
  });
  const below = new Agent({ model: scripted([call("note"), say("the child's word")]), tools: [note] });
  const tools = [subAgent({ name: "helper", description: "helps", agent: below })];
  const one = new Agent({ model: scripted([call("helper", { task: "look" }), say("done")]), tools, journal });
  const session = await one.open("s");
  expect((await thrownBy(() => session.send("go"))).message).toBe(
    'journal.append of session "s:2.0" failed: connection refused',
  );
  await expect.poll(() => session.status).toBe("interrupted");
  expect(memory.read("s").map(({ type }) => type)).not.toContain("tool_finished");
  fails = false;
  expect((await (await one.open("s")).resume()).text).toBe("done");
  const child = memory.read("s:2.0");
  expect(child.find(({ type }) => type === "tool_finished")).toMatchObject({
    result: { code: "outcome_unknown" },
  });
  expect(child.at(-1)?.type).toBe("run_ended");
  expect(notes).toBe(1);
});

it("a session whose journal failed once stores nothing until it is opened again, even if the journal works by then, and says so", async () => {
  const memory = memoryJournal();
  let fails = true;
  const append: Journal["append"] = (...group) => (fails ? refuses() : memory.append(...group));
  const one = new Agent({ model: scripted([say("hi")]), journal: { ...memory, append } });
  const session = await one.open("s");
  const first = await thrownBy(() => session.steer("hurry"));
  expect(first.message).toBe('journal.append of session "s" failed: connection refused');
  fails = false;
  for (const ask of [
    () => session.steer("hurry"),
    () => session.followUp("and then"),
    () => session.allow({ tool: "look" }),
    () => session.send("go"),
    () => session.compact(),
  ])
    expect(await thrownBy(ask)).toMatchObject({
      kind: "storage",
      retryable: false,
      cause: first,
      message: `session "s" has failed, and takes nothing more until it is opened again: ${first.message}`,
    });
  expect(memory.read("s")).toEqual([]);
  expect((await (await one.open("s")).send("go")).text).toBe("hi");
});

it("a run whose end could not be stored has not ended: to resume it is refused with the reason, as anything else is", async () => {
  const journal = memoryJournal();
  const append: Journal["append"] = (id, seq, records) => {
    if (records.some(({ type }) => type === "run_ended")) throw failing;
    journal.append(id, seq, records);
  };
  const session = await agent({ ...journal, append }).open("s");
  const error = await thrownBy(() => session.send("go"));
  expect(error).toMatchObject({ kind: "storage", cause: failing });
  for (const act of ["resume", "continue", "compact", "clear"] as const)
    expect(await thrownBy(() => session[act]())).toMatchObject({ kind: "storage", cause: error });
});
