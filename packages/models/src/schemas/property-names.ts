// The room of property names that Anthropic does not accept: one of them fails every request in which its tool is declared.
//
// They are left out of the schema and described in the tool's description, by their own names: a model may write a member
// that its schema does not name, and arguments are validated against the original anyway.

import type { JsonObject } from "@rondo/core";
import { listIn } from "../json-values.ts";
import { objectOf } from "./node.ts";

const name = /^[a-zA-Z0-9_.-]{1,64}$/;

export interface Members {
  schema: JsonObject;
  /** The names that were left out, and the line that describes them. */
  lost: string[];
  told: string;
}

/** A tool's schema without the members that cannot be declared; undefined if there are none. */
export function declarable(schema: JsonObject): Members | undefined {
  const members = Object.entries(objectOf(schema.properties));
  const lost = members.filter(([key]) => !name.test(key));
  if (lost.length === 0) return undefined;
  const { additionalProperties: rest, required: given, ...others } = schema;
  const demanded = listIn(given);
  const required = demanded.filter((key) => !lost.some(([one]) => one === key));
  const lines = lost.map(
    ([key, member]) =>
      `${JSON.stringify(key)}${demanded.includes(key) ? " (required)" : ""}: ${JSON.stringify(member)}`,
  );
  return {
    schema: {
      ...others,
      properties: Object.fromEntries(members.filter(([key]) => name.test(key))),
      ...(given === undefined ? {} : { required }),
      ...(rest === undefined || rest === false ? {} : { additionalProperties: rest }),
    },
    lost: lost.map(([key]) => key),
    told: `Its arguments also take these members, each with its JSON Schema:\n${lines.join("\n")}`,
  };
}
