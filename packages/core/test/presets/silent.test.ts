// Silent replies: what counts as one, and that nothing of it is ever shown.

import {
  Agent,
  isSilentAnswer,
  isSilentPrefix,
  isSilentReply,
  type RondoEvent,
  SilentFilter,
  silentTokens,
  stripSilentToken,
  textOf,
} from "@rondo/core";
import { steerable, withoutSilentReplies } from "@rondo/core/presets";
import { call, cut, say, scripted, type Turn, think } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { echo } from "../support.ts";

async function shown(
  script: readonly Turn[],
  chunk?: number,
): Promise<{ text: string; events: RondoEvent[] }> {
  const model = scripted(script, chunk === undefined ? {} : { chunk });
  const agent = new Agent(steerable({ model, tools: [echo("look")] }));
  const events: RondoEvent[] = [];
  for await (const event of withoutSilentReplies(agent.stream("go"))) events.push(event);
  const text = events.map((event) => (event.type === "text_delta" ? event.text : "")).join("");
  return { text, events };
}

/** What a filter lets through of a text that comes in pieces. */
function filtered(pieces: readonly string[]): { text: string; silent: boolean } {
  const filter = new SilentFilter();
  const text = pieces.map((piece) => filter.push(piece)).join("");
  const rest = filter.end();
  return { text: text + rest.text, silent: rest.silent };
}

describe("a silent reply", () => {
  test("C9.65 is the exact token, with any space around it; inside or at the end of real text it is not", () => {
    for (const token of silentTokens) {
      expect(isSilentReply(token)).toBe(true);
      expect(isSilentReply(` \n${token}\t\n`)).toBe(true);
      for (const text of [`${token} but`, `see ${token} here`, `Done.\n\n${token}`, `${token}.`, `x${token}`])
        expect([text, isSilentReply(text)]).toEqual([text, false]);
    }
    expect(isSilentReply("")).toBe(false);
  });

  test("C9.65 depends on case unless an option says otherwise, and the tokens are an option", () => {
    expect(isSilentReply("no_reply")).toBe(false);
    expect(isSilentReply("No_Reply", { anyCase: true })).toBe(true);
    expect(isSilentReply("__SILENT__", { tokens: ["NO_REPLY"] })).toBe(false);
    expect(isSilentReply("HUSH", { tokens: ["HUSH"] })).toBe(true);
    expect(isSilentReply("", { tokens: [""] })).toBe(false);
  });

  test("C9.65 a token at the end is removed, one at the start or within a word is kept", () => {
    expect(stripSilentToken("Done.\n\nNO_REPLY")).toBe("Done.");
    expect(stripSilentToken("NO_REPLY")).toBe("");
    expect(stripSilentToken("**NO_REPLY")).toBe("");
    expect(stripSilentToken("All is well **NO_REPLY  ")).toBe("All is well");
    expect(stripSilentToken("interject.NO_REPLY")).toBe("interject.NO_REPLY");
    expect(stripSilentToken("NO_REPLY, he said")).toBe("NO_REPLY, he said");
    expect(stripSilentToken("ok __SILENT__")).toBe("ok");
    expect(stripSilentToken("ok HEARTBEAT_OK __SILENT__")).toBe("ok HEARTBEAT_OK");
    expect(stripSilentToken("ok no_reply")).toBe("ok no_reply");
    expect(stripSilentToken("ok no_reply", { anyCase: true })).toBe("ok");
  });

  test("C9.65 a partial text may be the beginning of a token: capitals past its underscore, or its two-letter word", () => {
    for (const text of [
      "NO",
      "NO_",
      "NO_RE",
      "NO_REPLY",
      " \nNO_",
      "HEARTBEAT_",
      "HEARTBEAT_OK",
      "__",
      "__SIL",
    ])
      expect([text, isSilentPrefix(text)]).toEqual([text, true]);
    for (const text of ["", " ", "N", "No", "no_", "Hello", "HEART", "HE", "NOT", "NO_X", "NO REPLY", "_"])
      expect([text, isSilentPrefix(text)]).toEqual([text, false]);
    expect(isSilentPrefix("HEART", { tokens: ["HEARTBEAT_OK"] })).toBe(false);
    expect(isSilentPrefix("NO", { tokens: ["HEARTBEAT_OK"] })).toBe(false);
  });

  test("C9.65 C1.13 may have reasoning with its token, but no call or file", async () => {
    const result = await new Agent(
      steerable({ model: scripted([[think("Nobody asked me."), say("__SILENT__")]]) }),
    ).run("(somebody speaks to somebody else)");
    expect([result.end?.reason, isSilentReply(result.text)]).toEqual(["completed", true]);
    const answer = result.messages.at(-1);
    if (answer?.role !== "assistant") throw new Error("no answer");
    expect(isSilentAnswer(answer)).toBe(true);
    const image = { type: "file" as const, mediaType: "image/png", data: "" };
    expect(isSilentAnswer({ ...answer, content: [...answer.content, image] })).toBe(false);
  });
});

