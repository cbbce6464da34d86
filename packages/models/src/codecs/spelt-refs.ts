// The room of `$ref` in results, which Google reads as the name of a file beside the result, whatever protocol or gateway
// is in front of it. A schema that a tool read would then be refused in every later request of the conversation.

/** A `$ref` of a result was looked up as a file of it (F120). */
export const looksUpRefs: RegExp =
  /\breferenced name\b[^{}]{0,400}function_?response[^{}]{0,60}does not match[^{}]{0,20}display_?name/i;

const ref: RegExp = /\$ref(?!\w)/g;

/** The text of a result, in which no `$ref` stands; what stands for it is told before. */
export function withSpeltRefs(text: string): string {
  const spelt = text.replace(ref, "dollar_ref");
  return spelt === text ? text : `[Here "dollar_ref" stands for a dollar sign and "ref".]\n${spelt}`;
}
