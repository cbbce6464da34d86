// The room of what an error says: the provider's words, and what to do about them.

import type { ErrorKind } from "@rondo/core";
import type { ErrorFacts } from "./error-body.ts";
import { otherApiWords } from "./error-words.ts";
import { bareAdvice, garbledAdvice, garbledWords, isBare, pageAdvice } from "./on-the-way.ts";

/** What is told of a failure. */
interface Told {
  status: number | undefined;
  header(name: string): string | null;
  facts: ErrorFacts;
  /** Default: `the provider`. */
  provider: string | undefined;
}

/** The message of an error. @param waitMs how long the provider asks to wait */
export function sentence(kind: ErrorKind, told: Told, waitMs: number | undefined): string {
  const { status, facts, provider = "the provider" } = told;
  const code = facts.codes[0];
  const label = [status === undefined ? "" : String(status), code === undefined ? "" : `(${code})`]
    .filter((word) => word !== "")
    .join(" ");
  const what = facts.html
    ? `a web page${facts.message === "" ? "" : ` titled "${facts.message}"`}`
    : facts.message || "no explanation";
  const end = /[.!?…。！？]$/.test(what) ? "" : ".";
  const said = `${provider} answered ${label || "with an error"}: ${what}${redirectOf(told)}${end}`;
  const wait = waitMs === undefined ? undefined : `It asks to wait ${waitMs / 1000} s.`;
  return [said, wait, adviceOf(kind, told)].filter((one) => one !== undefined).join(" ");
}

function redirectOf({ status, header }: Told): string {
  if (status === undefined || status < 300 || status >= 400) return "";
  return `; it redirects to ${header("location") ?? "elsewhere"}, which is not followed: put the final address into baseURL`;
}

function adviceOf(kind: ErrorKind, { status, facts }: Told): string | undefined {
  if (kind === "invalid_request" && status === 404) return notFound;
  if (kind === "capability" && otherApiWords.test(facts.message)) return otherApi;
  if (kind === "permission" && facts.html) return pageAdvice;
  if (kind === "invalid_request" && status === 400 && isBare(facts)) return bareAdvice;
  if (kind === "server_error" && garbledWords.test(facts.message)) return garbledAdvice;
  return adviceOn[kind];
}

const otherApi =
  "The model is served through another protocol of its provider: choose that one, e.g. `openai.responses` in place of `openai.chat`.";

const notFound = "Check the model's name and the base URL.";

const adviceOn: { readonly [K in ErrorKind]?: string } = {
  quota_exhausted: "Waiting a moment does not help: check the account's plan and billing.",
  request_too_large_for_tier:
    "This one request is larger than the account's rate limit allows: shorten it, or use another model.",
  permission: "The credentials are known but may not do this: check the account's access to the model.",
  payload_too_large: "The request is too many bytes: send fewer or smaller files.",
};
