// The room of kept text: the beginning of a conversation's requests, which only grows, and its bytes.
//
// A request repeats all that the last one said. Put together anew, a long body is copied twice a step, once to be one
// text and once to be bytes. Here what was said before is bytes already, and only what is new is made into some.

/** From this many characters on bytes are kept: below, a body is put together faster than it is written in pieces. */
const worthwhile = 32 * 1024;

/** A text as it was when it was asked for: `bytes` and behind them `rest` say the same as `text`. */
export interface Beginning {
  text: string;
  /** UTF-8. They never change: what is added later stands behind them. */
  bytes: Uint8Array | undefined;
  rest: string;
}

/** A request's body in three parts, of which `kept`, the middle, is bytes already. Together they are the whole body. */
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

  /** Adds a text that is whole by itself: no letter may begin in one and end in another. */
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
    // A unit is three bytes at most.
    const needed = this.#used + this.#rest.length * 3;
    if (needed > this.#memory.length) {
      // Memory that was given away is never written again: whoever holds it reads what was there.
      const larger = new Uint8Array(needed + (needed >> 1));
      larger.set(this.#memory.subarray(0, this.#used));
      this.#memory = larger;
    }
    this.#used += utf8.encodeInto(this.#rest, this.#memory.subarray(this.#used)).written;
    this.#rest = "";
  }
}

/** A body as a text, and in parts where there are bytes to save. Put together with +, which copies nothing. */
export function bodyOf(
  before: string,
  { text, bytes, rest }: Beginning,
  after: string,
): { body: string; parts?: BodyParts } {
  const body = before + text + after;
  return bytes === undefined ? { body } : { body, parts: { before, kept: bytes, after: rest + after } };
}
