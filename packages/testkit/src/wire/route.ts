// The room of routes: which protocol a request speaks, and whether it may come in.

import type { IncomingHttpHeaders } from "node:http";
import type { Json } from "@rondo/core";
import { membersIn } from "../json.ts";
import { type Refusal, refusalOf } from "./errors.ts";
import type { Protocol } from "./reply.ts";
import { checkAnthropicRequest } from "./rules/anthropic.ts";
import { checkBedrockRequest } from "./rules/bedrock.ts";
import { checkGoogleRequest } from "./rules/google.ts";
import { type ChatRules, checkOpenaiChatRequest } from "./rules/openai-chat.ts";
import { checkOpenaiResponsesRequest } from "./rules/openai-responses.ts";
import type { Violation } from "./rules/violation.ts";

export interface Route {
  protocol: Protocol;
  /** The model the path names; the other protocols name it in the body. */
  model?: string;
  /** Whether the path asks for a stream; the other protocols ask in the body. */
  stream?: boolean;
  /** Google without `alt=sse`. */
  asArray: boolean;
}

/** What was asked for, by its path or by a whole address; undefined for what is neither. */
const addressOf = (url: string): URL | undefined =>
  URL.parse(url.startsWith("/") ? `http://wire${url}` : url) ?? undefined;

/** The route of a path; undefined for one that no provider has. */
export function routeOf(url: string): Route | undefined {
  const address = addressOf(url);
  if (address === undefined) return undefined;
  const { pathname, searchParams } = address;
  if (/\/messages$/.test(pathname)) return { protocol: "anthropic-messages", asArray: false };
  if (/\/chat\/completions$/.test(pathname)) return { protocol: "openai-chat", asArray: false };
  if (/\/responses$/.test(pathname)) return { protocol: "openai-responses", asArray: false };
  const google = /\/(?:models|tunedModels)\/([^/]+):(generateContent|streamGenerateContent)$/.exec(pathname);
  if (google !== null) {
    const model = decoded(google[1]);
    if (model === undefined) return undefined;
    const stream = google[2] === "streamGenerateContent";
    return {
      protocol: "google-generative-ai",
      model,
      stream,
      asArray: stream && searchParams.get("alt") !== "sse",
    };
  }
  const bedrock = /\/model\/([^/]+)\/(converse|converse-stream)$/.exec(pathname);
  const model = decoded(bedrock?.[1]);
  if (bedrock === null || model === undefined) return undefined;
  return { protocol: "bedrock-converse", model, stream: bedrock[2] === "converse-stream", asArray: false };
}

/** A piece of a path as it is meant; undefined where it is none: `%ZZ`. */
function decoded(piece: string | undefined): string | undefined {
  try {
    return piece === undefined ? undefined : decodeURIComponent(piece);
  } catch {
    return undefined;
  }
}

/** The credential a request brings; for a signed one the id of its key. */
function credentialOf(protocol: Protocol, url: string, headers: IncomingHttpHeaders): string | undefined {
  const authorization = headers.authorization ?? "";
  const bearer = /^Bearer\s+(\S+)$/i.exec(authorization)?.[1];
  switch (protocol) {
    case "anthropic-messages":
      return one(headers["x-api-key"]) ?? bearer;
    case "openai-chat":
    case "openai-responses":
      return bearer ?? one(headers["api-key"]);
    case "google-generative-ai":
      return one(headers["x-goog-api-key"]) ?? addressOf(url)?.searchParams.get("key") ?? bearer;
    case "bedrock-converse":
      return bearer ?? /^AWS4-HMAC-SHA256 Credential=([^/]+)\//.exec(authorization)?.[1];
  }
}

function one(value: string | string[] | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Why the request may not come in; undefined when it may. `key`: the only one that is right; absent, any will do. */
export function refusedAtTheDoor(
  protocol: Protocol,
  url: string,
  headers: IncomingHttpHeaders,
  key: string | undefined,
): Refusal | undefined {
  const credential = credentialOf(protocol, url, headers);
  if (credential === undefined || (key !== undefined && credential !== key)) {
    const refusal = refusalOf(protocol, "auth");
    return credential === undefined ? { ...refusal, message: missing[protocol] ?? refusal.message } : refusal;
  }
  if (protocol === "anthropic-messages" && headers["anthropic-version"] === undefined)
    return {
      status: 400,
      code: "invalid_request_error",
      message: "anthropic-version: header is required",
    };
  return undefined;
}

const openaiWantsKey =
  "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth.";

const missing: { readonly [P in Protocol]?: string } = {
  "anthropic-messages": "x-api-key header is required",
  "openai-chat": openaiWantsKey,
  "openai-responses": openaiWantsKey,
  "bedrock-converse": "Missing Authentication Token",
};

/** Every rule of its provider that a body breaks. */
export function violationsOf(
  protocol: Protocol,
  body: Json,
  model: string,
  chatRules: ChatRules,
): Violation[] {
  switch (protocol) {
    case "anthropic-messages":
      return [...named(body), ...checkAnthropicRequest(body)];
    case "openai-chat":
      return checkOpenaiChatRequest(body, chatRules);
    case "openai-responses":
      return checkOpenaiResponsesRequest(body);
    case "google-generative-ai":
      return checkGoogleRequest(body, { needsSignatures: /gemini-(?:[3-9]|\d\d)/.test(model) });
    case "bedrock-converse":
      return checkBedrockRequest(body);
  }
}

function named(body: Json): Violation[] {
  const { model } = membersIn(body);
  return typeof model === "string" && model !== ""
    ? []
    : [{ path: "model", message: "model: Field required" }];
}
