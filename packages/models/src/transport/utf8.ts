// The room of text on the wire: bytes in any chunking become text.
//
// A byte order mark at the start is dropped; one inside is an ordinary character. A plain TextDecoder gets this wrong on
// Node 24 if the first chunk ends inside the first character: it then drops a mark after that one. As long as no character
// is cut, Node's Buffer decodes by itself: for a stream of small chunks in half the time.
// NUL characters are dropped, because no JSON contains any: servers pad their lines with them, or end them so.

const streaming = { stream: true };
const mark = 0xfeff;
/** A byte below this is a character by itself. */
const firstOfMany = 0x80;

const isNodes: (chunk: Uint8Array) => boolean = globalThis.Buffer?.isBuffer ?? (() => false);

/** One for a whole stream, because a character may be split over chunks. Invalid UTF-8 becomes U+FFFD. */
export class Utf8Stream {
  /** Made when needed: usually Node's own buffers come, and no character is cut. */
  #utf8: InstanceType<typeof TextDecoder> | undefined;
  #begun = false;
  /** The last chunk may have ended inside a character. */
  #cut = false;

  decode(chunk: Uint8Array): string {
    const told = this.#textOf(chunk);
    const text = told.includes("\0") ? told.replaceAll("\0", "") : told;
    if (this.#begun || text === "") return text;
    this.#begun = true;
    return text.charCodeAt(0) === mark ? text.slice(1) : text;
  }

  #textOf(chunk: Uint8Array): string {
    const last = chunk[chunk.length - 1];
    if (last === undefined) return "";
    const wasCut = this.#cut;
    this.#cut = last >= firstOfMany;
    if (!wasCut && !this.#cut && isNodes(chunk)) return chunk.toString();
    this.#utf8 ??= new TextDecoder("utf-8", { ignoreBOM: true });
    return this.#utf8.decode(chunk, streaming);
  }

  /** Ends the stream: what remains of a cut character. */
  end(): string {
    return this.#utf8?.decode() ?? "";
  }
}
