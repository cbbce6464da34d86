import { describe, expect, it } from "vitest";
import { checkGoogleRequest, type GoogleRules } from "../../../testkit/src/wire/rules/google.ts";

const user = (...parts: object[]): object => ({ role: "user", parts });
const model = (...parts: object[]): object => ({ role: "model", parts });
const hi = user({ text: "hi" });
const call = (name: string, more: object = {}): object => ({ functionCall: { name, args: {} }, ...more });
const response = (name: string, more: object = {}): object => ({
  functionResponse: { name, response: { output: "ok" }, ...more },
});
const declared = (more: object): object => ({
  contents: [hi],
  tools: [{ functionDeclarations: [{ name: "f", description: "", ...more }] }],
});

describe("what Google allows", () => {
  it.each<[string, object]>([
    ["a question", { contents: [hi] }],
    [
      "a step with two calls",
      {
        systemInstruction: { parts: [{ text: "s" }] },
        contents: [
          hi,
          model({ text: "", thoughtSignature: "S" }, call("f", { thoughtSignature: "S" }), call("g")),
          user(response("f"), response("g")),
          user({ text: "more" }),
        ],
      },
    ],
    [
      "files in a result, as bytes and by address",
      {
        contents: [
          hi,
          model(call("f")),
          user({
            functionResponse: {
              name: "f",
              response: { output: "ok" },
              parts: [
                { inlineData: { mimeType: "image/png", data: "AAAA" } },
                { fileData: { mimeType: "application/pdf", fileUri: "gs://bucket/a.pdf" } },
              ],
            },
          }),
        ],
      },
    ],
    ["a tool in either form", declared({ parametersJsonSchema: { type: "object", $schema: "x" } })],
    ["a tool without arguments", declared({})],
  ])("%s", (_name, body) => {
    expect(checkGoogleRequest(body)).toEqual([]);
    expect(checkGoogleRequest(JSON.stringify(body))).toEqual([]);
  });
});

describe("what Google refuses", () => {
  const equal =
    "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
  it.each<[string, unknown, string, GoogleRules?]>([
    ["no JSON", "{", "Invalid JSON payload received"],
    ["no turns", { contents: [] }, "contents is not specified"],
    [
      "another role",
      { contents: [{ role: "tool", parts: [{ text: "x" }] }] },
      "Please use a valid role: user, model.",
    ],
    ["a turn without parts", { contents: [user()] }, "contents.parts must not be empty"],
    ["a part without data", { contents: [user({ thought: true })] }, "required oneof field 'data'"],
    [
      "a part with two kinds of data",
      { contents: [user({ text: "a", inlineData: { mimeType: "image/png", data: "" } })] },
      "required oneof field 'data'",
    ],
    ["an empty text", { contents: [user({ text: "" })] }, "an empty text part"],
    ["a member of ours", { contents: [hi], metadata: {} }, 'Unknown name "metadata"'],
    [
      "a member of ours in a part",
      { contents: [user({ text: "a", id: 1 })] },
      "Unknown name \"id\" at 'contents[0].parts[0]'",
    ],
    ["the model first", { contents: [model({ text: "a" }), hi] }, "start with a user turn"],
    ["the model last", { contents: [hi, model({ text: "a" })] }, "end with a user turn"],
    [
      "calls after the model",
      { contents: [hi, model({ text: "a" }), model(call("f")), user(response("f"))] },
      "function call turn comes immediately after a user turn",
    ],
    ["calls without results", { contents: [hi, model(call("f")), hi] }, equal],
    ["fewer results than calls", { contents: [hi, model(call("f"), call("g")), user(response("f"))] }, equal],
    [
      "words among the results",
      { contents: [hi, model(call("f")), user(response("f"), { text: "and" })] },
      equal,
    ],
    [
      "results without calls",
      { contents: [hi, user(response("f"))] },
      "function response turn comes immediately after a function call turn",
    ],
    [
      "results out of order",
      { contents: [hi, model(call("f"), call("g")), user(response("g"), response("f"))] },
      "in the order of their calls",
    ],
    [
      "an id the call did not have",
      { contents: [hi, model(call("f")), user(response("f", { id: "x" }))] },
      "the id of its call",
    ],
    [
      "a result that is no object",
      { contents: [hi, model(call("f")), user(response("f", { response: "ok" }))] },
      "response is a Struct",
    ],
    ["a bad name", { contents: [hi, model(call("a b")), user(response("a b"))] }, "Invalid function name"],
    [
      "base64 that is none",
      { contents: [user({ inlineData: { mimeType: "image/png", data: "{}" } })] },
      "Base64 decoding failed",
    ],
    ["half a character", { contents: [user({ text: "\ud83d" })] }, "no low surrogate"],
    [
      "a missing signature",
      { contents: [hi, model(call("f")), user(response("f"))] },
      "missing a thought_signature",
      { needsSignatures: true },
    ],
    [
      "two calls of one id",
      {
        contents: [
          hi,
          model(
            { functionCall: { id: "a", name: "f", args: {} } },
            { functionCall: { id: "a", name: "f", args: {} } },
          ),
          user(
            { functionResponse: { id: "a", name: "f", response: {} } },
            { functionResponse: { id: "a", name: "f", response: {} } },
          ),
        ],
      },
      "contains an invalid argument",
    ],
    ["an empty list of tools", { contents: [hi], tools: [] }, "an empty list of tools"],
    [
      "a tool twice",
      { contents: [hi], tools: [{ functionDeclarations: [{ name: "f" }, { name: "f" }] }] },
      "Duplicate function declaration found: f",
    ],
    [
      "a keyword the subset lacks",
      declared({ parameters: { type: "object", $schema: "x" } }),
      "Unknown name \"$schema\" at 'tools[0].function_declarations[0].parameters'",
    ],
    [
      "a list of types",
      declared({ parameters: { type: ["string", "null"] } }),
      "Proto field is not repeating",
    ],
    [
      "an enum of numbers",
      declared({ parameters: { type: "object", properties: { a: { type: "string", enum: [0] } } } }),
      "(TYPE_STRING)",
    ],
    ["an empty word in an enum", declared({ parameters: { type: "string", enum: [""] } }), "cannot be empty"],
    [
      "a config without tools",
      { contents: [hi], toolConfig: { functionCallingConfig: { mode: "NONE" } } },
      "without function_declarations",
    ],
    [
      "a choice of an unknown tool",
      {
        ...declared({}),
        toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["g"] } },
      },
      "contains g, which is not declared",
    ],
    [
      "a choice while choosing freely",
      {
        ...declared({}),
        toolConfig: { functionCallingConfig: { mode: "AUTO", allowedFunctionNames: ["f"] } },
      },
      "mode is ANY",
    ],
    [
      "six stop sequences",
      { contents: [hi], generationConfig: { stopSequences: ["1", "2", "3", "4", "5", "6"] } },
      "5 or fewer",
    ],
    [
      "level and budget",
      { contents: [hi], generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: "LOW" } } },
      "only one of thinking budget and thinking level",
    ],
    [
      "a schema beside tools",
      { ...declared({}), generationConfig: { responseMimeType: "application/json" } },
      "Function calling with a response mime type",
      { noSchemaWithTools: true },
    ],
  ])("%s", (_name, body, words, rules) => {
    const problems = checkGoogleRequest(body, rules);
    expect(problems.map((problem) => `${problem.path}: ${problem.message}`).join("\n")).toContain(words);
  });
});
