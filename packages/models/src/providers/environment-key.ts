// The room of keys in the environment: looked up when a call is made, not before.

import { type Credentials, fromEnvironment, processEnvironment } from "../credentials.ts";

/** The options of a provider whose key is in the first of these variables that is set. */
export function keyIn(keyVariables: readonly string[]): {
  keyVariables: readonly string[];
  environmentKey(): Credentials | undefined;
} {
  return {
    keyVariables,
    environmentKey: () => {
      const apiKey = fromEnvironment(processEnvironment(), keyVariables);
      return apiKey === undefined ? undefined : { apiKey };
    },
  };
}
