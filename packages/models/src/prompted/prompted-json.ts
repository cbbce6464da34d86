// The room of tools for a model that has none: calls and results travel as JSON in its texts (BEHAVIOUR A24 to A27).
//
// The protocol itself (`text-protocol.ts`) is loaded on the first call: those who only use models with tools never load it.

import type { AssistantMessage, Model, ModelFacts, ModelIo, ModelRequest, Origin } from "@rondo/core";
import { checkGiven, flag, having, membersOf, oneOf, text } from "@rondo/core/checks";
import { checkInner } from "../inner-model.ts";
import { loadOnce } from "../load-once.ts";
import type { PromptedOptions, TextProtocol } from "./text-protocol.ts";

export type { PromptedOptions };

const protocol = loadOnce(() => import("./text-protocol.ts"));

const optionChecks = membersOf<PromptedOptions>({
  mode: oneOf("tolerant", "strict"),
  neutralise: flag,
  startsInThought: flag,
  constrain: flag,
  id: text,
  origin: having("an origin (api, provider, model)", { api: text, provider: text, model: text }),
});

/**
 * Gives tools to a model that has none: any model that answers in text will do.
 * @throws RondoError `invalid_request` if `model` is not a model, or naming the option that cannot be used
 */
export function promptedJson(model: Model, options: PromptedOptions = {}): Model {
  checkInner(model, "promptedJson");
  checkGiven(optionChecks, options, "promptedJson");
  return new PromptedModel(model, options);
}

/**
 * The tolerant protocol describes a schema in the prompt, which is as native as anything this model is given. The strict
 * protocol has no place for one.
 */
function outputOf({ facts }: Model, { mode }: PromptedOptions): NonNullable<ModelFacts["output"]> {
  if (mode !== "strict") return "native";
  return facts?.output === "native" || facts?.output === "native_without_tools" ? facts.output : "none";
}

class PromptedModel implements Model {
  readonly id: string;
  readonly origin: Origin;
  readonly facts: ModelFacts;
  readonly clocks?: NonNullable<Model["clocks"]>;
  readonly #model: Model;
  readonly #options: PromptedOptions;
  #protocol: TextProtocol | undefined;

  constructor(model: Model, options: PromptedOptions) {
    this.id = options.id ?? model.id;
    this.origin = options.origin ?? { ...model.origin, api: "prompted-json" };
    if (model.clocks !== undefined) this.clocks = model.clocks;
    this.#model = model;
    this.#options = options;
    this.facts = { ...model.facts, tools: true, output: outputOf(model, options) };
  }

  async call(request: ModelRequest, io: ModelIo): Promise<AssistantMessage> {
    const { TextProtocol } = await protocol();
    this.#protocol ??= new TextProtocol(this, this.#model, this.#options);
    return this.#protocol.call(request, io);
  }
}
