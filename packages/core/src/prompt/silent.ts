// The room of silence: replies that consist only of a silent token are not shown.
//
// A model that may have nothing to say gets a token for that. Only a whole reply counts: the same token inside or at the end
// of other text is text, though at the end it can be removed. Nothing here ends a run; programs that show replies use it.

import { type AssistantMessage, textOf } from "../message.ts";

/** Words for silence: the one in our prompts, an older one, and the reply to a heartbeat. */
export const silentTokens: readonly string[] = ["__SILENT__", "NO_REPLY", "HEARTBEAT_OK"];

export interface SilentOptions {
  /** Default: `__SILENT__`, `NO_REPLY` and `HEARTBEAT_OK`. */
  tokens?: readonly string[];
  /** Whether `no_reply` is `NO_REPLY`. Default: false. */
  anyCase?: boolean;
}

/** Whether a reply is only a silent token, with or without blanks around it. */
export function isSilentReply(text: string, options: SilentOptions = {}): boolean {
  const trimmed = text.trim();
  return tokensOf(options).some((token) => same(trimmed, token, options));
}

/** Whether an answer is only a silent token: no call, no file. Reasoning does not count, because nobody reads it as the answer. */
export function isSilentAnswer(message: AssistantMessage, options: SilentOptions = {}): boolean {
  const quiet = message.content.every((part) => part.type === "text" || part.type === "reasoning");
  return quiet && isSilentReply(textOf(message), options);
}

/**
 * The text without the silent token at its end, trimmed. A token elsewhere, or as part of a word, stays; without one the
 * text is only trimmed.
 */
export function stripSilentToken(text: string, options: SilentOptions = {}): string {
  const kept = text.trim();
  for (const token of tokensOf(options)) {
    const at = kept.length - token.length;
    if (at < 0 || !same(kept.slice(at), token, options) || !isBoundary(kept, at, true)) continue;
    return kept.slice(0, runStart(kept, at)).trim();
  }
  return kept;
}

/**
 * Whether the beginning of a reply looks like a silent token, for programs that show a reply repeatedly as it grows. Only
 * capitals count. The text must go past the token's first underscore, or be its whole first word if that has two letters:
 * `NO` may become `NO_REPLY`, while `N`, `No` and `HEART` are more likely words.
 */
export function isSilentPrefix(text: string, options: SilentOptions = {}): boolean {
  const start = text.trimStart();
  if (start.length < 2 || /[^A-Z_]/.test(start)) return false;
  return tokensOf(options).some((token) => {
    const upper = token.toUpperCase();
    if (!upper.startsWith(start)) return false;
    return start.includes("_") || (start.length === 2 && upper[2] === "_");
  });
}

/** At most this many characters are held back: a reply of endless blanks must not be held for ever. */
const longestHeld = 1024;

/** Holds back the end of a text that arrives in pieces, if it may become a silent token. Everything else passes at once. */
export class SilentFilter {
  readonly #options: SilentOptions;
  readonly #tokens: readonly string[];
  #held = "";
  #shown = false;
  #started = false;

  constructor(options: SilentOptions = {}) {
    this.#options = options;
    this.#tokens = tokensOf(options);
  }

  /** What may be shown now: often nothing, sometimes what was held back before. */
  push(piece: string): string {
    const text = this.#held + piece;
    const at = this.#heldFrom(text);
    const from = text.length - at > longestHeld ? text.length : at;
    this.#held = text.slice(from);
    return this.#show(text.slice(0, from));
  }

  /** The text has ended: what is left to show, and whether all of it was a silent token. */
  end(): { text: string; silent: boolean } {
    const held = this.#held;
    const trimmed = held.trimEnd();
    this.#held = "";
    for (const token of this.#tokens) {
      const at = trimmed.length - token.length;
      if (at < 0 || !same(trimmed.slice(at), token, this.#options) || !this.#mayStart(held, at)) continue;
      const text = this.#show(held.slice(0, runStart(held, at)));
      return { text, silent: !this.#shown };
    }
    return { text: this.#show(held), silent: false };
  }

  #show(text: string): string {
    if (text !== "") this.#started = true;
    if (text.trim() !== "") this.#shown = true;
    return text;
  }

  /** From where on the text may be a token, including the blanks or asterisks before it. */
  #heldFrom(text: string): number {
    const end = text.trimEnd().length;
    let from = Math.min(end, runStart(text, text.length));
    for (const token of this.#tokens) {
      const whole = end - token.length;
      if (whole >= 0 && same(text.slice(whole, end), token, this.#options) && this.#mayStart(text, whole))
        from = Math.min(from, runStart(text, whole));
      if (end < text.length) continue;
      for (let length = Math.min(token.length - 1, text.length); length > 0; length -= 1) {
        const at = text.length - length;
        if (!same(text.slice(at), token.slice(0, length), this.#options) || !this.#mayStart(text, at))
          continue;
        from = Math.min(from, runStart(text, at));
        break;
      }
    }
    return from;
  }

  #mayStart(text: string, at: number): boolean {
    return isBoundary(text, at, !this.#started);
  }
}

function tokensOf({ tokens = silentTokens }: SilentOptions): readonly string[] {
  return tokens.filter((token) => token !== "");
}

function same(text: string, token: string, { anyCase = false }: SilentOptions): boolean {
  return anyCase ? text.toUpperCase() === token.toUpperCase() : text === token;
}

/** A token may only come at the start of a text, or after blanks or asterisks. */
function isBoundary(text: string, at: number, isStart: boolean): boolean {
  return at === 0 ? isStart : /[\s*]/.test(text.charAt(at - 1));
}

/** Where the blanks or asterisks directly before a position begin, including blanks before asterisks. */
function runStart(text: string, before: number): number {
  let at = before;
  while (at > 0 && text.charAt(at - 1) === "*") at -= 1;
  while (at > 0 && /\s/.test(text.charAt(at - 1))) at -= 1;
  return at;
}
