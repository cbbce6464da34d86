// The room of the tool names in calls, as servers pass them on in any protocol.

/** The name without what a server's parser left on it: control tokens (F064) and white space. */
export function bareName(told: string): string {
  const cut = told.indexOf("<|");
  return (cut === -1 ? told : told.slice(0, cut)).trim();
}
