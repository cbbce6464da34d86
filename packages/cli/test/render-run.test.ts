import { Agent, type LogRecord, memoryJournal, RondoError, type Rule, subAgent, tool } from "@rondo/core";
import { badArgs, call, fail, say, scripted, usage } from "@rondo/testkit";
import { describe, expect, it } from "vitest";
import { exitCodeOf } from "../src/exit-codes.ts";
import { renderRun } from "../src/render/run.ts";

const esc = "\u001b";

const look = tool({
  name: "look",
  description: "Looks.",
  inputSchema: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
  effect: "read",
  execute: ({ at }) =>
    at === "many" ? Array.from({ length: 30 }, (_, n) => `line ${n}`).join("\n") : `saw ${at}${esc}[31m`,
});

const press = tool({
  name: "press",
  description: "Presses.",
  inputSchema: { type: "object", properties: {} },
  permission: "ask",
  execute: () => "pressed",
});

/** Records of a real run: a retry, calls good and bad, a denied one, an end. */
async function records(): Promise<LogRecord[]> {
  const journal = memoryJournal();
  const agent = new Agent({
    model: scripted(
      [
        fail("overloaded", { message: "too many at once" }),
        [
          say("Looking."),
          call("look", { at: "many" }),
          call("look", { at: "here" }),
          call("nowhere", {}),
          badArgs("look", '{"at":'),
          call("press", {}),
          usage({ inputTokens: 1000, outputTokens: 20, cachedInputTokens: 800 }),
        ],
        [say("All seen.")],
      ],
      { id: "mind" },
    ),
    tools: [look, press],
    retry: { baseMs: 1 },
    journal,
  });
  const session = await agent.open("s");
  const parked = await session.send("look around");
  await session.deny(parked.parked?.pending[0]?.key ?? "", "not today");
  return journal.read("s") as LogRecord[];
}

