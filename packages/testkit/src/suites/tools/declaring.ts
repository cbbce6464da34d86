// The room of what a tool says of itself: its name, its schema, what it takes and refuses, and what it touches.

import { ok } from "node:assert/strict";
import { inspect } from "node:util";
import { compileSchema, type Json, type JsonObject } from "@rondo/core";
import { listIn, membersIn } from "../../json.ts";
import { mustBe } from "../check.ts";
import { schemaProblems } from "./schema-problems.ts";
import { check, type Demand, leaving, type ToolUnderTest, taken, throughTheLoop } from "./trying.ts";

/** Arguments that its schema says it cannot take: nothing left of what is required, and values of another type. */
function badArguments(schema: JsonObject, example: JsonObject): JsonObject[] {
  const list: JsonObject[] = [];
  for (const name of listIn(schema.required))
    if (typeof name === "string") {
      const { [name]: _, ...rest } = example;
      list.push(rest);
    }
  // What no coercion makes anything of.
  const other: { [type: string]: Json } = {
    string: { no: "text" },
    integer: { no: "number" },
    number: { no: "number" },
    boolean: { no: "boolean" },
    array: { no: "list" },
    object: ["no object"],
  };
  for (const [name, property] of Object.entries(membersIn(schema.properties))) {
    const { type } = membersIn(property);
    const wrong = typeof type === "string" ? other[type] : undefined;
    if (wrong !== undefined) list.push({ ...example, [name]: wrong });
  }
  return list;
}

const refusedBy = (subject: ToolUnderTest): readonly JsonObject[] =>
  subject.refuses ?? badArguments(subject.tool.definition.inputSchema, subject.examples[0] ?? {});

export const declaring: readonly Demand[] = [
  {
    name: "it has a name a model can call, and says what it is for",
    async body({ tool }) {
      ok(
        /^[A-Za-z0-9_-]{1,64}$/.test(tool.name),
        `its name is ${JSON.stringify(tool.name)}: 1 to 64 of A-Z, a-z, 0-9, _ and - are needed`,
      );
      mustBe(tool.definition.name, tool.name, "the name in its definition");
      ok(tool.definition.description.trim() !== "", "its description is empty");
      ok(tool.timeoutMs === undefined || tool.timeoutMs > 0, `timeoutMs is ${tool.timeoutMs}`);
    },
  },
  {
    name: "its schema is a JSON Schema of an object",
    async body({ tool }) {
      const { inputSchema } = tool.definition;
      mustBe(inputSchema, JSON.parse(JSON.stringify(inputSchema)), "the schema, as plain JSON");
      mustBe(inputSchema.type, "object", "the schema's type");
      mustBe(tool.leftOut ?? [], [], "what was left out of the schema, because it is none");
      mustBe(schemaProblems(inputSchema), [], "what is wrong with the schema");
    },
  },
  {
    name: "it takes its own examples, and so does its schema alone",
    async body(subject) {
      const { inputSchema } = subject.tool.definition;
      const told = listIn(inputSchema.examples) as JsonObject[];
      const schema = compileSchema(inputSchema, `tool ${subject.tool.name}`, false);
      for (const example of [...subject.examples, ...told]) {
        const checked = await check(subject, example);
        ok(checked.ok, checked.ok ? "" : `${JSON.stringify(example)} is refused: ${checked.error}`);
        const verdict = await schema.check(structuredClone(example));
        ok(
          verdict.ok,
          verdict.ok ? "" : `what the model is told refuses ${JSON.stringify(example)}: ${verdict.error}`,
        );
      }
    },
  },
  {
    name: "bad arguments are refused with words, before it is run",
    needs: (subject) => refusedBy(subject).length > 0,
    async body(subject) {
      for (const args of refusedBy(subject)) {
        const checked = await check(subject, args);
        ok(
          !checked.ok,
          `${JSON.stringify(args)} is taken, and must be refused${subject.refuses === undefined ? ": its schema does not fit them (where it is to take them, say in `refuses` what it must not)" : ""}`,
        );
        ok(checked.error.trim() !== "", `${JSON.stringify(args)} is refused without a word`);
        const { executed, isError, code } = await throughTheLoop(subject, args);
        mustBe(
          { executed, isError, code },
          { executed: 0, isError: true, code: "invalid_args" },
          "what came of them (executed: how often it ran; code: that of the result)",
        );
      }
    },
  },
  {
    name: "what it touches is a list of names, the same each time",
    needs: ({ tool }) => tool.keys !== undefined,
    async body(subject) {
      for (const example of subject.examples) {
        const value = await taken(subject, example);
        const asked: unknown[] = [];
        await leaving(value, "keys", () => {
          for (let time = 0; time < 2; time += 1) asked.push(subject.tool.keys?.(value));
        });
        const [one, other] = asked;
        ok(
          Array.isArray(one) && one.every((key) => typeof key === "string"),
          `keys are ${inspect(one)}; needed is a list of texts, at once`,
        );
        mustBe(one, other, "its keys, asked a second time");
      }
    },
  },
];
