// The room of numbered codes: what numbers mean that are no HTTP statuses.

import type { ErrorKind } from "@rondo/core";
import { ownMember } from "@rondo/core/checks";

/** The codes of Zhipu and Z.ai are numbers, and come with any status, even 200. */
const zhipu: ReadonlyMap<string, ErrorKind> = new Map(
  Object.entries({
    1000: "auth",
    1001: "auth",
    1002: "auth",
    1003: "auth",
    1004: "auth",
    1100: "server_error",
    1110: "permission",
    1111: "permission",
    1112: "permission",
    1113: "quota_exhausted",
    1120: "server_error",
    1121: "permission",
    1200: "server_error",
    1220: "permission",
    1230: "server_error",
    1231: "rate_limit",
    1234: "server_error",
    1261: "context_overflow",
    1300: "content_filter",
    1301: "content_filter",
    1302: "rate_limit",
    1303: "rate_limit",
    1304: "quota_exhausted",
    1305: "overloaded",
    1308: "quota_exhausted",
    1309: "quota_exhausted",
    1310: "quota_exhausted",
    1311: "permission",
    1312: "overloaded",
    1313: "rate_limit",
  } satisfies { [code: string]: ErrorKind }),
);

/** Those of them that only say "invalid request". */
const zhipuRequest: RegExp = /^12[12]\d$/;

/** iFlytek's, with status 200. */
const iflytek: ReadonlyMap<string, ErrorKind> = new Map(
  Object.entries({
    10007: "rate_limit",
    10013: "content_filter",
    10014: "content_filter",
    10015: "permission",
    10016: "permission",
    10019: "content_filter",
    10110: "overloaded",
    10907: "context_overflow",
    11200: "permission",
    11201: "quota_exhausted",
    11202: "rate_limit",
    11203: "rate_limit",
  } satisfies { [code: string]: ErrorKind }),
);

/** MiniMax's numbers in `base_resp`, as the codes used everywhere else: some of them mean something else at Zhipu. */
const baseResp: { readonly [status: string]: string } = {
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
  1041: "rate_limit_exceeded",
  1042: "invalid_request_error",
  2013: "invalid_request_error",
  2045: "rate_limit_exceeded",
  2049: "invalid_api_key",
  2056: "insufficient_quota",
  2061: "permission_error",
  2062: "overloaded_error",
};

/** The code for a number in MiniMax's `base_resp`. */
export const codeOfBaseResp = (status: string): string => ownMember(baseResp, status) ?? "server_error";

/** Whether a number only says "invalid request". */
export const isNumberedRequest = (code: string): boolean => zhipuRequest.test(code);

/**
 * The kind of error that a number stands for. Other platforms count from 1000 as well: with another status than its own, a
 * key that Zhipu refuses is something else's number.
 */
export function kindOfNumber(code: string, status: number | undefined): ErrorKind | undefined {
  const kind = zhipu.get(code) ?? iflytek.get(code);
  return kind === "auth" && status !== undefined && status >= 400 && status !== 401 ? undefined : kind;
}
