// Not a test: canonical conversations, well and badly formed, for property tests of the Anthropic family's encoders.

import type {
  AssistantMessage,
  ContentPart,
  JsonObject,
  Message,
  ModelRequest,
  Origin,
  Part,
  ToolDefinition,
} from "@rondo/core";
import fc from "fast-check";

export const origins: readonly Origin[] = [
  { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-4-5" },
  { api: "anthropic-messages", provider: "anthropic", model: "claude-opus-4-6" },
  { api: "bedrock-converse", provider: "bedrock", model: "anthropic.claude-sonnet-4-5-20250929-v1:0" },
  { api: "openai-responses", provider: "openai", model: "gpt-5" },
];

const text: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("", " ", "\n\n", "hello", "trailing space ", "cut \ud83d emoji", "\udc00", "日本 😀"),
  fc.string(),
  fc.string({ unit: "binary" }),
);

const name: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("weather", "fs.read", "a/b", "multi_tool_use.parallel", "", "_x2E_", "ünï", "constructor"),
  fc.string({ maxLength: 90 }),
);

const json: fc.Arbitrary<JsonObject> = fc
  .dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);

const file: fc.Arbitrary<ContentPart> = fc.record(
  {
    type: fc.constant("file" as const),
    mediaType: fc.constantFrom("image/png", "application/pdf", "text/plain", "audio/wav", "image/tiff"),
    data: fc.base64String({ minLength: 4, maxLength: 32 }),
    name: fc.constantFrom("a.png", "weird  name…?.pdf"),
  },
  { requiredKeys: ["type", "mediaType", "data"] },
);

const marked: fc.Arbitrary<ContentPart> = text.map((words) => ({
  type: "text",
  text: words,
  opaque: { cache_control: { type: "ephemeral" } },
}));

const userPart: fc.Arbitrary<ContentPart> = fc.oneof(
  { weight: 5, arbitrary: text.map((words): ContentPart => ({ type: "text", text: words })) },
  { weight: 1, arbitrary: marked },
  { weight: 2, arbitrary: file },
);

const callId: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("toolu_1", "call|1", "", "call_0", "x".repeat(446)),
  fc.string({ maxLength: 80 }),
);

/** Of tools that code has called, which the provider runs. */
const byCode: JsonObject = { type: "code_execution_20260120", tool_id: "srvtoolu_2" };

const call: fc.Arbitrary<Part> = fc
  .tuple(callId, name, json, fc.boolean(), fc.constantFrom({}, {}, { opaque: { caller: byCode } }))
  .map(([id, toolName, args, bad, more]) =>
    bad
      ? {
          type: "tool_call",
          id,
          name: toolName,
          args: {},
          rawArgs: '{"a":',
          argsError: "the arguments are not valid JSON",
          ...more,
        }
      : { type: "tool_call", id, name: toolName, args, rawArgs: JSON.stringify(args), ...more },
  );

const reasoning: fc.Arbitrary<Part> = fc.oneof(
  fc.constant<Part>({ type: "reasoning", text: "hm", opaque: { signature: "c2ln" } }),
  fc.constant<Part>({ type: "reasoning", text: "", opaque: { redacted: "cmVk" } }),
  fc.constant<Part>({ type: "reasoning", text: "unsigned" }),
);

const block = (opaque: JsonObject & { type: string }): Part => ({
  type: "native",
  kind: opaque.type,
  opaque,
});

const native: fc.Arbitrary<Part> = fc.constantFrom<Part>(
  block({ type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } }),
  block({ type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] }),
  block({ type: "server_tool_use", id: "srvtoolu_2", name: "code_execution", input: { code: "x" } }),
  block({ type: "server_tool_use", id: "srvtoolu_3", name: "web_search", input: {}, caller: byCode }),
  block({ type: "web_search_tool_result", tool_use_id: "srvtoolu_3", content: [], caller: byCode }),
  block({ type: "code_execution_tool_result", tool_use_id: "srvtoolu_2", content: {} }),
  block({ type: "server_tool_use", id: "srvtoolu_4", name: "tool_search_tool_regex", input: {} }),
  block({
    type: "tool_search_tool_result",
    tool_use_id: "srvtoolu_4",
    content: {
      type: "tool_search_tool_search_result",
      tool_references: ["weather", "gone"].map((tool_name) => ({ type: "tool_reference", tool_name })),
    },
  }),
  { type: "native", kind: "container", opaque: { id: "container_1" } },
  { type: "refusal", text: "I will not." },
);

const answer: fc.Arbitrary<AssistantMessage> = fc
  .record({
    thoughts: fc.array(reasoning, { maxLength: 2 }),
    parts: fc.array(
      fc.oneof(
        { weight: 3, arbitrary: text.map((words): Part => ({ type: "text", text: words })) },
        { weight: 1, arbitrary: native },
        { weight: 1, arbitrary: reasoning },
      ),
      { maxLength: 3 },
    ),
    calls: fc.array(call, { maxLength: 3 }),
    origin: fc.constantFrom(...origins),
    wire: fc.constantFrom(
      "end_turn" as const,
      "tool_use" as const,
      "max_tokens" as const,
      "refusal" as const,
      "pause" as const,
    ),
  })
  .map(({ thoughts, parts, calls, origin, wire }) => ({
    role: "assistant",
    // A native block's shape is its origin's own.
    content: [
      ...thoughts,
      ...parts.filter((part) => part.type !== "native" || origin.api === "anthropic-messages"),
      ...calls,
    ],
    origin,
    stop: { kind: calls.length > 0 && wire !== "pause" ? "tool_use" : wire, wire },
  }));

