// The room of text on the wire: bytes in any chunking become text.
//
// A byte order mark in front is dropped, and one inside is a character like any other. TextDecoder left to itself does
// otherwise on Node 24, where the first chunk ends inside the first character: it then drops a mark behind that one.
// Node's own bytes become text by themselves where no character is cut: for a stream of small chunks in half the time.

const streaming = { stream: true };
const mark = 0xfeff;
/** Below it a byte is a character by itself. */
const firstOfMany = 0x80;

const isNodes: (chunk: Uint8Array) => boolean = globalThis.Buffer?.isBuffer ?? (() => false);

/** One for a whole stream, as a character may be split over chunks. What is no UTF-8 becomes U+FFFD. */
export class Utf8Stream {
  /** Made when it is needed: mostly Node's own bytes come, and no character is cut. */
  #utf8: InstanceType<typeof TextDecoder> | undefined;
  #begun = false;
  /** The last chunk may have ended inside a character. */
  #cut = false;

  decode(chunk: Uint8Array): string {
    const text = this.#textOf(chunk);
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

  /** The stream is over: what a character that was cut comes to. */
  end(): string {
    return this.#utf8?.decode() ?? "";
  }
}
