// The drivers' conformance suite: the same agents give the same records on SQLite and on Restate as in memory.

import {
  Agent,
  follow,
  formatVersion,
  type RondoEvent,
  type RunEnd,
  subAgent,
  type Tool,
  textOf,
  tool,
} from "@rondo/core";
import { sqliteJournal } from "@rondo/journal";
import { call, coreSession, type DrivenSession, fail, say, scripted, testDriver } from "@rondo/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type RestateSession,
  type RestateWorker,
  register,
  restateClient,
  restateJournal,
  restateWorker,
} from "../src/index.ts";
import { startServer, type TestServer, whyNoServer } from "./server.ts";

/** A tool that never comes back, and when it was called. */
function unending(name: string): { tool: Tool; asked: Promise<void> } {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const execute = (): Promise<never> => {
    resolve();
    return new Promise(() => {});
  };
  return { tool: tool({ name, description: name, inputSchema: { type: "object" }, execute }), asked };
}

/** A sub-agent whose call waits for an approval, and a model that calls it once. */
function waitsBelow(): { model: ReturnType<typeof scripted>; helper: Tool } {
  const asks = tool({
    name: "asks",
    description: "asks",
    inputSchema: { type: "object" },
    permission: "ask",
    execute: () => "ran",
  });
  const child = new Agent({ model: scripted([call("asks"), say("never")]), tools: [asks] });
  const helper = subAgent({ name: "helper", description: "helps", agent: child });
  return { model: scripted([call("helper", { task: "t" }), say("Without it, then.")]), helper };
}

describe("the driver of core, on SQLite", () => {
  for (const { name, run } of testDriver({
    name: "sqlite",
    open: async (agent, id) => {
      const journal = sqliteJournal(":memory:");
      const session = await agent.open(id, { journal });
      return { session: coreSession(session, () => journal.read(id)), close: () => journal.close() };
    },
  }))
    it(name, run);
});

