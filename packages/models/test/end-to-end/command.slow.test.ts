// The command as a process, with a key in its environment and a provider's server on the loopback.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { call, fail, say } from "@rondo/testkit";
import { type RondoWire, rondoWire, status, type WireOptions } from "@rondo/testkit/wire";
import { describe, expect, it, onTestFinished } from "vitest";
import { isBuilt, withPackages } from "../../../../scripts/built.ts";

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
/** The command as it is published where `npm test` has just built it, as its sources elsewhere. */
const nodeArgs = [...withPackages, file(isBuilt ? "../../../cli/dist/main.js" : "../../../cli/src/main.ts")];

interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** `rondo run …` in a folder of its own, with nothing of this machine's environment but the path, and where compiled code is kept. */
function rondo(env: { [name: string]: string }, ...args: readonly string[]): Promise<Outcome> {
  const base = mkdtempSync(join(tmpdir(), "rondo-wire-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  writeFileSync(join(base, "notes.txt"), "The secret word is heron.\n");
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
  const child = spawn(process.execPath, [...nodeArgs, "run", "--no-journal", ...args], {
    cwd: base,
    env: { PATH, NODE_COMPILE_CACHE, HOME: base, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const outcome: Outcome = { code: null, stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    outcome.stdout += piece;
  });
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    outcome.stderr += piece;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ ...outcome, code }));
  });
}

const key = "sk-0123456789abcdef0123456789";
const providers = [
  {
    name: "anthropic",
    model: "anthropic/claude-sonnet-5",
    api: "anthropic-messages",
    keys: ["ANTHROPIC_API_KEY"],
    address: "ANTHROPIC_BASE_URL",
  },
  {
    name: "openai",
    model: "openai/gpt-5.2",
    api: "openai-responses",
    keys: ["OPENAI_API_KEY"],
    address: "OPENAI_BASE_URL",
  },
  {
    name: "google",
    model: "google/gemini-3-pro",
    api: "google-generative-ai",
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    address: "GOOGLE_BASE_URL",
  },
  {
    name: "bedrock",
    model: "bedrock/anthropic.claude-sonnet-5-v1:0",
    api: "bedrock-converse",
    keys: ["AWS_BEARER_TOKEN_BEDROCK"],
    address: "BEDROCK_BASE_URL",
  },
] as const;

const reading: WireOptions["script"] = [
  [say("Let me read it."), call("read_file", { path: "notes.txt" })],
  say("The word is heron."),
];

async function serve(options: Partial<WireOptions> = {}): Promise<RondoWire> {
  const wire = await rondoWire({ script: reading, key, ...options });
  onTestFinished(() => wire.close());
  return wire;
}

/** A failure as a person should meet it: one line on stderr, no stack, no key, exit code 1. */
function expectFailure(out: Outcome, ...words: (string | RegExp)[]): void {
  expect(out).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^rondo: .+\n$/) });
  for (const word of words) expect(out.stderr).toMatch(word);
  expect(out.stderr).not.toMatch(/\n\s+at /);
  expect(out.stderr + out.stdout).not.toContain(key);
}

