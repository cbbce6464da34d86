// The room of MiniMax's own errors: status 200, no answer, and a number in `base_resp`, whatever the protocol.

import type { JsonObject } from "@rondo/core";
import { objectIn, textIn } from "../../json-values.ts";
import { codeOfBaseResp } from "../../transport/numbered-codes.ts";

/** The error in a chunk or a body of this form; undefined if there is none. */
export function baseRespError(body: JsonObject): JsonObject | undefined {
  const told = objectIn(body.base_resp);
  // Gateways make a text of the number, or null.
  const status = String(told?.status_code ?? 0);
  if (told === undefined || status === "0") return undefined;
  return {
    error: {
      code: codeOfBaseResp(status),
      message: `${textIn(told.status_msg) ?? "no explanation"} (${status})`,
    },
  };
}
