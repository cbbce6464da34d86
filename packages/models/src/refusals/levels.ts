// The room of refusals of a level of reasoning: `xhigh` and `max` are levels that some models do not have, and `none` one that
// a model which always reasons has not.
//
// Any other level that is refused is a setting like any other (`settings.ts`).

import { phrases } from "../patterns.ts";

/** The levels above `high`, which many models lack. */
export const highest: readonly string[] = ["xhigh", "max"];

/** What a list of the accepted values begins with. */
const listing: RegExp = phrases(
  /\b(?:supported|valid|allowed|accepted|possible|available) (?:values|levels|options|efforts)/,
  /\b(?:should|must) be(?: one of)?/,
  /\bexpected(?: one of)?/,
  /\bchoose from/,
);
const isAboutLevels: RegExp = /effort|reasoning|thinking|\blevel\b/i;
/** A level in quotes; the value that a validator reports, wherever it stands. */
const quoted: RegExp = /[`'"\\]+(xhigh|max)[`'"\\]+/gi;
const reported: RegExp = /\binput(?:_value)?[`'"\\]*(?:: ?|=)[`'"\\]+(xhigh|max)\b/gi;
/** A level below these in quotes: the one that is refused, where the list comes behind it. */
const quotedLower: RegExp = /[`'"\\]+(?:none|minimal|low|medium|high)[`'"\\]+/i;
const quotedNone: RegExp = /[`'"\\]+none[`'"\\]+/i;
const anyLevel: RegExp = /\b(?:low|medium|high)\b/i;

/** The levels above `high`, and `none`, that a refusal says, or by its list shows, are not accepted. */
export function refusedLevels(words: string): string[] {
  if (!isAboutLevels.test(words)) return [];
  const at = words.search(listing);
  const [complaint, list] = at === -1 ? [words, ""] : [words.slice(0, at), words.slice(at)];
  const named = [...complaint.matchAll(quoted), ...words.matchAll(reported)].map(([, level = ""]) =>
    level.toLowerCase(),
  );
  // A validator may list what it accepts without a word of what it got.
  const unlisted = highest.filter((level) => !list.replaceAll(reported, "").toLowerCase().includes(level));
  const isOfAnother = named.length === 0 && quotedLower.test(complaint);
  const isListed = anyLevel.test(list);
  const isOff = isListed && quotedNone.test(complaint) && !/\bnone\b/i.test(list);
  return [...new Set([...named, ...(isListed && !isOfAnother ? unlisted : []), ...(isOff ? ["none"] : [])])];
}