describe.each(providers)("rondo run --model $model", ({ name, model, api, keys, address }) => {
  it.each(keys)("works with the key in %s: it streams, runs tools and answers", async (variable) => {
    const wire = await serve({ chunks: "byte" });
    const out = await rondo(
      { [variable]: key, [address]: wire.urlFor(name) },
      "--model",
      model,
      "--quiet",
      "What is the secret word in notes.txt?",
    );
    expect(out).toMatchObject({ code: 0, stdout: expect.stringContaining("The word is heron.") });
    expect(wire.requests.map((request) => [request.protocol, request.stream])).toEqual([
      [api, true],
      [api, true],
    ]);
    expect(wire.requests[1]?.text).toContain("The secret word is heron.");
    expect([wire.violations, wire.problems]).toEqual([[], []]);
  });

  it("without a key names the variable to set, and sends no request", async () => {
    const wire = await serve();
    const out = await rondo({ [address]: wire.urlFor(name) }, "--model", model, "--quiet", "hi");
    expectFailure(out, /there is no key for/, keys[0], /in the environment/);
    expect(wire.requests).toEqual([]);
  });

  it("with a wrong key says so, and where the key comes from", async () => {
    const wire = await serve({ key: "another-key-entirely" });
    const out = await rondo(
      { [keys[0]]: key, [address]: wire.urlFor(name) },
      "--model",
      model,
      "--quiet",
      "hi",
    );
    expectFailure(out, /Check the key/, keys[0]);
    expect(wire.requests).toHaveLength(1);
  });

  it("with an unknown model says what to check", async () => {
    const wire = await serve({ models: ["another-one"] });
    const out = await rondo(
      { [keys[0]]: key, [address]: wire.urlFor(name) },
      "--model",
      model,
      "--quiet",
      "hi",
    );
    expectFailure(out, /Check the model's name/);
    expect(wire.requests).toHaveLength(1);
  });
});

describe("rondo run and the network", () => {
  it.each([
    ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "anthropic", "anthropic-messages"],
    ["OPENAI_API_KEY", "OPENAI_BASE_URL", "openai", "openai-responses"],
    ["GEMINI_API_KEY", "GOOGLE_BASE_URL", "google", "google-generative-ai"],
    ["GOOGLE_API_KEY", "GOOGLE_BASE_URL", "google", "google-generative-ai"],
  ] as const)(
    "without --model the key in %s chooses its provider's model, and the command says so",
    async (variable, address, name, protocol) => {
      const wire = await serve();
      const out = await rondo(
        { [variable]: key, [address]: wire.urlFor(name) },
        "What is the secret word in notes.txt?",
      );
      expect(out).toMatchObject({ code: 0, stdout: expect.stringContaining("The word is heron.") });
      expect(out.stderr).toContain(`${variable} is set`);
      expect(wire.requests.map((request) => request.protocol)).toEqual([protocol, protocol]);
    },
  );

  it("without --model, AWS_BEARER_TOKEN_BEDROCK alone chooses no model, and the command says how to", async () => {
    const out = await rondo({ AWS_BEARER_TOKEN_BEDROCK: key }, "What is 2 + 3?");
    expect(out.code).toBe(0);
    expect(out.stderr).toContain("AWS_BEARER_TOKEN_BEDROCK is set: choose a model, as bedrock/NAME");
  });

  it("a host that cannot be reached is named, after a few attempts", async () => {
    // A port that was free a moment ago: nobody listens there.
    const free = createServer();
    const port = await new Promise<number>((resolve) => {
      free.listen(0, "127.0.0.1", () => resolve((free.address() as { port: number }).port));
    });
    await new Promise((resolve) => free.close(resolve));
    const out = await rondo(
      { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` },
      "--model",
      "anthropic/claude-sonnet-5",
      "--quiet",
      "hi",
    );
    expectFailure(out, new RegExp(`127\\.0\\.0\\.1:${port}`), /ECONNREFUSED|refused|reach/);
  });

  it("an invalid base URL is refused with an example", async () => {
    const out = await rondo(
      { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: "my-proxy" },
      "--model",
      "anthropic/claude-sonnet-5",
      "--quiet",
      "hi",
    );
    expect(out).toMatchObject({ code: 2, stdout: "" });
    expect(out.stderr).toMatch(
      /^rondo: --model .+ option baseURL: "my-proxy" is no URL: give one like .+\n$/,
    );
  });

  it("a used-up quota is reported in the provider's words, and not retried", async () => {
    const wire = await serve({ script: [fail("quota_exhausted"), say("never")] });
    const out = await rondo(
      { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: wire.url },
      "--model",
      "anthropic/claude-sonnet-5",
      "--quiet",
      "hi",
    );
    expectFailure(out, /credit balance is too low/, /billing/);
    expect(wire.requests).toHaveLength(1);
  });

  it("an overload is waited for", async () => {
    const wire = await serve({ script: [status(529, { retryAfterMs: 20, form: "ms" }), say("Hello.")] });
    const out = await rondo(
      { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: wire.url },
      "--model",
      "anthropic/claude-sonnet-5",
      "--quiet",
      "hi",
    );
    expect(out).toMatchObject({ code: 0, stdout: "Hello.\n" });
    expect(wire.requests).toHaveLength(2);
  });
});
