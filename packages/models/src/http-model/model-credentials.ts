// The room of a model's credentials: which option they come from, the error when there are none, and whether they were
// accepted before.

import { errorWith, type RondoError } from "@rondo/core";
import {
  type CredentialCallback,
  type Credentials,
  checkedKey,
  fromCallback,
  missingKey,
} from "../credentials.ts";
import type { ModelOptions } from "../model-options.ts";
import { hasAuthorization } from "../request-head.ts";
import { unlessAborted } from "../transport/network.ts";
import { isWordless } from "../transport/on-the-way.ts";

export class ModelCredentials {
  readonly #options: ModelOptions;
  readonly #id: string;
  /** The last key that the server accepted. */
  #accepted: string | undefined;

  constructor(options: ModelOptions, id: string) {
    this.#options = options;
    this.#id = id;
  }

  /**
   * The credentials for the next request: the callback's, else the key's, else the environment's.
   * @throws RondoError `auth` if there are none, or unusable ones; `aborted`
   */
  async get(need: Parameters<CredentialCallback>[0], signal: AbortSignal): Promise<Credentials> {
    const { credentials, apiKey, environmentKey, keyVariables = [], keyless, headers } = this.#options;
    let found: Credentials | undefined;
    if (credentials !== undefined) {
      const given = await unlessAborted(fromCallback(credentials, need, this.#id), signal);
      found = typeof given === "string" ? { apiKey: given } : given;
    } else if (apiKey !== undefined) found = { apiKey };
    else found = environmentKey?.();
    if (found === undefined) {
      if (keyless === true || hasAuthorization(headers)) return {};
      throw missingKey(this.#id, keyVariables);
    }
    return found.apiKey === undefined ? found : { ...found, apiKey: checkedKey(found.apiKey, this.#id) };
  }

  accepted({ apiKey }: Credentials): void {
    this.#accepted = apiKey;
  }

  /**
   * The error; one that may pass, if it refuses a key that was accepted before: gateways do so under load (MiMo), and what
   * stands before a server does with a 403 that has no words of a server. Not a 401 of a key that a callback gave, which was
   * asked for another one already.
   */
  unlessAccepted(error: RondoError, { apiKey }: Credentials, body: string): RondoError {
    const isRefused =
      error.kind === "auth" && error.status === 401 && this.#options.credentials === undefined;
    const isTurnedAway = error.kind === "permission" && error.status === 403 && isWordless(body);
    if (!isRefused && !isTurnedAway) return error;
    if (apiKey === undefined || apiKey !== this.#accepted || isOver.test(error.message)) return error;
    const message = `${error.message} The same key was accepted before: this may be a passing fault of the server.`;
    return errorWith(error, { retryable: true, message });
  }

  /** Where they come from, as a phrase for errors. */
  get source(): string {
    const { credentials, apiKey, keyVariables = [] } = this.#options;
    if (credentials !== undefined) return "the credentials callback";
    if (apiKey !== undefined) return "the option apiKey";
    return `the environment (${keyVariables.join(" or ")})`;
  }
}

/** A key that is not accepted any more. */
const isOver: RegExp = /\bexpired?\b|\brevoked\b|\b(?:disabled|deleted|deactivated)\b/i;
