// The room of Claude's models: what each accepts, read from its name.
//
// The protocol stayed the same, but its rules change from model to model: how thinking is requested, whether it can be off,
// whether sampling may be set, whether a tool may be forced. An unknown name gets what most servers accept. `Target.compat`
// can override any trait.

import type { Target } from "../../codec.ts";

export interface Traits {
  /** How thinking is requested: not at all (`none`), by a `budget`, by either (`both`), or by effort alone (`adaptive`). Default, as of all these: by its name. */
  thinking: "none" | "budget" | "both" | "adaptive";
  /** Whether it has the level `xhigh` of effort, which came with 4.7. */
  xhigh: boolean;
  /** How thinking is turned off: by leaving the member out (`omit`), by its type `disabled` or `between_tools`, or not at all (`never`). */
  off: "omit" | "disabled" | "between_tools" | "never";
  /** Temperature, top-p and top-k: freely (`free`), temperature or top-p but not both (`one`), or never (`none`). */
  sampling: "free" | "one" | "none";
  /** Whether the model can be forced to call a tool. */
  forcedTools: boolean;
  /** Whether thinking text stays hidden unless `display` asks for it. */
  hidesThinking: boolean;
  /** Whether its output can be constrained to a JSON Schema. */
  output: boolean;
  /** The default output limit, in tokens. */
  maxTokens: number;
}

interface Version {
  family: string;
  /** 100 × major + minor. */
  number: number;
}

/** The model's family and version; undefined if the name is not a Claude's. */
export function claudeVersion(model: string): Version | undefined {
  const found =
    /claude-(?:(\d)(?:[-.](\d))?-)?(opus|sonnet|haiku|fable|mythos|instant)(?:-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d))?/.exec(
      model.toLowerCase(),
    );
  if (found === null) return undefined;
  const [, before, beforeMinor, family = "", after, afterMinor] = found;
  if (family === "instant") return { family, number: 100 };
  // A preview without a number came between 4.6 and 4.7.
  if (before === undefined && after === undefined) return { family, number: 406 };
  return { family, number: 100 * Number(before ?? after) + Number((before ? beforeMinor : afterMinor) ?? 0) };
}

export function traitsOf(target: Target): Traits {
  return { ...ownTraits(target.origin.model), ...told(target.compat) };
}

function ownTraits(model: string): Traits {
  const version = claudeVersion(model);
  if (version === undefined)
    return {
      thinking: "budget",
      xhigh: true,
      off: "omit",
      sampling: "free",
      forcedTools: true,
      hidesThinking: false,
      output: false,
      maxTokens: 8192,
    };
  const { family, number } = version;
  return {
    thinking: number < 307 ? "none" : number < 406 ? "budget" : number === 406 ? "both" : "adaptive",
    xhigh: number >= 407,
    off: offWord(family, number),
    sampling: number >= 407 ? "none" : number >= 401 ? "one" : "free",
    forcedTools: number < 501 || family === "haiku",
    hidesThinking: number >= 407,
    output: number >= 405 || (family === "opus" && number === 401),
    maxTokens: number >= 307 ? 32_000 : number >= 305 ? 8192 : 4096,
  };
}

function offWord(family: string, number: number): Traits["off"] {
  if (number < 500) return "omit";
  if (family === "fable" || family === "mythos") return "never";
  if (number >= 505 && family === "sonnet") return "between_tools";
  return number >= 505 && family === "opus" ? "never" : "disabled";
}

export const traitTypes: { [K in keyof Traits]: readonly string[] } = {
  thinking: ["none", "budget", "both", "adaptive"],
  xhigh: ["boolean"],
  off: ["omit", "disabled", "between_tools", "never"],
  sampling: ["free", "one", "none"],
  forcedTools: ["boolean"],
  hidesThinking: ["boolean"],
  output: ["boolean"],
  maxTokens: ["number"],
};

function told(compat: Target["compat"]): Partial<Traits> {
  if (compat === undefined) return {};
  const traits: Record<string, unknown> = {};
  for (const [name, allowed] of Object.entries(traitTypes)) {
    const value = compat[name];
    if (typeof value === "string" ? allowed.includes(value) : allowed.includes(typeof value))
      traits[name] = value;
  }
  return traits as Partial<Traits>;
}
