// The room of bytes that come in pieces, each in base64 of its own.

/** Characters that say three bytes, or the last of them. */
const quantum = 4;

/** Only the end of what came may have to be written anew, so only that is looked at. */
export class Base64Pieces {
  #sure = "";
  /** It is padded: more bytes change it. */
  #end = "";

  /** Takes a piece; gives all that came so far, as one. */
  add(piece: string): string {
    const more = this.#end === "" ? piece : joined(this.#end, piece);
    const isPadded = more.endsWith("=") && this.#sure.length % quantum === 0;
    const from = isPadded ? Math.max(0, more.length - quantum) : more.length;
    this.#sure += more.slice(0, from);
    this.#end = more.slice(from);
    return this.#sure + this.#end;
  }
}

/** What is no base64 is joined as text. */
function joined(before: string, piece: string): string {
  try {
    return btoa(atob(before) + atob(piece));
  } catch {
    return before + piece;
  }
}
