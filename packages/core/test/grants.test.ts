// Leave given beforehand: what it covers, how often, how long, and that nothing else gets through.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Agent,
  type AgentOptions,
  type ArgsPattern,
  type Journal,
  type JsonObject,
  type LogRecord,
  memoryJournal,
  type RondoError,
  type Session,
  type Tool,
  toolWith,
} from "@rondo/core";
import { call, calls, hold, say, scripted } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { covers } from "../src/rules/grants.ts";
import { deferred, echo } from "./support.ts";

const anything = { type: "object", properties: {} } as const;

function press(ran: unknown[], options: Partial<Parameters<typeof echo>[1]> = {}): Tool {
  return echo("press", {
    effect: "write",
    permission: "ask",
    inputSchema: anything,
    execute: (args) => {
      ran.push(args);
      return "pressed";
    },
    ...options,
  });
}

/** A session whose model makes these calls of `press`, one an answer, and then is done. */
async function pressing(
  args: readonly JsonObject[],
  options: Partial<AgentOptions> = {},
  journal: Journal = memoryJournal(),
): Promise<{ session: Session; ran: unknown[]; journal: Journal }> {
  const ran: unknown[] = [];
  const model = scripted([...args.map((one) => call("press", one)), say("done")]);
  const agent = new Agent({ model, tools: [press(ran)], journal, repeats: null, ...options });
  return { session: await agent.open("s"), ran, journal };
}

const records = async (journal: Journal): Promise<LogRecord[]> => [...(await journal.read("s"))];

