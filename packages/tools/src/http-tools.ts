// The room of HTTP tools: what a model may ask of the network.
//
// A model's URL is as hostile as the page that suggested it. So only public addresses can be reached, and those that
// the host application names.

import { type Tool, type ToolContext, type ToolResult, tool } from "@rondo/core";
import { checkGiven } from "@rondo/core/checks";
import { answering } from "./answering.ts";
import type { HttpArgs, HttpRules } from "./http/calling.ts";
import { type HttpToolsOptions, httpToolsOptions } from "./http/options.ts";
import { originOf, placeOf, placesOf } from "./http/urls.ts";

const url = { type: "string", minLength: 1, description: "The full URL, http: or https:." } as const;

/** The tools `fetch_url`, which reads, and `http_request`, which may write. */
export function httpTools(options: HttpToolsOptions = {}): Tool[] {
  checkGiven(httpToolsOptions, options, "httpTools");
  const rules = rulesOf(options);
  const send = (args: HttpArgs, context: ToolContext): Promise<ToolResult> =>
    answering(context, "", async () => {
      const { called } = await import("./http/calling.ts");
      return called(args, rules, context);
    });
  // The call enforces its own time limit; this one is for a call that hangs nevertheless.
  const timeoutMs = rules.timeoutMs + 10_000;
  const fetchUrl = tool({
    name: "fetch_url",
    description:
      "Gets a URL and returns the status, a few headers and the body, if it is text; scripts and style sheets of HTML pages are left out. " +
      `Redirects are followed. ${reached(options)}`,
    inputSchema: {
      type: "object",
      properties: {
        url,
        raw: { type: "boolean", description: "Return HTML as it is, with its scripts. Default: false." },
      },
      required: ["url"],
    },
    effect: "read",
    permission: options.permission ?? "allow",
    timeoutMs,
    // Nothing else is passed on: unknown properties, such as `method`, would make it write.
    execute: ({ url, raw = false }, context) => send({ url, isForReading: !raw }, context),
  });
  if (options.readOnly) return [fetchUrl];
  const httpRequest = tool({
    name: "http_request",
    description:
      "Sends an HTTP request and returns the status, a few headers and the body, if it is text. To read a page, use fetch_url. " +
      reached(options),
    inputSchema: {
      type: "object",
      properties: {
        method: { type: "string", enum: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] },
        url,
        headers: {
          type: "object",
          additionalProperties: { type: "string" },
          description: 'By name. With a body, give its type: {"content-type": "application/json"}.',
        },
        body: { type: "string", description: "The body, as text." },
      },
      required: ["method", "url"],
    },
    effect: "write",
    permission: options.writePermission ?? "ask",
    timeoutMs,
    execute: (args, context) => send(args, context),
  });
  return [fetchUrl, httpRequest];
}

const reached = ({ hosts }: HttpToolsOptions): string =>
  hosts === undefined
    ? "Only public addresses can be reached."
    : `Only these hosts can be reached: ${hosts.join(", ") || "none"}.`;

function rulesOf(options: HttpToolsOptions): HttpRules {
  const { hosts, privateHosts = [], denyHosts = [], headers = {}, lookup } = options;
  const places = (hosts: readonly string[]) => hosts.flatMap((host) => placeOf(host) ?? []);
  return {
    reach: {
      ...(hosts === undefined ? {} : { only: hosts.flatMap((host) => placesOf(host) ?? []) }),
      allowed: places(privateHosts),
      denied: places(denyHosts),
      lookup,
    },
    own: new Map(Object.entries(headers).map(([origin, fields]) => [originOf(origin) ?? origin, fields])),
    maxBytes: options.maxBytes ?? 1_000_000,
    maxRedirects: options.maxRedirects ?? 5,
    timeoutMs: options.timeoutMs ?? 30_000,
  };
}
