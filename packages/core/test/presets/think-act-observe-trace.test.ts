// The trace: a run's events as the lines of a glass-box agent.

import { Agent, type AgentOptions, byContent, type CallView, type RondoEvent, subAgent } from "@rondo/core";
import {
  Chat,
  type ThinkActObserveOptions,
  type TraceOptions,
  thinkActObserve,
  trace,
  traceLines,
} from "@rondo/core/presets";
import { call, calls, emit, empty, fail, say, scripted, stop, type Turn } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo } from "../support.ts";

type Given = Partial<ThinkActObserveOptions>;

const agentOf = (script: readonly Turn[], given: Given = {}, more: Partial<AgentOptions> = {}): Agent =>
  new Agent({ ...thinkActObserve({ model: scripted(script), tools: [echo("look")], ...given }), ...more });

/** The lines of a run. */
async function linesOf(
  script: readonly Turn[],
  given: Given = {},
  more: Partial<AgentOptions> & { task?: string } = {},
): Promise<string[]> {
  const { task = "go", ...options } = more;
  const lines: string[] = [];
  const { maxIterations = null } = given;
  const onEvent = trace({ to: (line) => lines.push(line), maxIterations });
  await agentOf(script, given, options)
    .run(task, { onEvent })
    .catch(() => {});
  return lines;
}

const first = (step: number, max = 10): string[] => [
  `[AGENT] Iteration ${step}/${max}`,
  "[THINK] Calling LLM for next action...",
];
const endTurn = "[THINK] LLM decided to respond without tools - ending loop";

