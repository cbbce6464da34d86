// Random visits of a page: whatever its user does, the page shows what the session has, every call that waits can be answered,
// and no call is left hanging.

import { Agent, subAgent, textOf, waitForAnswer } from "@rondo/core";
import { uiMessages } from "@rondo/core/ai-sdk-ui";
import { call, calls, fail, say, scripted, type Turn, think } from "@rondo/testkit";
import { isToolUIPart, type UIMessage, validateUIMessages } from "ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import { closeServers, Page, type Served, serve } from "./ai-sdk-ui/page.ts";
import { echo, quick } from "./support.ts";

const answers = {
  text: (n: number) => say(`answer ${n}`, { chunk: 4 }),
  look: (n: number) => [say("I look."), call("look", { n }, { chunk: 2 })],
  refund: (n: number) => call("refund", { n }),
  several: (n: number) =>
    calls([
      ["refund", { n }],
      ["look", { n }],
      ["refund", { n: n + 100 }],
    ]),
  question: (n: number) => [think("Hm."), call("ask", { n })],
  "a tool that throws": (n: number) => call("boom", { n }),
  "an answer that breaks off": (n: number) => [say("I am"), call("look", { n }), fail("stream_truncated")],
  "sub-agent": (n: number) => call("clerk", { task: `task ${n}` }),
} satisfies Record<string, (n: number) => Turn>;
const moves = ["send", "approve", "deny", "answer", "regenerate", "edit", "reload"] as const;

const toolsOf = (clerk: Agent) => [
  echo("look"),
  echo("refund", { permission: "ask", effect: "write" }),
  echo("ask", { effect: "write", execute: () => waitForAnswer("How many?") }),
  echo("boom", {
    execute: () => {
      throw new Error("no");
    },
  }),
  subAgent({ name: "clerk", description: "Pays", agent: clerk }),
];

class Visit {
  readonly #served: Served;
  page: Page;
  #words = 0;

  constructor(served: Served) {
    this.#served = served;
    this.page = new Page(served.api);
  }

  async move(move: (typeof moves)[number]): Promise<void> {
    const { page } = this;
    const { pending } = await this.#served.session();
    const waiting = page.messages
      .flatMap(({ parts }) => parts.filter(isToolUIPart))
      .filter((part) => pending.some(({ id }) => id === part.toolCallId));
    const own = page.messages.findLast(({ role }) => role === "user");
    const text = `word ${this.#words++}`;
    if (move === "send") await page.sendMessage({ text });
    else if (move === "approve" || move === "deny") {
      const asked = waiting.filter(({ state }) => state === "approval-requested");
      for (const { approval } of asked)
        await page.addToolApprovalResponse({ id: approval?.id ?? "", approved: move === "approve" });
      if (asked.length > 0) await page.sendMessage();
    } else if (move === "answer") {
      const question = waiting.find(({ type }) => type === "tool-ask");
      if (question === undefined) return;
      await page.addToolOutput({ tool: "ask", toolCallId: question.toolCallId, output: "three" });
      await page.sendMessage();
    } else if (move === "reload") {
      const messages: UIMessage[] = uiMessages(await this.#served.session());
      const known = messages.length === 0 ? [] : await validateUIMessages({ messages });
      this.page = new Page(this.#served.api, "chat", known);
      // What is sent again of the last message makes the same message.
      const before = structuredClone(this.page.messages);
      await this.page.resumeStream();
      expect(this.page.messages).toMatchObject(before);
    } else if (own !== undefined && move === "regenerate") await page.regenerate();
    else if (own !== undefined) await page.sendMessage({ text, messageId: own.id });
  }

  async check(): Promise<void> {
    const { error, messages } = this.page;
    expect([undefined, "stream_truncated"]).toContain(error?.message);
    const session = await this.#served.session();
    const shown = messages.filter(({ role }) => role === "user").map(({ parts }) => parts);
    expect(shown).toMatchObject(
      session.messages
        .filter(({ role }) => role === "user")
        .map((message) => [{ type: "text", text: textOf(message) }]),
    );
    const parts = messages.flatMap((message) => message.parts.filter(isToolUIPart));
    for (const { id } of session.pending)
      expect(parts.filter(({ toolCallId }) => toolCallId === id).map(({ state }) => state)).toContain(
        session.pending.find((one) => one.id === id)?.question === undefined
          ? "approval-requested"
          : "input-available",
      );
    if (session.status !== "idle") return;
    const last = (messages.at(-1)?.parts ?? []).filter(isToolUIPart).map(({ state }) => state);
    for (const hanging of ["input-streaming", "input-available", "approval-responded"])
      expect(last).not.toContain(hanging);
  }
}

test("whatever is done on a page", async () => {
  const anyAnswers = fc.array(fc.constantFrom(...(Object.keys(answers) as (keyof typeof answers)[])), {
    minLength: 1,
    maxLength: 8,
  });
  const anyMoves = fc.array(fc.constantFrom(...moves), { minLength: 2, maxLength: 14 });
  await fc.assert(
    fc
      .asyncProperty(anyAnswers, anyMoves, async (planned, steps) => {
        let number = 0;
        const clerk = new Agent({
          model: scripted(() => (number++ % 2 === 0 ? call("refund", { n: number }) : say("Paid."))),
          tools: [echo("refund", { permission: "ask", effect: "write" })],
          ...quick,
        });
        const turn = (): Turn => {
          const at = number++;
          return answers[(at < 12 && planned[at % planned.length]) || "text"](at);
        };
        const visit = new Visit(await serve(turn, toolsOf(clerk), { afterEnd: true }));
        for (const step of steps) {
          await visit.move(step);
          await visit.check();
        }
      })
      .afterEach(closeServers),
    { numRuns: 60 },
  );
}, 60_000);
