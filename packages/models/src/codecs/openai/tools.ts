// The room of tools as both OpenAI protocols list them: as text, cached by identity, so that an unchanged list costs
// nothing.

import {
  type Json,
  type JsonObject,
  type ModelRequest,
  RondoError,
  type Settings,
  type ToolDefinition,
} from "@rondo/core";
import type { Target } from "../../codec.ts";
import { jsonOf, listIn } from "../../json-values.ts";
import type { Warning } from "../warn.ts";
import { unsupported } from "./settings.ts";

/** A tool's description that is too long, in OpenAI's words; Azure and older models take 1,024 characters. */
const descriptionTooLong: RegExp =
  /\btools\[\d+\]\.(?:function\.)?description[`'"\\]*: string too long\b[^{}]{0,40}\bmaximum length (\d+)/i;

/** The most characters that a description may have, if a refusal says so. */
export function longestDescriptionIn(words: string): number | undefined {
  const [, most] = descriptionTooLong.exec(words) ?? [];
  return most === undefined ? undefined : Number(most);
}

/** A tool's description that fits; an ellipsis shows that it was cut. @param most in characters; 0 means any number */
export function shortDescription(name: string, told: string, most: number, warnings: Warning[]): string {
  if (most === 0 || told.length <= most) return told;
  const message = `the description of ${name} was cut to the ${most} characters that are taken here`;
  warnings.push({ code: "adjusted_setting", message });
  // Not between the halves of a character.
  return `${told.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** What a server accepts of tools. */
export interface ToolLimits {
  /** The most tools that a request may have; 0 means any number. */
  maxTools: number;
  /** Body fields that it refuses. */
  omit: readonly string[];
}

/** The caller's own tools, which are sent unchanged. */
export const ownTools = ({ settings }: ModelRequest, { origin }: Target): Json[] =>
  listIn(settings.providerOptions?.[origin.provider]?.tools);

/** The members of a body that follow the tools, each with a comma before it. */
export function choiceMembers(
  choice: Json | undefined,
  { parallelToolCalls: parallel }: Settings,
  { omit }: ToolLimits,
  target: Target,
  warnings: Warning[],
): string {
  const chosen = choice === undefined ? "" : `,"tool_choice":${jsonOf(choice)}`;
  if (parallel === undefined) return chosen;
  if (!omit.includes("parallel_tool_calls")) return `${chosen},"parallel_tool_calls":${parallel}`;
  unsupported("parallel_tool_calls", target, warnings);
  return chosen;
}

export class ToolTexts {
  readonly #target: Target;
  readonly #limits: ToolLimits;
  readonly #form: (tool: ToolDefinition, warnings: Warning[]) => JsonObject;
  readonly #one = new WeakMap<ToolDefinition, string>();
  #last: { list: readonly ToolDefinition[]; json: string } | undefined;

  /** @param form a tool in the protocol's form */
  constructor(
    target: Target,
    limits: ToolLimits,
    form: (tool: ToolDefinition, warnings: Warning[]) => JsonObject,
  ) {
    this.#target = target;
    this.#limits = limits;
    this.#form = form;
  }

  /**
   * The items of the list of tools, without its brackets.
   * @throws RondoError `capability` for more tools than the server accepts
   */
  items(tools: readonly ToolDefinition[], own: readonly Json[], warnings: Warning[]): string {
    this.#check(tools.length + own.length);
    if (this.#last?.list !== tools)
      this.#last = { list: tools, json: tools.map((tool) => this.#text(tool, warnings)).join(",") };
    const last = this.#last.json;
    if (own.length === 0) return last;
    return [...(last === "" ? [] : [last]), ...own.map(jsonOf)].join(",");
  }

  #check(count: number): void {
    const { maxTools, omit } = this.#limits;
    const { provider, model } = this.#target.origin;
    if (omit.includes("tools"))
      throw new RondoError(
        "capability",
        `${provider}/${model} takes no tools: use another model for this task, or let this one call them in text`,
      );
    if (maxTools > 0 && count > maxTools)
      throw new RondoError(
        "capability",
        `${count} tools are more than the ${maxTools} that ${provider}/${model} takes: offer fewer, or raise maxTools if the server takes more`,
      );
  }

  /** Tools as the items of a list in the middle of a conversation. */
  told(tools: readonly ToolDefinition[], warnings: Warning[]): string {
    return tools.map((tool) => this.#text(tool, warnings)).join(",");
  }

  #text(tool: ToolDefinition, warnings: Warning[]): string {
    let json = this.#one.get(tool);
    if (json === undefined) {
      json = jsonOf(this.#form(tool, warnings));
      this.#one.set(tool, json);
    }
    return json;
  }
}
