// The room of MiniMax's own errors: status 200, no answer, and a number in `base_resp`, whatever the protocol.

import type { JsonObject } from "@rondo/core";
import { objectIn, textIn } from "../../json-values.ts";
import { ownMember } from "../../own-member.ts";

/** What the numbers mean, as the error codes used everywhere else. */
const codes: { readonly [status: string]: string } = {
  1000: "server_error",
  1001: "timeout_error",
  1002: "rate_limit_exceeded",
  1004: "invalid_api_key",
  1008: "insufficient_quota",
  1013: "server_error",
  1024: "server_error",
  1026: "content_filter",
  1027: "content_filter",
  1033: "server_error",
  1039: "rate_limit_exceeded",
  2013: "invalid_request_error",
  2045: "rate_limit_exceeded",
  2049: "invalid_api_key",
  2056: "insufficient_quota",
};

/** The error in a chunk or a body of this form; undefined if there is none. */
export function baseRespError(body: JsonObject): JsonObject | undefined {
  const told = objectIn(body.base_resp);
  // Gateways make a text of the number, or null.
  const status = String(told?.status_code ?? 0);
  if (told === undefined || status === "0") return undefined;
  return {
    error: {
      code: ownMember(codes, status) ?? "server_error",
      message: `${textIn(told.status_msg) ?? "no explanation"} (${status})`,
    },
  };
}
