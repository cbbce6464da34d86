// The room of the names of calls as servers hand them on, whatever their protocol.

/** A name without what a server's parser left on it: control tokens (F064), blanks and line ends. */
export function bareName(told: string): string {
  const cut = told.indexOf("<|");
  return (cut === -1 ? told : told.slice(0, cut)).trim();
}
