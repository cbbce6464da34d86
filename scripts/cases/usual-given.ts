// The room of circumstance names: normalizes where cases put their circumstances, and what they call them.
//
// An option may be among the circumstances, or in a group of its own (`model_flags`); a circumstance may be among the
// options. Each is moved to its one place before anything is checked, so that unknown names are still refused.

type Loose = { [member: string]: unknown };

const given: readonly (readonly [RegExp, string])[] = [
  [/^(?:system_prompt|instructions)$/, "system"],
  [/^(?:messages|conversation)$/, "history"],
  [/^(?:task|input|user|user_message)$/, "prompt"],
  [/^(?:files|filesystem)$/, "fs"],
  [/^(?:(?:response|json|structured|result)_schema)$/, "output_schema"],
  [/^(?:estimated_(?:input_)?tokens|prompt_tokens_estimate)$/, "estimated_prompt_tokens"],
];

const behaviours: readonly (readonly [RegExp, string])[] = [
  [/^(?:error|throws_error|returns_error)$/, "throws"],
  [/^(?:rejects_with|throws_async)$/, "rejects"],
  [/^(?:hangs|never_resolves|never_returns|never)$/, "never_settles"],
  [/^(?:after_ms|settles_after_ms|returns_after|sleep_ms|duration_ms|takes_ms)$/, "returns_after_ms"],
  [/^(?:value|result|output|returns_text)$/, "returns"],
  [/^(?:sequence|returns_in_turn)$/, "returns_sequence"],
  [/^(?:echoes|(?:echo|returns)_(?:args|arguments|input))$/, "echo"],
];

const actions: readonly (readonly [RegExp, string])[] = [
  [/^(?:with|abort_reason|signal_reason)$/, "reason"],
  [/^(?:message|prompt)$/, "text"],
  [/^(?:file|name)$/, "path"],
  [/^files$/, "fs"],
  [/^(?:args|input)$/, "arguments"],
];

/** Options grouped under a name of their own. */
const group: RegExp =
  /^(?:(?:model|provider|run|agent|server|loop)_)?(?:flags|config|capabilities|limits|policy|timeouts|quirks|settings|options)$/;

/** Renames members in place. */
function named(data: Loose, names: readonly (readonly [RegExp, string])[]): void {
  for (const [name, value] of Object.entries(data)) {
    const usual = names.find(([other]) => other.test(name))?.[1];
    if (usual === undefined || Object.hasOwn(data, usual)) continue;
    delete data[name];
    data[usual] = value;
  }
}

const isObject = (value: unknown): value is Loose =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Flags by their names alone. */
const isFlags = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((flag) => typeof flag === "string");

/** Normalizes the names of what a case begins with and does. @param known members of `given` */
export function usualGiven(one: Loose, known: readonly string[]): void {
  for (const action of listIn(one.actions)) named(action, actions);
  const start = one.given;
  if (!isObject(start)) return;
  named(start, given);
  const options = isObject(start.options) ? start.options : {};
  for (const [name, value] of Object.entries(start)) {
    if (known.includes(name) || name.startsWith("_")) continue;
    delete start[name];
    options[name] = value;
  }
  for (const [name, value] of Object.entries(options)) {
    if (group.test(name) && (isObject(value) || isFlags(value))) {
      delete options[name];
      Object.assign(options, isObject(value) ? value : Object.fromEntries(value.map((flag) => [flag, true])));
    } else if (circumstances.has(name) && !Object.hasOwn(start, name)) {
      delete options[name];
      start[name] = value;
    }
  }
  if (Object.keys(options).length > 0) start.options = options;
  for (const { behaviour } of listIn(start.tools)) if (isObject(behaviour)) named(behaviour, behaviours);
}

/** Circumstances that are no options, wherever they are. */
const circumstances: ReadonlySet<string> = new Set([
  "system",
  "model",
  "prompt",
  "output_schema",
  "api_key",
  "estimated_prompt_tokens",
  "pinned_tokens",
]);

const listIn = (value: unknown): Loose[] => (Array.isArray(value) ? value.filter(isObject) : []);
