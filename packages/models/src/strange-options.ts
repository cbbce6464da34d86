// The room of provider options that no provider reads: those under an unknown name.
//
// A request's options may be meant for any of the models that may answer it, so those of another provider are fine. A name
// that no provider has is a typo: without a warning, its options would silently not be sent.

import type { Origin, Settings } from "@rondo/core";
import { nearest, ownMember } from "@rondo/core/checks";
import type { Warning } from "./codecs/warn.ts";
import { loadOnce } from "./load-once.ts";

/** The provider names of all models made in this process, including a user's own servers. */
export const namesInUse: Set<string> = new Set<string>();

/** Loaded when needed: it pulls in the whole table of servers. */
const names = loadOnce(() => import("./providers/names.ts"));

/** A warning for each unknown name. @param own the model's provider, which the warning suggests if no other name is similar */
export async function strangeOptions(
  given: NonNullable<Settings["providerOptions"]>,
  { provider: own }: Origin,
): Promise<Warning[]> {
  const unused = Object.keys(given).filter((name) => !namesInUse.has(name));
  if (unused.length === 0) return [];
  const { knownProviders, providerAliases } = await names();
  // `openai-chat` names a model, but its options go under `openai`.
  const aliases = { ...providerAliases, "openai-chat": "openai" };
  const known = [...new Set([...namesInUse, ...knownProviders()])].filter(
    (name) => !Object.hasOwn(aliases, name),
  );
  return unused
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = ownMember(aliases, name.toLowerCase()) ?? nearest(name, known, 1)[0] ?? own;
      const message = `providerOptions.${name}: there is no such provider, so it was not sent; options for ${meant} go into providerOptions.${meant}`;
      return { code: "unsupported_option", message };
    });
}
