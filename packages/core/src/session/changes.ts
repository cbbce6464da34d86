// The room of changes: a run is resumed under code that differs from the code it began with.
//
// What the model was told stays (the prompt, the tools' definitions, the settings, the schema), so that the
// conversation stays consistent. Code is the current code (rules, hooks, what tools do and whether they ask), because there
// is no other. The open turn keeps its verdicts and what its tools declared. From the next run on everything is current.

import { invalidRequest } from "../errors.ts";
import { canonical } from "../json/digest.ts";
import { isSameModel } from "../loop/folding/same-model.ts";
import type { CodeChange, Fact } from "../loop/records.ts";
import type { RunOptions } from "../loop/run-options.ts";
import type { Resolved } from "../options/options.ts";
import { compileSchema } from "../schema.ts";
import { type ValueChange, valueChange } from "./request-changes.ts";

/** What has changed, with the old and the new value. */
export interface OptionChange extends CodeChange, Pick<ValueChange, "was" | "is"> {}

/** The differences between the options that a run began with and the current ones. */
export function optionChanges(was: RunOptions, is: RunOptions): OptionChange[] {
  return [
    ...differences("rule", rulesOf(was), rulesOf(is)),
    ...differences("tool", toolsOf(was), toolsOf(is)),
    ...differences("model", modelsOf(was), modelsOf(is)),
    ...differences("hook", hooksOf(was), hooksOf(is)),
    ...differences("option", othersOf(was), othersOf(is)),
  ];
}

/** The options with which a run is resumed. */
function goingOn(was: RunOptions, is: RunOptions): RunOptions {
  const today = new Map(is.tools.map((tool) => [tool.definition.name, tool]));
  const here = was.models.every((model) => is.models.some((one) => isSameModel(one, model)));
  // A model that is gone cannot answer. The others keep their indices, because records refer to them by index.
  const { models, fallbacks } = here ? was : is;
  const { compactor: _compactor, texts: _texts, fallbacks: _fallbacks, ...kept } = was;
  return {
    ...kept,
    tools: was.tools.map((tool) => {
      const now = today.get(tool.definition.name);
      return now === undefined ? tool : { ...now, definition: tool.definition };
    }),
    models,
    ...(fallbacks === undefined ? {} : { fallbacks }),
    hooks: is.hooks,
    rules: is.rules,
    ...(is.compactor === undefined ? {} : { compactor: is.compactor }),
    ...(is.texts === undefined ? {} : { texts: is.texts }),
  };
}

/**
 * What the record `opened` says about changes: nothing if there are none.
 * @throws RondoError `invalid_request` if there are changes and `onChanged` is `refuse`
 */
export function newsOf(
  session: string,
  was: RunOptions | undefined,
  { options, refusesChanges }: Pick<Resolved, "options" | "refusesChanges">,
): { changed?: CodeChange[]; options?: RunOptions } {
  const changed =
    was === undefined ? [] : optionChanges(was, options).map(({ what, name, how }) => ({ what, name, how }));
  if (was === undefined || changed.length === 0) return {};
  if (refusesChanges)
    throw invalidRequest(
      `session ${session} has a run that was begun under other code, and onChanged is "refuse": ${changed.map(changeText).join("; ")}`,
    );
  return { changed, options: goingOn(was, options) };
}

/** Checks a typed output against the schema that the model was told, which may not be the current one. */
export function checkTold(
  text: string,
  told: RunOptions | undefined,
  { options, checkOutput: check }: Pick<Resolved, "options" | "checkOutput">,
): Promise<Fact & { type: "output_checked" }> {
  const schema = told?.output?.schema;
  if (schema === undefined || canonical(schema) === canonical(options.output?.schema)) return check(text);
  return check(text, compileSchema(schema, "output", true, "any"));
}

/** A change in words: `the tool search is gone`. */
export function changeText({ what, name, how }: CodeChange): string {
  const verb = { gone: "is gone", new: "is new", changed: "has changed", moved: "stands elsewhere" }[how];
  return `the ${what} ${name} ${verb}`;
}

/** Values by their names, in their order. */
type Named = ReadonlyMap<string, unknown>;

const rulesOf = ({ rules }: RunOptions): Named =>
  new Map(rules.map(({ name, version }) => [name, `version ${version}`]));
const toolsOf = ({ tools }: RunOptions): Named => new Map(tools.map((tool) => [tool.definition.name, tool]));
const modelsOf = ({ models }: RunOptions): Named =>
  new Map(models.map(({ id, origin, facts }) => [id, { origin, facts }]));
const hooksOf = ({ hooks }: RunOptions): Named => new Map(hooks.map((name) => [name, true]));

/** The options that are not lists; each setting counts as one. */
function othersOf({ rules: _r, tools: _t, models: _m, hooks: _h, settings, ...rest }: RunOptions): Named {
  const each = Object.entries(settings).map(([name, value]) => [`settings.${name}`, value] as const);
  return new Map<string, unknown>([...Object.entries(rest), ...each]);
}

function differences(what: CodeChange["what"], was: Named, is: Named): OptionChange[] {
  const changes = [...new Set([...was.keys(), ...is.keys()])].flatMap((name) =>
    valueChange(name, was.get(name), is.get(name)).map(({ what: _name, ...sides }): OptionChange => {
      const how = sides.was === undefined ? "new" : sides.is === undefined ? "gone" : "changed";
      return { what, name, how, ...sides };
    }),
  );
  // The order counts as a change only where it decides something: which rule is asked first, which model comes next.
  if (what !== "rule" && what !== "model") return changes;
  const before = [...was.keys()].filter((name) => is.has(name));
  const after = [...is.keys()].filter((name) => was.has(name));
  const moved = before.find((name, at) => after[at] !== name);
  return moved === undefined
    ? changes
    : [...changes, { what, name: moved, how: "moved", was: before, is: after }];
}
