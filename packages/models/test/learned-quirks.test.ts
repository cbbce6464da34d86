// What a refusal shows of a server is kept for its model: the same complaint does not come again (F104, F134).

import { Agent, type Json, type Message, type Model, tool, userText } from "@rondo/core";
import { say } from "@rondo/testkit";
import { frames, type RondoWire, raw } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { anthropicMessages } from "../src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../src/codecs/bedrock-converse.ts";
import { googleGenerativeAi } from "../src/codecs/google-generative-ai.ts";
import { openaiChat } from "../src/codecs/openai-chat.ts";
import { openaiResponses } from "../src/codecs/openai-responses.ts";
import { anthropic, type Codec, google, openai, openaiCompatible } from "../src/index.ts";
import { serve } from "./end-to-end/stack.ts";

const refusal = (error: object): { status: number; header: () => null; body: string } => ({
  status: 400,
  header: () => null,
  body: JSON.stringify({ error: { type: "invalid_request_error", ...error } }),
});
const toldBy =
  (codec: Codec, model = "m") =>
  (error: object, compat: object = {}): object | undefined =>
    codec.learned?.(refusal(error), {
      origin: { api: codec.api, provider: "p", model },
      facts: {},
      compat: compat as never,
    });
const told = toldBy(openaiChat);

