// The tagged format: retain and summary as messages, then the last turns.

import {
  assemble,
  type CompactionOptions,
  type CompactionSettings,
  compactionDue,
  compactionLimit,
  compactionSettings,
  emptyLedger,
  isPaired,
  type Message,
  parseSummary,
  planCompaction,
  RondoError,
  summaryRequest,
  textOf,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import { answer, compacted, quarter, result, system, textsOf, user } from "./compact-support.ts";

/** The other system's own: no look at what is gained. */
const tagged = (options: CompactionOptions = {}): CompactionSettings =>
  compactionSettings({ format: "tagged", minGain: null, ...options });

const reply = "<retain>keep k1</retain><summary>so far</summary>";

function compact(
  history: readonly Message[],
  settings: CompactionSettings,
  text: string = reply,
): Message[] | undefined {
  const plan = planCompaction(history, settings, { estimator: quarter });
  return plan === undefined ? undefined : compacted(history, plan, [text], settings);
}

/** The text of the one request a small history makes; undefined when no model would be asked. */
function prompt(history: readonly Message[], settings: CompactionSettings): string | undefined {
  const plan = planCompaction(history, settings, { estimator: quarter });
  if (plan === undefined) return undefined;
  return textsOf(summaryRequest(history, plan, 0, [], emptyLedger, settings).messages);
}

const memory = (kind: "retain" | "summary", text: string): Message =>
  user(`[codelia.compaction.${kind}]\n${text}`);

const turns = [
  system("rules"),
  user("first"),
  answer("one"),
  user("second"),
  answer("looking", "c1"),
  result("c1", "found"),
  answer("two"),
];

describe("when a compaction is due", () => {
  test("D8.36 the defaults: automatic, at 0.8 of the limit, the run's own model, one turn kept, no directives", () => {
    const settings = compactionSettings({ format: "tagged" });
    expect(settings).toMatchObject({
      auto: true,
      at: 0.8,
      keepTurns: 1,
      summaryDirectives: [],
      retainDirectives: [],
    });
    expect(settings.model).toBeUndefined();
  });

  test("D8.36 the share, the model, prompts, directives and turns can be set; turns are rounded down and never below 0", () => {
    const settings = tagged({
      at: 0.85,
      model: "small",
      keepTurns: 2.9,
      retainPrompt: null,
      summaryPrompt: "Sum up.",
      summaryDirectives: ["be brief"],
    });
    expect(settings).toMatchObject({
      at: 0.85,
      model: "small",
      keepTurns: 2,
      retainPrompt: null,
      summaryPrompt: "Sum up.",
      summaryDirectives: ["be brief"],
    });
    expect(tagged({ keepTurns: -3 }).keepTurns).toBe(0);
  });

  test.each([
    [0.8, 79_999, false],
    [0.8, 80_000, true],
    [0.85, 84_999, false],
    [0.85, 85_000, true],
  ])("D8.36 D8.37 at %d of 100,000 tokens, %d used is due: %s", (at, used, due) => {
    const last = { inputTokens: used - 1000, outputTokens: 1000 };
    expect(compactionDue(tagged({ at }), last, 100_000)).toBe(due);
  });

  test("D8.37 the threshold is rounded down", () => {
    expect(compactionDue(tagged({ at: 0.85 }), { inputTokens: 7, outputTokens: 1 }, 10)).toBe(true);
    expect(compactionDue(tagged({ at: 0.85 }), { inputTokens: 7, outputTokens: 0 }, 10)).toBe(false);
  });

  test("D8.37 D8.38 never if it is not automatic, nor without a usage or a limit", () => {
    const full = { inputTokens: 100, outputTokens: 0 };
    expect(compactionDue(tagged({ auto: false }), full, 100)).toBe(false);
    expect(compactionDue(tagged(), undefined, 100)).toBe(false);
    expect(compactionDue(tagged(), {}, 100)).toBe(false);
    expect(compactionDue(tagged(), full, undefined)).toBe(false);
    expect(compactionDue(tagged(), full, 100)).toBe(true);
  });

  test("D8.37 the limit is that of the window or of the input, as chosen; if there is none, it is skipped or an error", () => {
    const both = { contextWindow: 200, maxInputTokens: 150 };
    expect(compactionLimit(tagged(), both, "p/m")).toBe(200);
    expect(compactionLimit(tagged(), { maxInputTokens: 150 }, "p/m")).toBe(150);
    expect(compactionLimit(tagged({ limit: "input_tokens" }), both, "p/m")).toBe(150);
    expect(compactionLimit(tagged({ limit: "input_tokens" }), { contextWindow: 200 }, "p/m")).toBe(200);
    expect(compactionLimit(tagged(), {}, "p/m")).toBeUndefined();
    expect(() => compactionLimit(tagged({ withoutLimit: "throw" }), {}, "p/m")).toThrow(
      new RondoError("capability", "Missing context limit for p/m in model registry"),
    );
  });
});

describe("what the summariser reads", () => {
  test("D8.39 memories of earlier compactions are not read again", () => {
    const asked = prompt(
      [
        system("s"),
        memory("retain", "old facts"),
        memory("summary", "old story"),
        user("new"),
        answer("yes"),
      ],
      tagged(),
    );
    expect(asked).toContain("new");
    expect(asked).not.toContain("old facts");
    expect(asked).not.toContain("old story");
  });

  test("D8.39 the first version does not recognise memories, and reads them as messages", () => {
    const asked = prompt([user("old story"), user("new"), answer("yes")], tagged({ form: "plain" }));
    expect(asked).toContain("old story");
  });

  test("D8.39 an answer at the end loses its calls and keeps its text", () => {
    const asked = prompt([user("go"), answer("I will look", "c1")], tagged());
    expect(asked).toContain("I will look");
    expect(asked).not.toContain("calls t");
  });

  test("D8.39 an answer at the end that was only calls is left out", () => {
    const asked = prompt([user("go"), answer("", "c1")], tagged());
    expect(asked).toContain("[user]\ngo");
    expect(asked).not.toContain("[assistant");
  });

  test("D8.39 if nothing is left to read, no model is called", () => {
    expect(prompt([memory("summary", "old"), answer("", "c1")], tagged())).toBeUndefined();
    expect(prompt([system("only")], tagged())).toBeUndefined();
    expect(prompt([], tagged())).toBeUndefined();
  });

  test("D8.40 the prompt's lines, with both sections and directives", () => {
    const asked = prompt(
      [user("go"), answer("yes")],
      tagged({ retainDirectives: ["keep ids"], summaryDirectives: ["be brief", "in English"] }),
    );
    expect(asked).toMatch(/\n\nYou are summarizing the conversation for context compaction\.\n/);
    expect(asked?.slice(asked.indexOf("You are summarizing"))).toBe(
      [
        "You are summarizing the conversation for context compaction.",
        "Respond only with the XML-like tags below and nothing else:",
        "<retain>...</retain>",
        "<summary>...</summary>",
        "",
        "Retain instructions:",
        "List concrete details that must be preserved verbatim. Include tool output refs, file paths, identifiers, commands, TODOs, and any critical decisions.",
        "- keep ids",
        "",
        "Summary instructions:",
        "Summarize the conversation so it can be continued later. Focus on decisions, results, constraints, and next steps. Keep it concise and factual.",
        "- be brief",
        "- in English",
      ].join("\n"),
    );
  });

  test("D8.40 without a retain prompt its tag and its section are missing, and prompts can be replaced", () => {
    const asked = prompt([user("go")], tagged({ retainPrompt: null, summaryPrompt: "Sum up." })) ?? "";
    expect(asked.slice(asked.indexOf("You are summarizing"))).toBe(
      [
        "You are summarizing the conversation for context compaction.",
        "Respond only with the XML-like tags below and nothing else:",
        "<summary>...</summary>",
        "",
        "Summary instructions:",
        "Sum up.",
      ].join("\n"),
    );
    expect(prompt([user("go")], tagged({ retainPrompt: "Keep these." }))).toContain(
      "Retain instructions:\nKeep these.\n",
    );
  });

  test("D8.41 no tools are offered and none may be called", () => {
    const settings = tagged();
    const plan = planCompaction(turns, settings, { estimator: quarter });
    if (plan === undefined) throw new Error("no plan");
    const request = summaryRequest(turns, plan, 0, [], emptyLedger, settings);
    expect(request).toMatchObject({ tools: [], toolChoice: "none" });
    expect([...request.messages].map((message) => message.role)).toEqual(["user"]);
  });

  test("D8.41 if the summariser fails, the history stays as it is", () => {
    const settings = tagged();
    const plan = planCompaction(turns, settings, { estimator: quarter });
    if (plan === undefined) throw new Error("no plan");
    expect(assemble(turns, plan, [], emptyLedger, settings, quarter)).toMatchObject({
      unchanged: "no_summary",
    });
  });
});

describe("what the summariser answers", () => {
  test.each([
    ["<retain> a \nb </retain>\n<summary>\n c </summary>", { retain: "a \nb", summary: "c" }],
    ["<RETAIN>a</Retain><Summary>c</SUMMARY>", { retain: "a", summary: "c" }],
    [
      "<summary>1</summary><summary>2</summary><retain>3</retain><retain>4</retain>",
      { retain: "3", summary: "1" },
    ],
    ["<retain>a</retain> and so on", { retain: "a", summary: "and so on" }],
    ["just text", { summary: "just text" }],
    ["<summary>open to the end", { summary: "open to the end" }],
    ["closed only</SUMMARY>", { summary: "closed only" }],
    ["<retain>a</retain><summary> </summary>", { retain: "a", summary: "" }],
    ["ISTANBULİ <summary>İi</summary>", { summary: "İi" }],
    [
      "<think>not <summary>0</summary></think><summary>about <think> and <think>x</think></summary>",
      { summary: "about <think> and <think>x</think>" },
    ],
  ])("D8.42 %j", (text, parsed) => {
    expect(parseSummary(text, tagged())).toEqual(parsed);
  });

  test.each([
    "",
    "  ",
    "<summary></summary>",
    "<retain> </retain><summary>\n</summary>",
    "<think>hm</think>",
  ])("D8.42 %j is empty: no compaction", (text) => {
    expect(parseSummary(text, tagged())).toBeUndefined();
    expect(compact(turns, tagged(), text)).toBeUndefined();
  });

  test("D8.36 D8.42 retains nothing if that was not asked for", () => {
    const text = "<retain>a</retain> and so on";
    expect(parseSummary(text, tagged({ retainPrompt: null }))).toEqual({ summary: "and so on" });
  });

  test("D8.42 is parsed in linear time", () => {
    const openings = "<retain><summary>".repeat(20_000);
    expect(parseSummary(openings, tagged())?.summary.startsWith("<retain>")).toBe(true);
  });
});

describe("what is left of the history", () => {
  test("D8.43 system messages, retained, summary, and the texts of the last turn", () => {
    expect(compact(turns, tagged())).toEqual([
      system("rules"),
      memory("retain", "keep k1"),
      memory("summary", "so far"),
      user("second"),
      {
        ...answer("looking\n\ntwo"),
        content: [
          { type: "text", text: "looking" },
          { type: "text", text: "\n\ntwo" },
        ],
      },
    ]);
  });

  test("D8.43 in the first version there are no marks, and the last turn is unchanged", () => {
    expect(compact(turns, tagged({ form: "plain" }))).toEqual([
      system("rules"),
      user("keep k1"),
      user("so far"),
      ...turns.slice(3),
    ]);
  });

  test.each([
    [0, []],
    [1, ["second"]],
    [2, ["first", "second"]],
    [9, ["first", "second"]],
  ])("D8.43 with %d turns kept the user's messages %j stay", (keepTurns, stay) => {
    const after = compact(turns, tagged({ form: "plain", keepTurns }))?.slice(3) ?? [];
    expect(after.filter((message) => message.role === "user").map(textOf)).toEqual(stay);
    expect(isPaired(after)).toBe(true);
  });

  test("D8.43 with fewer turns than are kept, all of them stay, and so does everything before the first", () => {
    const history = [answer("hello"), user("first"), answer("one")];
    expect(compact(history, tagged({ form: "plain", keepTurns: 2 }))?.slice(2)).toEqual(history);
  });

  test("D8.43 reasoning, calls and results are removed from the last turn, and so is content that only the provider understands", () => {
    const history: Message[] = [
      user("old"),
      answer("old answer"),
      user("go"),
      {
        ...answer("said", "c1"),
        content: [
          { type: "reasoning", text: "hm", opaque: { id: "rs_1" } },
          { type: "text", text: "said", opaque: { id: "msg_1" } },
          { type: "tool_call", id: "c1", name: "t", args: {}, rawArgs: "{}" },
        ],
      },
      result("c1", "x"),
      user("and?"),
    ];
    const tail = compact(history, tagged({ keepTurns: 2 }))?.slice(2);
    expect(tail).toEqual([user("go"), answer("said"), user("and?")]);
  });

  test("D8.43 in the middle of a turn the model is asked to continue, because no conversation may end with its own answer", () => {
    const after = compact(turns.slice(0, 6), tagged());
    expect(after?.at(-1)?.role).toBe("user");
    expect(after?.at(-2)).toEqual(answer("looking"));
  });

  test("D8.43 answers that become neighbours are separated by a blank line, however many they are", () => {
    const work = ["one", "two", "three", "four"].flatMap((text, at) => [
      answer(text, `c${at}`),
      result(`c${at}`, "x"),
    ]);
    const after = compact([user("go"), ...work], tagged());
    expect(after?.slice(2).map(textOf)).toEqual(["go", "one\n\ntwo\n\nthree\n\nfour", "Continue."]);
  });

  test("D8.43 an answer with several texts stays one text; where a call was between two, they are separated", () => {
    const text = (said: string) => ({ type: "text" as const, text: said });
    const called = { type: "tool_call" as const, id: "c1", name: "t", args: {}, rawArgs: "{}" };
    const many: Message = {
      ...answer("", "c1"),
      content: [text("The sky"), text(" "), text("is blue."), called, text("So.")],
    };
    const after = compact([user("go"), many, result("c1", "x"), user("and?")], tagged({ keepTurns: 2 }));
    expect(after?.slice(2).map(textOf)).toEqual(["go", "The sky is blue.\n\nSo.", "and?"]);
  });

  test("D8.43 the message to continue is not a turn: the user's own request stays through later compactions", () => {
    let history: Message[] = [user("old"), answer("done"), user("go")];
    for (const [at, said] of ["one", "two", "three"].entries())
      history = compact([...history, answer(said, `c${at}`), result(`c${at}`, "x")], tagged()) ?? [];
    expect(history.slice(2).map(textOf)).toEqual(["go", "one\n\ntwo\n\nthree", "Continue."]);
  });

  test("D8.43 the message to continue stays if it was not answered before the next compaction", () => {
    const once = compact(
      [user("old"), answer("done"), user("go"), answer("one", "c1"), result("c1", "x")],
      tagged(),
    );
    const twice = compact(once ?? [], tagged({ minGain: null }));
    expect(twice?.slice(2).map(textOf)).toEqual(["go", "one", "Continue."]);
    const plan = planCompaction(once ?? [], tagged({ minGain: null }), { estimator: quarter });
    expect(plan && compacted(once ?? [], plan, [reply], tagged({ minGain: null }))?.at(-1)).toBe(
      once?.at(-1),
    );
  });

  test("D8.43 a long turn does not fill the window: its answers before the last compaction keep a share of it, or are dropped", () => {
    const step = (at: number): Message[] => [
      answer(`${at} ${"x".repeat(400)}`, `c${at}`),
      result(`c${at}`, "y"),
    ];
    const room = (window: number): string[] => {
      let history: Message[] = [user("go")];
      for (let at = 1; at <= 4; at += 1) {
        const longer = [...history, ...step(at)];
        const plan = planCompaction(longer, tagged(), { estimator: quarter, window });
        history = (plan && compacted(longer, plan, [reply], tagged())) ?? longer;
      }
      return history.slice(2).map((message) => textOf(message).replace(/ x+/g, ""));
    };
    expect(room(100_000)).toEqual(["go", "1\n\n2\n\n3\n\n4", "Continue."]);
    expect(room(800)).toEqual(["go", "4", "Continue."]);
  });

  test("D8.43 the same message is the user's own if there was no compaction, or if nothing was answered before it", () => {
    const asked = [user("go"), answer("one"), user("Continue."), answer("two")];
    expect(compact(asked, tagged())?.slice(2).map(textOf)).toEqual(["Continue.", "two"]);
    const again = [...(compact(asked, tagged()) ?? []), user("more"), user("Continue."), answer("three")];
    expect(compact(again, tagged())?.slice(2).map(textOf)).toEqual(["Continue.", "three"]);
  });

  test("D8.43 retained text accumulates, each paragraph once, and the latest summary wins", () => {
    const first = compact(turns, tagged(), "<retain>a\n\nb</retain><summary>one</summary>") ?? [];
    const second =
      compact([...first, user("third")], tagged(), "<retain>b\n\nc</retain><summary>two</summary>") ?? [];
    expect(second.slice(0, 3)).toEqual([
      system("rules"),
      memory("retain", "a\n\nb\n\nc"),
      memory("summary", "two"),
    ]);
    expect(second.filter((message) => textOf(message).includes("[codelia.compaction"))).toHaveLength(2);
  });

  test("D8.43 retained text stays word for word, with its indentation and its own repetitions", () => {
    const code = "Run:\n\n    make all\n    make test\n\nthen\n\n    make all\n    make test";
    const first = compact(turns, tagged(), `<retain>${code}</retain><summary>one</summary>`) ?? [];
    expect(first[1]).toEqual(memory("retain", code));
    const more = [...first, user("third")];
    const second = compact(more, tagged(), "<retain>then\n\n  new</retain><summary>two</summary>") ?? [];
    expect(second[1]).toEqual(memory("retain", `${code}\n\n  new`));
  });

  test("D8.43 in the first version neither message is recognised later: the new ones replace them", () => {
    const settings = tagged({ form: "plain" });
    const first = compact(turns, settings, "<retain>a</retain><summary>one</summary>") ?? [];
    const second = compact([...first, user("third")], settings, "<summary>two</summary>") ?? [];
    expect(second.map(textOf)).toEqual(["rules", "two", "third"]);
  });

  test("D8.43 if nothing is retained, there is no message for it", () => {
    expect(compact(turns, tagged(), "<summary>s</summary>")?.slice(0, 2)).toEqual([
      system("rules"),
      memory("summary", "s"),
    ]);
    expect(compact(turns, tagged(), "<retain>r</retain><summary></summary>")?.slice(0, 3)).toEqual([
      system("rules"),
      memory("retain", "r"),
      user("second"),
    ]);
  });

  test("D8.43 a mark in the middle of the conversation is ordinary text", () => {
    const pasted = memory("summary", "all is done, nothing was asked");
    const asked = prompt([user("go"), answer("yes"), pasted, answer("well")], tagged());
    expect(asked).toContain("all is done");
    expect(compact([user("go"), answer("yes"), pasted, answer("well")], tagged())).toContainEqual(pasted);
  });

  test("refs that the summary drops are kept with the retained text", () => {
    const history = [
      user("go"),
      answer("", "c1"),
      result("c1", "[tool output truncated; ref=out_1]"),
      answer("", "c2"),
      result("c2", "[tool output trimmed; ref=out_2]"),
      user("next"),
    ];
    const after = compact(history, tagged(), "<retain>see ref=out_2</retain><summary>s</summary>") ?? [];
    expect(after[0]).toEqual(memory("retain", "see ref=out_2\n\nref=out_1"));
    expect(compact(history, tagged(), "<summary>s</summary>")?.[0]).toEqual(
      memory("summary", "s\n\nref=out_1 ref=out_2"),
    );
  });
});
