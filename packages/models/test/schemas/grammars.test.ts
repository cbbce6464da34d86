// What a provider makes a grammar of: patterns, formats, references and lists that it has no grammar for fail the request.

import { Agent, type JsonObject, type RondoEvent, type SchemaLike, tool } from "@rondo/core";
import { type } from "arktype";
import { describe, expect, it } from "vitest";
import { checkAnthropicStructured, checkOpenaiStrict } from "../../../testkit/src/wire/rules/schemas.ts";
import { adaptSchema, anthropic, google, openai, openaiCompatible } from "../../src/index.ts";

// biome-ignore lint/suspicious/noExplicitAny: bodies of several protocols are looked into
type Loose = any;

type Fetch = NonNullable<NonNullable<Parameters<typeof openai>[1]>["fetch"]>;

/** What is sent for an agent with one tool, or with an output. */
async function sent(
  make: (fetch: Fetch) => ReturnType<typeof openai>,
  { inputSchema, output }: { inputSchema?: SchemaLike; output?: SchemaLike },
): Promise<{ body: Loose; warnings: string[] }> {
  let body: Loose;
  const model = make(async (_url, init) => {
    body = JSON.parse(String(init?.body));
    return new Response('{"error":{"message":"stop"}}', { status: 401 });
  });
  const warnings: string[] = [];
  const agent = new Agent({
    model,
    tools:
      inputSchema === undefined
        ? []
        : [tool({ name: "act", description: "Acts.", inputSchema, execute: () => "done" })],
    ...(output === undefined ? {} : { output }),
  });
  const onEvent = (event: RondoEvent): void => {
    if (event.type === "warning") warnings.push(event.message);
  };
  await agent.run("go", { onEvent }).catch(() => {});
  return { body, warnings };
}

const apiKey = "k";
const viaOpenai = (fetch: Fetch) => openai("gpt-5.5", { apiKey, fetch });
const viaChat = (fetch: Fetch) =>
  openaiCompatible({
    baseURL: "http://localhost:1/v1",
    model: "some-model",
    apiKey,
    fetch,
    compat: { strictTools: true },
  });
const viaOther = (fetch: Fetch) =>
  openaiCompatible({ baseURL: "http://localhost:1/v1", model: "some-model", apiKey, fetch });
const viaAnthropic = (fetch: Fetch) => anthropic("claude-sonnet-5", { apiKey, fetch });
const viaGoogle = (fetch: Fetch) => google("gemini-3-pro", { apiKey, fetch });

const broken = (check: typeof checkOpenaiStrict, schema: unknown): string[] => {
  const said: string[] = [];
  check(schema, "schema", (_at, message) => said.push(message));
  return said;
};

describe("a pattern that looks around or refers back", () => {
  // https://github.com/vercel/ai/issues/16021: zod's e-mail address; https://github.com/SmartBear/smartbear-mcp/issues/491
  const mail = { type: "string", format: "email", pattern: "^(?!\\.)(?!.*\\.\\.)[a-z.]+@[a-z.]+$" };
  const n = { type: "integer", minimum: 1 };
  const inputSchema: JsonObject & SchemaLike = {
    type: "object",
    properties: { mail, n },
    required: ["mail", "n"],
    additionalProperties: false,
  };
  const { pattern: _, ...plainMail } = mail;

  it("is not sent to OpenAI, which refuses the request or fails in the stream; the rest stays, and so does strict mode", async () => {
    const { body, warnings } = await sent(viaOpenai, { inputSchema });
    expect(body.tools[0]).toMatchObject({ strict: true, parameters: { properties: { mail: plainMail, n } } });
    expect(body.tools[0].parameters.properties.mail).not.toHaveProperty("pattern");
    expect(warnings.join()).toContain("mail: pattern");
    const chat = await sent(viaChat, { inputSchema });
    expect(chat.body.tools[0].function.parameters.properties).toEqual({ mail: plainMail, n });
    const typed = await sent(viaOpenai, { output: inputSchema });
    expect(typed.body.text.format).toMatchObject({ strict: true });
    expect(typed.body.text.format.schema.properties).toEqual({ mail: plainMail, n });
  });

  it("is found in what arktype writes for a number in a text", async () => {
    const { body } = await sent(viaOpenai, {
      inputSchema: type({ "+": "reject", n: "string.numeric.parse" }),
    });
    expect(body.tools[0].strict).toBe(true);
    expect(body.tools[0].parameters.properties.n).toEqual({ type: "string" });
  });

  it("stays where it is only read or nothing is known of the server, and any other pattern stays everywhere", async () => {
    const other = await sent(viaOther, { inputSchema });
    expect(other.body.tools[0].function.parameters.properties.mail).toEqual(mail);
    expect((await sent(viaAnthropic, { inputSchema })).body.tools[0].input_schema.properties.mail).toEqual(
      mail,
    );
    const patterns = ["^[(?=]\\(?=a\\\\1$", "^(?:a|(?<year>\\d{4}))[\\d]$", "^a\\\\k$"];
    for (const pattern of patterns) {
      const schema = { ...inputSchema, properties: { mail: { type: "string", pattern }, n } };
      const { body } = await sent(viaOpenai, { inputSchema: schema });
      expect(body.tools[0]).toMatchObject({ strict: true, parameters: schema });
    }
    for (const pattern of ["(?<=a)b", "(?<!a)b", "a(?=b)", "(a)\\1", "(?<q>a)\\k<q>"]) {
      const schema = { ...inputSchema, properties: { mail: { type: "string", pattern }, n } };
      expect(adaptSchema(schema, "openai").removed).toEqual([
        { type: "pattern", fieldPath: "mail", value: pattern },
      ]);
    }
  });

  it("is not part of what Anthropic makes a grammar of, and neither are word boundaries and formats that it does not know", () => {
    const properties: JsonObject = {
      mail,
      word: { type: "string", pattern: "\\bword\\b" },
      id: { type: "string", format: "cuid2" },
      url: { type: "string", format: "uri", pattern: "^https://" },
    };
    const schema: JsonObject = {
      type: "object",
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    };
    const { schema: adapted, removed } = adaptSchema(schema, "anthropic");
    expect(broken(checkAnthropicStructured, schema)).toHaveLength(3);
    expect(broken(checkAnthropicStructured, adapted)).toEqual([]);
    expect(adapted.properties).toEqual({
      mail: plainMail,
      word: { type: "string" },
      id: { type: "string" },
      url: properties.url,
    });
    expect(removed.map(({ type, fieldPath }) => [type, fieldPath])).toEqual([
      ["pattern", "mail"],
      ["pattern", "word"],
      ["format", "id"],
    ]);
  });
});

