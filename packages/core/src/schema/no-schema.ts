// The room of what is no schema: objects that hold one, or whose members are schemas.
//
// As a JSON Schema such an object has only unknown keywords, so it would allow anything: the model would be told nothing,
// and nothing would be checked.

import { invalidRequest } from "../errors.ts";
import { isObject } from "../json/object.ts";
import type { JsonObject } from "../message.ts";
import { typeWords } from "./keywords.ts";
import { isStandard } from "./standard.ts";

/**
 * Why a schema that somebody else wrote cannot be a tool's, if so. Its tool then takes any object, which its own server
 * checks: one such tool must not make all tools of the server unusable (F143).
 */
export function whyNoArguments(given: JsonObject): string | undefined {
  const types = [given.type ?? "object"].flat();
  if (types.every((type) => typeWords.has(type)) && !types.includes("object"))
    return `#/type (${JSON.stringify(given.type)})`;
  const found = schemaIn(given);
  return found === undefined ? undefined : `# (its ${found})`;
}

/** @throws RondoError `invalid_request` for what is no schema, with what would be one */
export function demandSchema(given: JsonObject, owner: string): void {
  const found = schemaIn(given);
  if (found === undefined) return;
  if (found !== "members")
    throw invalidRequest(`${owner}: this is no schema, but holds one: give its ${found}`);
  const [name, one] = Object.entries(given)[0] as [string, object];
  const whole = isStandard(one)
    ? `an object of its library, e.g. z.object({ ${name} })`
    : `{ type: "object", properties: { ${name} } }`;
  throw invalidRequest(`${owner}: these are the members of a schema, not a schema: ${whole} is one`);
}

/** What there is of a schema in something that is none: its `members`, or the path of a member that holds one. */
const schemaIn = (given: JsonObject): string | undefined =>
  heldAlone(given) ?? (areMembers(given) ? "members" : heldIn(given));

/** The only member, if other libraries hold a schema under its name: `{ schema: z.object({ … }) }`. */
function heldAlone(given: JsonObject): string | undefined {
  const [name = "", ...more] = Object.keys(given);
  const held = given[name];
  return more.length === 0 && holders.includes(name) && isObject(held) && isStandard(held) ? name : undefined;
}

/** Members in which other libraries hold a schema. */
const holders = ["jsonSchema", "json_schema", "schema"];
/** Keywords that only a schema has. */
const telling = ["properties", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"];

const tells = (given: JsonObject): boolean =>
  isStandard(given) || typeWords.has(given.type ?? null) || telling.some((word) => word in given);

/** The member that holds a schema, in something that is none itself. */
function heldIn(given: JsonObject): string | undefined {
  if (tells(given)) return undefined;
  for (const name of holders) {
    const held = given[name];
    if (!isObject(held)) continue;
    if (tells(held)) return name;
    const deeper = heldIn(held);
    if (deeper !== undefined) return `${name}.${deeper}`;
  }
  return undefined;
}

/** Whether these are schemas by name: the members of a schema, and not a schema. */
function areMembers(given: object): boolean {
  const members = Object.entries(given);
  return members.length > 0 && members.every(([key, member]) => isMember(key, member));
}

const keywords =
  /^(\$|not$|if$|then$|else$|items$|contains$|properties$|propertyNames$|additional|unevaluated)/;

function isMember(key: string, member: unknown): boolean {
  if (typeof member !== "object" || member === null) return false;
  return isStandard(member) || (!keywords.test(key) && typeof (member as JsonObject).type === "string");
}
