// The command that serves a script file to programs in any language.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, memoryJournal } from "@rondo/core";
import { call, fail, say, scripted, stop, think, usage } from "@rondo/testkit";
import { describe, expect, it, onTestFinished } from "vitest";
import { isBuilt, withPackages } from "../../../scripts/built.ts";

const main = fileURLToPath(
  new URL(isBuilt ? "../dist/wire/main.js" : "../src/wire/main.ts", import.meta.url),
);

interface Started {
  child: ChildProcess;
  line: Promise<string>;
  outcome: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

function start(...args: readonly string[]): Started {
  const child = spawn(process.execPath, [...withPackages, main, ...args], {
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
    expect(requests.join("\n")).not.toContain("Bearer k");
    child.kill("SIGTERM");
    expect(await outcome).toMatchObject({ code: 0, stdout: `${JSON.stringify(told)}\n`, stderr: "" });
  });

  it.each([
    [["--port", "1"], 2, /one of --script and --cassette is needed/],
    [
      ["--script", "x", "--prot", "1"],
      2,
      /^rondo-wire: there is no option --prot\. Did you mean --port\? See rondo-wire --help\n$/,
    ],
    [["--script", "x", "--port", "many"], 2, /--port many: a number/],
    [["--script", "x", "--port", ""], 2, /--port : a number/],
    [["--script", "x", "--port", "1e3"], 2, /--port 1e3: a number/],
    [["--script", "x", "--port", "70000"], 2, /--port 70000: a number/],
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

  it("plays a recorded run to a client of another protocol, and prints its script", async () => {
    const journal = memoryJournal();
    const model = scripted([
      [think("hm"), call("look", { at: "a" }), usage({ inputTokens: 7, outputTokens: 3 })],
      fail("rate_limit", { retryAfterMs: 1 }),
      [say("It is"), stop("max_tokens")],
    ]);
    await new Agent({ model, journal, retry: { baseMs: 1 } }).run("go", { session: "s" });
    const lines = (await journal.read("s")).map((record) => JSON.stringify(record)).join("\n");
    const cassette = file("run.jsonl", lines);
    const printed = await start("--cassette", cassette, "--print").outcome;
    expect(printed.code).toBe(0);
    expect(JSON.parse(printed.stdout)).toEqual({
      turns: [
        [
          { think: "hm" },
          { call: "look", args: { at: "a" }, id: expect.any(String) },
          { usage: { inputTokens: 7, outputTokens: 3 } },
        ],
        [{ fail: "rate_limit", message: expect.any(String), retryAfterMs: 1 }],
        [{ say: "It is" }, { stop: "max_tokens" }],
      ],
    });
    const { line, child } = start("--cassette", cassette);
    const { urls } = JSON.parse(await line) as { urls: Record<string, string> };
    const post = async (): Promise<{ status: number; body: unknown }> => {
      const response = await fetch(`${urls.openai}/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer any" },
        body: JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: "go" }] }),
      });
      return { status: response.status, body: await response.json() };
    };
    expect(await post()).toMatchObject({
      status: 200,
      body: {
        choices: [{ message: { tool_calls: [{ function: { name: "look", arguments: '{"at":"a"}' } }] } }],
      },
    });
    expect((await post()).status).toBe(429);
    expect(await post()).toMatchObject({ body: { choices: [{ finish_reason: "length" }] } });
    child.kill();
  });

  it("says what it needs, and what it is", async () => {
    const nothing = await start().outcome;
    expect(nothing.code).toBe(2);
    expect(nothing.stderr).toContain("one of --script and --cassette is needed");
    const folder = await start("--script", import.meta.dirname).outcome;
    expect(folder.code).toBe(1);
    expect(folder.stderr).toMatch(/^rondo-wire: --script \S+test: it cannot be read: EISDIR/);
    // Not with the first request: by then the addresses are told.
    const nowhere = join(import.meta.dirname, "nowhere", "requests.jsonl");
    const unwritable = await start("--script", file("one.json", '["hi"]'), "--requests", nowhere).outcome;
    expect(unwritable.code).toBe(1);
    expect(unwritable.stderr).toMatch(
      /^rondo-wire: --requests \S+requests\.jsonl: it cannot be written: ENOENT/,
    );
    const help = await start("--help").outcome;
    expect(help.code).toBe(0);
    expect(help.stdout).toMatch(/--cassette FILE.*Words: say, think/s);
  });

  const python = spawnSync("python3", ["--version"]).status === 0;
  it.skipIf(!python)("serves a program in another language (python3)", async () => {
    const page = readFileSync(new URL("../../../docs/guide/testing.md", import.meta.url), "utf8");
    const [, program = ""] = /```python\n(.*?)```/s.exec(page) ?? [];
    expect(program).not.toBe("");
    const script = file(
      "script.json",
      '[{"call": "weather", "args": {"city": "Oslo"}}, "It snows in Oslo."]',
    );
    const { line, child } = start("--script", script);
    const { urls } = JSON.parse(await line) as { urls: Record<string, string> };
    const ran = await new Promise<{ code: number | null; said: string }>((resolve) => {
      const python = spawn("python3", ["-c", program], {
        env: { ...process.env, OPENAI_BASE_URL: urls.openai },
      });
      let said = "";
      for (const stream of [python.stdout, python.stderr])
        stream.setEncoding("utf8").on("data", (piece: string) => {
          said += piece;
        });
      python.once("close", (code) => resolve({ code, said }));
    });
    expect(ran).toEqual({ code: 0, said: "It snows in Oslo.\n" });
    child.kill();
  });
});
