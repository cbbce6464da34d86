import type { CallView, RondoEvent, RunEnd } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { plain } from "../src/console/console.ts";
import { endText } from "../src/render/ending.ts";
import { LiveView } from "../src/render/live.ts";

const origin = { api: "a", provider: "b", model: "c" };
const call = (name: string, index: number): CallView => ({
  key: `3.${index}`,
  id: `call_${index}`,
  name,
  args: { path: `${name}.txt` },
});
const text = (said: string, index = 0): RondoEvent => ({ type: "text_delta", step: 1, index, text: said });
const message = (said: string): RondoEvent => ({
  type: "message",
  step: 1,
  message: {
    role: "assistant",
    content: [{ type: "text", text: said }],
    origin,
    stop: { kind: "end_turn", wire: "end_turn" },
  },
});
const begins = (one: CallView): RondoEvent => ({ type: "tool_start", call: one });
const ends = (one: CallView, said: string, isError = false): RondoEvent => ({
  type: "tool_end",
  call: one,
  content: [{ type: "text", text: said }],
  isError,
  ms: 5,
  ...(isError ? { code: "threw" as const } : {}),
});
const runEnd = (said: string): RondoEvent => ({
  type: "run_end",
  end: { reason: "completed", rule: "answer", evidence: {}, resumable: true, landed: false },
  text: said,
});
const error = { kind: "overloaded", message: "too many", retryable: true } as const;

function shown(events: readonly RondoEvent[], reasoning = false): string {
  let screen = "";
  const view = new LiveView({
    write: (piece) => {
      screen += piece;
    },
    paint: plain,
    width: 80,
    reasoning,
    approvals: true,
  });
  for (const event of events) view.hear(event);
  return screen;
}