describe.skipIf(whyNoServer !== undefined)(
  `the driver on Restate${whyNoServer ? ` (${whyNoServer})` : ""}`,
  () => {
    let server: TestServer;
    let cases = 0;

    /** A worker may come to a port that one before it had, and what is known of that one is not to be believed. */
    const registerNow = async (worker: RestateWorker): Promise<string> =>
      register({ admin: server.admin, worker: await worker.listen(), force: true });

    /** What its worker has told of a session: all that came before a word that means nothing. */
    const toldOf = async (session: RestateSession): Promise<RondoEvent[]> => {
      await session.allow({ id: "the end", tool: "none" });
      const events: RondoEvent[] = [];
      for await (const thing of session.follow({ cursor: "0" }))
        if ("event" in thing) events.push(thing.event);
        else if (thing.record.type === "allowed" && thing.record.grant.id === "the end") break;
      return events;
    };

    beforeAll(async () => {
      server = await startServer();
    });

    afterAll(() => server.stop());

    for (const { name, run } of testDriver({
      name: "restate",
      open: async (agent, id) => {
        cases += 1;
        const namespace = `case_${cases}`;
        const worker = restateWorker({ agents: { subject: agent }, namespace });
        const workers = await worker.listen();
        await register({ admin: server.admin, worker: workers, force: true });
        const client = restateClient({ ingress: server.ingress, namespace, agent: "subject", workers });
        const session = client.session(id);
        return {
          session: session as DrivenSession,
          close: () => worker.close({ withinMs: 0 }),
          events: () => toldOf(session),
        };
      },
    }))
      it(name, run);

    it("tells the model of a sub-agent that waited and is gone with the code of today, as a process does", async () => {
      const { model, helper } = waitsBelow();
      const before = restateWorker({
        agents: { subject: new Agent({ model, tools: [helper] }) },
        namespace: "gone",
      });
      await registerNow(before);
      const session = restateClient({ ingress: server.ingress, namespace: "gone", agent: "subject" }).session(
        "s",
      );
      const { parked } = await session.send("go");
      // What is left with the old code may end there: it is closed last.
      const after = restateWorker({ agents: { subject: new Agent({ model }) }, namespace: "gone" });
      await registerNow(after);
      const { text, messages } = await session.approve(parked?.pending[0]?.id ?? "");
      expect(text).toBe("Without it, then.");
      expect(messages.map(textOf)).toContain("Error: the tool helper is not here any more.");
      // Nobody is to be asked for what nobody needs any more: it ends, by its parent's agent.
      const below = parked?.pending[0]?.child?.session ?? "";
      const journal = restateJournal({ ingress: server.ingress, namespace: "gone" });
      let end: RunEnd | undefined;
      for await (const record of follow(journal, below)) {
        if (record.type !== "run_ended") continue;
        end = record.end;
        break;
      }
      expect(end?.reason).toBe("aborted");
      journal.close();
      await Promise.all([before.close(), after.close()]);
    });

    it("does not begin a sub-agent again whose session was deleted while it waited", async () => {
      const { model, helper } = waitsBelow();
      const worker = restateWorker({
        agents: { subject: new Agent({ model, tools: [helper] }) },
        namespace: "deleted",
      });
      await registerNow(worker);
      const place = { ingress: server.ingress, namespace: "deleted" };
      const session = restateClient({ ...place, agent: "subject" }).session("s");
      const { parked } = await session.send("go");
      const [waiting] = parked?.pending ?? [];
      const journal = restateJournal(place);
      await journal.delete(waiting?.child?.session ?? "");
      const { text, messages } = await session.approve(waiting?.id ?? "");
      expect(text).toBe("Without it, then.");
      expect(messages.map(textOf)[2]).toMatch(
        /the sub-agent helper cannot go on: its session .* was deleted/,
      );
      journal.close();
      await worker.close();
    });

    it("refuses an agent that the worker does not have, and says which there are", async () => {
      const agents = { clerk: new Agent({ model: scripted([say("Hello.")]) }) };
      const worker = restateWorker({ agents, namespace: "mistyped" });
      await registerNow(worker);
      const client = restateClient({ ingress: server.ingress, namespace: "mistyped", agent: "clark" });
      await expect(client.session("s").send("hello")).rejects.toMatchObject({
        kind: "invalid_request",
        message: 'this worker has no agent "clark"; it has: clerk',
      });
      await worker.close();
    });

    it("goes on at a word with a run whose invocation was killed at the server, and says until then that it is interrupted", async () => {
      const { tool: write, asked } = unending("write");
      const clerk = new Agent({ model: scripted([call("write"), say("I will look.")]), tools: [write] });
      const worker = restateWorker({ agents: { clerk }, namespace: "killed", log: () => {} });
      await registerNow(worker);
      const place = { ingress: server.ingress, namespace: "killed" };
      const session = restateClient({ ...place, agent: "clerk" }).session("s");
      const sent = session.send("go").catch(() => "killed");
      await asked;
      // What is under way must be in the state, or it never was.
      for await (const thing of session.follow())
        if ("record" in thing && thing.record.type === "tool_started") break;
      const query = "select id from sys_invocation where target = 'killed_session/s/run'";
      const answer = await fetch(`${server.admin}/query`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify({ query }),
      });
      const { rows } = (await answer.json()) as { rows: { id: string }[] };
      await fetch(`${server.admin}/invocations/${rows[0]?.id}/kill`, { method: "PATCH" });
      expect(await sent).toBe("killed");
      await expect(session.send("more")).rejects.toThrow("has a run that is interrupted: any word to it");
      await session.steer("well?");
      expect((await session.settled())?.text).toBe("I will look.");
      await worker.close({ withinMs: 0 });
    });

    it("tells the model of a sub-agent whose invocation was killed at the server, and ends it", async () => {
      const { tool: work, asked } = unending("work");
      const below = new Agent({ model: scripted([call("work"), say("never")]), tools: [work] });
      const helper = subAgent({ name: "helper", description: "helps", agent: below });
      const subject = new Agent({
        model: scripted([call("helper", { task: "t" }), say("Without it, then.")]),
        tools: [helper],
      });
      const worker = restateWorker({ agents: { subject }, namespace: "bereft", log: () => {} });
      await registerNow(worker);
      const place = { ingress: server.ingress, namespace: "bereft" };
      const sent = restateClient({ ...place, agent: "subject" })
        .session("s")
        .send("go");
      await asked;
      const query = "select id from sys_invocation where target = 'bereft_session/s:2.0/child'";
      const answer = await fetch(`${server.admin}/query`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify({ query }),
      });
      const { rows } = (await answer.json()) as { rows: { id: string }[] };
      await fetch(`${server.admin}/invocations/${rows[0]?.id}/kill`, { method: "PATCH" });
      const { text, messages } = await sent;
      expect(text).toBe("Without it, then.");
      expect(messages.map(textOf)).toContain("Error: the sub-agent helper was ended at the server: killed");
      const ends = (await restateJournal(place).read("s:2.0")).filter(({ type }) => type === "run_ended");
      expect(ends).toMatchObject([{ end: { reason: "aborted" } }]);
      await worker.close({ withinMs: 0 });
    });

    it("refuses a session whose records are a newer version's, in place of trying for ever", async () => {
      const worker = restateWorker({
        agents: { clerk: new Agent({ model: scripted([]) }) },
        namespace: "newer",
      });
      await registerNow(worker);
      const place = { ingress: server.ingress, namespace: "newer" };
      const at = { seq: 0, at: 1, rand: 0 };
      await restateJournal(place).append("s", 0, [
        { type: "run_started", format: formatVersion + 1, input: [], ...at },
      ]);
      const session = restateClient({ ...place, agent: "clerk" }).session("s");
      await expect(session.send("hello")).rejects.toMatchObject({
        kind: "invalid_request",
        message: expect.stringContaining("written by a newer version"),
      });
      await worker.close();
    });

    it("ends a run whose own words for a sub-agent's end fail, and says which they are", async () => {
      const helper = subAgent({
        name: "helper",
        description: "helps",
        agent: new Agent({ model: scripted([fail("auth")]), retry: null }),
      });
      const subject = new Agent({
        model: scripted([call("helper", { task: "t" }), say("never")]),
        tools: [helper],
        texts: {
          childFailed: () => {
            throw new Error("no words today");
          },
        },
      });
      const worker = restateWorker({ agents: { subject }, namespace: "unsaid" });
      await registerNow(worker);
      const client = restateClient({ ingress: server.ingress, namespace: "unsaid", agent: "subject" });
      const { end } = await client.session("one").send("go");
      expect(end).toMatchObject({
        reason: "error",
        error: { kind: "internal", message: "the text childFailed failed: no words today" },
      });
      await worker.close({ withinMs: 0 });
    });

    it("goes on with a session that is larger than any message, and hears what is said behind large words", async () => {
      const heard: string[] = [];
      const subject = new Agent({
        model: scripted(
          ({ messages }) => {
            heard.push(messages.map((message) => textOf(message).slice(0, 3)).join(" "));
            return say("yes");
          },
          { keepRequests: false },
        ),
        context: { trim: null, compaction: null, guard: null },
      });
      const worker = restateWorker({ agents: { subject }, namespace: "large" });
      await registerNow(worker);
      const client = restateClient({ ingress: server.ingress, namespace: "large", agent: "subject" });
      const session = client.session("one");
      // Together they are more than a message holds. Each MiB of a word takes the server half a second, and what is said
      // behind them a third of one: so they are as small as shows it, and only one is taken back.
      for (const id of ["a", "b", "c"]) await session.followUp(id.repeat(11 * 2 ** 20), id);
      await session.withdraw("a");
      await expect
        .poll(async () => (await session.queued()).map(({ id }) => id), { timeout: 200_000 })
        .toEqual(["b", "c"]);
      expect((await session.send("go")).text).toBe("yes");
      expect(heard.at(-1)).toBe("go yes bbb ccc");
      await worker.close({ withinMs: 0 });
    });
  },
);
