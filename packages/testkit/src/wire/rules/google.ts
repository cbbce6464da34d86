// The room of what Google refuses: GenerateContent request bodies, checked as strictly as the API does.
//
// Each problem names its place in the body, and says it in the API's own words where those are known.

import type { JsonObject } from "@rondo/core";
import { isObject, listIn, membersIn, objectIn, objectsIn } from "../../json.ts";
import { checkGoogleOpenapi, checkGoogleResponse } from "./schemas.ts";
import { breaches, checkWellFormed, indexed, type Say, type Violation } from "./violation.ts";

export interface GoogleRules {
  /** Gemini 3: the first call of every model turn must carry a thoughtSignature. Default: false. */
  needsSignatures?: boolean;
  /** Before Gemini 3: functions and a JSON response may not stand in one request. Default: false. */
  noSchemaWithTools?: boolean;
}

/** Everything that Google would refuse in this body (JSON text, or parsed). Empty for a good request. */
export function checkGoogleRequest(body: unknown, rules: GoogleRules = {}): Violation[] {
  const { found, say } = breaches();
  let request: unknown = body;
  if (typeof body === "string") {
    try {
      request = JSON.parse(body);
    } catch (thrown) {
      return [{ path: "", message: `Invalid JSON payload received. ${(thrown as Error).message}` }];
    }
  }
  if (!isObject(request)) return [{ path: "", message: "Invalid JSON payload received." }];
  checkWellFormed(request, "", say, indexed);
  request = asFields(request);
  if (!isObject(request)) return found;
  unknownNames(request, requestKeys, "", say);
  contents(request.contents, rules, say);
  if (isObject(request.systemInstruction))
    parts(request.systemInstruction.parts, "systemInstruction.parts", say);
  const names = tools(request.tools, say);
  toolConfig(request.toolConfig, names, say);
  generationConfig(request.generationConfig, names.size > 0, rules, say);
  return found;
}

/** What is in these is the caller's own, names and all. */
const free = new Set(
  "args response parameters parametersJsonSchema responseSchema responseJsonSchema labels".split(" "),
);
const lists = new Set(["contents", "parts", "tools", "functionDeclarations"]);

/** A field may be said by its name in snake_case as well, and one value in place of a list of one. */
function asFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asFields);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([given, inner]): [string, unknown] => {
    const name = given.replace(/(?<=[a-z])_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const own = free.has(name) ? inner : asFields(inner);
    return [name, lists.has(name) && isObject(own) ? [own] : own];
  });
  return Object.fromEntries(fields);
}

const requestKeys = new Set(
  "contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent labels serviceTier store modelArmorConfig continuationToken".split(
    " ",
  ),
);
const partKeys = new Set(
  "text inlineData fileData functionCall functionResponse executableCode codeExecutionResult toolCall toolResponse thought thoughtSignature videoMetadata mediaResolution partMetadata".split(
    " ",
  ),
);
const dataKeys =
  "text inlineData fileData functionCall functionResponse executableCode codeExecutionResult toolCall toolResponse".split(
    " ",
  );
const namePattern = /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/;

