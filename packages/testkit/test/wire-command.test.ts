// Scripts as files, and the command that serves them to programs in any language.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { badArgs, call, empty, fail, part, refuse, say, stop, think, usage } from "../src/index.ts";
import {
  chunked,
  contentType,
  corrupt,
  cutAt,
  delayed,
  duplicate,
  frames,
  garbage,
  plainJson,
  raw,
  reset,
  slow,
  stallAfter,
  status,
} from "../src/wire/index.ts";
import { readScript } from "../src/wire/script-json.ts";

const main = fileURLToPath(new URL("../src/wire/main.ts", import.meta.url));

describe("a script file", () => {
  it("says everything that a script can say", () => {
    const { script, ...rest } = readScript(
      JSON.stringify({
        strict: false,
        repeatLast: true,
        chunks: "byte",
        chunk: 3,
        key: "k",
        models: ["m"],
        turns: [
          "text",
          [
            { think: "hm", opaque: { signature: "s" } },
            { say: "a", chunk: 2 },
            { call: "x", args: { y: 1 }, id: "c1" },
            { badArgs: "x", text: '{"a' },
            { usage: { inputTokens: 1 } },
            { stop: "max_tokens", raw: "cut" },
          ],
          [{ refuse: "no" }, { native: { type: "odd" } }, { empty: true }],
          { fail: "rate_limit", retryAfterMs: 5, message: "m" },
          {
            status: 429,
            retryAfterMs: 5,
            form: "ms",
            code: "c",
            message: "m",
            headers: { a: "b" },
            body: {},
          },
          [{ cutAt: 9, how: "reset" }, { cutAt: { frames: 2 } }, { stallAfter: 3, pings: true }],
          [
            { slow: 2, ms: 1 },
            { delay: 4 },
            { chunks: "whole" },
            { garbage: "g", afterFrames: 2 },
            { duplicate: 1 },
          ],
          [{ corrupt: 7 }, { contentType: "text/plain" }, { plainJson: true }, { reset: true }],
          { raw: "body", code: 201, headers: { x: "y" } },
          { frames: [{ event: "e", data: { a: 1 } }] },
        ],
      }),
    );
    expect(rest).toEqual({
      strict: false,
      repeatLast: true,
      chunks: "byte",
      chunk: 3,
      key: "k",
      models: ["m"],
    });
    const odd = { type: "native" as const, kind: "odd", opaque: { type: "odd" } };
    expect(script).toEqual([
      say("text"),
      [
        think("hm", { opaque: { signature: "s" } }),
        say("a", { chunk: 2 }),
        call("x", { y: 1 }, { id: "c1" }),
        badArgs("x", '{"a'),
        usage({ inputTokens: 1 }),
        stop("max_tokens", { raw: "cut" }),
      ],
      [refuse("no"), part(odd), empty()],
      fail("rate_limit", { retryAfterMs: 5, message: "m" }),
      status(429, { retryAfterMs: 5, form: "ms", code: "c", message: "m", headers: { a: "b" }, body: {} }),
      [cutAt(9, "reset"), cutAt({ frames: 2 }), stallAfter(3, { pings: true })],
      [slow(2, 1), delayed(4), chunked("whole"), garbage("g", 2), duplicate(1)],
      [corrupt(7), contentType("text/plain"), plainJson(), reset()],
      raw("body", { status: 201, headers: { x: "y" } }),
      frames([{ event: "e", data: { a: 1 } }]),
    ]);
  });

  it.each([
    ["{", /not JSON/],
    ["{}", /"turns"/],
    ['{"turns":[],"strct":true}', /no member "strct"; there are strict/],
    ['[["a",{"sya":"b"}]]', /turns\[0\]\[1\].*holds no word; there are say,/],
    ['[{"say":1}]', /turns\[0\]\.say: "say" is 1; needed is a text/],
    ['[{"call":"x","arg":{}}]', /no member "arg"/],
    ['[{"fail":"tired"}]', /needed is one of rate_limit,/],
    ['[{"cutAt":-1}]', /a number of bytes/],
    ["[7]", /an object is needed, not 7/],
  ])("%s is refused, naming the place", (text, words) => {
    expect(() => readScript(text)).toThrow(words);
  });
});

interface Started {
  child: ChildProcess;
  line: Promise<string>;
  outcome: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

function start(...args: readonly string[]): Started {
  const child = spawn(process.execPath, ["--conditions=rondo-source", main, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let stdout = "";
  let stderr = "";
  const line = Promise.withResolvers<string>();
  line.promise.catch(() => {});
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    stdout += piece;
    if (stdout.includes("\n")) line.resolve(stdout.slice(0, stdout.indexOf("\n")));
  });
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    stderr += piece;
  });
  const outcome = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once("close", (code) => {
      line.reject(new Error(`it ended: ${stderr}`));
      resolve({ code, stdout, stderr });
    });
  });
  return { child, line: line.promise, outcome };
}

function file(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "rondo-wire-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

describe("the command rondo-wire", () => {
  it("prints its addresses as one line of JSON, serves the script, writes down requests, and ends when told", async () => {
    const script = file("script.json", '["Hello from a file.", {"status": 429, "retryAfterMs": 2000}]');
    const log = join(script, "..", "requests.jsonl");
    const { child, line, outcome } = start("--script", script, "--requests", log);
    const told = JSON.parse(await line) as { url: string; urls: Record<string, string>; pid: number };
    expect(told).toMatchObject({ urls: { openai: `${told.url}/v1`, anthropic: told.url }, pid: child.pid });
    const post = (): Promise<Response> =>
      fetch(`${told.urls.openai}/chat/completions`, {
        method: "POST",
        headers: { authorization: "Bearer k" },
        body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] }),
      });
    expect(await (await post()).text()).toContain("Hello from a file.");
    const limited = await post();
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "2"]);
    const requests = readFileSync(log, "utf8").trimEnd().split("\n");
    expect(requests.map((one) => (JSON.parse(one) as { protocol: string }).protocol)).toEqual([
      "openai-chat",
      "openai-chat",
    ]);
    child.kill("SIGTERM");
    expect(await outcome).toMatchObject({ code: 0, stdout: `${JSON.stringify(told)}\n`, stderr: "" });
  });

  it.each([
    [["--port", "1"], 2, /--script is needed/],
    [["--script", "x", "--prot", "1"], 2, /--prot/],
    [["--script", "x", "--port", "many"], 2, /--port many: a number/],
    [["--script", "x", "--chunks", "bit"], 2, /frame, byte or whole/],
    [["--script", "/no/such/file.json"], 1, /\/no\/such\/file\.json/],
  ] as const)("%j is refused, saying why", async (args, code, words) => {
    const out = await start(...args).outcome;
    expect([out.code, out.stdout]).toEqual([code, ""]);
    expect(out.stderr).toMatch(words);
  });

  it("shows its help", async () => {
    const out = await start("--help").outcome;
    expect(out).toMatchObject({ code: 0, stdout: expect.stringContaining("--repeat-last") });
  });
});