describe("the lines", () => {
  test("A5.29 A5.30 are those of a run with a tool, in their order", async () => {
    const { definition } = echo("read");
    const read = echo("read", {
      inputSchema: { ...definition.inputSchema, properties: { path: { type: "string" } } },
      execute: () => "def greet(): pass",
    });
    const script = [[say("I read it."), call("read", { path: "a.py" }, { id: "c1" })], say("It greets.")];
    expect(await linesOf(script, { tools: [read] }, { task: "What does a.py do?" })).toEqual([
      "[HISTORY] Added user message: What does a.py do?...",
      ...first(1),
      "[LLM] Response stop_reason: tool_use",
      "[THINK] Text: I read it.",
      "[THINK] Tool call: read",
      "[ACT] Executing tool: read",
      "[ACT] Tool ID: c1",
      '[ACT] Input: {"path":"a.py"}',
      "[OBSERVE] Result preview: def greet(): pass",
      ...first(2),
      "[LLM] Response stop_reason: end_turn",
      "[THINK] Text: It greets.",
      endTurn,
    ]);
  });

  test("A5.30 distinguish an answer without calls from one that ended its turn", async () => {
    const said = await linesOf([[say("so far"), stop("max_tokens")]]);
    expect(said.slice(3)).toEqual([
      "[LLM] Response stop_reason: max_tokens",
      "[THINK] Text: so far",
      "[THINK] No tool calls found - ending loop",
    ]);
    expect((await linesOf([empty()])).slice(3)).toEqual(["[LLM] Response stop_reason: end_turn", endTurn]);
  });

  test("A4.25 show the client's warnings during a model call, and no other warning", async () => {
    const emits = (message: string): Turn => emit({ type: "warning", code: "odd", message });
    const logged: string[] = [];
    const hear = trace({ to: (line) => logged.push(line) });
    hear({ type: "warning", code: "elsewhere", message: "not the model's" });
    await agentOf([[emits("half\nread"), say("so")]]).run("go", { onEvent: hear });
    hear({ type: "warning", code: "elsewhere", message: "nor this one" });
    expect(logged.filter((line) => line.includes("Warning"))).toEqual(["[LLM] Warning: half read"]);
    expect(logged.indexOf("[LLM] Warning: half read")).toBe(3);
  });

  test("A5.29 show nothing of a call that end_turn left behind, whose result only keeps the history valid", async () => {
    expect((await linesOf([[call("look"), stop("end_turn")]])).slice(3)).toEqual([
      "[LLM] Response stop_reason: end_turn",
      "[THINK] Tool call: look",
      endTurn,
    ]);
  });

  test("A5.29 show the calls of such an answer if another rule runs them", async () => {
    const both: Turn = [calls([["look"], ["other"]]), stop("end_turn")];
    const tools = [echo("look"), echo("other")];
    const lines = await linesOf(
      [both, say("done")],
      { tools },
      { continueRule: byContent(), toolOrder: "parallel" },
    );
    const seen = (tag: string): string[] => lines.filter((line) => line.startsWith(`[${tag}]`));
    expect(seen("ACT").filter((line) => line.includes("Executing"))).toEqual([
      "[ACT] Executing tool: look",
      "[ACT] Executing tool: other",
    ]);
    expect(seen("OBSERVE")).toEqual(
      ["look ran", "other ran"].map((text) => `[OBSERVE] Result preview: ${text}`),
    );
    expect(lines.filter((line) => line === endTurn)).toHaveLength(1);
  });

  test.each([
    ["HISTORY", 49, false],
    ["HISTORY", 50, false],
    ["HISTORY", 51, true],
    ["THINK", 100, false],
    ["THINK", 101, true],
    ["OBSERVE", 200, false],
    ["OBSERVE", 201, true],
  ])("A5.30 preview %s: of %i characters it is cut: %s", async (tag, length, isCut) => {
    const text = "😀".repeat(length);
    const tools = [echo("look", { execute: () => (tag === "OBSERVE" ? text : "x") })];
    const script = [[say(tag === "THINK" ? text : "x"), call("look")], say("done")];
    const lines = await linesOf(script, { tools }, { task: tag === "HISTORY" ? text : "x" });
    const limits: Record<string, number> = { HISTORY: 50, THINK: 100, OBSERVE: 200 };
    const labels: Record<string, string> = {
      HISTORY: "[HISTORY] Added user message: ",
      THINK: "[THINK] Text: ",
      OBSERVE: "[OBSERVE] Result preview: ",
    };
    const shown = lines.find((line) => line.startsWith(labels[tag] as string))?.slice(labels[tag]?.length);
    // A user's message is always followed by the dots.
    const dots = isCut || tag === "HISTORY" ? "..." : "";
    expect(shown).toBe("😀".repeat(Math.min(length, limits[tag] as number)) + dots);
  });

  test("A5.30 count iterations up to the limit, and have no ending line there", async () => {
    const lines = await linesOf([call("look"), call("look")], { maxIterations: 2 });
    expect(lines.filter((line) => line.startsWith("[AGENT]"))).toEqual([
      "[AGENT] Iteration 1/2",
      "[AGENT] Iteration 2/2",
    ]);
    expect(lines.at(-1)).toBe("[OBSERVE] Result preview: look ran");
    expect(() => trace({ maxIterations: -1 })).toThrow(/option maxIterations/);
  });

  test("A5.30 begin a given history with its last message, and show messages that come meanwhile", async () => {
    const lines: string[] = [];
    const agent = agentOf([say("one"), say("two")]);
    const said = (text: string): { role: "user"; content: [{ type: "text"; text: string }] } => ({
      role: "user",
      content: [{ type: "text", text }],
    });
    const session = await agent.open("s");
    session.subscribe(trace({ to: (line) => lines.push(line) }));
    session.followUp("more");
    await session.send([said("earlier"), said("now")]);
    expect(lines.filter((line) => line.startsWith("[HISTORY]"))).toEqual([
      "[HISTORY] Added user message: now...",
      "[HISTORY] Added user message: more...",
    ]);
    // Only the last answer ended the loop.
    expect(lines.filter((line) => line === endTurn)).toHaveLength(1);
    expect(lines.at(-1)).toBe(endTurn);
  });

  test("A5.30 show calls in their order, even if one that cannot run has its result before the first", async () => {
    const lines = await linesOf([calls([["look"], ["nowhere"], ["look"]]), say("done")]);
    expect(lines.filter((line) => /Executing|OBSERVE/.test(line))).toEqual([
      "[ACT] Executing tool: look",
      "[OBSERVE] Result preview: look ran",
      "[ACT] Executing tool: nowhere",
      "[OBSERVE] Result preview: Error: Unknown tool: nowhere",
      "[ACT] Executing tool: look",
      "[OBSERVE] Result preview: look ran",
    ]);
  });

  test("show a run that another process began from where this one took it over", () => {
    const lines: string[] = [];
    const hear = trace({ to: (line) => lines.push(line) });
    const taken: CallView = { key: "4.1", id: "c2", name: "look", args: {} };
    hear({ type: "tool_start", call: taken });
    hear({ type: "tool_end", call: taken, content: [{ type: "text", text: "seen" }], isError: false, ms: 1 });
    expect(lines[0]).toBe("[ACT] Executing tool: look");
    expect(lines.at(-1)).toBe("[OBSERVE] Result preview: seen");
  });

  test("show the calls of such a run as they begin, whichever of them is approved first", () => {
    const lines: string[] = [];
    const hear = trace({ to: (line) => lines.push(line) });
    const taken = (at: number): CallView => ({ key: `4.${at}`, id: `c${at}`, name: `tool${at}`, args: {} });
    const ended = (at: number): RondoEvent => ({
      type: "tool_end",
      call: taken(at),
      content: [{ type: "text", text: `result ${at}` }],
      isError: false,
      ms: 1,
    });
    for (const at of [2, 0, 1]) hear({ type: "tool_start", call: taken(at) });
    for (const at of [1, 2, 0]) hear(ended(at));
    expect(lines.filter((line) => /Executing|OBSERVE/.test(line))).toEqual(
      [2, 0, 1].flatMap((at) => [
        `[ACT] Executing tool: tool${at}`,
        `[OBSERVE] Result preview: result ${at}`,
      ]),
    );
  });

  test("show a sub-agent that waits for an approval and continues once", async () => {
    const lines: string[] = [];
    const press = echo("press", { effect: "write", permission: "ask" });
    const helper = subAgent({
      name: "helper",
      description: "helps",
      agent: new Agent({ model: scripted([call("press"), say("helped")]), tools: [press] }),
    });
    const script = [call("helper", { task: "press it" }), say("done")];
    const session = await agentOf(script, { tools: [helper] }).open("s");
    session.subscribe(trace({ to: (line) => lines.push(line) }));
    await session.send("go");
    await session.approve(session.pending[0]?.id ?? "");
    expect(lines.filter((line) => line.includes("Executing"))).toEqual(["[ACT] Executing tool: helper"]);
    expect(lines).toContain("[OBSERVE] Result preview: helped");
  });

  test("show failed and unknown tools as the model reads them, and nothing of a model that failed", async () => {
    const lines = await linesOf([call("nowhere"), fail("network")]);
    expect(lines).toContain("[ACT] Executing tool: nowhere");
    expect(lines).toContain("[OBSERVE] Result preview: Error: Unknown tool: nowhere");
    expect(lines.at(-1)).toBe("[THINK] Calling LLM for next action...");
  });

  test("contain nothing that a terminal obeys, and no name that looks like a line", async () => {
    const nasty = "a\u001b[2J\u009b31m\u202eb";
    const tools = [echo("look", { execute: () => nasty })];
    const script = [
      [
        say(nasty),
        call("look", {}, { id: "c\n[ACT] forged" }),
        call("x\u001b]0;t\u0007\n[ACT] y", { a: nasty }),
      ],
      say("done"),
    ];
    const lines = await linesOf(script, { tools }, { task: nasty });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
    expect(lines.join("")).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(lines).toContain("[THINK] Text: ab");
    expect(lines).toContain("[ACT] Tool ID: c [ACT] forged");
  });
});

