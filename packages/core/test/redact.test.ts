import {
  Agent,
  type AgentOptions,
  memoryJournal,
  redacted,
  secretNames,
  textOf,
  textRedaction,
  toolResult,
  userText,
} from "@rondo/core";
import { call, calls, say, scripted, think } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { echo } from "./support.ts";

const secret = 'p"ss/word 1';
const key = `-----BEGIN RSA PRIVATE KEY-----\n${"MIIEpAIBAAKCAQEA+/\n".repeat(20)}-----END RSA PRIVATE KEY-----`;

/** JSON with a password in it, as a string in JSON, and so on. */
const nested = (levels: number, password: string | string[]): string => {
  let text = JSON.stringify({ password, n: 1 });
  for (let level = 0; level < levels; level += 1) text = JSON.stringify({ body: text, after: "it" });
  return text;
};

describe("a text", () => {
  const redact = textRedaction({ secrets: [secret], patterns: [/\bcustomer-\d+/g] });

  test.each([
    ["an OpenAI key", `key sk-proj-${"a1B2".repeat(8)} end`, `key ${redacted} end`],
    ["an Anthropic key", `sk-ant-api03-${"x_Y-".repeat(20)}`, redacted],
    ["a bearer token", `Authorization: Bearer ${"abc.DEF-".repeat(4)}=`, `Authorization: Bearer ${redacted}`],
    ["an AWS key id", "AKIAIOSFODNN7EXAMPLE.", `${redacted}.`],
    ["a GitHub token", `ghp_${"a1".repeat(18)}`, redacted],
    ["a Slack token", "xoxb-123456789012-abcdef", redacted],
    ["a Groq key", `gsk_${"a1B2".repeat(13)}`, redacted],
    ["an xAI key", `xai-${"a1B2".repeat(20)}`, redacted],
    ["a SendGrid key", `SG.${"a-1_".repeat(5)}.${"b-2_".repeat(10)}!`, `${redacted}!`],
    ["a Slack hook", `https://hooks.slack.com/services/T0AB/B0CD/${"a1".repeat(12)}`, `https://${redacted}`],
    [
      "a Discord hook",
      `https://discord.com/api/webhooks/1234567890/${"aB_-".repeat(15)}`,
      `https://${redacted}`,
    ],
    ["a private key", `before\n${key}\nafter`, `before\n${redacted}\nafter`],
    ["a private key in JSON", JSON.stringify({ k: key }), `{"k":"${redacted}"}`],
    ["a private key that was cut off", key.slice(0, 100), redacted],
    ["two private keys", `${key} and ${key}`, `${redacted} and ${redacted}`],
    ["a web token", `eyJ${"a".repeat(20)}.eyJ${"b".repeat(20)}.${"c".repeat(20)}`, redacted],
    ["a password in a URL", "postgres://me:hunter2@db/x", `postgres://me:${redacted}@db/x`],
    [
      "a name and a password",
      "Authorization: Basic YWJjZGVmOmFiY2RlZg==",
      `Authorization: Basic ${redacted}`,
    ],
    [
      "a key in a URL",
      "https://x/v1?alt=sse&Key=0123456789abcdef&n=1",
      `https://x/v1?alt=sse&Key=${redacted}&n=1`,
    ],
    ["a token in a URL", "https://x/v1?access_token=abcdefgh12", `https://x/v1?access_token=${redacted}`],
    ["a header", "x-api-key: 0123456789abcdef, n", `x-api-key: ${redacted}, n`],
    ["a header in quotes", "{'X-Goog-Api-Key': '0123456789abcdef'}", `{'X-Goog-Api-Key': '${redacted}'}`],
    ["a name in JSON", '{"api-key" : "a\\"b", "n": 1}', `{"api-key" : "${redacted}", "n": 1}`],
    [
      "each text of a list under a name in JSON",
      '{"set-cookie": ["a=1; x",\n    "b\\"=2"], "n": ["c"], "cookie": [], "Cookie": [1, "d"]}',
      `{"set-cookie": ["${redacted}",\n    "${redacted}"], "n": ["c"], "cookie": [], "Cookie": [1, "d"]}`,
    ],
    ["such a list that was cut off", '{"cookie":["a","b', `{"cookie":["${redacted}","${redacted}"`],
    ["such a list in JSON in JSON in JSON", nested(2, ["a", 'b"\\']), nested(2, [redacted, redacted])],
    [
      "such a list on lines of its own, in JSON in JSON",
      JSON.stringify({ body: JSON.stringify({ cookie: ["a", "b"], n: 1 }, null, 2) }),
      JSON.stringify({ body: JSON.stringify({ cookie: [redacted, redacted], n: 1 }, null, 2) }),
    ],
    ["a name in JSON that was cut off", '{"PassWord":"abc', `{"PassWord":"${redacted}"`],
    ["a name in JSON in JSON", nested(1, 'a"b\\'), nested(1, redacted)],
    ["a name in JSON in JSON in JSON", nested(2, 'a"b\\'), nested(2, redacted)],
    ["a name in JSON four deep", nested(4, "abc"), nested(4, redacted)],
    [
      "one that was cut off in JSON in JSON",
      '{"body":"{\\"password\\":\\"abc',
      `{"body":"{\\"password\\":\\"${redacted}\\"`,
    ],
    [
      "one whose own text ends before it",
      '{"body":"{\\"password\\":\\"abc","n":1}',
      `{"body":"{\\"password\\":\\"${redacted}\\"","n":1}`,
    ],
    ["a value that was given", `<${secret}>`, `<${redacted}>`],
    ["one as JSON writes it", JSON.stringify(secret), `"${redacted}"`],
    ["one as a URL writes it", `?p=${encodeURIComponent(secret)}&q`, `?p=${redacted}&q`],
    ["a form that was given", "customer-123, customers", `${redacted}, customers`],
    [
      "one as other encoders write a URL",
      `?p=${encodeURIComponent(secret).replaceAll(/%../g, (code) => code.toLowerCase())}`,
      `?p=${redacted}`,
    ],
    ["one in JSON with escaped slashes", JSON.stringify(secret).replace("/", "\\/"), `"${redacted}"`],
    // The last letter of base64 depends on what follows.
    ["one in base64", `said ${btoa(secret)}.`, `said ${redacted}${btoa(secret).slice(-2)}.`],
  ])("loses %s", (_name, text, wanted) => {
    expect(redact(text)).toBe(wanted);
    expect(redact(wanted)).toBe(wanted);
  });

  test.each([
    "a task-force of risk-averse sk-iers",
    "the password is asked for later",
    "a maximum token authentication_failed, Basic understanding-of-it",
    "api-key: not given; x-api-key is needed; ?key=value",
    '{"passwordless":"yes","tokens":"12"}',
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "https://example.com:8080/a@b",
    "Bearer of bad news",
  ])("keeps what only looks like a secret: %s", (text) => {
    expect(redact(text)).toBe(text);
  });

  test("never contains a given value, whatever is around it", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string({ minLength: 4 }), (before, after, value) => {
        fc.pre(!redacted.includes(value) && !(redacted + before + after).includes(value));
        const out = textRedaction({ secrets: [value] })(before + value + after);
        expect(out.split(redacted).some((piece) => piece.includes(value))).toBe(false);
      }),
    );
  });

  test("never contains a given value in base64, whatever is encoded with it", () => {
    const plain = fc.string({
      unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    });
    const value = 'k~?>"\u00ff\u00fe p/1';
    const bytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");
    const clean = textRedaction({ secrets: [value], knownForms: false, names: [] });
    fc.assert(
      fc.property(plain, plain, fc.boolean(), (before, after, forUrl) => {
        const encoded = btoa(before + bytes(value) + after);
        const out = clean(forUrl ? encoded.replaceAll("+", "-").replaceAll("/", "_") : encoded);
        expect(out.split(redacted)).toHaveLength(2);
        // A letter at each end may hold some bits of it.
        const left = Math.ceil((before.length * 4) / 3) + Math.ceil((after.length * 4) / 3) + 6;
        expect(out.length - redacted.length).toBeLessThanOrEqual(left);
      }),
    );
    expect(textRedaction({ secrets: ["short"] })(btoa("short"))).toBe(btoa("short"));
  });

  test("takes time in proportion to its length, however hostile it is", () => {
    const units = [
      "-----BEGIN PRIVATE KEY-----",
      "-----BEGIN RSA PRIVATE KEY-----\nAAAA",
      '"password":"\\',
      '"password":"',
      '\\"password\\":\\"',
      '\\\\\\"password\\\\\\":\\\\\\"\\"',
      "\\",
      "eyJ-eyJ.",
      "eyJaaaaaaaaaa.",
      "sk-",
      "Bearer   ",
      "://a:",
      "://:@",
      "xoxb-",
      "gsk_",
      "xai-xai",
      "SG.",
      "SG.a-",
      "SG.aaaaaaaaaaaaaaaa-",
      "hooks.slack.com/services/",
      "discord.com/api/webhooks/12345/",
      '"password"        ',
      '"password":["",',
      '"password":["","',
      '"password":[             ',
      '"password":[\\n\\n\\n\\n',
      '"password":["",\\\\\\\\\\\\\\\\',
    ];
    // No clock: a walk that starts again at every unit would take hours at this length.
    for (const unit of units) {
      const text = unit.repeat(Math.ceil(4_000_000 / unit.length));
      expect(redact(text).length).toBeGreaterThan(0);
    }
  });

  test("refuses a secret of less than 4 characters, and a pattern that finds only one match", () => {
    expect(() => textRedaction({ secrets: ["abc"] })).toThrow(/redact\.secrets/);
    expect(() => textRedaction({ patterns: [/x/] })).toThrow(/\/x\/g/);
    expect(() => textRedaction({ patterns: [/x/gy] })).toThrow("/x/gy stops at the first place");
    expect(secretNames).toContain("authorization");
  });
});

