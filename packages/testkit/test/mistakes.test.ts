import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Agent, isA, memoryBlobs, memoryJournal, RondoError, tool } from "@rondo/core";
import * as kit from "@rondo/testkit";
import * as wire from "@rondo/testkit/wire";
import { afterAll, describe, expect, it } from "vitest";

const { say } = kit;
/** As whoever writes JavaScript gives it: no types look at it. */
const any = (value: unknown): never => value as never;
const look = tool({ name: "look", description: "Looks", inputSchema: { type: "object" }, execute: () => "" });
const run = await new Agent({ model: kit.scripted([say("x")]) }).run("go");

async function refusal(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (thrown) {
    if (isA(RondoError, thrown)) return `${thrown.kind}: ${thrown.message}`;
    throw thrown;
  }
  return "nothing was refused";
}

describe("what is misspelt is refused where it is given, and never taken for what was not said", () => {
  it.each<[what: string, act: () => unknown, says: RegExp]>([
    [
      "a number of calls",
      () => kit.expectRun(run).not.toHaveCalled("look", {}, any({ time: 2 })),
      /toHaveCalled: option time: .* did you mean times\?/,
    ],
    [
      "how often a call was made",
      () => kit.expectRun(run).not.toHaveCalled("look", {}, { times: any("2") }),
      /option times: a whole number of at least 0 is needed, not "2"/,
    ],
    [
      "a tool's name that is a pattern",
      () => kit.expectRun(run).not.toHaveCalled(any(/delete/)),
      /toHaveCalled: option name: a name is needed, not an object/,
    ],
    [
      "a tool's name that is nothing",
      () => kit.expectRun(run).not.toHaveCalled(any(undefined)),
      /toHaveCalled: option name: a name is needed, not undefined/,
    ],
    [
      "the name of a tool that somebody is asked about",
      () => kit.expectRun(run).not.toHaveAsked(any({ name: "look" })),
      /toHaveAsked: option name: a name is needed, not an object/,
    ],
    [
      "no calls in order",
      () => kit.expectRun(run).toHaveCalledInOrder([]),
      /toHaveCalledInOrder: option calls: a list of at least one call, .* is needed, not a list/,
    ],
    [
      "calls that are no list",
      () => kit.calls(any("look")),
      /calls: option list: a list is needed, not "look"/,
    ],
    [
      "a call that is no list",
      () => kit.calls(any(["look"])),
      /calls: option list\[0\]: a list, \[name, args\?, options\?\], is needed, not "look"/,
    ],
    ["arguments that JSON cannot hold", () => kit.call("look", any({ n: 5n })), /call: option args.*bigint/],
    [
      "whether it throws at once",
      () => kit.throwing("x", any({ synk: true })),
      /throwing: option synk: .* did you mean sync\?/,
    ],
    [
      "calls in order that are no list",
      () => kit.expectRun(run).not.toHaveCalledInOrder(any("look")),
      /option calls: a list of at least one call, .* is needed, not "look"/,
    ],
    [
      "the reason of an end",
      () => kit.expectRun(run).not.toEnd(any("max_step")),
      /toEnd: option reason: .*max_steps.* not "max_step"/,
    ],
    [
      "an answer that is nothing",
      () => kit.expectRun(run).toHaveAnswered(undefined),
      /toHaveAnswered: option wanted: a text, a pattern, .* is needed, not undefined/,
    ],
    [
      "what was spent",
      () => kit.expectRun(run).not.toHaveSpent(any({ stepz: 1 })),
      /toHaveSpent: option stepz: .* did you mean steps\?/,
    ],
    [
      "a bound of what was spent",
      () => kit.expectRun(run).toHaveSpent({ steps: any({ max: 1 }) }),
      /option steps.max: there is no such option; there are atLeast, atMost/,
    ],
    [
      "nothing of what was spent",
      () => kit.expectRun(run).toHaveSpent({}),
      /toHaveSpent: .*a number that was spent .* is needed, and nothing is given/,
    ],
    [
      "a bound of what was spent that is not there",
      () => kit.expectRun(run).toHaveSpent({ steps: any({ atMost: undefined }) }),
      /toHaveSpent: option steps: a bound \(atLeast, atMost\) is needed, and nothing is given/,
    ],
    [
      "what a call came to",
      () => kit.expectRun(run).not.toHaveCalled("look", {}, { result: any(5) }),
      /toHaveCalled: option result: a text, or a pattern, is needed, not 5/,
    ],
    [
      "more of an end that is none",
      () => kit.expectRun(run).not.toEnd("completed", 5),
      /toEnd: option end: more of what its end is like, .*, is needed, not 5/,
    ],
    [
      "what was sent",
      () => kit.expectRun(kit.scripted([])).not.toHaveSent(undefined),
      /toHaveSent: option wanted: a text, a pattern, or what a request is like, is needed, not undefined/,
    ],
    ["which request is meant", () => kit.expectRun([]).toHaveSent("x", { at: 0 }), /option at: .* not 0/],
    [
      "an option of the scripted model",
      () => kit.scripted([], any({ repeatlast: true })),
      /scripted: option repeatlast: .* did you mean repeatLast\?/,
    ],
    [
      "the size of deltas",
      () => say("x", { chunk: 0 }),
      /say: option chunk: a whole number above 0 is needed, not 0/,
    ],
    ["a text", () => say(any(5)), /say: .*a text is needed, not 5/],
    ["the arguments of a call", () => kit.call("look", any("x")), /call: .*an object is needed, not "x"/],
    ["an id of a call", () => kit.call("look", {}, any({ callId: "c" })), /call: option callId/],
    [
      "the kind of a failure",
      () => kit.fail(any("overload")),
      /fail: .*one of .*overloaded.* is needed, not "overload"/,
    ],
    [
      "an option of a failure",
      () => kit.fail("rate_limit", any({ retryAfter: 5 })),
      /fail: option retryAfter: .* did you mean retryAfterMs\?/,
    ],
    ["tokens", () => kit.usage(any({ input: 5 })), /usage: option input: .* did you mean inputTokens\?/],
    [
      "a text that is not there",
      () => say(any(undefined)),
      /say: option text: a text is needed, not undefined/,
    ],
    ["a refusal", () => kit.refuse(any(undefined)), /refuse: .*a text is needed, not undefined/],
    ["a part", () => kit.part(any("x")), /part: option part: a part, \{ type: … \}, is needed, not "x"/],
    ["an event", () => kit.emit(any(undefined)), /emit: option event: an event, .* is needed, not undefined/],
    ["a late event", () => kit.late(any({})), /late: option event: an event, .* is needed, not an object/],
    [
      "how an answer ends",
      () => kit.stop(any("max_token")),
      /stop: option wire: one of .*max_tokens.* is needed, not "max_token"/,
    ],
    [
      "the provider's own word for it",
      () => kit.stop("unknown", any({ row: "x" })),
      /stop: option row: .* did you mean raw\?/,
    ],
    [
      "a call without a name",
      () => kit.call(any(undefined)),
      /call: option name: a text is needed, not undefined/,
    ],
    [
      "bad arguments that are not there",
      () => kit.badArgs("look", any(undefined)),
      /badArgs: option raw: a text is needed, not undefined/,
    ],
    [
      "a failure of no kind",
      () => kit.fail(any(undefined)),
      /fail: option kind: one of .* is needed, not undefined/,
    ],
    ["a stall", () => kit.stall(any({ afterTxt: "x" })), /stall: option afterTxt/],
    [
      "a wait that a status asks for",
      () => wire.status(429, any({ retryAfter: 3 })),
      /status: option retryAfter: .* did you mean retryAfterMs\?/,
    ],
    ["a status", () => wire.status(any("429")), /status: .* not "429"/],
    ["a status that is none", () => wire.status(42), /status: .*a status from 200 to 599 is needed, not 42/],
    [
      "the status of a body",
      () => wire.raw("x", { status: 1_000 }),
      /raw: .*from 200 to 599 is needed, not 1000/,
    ],
    [
      "how fast",
      () => wire.slow(Number.NaN),
      /slow: option bytesPerTick: a whole number above 0 is needed, not NaN/,
    ],
    [
      "when",
      () => wire.delayed(any("5")),
      /delayed: option ms: a finite number of at least 0 is needed, not "5"/,
    ],
    [
      "nonsense",
      () => wire.garbage("x", -1),
      /garbage: option afterFrames: .* of at least 0 is needed, not -1/,
    ],
    [
      "which frame comes twice",
      () => wire.duplicate(any("1")),
      /duplicate: option frame: .* needed, not "1"/,
    ],
    ["which byte is damaged", () => wire.corrupt(1.5), /corrupt: option at: a whole number .* not 1\.5/],
    ["a label", () => wire.contentType(any(undefined)), /contentType: option value: a text is needed/],
    [
      "a place in bytes",
      () => wire.cutAt(1.5),
      /cutAt: option at: a whole number of bytes, or \{ frames: .* not 1\.5/,
    ],
    [
      "how a connection ends",
      () => wire.cutAt(3, any("clos")),
      /cutAt: .*one of end, close, reset is needed, not "clos"/,
    ],
    ["where a connection ends", () => wire.cutAt(any({ frame: 3 })), /cutAt: .*frame/],
    [
      "how a body is handed over",
      () => wire.chunked(any("bytes")),
      /chunked: .*one of frame, byte, whole is needed, not "bytes"/,
    ],
    [
      "an option of the server",
      () => wire.rondoWire(any({ script: [], repeatlast: true })),
      /rondoWire: option repeatlast/,
    ],
    [
      "a promise of yours",
      () => kit.modelCheck(any({ promise: {} })),
      /modelCheck: option promise: .* did you mean promises\?/,
    ],
    ["a number of states", () => kit.modelCheck({ states: -5 }), /modelCheck: option states: .* not -5/],
    [
      "what may befall a run",
      () => kit.modelCheck({ disturbances: any({ aborts: 2 }) }),
      /option disturbances.aborts/,
    ],
    [
      "a tool of the model checker",
      () => kit.modelCheck({ tools: any([{}]) }),
      /modelCheck: option tools\[0\]\.tool: a tool, made with tool\(\), is needed, not undefined/,
    ],
    [
      "a tool of the model checker, without arguments beside it",
      () => kit.modelCheck({ tools: any([{ tool: look }]) }),
      /modelCheck: option tools\[0\]\.examples: a list is needed, not undefined/,
    ],
    [
      "an answer of the model checker's model",
      () => kit.modelCheck({ answers: [[say("x")], any([say("y"), "z"])] }),
      /modelCheck: answers\[1\]\[1\] is "z", and no turn: say\("z"\) makes one/,
    ],
    [
      "a recording that is none",
      () => kit.replayTest({}, any(memoryJournal().read("nobody").length)),
      /a recording is a session's records .* or the path of a file of them; this is 0/,
    ],
    [
      "a recording that was not waited for",
      () => kit.cassette(any(Promise.resolve([]))),
      /await journal\.read\(id\).*; this is Promise/,
    ],
    [
      "records among which there is something else",
      () => wire.recordedScript(any([{ type: "queued" }, null])),
      /a recording is .*; number 1 of these is no record/,
    ],
    [
      "what a model lacks",
      () => kit.testModel({ name: "m", open: any(() => {}), lacks: [any("delta")] }),
      /testModel: option lacks\[0\]: one of .*deltas/,
    ],
    [
      "what a journal is held to",
      () => kit.testJournal(any({ name: "j", open: () => memoryJournal(), lease: true })),
      /testJournal: option lease: .* did you mean leases\?/,
    ],
    [
      "a store that cannot be opened",
      () => kit.testBlobs(any({ name: "b", durable: true, store: memoryBlobs() })),
      /testBlobs: option open: a function is needed, not undefined/,
    ],
    [
      "a tool's suite without a tool",
      () => kit.testTool(any({ examples: [{}] })),
      /testTool: option tool: .* is needed/,
    ],
    [
      "a tool's suite without examples",
      () => kit.testTool(any({ tool: look, effect: "read" })),
      /testTool: option examples: .* is needed/,
    ],
    [
      "a tool's effect",
      () => kit.testTool({ tool: look, effect: any("reed"), examples: [{}] }),
      /testTool: option effect: one of read, idempotent, write is needed, not "reed"/,
    ],
    [
      "a preset's suite",
      () => kit.testPreset(any({ name: "p" })),
      /testPreset: option preset: a function is needed/,
    ],
    [
      "an option of the cases",
      () => wire.runCases("", any({ agents: () => ({}) })).next(),
      /runCases: option agents: .* did you mean agent\?/,
    ],
  ])("%s", async (_what, act, says) => {
    const said = await refusal(act);
    expect(said).toMatch(/^invalid_request: /);
    expect(said).toMatch(says);
  });

  it("a provider that rondo-wire does not play", async () => {
    await using server = await wire.rondoWire({ script: [] });
    expect(await refusal(() => server.urlFor(any("openia")))).toMatch(
      /urlFor: option name: one of anthropic, openai, .* is needed, not "openia"/,
    );
  });
});

const sqliteFile = join(mkdtempSync(join(tmpdir(), "rondo-recording-")), "runs.db");
writeFileSync(sqliteFile, "SQLite format 3\0 and so on");
afterAll(() => rmSync(dirname(sqliteFile), { recursive: true }));

it.each([
  ["a folder", import.meta.dirname, /test: it cannot be read: EISDIR/],
  ["a SQLite journal", sqliteFile, /runs\.db is a SQLite journal: .*rondo show RUN --json/],
  ["a file that is not there", "no-such-run.jsonl", /no-such-run\.jsonl: it cannot be read: ENOENT/],
])("a recording that is %s is refused by its name", async (_what, file, says) => {
  const said = await refusal(() => kit.replayTest({}, file));
  expect(said).toMatch(says);
});
