// The room of refusals about the reasoning in a history, which can be left out.
//
// A signature may belong to another key or may have expired, a field may be unknown to this server, and no table knows all
// of them. Missing reasoning ("must be passed back") is a different complaint, which leaving out more would make worse.

import { phrases } from "../patterns.ts";

/** Google's phrases for a signature of another account or another model, one that is too old, or one that is not in base64 (F102). */
export const spoiltSignature: RegExp = phrases(
  /(?:corrupted|invalid) [`'"\\]*thought[ _]?signature/,
  /thought[ _]?signature[`'"\\]* (?:is (?:not valid|invalid)|\(TYPE_BYTES\)|(?:provided )?could not be verified)/,
);

/**
 * Claude's phrases, which proxies pass on (F100, F102); OpenAI's, about items that are incomplete or not its own (F109,
 * F111, F112); Copilot's, xAI's and llama.cpp's. Items that followed the reasoning lose their ids with it.
 */
const blocks: readonly RegExp[] = [
  /invalid [`'"\\]*signature[`'"\\]* in [`'"\\]*thinking/i,
  /thinking\.signature\W{1,4}field required/i,
  phrases(
    /thinking block must contain thinking/,
    /invalid [`'"\\]*data[`'"\\]* in [`'"\\]*redacted_thinking/,
    /signature of the thinking block[^{}]{0,60} expired/,
  ),
  spoiltSignature,
  /thinking[`'"\\]* (?:or [`'"\\]*redacted_thinking[`'"\\]* )?blocks[^.]{0,80} cannot be modified/i,
  /when thinking is disabled, an [`'"\\]*assistant[`'"\\]* message [^.]{0,60}cannot contain/i,
  /expected [`'"\\]*thinking[`'"\\]*(?: or [`'"\\]*redacted_thinking[`'"\\]*)?,? but found/i,
  /of type [`'"\\]*reasoning[`'"\\]* was provided without its required following item/i,
  /was provided without its required [`'"\\]*reasoning[`'"\\]* item/i,
  /duplicate item found with id [`'"\\]*[a-z]{2,5}_/i,
  /item with id [`'"\\]*rs_\w* ?[`'"\\]* not found/i,
  /\binput\[\d+\]\.content[`'"\\]*: array too long[^{}]{0,80}maximum length 0\b/i,
  /invalid_encrypted_content|encrypted[ _]content[^{}]{0,120} (?:could not be (?:verified|decrypted|parsed)|did not match)/i,
  /thinking_signature_invalid|encrypted_content[`'"\\]* was not issued to this caller|conflicting authenticated continuation/i,
  /\bcannot contain reasoning content\b|\breasoning ?content\b[^{}]{0,60}(?:not supported|unsupported|not allowed)/i,
  /(?:\bnot|n't) support (?:the )?[`'"\\]*reasoning_?content\b/i,
  /\breasoning_details\b[^{}]{0,60} has an invalid type/i,
  /could not (?:decrypt|decode) [^{}]{0,40}(?:encrypted[ _]content|compaction blob)/i,
  /unknown parameter: [`'"\\]*input\[\d+\]\.encrypted_content\b/i,
  // An item of reasoning that a gateway gave without what it must have to be taken back.
  /missing required parameter: [`'"\\]*input\[\d+\]\.(?:encrypted_content|id)\b/i,
  /\bitem id does not belong to this connection/i,
  /any variant of untagged enum ModelInput\b/,
  /cannot determine type of [`'"\\]*item\b|\bitem\[[`'"\\]*content[`'"\\]*\] is (?:not an array|empty)/i,
];
/** A member of a message that the server does not know (F105). The setting `reasoning` is not in a message. */
const field: RegExp = phrases(
  /\b(?:messages|assistant)\b[^{}]{0,200}\breasoning(?:_content|_details|_text|_opaque)?\b/,
  /\breasoning_(?:content|details|text|opaque)\b/,
);
const refused: RegExp =
  /unsupported|not supported|not permitted|not allowed|extra_forbidden|unknown|unrecogni[sz]ed|unexpected|additional propert/i;
const missing: RegExp = /must be (?:passed|sent|provided)|passed back|is (?:missing|required)|missing field/i;

/** Whether a refusal complains about reasoning that could be left out. */
export function refusesReasoning(words: string): boolean {
  const isField = field.test(words) && refused.test(words) && !missing.test(words);
  return isField || blocks.some((pattern) => pattern.test(words));
}