describe("an agent that redacts", () => {
  const token = `ghp_${"a1".repeat(18)}`;

  test("shows neither the model nor the journal a secret from a tool, a user or a system prompt, and replays the same", async () => {
    const journal = memoryJournal();
    const model = scripted([
      [think(`I saw ${token}`), call("leak", { password: "for the tool", token })],
      say(`it was ${token}`),
    ]);
    const got: unknown[] = [];
    const leak = echo("leak", {
      execute: async (args) => {
        got.push(args);
        return [
          { type: "text", text: `TOKEN=${token}\n{"password":"hunter2"} ${secret}` },
          { type: "file", mediaType: "image/png", data: token },
        ];
      },
    });
    const agent = new Agent({
      model,
      system: `say ${secret}`,
      tools: [leak],
      journal,
      redact: { secrets: [secret] },
    });
    const session = await agent.open("s");
    const { text } = await session.send(`use ${token}`);
    expect(text).toBe(`it was ${redacted}`);
    // The tool is called with what it needs, except for what is secret by its form.
    expect(got).toEqual([{ password: "for the tool", token: redacted }]);
    const kept = JSON.stringify(journal.read("s")).replaceAll(`"data":"${token}"`, "");
    for (const what of [token, secret, JSON.stringify(secret).slice(1, -1), "hunter2"])
      expect(kept).not.toContain(what);
    const second = model.requests[1]?.messages ?? [];
    expect([...second].map(textOf).join("\n")).toContain(
      `TOKEN=${redacted}\n{"password":"${redacted}"} ${redacted}`,
    );
    expect(model.requests[1]?.system).toBe(`say ${redacted}`);
    const replay = await session.replay();
    expect(replay.requests).toHaveLength(2);
    expect(replay.firstDifference).toBeUndefined();
    const again = await new Agent({ model, tools: [leak], journal }).open("s");
    expect(again.messages).toEqual(session.messages);
  });

  test("does not count as changed code because a secret was removed from its options: a run is resumed, and replays the same", async () => {
    const journal = memoryJournal();
    const ask = echo("ask", { description: `Asks with ${secret}`, permission: "ask" });
    const agent = new Agent({
      model: scripted([call("ask"), say("done")]),
      system: `say ${secret}`,
      tools: [ask],
      journal,
      redact: { secrets: [secret] },
      onChanged: "refuse",
    });
    await agent.run("go", { session: "s" });
    const session = await agent.open("s");
    const { end } = await session.approve(session.pending[0]?.id ?? "");
    expect([end?.reason, session.changed]).toEqual(["completed", []]);
    expect(await session.replay()).not.toHaveProperty("today");
  });

  test("finds each string of a list under a name in the details of a result", async () => {
    const journal = memoryJournal();
    const details = { headers: { "set-cookie": ["sid=hunter2", "b=hunter2"], vary: ["cookie"] } };
    const tools = [echo("fetch", { execute: () => toolResult("done", { details }) })];
    const model = scripted([call("fetch"), say("done")]);
    const session = await new Agent({ model, tools, journal, redact: {} }).open("s");
    await session.send("go");
    expect(JSON.stringify(journal.read("s"))).not.toContain("hunter2");
    expect(session.messages[2]).toMatchObject({
      details: { headers: { "set-cookie": [redacted, redacted], vary: ["cookie"] } },
    });
  });

  test("finds a secret in details under any name: the names in them are the tool's, not the loop's", async () => {
    const journal = memoryJournal();
    const details = { type: secret, digest: secret, row: { schema: secret, opaque: [secret] } };
    const look = echo("look", {
      execute: (_args, { update }) => {
        update("looking", details);
        return toolResult("seen", { details });
      },
    });
    const told: unknown[] = [];
    const agent = new Agent({
      model: scripted([call("look"), say("done")]),
      tools: [look],
      journal,
      redact: { secrets: [secret] },
    });
    await agent.run("go", { session: "s", onEvent: (event) => void told.push(event) });
    for (const kept of [told, journal.read("s")])
      expect(JSON.stringify(kept)).not.toContain(JSON.stringify(secret).slice(1, -1));
  });

  test.each([
    "user",
    "assistant",
    "tool_use",
    "output",
    "allow",
    "answered",
    "denied",
    "completed",
    "follow_up",
  ])(
    "does not take a word of the loop for a secret: a password may be %s, and the records are the same",
    async (word) => {
      const ask = echo("ask", { permission: "ask" });
      const told = async (options: Partial<AgentOptions>): Promise<unknown[]> => {
        const journal = memoryJournal();
        const agent = new Agent({
          model: scripted([
            calls([["ask"], ["ask"]]),
            call("echo"),
            say("1"),
            say("{}"),
            say("2"),
            say("{}"),
          ]),
          tools: [ask, echo("echo", { effect: "read" })],
          hooks: { permission: ({ name }) => (name === "ask" ? "ask" : "allow") },
          output: { type: "object" },
          journal,
          ...options,
        });
        const session = await agent.open("s");
        session.followUp("and then");
        await session.send("go");
        await session.answer(session.pending[0]?.id ?? "", "mine");
        const { end, messages } = await session.deny(session.pending[0]?.id ?? "", "no");
        expect((await session.replay()).difference).toBeUndefined();
        const heads = messages.map((one) => [
          one.role,
          one.role === "assistant" ? one.stop : "isError" in one,
        ]);
        return [end?.reason, heads, journal.read("s").map(({ type }) => type)];
      };
      const plain = await told({});
      expect(plain[0]).toBe("completed");
      expect(await told({ redact: { secrets: [word] } })).toEqual(plain);
    },
  );

  test("keeps no secret in the full text of a cut result, nor half of one at the cut", async () => {
    const journal = memoryJournal();
    const half = secret.slice(0, secret.length / 2);
    const leak = echo("leak", {
      execute: () => `${"x".repeat(1_000 - half.length)}${secret}${"y".repeat(5_000)}`,
    });
    const model = scripted([call("leak"), say("done")]);
    const agent = new Agent({
      model,
      tools: [leak],
      journal,
      redact: { secrets: [secret] },
      context: { cap: { bytes: 1_000 } },
    });
    await agent.run("look", { session: "s" });
    const [ref] = journal.read("s").flatMap((one) => (one.type === "tool_finished" ? [one.result.ref] : []));
    const whole = await journal.blobs.get("s", ref ?? "");
    expect(whole).toContain(redacted);
    expect(whole).not.toContain(secret);
    expect(JSON.stringify(journal.read("s"))).not.toContain(JSON.stringify(half).slice(1, -1));
  });

  test("shows no listener and no log a secret in a tool's progress, or in an error if errors are masked", async () => {
    const told: unknown[] = [];
    const log = (...said: unknown[]): unknown => told.push(said);
    const failing = echo("fail", {
      execute: (_args, { update }) => {
        update(`trying ${secret}`, { at: { word: `with ${secret}`, token: secret }, of: 2 });
        throw new Error(`refused ${secret}`);
      },
    });
    const agent = new Agent({
      model: scripted([call("fail"), say("done")]),
      tools: [failing],
      toolErrors: "masked",
      redact: { secrets: [secret] },
      logger: { debug: log, info: log, warn: log, error: log },
    });
    await agent.run("go", { onEvent: (event) => void told.push(event) });
    const all = JSON.stringify(told);
    expect(all).toContain(`trying ${redacted}`);
    expect(all).toContain(`refused ${redacted}`);
    expect(all).toContain(JSON.stringify({ at: { word: `with ${redacted}`, token: redacted }, of: 2 }));
    expect(all).not.toContain(JSON.stringify(secret).slice(1, -1));
  });

  test("removes the signature of a thought that it changed, and keeps those of others", async () => {
    const model = scripted([say("one")]);
    const signed = (text: string): object => ({
      type: "reasoning",
      text,
      opaque: { origin: { api: "a", provider: "p", model: "m" }, data: "signature" },
    });
    const history = [
      userText("hi"),
      {
        role: "assistant" as const,
        content: [signed(token), signed("plain")],
        origin: { api: "a", provider: "p", model: "m" },
        stop: { kind: "end_turn" as const, wire: "end_turn" as const },
      },
      userText("go on"),
    ];
    const agent = new Agent({ model, redact: {} });
    await agent.run(history as never);
    const [first, second] = (model.requests[0]?.messages.at(1)?.content ?? []) as { opaque?: unknown }[];
    expect(first).not.toHaveProperty("opaque");
    expect(second).toHaveProperty("opaque");
  });

  test("refuses settings that contain a secret, because they are stored with the run", () => {
    const settings = { headers: { Authorization: "x" } };
    expect(() => new Agent({ model: scripted([]), settings, redact: {} })).toThrow(/option settings/);
    expect(() => new Agent({ model: scripted([]), settings })).not.toThrow();
  });
});
