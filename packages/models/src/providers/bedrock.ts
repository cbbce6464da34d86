// The room of Amazon Bedrock: the Converse protocol, with signed requests or an API key as bearer token.

import { type Model, RondoError } from "@rondo/core";
import type { BedrockCompat } from "../codecs/bedrock/compat.ts";
import type { Quirks } from "../codecs/shared-compat.ts";
import { type AwsKeys, type Credentials, fromEnvironment, processEnvironment } from "../credentials.ts";
import { createModel } from "../http-model.ts";
import type { Authorize, ProviderOptions } from "../model-options.ts";
import { withoutLeakedCalls } from "../prompted/leaked.ts";
import { bearer } from "../request-head.ts";
import { bedrockConverse } from "./codecs.ts";
import { claudeOutput } from "./output.ts";

export interface BedrockOptions extends ProviderOptions<Quirks<BedrockCompat>> {
  /** Default: `AWS_REGION`, else `AWS_DEFAULT_REGION`, else `us-east-1`. */
  region?: string;
}

const keyVariables = ["AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"];

/**
 * A model on Bedrock, e.g. `bedrock("anthropic.claude-sonnet-5-v1:0", { region: "eu-central-1" })`. `apiKey` is a Bedrock
 * API key. For profiles, roles and single sign-on give AWS's own provider:
 * `credentials: async () => ({ aws: await fromNodeProviderChain()() })`.
 */
export function bedrock(model: string, options: BedrockOptions = {}): Model {
  const { region: ownRegion, ...rest } = options;
  const region =
    ownRegion ?? fromEnvironment(processEnvironment(), ["AWS_REGION", "AWS_DEFAULT_REGION"]) ?? "us-east-1";
  if (!/^[a-z0-9-]+$/.test(region))
    throw new RondoError(
      "invalid_request",
      `${JSON.stringify(region)} is no AWS region: give one like "eu-central-1"`,
    );
  // Claude sends its thinking as content blocks, Nova inside its text; some of the other models leave theirs in the text
  // too (F113).
  const isClaude = /anthropic|claude/i.test(model);
  const isOwn = isClaude || /amazon|nova/i.test(model);
  const spoken = createModel({
    ...rest,
    codec: bedrockConverse,
    output: claudeOutput,
    provider: "bedrock",
    model,
    ...(isClaude
      ? {}
      : {
          defaults: { compat: isOwn ? { thinkTags: "nova" } : { thinkTags: "leading", endTokens: true } },
        }),
    baseURL: rest.baseURL ?? `https://bedrock-runtime.${region}.amazonaws.com`,
    authorize: signedFor(region),
    keyVariables,
    environmentKey,
  });
  return isOwn ? spoken : withoutLeakedCalls(spoken);
}

function environmentKey(): Credentials | undefined {
  const env = processEnvironment();
  const apiKey = fromEnvironment(env, ["AWS_BEARER_TOKEN_BEDROCK"]);
  if (apiKey !== undefined) return { apiKey };
  const accessKeyId = fromEnvironment(env, ["AWS_ACCESS_KEY_ID"]);
  const secretAccessKey = fromEnvironment(env, ["AWS_SECRET_ACCESS_KEY"]);
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  const sessionToken = fromEnvironment(env, ["AWS_SESSION_TOKEN"]);
  return { aws: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) } };
}

function signedFor(region: string): Authorize {
  return (credentials, outgoing) =>
    credentials.aws === undefined
      ? bearer(credentials, outgoing)
      : signature(credentials.aws, region, outgoing);
}

/** The headers of an AWS signature, version 4. */
export async function signature(
  keys: AwsKeys,
  region: string,
  outgoing: { url: string; headers: Readonly<Record<string, string>>; body: string },
  /** `YYYYMMDDTHHMMSSZ`. Default: now. */
  datetime?: string,
): Promise<Record<string, string>> {
  const { AwsV4Signer } = await import("aws4fetch");
  const signed = await new AwsV4Signer({
    method: "POST",
    url: outgoing.url,
    // No header needs to be signed: a proxy on the way may change headers, and the signature would no longer match.
    headers: {},
    body: outgoing.body,
    ...keys,
    service: "bedrock",
    region,
    ...(datetime === undefined ? {} : { datetime }),
  }).sign();
  const headers: Record<string, string> = {};
  signed.headers.forEach((value, name) => {
    if (name !== "host") headers[name] = value;
  });
  return headers;
}
