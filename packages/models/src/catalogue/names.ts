// The room of model names: the names under which one model is known at one provider.
//
// Dates, regions and versions vary, but the model is the same. A name is tried as it is, then without each of these in
// turn. A variant that may be billed differently still identifies the model, but not its price.

/** A row, and whether its price applies to the requested name. */
export interface Found {
  row: string;
  exactPrice: boolean;
}

/** Looks up a name, and every name that it may be an extension of, among a provider's rows. */
export function resolveIn(
  provider: string,
  model: string,
  rowOf: (name: string) => string | undefined,
): Found | undefined {
  for (const { name, exactPrice } of namesOf(provider, model)) {
    const row = rowOf(name);
    if (row !== undefined) return { row, exactPrice };
  }
  return undefined;
}

interface Name {
  name: string;
  exactPrice: boolean;
}

function namesOf(provider: string, model: string): Name[] {
  const names: Name[] = [];
  const add = (name: string, exactPrice: boolean): void => {
    if (name !== "" && !names.some((known) => known.name === name)) names.push({ name, exactPrice });
  };
  const all = (step: (name: string) => string, samePrice: boolean = true): void => {
    for (const { name, exactPrice } of [...names]) {
      const next = step(name);
      if (next !== name) add(next, exactPrice && samePrice);
    }
  };
  add(model, true);
  if (provider === "google" || provider === "vertex") {
    // `models/gemini-…`, `projects/…/publishers/google/models/gemini-…`, and Vertex's `@20250929` or `@default`.
    all((name) => name.replace(/^(?:.*\/)?models\//, ""));
    all((name) => name.replace(/@(?:default|latest|\d+)$/, ""));
    all((name) => name.replace(/-0\d\d$/, ""));
  }
  if (provider === "bedrock") {
    // An inference profile is billed by its region; without a row of its own its price is not known.
    all((name) => name.replace(/^arn:[^/]+\/(?=[a-z0-9-]+\.)/, ""));
    all((name) => name.replace(/:\d+(?::\d+k)?$/, ""));
    all((name) => name.replace(/-v\d+$/, ""));
    all((name) => (/-v\d/.test(name) ? name : `${name}-v1`));
    all((name) => (/-v\d+$/.test(name) ? `${name}:0` : name));
  }
  all((name) => name.replace(/-20\d\d(?:\d{4}|-\d\d-\d\d)(?=$|-v\d|:)/, ""));
  if (provider === "bedrock") all((name) => name.replace(regions, ""), false);
  // OpenRouter's `:nitro`, `:online` and the like. A model that is free has a row of its own.
  if (provider === "openrouter") all((name) => name.replace(/:(?!free$)[a-z]+$/, ""), false);
  return names;
}

const regions = /^(?:us|eu|apac|ap|au|jp|ca|in|sa|me|af|global|us-gov)\.(?=[a-z0-9-]+\.)/;

/** The same Claude under Anthropic's own name, at providers that resell it; undefined for any other model. */
export function anthropicName(provider: string, model: string): string | undefined {
  if (provider !== "bedrock" && provider !== "vertex") return undefined;
  return /(?:^|[./])(claude-[a-z0-9-]+?)(?:-v\d+)?(?:[@:].*)?$/.exec(model)?.[1];
}