describe("the live view", () => {
  it("writes text as it comes, and the answer only once", () => {
    expect(shown([text("It is "), text("so.")])).toBe("It is so.");
    expect(shown([text("It is "), text("so."), message("It is so."), runEnd("It is so.")])).toBe(
      "It is so.\n\n",
    );
  });

  it("writes the text once of an answer that was broken off", () => {
    expect(shown([text("half an "), text("answ"), runEnd("half an answ")])).toBe("half an answ\n\n");
  });

  it("writes a refusal once, which is the text of its run", () => {
    const refused = message("");
    if (refused.type === "message") refused.message.content = [{ type: "refusal", text: "I will not." }];
    expect(shown([refused, runEnd("I will not.")])).toBe("I will not.\n\n");
  });

  it("says that a history is to be summed up, with what the rule saw where it saw anything", () => {
    const begins = (evidence: { [name: string]: number }): RondoEvent => ({
      type: "compaction_start",
      rule: "asked",
      evidence,
    });
    expect(shown([begins({})])).toBe("the history is summed up (rule asked)\n");
    expect(shown([begins({ share: 1 })])).toBe("the history is summed up (rule asked): share 1\n");
  });

  it("shows a warning once, however many requests it is told with", () => {
    const warning = (message: string): RondoEvent => ({
      type: "warning",
      code: "unsupported_setting",
      message,
    });
    const child: RondoEvent = { type: "child", call: call("ask", 0), event: warning("no topK") };
    const screen = shown([warning("no topK"), warning("no seed"), text("So."), warning("no topK"), child]);
    expect(screen.match(/no topK/g)).toHaveLength(1);
    expect(screen).toContain("no seed");
  });

  it("shows the answer of a model that streams nothing", () => {
    expect(shown([message("All at once."), runEnd("All at once.")])).toBe("All at once.\n\n");
  });

  it("shows a text that came from elsewhere than the last answer", () => {
    expect(shown([text("Done?"), message("Done?"), runEnd("The tool says done.")])).toBe(
      "Done?\nThe tool says done.\n\n",
    );
  });

  it("says whose a result is when calls run side by side", () => {
    const [one, other] = [call("a", 0), call("b", 1)];
    expect(shown([begins(one), ends(one, "first")])).toBe("→ a a.txt\n    first\n");
    expect(shown([begins(one), begins(other), ends(one, "first"), ends(other, "second")])).toBe(
      "→ a a.txt\n→ b b.txt\na a.txt:\n    first\nb b.txt:\n    second\n",
    );
  });

  it("says how a call failed", () => {
    const one = call("a", 0);
    expect(shown([begins(one), ends(one, "Error: no", true)])).toContain(
      "    Error: no\n    (threw, 5 ms)\n",
    );
  });

  it("says that what was shown is void when an answer is asked for again", () => {
    const screen = shown([
      text("half of"),
      { type: "retry", step: 1, error, delayMs: 1_500, discard: true, rule: "retry", evidence: {} },
      text("whole"),
    ]);
    expect(screen).toBe(
      "half of\n\noverloaded: too many; trying again in 1.5 s; what was shown of this answer is void\n\nwhole",
    );
    expect(
      shown([
        text("a sec"),
        { type: "nudge", rule: "must_not_say", text: "Hush.", discard: true },
        text("Fine."),
      ]),
    ).toBe("a sec\n\nrule must_not_say to the model: Hush.; what was shown of this answer is void\n\nFine.");
  });

  it("shows an answer that comes at once, where one before it broke off in its text", () => {
    const request: RondoEvent = { type: "request", step: 1, attempt: 2, model: "m", origin, digest: "" };
    const events: RondoEvent[] = [
      text("half of"),
      { type: "fallback", step: 1, from: "a", to: "b", error, discard: true },
      request,
      message("The whole."),
      runEnd("The whole."),
    ];
    expect(shown(events)).toMatch(/is void\n\nThe whole\.\n\n$/);
  });

  it("shows reasoning only where it is wanted", () => {
    const events: RondoEvent[] = [
      { type: "reasoning_delta", step: 1, index: 0, text: "let me see" },
      text("Yes.", 1),
    ];
    expect(shown(events)).toBe("Yes.");
    expect(shown(events, true)).toBe("let me see\n\nYes.");
  });

  it("cuts long results and lines with a count", () => {
    const one = call("a", 0);
    const screen = shown([begins(one), ends(one, `${"x".repeat(500)}\n${"line\n".repeat(20)}`)]);
    expect(screen).toContain(`${"x".repeat(76)}… 424 more characters\n`);
    expect(screen).toContain("    … 15 more lines\n");
  });

  it("lets nothing a tool or a model wrote reach the terminal as a command", () => {
    const esc = String.fromCharCode(27);
    const one = { ...call("a", 0), args: { path: `x${esc}[2J` } };
    const screen = shown([
      text(`a${esc}]0;`),
      text("title\u0007b"),
      begins(one),
      ends(one, `r${esc}[31m`),
      { type: "warning", code: "w", message: `${esc}[5m!` },
    ]);
    expect(screen).not.toContain(esc);
    expect(screen).toContain("ab\n");
  });

  it("lets no name that a model made up, and nothing a rule saw, reach the terminal as a command", () => {
    const esc = String.fromCharCode(27);
    const [one, other] = [call(`a${esc}[2J`, 0), call(`b${esc}]0;title\u0007!`, 1)];
    const end: RondoEvent = {
      type: "run_end",
      end: {
        reason: "unexpected_stop",
        rule: "by_content",
        evidence: { raw: `${esc}[2Jodd\nword` },
        resumable: true,
        landed: false,
      },
      text: "",
    };
    const limit: RondoEvent = {
      type: "limit",
      reason: "no_progress",
      rule: "repeats",
      evidence: { tool: `a${esc}[5m` },
      lands: true,
    };
    const screen = shown([begins(one), begins(other), ends(one, "1"), ends(other, "2"), limit, end]);
    expect(screen).not.toContain(esc);
    expect(screen).toContain("→ b! b!.txt");
    expect(screen).toContain("limit no_progress: tool a; one last");
    expect(endText(end.end)).toBe(
      "stopped: the model stopped unexpectedly (unexpected_stop), rule by_content: raw odd ⏎ word",
    );
  });
});

it("tells an error before the rule that acted on it", () => {
  const end: RunEnd = {
    reason: "error",
    rule: "retry",
    evidence: { kind: "auth", attempt: 1 },
    error: { kind: "auth", message: "there is no key", retryable: false },
    landed: false,
    resumable: true,
  };
  expect(endText(end)).toBe("failed (error), auth: there is no key; rule retry: kind auth, attempt 1");
});
