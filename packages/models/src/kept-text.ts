// The room of kept text: the beginning of a conversation's requests, which only grows, and its bytes.
//
// A request repeats all that the last one said. Building a long body from scratch copies it twice per step: once to make
// the string, once to make the bytes. Here the bytes of the earlier text are kept, and only what is new is encoded.

/** In characters. Shorter bodies are built faster than they are written in parts. */
const worthwhile = 32 * 1024;

/** The text at the time it was asked for: `bytes` followed by `rest` are the same as `text`. */
export interface Beginning {
  text: string;
  /** UTF-8. These bytes never change: later text is added after them. */
  bytes: Uint8Array | undefined;
  rest: string;
}

/** A request's body in three parts; the middle one, `kept`, is already encoded. Together they are the whole body. */
export interface BodyParts {
  before: string;
  kept: Uint8Array;
  after: string;
}

const utf8 = new TextEncoder();
const none = new Uint8Array(0);

export class KeptText {
  #text = "";
  #rest = "";
  #memory = none;
  #used = 0;

  /** Appends a text. No surrogate pair may be split between two texts. */
  append(text: string): void {
    this.#text += text;
    this.#rest += text;
  }

  /** The text as it is now. */
  now(): Beginning {
    if (this.#text.length >= worthwhile && this.#rest !== "") this.#keep();
    const bytes = this.#used === 0 ? undefined : this.#memory.subarray(0, this.#used);
    return { text: this.#text, bytes, rest: this.#rest };
  }

  #keep(): void {
    // A UTF-16 unit takes at most three bytes.
    const needed = this.#used + this.#rest.length * 3;
    if (needed > this.#memory.length) {
      // Memory that was handed out is never overwritten: whoever holds it still reads the same bytes.
      const larger = new Uint8Array(needed + (needed >> 1));
      larger.set(this.#memory.subarray(0, this.#used));
      this.#memory = larger;
    }
    this.#used += utf8.encodeInto(this.#rest, this.#memory.subarray(this.#used)).written;
    this.#rest = "";
  }
}

/** The body as a string, and in parts if that saves encoding. Joined with +, which does not copy. */
export function bodyOf(
  before: string,
  { text, bytes, rest }: Beginning,
  after: string,
): { body: string; parts?: BodyParts } {
  const body = before + text + after;
  return bytes === undefined ? { body } : { body, parts: { before, kept: bytes, after: rest + after } };
}