describe("what is shown", () => {
  test("C9.65 a silent reply shows nothing, however it arrives", async () => {
    for (const chunk of [1, 3, 100])
      for (const reply of ["NO_REPLY", "\n __SILENT__ \n", "HEARTBEAT_OK", "**NO_REPLY"]) {
        const { text, events } = await shown([[think("Not for me."), say(reply)]], chunk);
        expect(text).toBe("");
        expect(JSON.stringify(events)).not.toMatch(/NO_REPLY|__SILENT__|HEARTBEAT_OK/);
        expect(events.find((event) => event.type === "run_end")).toMatchObject({ text: "" });
      }
  });

  test("C9.65 real text is shown as it comes, without a token at its end", async () => {
    for (const chunk of [1, 2, 100]) {
      expect((await shown([say("NOthing is NO_REPLY here.")], chunk)).text).toBe("NOthing is NO_REPLY here.");
      const { text, events } = await shown([say("Done.\n\nNO_REPLY")], chunk);
      expect(text).toBe("Done.");
      expect(events.find((event) => event.type === "run_end")).toMatchObject({ text: "Done." });
    }
    const { events } = await shown([say("Hello", { chunk: 1 })]);
    expect(events.filter((event) => event.type === "text_delta")).toHaveLength(5);
  });

  test("C9.65 the same tokens and the same case apply to what is shown and to what counts as silent", async () => {
    const texts: string[] = [];
    for (const options of [
      {},
      { tokens: ["NO_REPLY"] },
      { anyCase: true },
      { tokens: ["hush"], anyCase: true },
    ]) {
      const agent = new Agent(steerable({ model: scripted([say("no_reply", { chunk: 1 })]) }));
      let text = "";
      for await (const event of withoutSilentReplies(agent.stream("go"), options))
        if (event.type === "text_delta") text += event.text;
      texts.push(text);
    }
    expect(texts).toEqual(["no_reply", "no_reply", "", "no_reply"]);
  });

  test("each piece stays with its part, and a token before a call is not shown either", async () => {
    const { text, events } = await shown(
      [
        [say("NO_REPLY", { chunk: 2 }), call("look")],
        [say("a "), say("b")],
      ],
      1,
    );
    expect(text).toBe("a b");
    const indexes = events.flatMap((event) => (event.type === "text_delta" ? [event.index] : []));
    expect(indexes).toEqual([0, 0, 1]);
    expect(JSON.stringify(events)).not.toContain("NO_REPLY");
  });

  test("C9.65 deltas, message and run have the same text, whatever tokens it ends with and wherever its parts are divided", async () => {
    const word = fc.constantFrom(
      "NO_REPLY",
      "__SILENT__",
      "HEARTBEAT_OK",
      "NO",
      "_",
      " ",
      "\n",
      "**",
      "ok.",
      "ü",
    );
    const texts = fc.array(fc.array(word, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 4 }), async (parts, chunk) => {
        const script = parts.map((words) => say(words.join("")));
        const { text, events } = await shown([script], chunk);
        const told = events.find((event) => event.type === "message");
        const end = events.find((event) => event.type === "run_end");
        const whole = parts.flat().join("");
        const kept = stripSilentToken(whole);
        expect(text.trim()).toBe(kept);
        expect(told?.type === "message" && textOf(told.message).trim()).toBe(kept);
        expect(end?.type === "run_end" && end.text.trim()).toBe(kept);
      }),
      { numRuns: 300 },
    );
  });

  test("the rest of an answer that broke off is shown at the end of the run, not in the next answer", async () => {
    const { text } = await shown([cut({ afterText: "NO" })]);
    expect(text).toBe("NO");
  });

  test("a filter passes everything except a token at the end: for any text in any pieces", () => {
    const word = fc.constantFrom(
      "NO_REPLY",
      "NO",
      "_REPLY",
      "N",
      " ",
      "\n",
      "*",
      "Done.",
      "__",
      "SILENT__",
      "x",
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.nat(5), (words, size) => {
        const text = words.join("");
        const pieces = text.match(new RegExp(`[^]{1,${size + 1}}`, "g")) ?? [];
        const { text: through, silent } = filtered(pieces);
        expect(text.startsWith(through)).toBe(true);
        expect(filtered([text])).toEqual({ text: through, silent });
        if (isSilentReply(text)) expect([through.trim(), silent]).toEqual(["", true]);
        if (stripSilentToken(text) === text.trim()) expect(through).toBe(text);
        expect(through.trim().length).toBeGreaterThanOrEqual(stripSilentToken(text).length);
      }),
      { numRuns: 2000 },
    );
  });

  test("text that cannot become a token passes at once, and held text that was no token is emitted as text", () => {
    const filter = new SilentFilter();
    expect(filter.push("Some words, a *word* and one more")).toBe("Some words, a *word* and one more");
    expect(filter.push(" or NO_REP")).toBe(" or");
    expect(filter.end()).toEqual({ text: " NO_REP", silent: false });
    const quiet = new SilentFilter();
    expect(quiet.push(" NO_REPLY")).toBe("");
    expect(quiet.end()).toEqual({ text: "", silent: true });
  });

  test("a stream of nothing but blanks is not held for ever", () => {
    const filter = new SilentFilter();
    let through = "";
    for (let at = 0; at < 5_000; at += 1) through += filter.push(" ");
    expect(through.length).toBeGreaterThan(3_900);
    expect((through + filter.end().text).length).toBe(5_000);
  });
});