/** Messages in any order: results missing, doubled, orphaned; ids repeated; roles repeated. */
export const history: fc.Arbitrary<Message[]> = fc
  .array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc
          .array(userPart, { maxLength: 3 })
          .map((content): Message => ({ role: "user", content })),
      },
      { weight: 5, arbitrary: answer },
      {
        weight: 1,
        arbitrary: text.map(
          (words): Message => ({ role: "system", content: [{ type: "text", text: words }] }),
        ),
      },
      {
        weight: 1,
        arbitrary: callId.map(
          (id): Message => ({ role: "tool", callId: id, name: "lost", content: [], isError: false }),
        ),
      },
    ),
    { maxLength: 8 },
  )
  .chain((messages) =>
    fc
      .array(
        fc.record({
          skip: fc.nat(9),
          content: fc.array(userPart, { maxLength: 2 }),
          isError: fc.boolean(),
          offers: fc.subarray(["weather", "notion", "fs.read", "gone", "web_search"], { maxLength: 2 }),
        }),
        {
          minLength: 30,
          maxLength: 30,
        },
      )
      .map((fates) => {
        let nth = 0;
        return messages.flatMap((message): Message[] => {
          if (message.role !== "assistant") return [message];
          const results = message.content.flatMap((part): Message[] => {
            const fate = fates[nth++ % fates.length];
            if (part.type !== "tool_call" || fate === undefined || fate.skip === 0) return [];
            const result: Message = {
              role: "tool",
              callId: part.id,
              name: part.name,
              content: fate.content,
              isError: fate.isError,
              ...(fate.offers.length === 0 ? {} : { offers: fate.offers }),
            };
            return fate.skip === 1 ? [result, { ...result }] : [result];
          });
          return [message, ...results];
        });
      }),
  );

const union: ToolDefinition = {
  name: "notion",
  description: "",
  inputSchema: {
    anyOf: [
      { type: "object", properties: { page: { type: "string" } }, required: ["page"] },
      { type: "object", properties: { base: { type: "string" } }, required: ["base"] },
    ],
  },
};
const plain: ToolDefinition = {
  name: "weather",
  description: "Weather",
  inputSchema: { type: "object", properties: {} },
};
const dotted: ToolDefinition = {
  name: "fs.read",
  description: "Read",
  inputSchema: { type: "object", properties: {} },
};

const late: ToolDefinition = { ...plain, name: "late" };

const serverTools: JsonObject[] = [
  { type: "web_search_20260209", name: "web_search" },
  { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" },
];

export const request: fc.Arbitrary<ModelRequest> = fc
  .record({
    messages: history,
    tools: fc.constantFrom<ToolDefinition[][]>([], [plain], [plain, dotted, union]),
    waiting: fc.boolean(),
    toolChoice: fc.constantFrom<ModelRequest["toolChoice"][]>("auto", "any", "none", { tool: "weather" }),
    system: fc.option(text, { nil: undefined }),
    reasoning: fc.constantFrom(undefined, "off" as const, "high" as const, { budgetTokens: 100 }),
    maxOutputTokens: fc.constantFrom(undefined, 500, 5000),
    temperature: fc.constantFrom(undefined, 0.5),
    topP: fc.constantFrom(undefined, 0.5),
    topK: fc.constantFrom(undefined, 5),
    single: fc.boolean(),
    schema: fc.boolean(),
    hosted: fc.constantFrom<JsonObject[]>(
      {},
      { tools: serverTools },
      { tools: serverTools, container: "container_2" },
      { tools: serverTools, container: { skills: [] } },
    ),
  })
  .map(
    ({
      messages,
      tools,
      waiting,
      toolChoice,
      system,
      single,
      schema,
      reasoning,
      maxOutputTokens,
      temperature,
      topP,
      topK,
      hosted,
    }) => ({
      messages,
      tools,
      ...(waiting ? { waiting: [late] } : {}),
      // A choice that names a tool needs the tool; the request is the loop's to get right.
      toolChoice: tools.length === 0 && toolChoice !== "none" ? "auto" : toolChoice,
      ...(system === undefined ? {} : { system }),
      ...(schema ? { outputSchema: { type: "object", properties: { a: { type: "object" } } } } : {}),
      settings: {
        ...(reasoning === undefined ? {} : { reasoning }),
        ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
        ...(temperature === undefined ? {} : { temperature }),
        ...(topP === undefined ? {} : { topP }),
        ...(topK === undefined ? {} : { topK }),
        ...(single ? { parallelToolCalls: false } : {}),
        providerOptions: { anthropic: hosted },
      },
    }),
  );
