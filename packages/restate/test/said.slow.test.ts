// What is said to a session on Restate: to which run, how soon it is known, and what of it the server keeps.

import { Agent, subAgent, textOf, tool, waitForAnswer } from "@rondo/core";
import { call, calls, fail, hold, say, scripted } from "@rondo/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RestateWorker, register, restateClient, restateWorker } from "../src/index.ts";
import { startServer, type TestServer, whyNoServer } from "./server.ts";

const textSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;

describe.skipIf(whyNoServer !== undefined)(
  `what is said to a session on Restate${whyNoServer ? ` (${whyNoServer})` : ""}`,
  () => {
    let server: TestServer;

    const served = async (namespace: string, subject: Agent): Promise<RestateWorker> => {
      const worker = restateWorker({ agents: { subject }, namespace, log: () => {} });
      await register({ admin: server.admin, worker: await worker.listen(), force: true });
      return worker;
    };

    const query = async (words: string): Promise<string> => {
      const answer = await fetch(`${server.admin}/query`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify({ query: words }),
      });
      return answer.text();
    };

    beforeAll(async () => {
      server = await startServer();
    });

    afterAll(() => server.stop());

    it("is known to be driven from its first word on, and a signal ends its own run alone", async () => {
      const ongoing = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<string>();
      const wait = tool({
        name: "wait",
        description: "waits",
        inputSchema: { type: "object" },
        effect: "read",
        execute: () => {
          ongoing.resolve();
          return goOn.promise;
        },
      });
      const worker = await served(
        "signal",
        new Agent({ model: scripted([call("wait"), say("A")]), tools: [wait] }),
      );
      const client = restateClient({ ingress: server.ingress, namespace: "signal", agent: "subject" });
      const [one, two] = [client.session("s"), client.session("s")];
      const first = one.send("A");
      expect(await one.status()).toBe("running");
      await ongoing.promise;
      expect(await two.status()).toBe("running");
      const quiet = two.settled();
      const given = new AbortController();
      const second = two.send("B", { signal: given.signal }).catch((thrown: unknown) => thrown);
      await expect
        .poll(() =>
          query("select id from sys_invocation where target = 'signal_session/s/run' and status = 'pending'"),
        )
        .toContain("inv_");
      given.abort("no more");
      await expect
        .poll(() => query("select key from state where service_name = 'signal_session' and key = 'unwanted'"))
        .toContain("unwanted");
      goOn.resolve("went on");
      expect(await first).toMatchObject({ text: "A", end: { reason: "completed" } });
      expect(await second).toMatchObject({
        kind: "aborted",
        message: expect.stringContaining("was not started"),
      });
      expect((await quiet)?.text).toBe("A");
      expect((await one.records()).filter(({ type }) => type === "run_started")).toHaveLength(1);
      await worker.close({ withinMs: 0 });
    });

    it("is read whatever the session is doing: told, it starts a run, goes into one, or stands for an answer", async () => {
      const held = hold(call("look"));
      const look = tool({
        name: "look",
        description: "looks",
        inputSchema: { type: "object" },
        effect: "read",
        execute: () => "nothing",
      });
      const pay = tool({
        name: "pay",
        description: "pays",
        inputSchema: { type: "object" },
        permission: "ask",
        execute: () => "paid",
      });
      const model = scripted([say("Hi."), held, say("In Oslo it is."), call("pay"), say("As you like.")]);
      const worker = await served("told", new Agent({ model, tools: [look, pay] }));
      const client = restateClient({ ingress: server.ingress, namespace: "told", agent: "subject" });
      const session = client.session("s");
      expect((await session.tell("Hello!")).text).toBe("Hi.");
      const run = session.tell("Look!");
      await held.reached;
      const told = session.tell("In Oslo.", "oslo");
      await expect.poll(async () => (await session.queued()).map(({ id }) => id)).toEqual(["oslo"]);
      held.release();
      expect([(await run).text, (await told).text]).toEqual(["In Oslo it is.", "In Oslo it is."]);
      expect((await session.tell("In Oslo.", "oslo")).text).toBe("In Oslo it is.");
      expect((await session.tell("Pay.")).parked?.pending).toHaveLength(1);
      expect((await session.tell("How much is it?")).text).toBe("As you like.");
      const said = (await session.messages()).map((message) => `${message.role}: ${textOf(message)}`);
      expect(said.slice(-4)).toEqual([
        "assistant: ",
        "tool: Permission denied: The user wrote a message instead.",
        "user: How much is it?",
        "assistant: As you like.",
      ]);
      await worker.close({ withinMs: 0 });
    });

    it("is read once where several clients tell it at once, and no run starts without a message", async () => {
      const ask = tool({
        name: "ask",
        description: "asks",
        inputSchema: { type: "object" },
        execute: () => waitForAnswer("Where are you?"),
      });
      const model = scripted(({ messages }) =>
        messages.at(messages.length - 1)?.content.some((part) => part.type === "text" && part.text === "Ask!")
          ? call("ask")
          : say("Hi."),
      );
      const worker = await served("told-at-once", new Agent({ model, tools: [ask] }));
      const client = restateClient({ ingress: server.ingress, namespace: "told-at-once", agent: "subject" });
      for (const id of ["a", "b", "c", "d", "e", "f"]) {
        const [one, two] = [client.session(id), client.session(id)];
        const greeted = await Promise.all([one.tell("A"), two.tell("B"), one.tell("C")]);
        await one.send("Ask!");
        const answered = await Promise.all([one.tell("D"), two.tell("E"), one.tell("F")]);
        expect([...greeted, ...answered].map(({ text }) => text)).toEqual(Array.from("ABCDEF", () => "Hi."));
        const messages = await one.messages();
        const said = messages.filter(({ role }) => role === "user").map((message) => textOf(message));
        expect(said.toSorted()).toEqual(["A", "Ask!", "B", "C", "D", "E", "F"]);
        expect(
          messages.filter(({ role }, at) => role === "assistant" && messages[at - 1]?.role === role),
        ).toEqual([]);
        const runs = (await one.records()).filter(({ type }) => type === "run_started");
        // Each has one answer, and one of them a question as well.
        expect(messages.filter(({ role }) => role === "assistant")).toHaveLength(runs.length + 1);
      }
      await worker.close({ withinMs: 0 });
    });

    it("makes the history smaller also where the run has ended by the time that is heard", async () => {
      const subject = new Agent({ model: scripted(() => say("one")) });
      const worker = await served("smaller", subject);
      const client = restateClient({ ingress: server.ingress, namespace: "smaller", agent: "subject" });
      const session = client.session("s");
      await session.send("go");
      // As it comes where the client saw a run that was driven still.
      await fetch(`${server.ingress}/smaller_inbox/s/post`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          agent: "subject",
          say: { type: "mode", mode: "compacting", rule: "asked", evidence: {} },
        }),
      });
      const started = async (): Promise<unknown[]> =>
        (await session.records()).flatMap((record) => (record.type === "run_started" ? [record.only] : []));
      await expect.poll(started).toEqual([undefined, "compaction"]);
      await session.settled();
      expect(await started()).toHaveLength(2);
      await worker.close({ withinMs: 0 });
    });

    it("masks the words of a sub-agent's task that cannot be made, as a tool's", async () => {
      const helper = subAgent({
        name: "helper",
        description: "helps",
        agent: new Agent({ model: scripted([say("never")]) }),
        task: () => {
          throw new Error("host db-7 refused");
        },
      });
      const subject = new Agent({
        model: scripted([call("helper", { task: "t" }), say("done")]),
        tools: [helper],
        toolErrors: "masked",
      });
      const worker = await served("masked", subject);
      const session = restateClient({
        ingress: server.ingress,
        namespace: "masked",
        agent: "subject",
      }).session("s");
      expect((await session.send("go")).text).toBe("done");
      expect(JSON.stringify(await session.messages())).not.toContain("db-7");
      await worker.close({ withinMs: 0 });
    });

    it("keeps secrets out of Restate's state and its journals, where agents and clients are told of them", async () => {
      const secret = "hunter22-zebra";
      const redact = { secrets: [secret] };
      const takes = (name: string, execute: () => unknown, ask = false): ReturnType<typeof tool> =>
        tool({
          name,
          description: name,
          inputSchema: textSchema,
          effect: "read",
          ...(ask ? { permission: "ask" as const } : {}),
          execute,
        } as Parameters<typeof tool>[0]);
      const failing = (): never => {
        throw new Error(`${secret} is refused`);
      };
      const below = (name: string, said: string, task: () => string): ReturnType<typeof subAgent> =>
        subAgent({
          name,
          description: name,
          task,
          agent: new Agent({ model: scripted(() => say(said)), redact }),
        });
      const ask = { text: "x" };
      const subject = new Agent({
        model: scripted(
          [
            [
              say(`it is ${secret}`),
              calls([
                ["tells", { text: secret }],
                ["fails", ask],
                ["child", { task: "t" }],
                ["taskless", { task: "t" }],
              ]),
            ],
            calls([
              ["asks", ask],
              ["asks", { text: "y" }],
              ["asks", { text: "z" }],
            ]),
            fail("server_error", { message: `key ${secret} is overloaded` }),
            say(`done with ${secret}`),
          ],
          { repeatLast: true },
        ),
        retry: { baseMs: 1 },
        tools: [
          takes("tells", () => secret),
          takes("fails", failing),
          takes("asks", () => secret, true),
          below("child", `a child knows ${secret}`, () => `use ${secret}`),
          below("taskless", "never", failing),
        ],
        redact,
      });
      const worker = await served("secret", subject);
      const client = restateClient({
        ingress: server.ingress,
        namespace: "secret",
        agent: "subject",
        redact,
      });
      const session = client.session("s");
      await session.send(`the key is ${secret}`);
      const [a, b, c] = await session.pending();
      await session.deny(a?.id ?? "", `not with ${secret}`);
      await session.edit(b?.id ?? "", { text: secret });
      await session.answer(c?.id ?? "", { found: secret });
      await session.steer(`mind ${secret}`);
      await session.followUp(`and ${secret}`);
      await session.allow({ tool: "asks", args: { exact: { text: secret } } });
      expect((await session.send(`again ${secret}`)).end?.reason).toBe("completed");
      await session.abort(`enough of ${secret}`);
      await session.settled();
      // What Restate keeps as bytes is told as hexadecimal digits, or as a list of numbers.
      const bytes = Buffer.from(secret);
      const forms = [secret, bytes.toString("hex"), [...bytes].join(",")];
      const told = await Promise.all(
        ["state", "sys_journal", "sys_invocation", "sys_inbox"].map((table) =>
          query(`select * from ${table}`),
        ),
      );
      expect(told.join("")).toContain("secret_session");
      for (const form of forms) expect(told.some((text) => text.includes(form))).toBe(false);
      await worker.close({ withinMs: 0 });
    });

    it("takes no session for a sub-agent's in which somebody else has a run", async () => {
      const child = new Agent({ model: scripted(() => say("child done")) });
      const helper = subAgent({ name: "helper", description: "helps", agent: child });
      const subject = new Agent({
        model: scripted(({ messages }) =>
          [...messages].some((one) => JSON.stringify(one).includes("mine"))
            ? say("what is between me and my doctor")
            : messages.length > 1
              ? say("so be it")
              : call("helper", { task: "t" }),
        ),
        tools: [helper],
      });
      const worker = await served("foreign", subject);
      const client = restateClient({ ingress: server.ingress, namespace: "foreign", agent: "subject" });
      await client.session("first").send("go");
      const [key] = (await client.session("first").records()).flatMap((one) =>
        one.type === "tool_started" ? [one.call] : [],
      );
      const theirs = client.session(`p:${key}`);
      await theirs.send("mine");
      const before = await theirs.records();
      const { messages, text } = await client.session("p").send("go");
      expect(text).toBe("so be it");
      expect(JSON.stringify(messages[2])).toMatch(/Error: .*has a run of another/);
      expect(await theirs.records()).toEqual(before);
      await worker.close({ withinMs: 0 });
    });
  },
);
