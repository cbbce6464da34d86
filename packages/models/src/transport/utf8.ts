// The room of text on the wire: bytes in any chunking become text.
//
// A byte order mark in front is dropped, and one inside is a character like any other. TextDecoder left to itself does
// otherwise on Node 24, where the first chunk ends inside the first character: it then drops a mark behind that one.

const streaming = { stream: true };
const mark = 0xfeff;

/** One for a whole stream, as a character may be split over chunks. What is no UTF-8 becomes U+FFFD. */
export class Utf8Stream {
  readonly #utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  #begun = false;

  decode(chunk: Uint8Array): string {
    const text = this.#utf8.decode(chunk, streaming);
    if (this.#begun || text === "") return text;
    this.#begun = true;
    return text.charCodeAt(0) === mark ? text.slice(1) : text;
  }

  /** The stream is over: what a character that was cut comes to. */
  end(): string {
    return this.#utf8.decode();
  }
}
