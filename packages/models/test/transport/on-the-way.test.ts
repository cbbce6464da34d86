// What is said of a request that was damaged on its way, and refusals that say nothing of it at all: the same request may
// pass a moment later, because what we sent was whole.

import type { Json, RondoError } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { classifyHttpError } from "../../src/transport/errors.ts";

const refused = (body: Json, status = 400, headers: { [name: string]: string } = {}): RondoError =>
  classifyHttpError({
    status,
    header: (name) => headers[name] ?? null,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

const says = (message: string, more: { [member: string]: Json } = {}): Json => ({
  error: { message, ...more },
});

describe("a server that could not read the request's JSON, which was whole when it was sent", () => {
  const rows: [who: string, body: Json, status?: number][] = [
    [
      "Anthropic",
      says(
        "The request body is not valid JSON: unexpected end of data: line 1 column 18030593 (char 18030592)",
        {
          type: "invalid_request_error",
        },
      ),
    ],
    [
      "OpenAI",
      says(
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly.)",
        { type: "invalid_request_error" },
      ),
    ],
    ["Google", says('Invalid JSON payload received. Unexpected end of string.\n{"contents": [\n^')],
    ["Google, of a token", says("Invalid JSON payload received. Expected , or } after key:value pair.")],
    ["a gateway", says("Failed to parse request body", { type: "invalid_request_error" })],
    ["another gateway", says("LLM request body must be valid JSON")],
    ["Ollama's cloud", says("cannot parse request body", { type: "invalid_request_error" })],
    ["a server that was cut off", says("Error reading request body: client disconnected")],
    [
      "a server in Rust",
      says("Failed to parse request body as JSON: EOF while parsing a string at line 1 column 90"),
    ],
    ["a third gateway", says("invalid JSON in request body: Expecting ',' delimiter: line 1 column 13")],
    ["FastAPI", { detail: [{ type: "json_invalid", loc: ["body", 7281], msg: "JSON decode error" }] }, 422],
  ];

  it.each(rows)("may read it the next time: %s", (_who, body, status) => {
    const error = refused(body, status);
    expect(error).toMatchObject({ kind: "server_error", retryable: true });
    expect(error.message).toContain("It was whole JSON when it was sent");
  });

  it.each([
    [
      "half a character, which is sent so every time",
      "The request body is not valid JSON: no low surrogate in string",
    ],
    [
      "a member that Google does not know",
      "Invalid JSON payload received. Unknown name \"foo\" at 'tools[0]'",
    ],
    [
      "a type in it",
      "Failed to parse request body: messages.0.content: invalid type: null, expected a string",
    ],
    ["a member in it", 'Failed to decode request body: unknown field "thinking"'],
    [
      "a part in it",
      "Failed to parse request body as JSON: messages[3].content: unknown variant `input_file`",
    ],
    ["arguments in the history, which are ours", "Unterminated string starting at: line 1 column 9 (char 8)"],
    ["an answer's schema", "response_format is not valid JSON"],
  ])("but not where it is about what is in it: %s", (_what, message) => {
    const error = refused(says(message));
    expect(error).toMatchObject({ kind: "invalid_request", retryable: false });
    expect(error.message).not.toContain("whole JSON");
  });
});

describe("a refusal that only repeats its status", () => {
  it.each<[who: string, body: Json]>([
    ["Copilot", "Bad Request\n"],
    ["a load balancer", "400 Bad Request"],
    ["a web page", "<html><head><title>400 Bad Request</title></head><body></body></html>"],
    ["a gateway", says("Bad Request", { code: 400 })],
    ["OpenRouter", says("Provider returned error", { code: 400, metadata: { provider_name: "X" } })],
    ["OpenRouter, with a word", says("Provider returned error", { code: 400, metadata: { raw: "ERROR" } })],
    ["Anthropic", says("Invalid request data", { type: "invalid_request_error" })],
    ["a bridge", says("Upstream error (400)", { type: "invalid_request_error" })],
    ["Augment", { httpStatus: 400, apiStatus: "invalidArgument", message: "HTTP error: 400 Bad Request" }],
    [
      "New API",
      says("bad response status code 400 (request id: 2026)", { code: "bad_response_status_code" }),
    ],
    ["New API, of OpenAI's SDK", says("openai_error", { type: "bad_response_status_code" })],
    ["a server with an SDK behind it", says("AI_APICallError: Bad Request")],
    ["a shrug", says("An unknown error occurred", { code: 400 })],
  ])("may be tried again, and says that it names no reason: %s", (_who, body) => {
    const error = refused(body);
    expect(error).toMatchObject({ kind: "invalid_request", retryable: true });
    expect(error.message).toContain("names no reason");
  });

  it.each<[what: string, body: Json, status?: number]>([
    ["a reason", says("Bad request: temperature must be at most 2")],
    ["a reason behind the router", says("Provider returned error", { metadata: { raw: "no such tool" } })],
    ["another status", "Bad Request", 404],
    ["a code that tells it", says("Bad request.", { code: "invalid_image_format" })],
    ["a refusal of a key", says("Bad Request", { code: "invalid_api_key" })],
    ["nothing at all, with which Cerebras refuses a field", ""],
  ])("but not with %s", (_what, body, status) => {
    const error = refused(body, status);
    expect(error.retryable).toBe(false);
    expect(error.message).not.toContain("names no reason");
  });

  it("is not tried again if the server says so itself", () => {
    expect(refused("Bad Request", 400, { "x-should-retry": "false" }).retryable).toBe(false);
  });
});

describe("a web page with a 403", () => {
  it.each([
    ["Cloudflare's challenge", "Just a moment..."],
    ["its block", "Attention Required! | Cloudflare"],
  ])("is no answer of the provider, so it blames no account: %s", (_what, title) => {
    const error = refused(
      `<!DOCTYPE html><html><head><title>${title}</title></head><body></body></html>`,
      403,
    );
    expect(error).toMatchObject({ kind: "permission", retryable: false });
    expect(error.message).toContain("in front of the provider");
    expect(error.message).not.toContain("account");
  });

  it("a refusal of the provider does", () => {
    expect(refused(says("no access to gpt-9"), 403).message).toContain("check the account's access");
  });
});

describe("a refusal with a list of what is wrong", () => {
  it("tells each fault with its place (agent-framework 4576)", () => {
    const error = refused(
      says("Invalid payload", {
        code: "invalid_payload",
        details: [
          { message: "Value is 'array' but should be 'string'", param: "/input" },
          { message: "Value is 'null' but should be 'string'", param: "/input/2/status" },
        ],
      }),
    );
    expect(error.message).toContain(
      "Invalid payload: Value is 'array' but should be 'string': /input; Value is 'null' but should be 'string': /input/2/status",
    );
  });

  it("tells so many of them, and of the others that there are more", () => {
    const details = Array.from({ length: 40 }, (_, nth) => ({ message: `wrong ${nth}`, field: `f${nth}` }));
    const { message } = refused(says("Invalid", { details }));
    expect(message).toContain("wrong 4: f4; …");
    expect(message).not.toContain("wrong 5");
  });

  it("a list of attempts is still about the last one", () => {
    const details = [{ message: "first" }, { message: "prompt is too long: 3 tokens > 2 maximum" }];
    expect(refused(says("All failed", { details })).kind).toBe("context_overflow");
  });
});