describe("where lines are written", () => {
  const event: RondoEvent = { type: "step_start", step: 1 };
  const esc = "\u001b";
  const terminal = (isTTY: boolean): { text: string; isTTY: boolean; write(text: string): void } => ({
    text: "",
    isTTY,
    write(text) {
      this.text += text;
    },
  });

  test.each<[string, TraceOptions, boolean, boolean]>([
    ["a terminal", { env: {} }, true, true],
    ["a file", { env: {} }, false, false],
    ["a terminal, with NO_COLOR", { env: { NO_COLOR: "1" } }, true, false],
    ["a terminal, with an empty NO_COLOR", { env: { NO_COLOR: "" } }, true, true],
    ["a file, when asked", { colors: true, env: { NO_COLOR: "1" } }, false, true],
    ["a terminal, when not asked", { colors: false, env: {} }, true, false],
  ])("A5.30 colours: %s", (_what, options, isTTY, coloured) => {
    const to = terminal(isTTY);
    trace({ ...options, to })(event);
    expect(to.text).toBe(
      coloured ? `${esc}[36m[AGENT]${esc}[0m Iteration ${esc}[1m1${esc}[0m/10\n` : "[AGENT] Iteration 1/10\n",
    );
  });

  test("to the console by default", () => {
    const said: unknown[] = [];
    const { log } = console;
    console.log = (line: unknown) => said.push(line);
    try {
      trace({ colors: false })(event);
    } finally {
      console.log = log;
    }
    expect(said).toEqual(["[AGENT] Iteration 1/10"]);
  });

  test("A5.29 over a stream they are the same lines; a reader that stops ends the run", async () => {
    const script = [call("look", {}, { id: "c1" }), say("done")];
    const lines: string[] = [];
    for await (const line of traceLines(agentOf(script).stream("go"))) lines.push(line);
    expect(lines).toEqual(await linesOf(script));
    const stream = agentOf(script).stream("go");
    for await (const _line of traceLines(stream)) break;
    await expect(stream.result).rejects.toThrow("aborted");
  });

  test("A5.30 of a chat come run after run", async () => {
    const lines: string[] = [];
    const chat = new Chat(agentOf([say("one"), say("two")]), {
      onEvent: trace({ to: (line) => lines.push(line) }),
    });
    await chat.run("first");
    await chat.run("second");
    expect(lines.filter((line) => line.startsWith("[HISTORY]"))).toEqual([
      "[HISTORY] Added user message: first...",
      "[HISTORY] Added user message: second...",
    ]);
  });
});