describe("a refusal reveals a quirk", () => {
  it.each([
    "The `reasoning_content` in the thinking mode must be passed back to the API.",
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
    "Missing `reasoning_content` field in the assistant message at message index 2",
    "an assistant message with tool_calls must include reasoning_content when thinking is enabled",
  ])("reasoning must be sent back: %s", (message) => {
    const echo = { echoReasoning: "reasoning_content", reasoningFill: "" };
    expect(told({ message })).toEqual(echo);
    // Where the empty text was sent already, it counts as missing, or the content must not be null beside it.
    const filled = { ...echo, reasoningFill: " ", nullContent: false };
    expect(told({ message }, echo)).toEqual(filled);
    // Then it is missing from an answer without calls.
    const all = { ...filled, echoReasoningOn: "all" };
    expect(told({ message }, filled)).toEqual(all);
    expect(told({ message }, all)).toBeUndefined();
    // The same at a server whose row names the space.
    expect(told({ message }, { ...filled, nullContent: true })).toEqual(all);
    expect(told({ message }, { ...all, nullContent: true })).toEqual(all);
  });

  it.each([
    "max_tokens: Field required",
    "Missing required parameter: 'max_tokens'.",
    "max_tokens is required for this model",
  ])("an output limit is required: %s", (message) => {
    const limit = { maxTokensField: "max_tokens", defaultMaxTokens: 8192 };
    expect(told({ message })).toEqual(limit);
    expect(told({ message }, limit)).toBeUndefined();
    const claude = toldBy(openaiChat, "claude-opus-4-6");
    expect(claude({ message })).toEqual({ ...limit, defaultMaxTokens: 32_000 });
  });

  it("an item of a Responses server's history says that it is completed", () => {
    const of = toldBy(openaiResponses);
    const message = "The request failed because it is missing `input.status` parameter.";
    expect(of({ message })).toEqual({ itemStatus: true });
    expect(of({ message }, { itemStatus: true })).toBeUndefined();
  });

  it.each([
    ["The request failed because it is missing `messages.content` parameter.", { nullContent: false }],
    ["400 - LLM Module: Assistant Message content field is not provided.", { nullContent: false }],
    [
      "Tool response dicts require a 'name' key indicating the name of the called function!",
      { toolNames: true },
    ],
    ["Invalid function format: unhashable type: 'list'", { plainSchemas: "typed" }],
  ])("what a message or a schema lacks: %s", (message, quirk) => {
    expect(told({ message })).toEqual(quirk);
    expect(told({ message }, { strictTools: false, ...quirk })).toBeUndefined();
  });

  it("the output limit has its other name, whichever that is", () => {
    const max_tokens =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    expect(told({ message: max_tokens }, { maxTokensField: "max_tokens" })).toEqual({
      maxTokensField: "max_completion_tokens",
    });
    expect(told({ message: max_tokens })).toBeUndefined();
    for (const completion of [
      "Unsupported parameter: 'max_completion_tokens'. Use 'max_tokens' instead.",
      'json: unknown field "max_completion_tokens"',
      "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted'}]",
      "max_completion_tokens is not supported",
    ])
      expect(told({ message: completion })).toEqual({ maxTokensField: "max_tokens" });
  });

  it.each([
    "Unrecognized request argument supplied: stream_options",
    "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]",
    "Extra inputs are not permitted, field: 'stream_options'",
    "property 'stream_options' is unsupported",
    "create() got an unexpected keyword argument 'stream_options'",
    "Invalid parameter: stream_options",
    // Bedrock behind Databricks and LiteLLM, which pass on what is in the field.
    "Malformed input request: #: extraneous key [include_usage] is not permitted, please reformat your input and try again.",
    "unknown field `stream_options`, expected one of `model`, `messages`",
    "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
  ])("usage in a stream is not supported: %s", (message) => {
    expect(told({ message })).toEqual({ streamUsage: false });
    expect(told({ message }, { streamUsage: false })).toBeUndefined();
  });

  it.each([
    "developer is not one of ['system', 'assistant', 'user', 'tool', 'function'] - 'messages.['0].role'",
    "messages[0].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`",
    "Unsupported value: 'messages[0].role' does not support 'developer' with this model.",
    "chat template rejected the request: Unexpected message role.",
    "Upstream request failed: [1214] Incorrect role information",
  ])("the developer role is unknown: %s", (message) => {
    expect(told({ message }, { systemRole: "developer" })).toEqual({ systemRole: "system" });
    expect(told({ message })).toBeUndefined();
  });

  it.each([
    "System role not supported",
    'Error rendering prompt with jinja template: "Only user and assistant roles are supported!".',
    "Developer instruction is not enabled for models/gemma-3-27b-it",
    "This model does not support the system role",
    "'system' is not a supported role",
  ])(
    "there is no system role, so the system prompt goes to the user, whose turns are joined: %s",
    (message) => {
      const quirks = { systemRole: "user", systemFirstOnly: true, alternate: true };
      expect(told({ message })).toEqual(quirks);
      expect(told({ message }, quirks)).toBeUndefined();
    },
  );

  it("the system may only speak first or not at all, and roles alternate", () => {
    const first = "invalid params, chat content has invalid message role: system (2013)";
    expect(told({ message: first })).toEqual({ systemFirstOnly: true });
    const qwens = "Jinja Exception: System message must be at the beginning.";
    expect(told({ message: qwens })).toEqual({ systemFirstOnly: true });
    expect(told({ message: qwens }, { systemFirstOnly: true })).toBeUndefined();
    const should = "After the (optional) system message(s), user and assistant roles should be alternating.";
    expect(told({ message: should })).toEqual({ alternate: true, systemFirstOnly: true });
    const order = "conversation roles must alternate user and assistant roles except for tool calls";
    expect(told({ message: order })).toEqual({ alternate: true, systemFirstOnly: true });
    expect(told({ message: order }, { alternate: true })).toBeUndefined();
    for (const doubled of [
      "Consecutive messages with the same role are not allowed.",
      "deepseek-reasoner does not support successive user or assistant messages (messages[1] and messages[2] in your input).",
    ])
      expect(told({ message: doubled })).toEqual({ alternate: true, systemFirstOnly: true });
  });

  it.each([
    "System messages are only allowed at the beginning of the conversation",
    "The system message must be the first message",
    "invalid params, invalid chat setting (2013)",
    "Only user, assistant and tool roles are supported, with the exception of an initial optional system message!",
  ])("only the first message may be the system's, in other words: %s", (message) => {
    expect(told({ message })).toEqual({ systemFirstOnly: true });
    expect(told({ message }, { systemFirstOnly: true })).toBeUndefined();
  });

  it.each([
    "The first message (except the system message) of deepseek-reasoner must be a user message, but an assistant message detected.",
    "Conversations must start with a user prompt. Try again with a conversation that starts with a user prompt.",
  ])("the first message must be the user's: %s", (message) => {
    expect(told({ message })).toEqual({ needsUser: true });
    expect(told({ message }, { needsUser: true })).toBeUndefined();
  });

  it.each([
    "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
    "The last message of deepseek-reasoner must be a user message, or an assistant message with prefix mode on.",
    "Last message must have role `user` or `tool`",
    "This model does not support assistant message prefill. The conversation must end with a user message.",
    "A conversation must end with a user message. Try again with a conversation that ends with a user message.",
    "Assistant response prefill is incompatible with enable_thinking.",
    "Cannot set `add_generation_prompt` to True when the last message is from the assistant.",
    "Cannot have 2 or more assistant messages at the end of the list.",
    "Requests ending with a model turn are not supported unless the last part is a function response.",
    "invalid request parameters: Requests cannot contain `assistant` role in the final position when `tools` are used.",
    "The final message must be from the user. To provide a system prompt, you must provide the system prompt followed by a user prompt.",
  ])("the last message must not be an answer: %s", (message) => {
    expect(told({ message })).toEqual({ noAssistantLast: true });
    expect(told({ message }, { noAssistantLast: true })).toBeUndefined();
  });

  it.each([
    "Grammar-based generation (json_schema, regex, ebnf, structural_tag) is not supported when the server is launched with --grammar-backend none",
    "Invalid grammar specification: 'triggers'",
    "Guided decoding is not supported on this backend",
  ])("nothing can be forced, neither a call nor its arguments: %s", (message) => {
    expect(told({ message })).toEqual({ forcedChoice: "never" });
    const strict = { forcedChoice: "never", strictTools: false };
    expect(told({ message }, { strictTools: true })).toEqual(strict);
    expect(told({ message }, strict)).toBeUndefined();
    const responses = { forcedChoice: false, strictTools: false };
    expect(toldBy(openaiResponses)({ message })).toEqual(responses);
    expect(toldBy(openaiResponses)({ message }, responses)).toBeUndefined();
  });

  it.each([
    "Thinking mode does not support this tool_choice",
    "Value error, The `required` option for tool_choice is not yet supported.",
    "deepseek-reasoner does not support this tool_choice",
    "The tool_choice parameter does not support being set to required or object in thinking mode",
    "tool_choice 'specified' is incompatible with thinking enabled",
    "[{'type': 'value_error', 'loc': ('body',), 'msg': 'Value error, `tool_choice` must either be a named tool, \"auto\", or \"none\".'}]",
  ])("no call can be forced: %s", (message) => {
    expect(told({ message })).toEqual({ forcedChoice: "never" });
    expect(told({ message }, { forcedChoice: "never" })).toBeUndefined();
  });

  it.each([
    "Failed to initialize samplers: failed to parse grammar",
    'Grammar error: Unimplemented keys: ["propertyNames"]',
    "Grammar error: Unknown format: uri",
    "Failed to compile structural_tag grammar: Regex parsing error at position 2",
    "Unable to generate parser for this template. JSON schema conversion failed:\nUnrecognized schema: true",
    "Unable to generate parser for this template. Automatic parser generation failed: error parsing grammar",
    "Invalid JSON schema: regex lookaround is not supported. Found at $.properties.email.pattern.",
    "Unsupported JSON schema fields: {'minItems', 'items'}",
    "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'properties.x': when using anyOf, type should be defined in anyOf items instead of the parent schema>",
    "Invalid schema for function 'look': In context=('properties', 'at'), 'pattern' is not permitted.",
    "invalid JSON schema for tool look, tools[0].function.parameters: `/properties/at/pattern`: invalid or unsupported Perl syntax",
    "JSON Schema not supported: could not understand the instance `{'not': {}}`.",
    "Invalid tools[0].function.parameters: unsupported keyword pattern",
  ])("a grammar supports less than schemas do: %s", (message) => {
    expect(told({ message })).toEqual({ plainSchemas: true });
    expect(told({ message }, { plainSchemas: true })).toBeUndefined();
    // Strict is what some of them cannot be.
    const strict = { plainSchemas: true, strictTools: false };
    expect(told({ message }, { strictTools: true })).toEqual(strict);
    expect(toldBy(openaiResponses)({ message })).toEqual(strict);
    expect(toldBy(openaiResponses)({ message }, strict)).toBeUndefined();
  });

  it.each([
    ["Tool call id was turn1_0 but must be a-z, A-Z, 0-9, with a length of 9.", { idForm: "mistral9" }],
    ["Unexpected role 'user' after role 'tool'", { bridgeToolUser: true }],
    [
      "litellm.BadRequestError: BedrockException - messages.32.content: Conversation blocks and tool result blocks cannot be provided in the same turn.",
      { bridgeToolUser: true },
    ],
    [
      "BedrockException - Conversation blocks and tool use blocks cannot be provided in the same turn.",
      { textBesideCalls: false },
    ],
    [
      "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
      { noAssistantLast: true },
    ],
  ])("the server is a Mistral: %s", (message, quirks) => {
    expect(told({ message })).toEqual(quirks);
    expect(told({ message }, quirks)).toBeUndefined();
  });

  it.each([
    "Can only get item pairs from a mapping.",
    "Error: Unknown (built-in) filter 'items' for type String",
    "Unknown method: items at row 91, column 22",
    "messages.1.tool_calls.0.function.arguments: Input should be a valid dictionary",
  ])("the arguments are read as an object: %s", (message) => {
    expect(told({ message })).toEqual({ objectArguments: true });
    expect(told({ message }, { objectArguments: true })).toBeUndefined();
  });

  it.each([
    "Cannot pass both content and thinking in an assistant message with tool calls!",
    "text content is not allowed when tool_calls are provided. If you wish to pass a tool plan, either pass thinking content (with thinking enabled) or use 'tool_plan': 'messages[2].content[0]'",
  ])("text and thinking share one place: %s", (message) => {
    expect(told({ message })).toEqual({ textBesideCalls: false });
    expect(told({ message }, { textBesideCalls: false })).toBeUndefined();
  });

  it("control tokens in the history have to be broken up", () => {
    const message =
      "You have passed a message containing <|channel|> tags in the content field. Instead of doing this, you should pass analysis messages (the string between '<|message|>' and '<|end|>') in the 'thinking' field";
    expect(told({ message })).toEqual({ breakTokens: true });
    expect(told({ message }, { breakTokens: true })).toBeUndefined();
  });

  it.each([
    [openaiChat, "tools[0].function.description"],
    [openaiResponses, "tools[0].description"],
  ])("the description of a tool has a length (%#)", (codec, param) => {
    const of = toldBy(codec);
    const message = `Invalid '${param}': string too long. Expected a string with maximum length 1024, but got a string with length 1201 instead.`;
    expect(of({ message, param })).toEqual({ longestDescription: 1024 });
    expect(of({ message, param }, { longestDescription: 1024 })).toBeUndefined();
    const name =
      "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64";
    expect(of({ message: name })).toBeUndefined();
  });

  it.each([
    "Your organization must be verified to generate reasoning summaries. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.",
    "Unsupported parameter: 'reasoning.summary' is not supported with this model.",
    "Unknown parameter: 'reasoning.summary'.",
  ])("reasoning is not summed up: %s", (message) => {
    const of = toldBy(openaiResponses);
    expect(of({ message })).toEqual({ omit: ["reasoning.summary"] });
    expect(of({ message }, { omit: ["reasoning.summary"] })).toBeUndefined();
  });

  it("that a Responses server has no field for what would be included, or stored", () => {
    const of = toldBy(openaiResponses);
    for (const field of ["include", "store"])
      expect(of({ message: `Argument not supported: ${field}` })).toEqual({ omit: [field] });
  });

  it("a Responses server does not accept an item's status, phase or namespace back", () => {
    const message = (member: string): string => `Unknown parameter: 'input[3].${member}'.`;
    const of = toldBy(openaiResponses);
    expect(of({ message: message("status") })).toEqual({ omitInItems: ["status"] });
    const strict = `[ObjectParam] [input[70].status] [unknown_parameter] ${message("status")}`;
    expect(of({ message: strict })).toEqual({ omitInItems: ["status"] });
    expect(of({ message: message("phase") }, { omitInItems: ["status"] })).toEqual({
      omitInItems: ["status", "phase"],
    });
    expect(of({ message: message("namespace") })).toEqual({ omitInItems: ["namespace"] });
    expect(of({ message: message("status") }, { omitInItems: ["status"] })).toBeUndefined();
    expect(of({ message: message("arguments") })).toBeUndefined();
  });

  it.each([
    "Invalid value: 'other'. Supported values are: 'search', 'open_page', and 'find_in_page'., param: input[2].action.type",
    "Failed to deserialize the JSON body into the target type: input: missing field `queries` at line 1 column 9",
    "[invalid_request_error] `input[2].action` missing required field `query`",
    "Missing required parameter: 'input[18].id'.",
    "Invalid 'input[3].id': 'search 1'. Expected an ID that begins with 'ws'.",
    "Invalid value: 'web_search_call'. Supported values are: 'message', and 'function_call'.",
  ])("a Responses server does not take back what its own tools did: %s", (message) => {
    const of = toldBy(openaiResponses);
    expect(of({ message })).toEqual({ nativeItems: false });
    expect(of({ message }, { nativeItems: false })).toBeUndefined();
  });

  it.each(["Expected container_id: cntr_6a", "Container with id 'cntr_6a' not found."])(
    "a container no longer exists: %s",
    (message) => {
      const of = toldBy(openaiResponses);
      expect(of({ message })).toEqual({ lostContainers: ["cntr_6a"] });
      expect(of({ message }, { lostContainers: ["cntr_5"] })).toEqual({
        lostContainers: ["cntr_5", "cntr_6a"],
      });
      expect(of({ message }, { lostContainers: ["cntr_6a"] })).toBeUndefined();
      const many = Array.from({ length: 150 }, (_, at) => `cntr_x${at}`);
      expect(
        (of({ message }, { lostContainers: many }) as { lostContainers: string[] }).lostContainers,
      ).toHaveLength(100);
    },
  );

  it("an item of ours that is refused is none of a server's tool", () => {
    const of = toldBy(openaiResponses);
    expect(
      of({ message: "Invalid value: 'function_call'. Supported values are: 'message'." }),
    ).toBeUndefined();
    expect(of({ message: "Missing required parameter: 'input[1].call_id'." })).toBeUndefined();
  });

  it.each([
    ["noAssistantLast", true, "This model does not support assistant message prefill."],
    ["noAssistantLast", true, "The last message must be from the user."],
    ["systemFirstOnly", true, "System message must be at the beginning."],
    ["forcedChoice", false, "tool_choice required is not supported in thinking mode"],
    ["strictTools", false, "Tools with mixed values for 'strict' are not allowed."],
    ["toolFiles", false, "Output of tool call should be 'Input text'"],
    [
      "toolFiles",
      false,
      '["body","input",2,"FunctionCallOutput","output"],"msg":"Input should be a valid string"',
    ],
  ])("what is behind Responses: %s is %s after: %s", (quirk, value, message) => {
    const of = toldBy(openaiResponses);
    expect(of({ message })).toEqual({ [quirk]: value });
    expect(of({ message }, { [quirk]: value })).toBeUndefined();
  });

  it.each([
    "* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.",
    "chat template error: Jinja Exception: Invalid tool response: 'name' must be provided.",
  ])("a result must have its tool's name: %s", (message) => {
    expect(told({ message })).toEqual({ toolNames: true });
    expect(told({ message }, { toolNames: true })).toBeUndefined();
  });

  it.each([openaiChat, openaiResponses])("a $ref in a result must be spelt", (codec) => {
    const of = toldBy(codec);
    const message =
      "The referenced name `#/a` in function_response.response does not match to a display_name in the function_response.parts.";
    expect(of({ message })).toEqual({ spellRefs: true });
    expect(of({ message }, { spellRefs: true })).toBeUndefined();
  });

  it.each([
    "No user query found in messages.",
    "First message must be from user",
    "The messages parameter is illegal. Please check the documentation.",
    "<400> InternalError.Algo.InvalidParameter: The input messages do not contain elements with the role of user",
  ])("there must be a user message: %s", (message) => {
    expect(told({ message })).toEqual({ needsUser: true });
    expect(told({ message }, { needsUser: true })).toBeUndefined();
  });

  it.each([
    "This model only supports single tool-calls at once!",
    "chat template error: Jinja Exception: This model only supports single tool-calls at once!",
    "Multiple tool calls are not supported.\n",
  ])("a message may have only one call: %s", (message) => {
    expect(told({ message })).toEqual({ singleCalls: true });
    expect(told({ message }, { singleCalls: true })).toBeUndefined();
  });

  it("the content of a message with calls and without text", () => {
    const empty = "messages: text content blocks must be non-empty";
    expect(told({ message: empty }, { nullContent: false })).toEqual({ nullContent: true });
    expect(told({ message: empty })).toBeUndefined();
    const none = "'messages.2' : for 'role:assistant' [('messages.2.content' : value must be a string)]";
    expect(told({ message: none })).toEqual({ nullContent: false });
    for (const message of [
      "Invalid value for 'content': expected a string, got null.",
      "messages[1].content: invalid type: null, expected a string at line 1 column 200",
      "messages[1]: missing field `content` at line 1 column 200",
      "messages[1].content: content should be a string",
      "messages: 1: content: field required",
      "invalid message content type: <nil>",
      "Invalid type for 'messages[1].content': expected one of a string or array of objects, but got null instead.",
      "messages[1].content: expected string, received null",
      "Input should be a valid string, field: 'messages[1].content', value: None",
      "Each message must have at least one content element.",
      // Templates, which compute with the text.
      'can only concatenate str (not "NoneType") to str',
      "'None' has no attribute 'split'",
      "Cannot subscript null at row 23, column 40:",
      "Jinja Exception: Unknown operator + between null and string",
      'Error rendering prompt with jinja template: "Cannot apply filter \\"trim\\" to type: NullValue".',
    ])
      expect(told({ message })).toEqual({ nullContent: false });
    for (const message of [
      "Invalid 'messages[1].content': string too short. Expected a string with minimum length 1, but got an empty string instead.",
      "Invalid request: the message at position 1 with role 'assistant' must not be empty",
      "message content cannot be empty: messages[1]",
    ])
      expect(told({ message }, { nullContent: false })).toEqual({ nullContent: true });
    expect(told({ message: none }, { nullContent: false })).toBeUndefined();
    // A text or a list is what null is not, and what a list with a file in it is.
    expect(told({ message: "messages[1]: content should be a string or a list" })).toBeUndefined();
  });

  it.each([
    { message: "tool message content must be a string" },
    { message: "Param Incorrect", param: "text is not set" },
    {
      message:
        "messages[3]: data did not match any variant of untagged enum ChatCompletionRequestToolMessageContent",
    },
  ])("a tool message may not have files: %j", (error) => {
    expect(told(error, { toolImages: true })).toEqual({ toolImages: false });
    expect(told(error) ?? {}).not.toHaveProperty("toolImages");
  });

  it("what was spoken is lost, and with it what had expired when the server said so", () => {
    const error = refusal({ message: "Assistant audio audio_6a not found.", code: "audio_not_found" });
    const lost = (date: string | null, compat: object = {}): object | undefined =>
      openaiChat.learned?.(
        { ...error, status: 400, header: () => date },
        { origin: { api: "openai-chat", provider: "p", model: "m" }, facts: {}, compat: compat as never },
      );
    expect(lost(null)).toEqual({ lostAudio: ["audio_6a"], audioExpiredAt: 0 });
    const date = "Mon, 30 Nov 2026 19:47:33 GMT";
    const minute = Date.UTC(2026, 10, 30, 19, 47) / 1000;
    expect(lost(date)).toEqual({ lostAudio: ["audio_6a"], audioExpiredAt: minute });
    expect(lost(date, { lostAudio: ["audio_5"], audioExpiredAt: minute + 60 })).toEqual({
      lostAudio: ["audio_5", "audio_6a"],
      audioExpiredAt: minute + 60,
    });
    const many = Array.from({ length: 150 }, (_, at) => `audio_x${at}`);
    expect((lost(null, { lostAudio: many }) as { lostAudio: string[] }).lostAudio).toHaveLength(100);
  });

  it("calls must be signed", () => {
    const message = "Function call is missing a thought_signature in functionCall parts.";
    expect(told({ message })).toEqual({ signCalls: true });
    expect(told({ message }, { signCalls: true })).toBeUndefined();
  });

  it("text and calls exclude each other", () => {
    const message = "Assistant message must have either content or tool_calls, but not both.";
    expect(told({ message })).toEqual({ textBesideCalls: false });
    expect(told({ message }, { textBesideCalls: false })).toBeUndefined();
  });

  it.each([
    "Tools with strict=True are not supported by this model",
    "Unknown parameter: 'tools[0].function.strict'.",
    "Extra inputs are not permitted, field: 'tools[0].function.strict'",
    "[{'type': 'extra_forbidden', 'loc': ('body', 'tools', 0, 'function', 'strict'), 'msg': 'Extra inputs are not permitted'}]",
  ])("no tool can be strict: %s", (message) => {
    expect(told({ message }, { strictTools: true })).toEqual({ strictTools: false });
    expect(told({ message })).toBeUndefined();
  });

  it.each([
    "Unknown parameter: 'tools[0].strict'.",
    "tools.0.strict: Extra inputs are not permitted",
    "[{'type': 'extra_forbidden', 'loc': ('body', 'tools', 0, 'strict'), 'msg': 'Extra inputs are not permitted'}]",
  ])("behind Responses, not even that a tool is not strict is known: %s", (message) => {
    const of = toldBy(openaiResponses);
    const strict = { strictTools: false, omit: ["store", "strict"] };
    expect(of({ message }, { omit: ["store"] })).toEqual(strict);
    expect(of({ message }, strict)).toBeUndefined();
  });

  it("tools and thinking exclude each other", () => {
    const message =
      "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
    expect(told({ message, param: "reasoning_effort" })).toEqual({ reasoningWithTools: false });
    // The effort "none" was refused as well: the model takes no such field beside tools.
    const without = { reasoningWithTools: false, omit: ["reasoning_effort"] };
    expect(told({ message }, { reasoningWithTools: false })).toEqual(without);
    expect(told({ message }, without)).toBeUndefined();
  });

  it("a model behind Responses has no encrypted reasoning", () => {
    const target = { origin: { api: "openai-responses", provider: "p", model: "m" }, facts: {} };
    const message = "Encrypted content is not supported with this model.";
    const learned = (compat: object): object | undefined =>
      openaiResponses.learned?.(refusal({ message, param: "include" }), {
        ...target,
        compat: compat as never,
      });
    expect(learned({})).toEqual({ encryptedReasoning: false });
    expect(learned({ encryptedReasoning: false })).toBeUndefined();
  });

  it("reasoning is sent back as it came if Responses has it as plain text", () => {
    const message = "The `reasoning_text` in the thinking mode must be passed back to the API.";
    const by = toldBy(openaiResponses);
    expect(by({ message })).toEqual({ plainReasoning: true });
    expect(by({ message }, { plainReasoning: true })).toBeUndefined();
  });

  it.each([
    "Invalid 'input[1].content': array too long. Expected an array with maximum length 0, but got an array with length 1 instead.",
    "Unknown parameter: 'input[1].content'.",
  ])("reasoning is sent back without its readable text where that is refused: %s", (message) => {
    const by = toldBy(openaiResponses);
    expect(by({ message })).toEqual({ readableReasoning: false });
    expect(by({ message }, { readableReasoning: false })).toBeUndefined();
    expect(by({ message: message.replace("content", "content[0].text") })).toBeUndefined();
  });

  it("a user may not speak after results, whatever the protocol of the server that says so", () => {
    const message = "Unexpected role 'user' after role 'tool'";
    for (const [codec, quirk] of [
      [openaiResponses, { bridgeToolUser: true }],
      [anthropicMessages, { resultsAlone: true }],
      [bedrockConverse, { resultsAlone: true }],
    ] as const) {
      expect(toldBy(codec)({ message })).toEqual(quirk);
      expect(toldBy(codec)({ message }, quirk)).toBeUndefined();
    }
  });

  it("a setting is unknown, if the code says so; a refused value is not a quirk", () => {
    const message = "Unsupported parameter: 'temperature' is not supported with this model.";
    const code = "unsupported_parameter";
    expect(told({ message, code, param: "temperature" }, { omit: ["store"] })).toEqual({
      omit: ["store", "temperature"],
    });
    expect(told({ message, code, param: "temperature" }, { omit: ["temperature"] })).toBeUndefined();
    expect(told({ message, code: "unsupported_value", param: "temperature" })).toBeUndefined();
    expect(told({ message, code, param: "messages" })).toBeUndefined();
  });
});

