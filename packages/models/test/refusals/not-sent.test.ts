// Refusals that cannot be about what was sent: of a member that the request does not have, or for lack of one that it has.

import { RondoError } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { unlessAdded } from "../../src/refusals/not-sent.ts";

const refused = new RondoError("invalid_request", "the provider answered 400: words.", { status: 400 });
const sent = '{"model":"gpt-9","stream":true,"messages":[{"role":"user","content":"go"}]}';

const judged = (message: string, body: string = sent, error: RondoError = refused): RondoError =>
  unlessAdded(
    error,
    { status: 400, header: () => null, body: JSON.stringify({ error: { message } }) },
    { path: "/", headers: {}, body, warnings: [] },
  );

describe("a refusal for lack of what was sent", () => {
  it.each([
    ["OpenRouter", "No models provided", "model"],
    ["OpenAI", "you must provide a model parameter", "model"],
    ["OpenAI, of a parameter", "Missing required parameter: 'messages'.", "messages"],
    ["Anthropic", "messages: Field required", "messages"],
    ["Ollama", "model is required", "model"],
    ["LM Studio", "'messages' field is required", "messages"],
    ["a gateway", "field messages is required", "messages"],
  ])("is the server's own fault, since it was lost on its way: %s", (_who, words, name) => {
    const error = judged(words);
    expect(error).toMatchObject({ kind: "server_error", retryable: true });
    expect(error.message).toBe(
      `the provider answered 400: words. The request was sent with its "${name}": it was lost on the way.`,
    );
  });

  it.each([
    ["input", '{"model":"m","input":[{"role":"user"}]}', "Missing required parameter: 'input'."],
    [
      "contents",
      '{"contents":[{"role":"user"}]}',
      "* GenerateContentRequest.contents: contents is not specified",
    ],
  ])("in every protocol: %s", (name, body, words) => {
    expect(judged(words, body).message).toContain(`with its "${name}"`);
  });

  it.each([
    ["a list that is empty", "Missing required parameter: 'input'.", '{"model":"m","input":[]}'],
    ["a model that is not in the body", "model is required", '{"messages":[{"role":"user"}]}'],
    ["a member of a message", "messages.1.content: Field required", sent],
    ["a member of an item", "Missing required parameter: 'input[3].id'.", '{"model":"m","input":[{"a":1}]}'],
    ["something with such a name", "the tool's input is required", '{"input":[{"a":1}]}'],
    ["another member", "max_tokens: Field required", sent],
    ["a member of a tool", "tools.0.custom.input: Field required", '{"input":[{"a":1}]}'],
  ])("but not for lack of %s", (_what, words, body) => {
    expect(judged(words, body)).toBe(refused);
  });

  it("nor where the refusal is no bad request", () => {
    const auth = new RondoError("auth", "no", { status: 401 });
    expect(judged("model is required", sent, auth)).toBe(auth);
  });
});

describe("a refusal of what was not sent", () => {
  it("is the server's own fault", () => {
    const error = judged("Unknown parameter: 'metadata'.");
    expect(error).toMatchObject({ kind: "server_error", retryable: true });
    expect(error.message).toContain('has no "metadata"');
    expect(judged("Unknown parameter: 'stream'.")).toBe(refused);
    const added = judged(
      "configurations.0.code_execution_20250825.use_web_search_purpose: Extra inputs are not permitted",
    );
    expect(added.message).toContain('has no "use_web_search_purpose"');
    expect(judged("messages.0.content: Extra inputs are not permitted")).toBe(refused);
  });
});