function contents(value: unknown, rules: GoogleRules, say: Say): void {
  if (!Array.isArray(value) || value.length === 0) {
    say("contents", "* GenerateContentRequest.contents: contents is not specified");
    return;
  }
  // Who says nothing of its role is the user.
  const turns = value.map((turn): JsonObject => (isObject(turn) ? { role: "user", ...turn } : {}));
  turns.forEach((turn, i) => {
    const at = `contents[${i}]`;
    unknownNames(turn, new Set(["role", "parts"]), at, say);
    if (turn.role !== "user" && turn.role !== "model") say(at, "Please use a valid role: user, model.");
    parts(turn.parts, `${at}.parts`, say);
    const calls = partsWith(turn, "functionCall");
    const responses = partsWith(turn, "functionResponse");
    const before = turns[i - 1];
    if (calls.length > 0) {
      if (turn.role !== "model") say(at, "functionCall parts are the model's.");
      if (before === undefined || before.role !== "user")
        say(
          at,
          "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        );
      if (partsWith(turns[i + 1] ?? {}, "functionResponse").length === 0)
        say(
          `contents[${i + 1}]`,
          "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        );
      if (rules.needsSignatures === true && !calls[0]?.thoughtSignature)
        say(at, "Function call is missing a thought_signature in functionCall parts.");
      const ids = calls.flatMap((part) => membersIn(part.functionCall).id ?? []);
      if (new Set(ids).size < ids.length) say(at, "Request contains an invalid argument.");
    }
    if (responses.length > 0) pairs(turn, before ?? {}, responses, at, say);
  });
  if (turns[0]?.role !== "user")
    say("contents[0]", "Please ensure that multiturn requests start with a user turn.");
  if (turns.at(-1)?.role !== "user")
    say(`contents[${turns.length - 1}]`, "Please ensure that multiturn requests end with a user turn.");
}

function pairs(turn: JsonObject, before: JsonObject, responses: JsonObject[], at: string, say: Say): void {
  const calls = partsWith(before, "functionCall");
  if (turn.role !== "user") say(at, "functionResponse parts are the user's.");
  if (calls.length === 0)
    say(at, "Please ensure that function response turn comes immediately after a function call turn.");
  else if (calls.length !== responses.length || responses.length !== listIn(turn.parts).length)
    say(
      at,
      "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    );
  responses.forEach((part, i) => {
    const response = part.functionResponse as JsonObject;
    const call = calls[i]?.functionCall as JsonObject | undefined;
    if (call === undefined) return;
    if (response.name !== call.name)
      say(`${at}.parts[${i}]`, "function responses stand in the order of their calls.");
    if (response.id !== call.id)
      say(`${at}.parts[${i}]`, "a function response has the id of its call, or none.");
  });
}

function parts(value: unknown, at: string, say: Say): void {
  if (!Array.isArray(value) || value.length === 0) {
    say(at, `* GenerateContentRequest.${at}: contents.parts must not be empty.`);
    return;
  }
  value.forEach((part, i) => {
    onePart(part, `${at}[${i}]`, say);
  });
}

function onePart(part: unknown, at: string, say: Say): void {
  if (!isObject(part)) {
    say(at, "Invalid value");
    return;
  }
  unknownNames(part, partKeys, at, say);
  const data = dataKeys.filter((key) => part[key] !== undefined);
  if (data.length !== 1)
    say(
      at,
      `* GenerateContentRequest.${at}.data: required oneof field 'data' must have one initialized field`,
    );
  if (part.text === "" && !part.thoughtSignature) say(at, "an empty text part without a signature");
  if (part.text !== undefined && typeof part.text !== "string") say(at, "Invalid value (text)");
  const { functionCall: call, functionResponse: response, inlineData, fileData } = part;
  if (call !== undefined) {
    if (!isObject(call) || typeof call.name !== "string" || !namePattern.test(call.name))
      say(at, "Invalid function name. Must start with a letter or an underscore.");
    else {
      unknownNames(call, new Set(["id", "name", "args"]), `${at}.functionCall`, say);
      if (!isObject(call.args)) say(`${at}.functionCall.args`, "Invalid value: args is a Struct");
    }
  }
  if (response !== undefined) {
    if (!isObject(response) || typeof response.name !== "string" || response.name === "")
      say(at, `* GenerateContentRequest.${at}.function_response.name: Name cannot be empty.`);
    else {
      unknownNames(response, new Set(["id", "name", "response", "parts"]), `${at}.functionResponse`, say);
      if (!isObject(response.response))
        say(`${at}.functionResponse.response`, "Invalid value: response is a Struct");
      if (response.parts !== undefined)
        listIn(response.parts).forEach((inner, i) => {
          media(inner, `${at}.functionResponse.parts[${i}]`, say);
        });
    }
  }
  if (inlineData !== undefined) blob(inlineData, at, say);
  if (fileData !== undefined) address(fileData, at, say);
}

/** In a result: bytes, or where they are. */
function media(value: unknown, at: string, say: Say): void {
  if (isObject(value) && value.fileData !== undefined) address(value.fileData, at, say);
  else blob(isObject(value) ? value.inlineData : undefined, at, say);
}

function address(value: unknown, at: string, say: Say): void {
  if (!isObject(value) || typeof value.fileUri !== "string" || !value.fileUri)
    say(at, "fileData needs a fileUri");
}

function blob(value: unknown, at: string, say: Say): void {
  if (!isObject(value) || typeof value.mimeType !== "string" || !value.mimeType.includes("/"))
    say(at, "inlineData needs a mimeType");
  else if (typeof value.data !== "string" || !/^[A-Za-z0-9+/]*={0,2}$/.test(value.data))
    say(at, "Invalid value: Base64 decoding failed");
}

function tools(value: unknown, say: Say): Set<string> {
  const names = new Set<string>();
  if (value === undefined) return names;
  if (!Array.isArray(value) || value.length === 0) say("tools", "an empty list of tools");
  listIn(value).forEach((tool, t) => {
    if (!isObject(tool) || tool.functionDeclarations === undefined) return;
    listIn(tool.functionDeclarations).forEach((declared, d) => {
      const at = `tools[${t}].function_declarations[${d}]`;
      if (!isObject(declared) || typeof declared.name !== "string" || !namePattern.test(declared.name)) {
        say(at, `* GenerateContentRequest.${at}.name: Invalid function name.`);
        return;
      }
      if (names.has(declared.name)) say(at, `Duplicate function declaration found: ${declared.name}`);
      names.add(declared.name);
      unknownNames(declared, new Set(["name", "description", "parameters", "parametersJsonSchema"]), at, say);
      if (declared.parameters !== undefined) {
        if (declared.parametersJsonSchema !== undefined)
          say(at, "parameters and parametersJsonSchema exclude each other");
        checkGoogleOpenapi(declared.parameters, `${at}.parameters`, say);
      } else if (declared.parametersJsonSchema !== undefined) {
        const schema = declared.parametersJsonSchema;
        if (!isObject(schema) || schema.type !== "object")
          say(at, "parameters_json_schema must be an object schema");
      }
    });
  });
  return names;
}

function toolConfig(value: unknown, names: ReadonlySet<string>, say: Say): void {
  if (value === undefined) return;
  const calling = objectIn(membersIn(value).functionCallingConfig);
  if (calling === undefined) return;
  if (names.size === 0) say("toolConfig", "Function calling config is set without function_declarations.");
  const { mode, allowedFunctionNames: allowed } = calling;
  if (mode !== undefined && !["AUTO", "ANY", "NONE", "VALIDATED"].includes(String(mode)))
    say("toolConfig.functionCallingConfig.mode", "Invalid value");
  if (allowed === undefined) return;
  if (mode !== "ANY" && mode !== "VALIDATED")
    say("toolConfig", "allowed_function_names should only be set when the function calling mode is ANY.");
  for (const name of listIn(allowed))
    if (!names.has(String(name)))
      say("toolConfig", `allowed_function_names contains ${String(name)}, which is not declared`);
}

function generationConfig(value: unknown, hasTools: boolean, rules: GoogleRules, say: Say): void {
  if (value === undefined) return;
  if (!isObject(value)) {
    say("generationConfig", "Invalid value");
    return;
  }
  if (listIn(value.stopSequences).length > 5)
    say("generationConfig.stopSequences", "The number of stop sequences must be 5 or fewer.");
  const thinking = membersIn(value.thinkingConfig);
  if (thinking.thinkingBudget !== undefined && thinking.thinkingLevel !== undefined)
    say(
      "generationConfig.thinkingConfig",
      "You can only set only one of thinking budget and thinking level.",
    );
  const schema = value.responseSchema ?? value.responseJsonSchema;
  if (schema !== undefined && value.responseMimeType !== "application/json")
    say("generationConfig", "Response schema needs the response mime type application/json.");
  if (value.responseSchema !== undefined)
    checkGoogleResponse(value.responseSchema, "generation_config.response_schema", say);
  if (rules.noSchemaWithTools === true && hasTools && value.responseMimeType === "application/json")
    say("generationConfig", "Function calling with a response mime type: 'application/json' is unsupported");
}

function unknownNames(value: JsonObject, known: ReadonlySet<string>, at: string, say: Say): void {
  for (const key of Object.keys(value))
    if (!known.has(key))
      say(
        at,
        `Invalid JSON payload received. Unknown name "${key}"${at === "" ? "" : ` at '${at}'`}: Cannot find field.`,
      );
}

function partsWith(turn: JsonObject, key: string): JsonObject[] {
  return objectsIn(turn.parts).filter((part) => part[key] !== undefined);
}
