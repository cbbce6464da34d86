// The room of provider options that nobody reads: those under a name that no provider has.
//
// The options of one request are for every model that may answer it, so a name that is another provider's is in order. One
// that is nobody's is a slip, and what stands under it would go nowhere in silence.

import type { Origin, Settings } from "@rondo/core";
import { nearest } from "@rondo/core/checks";
import type { Warning } from "./codecs/warn.ts";
import { loadOnce } from "./load-once.ts";
import { ownMember } from "./own-member.ts";

/** What the models of this process call their providers: a user's own servers among them. */
export const namesInUse: Set<string> = new Set<string>();

/** Every known server's row comes with the names. */
const names = loadOnce(() => import("./providers/names.ts"));

/** A warning for each name that is no provider's. @param own the model's, which is named where no other was meant */
export async function strangeOptions(
  given: NonNullable<Settings["providerOptions"]>,
  { provider: own }: Origin,
): Promise<Warning[]> {
  const unused = Object.keys(given).filter((name) => !namesInUse.has(name));
  if (unused.length === 0) return [];
  const { knownProviders, providerAliases } = await names();
  // Under that name a model is made, and its options stand under OpenAI's.
  const aliases = { ...providerAliases, "openai-chat": "openai" };
  const known = [...new Set([...namesInUse, ...knownProviders()])].filter(
    (name) => !Object.hasOwn(aliases, name),
  );
  return unused
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = ownMember(aliases, name.toLowerCase()) ?? nearest(name, known, 1)[0] ?? own;
      const message = `providerOptions.${name}: there is no such provider, so it was not sent; options for ${meant} stand in providerOptions.${meant}`;
      return { code: "unsupported_option", message };
    });
}
