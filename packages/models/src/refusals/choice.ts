// The room of refusals that are about the choice of a tool.
//
// A model may call tools and yet not be made to call one: mostly one that thinks (F135).

/** A choice that forces a call, refused. OpenRouter says with a 404 that it knows no model that takes one. */
export const refusesForcing: RegExp =
  /(?:no endpoints found that support|not support(?:ed)?|unsupported|incompatible|invalid|\bonly a)[^{}]{0,80}\btool[_ ]choice\b|\btool[_ ]choice\b[^{}]{0,80}(?:not (?:yet )?support|unsupported|incompatible|must (?:either )?be (?:a named tool|[`'"\\]*auto)|only[^{}]{0,20}auto)/i;