describe("a reference with a description", () => {
  // https://github.com/camel-ai/camel/issues/3001: "$ref cannot have keywords {'description'}"
  const schema: JsonObject = {
    type: "object",
    properties: { from: { $ref: "#/$defs/p", description: "Where it begins." } },
    required: ["from"],
    additionalProperties: false,
    $defs: {
      p: {
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
        additionalProperties: false,
      },
    },
  };

  it("is not strict as it is", async () => {
    expect(broken(checkOpenaiStrict, schema)).toEqual(["$ref cannot have keywords {'description'}."]);
    const { body } = await sent(viaOpenai, { inputSchema: schema as SchemaLike });
    expect(body.tools[0]).toMatchObject({ strict: false, parameters: schema });
    const typed = await sent(viaOpenai, { output: schema as SchemaLike });
    expect(typed.body.text.format).toMatchObject({ strict: false });
  });

  it("has it around it, once it is made strict", () => {
    const { schema: adapted, removed, narrowed } = adaptSchema(schema, "openai-strict");
    expect(broken(checkOpenaiStrict, adapted)).toEqual([]);
    expect(adapted.properties).toEqual({
      from: { anyOf: [{ $ref: "#/$defs/p" }], description: "Where it begins." },
    });
    expect([removed, narrowed]).toEqual([[], []]);
  });
});

describe("a strict schema that is too large", () => {
  // https://developers.openai.com/api/docs/guides/structured-outputs
  const strict = async (properties: JsonObject): Promise<boolean> => {
    const required = Object.keys(properties);
    const schema = { type: "object", properties, required, additionalProperties: false };
    return (await sent(viaOpenai, { inputSchema: schema as SchemaLike })).body.tools[0].strict;
  };
  const values = (count: number, length: number) => ({
    type: "string",
    enum: Array.from({ length: count }, (_one, at) => String(at).padStart(length, "0")),
  });
  const members = (count: number, length: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_one, at) => [String(at).padStart(length, "m"), { type: "null" }]),
    );

  it.each<[string, JsonObject, boolean]>([
    ["1000 listed values", { a: values(500, 4), b: values(500, 4) }, true],
    ["1001 listed values", { a: values(500, 4), b: values(501, 4) }, false],
    ["250 long values", { a: values(250, 100) }, true],
    ["251 values of 15000 characters", { a: values(250, 60), b: values(251, 59) }, true],
    ["251 values of more", { a: values(251, 60) }, false],
    ["5000 members", members(5_000, 5), true],
    ["5001 members", members(5_001, 5), false],
    ["names of 120000 characters", members(1_200, 100), true],
    ["names of more", { ...members(1_200, 100), x: { type: "null" } }, false],
  ])("%s", async (_name, properties, expected) => {
    expect(await strict(properties)).toBe(expected);
  });
});

describe("a schema whose root is a reference by a name", () => {
  // What Type.Cyclic of typebox 1 writes.
  const node = {
    $id: "Node",
    type: "object",
    properties: { value: { type: "string" }, kids: { type: "array", items: { $ref: "Node" } } },
    required: ["value", "kids"],
  };
  const cyclic = { $defs: { Node: node }, $ref: "Node" };
  const properties = {
    value: { type: "string" },
    kids: { type: "array", items: { $ref: "#/$defs/Node" } },
  };

  it.each([
    ["OpenAI", viaOpenai, (body: Loose) => body.tools[0].parameters],
    ["Anthropic", viaAnthropic, (body: Loose) => body.tools[0].input_schema],
    ["Google", viaGoogle, (body: Loose) => body.tools[0].functionDeclarations[0].parametersJsonSchema],
  ] as const)("tells %s its members", async (_name, make, schemaIn) => {
    const { body, warnings } = await sent(make, { inputSchema: cyclic });
    expect(schemaIn(body)).toMatchObject({ type: "object", properties, required: ["value", "kids"] });
    expect(JSON.stringify(schemaIn(body))).not.toContain('"$id"');
    expect(warnings).toEqual([]);
  });

  it("does so as an output too, where a reference leads to its place", async () => {
    const output = { type: "object", properties: { tree: { ...cyclic } } } as SchemaLike;
    const { body } = await sent(viaOpenai, { output });
    expect(JSON.stringify(body.text.format.schema)).toContain('"$ref":"#/properties/tree/$defs/Node"');
    expect(JSON.stringify(body.text.format.schema)).not.toContain('"$id"');
  });
});
