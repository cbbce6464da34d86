// The room of errors that stand where an answer belongs, without the wrapping that would say so.
//
// vLLM, SGLang, FastAPI and gateways put the error itself into a stream, in a form of their own whatever protocol was asked for.
// Without it a cut answer would look whole (F150), or an empty one would be asked for again in vain.

import type { Json, JsonObject } from "@rondo/core";
import { listIn, numberIn, objectIn, textIn } from "../json-values.ts";

/** Whether an object that is nothing of the protocol's own is an error in itself. */
export function isFlatError(chunk: JsonObject): boolean {
  if (chunk.object === "error" || told(chunk.detail) || listIn(chunk.detail).length > 0) return true;
  if (listIn(chunk.errors).length > 0 || told(chunk.error_msg) || told(chunk.error_message)) return true;
  if (told(chunk.fault) || (isErrorType(chunk.type) && told(chunk.message))) return true;
  // iFlytek's; zero is no error.
  if ((numberIn(objectIn(chunk.header)?.code) ?? 0) !== 0) return true;
  const code = Number(chunk.code ?? chunk.status ?? Number.NaN);
  return code >= 400 && code < 600;
}

const isErrorType = (type: Json | undefined): boolean => /(?:^|_)error$/.test(textIn(type) ?? "");

/** Whether a member tells of an error: words, or an object that holds something. */
export function told(error: Json | undefined): boolean {
  if (error === undefined) return false;
  if (typeof error === "string") return error !== "";
  const object = objectIn(error);
  return object !== undefined && Object.keys(object).length > 0;
}
