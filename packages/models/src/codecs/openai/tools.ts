// The room of tools as both OpenAI protocols list them: as text, kept by identity, so that an unchanged list costs nothing.

import { type Json, type JsonObject, RondoError, type ToolDefinition } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { jsonOf } from "../../json-values.ts";
import type { Warning } from "./settings.ts";

export class ToolTexts {
  readonly #target: Target;
  readonly #most: number;
  readonly #form: (tool: ToolDefinition, warnings: Warning[]) => JsonObject;
  readonly #one = new WeakMap<ToolDefinition, string>();
  #last: { list: readonly ToolDefinition[]; json: string } | undefined;

  /**
   * @param most tools that a request may have; 0 is any number
   * @param form a tool as the protocol has it
   */
  constructor(target: Target, most: number, form: (tool: ToolDefinition, warnings: Warning[]) => JsonObject) {
    this.#target = target;
    this.#most = most;
    this.#form = form;
  }

  /**
   * The items of a list of tools, without its brackets.
   * @param own the caller's own, which are sent as they are
   * @throws RondoError `capability` for more tools than the server takes
   */
  items(tools: readonly ToolDefinition[], own: readonly Json[], warnings: Warning[]): string {
    const count = tools.length + own.length;
    if (this.#most > 0 && count > this.#most) {
      const { provider, model } = this.#target.origin;
      throw new RondoError(
        "capability",
        `${count} tools are more than the ${this.#most} that ${provider}/${model} takes: offer fewer, or raise maxTools if the server takes more`,
      );
    }
    if (this.#last?.list !== tools)
      this.#last = { list: tools, json: tools.map((tool) => this.#text(tool, warnings)).join(",") };
    const last = this.#last.json;
    if (own.length === 0) return last;
    return [...(last === "" ? [] : [last]), ...own.map(jsonOf)].join(",");
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