describe("a refusal by a Gemini reveals", () => {
  const missing =
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly";
  const elsewhere = "function call `default_api:g` in the 2. content block is missing a `thought_signature`.";

  it.each([missing, elsewhere])("that it requires signatures: %s", (message) => {
    const by = toldBy(googleGenerativeAi, "gemini-2.5-flash");
    expect(by({ message })).toEqual({ needsSignatures: true });
    expect(by({ message }, { needsSignatures: true })).toBeUndefined();
    expect(toldBy(googleGenerativeAi, "gemini-3-pro")({ message })).toBeUndefined();
  });

  it.each([
    "Corrupted thought signature.",
    "Invalid thought signature.",
    "The thought signature provided could not be verified.",
    "Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed for \"A_A\"",
    "Unable to submit request because Thought signature is not valid.. Learn more: https://cloud.google.com/",
  ])("that it accepts no signatures back: %s", (message) => {
    const by = toldBy(googleGenerativeAi, "gemini-3-pro");
    const without = { needsSignatures: true, ownSignatures: false };
    expect(by({ message })).toEqual(without);
    expect(by({ message }, without)).toBeUndefined();
  });

  it.each([
    "Unable to submit request because `look` functionDeclaration `parameters.at` schema didn't specify the schema type field.",
    "* GenerateContentRequest.tools[0].function_declarations[3].parameters.properties[at].items: field predicate failed: == Type.ARRAY",
    "Invalid JSON payload received. Unknown name \"uniqueItems\" at 'tools[0].function_declarations[4].parameters.properties[2].value': Cannot find field.",
  ])("that a tool's schema is converted to the older form on the way: %s", (message) => {
    const by = toldBy(googleGenerativeAi, "gemini-3-pro");
    expect(by({ message })).toEqual({ schemas: "openapi" });
    expect(by({ message }, { schemas: "openapi" })).toBeUndefined();
  });

  it("that rules on values make a schema too large for it", () => {
    const by = toldBy(googleGenerativeAi, "gemini-3-pro");
    const message = "The specified schema produces a constraint that has too many states for serving.";
    expect(by({ message })).toEqual({ schemas: "strict" });
    expect(by({ message }, { schemas: "strict" })).toBeUndefined();
  });

  it("nothing if it is about something else", () => {
    const by = toldBy(googleGenerativeAi, "gemini-3-pro");
    const badName = "tools[0].function_declarations[1].name: Invalid function name.";
    expect(by({ message: badName })).toBeUndefined();
    expect(
      by({ message: "Please ensure that function call turn comes immediately after a user turn." }),
    ).toBeUndefined();
  });
});