describe("a grant made in advance", () => {
  test("lets a call run without an approval, and the record names the grant", async () => {
    const { session, ran, journal } = await pressing([{ key: "a" }]);
    const events: string[] = [];
    session.subscribe((event) => void events.push(event.type));
    await session.allow({ id: "g", tool: "press", args: { exact: { key: "a" } } });
    const { end } = await session.send("go");
    expect([end?.reason, ran]).toEqual(["completed", [{ key: "a" }]]);
    expect(events).not.toContain("approval_request");
    expect(events).toContain("approval_result");
    const all = await records(journal);
    expect(all.filter((one) => one.type === "approval_given")).toMatchObject([
      { approval: { answer: "approve", grant: "g" } },
    ]);
    expect(all.some((one) => one.type === "approval_asked")).toBe(false);
    expect(session.grants).toMatchObject([{ id: "g", used: 1 }]);
  });

  test("does not cover other arguments, another tool, or a call with an extra key", async () => {
    for (const args of [{ key: "b" }, { key: "a", twice: true }, {}, { key: ["a"] }]) {
      const { session, ran } = await pressing([args]);
      await session.allow({ tool: "press", args: { exact: { key: "a" } } });
      await session.allow({ tool: "release" });
      await session.send("go");
      expect([session.status, ran]).toEqual(["parked", []]);
    }
  });

  test("is compared with the validated arguments, not with those the model wrote", async () => {
    const ran: unknown[] = [];
    const inputSchema = { type: "object", properties: { n: { type: "integer" } } } as const;
    const model = scripted([call("press", { n: "7" }), say("done")]);
    const session = await new Agent({ model, tools: [press(ran, { inputSchema })] }).open("s");
    await session.allow({ tool: "press", args: { exact: { n: 7 } } });
    await session.send("go");
    expect(ran).toEqual([{ n: 7 }]);
  });

  test("is used up after its uses, also among calls of one answer", async () => {
    const ran: unknown[] = [];
    const model = scripted([calls([["press"], ["press"], ["press"]]), say("done")]);
    const session = await new Agent({ model, tools: [press(ran)], toolOrder: "parallel" }).open("s");
    await session.allow({ tool: "press", uses: 2 });
    const { parked } = await session.send("go");
    expect([ran.length, parked?.pending.length, session.grants]).toEqual([2, 1, []]);
  });

  test("is valid before its time, but not from then on", async () => {
    let now = 1_000;
    const clock = { now: () => now, random: () => 0.5, after: () => () => {} };
    const { session, ran } = await pressing([{ at: 1 }, { at: 2 }], { clock });
    await session.allow({ tool: "press", until: 2_000 });
    session.subscribe((event) => {
      if (event.type === "tool_end") now = 2_000;
    });
    await session.send("go");
    expect([ran, session.status, session.grants]).toEqual([[{ at: 1 }], "parked", []]);
  });

  test("that expired while nobody drove the run lets no call run when the run is resumed", async () => {
    let now = 1_000;
    const clock = { now: () => now, random: () => 0.5, after: () => () => {} };
    const { session, ran } = await pressing([{ at: 1 }], { clock });
    await session.send("go");
    await session.allow({ tool: "press", until: 2_000 });
    now = 2_000;
    const { parked } = await session.resume();
    expect([ran, parked?.pending.length, session.status]).toEqual([[], 1, "parked"]);
  });

  test("can be revoked, also while the run works; an unknown one cannot", async () => {
    const held = hold(call("press"));
    const ran: unknown[] = [];
    const session = await new Agent({ model: scripted([held, say("done")]), tools: [press(ran)] }).open("s");
    const running = session.send("go");
    await held.reached;
    const { id } = await session.allow({ tool: "press" });
    await session.revoke(id);
    held.release();
    await running;
    expect([ran, session.status, session.grants]).toEqual([[], "parked", []]);
    await expect(session.revoke("nobody's")).rejects.toThrow(/no grant "nobody's"/);
  });

  test("counts once if a client sends it twice, and does not come back after it was revoked", async () => {
    const { session } = await pressing([]);
    await session.allow({ id: "g", tool: "press", uses: 1 });
    await session.revoke("g");
    await session.allow({ id: "g", tool: "press", uses: 9 });
    expect(session.grants).toEqual([]);
  });

  test("never overrides a denial, of the tool or of the hook", async () => {
    const denied: Partial<AgentOptions>[] = [
      { tools: [press([], { permission: "deny" })] },
      { hooks: { permission: () => "deny" } },
    ];
    for (const options of denied) {
      const { session, ran } = await pressing([{}], options);
      await session.allow({ tool: "press" });
      const { messages } = await session.send("go");
      expect(ran).toEqual([]);
      expect(messages[2]).toMatchObject({ isError: true });
    }
  });

  test("overrides a hook that answers ask", async () => {
    const ran: unknown[] = [];
    const { session } = await pressing([{}], {
      tools: [press(ran, { permission: "allow" })],
      hooks: { permission: () => "ask" },
    });
    await session.allow({ tool: "press" });
    await session.send("go");
    expect(ran).toEqual([{}]);
  });

  test("lets a call run that waits for an approval, when the run is resumed", async () => {
    const { session, ran } = await pressing([{ key: "a" }]);
    await session.send("go");
    await session.allow({ tool: "press" });
    expect(ran).toEqual([]);
    await session.resume();
    expect(ran).toEqual([{ key: "a" }]);
  });

  test.each([
    [{ tool: "" }, /allow: option tool: a name is needed/],
    [{ tool: "press", uses: 0 }, /option uses: a whole number above 0/],
    [{ tool: "press", until: Number.NaN }, /option until: a time/],
    [{ tool: "press", id: "" }, /option id: a name/],
    [{ tool: "press", args: { path: "a" } as never }, /args must be \{ exact/],
    [{ tool: "press", args: { like: { a: "x".repeat(1001) } } }, /more than 1000 characters/],
  ])("is refused if it makes no sense: %j", async (grant, message) => {
    const { session, journal } = await pressing([]);
    await expect(session.allow(grant)).rejects.toThrow(message);
    expect(await records(journal)).toEqual([]);
  });

  test("is made and revoked by a name that must be a string, as it is recorded", async () => {
    const { session, journal } = await pressing([]);
    const nobody = 10n as never;
    await expect(session.allow({ id: "g", tool: "press" }, nobody)).rejects.toThrow(
      /allow: option by: a text is needed/,
    );
    expect(await records(journal)).toEqual([]);
    await session.allow({ id: "g", tool: "press" }, "Ada");
    await expect(session.revoke("g", nobody)).rejects.toThrow(/revoke: option by: a text is needed/);
    await session.revoke("g", "Grace");
    expect(await records(journal)).toMatchObject([
      { type: "allowed", by: "Ada" },
      { type: "revoked", by: "Grace" },
    ]);
  });
});

describe("a grant for a tool that changes", () => {
  const versioned = (ran: unknown[], version?: number | string): Tool =>
    toolWith(press(ran), version === undefined ? {} : { version });

  test("covers the version for which it was given, and no other, until that is back", async () => {
    const journal = memoryJournal();
    const ran: unknown[] = [];
    const turn = async (version?: number | string): Promise<string> => {
      const model = scripted([call("press", { key: "a" }), say("done")]);
      const session = await new Agent({ model, tools: [versioned(ran, version)], journal }).open("s");
      const { parked } = await session.send("go");
      if (parked !== undefined)
        await session.approve(
          parked.pending[0]?.id ?? "",
          version === 1 && ran.length === 0 ? { always: true } : {},
        );
      return parked === undefined ? "ran" : "asked";
    };
    expect([await turn(1), await turn(1), await turn(2), await turn(), await turn(1)]).toEqual([
      "asked",
      "ran",
      "asked",
      "asked",
      "ran",
    ]);
    expect(ran).toHaveLength(5);
  });

  test("is for any version if the tool was not known, and for none if it had none", async () => {
    const statuses = async (first: Tool[], ...later: Tool[]): Promise<string[]> => {
      const journal = memoryJournal();
      const opened = async (tools: Tool[]): Promise<Session> => {
        const model = scripted([call("press", { key: "a" }), say("done")]);
        return new Agent({ model, tools, journal, onChanged: "continue" }).open("s");
      };
      const before = await opened(first);
      const { parked } = await before.send("go");
      if (parked === undefined) await before.allow({ tool: "press" });
      else await before.approve(parked.pending[0]?.id ?? "", { always: { args: "any" } });
      const told: string[] = [];
      for (const tool of later) {
        const session = await opened([tool]);
        await session.send("again");
        told.push(session.status);
        await session.abort();
      }
      return told;
    };
    expect(await statuses([], versioned([]), versioned([], 1), versioned([], 2))).toEqual(
      Array(3).fill("idle"),
    );
    expect(await statuses([versioned([])], versioned([]), versioned([], 1))).toEqual(["idle", "parked"]);
  });
});

describe("an approval for more than one call", () => {
  const twice = [{ key: "a" }, { key: "a" }, { key: "b" }];

  test("always: the same tool with the same arguments then runs, other arguments need an approval", async () => {
    const { session, ran, journal } = await pressing(twice);
    await session.send("go");
    await session.approve(session.pending[0]?.id ?? "", { always: true });
    expect([ran, session.pending[0]?.args]).toEqual([[{ key: "a" }, { key: "a" }], { key: "b" }]);
    // The approval and what it is good for are one decision, and one record.
    expect((await records(journal)).filter((one) => one.type === "allowed")).toEqual([]);
  });

  test("always, with a pattern, a number of uses or any arguments", async () => {
    for (const [always, expected] of [
      [{ args: "any" }, 3],
      [{ args: { like: { key: "?" } } }, 3],
      [{ args: "any", uses: 1 }, 2],
      [{ uses: 1 }, 2],
    ] as const) {
      const { session, ran } = await pressing(twice);
      await session.send("go");
      await session.approve(session.pending[0]?.id ?? "", { always });
      expect(ran).toHaveLength(expected);
    }
  });
});

describe("the approved call is the one that runs", () => {
  test("a hook that changes a call is asked before the approval", async () => {
    const hooks = { beforeTool: () => ({ args: { key: "changed" } }) };
    const { session, ran } = await pressing([{ key: "a" }, { key: "b" }], { hooks });
    await session.allow({ tool: "press", args: { exact: { key: "a" } } });
    await session.send("go");
    expect([ran, session.pending[0]?.args]).toEqual([[], { key: "changed" }]);
    await session.approve(session.pending[0]?.id ?? "", { always: true });
    expect(ran).toEqual([{ key: "changed" }, { key: "changed" }]);
  });

  test("an approval from before a hook changed the arguments is not valid for the new ones", async () => {
    const asked = hold(call("press", { key: "a" }));
    const answer = deferred<{ args: JsonObject }>();
    const hooks = { beforeTool: () => answer.promise };
    const journal = memoryJournal();
    const ran: unknown[] = [];
    const agent = new Agent({ model: scripted([asked]), tools: [press(ran)], hooks, journal });
    const session = await agent.open("s");
    session.send("go").catch(() => {});
    await asked.reached;
    asked.release();
    await expect.poll(() => journal.read("s").at(-1)?.type).toBe("turn_judged");
    // As an older version of the loop would have written it: approved first, changed after.
    const before = journal.read("s");
    const key = `${before.findIndex((one) => one.type === "model_finished")}.0` as const;
    const stamp = { at: before.at(-1)?.at ?? 0, rand: 0.5 };
    journal.append("s", before.length, [
      { type: "approval_asked", calls: [key], seq: before.length, ...stamp },
      {
        type: "approval_given",
        call: key,
        approval: { answer: "approve" },
        seq: before.length + 1,
        ...stamp,
      },
      {
        type: "hook_answered",
        hook: "beforeTool",
        call: key,
        args: { key: "changed" },
        check: { ok: true, args: { key: "changed" }, keys: null },
        seq: before.length + 2,
        ...stamp,
      },
    ]);
    const later = await new Agent({ model: scripted([say("done")]), tools: [press(ran)], hooks }).open("s", {
      journal,
      takeOver: true,
    });
    await later.resume();
    expect([ran, later.pending]).toMatchObject([[], [{ args: { key: "changed" } }]]);
  });
});

describe("in another process", () => {
  test("a grant is still valid, with its remaining uses", async () => {
    const journal = memoryJournal();
    const first = await pressing([{ n: 1 }], {}, journal);
    await first.session.allow({ tool: "press", uses: 2 });
    await first.session.send("go");
    const second = await pressing([{ n: 2 }, { n: 3 }], {}, journal);
    expect(second.session.grants).toMatchObject([{ uses: 2, used: 1 }]);
    await second.session.send("again");
    expect([second.ran, second.session.status]).toEqual([[{ n: 2 }], "parked"]);
  });
});

describe("patterns", () => {
  const allowed = async (args: ArgsPattern, given: JsonObject): Promise<boolean> => {
    const { session, ran } = await pressing([given]);
    await session.allow({ tool: "press", args });
    await session.send("go");
    return ran.length === 1;
  };

  test.each([
    [{ path: "src/*" }, { path: "src/a.ts" }, true],
    [{ path: "src/*" }, { path: "src/deep/a.ts" }, false],
    [{ path: "src/**" }, { path: "src/deep/a.ts" }, true],
    [{ path: "src/**" }, { path: "src/../secret" }, false],
    [{ path: "src/**" }, { path: "src\\..\\secret" }, false],
    [{ path: "src/**" }, { path: "src/..data/x" }, true],
    [{ path: "src/*" }, { path: "src/.. " }, false],
    [{ url: "https://a.b/in/**" }, { url: "https://a.b/in/%2e%2E/out" }, false],
    [{ url: "https://a.b/in/**" }, { url: "https://a.b/in/.%2e/out" }, false],
    [{ url: "https://a.b/in/**" }, { url: "https://a.b/in/.\t./out" }, false],
    [{ url: "https://a.b/in/*" }, { url: "https://a.b/in/..?x" }, false],
    [{ url: "https://a.b/in/*" }, { url: "https://a.b/in/..#x" }, false],
    [{ url: "https://a.b/in/*" }, { url: "https://a.b/in/x?of=y@z#top" }, true],
    [{ url: "https://*.a.b/" }, { url: "https://www.a.b/" }, true],
    [{ url: "https://*.a.b/" }, { url: "https://c.d?.a.b/" }, false],
    [{ url: "https://*.a.b/**" }, { url: "https://c.d#.a.b/x" }, false],
    [{ url: "https://a.b:*/" }, { url: "https://a.b:80@c.d/" }, false],
    [{ url: "*://a.b/" }, { url: "https:c.d?://a.b/" }, false],
    [{ url: "https://a.b\\?q=*" }, { url: "https://a.b?q=x?y#z@" }, true],
    [{ url: "ssh://git@a.b/*" }, { url: "ssh://git@a.b/c" }, true],
    [{ text: "is it: *" }, { text: "is it: so? @home #1" }, true],
    [{ path: "*" }, { path: ".." }, false],
    [{ path: "../a" }, { path: "../a" }, true],
    [{ path: "a?c" }, { path: "abc" }, true],
    [{ path: "a?c" }, { path: "a/c" }, false],
    [{ path: "a?c" }, { path: "a😀c" }, true],
    [{ path: "src/*" }, { path: "xsrc/a" }, false],
    [{ path: "src/*.ts" }, { path: "src/a.ts.sh" }, false],
    [{ command: "npm test *" }, { command: "npm test a\nrm -r b" }, false],
    [{ text: "**" }, { text: "two\nlines" }, true],
    [{ text: "\\*" }, { text: "*" }, true],
    [{ text: "\\*" }, { text: "x" }, false],
    [{ text: "a.c" }, { text: "abc" }, false],
    [{ text: "(a+)+$" }, { text: "(a+)+$" }, true],
    [{ n: 1 }, { n: 1 }, true],
    [{ n: 1 }, { n: "1" }, false],
    [{ n: "*" }, { n: 1 }, false],
    [{ list: ["a*", 2] }, { list: ["ab", 2] }, true],
    [{ list: ["a*"] }, { list: ["ab", 2] }, false],
    [{ deep: { path: "a/*" } }, { deep: { path: "a/b" } }, true],
    [{ deep: { path: "a/*" } }, { deep: { path: "a/b", force: true } }, false],
    [{ path: "a" }, { path: "a", force: true }, false],
    [{ path: "a", force: false }, { path: "a" }, false],
    [{ gone: null }, {}, false],
  ])("%j for %j: %j", async (like, given, expected) => {
    expect(await allowed({ like: like as JsonObject }, given as JsonObject)).toBe(expected);
  });

  test("others: any allows keys that are not named, and nothing else", async () => {
    expect(await allowed({ like: { path: "a" }, others: "any" }, { path: "a", force: true })).toBe(true);
    expect(await allowed({ like: { path: "a" }, others: "any" }, { path: "b", force: true })).toBe(false);
  });

  test("keys with the names of inherited members are ordinary keys", async () => {
    const proto = JSON.parse('{"__proto__":"a"}') as JsonObject;
    expect(await allowed({ like: { toString: "**" } }, {})).toBe(false);
    expect(await allowed({ exact: {} }, proto)).toBe(false);
    expect(await allowed({ like: {} }, proto)).toBe(false);
  });

  test("of one version covers the calls of that one, and those of a tool that is gone", () => {
    const press = { name: "press", args: {}, check: { ok: true } };
    const given = { id: "g", tool: "press", version: "1" };
    expect(covers(given, press, { version: "1" })).toBe(true);
    expect(covers(given, press, { version: "2" })).toBe(false);
    expect(covers(given, press, {})).toBe(false);
    expect(covers(given, press)).toBe(true);
  });

  test("no text makes a pattern slow: a backtracking matcher would not finish here", async () => {
    const pattern = "*a".repeat(400);
    expect(await allowed({ like: { text: pattern } }, { text: `${"a".repeat(2_000)}b` })).toBe(false);
    const program = {
      name: "press",
      args: { run: "a://b?".repeat(50_000) },
      check: { ok: true },
      tool: { shellArgs: ["run"] },
    };
    expect(covers({ id: "g", tool: "press", args: { like: { run: "a**" } } }, program)).toBe(false);
  });

  test("property: a pattern covers exactly the intended texts, according to an independent matcher", async () => {
    const piece = fc.constantFrom("a", "b", "/", "*", "**", "?", "\n");
    const pattern = fc.array(piece, { maxLength: 6 }).map((all) => all.join(""));
    const text = fc
      .array(fc.constantFrom("a", "b", "/", ".", "\n"), { maxLength: 7 })
      .map((all) => all.join(""));
    const meaning = (glob: string): RegExp =>
      new RegExp(
        `^${glob.replaceAll(/\*\*|\*|\?|[^*?]/g, (one) =>
          one === "**" ? "[^]*" : one === "*" ? "[^/\\\\\\n]*" : one === "?" ? "[^/\\\\\\n]" : one,
        )}$`,
      );
    await fc.assert(
      fc.asyncProperty(pattern, text, async (glob, given) => {
        const climbs = given.replaceAll("\n", "").split("/").includes("..") && /[*?]/.test(glob);
        const expected = !climbs && meaning(glob).test(given);
        expect(await allowed({ like: { text: glob } }, { text: given })).toBe(expected);
      }),
      { numRuns: 300 },
    );
  });

  test("property: an exact grant covers the same arguments in any order of keys, and no others", async () => {
    const value = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.jsonValue({ maxDepth: 2 }), {
      maxKeys: 3,
    });
    const plain = (given: unknown): JsonObject => JSON.parse(JSON.stringify(given)) as JsonObject;
    await fc.assert(
      fc.asyncProperty(value, value, async (one, other) => {
        const said = plain(one);
        const reversed = Object.fromEntries(Object.entries(said).reverse()) as JsonObject;
        expect(await allowed({ exact: said }, reversed)).toBe(true);
        const same = expectEqual(said, plain(other));
        expect(await allowed({ exact: said }, plain(other))).toBe(same);
      }),
      { numRuns: 100 },
    );
  });
});

