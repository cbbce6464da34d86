// The room of models that are told of an offered tool where the result is that offered it: which they are, by their names.
//
// A newer name is taken to be able to do what older ones can. If a server refuses it, its codec notices.

import type { ModelFacts } from "@rondo/core";
import { claudeVersion } from "../codecs/anthropic/traits.ts";

type InPlace = Pick<ModelFacts, "offersInPlace">;

const able: InPlace = { offersInPlace: true };
const unknown: InPlace = {};

/** Claude 4.5 and later. A name that is no string is refused later. */
export const claudeFacts = (model: string): InPlace =>
  (claudeVersion(String(model))?.number ?? 0) >= 405 ? able : unknown;

/** GPT 5.6 and later, over Responses. */
export function gptFacts(model: string): InPlace {
  const [, major, minor] = /^gpt-(\d+)(?:\.(\d+))?(?![\d.])/.exec(model) ?? [];
  if (major === undefined) return unknown;
  return 100 * Number(major) + Number(minor ?? 0) >= 506 ? able : unknown;
}