describe("a refusal in Anthropic's protocol reveals a server that is not Anthropic", () => {
  const by = toldBy(anthropicMessages);

  it.each([
    "The `content[].thinking` in the thinking mode must be passed back to the API.",
    "Missing thinking block in the assistant message at message index 11. For more information, please refer to the guide",
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
  ])("that does not sign thinking and requires it back: %s", (message) => {
    const filled = { unsignedThinking: true, thinkingFill: " " };
    expect(by({ message })).toEqual(filled);
    expect(by({ message }, { unsignedThinking: true })).toEqual(filled);
    expect(by({ message }, filled)).toBeUndefined();
  });

  it.each([
    "tools.3.cache_control: Extra inputs are not permitted",
    "Unknown field: cache_control",
    "messages.0.content.0: cache_control is not supported by this model",
    "A maximum of 4 blocks with cache_control may be provided. Found 5.",
  ])("that does not support our cache marks: %s", (message) => {
    expect(by({ message })).toEqual({ cache: "never" });
    expect(by({ message }, { cache: "never" })).toBeUndefined();
  });

  it("but not if it is about the content of the caller's own mark", () => {
    const message = "system.0.cache_control.ephemeral.scope: Extra inputs are not permitted";
    expect(by({ message })).toBeUndefined();
  });

  it("and how thinking is requested, if the model's name does not show it", () => {
    const message =
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';
    expect(by({ message })).toEqual({ thinking: "adaptive" });
    expect(toldBy(bedrockConverse)({ message })).toEqual({ thinking: "adaptive" });
    expect(by({ message }, { thinking: "adaptive" })).toBeUndefined();
    const other =
      "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'";
    expect(by({ message: other })).toEqual({ thinking: "budget" });
    expect(by({ message: other }, { thinking: "budget" })).toBeUndefined();
  });

  it.each(["output_config", "output_config.effort"])("and that it does not know effort: %s", (field) => {
    const message = `${field}: Extra inputs are not permitted`;
    const of = toldBy(anthropicMessages, "claude-opus-4-6");
    expect(of({ message })).toEqual({ thinking: "budget" });
    expect(of({ message }, { thinking: "budget" })).toBeUndefined();
    // Where no effort was sent, the field held a schema.
    expect(toldBy(anthropicMessages, "claude-sonnet-4-5")({ message })).toBeUndefined();
    expect(of({ message: "output_config.format: Extra inputs are not permitted" })).toBeUndefined();
  });

  it.each([
    ['invalid params, invalid thinking.type: "enabled" (allowed: adaptive, disabled) (2013)', "adaptive"],
    ['invalid params, invalid thinking.type: "adaptive" (allowed: enabled, disabled) (2013)', "budget"],
  ])("in the words of other hosts too: %s", (message, thinking) => {
    expect(by({ message })).toEqual({ thinking });
    expect(toldBy(bedrockConverse)({ message })).toEqual({ thinking });
    expect(by({ message }, { thinking })).toBeUndefined();
  });

  it("and which levels it lacks, from a list of those it has alone", () => {
    const message = "output_config.effort: Input should be 'low', 'medium' or 'high'";
    expect(by({ message })).toEqual({ lacksLevels: ["xhigh", "max"] });
    expect(by({ message }, { lacksLevels: ["xhigh", "max"] })).toBeUndefined();
    expect(by({ message: "verbosity: Input should be 'low', 'medium' or 'high'" })).toBeUndefined();
  });

  it("and that it always thinks, if the model's name does not show it", () => {
    const message =
      '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';
    expect(by({ message })).toEqual({ off: "never" });
    expect(toldBy(bedrockConverse)({ message })).toEqual({ off: "never" });
    expect(by({ message }, { off: "never" })).toBeUndefined();
  });

  it.each([
    "messages.1: `web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block",
    "This model does not support assistant message prefill. The conversation must end with a user message.",
  ])("that does not accept its own paused answers back: %s", (message) => {
    expect(by({ message })).toEqual({ resumesPauses: false });
    expect(by({ message }, { resumesPauses: false })).toBeUndefined();
  });

  it.each([
    'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block". The `system` prompt differs.',
    'messages.5.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block". This setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header.',
  ])("whose thinking is bound to earlier messages: %s", (message) => {
    expect(by({ message })).toEqual({ unbindsThinking: true });
    expect(by({ message }, { unbindsThinking: true })).toBeUndefined();
  });

  it("that does not accept one of its own blocks back, while its feature is not requested", () => {
    const message =
      "messages.1.content.0: Input tag 'fallback' found using 'type' does not match any of the expected tags: 'document', 'image', 'text', 'tool_use'";
    expect(by({ message })).toEqual({ refusedBlocks: ["fallback"] });
    expect(by({ message }, { refusedBlocks: ["x"] })).toEqual({ refusedBlocks: ["x", "fallback"] });
    expect(by({ message }, { refusedBlocks: ["fallback"] })).toBeUndefined();
    expect(by({ message: message.replace("'fallback'", "'image'") })).toBeUndefined();
  });

  it.each([
    [
      "compaction.encrypted_content",
      "messages.1.content.0.compaction.encrypted_content: Extra inputs are not permitted",
    ],
    [
      "tool_search_tool_result.error_message",
      "messages.1.content.6.tool_search_tool_result.content.RequestToolSearchToolResultError.error_message: Extra inputs are not permitted",
    ],
    ["text.citations", "messages.27.content.0.text.citations: Extra inputs are not permitted"],
    ["tool_use.caller", "messages.3.content.1.tool_use.caller: Extra inputs are not permitted"],
  ])("that does not take back a member of a block of its own: %s", (member, message) => {
    expect(by({ message })).toEqual({ refusedMembers: [member] });
    expect(by({ message }, { refusedMembers: ["x.y"] })).toEqual({ refusedMembers: ["x.y", member] });
    expect(by({ message }, { refusedMembers: [member] })).toBeUndefined();
  });

  it.each([
    ["of a result, which is ours", "messages.2.content.0.tool_result.content.0.text.citations"],
    ["that every block has", "messages.2.content.0.compaction.type"],
    ["of thinking, which must stay as it is", "messages.2.content.0.thinking.signature"],
    ["of a tool", "tools.0.custom.input_examples"],
  ])("but not one %s", (_what, path) => {
    expect(by({ message: `${path}: Extra inputs are not permitted` })).toBeUndefined();
  });

  it("that can no longer read what one of its own tools returned", () => {
    const message = "Advisor tool result content could not be processed";
    expect(by({ message })).toEqual({ refusedBlocks: ["advisor_tool_result"] });
    expect(by({ message }, { refusedBlocks: ["advisor_tool_result"] })).toBeUndefined();
    expect(by({ message: message.replace("Advisor", "Web search") })).toEqual({
      refusedBlocks: ["web_search_tool_result"],
    });
  });

  it.each([
    'tool_choice: type "tool" and "any" are not supported for this model.',
    "Thinking may not be enabled when tool_choice forces tool use.",
  ])("that cannot force a call: %s", (message) => {
    expect(by({ message })).toEqual({ forcedTools: false });
    expect(by({ message }, { forcedTools: false })).toBeUndefined();
  });

  it.each([
    [400, "container: Container `container_1` has expired"],
    [404, "Container container_1 not found"],
    [500, "Internal server error"],
  ])("whose container is gone: %s %s", (status, message) => {
    const target = { origin: { api: anthropicMessages.api, provider: "p", model: "m" }, facts: {} };
    const told = (compat: object): object | undefined =>
      anthropicMessages.learned?.(
        { ...refusal({ message }), status },
        { ...target, compat: compat as never },
      );
    expect(told({})).toEqual({ containers: "turn" });
    expect(told({ containers: "turn" })).toBeUndefined();
  });

  it("that rejects a tool's schema in its checks", () => {
    const message =
      "tools.18.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12).";
    for (const { by, words } of [
      { by: toldBy(anthropicMessages), words: message },
      { by: toldBy(bedrockConverse), words: `The model returned the following errors: ${message}` },
    ]) {
      expect(by({ message: words })).toEqual({ plainSchemas: true });
      expect(by({ message: words }, { plainSchemas: true })).toBeUndefined();
    }
  });

  it.each([
    'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
    "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.",
  ])("that requires adjacent messages of one role as one message: %s", (message) => {
    expect(by({ message })).toEqual({ alternate: true });
    expect(by({ message }, { alternate: true })).toBeUndefined();
  });

  it.each([
    "container: Input should be a valid string",
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
    "prompt is too long: 213462 tokens > 200000 maximum",
  ])("but not if it is: %s", (message) => expect(by({ message })).toBeUndefined());
});

