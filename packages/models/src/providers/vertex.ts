// The room of Google Vertex AI: Gemini and Claude in a Google Cloud project.
//
// An API key works in Gemini's express mode only. Everything else needs an access token: from a callback, from the
// environment, or from Google's own library (an optional peer, loaded on the first call), which knows service accounts, the
// metadata server and the login of the command line.

import { type Model, messageOf, RondoError } from "@rondo/core";
import type { AnthropicCompat } from "../codecs/anthropic/compat.ts";
import type { GeminiCompat } from "../codecs/google/target.ts";
import type { Quirks } from "../codecs/shared-compat.ts";
import { type Credentials, fromEnvironment, processEnvironment } from "../credentials.ts";
import { createModel } from "../http-model.ts";
import type { Authorize, ProviderOptions } from "../model-options.ts";
import { bearer } from "../request-head.ts";
import { anthropicOnVertex, googleGenerativeAi } from "./codecs.ts";
import { claudeFacts } from "./in-place.ts";
import { leftInTexts, readAt } from "./left-in-texts.ts";
import { claudeOutput, googleOutput } from "./output.ts";

export interface VertexOptions extends ProviderOptions<Quirks<GeminiCompat> | Quirks<AnthropicCompat>> {
  /** Google Cloud project. Default: `GOOGLE_CLOUD_PROJECT`. Needed unless an API key is used. */
  project?: string;
  /** E.g. `europe-west4`, or the multi-regions `eu` and `us`. Default: `GOOGLE_CLOUD_LOCATION`, else `global`. */
  location?: string;
}

const keyVariables = ["GOOGLE_VERTEX_ACCESS_TOKEN", "GOOGLE_API_KEY"];

/**
 * A model on Vertex AI, e.g. `vertex("gemini-3.8-flash", { project: "p" })` or `vertex("claude-sonnet-5", { project: "p"
 * })`. `credentials` returns access tokens (as `apiKey`); the option `apiKey` is a key of express mode.
 */
export function vertex(model: string, options: VertexOptions = {}): Model {
  const { project: ownProject, location: ownLocation, ...rest } = options;
  const env = processEnvironment();
  const project = ownProject ?? fromEnvironment(env, ["GOOGLE_CLOUD_PROJECT", "GOOGLE_VERTEX_PROJECT"]);
  const location =
    ownLocation ?? fromEnvironment(env, ["GOOGLE_CLOUD_LOCATION", "GOOGLE_VERTEX_LOCATION"]) ?? "global";
  const claude = /^claude/.test(model); // `model` may not even be a string here: `createModel` reports that
  const expressKey = rest.credentials === undefined && rest.apiKey !== undefined;
  if (claude && project === undefined)
    throw new RondoError(
      "invalid_request",
      `vertex/${model} needs a Google Cloud project: pass project, or set GOOGLE_CLOUD_PROJECT`,
    );
  // The location becomes part of the host that tokens are sent to.
  if (rest.baseURL === undefined && !/^[a-z][a-z0-9-]{0,62}$/.test(location))
    throw new RondoError(
      "invalid_request",
      `${JSON.stringify(location)} is not a Google Cloud location: give one like "europe-west4", "eu" or "global"`,
    );
  const host = `https://${hostOf(location)}`;
  const place = `/v1/projects/${encodeURIComponent(project ?? "")}/locations/${encodeURIComponent(location)}`;
  const tokens = rest.credentials ?? (expressKey ? undefined : () => tokenOf(`vertex/${model}`));
  const baseURL = rest.baseURL ?? (claude ? `${host}${place}` : host);
  const spoken = createModel({
    ...rest,
    ...(tokens === undefined ? {} : { credentials: tokens }),
    codec: claude ? anthropicOnVertex : googleGenerativeAi,
    output: claude ? claudeOutput : googleOutput,
    provider: "vertex",
    model,
    baseURL,
    defaults: {
      ...(claude ? { facts: claudeFacts(model) } : {}),
      compat: {
        ...leftInTexts(baseURL),
        variant: "vertex",
        ...(project === undefined || expressKey ? {} : { project, location }),
      },
    },
    authorize,
    keyVariables,
  });
  return readAt(baseURL, spoken);
}

/** Multi-regions have a different form of host name. */
function hostOf(location: string): string {
  if (location === "global") return "aiplatform.googleapis.com";
  return location === "eu" || location === "us"
    ? `aiplatform.${location}.rep.googleapis.com`
    : `${location}-aiplatform.googleapis.com`;
}

/** An express key goes into a header of its own, a token is sent as a bearer. */
const authorize: Authorize = (credentials, outgoing) =>
  credentials.apiKey?.startsWith("AIza") === true || credentials.apiKey?.startsWith("AQ.") === true
    ? { "x-goog-api-key": credentials.apiKey }
    : bearer(credentials, outgoing);

interface GoogleAuthModule {
  GoogleAuth: new (options: { scopes: string[] }) => { getAccessToken(): Promise<string | null | undefined> };
}

let library: Promise<InstanceType<GoogleAuthModule["GoogleAuth"]>> | undefined;

async function tokenOf(id: string): Promise<Credentials> {
  const token = fromEnvironment(processEnvironment(), keyVariables);
  if (token !== undefined) return { apiKey: token };
  library ??= authLibrary(id);
  // A failure is not cached: the library may be installed, or the login made, in the meantime.
  library.catch(() => {
    library = undefined;
  });
  const auth = await library;
  try {
    const found = await auth.getAccessToken();
    if (found) return { apiKey: found };
  } catch (thrown) {
    throw noToken(id, messageOf(thrown));
  }
  throw noToken(id, "google-auth-library found none");
}

async function authLibrary(id: string): Promise<InstanceType<GoogleAuthModule["GoogleAuth"]>> {
  // Not a string literal, so that no bundler tries to resolve it.
  const name: string = "google-auth-library";
  let module: GoogleAuthModule;
  try {
    module = (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as GoogleAuthModule;
  } catch (thrown) {
    throw noToken(id, messageOf(thrown).split("\n")[0] ?? "");
  }
  return new module.GoogleAuth({ scopes: ["https://www.googleapis.com/auth/cloud-platform"] });
}

function noToken(id: string, why: string): RondoError {
  return new RondoError(
    "auth",
    `there is no access token for ${id}: pass credentials, set ${keyVariables.join(" or ")}, or install google-auth-library and log in (${why})`,
  );
}
