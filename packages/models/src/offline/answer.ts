// The room of the answer: findings become the text for a person, or the JSON that a schema requires.

import { type Json, type JsonObject, RondoError } from "@rondo/core";
import { setOwn } from "@rondo/core/checks";
import { listIn, objectIn } from "../json-values.ts";
import { literal } from "../patterns.ts";
import type { Goal } from "./goal.ts";
import type { Finding } from "./plan.ts";
import { clip } from "./solve/words.ts";
import type { Toolbox } from "./toolbox.ts";

/** Added to every answer: what answered, and how to get a language model. */
export const closing =
  "_This is Rondo's offline planner, not a language model. For one: set ANTHROPIC_API_KEY and run `rondo run --model anthropic/claude-sonnet-5 …`, or give `new Agent({ model })` a model._";

/** What the planner can do with the available tools. */
function abilities(toolbox: Toolbox): string {
  const can = [
    ...(toolbox.has("list")
      ? ["say what is in a folder, find files by name, ending or kind, and count them"]
      : []),
    ...(toolbox.has("read")
      ? [
          "read files or some of their lines, count lines and words, compare and outline them, look values up in JSON",
        ]
      : []),
    ...(toolbox.has("search") ? ["search the text of files, and count how often something is in them"] : []),
    ...(toolbox.has("calculate") ? ["do arithmetic"] : []),
    ...(toolbox.has("write") ? ["write a file whose text you give word for word"] : []),
    ...(toolbox.has("edit") ? ["replace one text by another in a file"] : []),
  ];
  return can.length === 0
    ? "I was given no tool I know how to use, so there is little I can do."
    : `What I can do: ${can.join("; ")}.`;
}

/** The answer as text. */
export function answerText(
  goals: readonly Goal[],
  findings: readonly Finding[],
  toolbox: Toolbox,
  missed: string | undefined,
): string {
  const parts: string[] = [];
  let offers = goals.length === 0;
  if (goals.length === 0) parts.push("I see no task.");
  goals.forEach((goal, at) => {
    const finding = findings[at];
    if (finding === undefined) return;
    if (goal.do === "about_me") {
      offers = true;
      parts.push(
        "I am a small deterministic planner: I read a task, use the tools I am given, and tell what they returned.",
      );
    } else if (goal.do === "beyond") {
      offers = true;
      parts.push(`That is beyond me: ${finding.text.replace(/\.$/, "")}.`);
    } else parts.push(finding.text);
  });
  if (missed !== undefined)
    parts.push(`Of what came in between I could make nothing: “${clip(missed, 120)}”`);
  if (offers) parts.push(abilities(toolbox));
  return [...parts, closing].join("\n\n");
}

/**
 * The answer as JSON that fits a simple schema.
 * @throws RondoError `capability` if a required property cannot be filled from what was found
 */
export function answerJson(schema: JsonObject, goals: readonly Goal[], findings: readonly Finding[]): Json {
  const reached = findings.filter((_, at) => goals[at]?.do !== "beyond");
  if (reached.length === 0)
    throw new RondoError(
      "capability",
      `the offline planner cannot give this answer as JSON: ${findings[0]?.text ?? "it sees no task"}; use a language model`,
    );
  return fill(schema, { findings: reached, used: 0 }, "the answer");
}

interface Supply {
  findings: readonly Finding[];
  /** How many numbers were used so far: a second number property gets the second number. */
  used: number;
}

function fill(schema: JsonObject, supply: Supply, where: string): Json {
  if ("const" in schema) return schema.const as Json;
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  const plain = supply.findings.map((finding) => finding.text).join("\n\n");
  if (Array.isArray(schema.enum)) {
    const fit = schema.enum.find(
      (one) => typeof one === "string" && new RegExp(`\\b${literal(one)}\\b`, "i").test(plain),
    );
    if (fit !== undefined) return fit;
    return fail(where, "none of the allowed values stands in what was found");
  }
  const first = supply.findings[0] as Finding;
  switch (type) {
    case "string":
      return plain;
    case "number":
    case "integer": {
      const numbers = supply.findings.map((finding) => finding.number).filter((one) => one !== undefined);
      const number = numbers[Math.min(supply.used++, numbers.length - 1)];
      if (number === undefined || (type === "integer" && !Number.isInteger(number)))
        return fail(where, "no such number was found");
      return number;
    }
    case "boolean": {
      const yes = supply.findings.find((finding) => finding.yes !== undefined)?.yes;
      return yes ?? fail(where, "what was found is no yes or no");
    }
    case "array": {
      const items = first.items ?? fail(where, "what was found is no list");
      const itemType = objectIn(schema.items)?.type;
      return itemType === undefined || itemType === "string"
        ? [...items]
        : fail(where, `its items are to be of type ${JSON.stringify(itemType)}, and only texts were found`);
    }
    case "object": {
      const required = new Set(listIn(schema.required));
      const made: JsonObject = {};
      for (const [name, property] of Object.entries(objectIn(schema.properties) ?? {})) {
        const below = objectIn(property);
        if (below === undefined) continue;
        try {
          setOwn(made, name, fill(below, supply, `${where}.${name}`));
        } catch (thrown) {
          if (required.has(name)) throw thrown;
        }
      }
      return made;
    }
    case "null":
      return null;
    default:
      return plain;
  }
}

function fail(where: string, why: string): never {
  throw new RondoError(
    "capability",
    `the offline planner cannot fill ${where}: ${why}; use a language model for typed answers`,
  );
}
