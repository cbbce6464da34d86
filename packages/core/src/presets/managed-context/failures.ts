// The room of failure kinds: failed model calls in the words that clients of the managed-context agent know.
//
// Determined from the error's kind and the status, never from a provider's text. A failure that is not a model's has no
// kind.

import { type ErrorData, type ErrorKind, errorWith, isError, messageOf, RondoError } from "../../errors.ts";
import { type Model, modelFace } from "../../model.ts";

export type FailureKind =
  | "rate_limit"
  | "overloaded"
  | "timeout"
  | "network"
  | "hard_quota"
  | "auth"
  | "permission"
  | "validation"
  | "provider"
  | "cancelled";

const byKind: { readonly [kind in ErrorKind]?: FailureKind } = {
  aborted: "cancelled",
  quota_exhausted: "hard_quota",
  rate_limit: "rate_limit",
  overloaded: "overloaded",
  auth: "auth",
  permission: "permission",
  timeout: "timeout",
  stream_idle: "timeout",
  network: "network",
  stream_truncated: "network",
  content_filter: "validation",
  context_overflow: "validation",
  payload_too_large: "validation",
  request_too_large_for_tier: "validation",
};

const byStatus: { readonly [status: number]: FailureKind } = {
  400: "validation",
  401: "auth",
  402: "hard_quota",
  403: "permission",
  404: "validation",
  408: "timeout",
  409: "provider",
  422: "validation",
  429: "rate_limit",
  503: "overloaded",
  529: "overloaded",
};

/** The kind of a failure; undefined if it is not the model's or the provider's. */
export function failureKind(error: Pick<ErrorData, "kind" | "status">): FailureKind | undefined {
  const known = byKind[error.kind];
  if (known !== undefined) return known;
  if (error.status !== undefined) return byStatus[error.status] ?? "provider";
  if (error.kind === "internal") return undefined;
  return error.kind === "invalid_request" || error.kind === "capability" ? "validation" : "provider";
}

/** Whether the same request may succeed later. */
export function isPassing(error: Pick<ErrorData, "kind" | "status">): boolean {
  const kind = failureKind(error);
  if (kind !== "provider")
    return kind === "rate_limit" || kind === "overloaded" || kind === "timeout" || kind === "network";
  return error.status === undefined || error.status === 409 || error.status >= 500;
}

/** The text that a user reads, without the provider's own words. */
export const failureTexts: { readonly [kind in FailureKind]: string } = {
  rate_limit: "The model provider limits how often it may be asked.",
  overloaded: "The model provider is overloaded.",
  timeout: "The model provider did not answer in time.",
  network: "The connection to the model provider failed.",
  hard_quota: "The quota or the credit at the model provider is used up.",
  auth: "The model provider did not accept the credentials.",
  permission: "The model provider does not allow this request.",
  validation: "The model provider refused the request as invalid.",
  provider: "The model provider failed.",
  cancelled: "The model call was cancelled.",
};

/**
 * The same model. An error it throws that is no RondoError is classified by its name, which is all that is known of a
 * foreign error.
 * @param way `by_status`: also by its message, for clients whose errors have no names of their own. `by_kind`: a request
 * that is too large gets our own text, because it ends the run before the retries are asked if it cannot be made smaller
 */
export function namedFailures(model: Model, way: "by_status" | "by_kind"): Model {
  return {
    ...modelFace(model),
    async call(request, io) {
      try {
        return await model.call(request, io);
      } catch (thrown) {
        if (thrown instanceof RondoError) throw way === "by_kind" ? inOurWords(thrown) : thrown;
        const kind = kindByName(thrown, way === "by_status");
        throw kind === undefined ? thrown : new RondoError(kind, messageOf(thrown), { cause: thrown });
      }
    },
  };
}

function inOurWords(error: RondoError): RondoError {
  const isTooLarge = error.kind === "context_overflow" || error.kind === "payload_too_large";
  return isTooLarge ? errorWith(error, { message: failureTexts.validation, raw: undefined }) : error;
}

function kindByName(thrown: unknown, byMessage: boolean): "timeout" | "network" | undefined {
  if (!isError(thrown)) return undefined;
  const { name, message } = thrown;
  const names = `${name} ${thrown.constructor.name}`;
  if (/Timeout/.test(names)) return "timeout";
  if (/\bTypeError\b|\bConnection|\bAPIConnection/.test(names)) return "network";
  if (!byMessage) return undefined;
  if (/time(d )?-?out/i.test(message)) return "timeout";
  return /connect(ion)?\b/i.test(message) ? "network" : undefined;
}