describe("a local server that answers 500 about what its template cannot render", () => {
  const by = (codec: Codec, message: string): object | undefined =>
    codec.learned?.(
      { ...refusal({ message }), status: 500 },
      { origin: { api: codec.api, provider: "p", model: "m" }, facts: {} },
    );

  it.each([
    ["System message must be at the beginning.", { systemFirstOnly: true }, { systemFirstOnly: true }],
    [
      "Cannot have 2 or more assistant messages at the end of the list.",
      { noAssistantLast: true },
      { noAssistantLast: true },
    ],
    [
      "Failed to initialize samplers: failed to parse grammar",
      { plainSchemas: true },
      { plainSchemas: true, strictTools: false },
    ],
  ])("teaches a quirk in both of OpenAI's protocols: %s", (message, chat, responses) => {
    expect(by(openaiChat, message)).toEqual(chat);
    expect(by(openaiResponses, message)).toEqual(responses);
  });

  it("teaches a quirk in Anthropic's, and about an unknown role", () => {
    expect(by(anthropicMessages, "Conversation roles must alternate user/assistant")).toEqual({
      alternate: true,
    });
    expect(by(openaiResponses, "Unexpected message role.")).toEqual({ systemRole: "system" });
  });

  it("teaches nothing if it merely failed", () => {
    for (const codec of [openaiChat, openaiResponses])
      expect(by(codec, "The server had an error while processing your request")).toBeUndefined();
    expect(by(openaiResponses, "Unknown parameter: 'include'")).toBeUndefined();
  });
});

