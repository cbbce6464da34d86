// The room of errors in the place of an answer, without the usual wrapping.
//
// vLLM, SGLang, FastAPI and gateways put the bare error into a stream, in a form of their own, whatever the protocol.
// Missed, a truncated answer would look whole (F150), or an empty one would be retried in vain.

import type { Json, JsonObject } from "@rondo/core";
import { listIn, numberIn, objectIn, textIn } from "../json-values.ts";

/** Whether an object that is not the protocol's own is itself an error. */
export function isFlatError(chunk: JsonObject): boolean {
  if (chunk.object === "error" || told(chunk.detail) || listIn(chunk.detail).length > 0) return true;
  if (listIn(chunk.errors).length > 0 || told(chunk.error_msg) || told(chunk.error_message)) return true;
  // Amazon's, which its gateways put into the streams of other protocols.
  if (told(chunk.Error) || told(chunk.errorMessage)) return true;
  if (told(chunk.fault) || told(chunk.error) || chunk.success === false || chunk.status === "error")
    return true;
  if (told(chunk.message) && (isErrorType(chunk.type) || isErrorWord(chunk.code) || told(chunk.__type)))
    return true;
  // Tencent's and Naver's.
  if (told(objectIn(chunk.Response)?.Error) || isRefusal(objectIn(chunk.status))) return true;
  // MiniMax's and iFlytek's; a zero is not an error.
  if (Number(objectIn(chunk.base_resp)?.status_code ?? 0) !== 0) return true;
  if ((numberIn(objectIn(chunk.header)?.code) ?? 0) !== 0) return true;
  if (told(chunk.msg) && (isErrorWord(chunk.code) || isNumbered(chunk.code))) return true;
  const code = Number(chunk.code ?? chunk.status ?? chunk.statusCode ?? chunk.status_code ?? Number.NaN);
  return (code >= 400 && code < 600) || (told(chunk.message) && isNumbered(chunk.code));
}

/** Whether a code is a number that no HTTP status is; 20000 is a success in the same form. */
const isNumbered = (code: Json | undefined): boolean => Number(code) >= 1000 && !/^200*$/.test(String(code));

const isRefusal = (status: JsonObject | undefined): boolean =>
  told(status?.message) && isNumbered(status?.code);

const isErrorType = (type: Json | undefined): boolean => /(?:^|_)error$/.test(textIn(type) ?? "");

/** Whether a code is a word other than those that also stand for success. */
const isErrorWord = (code: Json | undefined): boolean =>
  /^(?!ok$|success$)[a-z][\w.-]*$/i.test(textIn(code) ?? "");

/** Whether a member reports an error: text, a flag, a number, or an object or list that holds more than blanks, as of a gateway that writes all members. */
export function told(error: Json | undefined): boolean {
  if (typeof error !== "object" || error === null) return Boolean(error);
  return Object.values(error).some((one) =>
    typeof one === "object" && one !== null ? Object.keys(one).length > 0 : Boolean(one),
  );
}
