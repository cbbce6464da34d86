// The room of changes: a run goes on under other code than it was begun with.
//
// What the model was told stays what it was (the prompt, the tools' definitions, the settings, the schema), so that the
// conversation goes on as one; what is code is today's (rules, hooks, what tools do and whether they ask), because there
// is no other. The turn that is open keeps its verdicts and its tools' facts. From the next run on everything is today's.

import { canonical, digest } from "./digest.ts";
import { RondoError } from "./errors.ts";
import type { CodeChange, Fact, RunOptions, ToolFacts } from "./loop/records.ts";
import { isSameModel } from "./loop/same-model.ts";
import type { Json } from "./message.ts";
import type { Resolved } from "./options.ts";
import { checkOutput } from "./output/structured.ts";
import type { Texts } from "./rules/texts.ts";
import { compileSchema } from "./schema.ts";

/** What differs between the options a run was begun with and today's. */
function changesBetween(was: RunOptions, is: RunOptions): CodeChange[] {
  const rules = (options: RunOptions): Named[] =>
    options.rules.map(({ name, version }) => ({ name, digest: String(version) }));
  const tools = (options: RunOptions): Named[] =>
    options.tools.map((tool) => ({ name: tool.definition.name, digest: toolDigest(tool) }));
  const models = (options: RunOptions): Named[] =>
    options.models.map((model) => ({ name: model.id, digest: nameOf([model.origin, model.facts]) }));
  const hooks = (options: RunOptions): Named[] => options.hooks.map((name) => ({ name, digest: "" }));
  return [
    ...differences("rule", rules(was), rules(is)),
    ...differences("tool", tools(was), tools(is)),
    ...differences("model", models(was), models(is)),
    ...differences("hook", hooks(was), hooks(is)),
    ...[...keysOf(was, is)].flatMap((name): CodeChange[] => {
      if (listed.has(name) || nameOf(was[name]) === nameOf(is[name])) return [];
      const how = was[name] === undefined ? "new" : is[name] === undefined ? "gone" : "changed";
      return [{ what: "option", name, how }];
    }),
  ];
}

/** The options a run goes on with, from where it was left. */
function goingOn(was: RunOptions, is: RunOptions): RunOptions {
  const today = new Map(is.tools.map((tool) => [tool.definition.name, tool]));
  const here = was.models.every((model) => is.models.some((one) => isSameModel(one, model)));
  const { compactor: _compactor, texts: _texts, ...kept } = was;
  return {
    ...kept,
    tools: was.tools.map((tool) => {
      const now = today.get(tool.definition.name);
      return now === undefined ? tool : { ...now, definition: tool.definition };
    }),
    // One that is gone cannot answer; what the others are called in the records must stay true.
    models: here ? was.models : is.models,
    hooks: is.hooks,
    rules: is.rules,
    ...(is.compactor === undefined ? {} : { compactor: is.compactor }),
    ...(is.texts === undefined ? {} : { texts: is.texts }),
  };
}

/**
 * What the record that takes a run over has to say about changes: nothing where there are none.
 * @throws RondoError `invalid_request` where today's options refuse to go on under any
 */
export function newsOf(
  session: string,
  was: RunOptions | undefined,
  { options, refusesChanges }: Pick<Resolved, "options" | "refusesChanges">,
): { changed?: CodeChange[]; options?: RunOptions } {
  const changed = was === undefined ? [] : changesBetween(was, options);
  if (was === undefined || changed.length === 0) return {};
  if (refusesChanges)
    throw new RondoError(
      "invalid_request",
      `session ${session} has a run that was begun under other code, and onChanged is "refuse": ${changed.map(changeText).join("; ")}`,
    );
  return { changed, options: goingOn(was, options) };
}

/** Checks a typed output against what the model was told, which today's schema may not be. */
export function checkTold(
  text: string,
  told: RunOptions | undefined,
  { options, checkOutput: check }: Pick<Resolved, "options" | "checkOutput">,
): Promise<Fact & { type: "output_checked" }> {
  const schema = told?.output?.schema;
  if (schema === undefined || canonical(schema) === canonical(options.output?.schema)) return check(text);
  return checkOutput(text, compileSchema(schema, "output", true, "any"), {});
}

/** The name of all that the loop knows of a tool: the same facts, the same name. */
export const toolDigest = (tool: ToolFacts): string => nameOf(tool);

/** A change in words: `the tool search is gone`. */
export function changeText({ what, name, how }: CodeChange): string {
  const verb = { gone: "is gone", new: "is new", changed: "has changed", moved: "stands elsewhere" }[how];
  return `the ${what} ${name} ${verb}`;
}

const listed = new Set<keyof RunOptions>(["rules", "tools", "models", "hooks"]);

const keysOf = (was: RunOptions, is: RunOptions): Set<keyof RunOptions> =>
  new Set([...Object.keys(was), ...Object.keys(is)] as (keyof RunOptions)[]);

interface Named {
  name: string;
  digest: string;
}

function differences(what: CodeChange["what"], was: readonly Named[], is: readonly Named[]): CodeChange[] {
  const changes: CodeChange[] = [];
  const find = (list: readonly Named[], name: string): Named | undefined =>
    list.find((one) => one.name === name);
  for (const { name, digest } of was) {
    const now = find(is, name);
    if (now === undefined) changes.push({ what, name, how: "gone" });
    else if (now.digest !== digest) changes.push({ what, name, how: "changed" });
  }
  for (const { name } of is) if (find(was, name) === undefined) changes.push({ what, name, how: "new" });
  // The order tells only where it decides: which rule is asked first, which model comes next.
  if (what !== "rule" && what !== "model") return changes;
  const before = was.map(({ name }) => name).filter((name) => find(is, name) !== undefined);
  const after = is.map(({ name }) => name).filter((name) => find(was, name) !== undefined);
  const first = before.findIndex((name, at) => after[at] !== name);
  if (first >= 0) changes.push({ what, name: before[first] as string, how: "moved" });
  return changes;
}

/** As a journal would give it back: what is undefined is not there. */
const nameOf = (value: unknown): string =>
  digest(canonical(JSON.parse(JSON.stringify(value ?? null)) as Json));

const samples: { readonly [name in keyof Texts]: Parameters<Texts[name]> } = {
  unknownTool: ["a", ["b"], "c"],
  invalidArgs: ["a", "b"],
  badJson: ["a", "b", "c"],
  threw: ["a", "b"],
  masked: ["a"],
  truncatedCall: ["a"],
  tooManyCalls: ["a", 7],
  denied: ["a"],
  permissionFailed: ["a"],
  skippedForMessage: ["a"],
  skippedForEnd: ["a"],
  notExecuted: ["a"],
  aborted: ["a"],
  timeout: ["a", 7],
  outcomeUnknown: ["a"],
  limitRefusal: ["a", "b"],
  landing: ["a"],
  landed: ["a", "b"],
  emptyAnswer: [],
  malformedCall: ["a"],
  finalOutput: ["a"],
  compacted: [],
  childLanded: ["a"],
  childFailed: ["a", "b", "c", "d"],
  outputSchema: ["a"],
};

/** The name of the words the loop says, by what they say. */
export function textsDigest(texts: Texts): string {
  const said = Object.entries(samples).map(([name, args]) => {
    try {
      return `${name}: ${String((texts[name as keyof Texts] as (...args: unknown[]) => unknown)(...args))}`;
    } catch {
      // Words that fail at a sample may still serve where they are needed.
      return `${name}!`;
    }
  });
  return digest(said.join("\n"));
}