describe("a rendered run", () => {
  it("tells task, requests, answers, judgements, calls, approvals, retries and the end, each with its reason", async () => {
    const text = renderRun(await records());
    expect(text).toContain("look around");
    expect(text).toContain("overloaded: too many at once");
    expect(text).toMatch(/the model is asked again.*\(rule retry/);
    expect(text).toMatch(/request {4}mind, attempt 2, digest \w+/);
    expect(text).toContain("1,000 tokens in (800 cached), 20 out");
    expect(text).toMatch(/call {7}(\d+)\.0 look \{"at":"many"\}/);
    expect(text).toMatch(/\d+\.2 nowhere: not run, unknown_tool/);
    expect(text).toMatch(/\d+\.3 look: not run, invalid_args/);
    expect(text).toMatch(/approval {3}asked for \d+\.4 press/);
    expect(text).toMatch(/\d+\.4 press denied: not today/);
    expect(text).toMatch(/result {5}\d+\.4 press, denied, error/);
    expect(text).toContain("completed, rule answer: steps 2");
    expect(text).toContain("All seen.");
    expect(text).toContain("2 steps (3 model calls), ");
    expect(text).toContain("at least 1,000 tokens in");
  });

  it("cuts long results with a count, and not with full", async () => {
    const all = await records();
    expect(renderRun(all)).toContain("… 22 more lines");
    expect(renderRun(all)).not.toContain("line 20");
    expect(renderRun(all, { full: true })).toContain("line 29");
  });

  it("holds nothing a terminal would obey, colours apart", async () => {
    const all = await records();
    expect(renderRun(all)).not.toContain(esc);
    expect(renderRun(all, { paint: (_style, text) => `<${text}>` })).toContain("<step 1>");
  });

  it("says of a run that has not ended what it waits for, from any number of its first records", async () => {
    const all = await records();
    for (let length = 1; length <= all.length; length += 1) {
      const part = renderRun(all.slice(0, length));
      const asked = all.slice(0, length).some((record) => record.type === "approval_asked");
      const given = all.slice(0, length).some((record) => record.type === "approval_given");
      if (asked && !given) expect(part).toMatch(/waits for an approval of \d+\.4 press/);
      else if (length < all.length) expect(part).toContain("not ended");
    }
  });

  it("leads from a call that is a sub-agent to its session, and back", async () => {
    const journal = memoryJournal();
    const child = new Agent({ model: scripted([say("done")]) });
    const spent = { inputTokens: 60, outputTokens: 40 };
    const helper = subAgent({ name: "helper", description: "helps", agent: child });
    const parent = new Agent({
      model: scripted([[call("helper", { task: "t" }), usage(spent)], say("end")]),
      tools: [helper],
      journal,
      budget: { tokens: 1_000 },
    });
    await parent.run("go", { session: "p" });
    const session = journal.list().find(({ id }) => id !== "p")?.id ?? "";
    const shown = renderRun(journal.read("p"));
    expect(shown).toContain(`as session ${session}`);
    expect(shown).toMatch(/may spend: .*900 tokens/);
    expect(renderRun(journal.read(session))).toContain("a sub-agent of session p");
  });

  it("has a line for every kind of record there is", async () => {
    const base = await records();
    const seq = base.length;
    const stamp = { seq, at: base.at(-1)?.at ?? 0, rand: 0 };
    const because = { rule: "a_rule", evidence: { seen: 3 } };
    const result = { content: [{ type: "text" as const, text: "the result" }], isError: false };
    // The type makes this list complete.
    const samples: { readonly [type in LogRecord["type"]]: readonly [LogRecord & { type: type }, string] } = {
      run_started: [
        {
          ...stamp,
          type: "run_started",
          format: 1,
          input: [{ role: "user", content: [{ type: "text", text: "more" }] }],
        },
        "more",
      ],
      opened: [
        { ...stamp, type: "opened", by: "session", changed: [{ what: "tool", name: "look", how: "gone" }] },
        "the tool look is gone",
      ],
      allowed: [
        { ...stamp, type: "allowed", grant: { id: "g1", tool: "press", uses: 1 }, by: "ann" },
        "press with any arguments, 1 time (grant g1) by ann",
      ],
      revoked: [{ ...stamp, type: "revoked", id: "g1" }, "grant g1"],
      reconciled: [
        { ...stamp, type: "reconciled", call: "4.0", found: "unknown", error: "no answer" },
        "no answer",
      ],
      child_waits: [
        {
          ...stamp,
          type: "child_waits",
          call: "3.0",
          pending: [{ id: "call_7", name: "press", args: { hard: true }, session: "c", agents: [] }],
          parked: true,
        },
        'call_7 press {"hard":true}',
      ],
      approval_passed: [
        { ...stamp, type: "approval_passed", call: "3.0", inside: "call_7", said: { answer: "approve" } },
        "call_7 inside 3.0",
      ],
      withdrawn: [{ ...stamp, type: "withdrawn", id: "q" }, "the message q"],
      queued: [
        {
          ...stamp,
          type: "queued",
          id: "q",
          lane: "steer",
          message: { role: "user", content: [{ type: "text", text: "by the way" }] },
        },
        "by the way",
      ],
      delivered: [{ ...stamp, type: "delivered", lane: "steer", ids: ["q"] }, "steer: q"],
      noted: [{ ...stamp, type: "noted", text: "a word", ...because }, "rule a_rule: seen 3"],
      mode: [
        { ...stamp, type: "mode", mode: "hide_tool", tool: "look", ...because },
        "look is no longer offered",
      ],
      model_started: [
        { ...stamp, type: "model_started", step: 9, attempt: 1, model: 0, digest: "abc", broke: "tools" },
        "digest abc",
      ],
      model_finished: [
        {
          ...stamp,
          type: "model_finished",
          checks: [],
          message: {
            role: "assistant",
            content: [{ type: "refusal", text: "no" }],
            origin: { api: "a", provider: "b", model: "c" },
            stop: { kind: "refusal", wire: "refusal", raw: "REFUSED" },
          },
        },
        "refusal (REFUSED)",
      ],
      model_failed: [
        {
          ...stamp,
          type: "model_failed",
          error: new RondoError("server_error", "down", { status: 503 }).toJSON(),
        },
        "server_error 503: down",
      ],
      turn_judged: [
        {
          ...stamp,
          type: "turn_judged",
          verdicts: [],
          follows: { do: "land", reason: "max_steps" },
          store: true,
          ...because,
        },
        "max_steps: one last answer",
      ],
      tool_started: [{ ...stamp, type: "tool_started", call: "3.0", idempotencyKey: "key-3" }, "key key-3"],
      tool_finished: [{ ...stamp, type: "tool_finished", call: "3.0", result }, "the result"],
      tool_waits: [
        { ...stamp, type: "tool_waits", call: "3.0", question: "Which one?" },
        'asks "Which one?"',
      ],
      tool_answered: [
        { ...stamp, type: "tool_answered", call: "3.0", answer: "both" },
        'was answered "both"',
      ],
      approval_asked: [{ ...stamp, type: "approval_asked", calls: ["3.0"] }, "asked for 3.0"],
      approval_given: [
        {
          ...stamp,
          type: "approval_given",
          call: "3.0",
          approval: {
            answer: "edit",
            args: { a: 1 },
            check: { ok: false, error: "wrong", code: "invalid_args" },
          },
        },
        'with {"a":1}',
      ],
      output_checked: [{ ...stamp, type: "output_checked", ok: false, error: "no number" }, "no number"],
      hook_answered: [
        { ...stamp, type: "hook_answered", hook: "prepareStep", step: 2, tools: ["look"] },
        "prepareStep about step 2",
      ],
      trimmed: [
        {
          ...stamp,
          type: "trimmed",
          edits: [],
          stage: "trim",
          before: 9_000,
          after: 4_000,
          note: "3 results",
        },
        "about 9,000 tokens became 4,000 tokens: 3 results",
      ],
      summary_started: [
        { ...stamp, type: "summary_started", part: 1, of: 3, attempt: 2, digest: "1" },
        "part 1 of 3 asked for, attempt 2",
      ],
      summary_finished: [
        {
          ...stamp,
          type: "summary_finished",
          message: {
            role: "assistant",
            content: [{ type: "text", text: "all is well" }],
            origin: { api: "a", provider: "b", model: "c" },
            stop: { kind: "end_turn", wire: "end_turn" },
          },
        },
        "all is well",
      ],
      summary_failed: [
        { ...stamp, type: "summary_failed", error: new RondoError("overloaded", "too many").toJSON() },
        "too many",
      ],
      compacted: [
        { ...stamp, type: "compacted", stage: "compaction", before: 9_000, after: 9_000, note: "no gain" },
        "about 9,000 tokens: no gain",
      ],
      abort_asked: [{ ...stamp, type: "abort_asked", reason: "enough" }, "asked: enough"],
      woke: [{ ...stamp, type: "woke" }, "a wait ran out"],
      late_result: [{ ...stamp, type: "late_result", call: "3.0", result }, "came after it was given up"],
      run_ended: [
        {
          ...stamp,
          type: "run_ended",
          end: { reason: "deadline", resumable: true, landed: true, ...because },
        },
        "deadline",
      ],
    };
    for (const [record, words] of Object.values(samples)) {
      const before = renderRun(base);
      const text = renderRun([...base, record]);
      expect(text.slice(0, before.length - 1)).toBe(before.slice(0, -1));
      expect(text.slice(before.length - 1)).toContain(words);
    }
  });
});

it("a page names the rule that answered a call in place of starting it, and what it saw", async () => {
  const journal = memoryJournal();
  const once: Rule<boolean> = {
    name: "once",
    version: 1,
    init: () => false,
    fold: { tool_finished: () => true },
    judgeStart: (done, { name }) =>
      done ? { code: "denied", text: "Once is enough.", evidence: { tool: name } } : undefined,
  };
  const model = scripted([[call("look", { at: "a" }), call("look", { at: "b" })], [say("Done.")]]);
  const agent = new Agent({ model, tools: [look], toolOrder: "sequential", rules: [once], journal });
  await (await agent.open("s")).send("look twice");
  const page = renderRun(journal.read("s") as LogRecord[]);
  expect(page).toMatch(/result {5}\d+\.1 look, denied, error \(rule once: tool look\)/);
  expect(page).not.toMatch(/\d+\.0 look.*rule once/);
});

it("a page says what a model's answer cost that came after it was given up", async () => {
  const before = await records();
  const usage = { inputTokens: 1_200, outputTokens: 30 };
  const late = { type: "late_result", call: null, usage, seq: before.length, at: 0, rand: 0 } as const;
  expect(renderRun([...before, late])).toContain(
    "the model's answer came after it was given up; 1,200 tokens in, 30 out",
  );
});

describe("a page of a run that is over", () => {
  const because = { rule: "a_rule", evidence: { seen: 3 } };
  /** As it goes on from the records of a real run. */
  async function pageAfter(fact: object): Promise<string> {
    const before = await records();
    const stamp = { seq: before.length, at: before.at(-1)?.at ?? 0, rand: 0 };
    return renderRun([...before, { ...stamp, ...fact } as LogRecord]);
  }

  it("says that the session goes on, and of a refusal what comes with that", async () => {
    const after = (end: object): Promise<string> =>
      pageAfter({ type: "run_ended", end: { landed: false, ...because, ...end } });
    expect(await after({ reason: "deadline", resumable: true })).toContain("the session can go on from here");
    const refused = await after({ reason: "refused", resumable: false });
    expect(refused).toContain("another message may be sent, but what was refused goes with it again");
    expect(refused).not.toContain("cannot go on");
  });

  it("tells a failure from an abort that somebody asked for", async () => {
    const error = new RondoError("internal", "the rule mine failed in decide: no").toJSON();
    const page = await pageAfter({ type: "abort_asked", reason: error.message, error, rule: "mine" });
    expect(page).toContain("the run could not go on: ");
    expect(page).toContain("the rule mine failed in decide: no");
    expect(page).not.toContain("asked: the rule");
  });
});

describe("exit codes", () => {
  it("tell completed, failed, stopped early, refused, waiting and aborted apart", () => {
    expect(exitCodeOf("completed")).toBe(0);
    expect(exitCodeOf("done_tool")).toBe(0);
    expect(exitCodeOf("error")).toBe(1);
    expect(exitCodeOf("no_progress")).toBe(3);
    expect(exitCodeOf("refused")).toBe(4);
    expect(exitCodeOf("requires_action")).toBe(5);
    expect(exitCodeOf("aborted")).toBe(130);
    const broken = new RondoError("stream_error", "the provider broke it off").toJSON();
    expect(exitCodeOf("aborted", broken)).toBe(1);
  });
});
