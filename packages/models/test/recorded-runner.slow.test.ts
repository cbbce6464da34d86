import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compare } from "../../../scripts/recorded/compare.ts";
import { findRecordings } from "../../../scripts/recorded/corpus.ts";
import { decode, said } from "../../../scripts/recorded/said.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
let dir = "";

const lines = (...chunks: unknown[]): string => chunks.map((chunk) => JSON.stringify(chunk)).join("\n");
const chat = (delta: object, finish_reason: string | null = null): object => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason }],
});
const message = (content: object[], stop_reason: string | null): object => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 2 },
});
const response = (status: string, output: object[]): object => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "m",
  status,
  output,
  usage: status === "completed" ? { input_tokens: 3, output_tokens: 2, total_tokens: 5 } : null,
});
const said1 = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "héllo", annotations: [] }],
};

const files: { [file: string]: string } = {
  "a/anthropic.json": JSON.stringify(message([{ type: "text", text: "héllo" }], "end_turn")),
  "a/two.chunks.txt": lines(
    { type: "message_start", message: message([], null) },
    { type: "message_start", message: message([], null) },
  ),
  "b/bedrock.chunks.txt": lines(
    { messageStart: { role: "assistant" } },
    { contentBlockStart: { contentBlockIndex: 0, start: { toolUse: { toolUseId: "t1", name: "f" } } } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: '{"a":"' } } } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: 'é"}' } } } },
    { contentBlockStop: { contentBlockIndex: 0 } },
    { messageStop: { stopReason: "tool_use" } },
    { metadata: { usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 }, metrics: { latencyMs: 1 } } },
  ),
  "c/chat.chunks.txt": lines(
    chat({ role: "assistant", content: "hé" }),
    chat({ content: "llo" }),
    chat({}, "stop"),
  ),
  "c/error.json": JSON.stringify({ error: { message: "no", type: "invalid_request_error" } }),
  "g/cut.chunks.txt": lines({
    candidates: [{ content: { parts: [{ text: "hé" }], role: "model" }, index: 0 }],
  }),
  "b/throttled.chunks.txt": lines(
    { messageStart: { role: "assistant" } },
    { throttlingException: { message: "Too many requests" } },
  ),
  "g/google.chunks.txt": lines(
    { candidates: [{ content: { parts: [{ text: "hé" }], role: "model" }, index: 0 }] },
    {
      candidates: [
        {
          content: { parts: [{ functionCall: { name: "f", args: { a: 1 } } }], role: "model" },
          finishReason: "STOP",
          index: 0,
        },
      ],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
    },
  ),
  "r/responses.chunks.txt": lines(
    { type: "response.created", sequence_number: 0, response: response("in_progress", []) },
    {
      type: "response.output_item.added",
      sequence_number: 1,
      output_index: 0,
      item: { ...said1, status: "in_progress", content: [] },
    },
    {
      type: "response.content_part.added",
      sequence_number: 2,
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      part: { type: "output_text", text: "", annotations: [] },
    },
    {
      type: "response.output_text.delta",
      sequence_number: 3,
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      delta: "héllo",
      logprobs: [],
    },
    { type: "response.output_item.done", sequence_number: 4, output_index: 0, item: said1 },
    { type: "response.completed", sequence_number: 5, response: response("completed", [said1]) },
  ),
  "r/notes.json": "not json",
};

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "rondo-recorded-"));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), text);
  }
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const run = (...args: string[]): Promise<{ code: number; out: string }> =>
  new Promise((resolve) => {
    const flags = ["--conditions=rondo-source", "--disable-warning=ExperimentalWarning"];
    const child = execFile(
      process.execPath,
      [...flags, join(root, "scripts/recorded/main.ts"), ...args],
      (_error, stdout) => resolve({ code: child.exitCode ?? -1, out: stdout }),
    );
  });

describe("the runner of recorded responses", () => {
  it("prints one line per file and the totals, and accepts what it can explain", {
    timeout: 60_000,
  }, async () => {
    const { code, out } = await run(dir);
    expect(out.trim().split("\n")).toEqual([
      "same a/anthropic.json",
      "not applicable a/two.chunks.txt the file holds 2 responses one after the other",
      "same b/bedrock.chunks.txt",
      expect.stringMatching(
        /^not applicable b\/throttled\.chunks\.txt the official client cannot read it: Too many requests/,
      ),
      "same c/chat.chunks.txt",
      "not applicable c/error.json the file holds an error and no response",
      "not applicable g/cut.chunks.txt the stream ends without its finish signal",
      "same g/google.chunks.txt",
      "not applicable r/notes.json the file is no JSON object",
      "same r/responses.chunks.txt",
      "5 same, 0 differs, 5 not applicable",
    ]);
    expect(code).toBe(0);
  });

  it("refuses a folder that does not exist, and one without recordings", async () => {
    expect((await run(join(dir, "nowhere"))).code).toBe(2);
    mkdirSync(join(dir, "empty"));
    expect(await run(join(dir, "empty"))).toEqual({ code: 2, out: "0 same, 0 differs, 0 not applicable\n" });
  });

  it.each(["text", "calls", "stop", "usage", "reasoning"] as const)(
    "finds an unexplained difference in %s",
    async (field) => {
      const found = findRecordings(dir).find((one) => one.file === "g/google.chunks.txt")!;
      if (!("recording" in found)) throw new Error(found.reason);
      const truth = said(decode(found.recording, "frames"));
      expect(await compare(found, async () => truth)).toEqual({ file: found.file, verdict: "same" });
      const lie = {
        text: "x",
        calls: [{ name: "f", args: { a: 2 } }],
        stop: "OTHER",
        usage: {},
        reasoning: "x",
      };
      const verdict = await compare(found, async () => ({ ...truth, [field]: lie[field] }));
      expect(verdict.verdict).toBe("differs");
      expect(verdict.unexplained).toMatch(new RegExp(`^${field}: ours `));
    },
  );

  it("explains what only the client's helper does, and only with a quirk that it saw", async () => {
    const found = findRecordings(dir).find((one) => one.file === "c/chat.chunks.txt")!;
    if (!("recording" in found)) throw new Error(found.reason);
    const truth = said(decode(found.recording, "frames"));
    const helped = (text: string, ...quirks: string[]) =>
      compare(found, async () => ({ ...truth, helper: { said: { text, calls: [], stop: "stop" }, quirks } }));
    expect((await helped("héllo")).verdict).toBe("same");
    expect(await helped("other", "a known quirk")).toMatchObject({
      verdict: "differs",
      reason: "a known quirk",
    });
    expect((await helped("other")).unexplained).toContain("by its helper, text: ours");
  });
});
