// The room of the answers: what a model may say to an agent, made from the agent's own tools.

import { type AssistantMessage, type Json, type JsonObject, RondoError, type Tool } from "@rondo/core";
import { checkArgs } from "@rondo/core/driving";
import { isObject, listIn, membersIn } from "../json.ts";
import { flatten, ScriptedAnswer } from "../scripted/play.ts";
import { badArgs, call, empty, refuse, say, stop, type Turn } from "../scripted/turns.ts";
import { origin } from "./checked-options.ts";

/** A tool, with arguments that a model may call it with. Default: one set, made from its schema. */
export interface CheckedTool {
  tool: Tool;
  examples: readonly JsonObject[];
}

/** What a model may answer. */
export interface World {
  /** Each with its name. The first holds no calls. */
  answers: readonly (readonly [name: string, message: AssistantMessage])[];
  /** Resources a call touches. */
  keysOf(name: string, args: JsonObject): string[] | null;
}

const cutOff = badArgs("write", '{"a":', { error: "cut off" });

const ownTurns: readonly [name: string, turn: Turn][] = [
  ["text", say("done")],
  ["one call", call("read")],
  ["a write", [say("writing"), call("write")]],
  ["two calls", [call("read"), call("write")]],
  ["two reads", [call("read"), call("read")]],
  ["a guarded call", [call("guarded"), call("read")]],
  ["an unknown tool", call("nowhere")],
  ["malformed arguments", badArgs("read", '{"a":', { error: "not valid JSON" })],
  ["four calls", [call("read"), call("read"), call("read"), call("write")]],
  ["cut-off text", [say("so far"), stop("max_tokens")]],
  ["a cut-off call", [cutOff, stop("max_tokens")]],
  ["words and a cut-off call", [say("so far"), cutOff, stop("max_tokens")]],
  ["a malformed call", stop("malformed_call")],
  ["nothing", empty()],
  ["a refusal", refuse("no")],
  ["a pause", [say("working"), stop("pause")]],
];

const answered = ([name, turn]: readonly [string, Turn]): [string, AssistantMessage] => [
  name,
  answerOf(turn),
];

/** The world of the loop's own check. */
export const ownWorld: World = { answers: ownTurns.map(answered), keysOf: () => null };

/** A model of few words: it says that it is done, or makes one call. */
export const plainWorld: World = { ...ownWorld, answers: ownWorld.answers.slice(0, 2) };

/** What a model may answer that has these tools, and more of the user's own. */
export function worldOf(tools: readonly CheckedTool[], more: readonly Turn[]): World {
  const all = tools.flatMap(({ tool, examples }) =>
    examples.map((args) => ({ name: tool.name, args, words: `${tool.name} ${JSON.stringify(args)}` })),
  );
  const [first] = all;
  const turns: [name: string, turn: Turn][] = [
    ["a text", say("done")],
    ...all.map(({ name, args, words }): [string, Turn] => [`a call: ${words}`, call(name, args)]),
    ...all.flatMap(({ name, args, words }, at): [string, Turn][] => {
      const other = all[at + 1] ?? all[0];
      return other === undefined
        ? []
        : [[`two calls: ${words} and ${other.words}`, [call(name, args), call(other.name, other.args)]]];
    }),
    ["a call of an unknown tool", call("nowhere")],
    ...(first === undefined
      ? []
      : ([
          [`a call with malformed arguments: ${first.name}`, badArgs(first.name, '{"a":')],
          [`a text and a call: ${first.words}`, [say("so far"), call(first.name, first.args)]],
          [`a cut-off call: ${first.name}`, [badArgs(first.name, '{"a":'), stop("max_tokens")]],
        ] as [string, Turn][])),
    ["a cut-off text", [say("so far"), stop("max_tokens")]],
    ["nothing", empty()],
    ["a refusal", refuse("no")],
    ["a pause", [say("working"), stop("pause")]],
    ...more.map((turn, at): [string, Turn] => [`answer ${at + 1} of yours: ${wordsOf(turn)}`, turn]),
  ];
  const byName = new Map(tools.map(({ tool }) => [tool.name, tool]));
  const known = new Map<JsonObject, string[] | null>();
  return {
    answers: turns.map(answered),
    keysOf(name, args) {
      const tool = byName.get(name);
      if (tool?.keys === undefined) return null;
      let keys = known.get(args);
      if (keys === undefined) {
        // Of what the schema makes of the arguments, as in a run; nobody waits here for one that takes its time.
        const check = checkArgs(tool, args);
        keys = check instanceof Promise || !check.ok ? null : check.keys;
        known.set(args, keys);
      }
      return keys;
    },
  };
}

/** The tool with its examples. @throws RondoError `invalid_request` for an example the tool does not take */
export function checkedTool(given: Tool | CheckedTool): CheckedTool {
  const { tool, examples } =
    "tool" in given
      ? given
      : { tool: given, examples: [sampleOf(given.definition.inputSchema) as JsonObject] };
  for (const example of examples) {
    const checked = tool.check(structuredClone(example));
    if (checked instanceof Promise) {
      // Nobody waits for it here, and nothing is to come of what it says.
      checked.catch(() => {});
      continue;
    }
    if (checked.ok) continue;
    throw new RondoError(
      "invalid_request",
      `modelCheck: tool ${tool.name} does not take ${JSON.stringify(example)}: ${checked.error.replace(/\.$/, "")}. ` +
        "Give { tool, examples } with arguments that it takes.",
    );
  }
  return { tool, examples };
}

/** A value that a schema should take: what is required, and no more. */
function sampleOf(schema: Json | undefined): Json {
  if (!isObject(schema)) return "x";
  const { type, properties, required, minimum, enum: values, const: only } = schema;
  if (only !== undefined) return only;
  if (Array.isArray(values) && values[0] !== undefined) return values[0];
  switch (Array.isArray(type) ? type[0] : type) {
    case "object": {
      const known = membersIn(properties);
      return Object.fromEntries(
        listIn(required).map((name) => [String(name), sampleOf(known[String(name)])]),
      );
    }
    case "array":
      return [];
    case "number":
    case "integer":
      return typeof minimum === "number" ? minimum : 1;
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return "x";
  }
}

/** The answer a turn of the scripted model makes, when it is made of what stands in an answer. */
export function answerOf(turn: Turn): AssistantMessage {
  const answer = new ScriptedAnswer(origin, () => "same");
  for (const act of flatten(turn))
    switch (act.act) {
      case "part":
      case "call":
        answer.open(act);
        answer.close();
        break;
      case "stop":
        answer.stop = act;
        break;
      case "usage":
        answer.usage = act.usage;
        break;
      default:
        throw new RondoError(
          "invalid_request",
          `modelCheck: an answer is made of say, think, refuse, part, call, calls, badArgs, stop and usage, not of ${act.act}: ` +
            "failures, aborts and time are the world's own",
        );
    }
  return answer.message({ inputTokens: 1, outputTokens: 1 });
}

function wordsOf(turn: Turn): string {
  const { content, stop } = answerOf(turn);
  const words = content.map((part) =>
    part.type === "tool_call" ? `a call of ${part.name}` : "text" in part ? part.text : part.type,
  );
  return [...words, ...(["end_turn", "tool_use", "refusal"].includes(stop.kind) ? [] : [stop.kind])].join(
    ", ",
  );
}
