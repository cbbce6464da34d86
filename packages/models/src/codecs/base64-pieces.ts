// The room of bytes that come in pieces, each encoded in base64 by itself.

/** Base64 writes three bytes as this many characters. */
const quantum = 4;

/** Only the last characters may have to be encoded again, so only those are looked at. */
export class Base64Pieces {
  #sure = "";
  /** A padded end: more bytes would change it. */
  #end = "";

  /** Takes a piece; returns all so far as one base64 text. */
  add(piece: string): string {
    const more = this.#end === "" ? piece : joined(this.#end, piece);
    const isPadded = more.endsWith("=") && this.#sure.length % quantum === 0;
    const from = isPadded ? Math.max(0, more.length - quantum) : more.length;
    this.#sure += more.slice(0, from);
    this.#end = more.slice(from);
    return this.#sure + this.#end;
  }
}

/** What is not base64 is joined as text. */
function joined(before: string, piece: string): string {
  try {
    return btoa(atob(before) + atob(piece));
  } catch {
    return before + piece;
  }
}
