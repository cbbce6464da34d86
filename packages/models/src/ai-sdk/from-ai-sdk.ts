// The room of a foreign model: any language model of the AI SDK as a `Model`.
//
// The code that calls it is loaded on the first call (`foreign-calls.ts`): those who have no such model never load it.

import {
  type AssistantMessage,
  type Model,
  type ModelFacts,
  type ModelIo,
  type ModelRequest,
  type Origin,
  RondoError,
} from "@rondo/core";
import {
  anything,
  callable,
  checkGiven,
  flag,
  having,
  listOf,
  membersOf,
  object,
  ownMember,
  text,
} from "@rondo/core/checks";
import { withOutputAsText } from "../answer/output-in-reasoning.ts";
import { factsOf } from "../catalogue/catalogue.ts";
import { loadOnce } from "../load-once.ts";
import { namesInUse } from "../strange-options.ts";
import type { ForeignCalls } from "./foreign-calls.ts";
import type { AiSdkModelLike } from "./spec.ts";
import type { ProviderTool } from "./write-options.ts";

export interface FromAiSdkOptions {
  /** Default: `<provider>/<modelId>` of the AI SDK. */
  id?: string;
  /** What is known of the model. Each member wins over the catalogue's. */
  facts?: ModelFacts;
  /** Ask for a stream. Default: true. A model that cannot stream is asked for a whole answer. */
  stream?: boolean;
  /** Tools that the provider runs itself, e.g. `anthropic.tools.webSearch_20250305()`. */
  providerTools?: readonly ProviderTool[];
  /** Keep the response's id, model, time and provider metadata as the answer's `raw`. Default: false. */
  raw?: boolean;
}

const optionChecks = membersOf<FromAiSdkOptions>({
  id: text,
  facts: object,
  stream: flag,
  providerTools: listOf(
    membersOf<ProviderTool>({ id: text, name: text, args: anything }, ["id", "name"], "let_pass"),
  ),
  raw: flag,
});

const foreign = membersOf<{ model: AiSdkModelLike }>(
  {
    model: having('a model as a provider\'s package makes it, e.g. mistral("mistral-large-latest"),', {
      specificationVersion: text,
      doStream: callable,
    }),
  },
  ["model"],
);

const calls = loadOnce(() => import("./foreign-calls.ts"));

/**
 * A language model of the AI SDK (specification 2, 3 or 4) as a Rondo model: `fromAiSdk(mistral("mistral-large-latest"))`.
 *
 * What is lost: `parallelToolCalls`, a reasoning budget, and before version 4 any reasoning setting (each with a warning;
 * use `providerOptions`); raw arguments of a call that never parsed; opaque data of users' parts; several texts of one tool
 * result become one; an error result has text only; files at URLs that the model does not fetch become a note; approvals of
 * tools that the provider runs. See docs/guide/ai-sdk.md.
 *
 * @throws RondoError `invalid_request` for an unknown specification, or naming the option that cannot be used
 */
export function fromAiSdk(model: AiSdkModelLike, options: FromAiSdkOptions = {}): Model {
  checkGiven(foreign, { model }, "fromAiSdk");
  checkGiven(optionChecks, options, "fromAiSdk");
  const version = Number(/^v(\d+)$/.exec(model.specificationVersion)?.[1]);
  if (!(version >= 2 && version <= 4))
    throw new RondoError(
      "invalid_request",
      `fromAiSdk knows versions v2 to v4 of the AI SDK's model specification, and ${model.provider}/${model.modelId} is of ${JSON.stringify(model.specificationVersion)}: update the provider's package, or Rondo`,
    );
  return new AiSdkModel(model, version, options);
}

class AiSdkModel implements Model {
  readonly id: string;
  readonly origin: Origin;
  readonly facts?: ModelFacts;
  readonly #model: AiSdkModelLike;
  readonly #version: number;
  readonly #options: FromAiSdkOptions;
  #calls: ForeignCalls | undefined;

  constructor(model: AiSdkModelLike, version: number, options: FromAiSdkOptions) {
    const { provider, modelId } = model;
    this.id = options.id ?? `${provider}/${modelId}`;
    this.origin = { api: "ai-sdk", provider, model: modelId };
    // A package that does not send schemas only asks for some JSON, and the model would not see the schema.
    const sends = (model as { supportsStructuredOutputs?: unknown }).supportsStructuredOutputs !== false;
    const told = sends ? options.facts : { output: "none" as const, ...options.facts };
    const house = catalogueName(provider);
    namesInUse.add(house);
    const facts = factsOf(house, modelId, told);
    if (facts !== undefined) this.facts = facts;
    this.#model = model;
    this.#version = version;
    this.#options = options;
  }

  async call(request: ModelRequest, io: ModelIo): Promise<AssistantMessage> {
    const { ForeignCalls } = await calls();
    this.#calls ??= new ForeignCalls(this, this.#model, this.#version, this.#options);
    return withOutputAsText(await this.#calls.call(request, io), request, io);
  }
}

/** The catalogue's name for an AI SDK provider (`openai.responses`, `amazon-bedrock`). */
function catalogueName(provider: string): string {
  const known: { readonly [name: string]: string } = {
    "amazon-bedrock": "bedrock",
    fireworks: "fireworks",
    moonshotai: "moonshot",
    togetherai: "together",
  };
  const house =
    provider.startsWith("google.vertex") || provider.startsWith("vertex")
      ? "vertex"
      : (provider.split(".")[0] ?? "");
  return ownMember(known, house) ?? house;
}