describe("a refusal by Converse reveals", () => {
  const by = toldBy(bedrockConverse);

  it("that a tool's schema fails its checks", () => {
    const message =
      "The value at toolConfig.tools.0.toolSpec.inputSchema.json is invalid: unsupported keyword";
    expect(by({ message })).toEqual({ plainSchemas: true });
    expect(by({ message }, { plainSchemas: true })).toBeUndefined();
  });

  it.each([
    "This model doesn't support the toolConfig.toolChoice.any field. Remove toolConfig.toolChoice.any and try again.",
    'The model returned the following errors: tool_choice: type "tool" and "any" are not supported for this model.',
    "The model returned the following errors: Thinking may not be enabled when tool_choice forces tool use.",
  ])("that no call can be forced: %s", (message) => {
    expect(by({ message })).toEqual({ forcedTools: false });
    expect(by({ message }, { forcedTools: false })).toBeUndefined();
  });

  it.each([
    "You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.",
    "There is nothing available to cache. Please remove the invalid cache point and try again.",
    "You do not have access to explicit prompt caching",
    "Malformed input request: #/messages/0/content/1: extraneous key [cachePoint] is not permitted, please reformat your input and try again.",
  ])("that nothing can be cached: %s", (message) => {
    expect(by({ message })).toEqual({ cache: false });
    expect(by({ message }, { cache: false })).toBeUndefined();
  });

  it.each([
    "messages.2.content: Conversation blocks and tool result blocks cannot be provided in the same turn.",
    "messages.7.content: Conversation blocks and tool use blocks cannot be provided in the same turn.",
  ])("that calls and results must be alone in a message: %s", (message) => {
    expect(by({ message })).toEqual({ callsAlone: true });
    expect(by({ message }, { callsAlone: true })).toBeUndefined();
  });

  it("nothing if it is about something else", () => {
    expect(
      by({ message: "The content field in the Message object at messages.1 is empty." }),
    ).toBeUndefined();
  });
});

const refused = (error: object, status = 400): ReturnType<typeof raw> =>
  raw(refusal(error).body, { status, headers: { "content-type": "application/json" } });

/** The same inside of a stream that had begun, of a server that speaks Chat Completions or Google's protocol. */
const inside = (error: object): readonly { event?: string; data: Json }[] => [{ data: { error } as never }];

/** The same inside of a stream of Anthropic's. */
const insideOfClaudes = (error: object): ReturnType<typeof frames> => {
  const usage = { input_tokens: 9, output_tokens: 0 };
  const message = { id: "m", type: "message", role: "assistant", model: "m", content: [], usage };
  return frames([
    { event: "message_start", data: { type: "message_start", message } as never },
    { event: "error", data: { type: "error", error } as never },
  ]);
};

