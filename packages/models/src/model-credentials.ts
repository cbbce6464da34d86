// The room of a model's credentials: which of its options they come from, and what is said where there are none.

import {
  type CredentialCallback,
  type Credentials,
  checkedKey,
  fromCallback,
  missingKey,
} from "./credentials.ts";
import type { ModelOptions } from "./model-options.ts";
import { hasAuthorization } from "./request-head.ts";
import { unlessAborted } from "./transport/network.ts";

export class ModelCredentials {
  readonly #options: ModelOptions;
  readonly #id: string;

  constructor(options: ModelOptions, id: string) {
    this.#options = options;
    this.#id = id;
  }

  /**
   * What the next request is authorised with. The callback counts first, then the key, then the environment.
   * @throws RondoError `auth` where there is none, or it can be none; `aborted`
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

  /** Where they come from, in words. */
  get source(): string {
    const { credentials, apiKey, keyVariables = [] } = this.#options;
    if (credentials !== undefined) return "the credentials callback";
    if (apiKey !== undefined) return "the option apiKey";
    return `the environment (${keyVariables.join(" or ")})`;
  }
}