describe("arguments that are shell code", () => {
  const inputSchema = { type: "object", properties: { run: { type: "string" } } } as const;
  const shell = (ran: unknown[]): Tool => press(ran, { inputSchema, shellArgs: ["run"] });

  test("a wildcard covers the words of one command; another command needs an approval", async () => {
    const ran: unknown[] = [];
    const model = scripted([
      call("press", { run: "npm test a" }),
      call("press", { run: "npm test a; rm b" }),
    ]);
    const journal = memoryJournal();
    const session = await new Agent({ model, tools: [shell(ran)], journal }).open("s");
    await session.allow({ tool: "press", args: { like: { run: "npm test *" } } });
    await session.send("go");
    expect([ran, session.pending[0]?.args]).toEqual([[{ run: "npm test a" }], { run: "npm test a; rm b" }]);
    // What the tool says of its arguments stands in the records, for whoever folds them without it.
    const started = (await records(journal)).find((one) => one.type === "run_started");
    expect(started?.type === "run_started" && started.options?.tools[0]?.shellArgs).toEqual(["run"]);
    const { firstDifference } = await session.replay();
    expect(firstDifference).toBeUndefined();
  });

  test("a run that continues under code that declares shell arguments applies them, and earlier calls stay as they ran", async () => {
    const journal = memoryJournal();
    const ran: unknown[] = [];
    const both = calls([
      ["press", { run: "npm test; a" }],
      ["press", { run: "npm test; b" }],
    ]);
    // Under the old code the first is covered, and let run; the second waits for the grant that comes later.
    const old = new Agent({
      model: scripted([both]),
      tools: [press(ran, { inputSchema })],
      journal,
      toolOrder: "parallel",
    });
    const first = await old.open("s");
    await first.allow({ tool: "press", args: { like: { run: "npm test*" } }, uses: 1 });
    await first.send("go");
    expect(ran).toEqual([{ run: "npm test; a" }]);
    await first.allow({ tool: "press", args: { like: { run: "npm **" } } });
    const today = new Agent({
      model: scripted([say("done")]),
      tools: [shell(ran)],
      journal,
      toolOrder: "parallel",
    });
    const session = await today.open("s");
    await session.resume();
    expect(session.grants).toMatchObject([{ used: 0 }]);
    expect(session.state.grants[0]).toMatchObject({ used: 1 });
    expect([session.status, ran.length, session.pending[0]?.args]).toEqual([
      "parked",
      1,
      { run: "npm test; b" },
    ]);
    await session.approve(session.pending[0]?.id ?? "");
    expect(ran).toHaveLength(2);
  });

  test.each([
    ["cat notes/**", "cat notes/a b", true],
    ["cat notes/**", "cat notes/a ../secret", false],
    ["cat notes/*", "cat notes/a ..", false],
    ["cat notes/**", "cat notes/a --and='../secret'", false],
    ["git log **", "git log a..b", true],
    ["cd ../app && cat *", "cd ../app && cat a", true],
    ["cd ../app && cat *", "cd ../app && cat ..", false],
    ["curl https://*.a.b/", "curl https://www.a.b/", true],
    ["curl https://*.a.b/", "curl https://c.d?.a.b/", false],
    ["curl -L https://a.b:*/", "curl -L https://a.b:80@c.d/", false],
    ["curl https://a.b/*", "curl https://a.b/x?y@z --to?", true],
  ])(
    "a wildcard matches no word that climbs a path, or that is another host: %s for %s: %j",
    async (like, run, expected) => {
      const ran: unknown[] = [];
      const agent = new Agent({
        model: scripted([call("press", { run }), say("done")]),
        tools: [shell(ran)],
      });
      const session = await agent.open("s");
      await session.allow({ tool: "press", args: { like: { run: like } } });
      await session.send("go");
      expect(ran.length === 1).toBe(expected);
    },
  );

  test("a name that is no argument of the schema protects nothing, and is refused; a composed schema may have it elsewhere", () => {
    expect(() => press([], { inputSchema, shellArgs: ["rum"] })).toThrow(
      'tool "press": shellArgs names "rum", and its schema has run',
    );
    expect(() => press([], { shellArgs: ["rum"] })).toThrow("and its schema has no arguments");
    expect(
      press([], { inputSchema: { type: "object", allOf: [inputSchema] }, shellArgs: ["run"] }).shellArgs,
    ).toEqual(["run"]);
    expect(() => press([], { inputSchema, shellArgs: "run" as never })).toThrow(/shellArgs/);
  });

  test("property: whatever a wildcard matches, a real shell runs no command but those of the pattern", ({
    skip,
  }) => {
    if (process.platform === "win32") skip("there is no POSIX shell");
    const folder = mkdtempSync(join(tmpdir(), "rondo-shell-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, "bin"));
    mkdirSync(join(folder, "work"));
    // Whoever runs `x` leaves a trace, and so does who writes a file.
    writeFileSync(join(folder, "bin", "x"), `#!/bin/sh\n: > "${folder}/trace"\n`, { mode: 0o755 });
    writeFileSync(join(folder, "bin", "say"), '#!/bin/sh\nfor one; do printf "%s\\n" "$one"; done\n', {
      mode: 0o755,
    });
    const piece = fc.constantFrom(
      ...[" ", "x", "a", "'", '"', "\\", "#", "-", "*", "~", "!", "{", "}", "[", "="],
      ...[
        "; x",
        "& x",
        "| x",
        "\nx",
        "`x`",
        "$(x)",
        "$x",
        "<f",
        ">f",
        "<(x)",
        "(x)",
        "\r",
        "\t",
        "' ; x '",
        '" ; x "',
      ],
    );
    const text = fc.array(piece, { maxLength: 5 }).map((all) => all.join(""));
    const pattern = fc.constantFrom(
      "say **",
      "say ** end",
      "say 'a ** ; x **'",
      'say "** && x" **',
      "say 1 && say **",
      "say ** \\\\; x",
    );
    let covered = 0;
    fc.assert(
      fc.property(pattern, text, text, (like, one, other) => {
        const run = like.replace("**", () => one).replace("**", () => other);
        const isCovered = covers(
          { id: "g", tool: "press", args: { like: { run: like } } },
          { name: "press", args: { run }, check: { ok: true }, tool: { shellArgs: ["run"] } },
        );
        if (!isCovered) return;
        covered += 1;
        rmSync(join(folder, "trace"), { force: true });
        const { stdout } = spawnSync("/bin/sh", ["-c", run], {
          cwd: join(folder, "work"),
          env: { PATH: join(folder, "bin") },
          encoding: "utf8",
        });
        expect(existsSync(join(folder, "trace")), run).toBe(false);
        const written = readdirSync(join(folder, "work"));
        for (const name of written) rmSync(join(folder, "work", name));
        expect(written, run).toEqual([]);
        // What follows a wildcard is still a word of its own.
        if (like === "say ** end" && stdout !== "") expect(stdout, run).toMatch(/^end$/m);
      }),
      { numRuns: 1_000 },
    );
    expect(covered).toBeGreaterThan(50);
  });
});

/** Whether two values are equal, told by the test runner and not by the loop. */
function expectEqual(one: unknown, other: unknown): boolean {
  try {
    expect(one).toEqual(other);
    return true;
  } catch {
    return false;
  }
}

test("the error for a call that does not wait says which calls do, with any option of the approval", async () => {
  const { session } = await pressing([{}]);
  await session.send("go");
  const error = (await session
    .approve("nothing", { always: true })
    .catch((thrown: unknown) => thrown)) as RondoError;
  expect(error.message).toMatch(/no call "nothing" waits/);
  expect(session.grants).toEqual([]);
});