describe("a model that has learnt a quirk", () => {
  const limited = (wire: RondoWire): Model =>
    openaiCompatible({
      apiKey: "k",
      baseURL: wire.url,
      model: "m",
      compat: { maxTokensField: "max_tokens" },
    });
  const otherLimit = {
    code: 400,
    message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
  };
  const waysToRefuse = [
    ["a status", refused(otherLimit)],
    ["an event of a stream", frames(inside(otherLimit))],
    ["a whole answer", raw(JSON.stringify({ error: otherLimit }))],
  ] as const;

  it.each(waysToRefuse)(
    "sends a new request at once, keeps the limit, and does not send the old form in a later run: %s",
    async (_way, other) => {
      const wire = await serve([other, say("one"), say("two")]);
      const agent = new Agent({ model: limited(wire), settings: { maxOutputTokens: 64 } });
      expect((await agent.run("go")).text).toBe("one");
      expect((await agent.run("go")).text).toBe("two");
      const limits = wire.requests.map(
        ({ body }) => /"max_(?:completion_)?tokens":\d+/.exec(JSON.stringify(body))?.[0],
      );
      expect(limits).toEqual(['"max_tokens":64', '"max_completion_tokens":64', '"max_completion_tokens":64']);
    },
  );

  it.each([
    ["the same", [otherLimit, otherLimit]],
    [
      "something else each",
      [otherLimit, { message: "Unrecognized request argument supplied: stream_options" }],
    ],
  ])("answers both calls that were refused while they were in flight, for %s", async (_what, errors) => {
    const sent: string[] = [];
    const both = Promise.withResolvers<void>();
    const model = openaiCompatible({
      baseURL: "http://127.0.0.1/v1",
      model: "m",
      compat: { maxTokensField: "max_tokens" },
      fetch: async (_url, init) => {
        const error = errors[sent.push(String(init.body)) - 1];
        if (sent.length === errors.length) both.resolve();
        await both.promise;
        if (error !== undefined) return new Response(JSON.stringify({ error }), { status: 400 });
        const choices = [{ index: 0, message: { content: "done" }, finish_reason: "stop" }];
        return new Response(JSON.stringify({ choices }));
      },
    });
    const run = async (): Promise<string> =>
      (await new Agent({ model, settings: { maxOutputTokens: 64 } }).run("go")).text;
    expect(await Promise.all([run(), run()])).toEqual(["done", "done"]);
    expect(await run()).toBe("done");
    const [, , ...taught] = sent.map((body) => Object.keys(JSON.parse(body) as object));
    expect(taught.map((members) => members.includes("max_completion_tokens"))).toEqual([true, true, true]);
    expect(taught.at(-1)?.includes("stream_options")).toBe(errors[0] === errors[1]);
  });

  it.each(waysToRefuse)("sends no third request after a second refusal: %s", async (_way, other) => {
    const wire = await serve([other, other, say("never asked")]);
    const { end } = await new Agent({ model: limited(wire), settings: { maxOutputTokens: 64 } }).run("go");
    expect(end).toMatchObject({ reason: "error", error: { kind: "invalid_request" } });
    expect(wire.requests).toHaveLength(2);
  });

  it("sends reasoning back to a server that requires it, but not that of a foreign answer", async () => {
    const wire = await serve([
      refused({ message: "Missing `reasoning_content` field in the assistant message at message index 2" }),
      say("done"),
    ]);
    const model = openaiCompatible({
      apiKey: "k",
      baseURL: wire.url,
      model: "m",
      provider: "somebodys-cloud",
    });
    const origin = { api: "openai-chat", provider: "somebodys-cloud", model: "m" };
    const stop = { kind: "tool_use", wire: "tool_use" } as const;
    const called = (id: string): Message["content"] =>
      [{ type: "tool_call", id, name: "g", args: {}, rawArgs: "{}" }] as never;
    const result = (callId: string): Message => ({
      role: "tool",
      callId,
      name: "g",
      content: [{ type: "text", text: "ok" }],
      isError: false,
    });
    const history = [
      { role: "user", content: [{ type: "text", text: "go" }] },
      { role: "assistant", origin, stop, content: [{ type: "reasoning", text: "hm" }, ...called("a")] },
      result("a"),
      { role: "assistant", origin: { ...origin, model: "another" }, stop, content: called("b") },
      result("b"),
    ] as Message[];
    const { end } = await new Agent({ model }).run(history);
    expect(end?.reason).toBe("completed");
    const sent = wire.requests.map(({ body }) =>
      (body as { messages: { role: string; reasoning_content?: string }[] }).messages
        .filter((message) => message.role === "assistant")
        .map((message) => message.reasoning_content),
    );
    expect(sent).toEqual([
      [undefined, undefined],
      ["hm", ""],
    ]);
  });

  const thought: Message[] = [
    userText("go"),
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm", opaque: { signature: "s" } },
        { type: "text", text: "a word" },
      ],
      origin: { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-5-5" },
      stop: { kind: "end_turn", wire: "end_turn" },
    },
    userText("and now?"),
  ];
  const claude = (wire: RondoWire): Model =>
    anthropic("claude-sonnet-5-5", { apiKey: "k", baseURL: wire.urlFor("anthropic") });
  const asked = (wire: RondoWire): [binds: boolean, thinks: boolean][] =>
    wire.requests.map(({ body }) => {
      const sent = JSON.stringify(body);
      return [sent.includes('"block_binding"'), sent.includes('"signature"')];
    });

  const bound = {
    type: "invalid_request_error",
    message:
      'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
  };

  it.each([
    ["a status", refused(bound)],
    ["an event of a stream", insideOfClaudes(bound)],
  ])(
    "lets the server leave out thinking that no longer fits, and keeps the rest: %s",
    async (_way, first) => {
      const wire = await serve([first, say("one"), say("two")]);
      const agent = new Agent({ model: claude(wire) });
      expect((await agent.run(thought)).text).toBe("one");
      expect((await agent.run(thought)).text).toBe("two");
      expect(asked(wire)).toEqual([
        [false, true],
        [true, true],
        [true, true],
      ]);
    },
  );

  it("leaves it out itself if a gateway does not know that field, and forgets the quirk", async () => {
    const wire = await serve([
      refused(bound),
      refused({ message: "thinking.adaptive.block_binding: Extra inputs are not permitted" }),
      say("one"),
    ]);
    const result = await new Agent({ model: claude(wire) }).run(thought);
    expect(result).toMatchObject({ end: { reason: "completed" }, text: "one" });
    expect(asked(wire)).toEqual([
      [false, true],
      [true, true],
      [false, false],
    ]);
  });

  const noEncrypted = {
    code: "invalid_request_error",
    message: "Encrypted content is not supported with this model.",
  };
  it.each([
    ["error", { type: "error", ...noEncrypted, param: "include" }],
    [
      "response.failed",
      { type: "response.failed", response: { id: "r", status: "failed", error: noEncrypted } },
    ],
  ])("learns from an event `%s` of Responses that there is no encrypted reasoning", async (event, data) => {
    const created = { type: "response.created", response: { id: "r", status: "in_progress" } };
    const wire = await serve([
      frames([
        { event: "response.created", data: created },
        { event, data: data as Json },
      ]),
      say("one"),
      say("two"),
    ]);
    const model = openai("gpt-5.2", { apiKey: "k", baseURL: wire.urlFor("openai") });
    const agent = new Agent({ model });
    expect((await agent.run("go")).text).toBe("one");
    expect((await agent.run("go")).text).toBe("two");
    expect(wire.requests.map(({ body }) => JSON.stringify(body).includes("encrypted_content"))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it.each<[whose: string, message: string, status?: number]>([
    [
      "OpenAI's, of an account",
      "Your organization must be verified to stream this model. Please go to: https://x",
    ],
    ["OpenAI's, of a model", "Unsupported value: 'stream' does not support true with this model."],
    ["a gateway's", "Streaming is not supported for this model"],
    ["Cerebras'", '"stream=true" with structured outputs is currently not supported for reasoning models.'],
    ["llama.cpp's", "Cannot use tools with stream", 500],
    [
      "OpenAI's, of a format of sound",
      "Unsupported value: 'audio.format' does not support 'wav' when stream=true. Supported values are: 'pcm16'.",
    ],
  ])(
    "requests complete answers if streams are not supported, and says so once: %s",
    async (_whose, message, status = 400) => {
      const wire = await serve([
        refused({ code: "unsupported_value", param: "stream", message }, status),
        say("one"),
        say("two"),
      ]);
      const agent = new Agent({ model: openai.chat("o3", { apiKey: "k", baseURL: wire.urlFor("openai") }) });
      const warned: string[] = [];
      for (const text of ["one", "two"]) {
        const run = agent.stream("go");
        for await (const event of run) if (event.type === "warning") warned.push(event.code);
        expect((await run.result).text).toBe(text);
      }
      expect(warned).toEqual(["unsupported_setting"]);
      expect(wire.requests.map(({ body }) => JSON.stringify(body).includes('"stream":true'))).toEqual([
        true,
        false,
        false,
      ]);
    },
  );

  it.each([
    "parameter.enable_thinking must be set to false for non-streaming calls",
    "parameter.enable_thinking only support stream",
    "This model only support stream mode, please enable the stream parameter to access the model.",
    "enable thinking can not be support when `stream=False`.",
    "Stream must be set to true",
  ])("requests streams if complete answers are not supported, and says so once: %s", async (message) => {
    const wire = await serve([
      refused({ code: "invalid_parameter_error", param: null, message }),
      say("one"),
      say("two"),
    ]);
    const model = openai.chat("qwq", { apiKey: "k", baseURL: wire.urlFor("openai"), stream: false });
    const agent = new Agent({ model });
    const warned: string[] = [];
    for (const text of ["one", "two"]) {
      const run = agent.stream("go");
      for await (const event of run) if (event.type === "warning") warned.push(event.code);
      expect((await run.result).text).toBe(text);
    }
    expect(warned).toEqual(["unsupported_setting"]);
    expect(wire.requests.map(({ body }) => JSON.stringify(body).includes('"stream":true'))).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("leaves out what an event in such a stream complains about", async () => {
    const message = "messages.1.content.0: Invalid `signature` in `thinking` block";
    const wire = await serve([insideOfClaudes({ type: "invalid_request_error", message }), say("one")]);
    const result = await new Agent({ model: claude(wire) }).run(thought);
    expect(result).toMatchObject({ end: { reason: "completed" }, text: "one" });
    expect(asked(wire)).toEqual([
      [false, true],
      [false, false],
    ]);
  });

  it("learns from a refusal that a gateway passes on within a stream, with a status of its own", async () => {
    const said =
      "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1";
    const behind = JSON.stringify({ error: { message: said, type: "invalid_request_error" } });
    const metadata = { raw: behind, provider_name: "Moonshot AI" };
    const wire = await serve([
      frames(inside({ code: 502, message: "Provider returned error", metadata })),
      say("one"),
    ]);
    const model = openaiCompatible({ apiKey: "k", baseURL: wire.url, model: "m" });
    const origin = { api: "scripted", provider: "scripted", model: "scripted" };
    const call = { type: "tool_call", id: "c1", name: "f", args: {} } as const;
    const result = await new Agent({ model }).run([
      userText("go"),
      { role: "assistant", content: [call], origin, stop: { kind: "tool_use", wire: "tool_use" } },
      { role: "tool", callId: "c1", name: "f", content: [{ type: "text", text: "ok" }], isError: false },
    ] as Message[]);
    expect(result.text).toBe("one");
    expect(wire.requests).toHaveLength(2);
    expect(JSON.stringify(wire.requests[1]?.body)).toContain('"reasoning_content":""');
  });

  it("learns from an error in a stream of Google's that penalties are not accepted", async () => {
    const wire = await serve([
      frames(
        inside({ code: 400, status: "INVALID_ARGUMENT", message: "Penalty is not enabled for models/m" }),
      ),
      say("one"),
    ]);
    const model = google("gemini-3-flash", { apiKey: "k", baseURL: wire.urlFor("google") });
    const agent = new Agent({ model, settings: { presencePenalty: 0.5 } });
    expect((await agent.run("go")).text).toBe("one");
    expect(wire.requests.map(({ body }) => JSON.stringify(body).includes("presencePenalty"))).toEqual([
      true,
      false,
    ]);
  });

  it("warns of what it leaves out when it repeats at once, and only once of what both requests leave out", async () => {
    const message = "Unsupported parameter: 'temperature' is not supported with this model.";
    const refusedSetting = refused({ code: "unsupported_parameter", param: "temperature", message });
    const wire = await serve([refusedSetting, say("one")]);
    const model = openaiCompatible({ apiKey: "k", baseURL: wire.url, model: "m" });
    const settings = { temperature: 0.5, providerOptions: { compatible: { odd: 1 } } };
    const told: string[] = [];
    for await (const event of new Agent({ model, settings }).stream("go"))
      if (event.type === "warning") told.push(`${event.code}: ${event.message}`);
    expect(told).toEqual([
      expect.stringMatching(/^unsupported_option: .*odd/),
      expect.stringMatching(/^unsupported_setting: .*temperature/),
    ]);
    expect(wire.requests.map(({ body }) => JSON.stringify(body).includes("temperature"))).toEqual([
      true,
      false,
    ]);
  });

  it("does not repeat at once if a part of the answer was emitted", async () => {
    const word = {
      data: { id: "c", choices: [{ index: 0, delta: { role: "assistant", content: "Well" } }] },
    };
    const noCounting = { code: 400, message: "Unrecognized request argument supplied: stream_options" };
    const wire = await serve([frames([word, ...inside(noCounting)]), say("never asked")]);
    const { end } = await new Agent({ model: limited(wire) }).run("go");
    expect(end).toMatchObject({ reason: "error", error: { kind: "invalid_request" } });
    expect(wire.requests).toHaveLength(1);
  });
});

describe("a server with several unknown quirks", () => {
  const no = (message: string): ReturnType<typeof raw> =>
    raw(JSON.stringify({ error: { message, type: "invalid_request_error" } }), {
      status: 400,
      headers: { "content-type": "application/json" },
    });
  const asked = [
    no("property 'stream_options' is unsupported"),
    no('json: unknown field "max_completion_tokens"'),
    no("Unsupported value: 'messages[0].role' does not support 'developer' with this model."),
  ];
  const agentOf = (url: string): Agent =>
    new Agent({
      model: openai.chat("gpt-5", { baseURL: url, apiKey: "k" }),
      system: "Be brief.",
      settings: { maxOutputTokens: 100 },
    });

  it("reveals one quirk after the other, within one call", async () => {
    const wire = await serve([...asked, say("done"), say("more")]);
    const agent = agentOf(wire.url);
    expect((await agent.run("go")).text).toBe("done");
    expect((await agent.run("go")).text).toBe("more");
    expect(wire.requests).toHaveLength(5);
    expect(wire.requests.at(-1)?.body).toMatchObject({ max_tokens: 100, messages: [{ role: "system" }, {}] });
    expect(wire.requests.at(-1)?.body).not.toHaveProperty("stream_options");
  });

  const image: Message[] = [
    { role: "user", content: [{ type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" }] },
  ];
  it.each([
    ["a setting", "go", "Unsupported value: 'temperature' does not support 0.2 with this model."],
    ["an image", image, "Invalid image data in messages[1].content[0].image_url."],
  ])("and then complains about %s, which is left out", async (_what, input, complaint) => {
    const wire = await serve(
      [asked[0], no(complaint), say("done")].map((one) => one as ReturnType<typeof raw>),
    );
    const model = openai.chat("gpt-5", { baseURL: wire.url, apiKey: "k" });
    const { text } = await new Agent({ model, settings: { temperature: 0.2 } }).run(input);
    expect([text, wire.requests.length]).toEqual(["done", 3]);
  });

  it.each(["before", "after"])("and refuses the token %s that, once", async (when) => {
    const expired = raw(JSON.stringify({ error: { message: "token expired" } }), { status: 401 });
    const [quirk] = asked as [ReturnType<typeof raw>];
    const wire = await serve([...(when === "before" ? [expired, quirk] : [quirk, expired]), say("done")]);
    const model = openai.chat("gpt-5", {
      baseURL: wire.url,
      credentials: ({ refresh }) => (refresh ? "new" : "old"),
    });
    expect((await new Agent({ model }).run("go")).text).toBe("done");
    expect(wire.requests.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer old",
      when === "before" ? "Bearer new" : "Bearer old",
      "Bearer new",
    ]);
    expect(wire.requests.at(-1)?.body).not.toHaveProperty("stream_options");
  });

  it("is not called endlessly: a quirk that was learnt in a call is not learnt again in it", async () => {
    const [options] = asked;
    const wire = await serve([options, options, options].map((one) => one as ReturnType<typeof raw>));
    expect((await agentOf(wire.url).run("go")).end).toMatchObject({ error: { kind: "invalid_request" } });
    expect(wire.requests).toHaveLength(2);
  });
});

describe("what a refusal showed to be too long, or not to be had, is sent otherwise", () => {
  const long = tool({
    name: "search",
    description: `${"x".repeat(1022)}\u{1F600}${"y".repeat(200)}`,
    inputSchema: { type: "object", properties: {} },
    execute: () => "ok",
  });
  const tooLong = (param: string): ReturnType<typeof raw> => {
    const message = `Invalid '${param}': string too long. Expected a string with maximum length 1024, but got a string with length 1224 instead.`;
    return raw(JSON.stringify({ error: { message, param, code: "string_above_max_length" } }), {
      status: 400,
    });
  };

  it.each([
    ["chat", "tools[0].function.description"],
    ["responses", "tools[0].description"],
  ])(
    "a tool's description, over %s: with a warning, and not in the middle of a character",
    async (api, param) => {
      const wire = await serve([tooLong(param), say("done")]);
      const options = { baseURL: wire.url, apiKey: "k" };
      const model = api === "chat" ? openai.chat("gpt-4o", options) : openai("gpt-4o", options);
      const run = new Agent({ model, tools: [long] }).stream("go");
      const warned: string[] = [];
      for await (const event of run) if (event.type === "warning") warned.push(event.code);
      expect((await run.result).text).toBe("done");
      expect(warned).toEqual(["adjusted_setting"]);
      const body = wire.requests.at(-1)?.body as { tools: { function?: object; description?: string }[] };
      const [sent = {}] = body.tools;
      const { description }: { description?: string } = sent.function ?? sent;
      expect(description).toBe(`${"x".repeat(1022)}…`);
    },
  );

  it("a summary of the reasoning: the effort stays", async () => {
    const message = "Your organization must be verified to generate reasoning summaries.";
    const no = raw(JSON.stringify({ error: { message, param: "reasoning.summary" } }), { status: 400 });
    const wire = await serve([no, say("done")]);
    const settings = {
      reasoning: "low" as const,
      providerOptions: { openai: { reasoning: { summary: "auto" } } },
    };
    const model = openai("gpt-5", { baseURL: wire.url, apiKey: "k" });
    expect((await new Agent({ model, settings }).run("go")).text).toBe("done");
    expect(wire.requests.map(({ body }) => (body as { reasoning?: unknown }).reasoning)).toEqual([
      { effort: "low", summary: "auto" },
      { effort: "low" },
    ]);
  });
});
