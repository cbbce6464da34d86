// The room of request checks: whether a provider would accept each request, by the rules that test the codecs.

import { checkAnthropicRequest } from "../../packages/testkit/src/wire/rules/anthropic.ts";
import { checkBedrockRequest } from "../../packages/testkit/src/wire/rules/bedrock.ts";
import { checkGoogleRequest } from "../../packages/testkit/src/wire/rules/google.ts";
import { checkOpenaiChatRequest } from "../../packages/testkit/src/wire/rules/openai-chat.ts";
import { checkOpenaiResponsesRequest } from "../../packages/testkit/src/wire/rules/openai-responses.ts";
import { shown } from "./ask.ts";
import type { Case } from "./format.ts";
import type { Observation } from "./observation.ts";
import { protocolOf } from "./providers.ts";
import type { Protocol } from "./wire.ts";

const checks: { readonly [protocol in Protocol]: (body: string, one: Case) => readonly unknown[] } = {
  anthropic: (body) => checkAnthropicRequest(JSON.parse(body)),
  bedrock: (body) => checkBedrockRequest(JSON.parse(body)),
  google: (body) => checkGoogleRequest(JSON.parse(body)),
  // Ollama refuses almost nothing, so there are no rules for it.
  ollama: () => [],
  "openai-chat": (body, one) =>
    checkOpenaiChatRequest(body, {
      objectArguments: refusesTexts(one),
      reasoningParts: one.provider === "databricks",
      thinkingFirst: one.provider === "mistral",
      videos: /^(?:alibaba|openrouter|sglang|vllm)$/.test(one.provider),
    }),
  "openai-responses": (body) => checkOpenaiResponsesRequest(body),
};

/** Whether the case's server has a template that needs arguments as objects, and says so. */
const refusesTexts = ({ wire }: Case): boolean =>
  /item pairs from a mapping|filter 'items' for type String/.test(JSON.stringify(wire?.body ?? null));

/** What the provider would refuse in any request of a play. */
export function refusable(one: Case, seen: Observation): string[] {
  const check = checks[protocolOf(one.provider)];
  // A server that signs its ids must get them back unchanged.
  const signs = JSON.stringify(one.wire).includes("__thought__");
  const bare = (body: string): string => (signs ? body.replaceAll(/__thought__[^"\\]*/g, "") : body);
  return seen.responses.flatMap(({ request }, at) =>
    check(bare(request.text), one).map((problem) => `request ${at + 1}: ${shown(problem)}`),
  );
}
