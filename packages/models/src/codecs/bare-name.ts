// The room of the tool names in calls, as servers pass them on in any protocol.

/** A closing tag alone: behind an opening one there would be arguments, and the call must not run without them. */
const closed = /<\/\w{1,16}>\s*$/;

/** The name without what a server's parser left on it: control tokens (F064), a closing tag, and white space. */
export function bareName(told: string): string {
  const cut = told.indexOf("<|");
  const name = cut === -1 ? told : told.slice(0, cut);
  return (
    name.includes("<") && name.indexOf("<") === name.lastIndexOf("<") ? name.replace(closed, "") : name
  ).trim();
}
